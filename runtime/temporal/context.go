package temporal

import (
	"context"
	"time"

	"go.temporal.io/sdk/workflow"
)

// wctx is a workflow.Context for code that passes it on and asks for Err and Value. Done never fires: a workflow must not
// wait on a Go channel.
type wctx struct {
	workflow.Context
	batch bool // calls without effects that wait at the same time are made together
}

type wctxKey struct{}

func (wctx) Deadline() (time.Time, bool) { return time.Time{}, false }
func (wctx) Done() <-chan struct{}       { return nil }

func (c wctx) Err() error {
	if c.Context.Err() != nil {
		return context.Canceled
	}
	return nil
}

func (c wctx) Value(key any) any {
	if key == (wctxKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// within finds the workflow's context below what was put around it. Where that took the cancellation away, as undos do, the
// workflow's own is disconnected, too.
func within(ctx context.Context) wctx {
	c := ctx.Value(wctxKey{}).(wctx)
	if c.Err() != nil && ctx.Err() == nil {
		c.Context, _ = workflow.NewDisconnectedContext(c.Context)
	}
	return c
}
