package temporal

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/usage"
)

// The engine keeps what a journal would hold: a run that goes on in a new history takes it along, and the verbs that show journals
// show it.

// kept is an attempt of this history.
type kept struct {
	op   engine.Op
	done bool
}

// Start implements engine.Starter.
func (e *execution) Start(r *flow.Run) error {
	var err error
	e.input, err = r.EncodeInput()
	return err
}

// Finish implements engine.Finisher.
func (e *execution) Finish(r *flow.Run, err error) error {
	e.finish = journal.FinishOf(r, err)
	e.finish.At = e.now(e.root)
	return nil
}

// Begin implements engine.Beginner.
func (e *execution) Begin() time.Time { return e.begin }

// Answers implements engine.Answerer.
func (e *execution) Answers(h *engine.Head) bool { return e.past != nil && e.past.Answers(h) }

// Spent implements engine.Answerer.
func (e *execution) Spent(prefix string, yield func(tool string, calls int64, took usage.Spend)) {
	if e.past != nil {
		e.past.Spent(prefix, yield)
	}
}

// Worked is how long the calls of earlier histories have gone on.
func (e *execution) Worked(prefix string) time.Duration {
	if e.past == nil {
		return 0
	}
	return e.past.Worked(prefix)
}

// now is the time since the beginning of the run.
func (e *execution) now(ctx workflow.Context) time.Duration { return workflow.Now(ctx).Sub(e.begin) }

// keep notes that an attempt begins. end notes that it has ended, with err.
func (e *execution) keep(ctx workflow.Context, op engine.Op) (end func(error)) {
	h := op.Head()
	if h.Start = e.now(ctx); h.Since != nil {
		h.Start = h.Since.Sub(e.begin)
	}
	e.calls = append(e.calls, kept{op: op})
	at := len(e.calls) - 1
	return func(err error) { h.End, h.Err, e.calls[at].done = e.now(ctx), err, true }
}

// recorded is the journal of the run up to now.
func (e *execution) recorded() *journal.Journal {
	head := journal.Header{Workflow: e.info.Name, Seed: e.Seed(), Begin: e.begin.UTC(), Graph: e.hashed.Graph, Nodes: e.hashed.Nodes, Lock: e.hashed.Lock,
		Tenant: e.setup.Tenant, Input: e.input, From: e.setup.From}
	j := journal.New(head)
	if e.old != nil {
		for _, r := range e.old.Records() {
			j.Put(r)
		}
	}
	for _, k := range e.calls {
		j.Put(journal.RecordOf(k.op, k.done))
	}
	j.SetFinish(e.finish)
	return j
}
