package journal

import (
	"time"

	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/usage"
)

// Resumer is an engine that goes on with a run that crashed or was stopped: finished calls are answered from the journal
// and never repeated, others run and are recorded. It serves one run; its Journal and Envelopes hold both.
type Resumer struct {
	Recorder
	old  *Journal
	past Past
}

// ResumeOption configures Resume.
type ResumeOption func(*Resumer)

// RunAgain decides about calls in doubt: writes and external calls that had begun and have no result. They run again
// when decide returns true, because they did not happen or because repeating them does no harm; otherwise, and without
// this option, the run ends with the in_doubt run error. decide must be safe for concurrent use.
func RunAgain(decide func(Record) bool) ResumeOption {
	return func(e *Resumer) {
		e.past.decide = func(r Record, _ *flow.Doubt) (Decision, bool) { return Decision{Again: true}, decide(r) }
	}
}

// Resume returns an engine that goes on where j ends. j is not changed.
func Resume(j *Journal, opts ...ResumeOption) *Resumer {
	h := j.Header()
	e := &Resumer{Recorder: Recorder{base: h.Begin, seed: h.Seed}, old: j, past: *NewPast(j, nil, nil, nil)}
	if h.Begin.IsZero() {
		e.base = time.Now()
	}
	for _, o := range opts {
		o(e)
	}
	return e
}

// Do answers from the journal, even in a cancelled scope (R1), or runs and keeps the call.
func (e *Resumer) Do(r *flow.Run, op engine.Op) error {
	answered, err := e.past.Answer(op)
	if !answered && err == nil {
		return e.Recorder.Do(r, op)
	}
	if h := op.Head(); h.Replayed || answered && err == nil {
		h.Err = err
		e.keep(op, done)
	}
	return err
}

// Answers implements engine.Answerer.
func (e *Resumer) Answers(h *engine.Head) bool {
	rec, ok := e.old.find(h.Key(), int(h.Attempt))
	return ok && rec.result()
}

// Spent implements engine.Answerer.
func (e *Resumer) Spent(prefix string, yield func(tool string, calls int64, took usage.Spend)) {
	e.old.spent(prefix, yield)
}

// Worked is how long the recorded calls have gone on, see Past.
func (e *Resumer) Worked(prefix string) time.Duration { return e.old.worked(prefix) }

// Journal returns the old journal together with what happened since.
func (e *Resumer) Journal() *Journal {
	j := e.Recorder.Journal()
	for _, r := range e.old.Records() {
		if _, ok := j.Lookup(r.Key, r.Attempt); !ok {
			j.Put(r)
		}
	}
	if h := j.Header(); h.Workflow == "" {
		j.SetHeader(e.old.Header())
	}
	return j
}
