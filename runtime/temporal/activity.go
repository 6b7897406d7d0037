package temporal

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/flowgen-dev/flowgen/runtime/engine"
)

// make is the activity of one attempt of a call.
func (p *program) make(ctx context.Context, t engine.Callable, c engine.Carried) (engine.Landed, error) {
	defer p.beat(ctx)()
	l, err := p.rt.Make(ctx, t, c)
	switch {
	case ctx.Err() != nil && err != nil:
		return l, ctx.Err()
	case err != nil:
		return l, temporal.NewNonRetryableApplicationError(err.Error(), "run", nil)
	case l.Error != nil: // the workflow decides about another attempt
		l.Asked = c.Asked()
		return l, temporal.NewApplicationErrorWithOptions(l.Error.Message, string(l.Error.Code), temporal.ApplicationErrorOptions{NonRetryable: true, Details: []any{l}})
	}
	return l, nil
}

// makeAll is the activity of several calls.
func (p *program) makeAll(ctx context.Context, calls []engine.Carried) ([]engine.Landed, error) {
	defer p.beat(ctx)()
	out, errs := make([]engine.Landed, len(calls)), make([]error, len(calls))
	var wg sync.WaitGroup
	for i, c := range calls {
		t := p.tools[c.Tool]
		if t == nil {
			return nil, fmt.Errorf("this worker has no tool %s: its program is another one", c.Tool)
		}
		wg.Go(func() {
			out[i], errs[i] = p.rt.Make(ctx, t, c)
			out[i].Asked = c.Asked()
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err := errors.Join(errs...); err != nil {
		return nil, temporal.NewNonRetryableApplicationError(err.Error(), "run", nil)
	}
	return out, nil
}

// beat tells the server that the worker lives until stop is called. It is also how an activity hears of its cancellation.
func (p *program) beat(ctx context.Context) (stop func()) {
	info := activity.GetInfo(ctx)
	if info.IsLocalActivity || info.HeartbeatTimeout <= 0 {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		t := time.NewTicker(info.HeartbeatTimeout / 3)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				activity.RecordHeartbeat(ctx)
			case <-done:
				return
			}
		}
	}()
	return func() { close(done) }
}
