package journal

import (
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
)

// Recorder is an engine that runs branches as goroutines and keeps every call. It serves one run. A recorded call costs
// one allocation: inputs and outputs are kept as they are and encoded when Envelopes or Journal asks.
type Recorder struct {
	engine.Goroutines
	base time.Time
	seed uint64

	last atomic.Pointer[segment] // where entries are added

	mu       sync.Mutex // guards the following
	segments []*segment
	used     bool
	workflow string
	input    []byte
	finish   Finish
}

// segment is a number of entries that never move. They are taken without a lock, in the order in which calls begin.
type segment struct {
	entries []entry
	taken   atomic.Int64 // beyond len(entries) when it is full
}

// entry is one attempt. While it is not done only the head's start and the input may be read.
type entry struct {
	op    engine.Op
	state atomic.Uint32
}

// The states of an entry.
const (
	empty uint32 = iota // the op is not there yet
	begun
	done
)

// Segments double from the first to the last size: most runs are short, and long ones should not pay for many segments.
const (
	firstSegment = 16
	lastSegment  = 1024
)

// NewRecorder returns a Recorder for one run.
func NewRecorder() *Recorder { return &Recorder{base: time.Now(), seed: rand.Uint64()} }

var errUsed = &runtime.RunError{Kind: runtime.JournalUnavailable, Message: "an engine with a journal serves one run"}

// Start implements engine.Starter.
func (e *Recorder) Start(r *flow.Run) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.used {
		return errUsed
	}
	e.used, e.workflow = true, r.Info().Name
	var err error
	e.input, err = r.EncodeInput()
	return err
}

// Finish implements engine.Finisher.
func (e *Recorder) Finish(r *flow.Run, err error) error {
	f := FinishOf(r, err)
	f.At = time.Since(e.base)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.finish = f
	return nil
}

// FinishOf describes the end of a run. A run whose output cannot be written as JSON is recorded without one.
func FinishOf(r *flow.Run, err error) Finish {
	f := Finish{Outcome: OutcomeOf(err)}
	if err != nil {
		f.Failure = r.Redact(err).Error()
		var ne *runtime.NodeError
		if errors.As(err, &ne) {
			f.Key = ne.Key
		}
	} else if out, oerr := r.EncodeOutput(); oerr == nil {
		f.Output = out
	}
	return f
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

// Begin implements engine.Beginner.
func (e *Recorder) Begin() time.Time { return e.base }

// Seed implements engine.Seeder.
func (e *Recorder) Seed() uint64 { return e.seed }

// Do runs the call and keeps it. A call whose scope is cancelled before it begins leaves no record.
func (e *Recorder) Do(r *flow.Run, op engine.Op) error {
	if err := r.Cancelled(); err != nil {
		return err
	}
	h := op.Head()
	h.Start = h.StartAt(e.base)
	slot := e.keep(op, begun)
	err := op.Exec(r.CallContext(h.Effects))
	h.End, h.Err = time.Since(e.base), err
	slot.state.Store(done)
	return err
}

func (e *Recorder) keep(op engine.Op, state uint32) *entry {
	s := e.last.Load()
	for {
		if s != nil {
			if i := s.taken.Add(1) - 1; i < int64(len(s.entries)) {
				en := &s.entries[i]
				en.op = op
				en.state.Store(state)
				return en
			}
		}
		s = e.grow(s)
	}
}

// grow adds a segment after full, unless somebody else has.
func (e *Recorder) grow(full *segment) *segment {
	e.mu.Lock()
	defer e.mu.Unlock()
	if s := e.last.Load(); s != full {
		return s
	}
	size := firstSegment
	if full != nil {
		size = min(2*len(full.entries), lastSegment)
	}
	s := &segment{entries: make([]entry, size)}
	e.segments = append(e.segments, s)
	e.last.Store(s)
	return s
}

// entries lists the entries in the order in which they began.
func (e *Recorder) entries() []*entry {
	e.mu.Lock()
	defer e.mu.Unlock()
	var out []*entry
	for _, s := range e.segments {
		for i := range min(s.taken.Load(), int64(len(s.entries))) {
			if en := &s.entries[i]; en.state.Load() != empty {
				out = append(out, en)
			}
		}
	}
	return out
}

// Journal returns what is recorded so far. It may be called during the run: calls in flight are then intents without
// a result, as after a crash at this moment.
func (e *Recorder) Journal() *Journal {
	all := e.entries()
	e.mu.Lock()
	j := New(Header{Workflow: e.workflow, Seed: e.seed, Begin: e.base.UTC().Round(0), Input: e.input})
	j.SetFinish(e.finish)
	e.mu.Unlock()
	for _, en := range all {
		j.Put(RecordOf(en.op, en.state.Load() == done))
	}
	return j
}

// Envelopes returns the receipts of all ended calls, in the order in which they began. Cancelled calls have none.
func (e *Recorder) Envelopes() []engine.Envelope {
	out := []engine.Envelope{}
	for _, en := range e.entries() {
		if en.state.Load() != done {
			continue
		}
		r := RecordOf(en.op, true)
		if !r.Done || r.Cancelled != "" {
			continue
		}
		name, version := engine.SplitTool(r.Tool)
		out = append(out, engine.Envelope{CallID: r.CallID, Name: name, Version: version, Input: r.Input, Output: r.Output,
			Error: r.Error, TStart: e.base.Add(r.Start).UTC(), TEnd: e.base.Add(r.End).UTC(), Cached: r.Cached, Truncated: r.Truncated, Attachments: r.Attachments})
	}
	return out
}
