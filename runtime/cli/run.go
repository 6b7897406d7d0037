package cli

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"syscall"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/blob"
)

func isHelp(err error) bool { return errors.Is(err, flag.ErrHelp) }

// runCommand runs the workflow once.
func runCommand(s *system, w *workflow, args []string) int {
	clean := redactorOf(w.info)
	s.redact = clean.text
	f, err := parseRunFlags(args)
	switch {
	case isHelp(err):
		return s.print(usage(w.info))
	case err != nil:
		s.complain(flagMistake(runFlagNames, err))
		return exitUsage
	case f.quiet && f.jsonEvents:
		s.complain(mistake{"--quiet and --json-events exclude each other", "leave one of them out"})
		return exitUsage
	}
	if f.answers == "-" && f.inputJSON == "-" {
		s.complain(mistake{"--input-json and --answers cannot both read standard input", "put one of them in a file"})
		return exitUsage
	}
	if f.raw != "" {
		if m := rawField(w.info, f.raw); m != nil {
			s.complain(*m)
			return exitUsage
		}
	}
	input, mistakes := readInput(s, w.info, f)
	if len(mistakes) > 0 {
		s.complain(mistakes...)
		return exitUsage
	}
	options := []runtime.Option{runtime.WithSecretLookup(secrets), clean.follow} // an observed run does more work, so a quiet one has no observer
	if dir := cmp.Or(f.blobs, s.env("FLOWGEN_BLOBS")); dir != "" {
		store, err := blob.Open(dir)
		if err != nil {
			s.complain(mistake{"cannot keep large outputs: " + err.Error(), "--blobs and FLOWGEN_BLOBS name a directory that can be written"})
			return exitFault
		}
		defer store.Close()
		options = append(options, runtime.WithBlobs(store))
	}
	shown := newDisplay(s, f)
	if shown != nil {
		options = append(options, runtime.WithObserver(shown))
	}
	people, wrong := newPerson(s, f, shown)
	if wrong != nil {
		if shown != nil {
			shown.close()
		}
		s.complain(*wrong)
		return exitUsage
	}
	defer people.close()
	options = append(options, runtime.WithHuman(people.ask))
	ctx, stopped, release := s.cancelOnSignal(context.Background())
	out, at, err := protect(func() ([]byte, stage, error) { return w.run(ctx, input, options...) })
	runtime.Exit()
	release()
	if shown != nil {
		shown.close()
	}
	if out = clean.json(out); err == nil && f.raw != "" {
		if out, err = rawText(out, f.raw); err == nil {
			out = []byte(clean.text(string(out))) // what was in pieces may have come together
		}
	}
	return s.finish(out, at, err, stopped())
}

// finish prints the result or the error and chooses the exit code.
func (s *system) finish(out []byte, at stage, err error, by os.Signal) int {
	if err == nil {
		return s.print(string(out))
	}
	switch at {
	case reading:
		s.complain(mistake{"input: " + bare(err), ""})
		return exitUsage
	case starting:
		s.complain(mistake{err.Error(), ""})
		return exitFault
	case writing:
		s.complain(mistake{"cannot write the result: " + err.Error(), ""})
		return exitFault
	}
	if p := (*panicked)(nil); errors.As(err, &p) {
		s.complain(mistake{p.Error(), "this is a fault of the program or of flowgen, not of its input"})
		_, _ = io.WriteString(s.stderr, s.redact(string(p.stack)))
		return exitFault
	}
	// The error of a node begins with its position.
	_, _ = io.WriteString(s.stderr, safe(s.redact(err.Error()))+"\n")
	var re *runtime.RunError
	switch {
	case runtime.IsCancelled(err) && by != nil:
		return signalCode(by)
	case errors.As(err, &re) && re.Kind != runtime.Cancelled:
		return exitFault
	}
	return exitFailed
}

func signalCode(by os.Signal) int {
	if n, ok := by.(syscall.Signal); ok {
		return exitSignal + int(n)
	}
	return exitSignal + int(syscall.SIGINT)
}

// interrupted is the cause of a run cancelled by a signal.
type interrupted struct{ by os.Signal }

func (e interrupted) Error() string { return e.by.String() + " signal" }

// cancelOnSignal returns a context that the first signal cancels, a function
// that says which signal it was, and one that must be called in the end.
func (s *system) cancelOnSignal(parent context.Context) (ctx context.Context, by func() os.Signal, release func()) {
	ctx, cancel := context.WithCancelCause(parent)
	requests, restore := s.signals()
	done := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case sig := <-requests:
			restore() // the next one ends the process
			cancel(interrupted{sig})
		case <-done:
		}
	}()
	release = func() {
		close(done)
		<-ended
		restore()
		cancel(nil)
	}
	by = func() os.Signal {
		var i interrupted
		if errors.As(context.Cause(ctx), &i) {
			return i.by
		}
		return nil
	}
	return ctx, by, release
}

// panicked is a panic of the workflow's body, made an error so that the
// terminal is put in order and the exit code says fault.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("panic: %v", p.value) }

func protect(run func() ([]byte, stage, error)) (out []byte, at stage, err error) {
	defer func() {
		if v := recover(); v != nil {
			out, at, err = nil, running, &panicked{v, debug.Stack()}
		}
	}()
	return run()
}
