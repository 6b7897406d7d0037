package sim

import (
	"bytes"
	"fmt"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/journal"
)

// Do implements runtime.Engine.
func (s *Simulator) Do(r *runtime.Run, op runtime.Op) error {
	if s.opts.Replay != nil {
		return s.replay(r, op)
	}
	if err := r.Cancelled(); err != nil {
		return err
	}
	h := op.Head()
	h.Start = s.now
	if s.opts.Record != nil {
		s.opts.Record.Put(journal.RecordOf(op, false))
	}
	h.Err = s.attempt(r, op)
	h.End = s.now
	if s.opts.Record != nil {
		s.opts.Record.Put(journal.RecordOf(op, true))
	}
	return h.Err
}

// attempt lets the call's time pass and runs it.
func (s *Simulator) attempt(r *runtime.Run, op runtime.Op) error {
	h := op.Head()
	d, late := s.latency(h), false
	if t := h.Node.Timeout; t > 0 && d > t {
		d, late = t, true
	}
	s.wait(d)
	ctx := r.CallContext(h.Effects)
	if ctx.Err() != nil { // cancelled in flight
		return r.Cancelled()
	}
	if late {
		return runtime.TimedOut(h.Node)
	}
	s.trace = append(s.trace, fmt.Sprint(s.now, " ", h.Key()))
	if s.opts.Fault != nil {
		if te := s.opts.Fault(h.Key(), int(h.Attempt)); te != nil {
			return te
		}
	}
	before, encodes := op.EncodeIn(nil)
	var err error
	if s.opts.Exec != nil {
		err = s.opts.Exec(op)
	} else {
		err = op.Exec(ctx)
	}
	if after, aerr := op.EncodeIn(nil); encodes == nil && aerr == nil && !bytes.Equal(before, after) {
		s.problems = append(s.problems, fmt.Errorf("%s: node %s: tool %s changed its input: %s",
			h.Node.Pos, h.Node.ID, h.Tool, journal.Difference(after, before)))
	}
	return err
}

func (s *Simulator) latency(h *runtime.Head) time.Duration {
	if s.opts.Latency != nil {
		return s.opts.Latency(h.Key(), int(h.Attempt))
	}
	return time.Duration(s.rng.Int64N(int64(20 * time.Millisecond)))
}

// replay is rules R1 and R2.
func (s *Simulator) replay(r *runtime.Run, op runtime.Op) error {
	h := op.Head()
	key, attempt := h.Key(), int(h.Attempt)
	if rec, ok := s.opts.Replay.Lookup(key, attempt); ok && rec.Done {
		s.wait(s.latency(h))
		return rec.Answer(op)
	}
	h.Replayed = true
	s.parked = append(s.parked, miss{s.current, r, key})
	s.park()
	if err := r.Cancelled(); err != nil {
		return err
	}
	return journal.Miss(s.opts.Replay, key, attempt)
}
