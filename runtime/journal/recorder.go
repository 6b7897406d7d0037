package journal

import (
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
)

// Recorder is an engine that runs branches as goroutines and keeps every call. It serves one run. A recorded call costs
// one allocation: inputs and outputs are kept as they are and encoded when Envelopes or Journal asks.
type Recorder struct {
	runtime.Goroutines
	base time.Time
	seed uint64

	mu       sync.Mutex // guards the following
	chunks   []*[chunk]entry
	filled   int // entries of the last chunk
	used     bool
	workflow string
	outcome  Outcome
}

// entry is one attempt. While it is not done only the head's start and the input may be read.
type entry struct {
	op   runtime.Op
	done atomic.Bool
}

// chunk is how many entries are allocated at once; they never move.
const chunk = 256

// NewRecorder returns a Recorder for one run.
func NewRecorder() *Recorder { return &Recorder{base: time.Now(), seed: rand.Uint64()} }

var errUsed = &runtime.RunError{Kind: runtime.JournalUnavailable, Message: "an engine with a journal serves one run"}

// Start implements runtime.Starter.
func (e *Recorder) Start(r *runtime.Run) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.used {
		return errUsed
	}
	e.used, e.workflow = true, r.Info().Name
	return nil
}

// Finish implements runtime.Finisher.
func (e *Recorder) Finish(_ *runtime.Run, err error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.outcome = OutcomeOf(err)
	return nil
}

// OutcomeOf returns the outcome of a run that ended with err.
func OutcomeOf(err error) Outcome {
	var re *runtime.RunError
	switch {
	case err == nil:
		return Succeeded
	case runtime.IsCancelled(err):
		return Cancelled
	case errors.As(err, &re):
		return Open // a run that diverged or lost its journal has no outcome
	}
	return Failed
}

// Seed implements runtime.Seeder.
func (e *Recorder) Seed() uint64 { return e.seed }

// Do runs the call and keeps it. A call whose scope is cancelled before it begins leaves no record.
func (e *Recorder) Do(r *runtime.Run, op runtime.Op) error {
	if err := r.Cancelled(); err != nil {
		return err
	}
	h := op.Head()
	h.Start = time.Since(e.base)
	slot := e.keep(op, false)
	err := op.Exec(r.CallContext(h.Effects))
	h.End, h.Err = time.Since(e.base), err
	slot.done.Store(true)
	return err
}

func (e *Recorder) keep(op runtime.Op, done bool) *entry {
	e.mu.Lock()
	if e.filled == chunk || e.chunks == nil {
		e.chunks, e.filled = append(e.chunks, new([chunk]entry)), 0
	}
	en := &e.chunks[len(e.chunks)-1][e.filled]
	e.filled++
	en.op = op
	if done {
		en.done.Store(true)
	}
	e.mu.Unlock()
	return en
}

// entries lists the entries in the order in which they began.
func (e *Recorder) entries() []*entry {
	e.mu.Lock()
	defer e.mu.Unlock()
	var out []*entry
	for i, c := range e.chunks {
		n := chunk
		if i == len(e.chunks)-1 {
			n = e.filled
		}
		for j := range n {
			out = append(out, &c[j])
		}
	}
	return out
}

// Journal returns what is recorded so far. It may be called during the run: calls in flight are then intents without
// a result, as after a crash at this moment.
func (e *Recorder) Journal() *Journal {
	all := e.entries()
	e.mu.Lock()
	j := New(Header{Workflow: e.workflow, Seed: e.seed, Begin: e.base.UTC().Round(0), Outcome: e.outcome})
	e.mu.Unlock()
	for _, en := range all {
		j.Put(RecordOf(en.op, en.done.Load()))
	}
	return j
}

// Envelopes returns the receipts of all ended calls, in the order in which they began. Cancelled calls have none.
func (e *Recorder) Envelopes() []runtime.Envelope {
	out := []runtime.Envelope{}
	for _, en := range e.entries() {
		if !en.done.Load() {
			continue
		}
		r := RecordOf(en.op, true)
		if !r.Done || r.Cancelled != "" {
			continue
		}
		name, version := runtime.SplitTool(r.Tool)
		out = append(out, runtime.Envelope{CallID: r.CallID, Name: name, Version: version, Input: r.Input, Output: r.Output,
			Error: r.Error, TStart: e.base.Add(r.Start).UTC(), TEnd: e.base.Add(r.End).UTC(), Cached: en.op.Head().Cached})
	}
	return out
}
