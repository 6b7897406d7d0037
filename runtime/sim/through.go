package sim

import (
	"context"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
)

// What says what a Moment tells.
type What uint8

// The moments of an attempt, in their order. A crash falls between two of them.
const (
	Begun What = iota // its intent is in the journal
	Ran               // the tool has done what it does
	Ended             // its end is in the journal
)

// Moment is something that happens to an attempt. Op is valid during the call of Watch.
type Moment struct {
	What What
	Op   engine.Op
}

func (s *Simulator) tell(w What, op engine.Op) {
	if s.opts.Watch != nil {
		s.opts.Watch(Moment{w, op})
	}
}

// through lets another engine carry out the call. What it executes takes simulated time.
func (s *Simulator) through(r *flow.Run, op engine.Op) error {
	h := op.Head()
	s.wait(s.latency(h)) // what is answered takes its time as well, so that schedules differ
	o := &simulated{Op: op, sim: s, run: r}
	err := s.opts.Through.Do(r, o)
	if o.ran {
		h.Start, h.End, h.Err = o.start, s.now, err
		s.tell(Ended, op)
	}
	return err
}

// simulated is an attempt that another engine executes.
type simulated struct {
	engine.Op
	sim   *Simulator
	run   *flow.Run
	start time.Duration
	ran   bool
}

// Exec implements engine.Op.
func (o *simulated) Exec(ctx context.Context) error {
	o.ran, o.start = true, o.sim.now
	o.sim.tell(Begun, o.Op)
	return o.sim.attempt(o.run, o.Op, ctx)
}

// startThrough and finishThrough tell the other engine of the run.
func (s *Simulator) startThrough(r *flow.Run) error {
	if p, ok := s.opts.Through.(engine.Starter); ok {
		return p.Start(r)
	}
	return nil
}

func (s *Simulator) finishThrough(r *flow.Run, err error) error {
	if p, ok := s.opts.Through.(engine.Finisher); ok {
		return p.Finish(r, err)
	}
	return nil
}
