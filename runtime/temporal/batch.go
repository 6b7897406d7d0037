package temporal

import (
	"fmt"

	"go.temporal.io/sdk/workflow"

	"github.com/flowgen-dev/flowgen/runtime/engine"
)

// waiting is a call that waits for its batch.
type waiting struct {
	call engine.Carried
	id   string
	took workflow.Settable
}

// together makes a call with those that wait at the same time.
func (e *execution) together(ctx workflow.Context, id string, c *engine.Carried, l *engine.Landed) error {
	f, took := workflow.NewFuture(ctx)
	e.queue = append(e.queue, &waiting{*c, id, took})
	return f.Get(ctx, l)
}

// batches makes activities of the calls that wait when no branch can go on. It is the first coroutine, so that the order of
// calls in a batch is that of the branches.
func (e *execution) batches(ctx workflow.Context) {
	for workflow.Await(ctx, func() bool { return len(e.queue) > 0 }) == nil {
		n := min(len(e.queue), e.opts.together())
		batch := e.queue[:n:n]
		e.queue = e.queue[n:]
		workflow.GoNamed(ctx, "batch", func(ctx workflow.Context) { e.batch(ctx, batch) })
	}
}

func (e *execution) batch(ctx workflow.Context, batch []*waiting) {
	calls := make([]engine.Carried, len(batch))
	wait := e.opts.longest()
	for i, w := range batch {
		calls[i] = w.call
		wait = max(wait, e.wait(&w.call))
	}
	o := workflow.ActivityOptions{ActivityID: fmt.Sprintf("%s+%d", batch[0].id, len(batch)-1), StartToCloseTimeout: wait, HeartbeatTimeout: e.opts.heartbeat(),
		WaitForCancellation: true}
	var out []engine.Landed
	err := workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, o), e.batchName(), calls).Get(ctx, &out)
	if err == nil && len(out) != len(batch) {
		err = fmt.Errorf("a batch of %d calls has %d results", len(batch), len(out))
	}
	for i, w := range batch {
		if err != nil {
			w.took.SetError(err)
		} else {
			w.took.SetValue(out[i])
		}
	}
}
