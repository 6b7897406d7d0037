package temporal

import (
	"errors"
	"fmt"
	"slices"

	"go.temporal.io/sdk/workflow"

	"github.com/flowgen-dev/flowgen/runtime/engine"
)

// waiting is a call that waits for its batch.
type waiting struct {
	call  engine.Carried
	id    string
	took  workflow.Settable
	queue string // of the workers that may make it
}

// errNoRoom says that the result of a call did not fit into that of its batch.
var errNoRoom = errors.New("no room in the batch")

// together makes a call with those that wait at the same time.
func (e *execution) together(ctx workflow.Context, id, queue string, c *engine.Carried, l *engine.Landed) error {
	f, took := workflow.NewFuture(ctx)
	e.queue = append(e.queue, &waiting{*c, id, took, queue})
	return f.Get(ctx, l)
}

// batches makes activities of the calls that wait when no branch can go on. Its coroutine is before those of the branches, so that the
// order of calls in a batch is theirs.
func (e *execution) batches(ctx workflow.Context) {
	for workflow.Await(ctx, func() bool { return len(e.queue) > 0 }) == nil {
		batch := e.next()
		workflow.GoNamed(ctx, "batch", func(ctx workflow.Context) { e.batch(ctx, batch) })
	}
}

// next takes calls for one activity out of the queue: the first one, and those after it that the same workers may make, as many as
// an activity and its payload hold.
func (e *execution) next() (batch []*waiting) {
	size := 0
	e.queue = slices.DeleteFunc(e.queue, func(w *waiting) bool {
		if len(batch) > 0 && (len(batch) == e.opts.together() || w.queue != batch[0].queue || e.tooLarge(size+len(w.call.In)+overhead)) {
			return false
		}
		size += len(w.call.In) + overhead
		batch = append(batch, w)
		return true
	})
	return batch
}

func (e *execution) batch(ctx workflow.Context, batch []*waiting) {
	calls := make([]engine.Carried, len(batch))
	wait := e.opts.longest()
	for i, w := range batch {
		calls[i] = w.call
		wait = max(wait, e.wait(&w.call))
	}
	o := workflow.ActivityOptions{TaskQueue: batch[0].queue, ActivityID: fmt.Sprintf("%s+%d", batch[0].id, len(batch)-1), StartToCloseTimeout: wait, HeartbeatTimeout: e.opts.heartbeat(),
		WaitForCancellation: true}
	var out []*engine.Landed // nil: it did not fit
	err := workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, o), e.batchName(), calls).Get(ctx, &out)
	if err == nil && len(out) != len(batch) {
		err = fmt.Errorf("a batch of %d calls has %d results", len(batch), len(out))
	}
	for i, w := range batch {
		switch {
		case err != nil:
			w.took.SetError(err)
		case out[i] == nil:
			w.took.SetError(errNoRoom)
		default:
			w.took.SetValue(*out[i])
		}
	}
}
