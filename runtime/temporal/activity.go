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
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// make is the activity of one attempt of a call.
func (p *program) make(ctx context.Context, t engine.Callable, name string, s sent) (got, error) {
	defer p.beat(ctx)()
	if err := s.complete(activity.GetInfo(ctx), name); err != nil {
		return got{}, temporal.NewNonRetryableApplicationError(err.Error(), "run", nil)
	}
	if s.Continues {
		var err error
		if s.Before, err = beforeOf(ctx); err != nil {
			return got{}, err // the server has the attempt made again: nothing was called
		}
	}
	l, err := p.rt.Make(ctx, t, s.Carried)
	switch {
	case ctx.Err() != nil && err != nil:
		return got{l}, ctx.Err()
	case err != nil:
		return got{l}, temporal.NewNonRetryableApplicationError(err.Error(), "run", nil)
	}
	p.bound(&l, s.Tool)
	l.Asked = s.id      // of a local activity, of which the server keeps no id
	if l.Error != nil { // the workflow decides about another attempt
		return got{l}, temporal.NewApplicationErrorWithOptions(l.Error.Message, string(l.Error.Code), temporal.ApplicationErrorOptions{NonRetryable: true, Details: []any{got{l}}})
	}
	return got{l}, nil
}

// overhead is more than what a payload holds of a call besides its input or output.
const overhead = 1 << 10

// tooLarge reports whether the server refuses a payload with so many bytes of inputs or outputs.
func (p *program) tooLarge(n int) bool { return !p.opts.Stored && n > largestPayload }

const storeHelp = "give all workers, and start, the same store with --blobs"

// bound makes a result that is not a payload a failure: the server would have the call made again without end.
func (p *program) bound(l *engine.Landed, tool string) {
	if n := size(l); p.tooLarge(n) {
		*l = engine.Landed{Asked: l.Asked, Ran: l.Ran, Cost: l.Cost, Tokens: l.Tokens, Error: value.Errorf(value.PolicyDenied,
			"the output of %s has %d bytes, too many for a history: %s", tool, n, storeHelp)}
	}
}

func size(l *engine.Landed) int {
	n := len(l.Out) + len(l.Logs) + overhead
	if l.Error != nil {
		n += 2 * len(l.Error.Message) // it is the failure's message, too
	}
	return n
}

// makeAll is the activity of several calls.
func (p *program) makeAll(ctx context.Context, calls []engine.Carried) ([]*engine.Landed, error) {
	defer p.beat(ctx)()
	out, errs := make([]*engine.Landed, len(calls)), make([]error, len(calls))
	var wg sync.WaitGroup
	for i, c := range calls {
		t := p.tools[c.Tool]
		if t == nil {
			return nil, fmt.Errorf("this worker has no tool %s: it runs another program", c.Tool)
		}
		wg.Go(func() {
			l, err := p.rt.Make(ctx, t, c)
			l.Asked = c.Asked()
			p.bound(&l, c.Tool)
			out[i], errs[i] = &l, err
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err := errors.Join(errs...); err != nil {
		return nil, temporal.NewNonRetryableApplicationError(err.Error(), "run", nil)
	}
	all := 0
	for i, l := range out {
		if n := size(l); i > 0 && p.tooLarge(all+n) { // made again alone: nothing is lost, and such calls change nothing
			out[i] = nil
		} else {
			all += n
		}
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
