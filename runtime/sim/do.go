package sim

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
)

// Do implements engine.Engine.
func (s *Simulator) Do(r *flow.Run, op engine.Op) error {
	if s.opts.Replay != nil {
		return s.replay(r, op)
	}
	if s.opts.Through != nil {
		return s.through(r, op)
	}
	if err := r.Cancelled(); err != nil {
		return err
	}
	h := op.Head()
	h.Start = s.now
	if s.opts.Record != nil {
		s.opts.Record.Put(journal.RecordOf(op, false))
	}
	s.tell(Begun, op)
	h.Err = s.attempt(r, op, r.CallContext(h.Effects))
	h.End = s.now
	if s.opts.Record != nil {
		s.opts.Record.Put(journal.RecordOf(op, true))
	}
	s.tell(Ended, op)
	return h.Err
}

// attempt lets the call's time pass and runs it under ctx.
func (s *Simulator) attempt(r *flow.Run, op engine.Op, ctx context.Context) error {
	h := op.Head()
	limit := r.Limit(h)
	left, bounded := limit.Left, limit.Left > 0
	if h.Metadata != nil && h.Metadata.Denied {
		bounded = false // it will be refused, not carried out
	}
	pass := func(d time.Duration) error {
		late := bounded && d > left
		if late {
			d = left
		}
		left -= d
		s.wait(d)
		if ctx.Err() != nil { // cancelled in flight
			return r.Cancelled()
		}
		if late {
			return limit.Over()
		}
		return nil
	}
	if err := pass(s.latency(h)); err != nil {
		return err
	}
	s.trace = append(s.trace, fmt.Sprint(s.now, " ", h.Key()))
	if s.opts.Fault != nil {
		if te := s.opts.Fault(h.Key(), int(h.Attempt)); te != nil {
			return te
		}
	}
	err := s.exec(ctx, op)
	s.tell(Ran, op)
	if s.opts.Reply != nil {
		if err := pass(s.opts.Reply(h.Key(), int(h.Attempt))); err != nil {
			return err
		}
	}
	return err
}

// exec runs the call and looks whether its input is still the same.
func (s *Simulator) exec(ctx context.Context, op engine.Op) (err error) {
	h := op.Head()
	before, encodes := op.EncodeIn(nil)
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

func (s *Simulator) latency(h *engine.Head) time.Duration {
	if s.opts.Latency != nil {
		return s.opts.Latency(h.Key(), int(h.Attempt))
	}
	return time.Duration(s.rng.Int64N(int64(20 * time.Millisecond)))
}

// replay is rules R1 and R2.
func (s *Simulator) replay(r *flow.Run, op engine.Op) error {
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
