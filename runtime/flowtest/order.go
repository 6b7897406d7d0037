package flowtest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/sim"
)

// schedules is under how many simulated schedules an order must hold: two calls that nothing keeps in order have the wished
// one in all of them with a chance of one to four billion.
const schedules = 32

// order checks that each call has ended before the next begins. One run says little about that, because calls of parallel
// branches may happen to come in the wished order; so the cassette is replayed under schedules that a simulator draws. They
// are always the same.
func (w *workflow) order(ctx context.Context, cassette *journal.Journal, c *Case, seen *log) *Failure {
	if len(c.Order) == 0 {
		return nil
	}
	for _, e := range c.Order {
		if len(seen.matching(e.Field)) == 0 {
			return &Failure{Pos: e.Pos, Path: []string{"order"}, Message: fmt.Sprintf("order: %s was not called; the calls were %s", e.Field, seen.keys())}
		}
	}
	for seed := range uint64(schedules) {
		l := newLog(c)
		s := sim.New(seed, sim.Options{Replay: cassette})
		stuck := s.Drive(func() { w.observe(ctx, c, l, runtime.WithEngine(&simulated{s, l, seed})) })
		if stuck != nil {
			return &Failure{Pos: c.Pos, Path: []string{"order"}, Message: fmt.Sprintf("order: schedule %d of the simulator: %v", seed, stuck)}
		}
		if f := c.ordered(l); f != nil {
			return f
		}
	}
	return nil
}

// ordered compares the order of the calls of one run.
func (c *Case) ordered(l *log) *Failure {
	var before *call
	for _, e := range c.Order {
		found := l.matching(e.Field)
		if len(found) == 0 {
			return &Failure{Pos: e.Pos, Path: []string{"order"}, Message: "order: " + e.Field + " is not always called"}
		}
		calls := slices.SortedFunc(slices.Values(found[0]), func(a, b call) int { return a.Attempt - b.Attempt })
		if before != nil && calls[0].began < before.ended {
			return &Failure{Pos: e.Pos, Path: []string{"order"}, Message: fmt.Sprintf("order: nothing keeps %s from beginning before %s has ended", e.Field, before.Key)}
		}
		before = &calls[len(calls)-1]
	}
	return nil
}

// simulated is the engine that answers from a cassette under a schedule of the simulator.
type simulated struct {
	*sim.Simulator
	log  *log
	seed uint64
}

// Do implements engine.Engine.
func (e *simulated) Do(r *flow.Run, op engine.Op) error {
	if waits(op) {
		return op.Exec(r.Context())
	}
	return e.log.do(op, func() error {
		a, ok := e.log.answerTo(op.Head())
		if !ok {
			return e.Simulator.Do(r, op)
		}
		e.seed = e.seed*6364136223846793005 + 1442695040888963407 // people take their time, too
		if err := e.Sleep(r, time.Duration(e.seed>>33%20)*time.Millisecond); err != nil {
			return err
		}
		return a.exec(r, op)
	})
}
