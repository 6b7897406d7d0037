package runs

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/flow"
)

// idle finds out when a run does nothing but wait for answers.
type idle struct {
	busy  atomic.Int64 // calls and waits that are not questions
	moved atomic.Int64 // counts their beginnings and ends; an end before busy falls, so that no calm is seen without it
	gave  atomic.Bool

	others atomic.Int64  // goroutines, besides the first, that neither wait for answers nor for branches; -1: not even that one
	still  chan struct{} // told that others is -1
}

// Suspended implements engine.Suspender.
func (e *Engine) Suspended() bool { return e.idle.stopped() }

func newIdle() idle { return idle{still: make(chan struct{}, 1)} }

func (i *idle) begin()        { i.busy.Add(1); i.moved.Add(1) }
func (i *idle) end()          { i.moved.Add(1); i.busy.Add(-1) }
func (i *idle) stopped() bool { return i.gave.Load() }

// rests notes that n goroutines have ended, or wait.
func (i *idle) rests(n int64) {
	if i.others.Add(-n) != -1 {
		return
	}
	select {
	case i.still <- struct{}{}:
	default: // somebody is told already
	}
}

// Fork implements engine.Engine: it knows which branches go on. Those that have not begun count as if they did, so that a run with
// such branches is never still. What the last branch counts for goes back to who waits for all.
func (e *Engine) Fork(r *flow.Run, n, limit int, body func(r *flow.Run, i int) error) error {
	if n == 0 {
		return nil
	}
	left := atomic.Int64{}
	left.Store(int64(n))
	e.idle.others.Add(int64(n - 1))
	err := e.Goroutines.Fork(r, n, limit, func(r *flow.Run, i int) error {
		defer func() {
			if left.Add(-1) > 0 {
				e.idle.rests(1)
			}
		}()
		return body(r, i)
	})
	if never := left.Load(); never > 0 { // which did not begin
		e.idle.rests(never - 1)
	}
	return err
}

// calm returns how often something has moved, and whether nothing goes on and nothing has since the time before.
func (i *idle) calm(before int64) (moved int64, calm bool) {
	busy := i.busy.Load() // first: what ends after this has not been over
	moved = i.moved.Load()
	return moved, busy == 0 && moved == before
}

// quiet is how long nothing else must have happened before a run that waits for answers is stopped, when there is more to it than
// questions.
const quiet = 150 * time.Millisecond

// Wait is what a question does that no user is available to answer: it waits until nothing else in the run goes on, and then
// stops the run with stop, so that it can be resumed when there is an answer. It returns the error of ctx.
func (e *Engine) Wait(ctx context.Context, stop func()) error {
	tick := time.NewTicker(quiet)
	defer tick.Stop()
	before := int64(-1)
	e.idle.rests(1)
	for {
		still := false
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-e.idle.still:
			still = true
		case <-tick.C:
		}
		now, calm := e.idle.calm(before)
		if calm || still {
			e.idle.gave.Store(true)
			stop()
			<-ctx.Done()
			return ctx.Err()
		}
		before = now
	}
}
