package programs

import (
	"context"
	"os"
	"os/signal"
	"time"
)

// Within calls f with a context that ends after limit, or when this process is told to end. f starts programs in process
// groups of their own, which a terminal does not interrupt: they would outlive this process. The error is
// context.DeadlineExceeded after limit. Once f has ended them, a signal acts as if it had arrived then.
func Within(limit time.Duration, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	signals := make(chan os.Signal, 1)
	for _, s := range endings {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	told, ended := make(chan os.Signal, 1), make(chan struct{})
	go func() {
		defer close(told)
		select {
		case s := <-signals:
			told <- s
			cancel()
		case <-ended:
		}
	}()
	err := f(ctx)
	close(ended)
	signal.Stop(signals)
	if s, ok := <-told; ok {
		if self, found := os.FindProcess(os.Getpid()); found != nil || self.Signal(s) != nil {
			os.Exit(1) // where processes have no signals
		}
	}
	if ctx.Err() == context.DeadlineExceeded {
		return ctx.Err()
	}
	return err
}
