// Package sim is an engine that runs workflows in a deterministic simulation: one goroutine at a time, virtual time,
// and a seed that decides what happens first when several things happen at the same time. The same seed gives the same
// run. It injects latencies and faults, replays journals under other schedules than the recorded one, finds deadlocks,
// and finds tools that change their input.
package sim

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	goruntime "runtime"
	"slices"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/usage"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Options say what the simulated world does.
type Options struct {
	// Latency is how long an attempt takes. nil: random, below 20 ms. A node's timeout counts in this time.
	Latency func(key string, attempt int) time.Duration
	// Reply is how much later the run hears of what a tool did. nil: at once. A run that is cancelled in between, or an
	// attempt whose node's timeout ends in between, has done what it never hears of.
	Reply func(key string, attempt int) time.Duration
	// Fault makes an attempt fail instead of running its tool, unless it returns nil.
	Fault func(key string, attempt int) *value.ToolError
	// Exec runs an attempt in place of its tool: it gives op its output with DecodeOut, or returns an error.
	Exec func(op engine.Op) error
	// Replay answers all calls from a journal; no tool runs and the options above, Latency excepted, do nothing.
	Replay *journal.Journal
	// Record, when not nil, receives what happens.
	Record *journal.Journal
	// Through carries out the calls: a recorder, or a resumed journal. What it executes is simulated. Its journal is asked for
	// answers, seed and what was spent; branches and time are the simulator's.
	Through engine.Engine
	// Watch is told what happens to every attempt that is executed, as it happens.
	Watch func(Moment)
	// Begin is the virtual time at which the run begins; zero: 2000-01-01 UTC.
	Begin time.Time
}

// Simulator is the engine. It serves one run, inside Drive, and is used by one goroutine at a time.
type Simulator struct {
	opts     Options
	seed     uint64
	rng      *rand.Rand
	now      time.Duration
	queue    queue
	current  *coroutine
	live     map[*coroutine]bool
	parked   []miss // replay: calls without a record
	trace    []string
	problems []error
	dead     bool
	halted   bool
	panicked any
	exited   bool
}

// coroutine is a goroutine that runs only while Drive waits for it.
type coroutine struct{ resume, yield chan struct{} }

type miss struct {
	co  *coroutine
	run *flow.Run
	key string
}

// New returns a simulator for one run.
func New(seed uint64, o Options) *Simulator {
	if o.Begin.IsZero() {
		o.Begin = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return &Simulator{opts: o, seed: seed, rng: rand.New(rand.NewPCG(seed, 0)), live: map[*coroutine]bool{}}
}

// Drive runs f, which starts a workflow with this engine, to its end. It reports a deadlock, and tools that changed
// their input. A panic of f goes on in the caller. No goroutine is left.
func (s *Simulator) Drive(f func()) error {
	done := false
	s.ready(s.spawn(func() {
		defer func() {
			if done {
				return
			}
			if s.panicked = recover(); s.panicked == nil && !s.dead {
				s.exited = true
			}
			done = true
		}()
		f()
		done = true
	}), 0)
	var stuck error
	for !done && !s.halted {
		if len(s.queue) == 0 && !s.wake() {
			stuck = fmt.Errorf("deadlock after %v of virtual time: %d branches wait for each other", s.now, len(s.live))
			break
		}
		e := heap.Pop(&s.queue).(event)
		s.now = max(s.now, e.at)
		if e.do != nil {
			e.do()
			continue
		}
		s.step(e.co)
	}
	s.kill()
	if s.panicked != nil {
		panic(s.panicked)
	}
	if s.exited {
		goruntime.Goexit()
	}
	return errors.Join(append(s.problems, stuck)...)
}

// step lets a coroutine run until it waits or ends.
func (s *Simulator) step(co *coroutine) {
	s.current = co
	co.resume <- struct{}{}
	<-co.yield
}

// kill ends the coroutines that still wait.
func (s *Simulator) kill() {
	s.dead = true
	for len(s.live) > 0 {
		for co := range s.live {
			s.step(co)
		}
	}
}

func (s *Simulator) spawn(f func()) *coroutine {
	co := &coroutine{make(chan struct{}), make(chan struct{})}
	s.live[co] = true
	go func() {
		<-co.resume
		defer func() {
			delete(s.live, co)
			close(co.yield)
		}()
		if !s.dead {
			f()
		}
	}()
	return co
}

// park hands control back to Drive until something makes the current coroutine ready.
func (s *Simulator) park() {
	co := s.current
	co.yield <- struct{}{}
	<-co.resume
	if s.dead {
		goruntime.Goexit()
	}
}

func (s *Simulator) ready(co *coroutine, d time.Duration) {
	heap.Push(&s.queue, event{at: s.now + max(d, 0), tie: s.rng.Uint64(), co: co})
}

func (s *Simulator) wait(d time.Duration) {
	s.ready(s.current, d)
	s.park()
}

// wake is rule R2: when all is quiet, calls without a record find out whether their scope is cancelled. When none is,
// the first by key has diverged.
func (s *Simulator) wake() bool {
	if len(s.parked) == 0 {
		return false
	}
	left := s.parked[:0:0]
	for _, m := range s.parked {
		if m.run.Context().Err() != nil {
			s.ready(m.co, 0)
		} else {
			left = append(left, m)
		}
	}
	if len(left) == len(s.parked) {
		slices.SortFunc(left, func(a, b miss) int { return strings.Compare(a.key, b.key) })
		s.ready(left[0].co, 0)
		left = left[1:]
	}
	s.parked = left
	return true
}

// After runs f when d of virtual time has passed, between the steps of the run: to cancel it, for example.
func (s *Simulator) After(d time.Duration, f func()) {
	heap.Push(&s.queue, event{at: s.now + max(d, 0), tie: s.rng.Uint64(), do: f})
}

// Halt ends the simulation behind the current step, as a crash of the program does: nothing of the run goes on. Deferred
// functions run all the same, which a crash would not let them.
func (s *Simulator) Halt() { s.halted = true }

// Elapsed returns the virtual time that has passed.
func (s *Simulator) Elapsed() time.Duration { return s.now }

// Trace returns the attempts that ran, "<time> <key>", in their order.
func (s *Simulator) Trace() []string { return s.trace }

// Fork implements engine.Engine. In a replay all bodies begin even when one fails: their results may be recorded.
func (s *Simulator) Fork(r *flow.Run, n, limit int, body func(r *flow.Run, i int) error) error {
	if n == 0 {
		return nil
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	var first engine.FirstFailure
	me, next, left := s.current, 0, min(n, max(limit, 1))
	for range left {
		s.ready(s.spawn(func() {
			defer func() {
				if left--; left == 0 {
					s.ready(me, 0)
				}
			}()
			for next < n && (s.opts.Replay != nil || limit >= n || !first.Failed()) {
				i := next
				next++
				first.Guard(i, cancel, func() error { return body(r.Branch(ctx), i) })
			}
		}), 0)
	}
	s.park()
	return first.Err()
}

// Sleep implements engine.Engine in virtual time.
func (s *Simulator) Sleep(r *flow.Run, d time.Duration) error {
	s.wait(d)
	if s.opts.Replay != nil {
		return nil // R1: what comes next may be recorded
	}
	return r.Cancelled()
}

// Now implements engine.Engine.
func (s *Simulator) Now(*flow.Run) time.Time { return s.opts.Begin.Add(s.now) }

// Begin implements engine.Beginner.
func (s *Simulator) Begin() time.Time {
	if s.opts.Replay != nil {
		return s.opts.Replay.Header().Begin
	}
	if b, ok := s.opts.Through.(engine.Beginner); ok {
		return b.Begin()
	}
	return s.opts.Begin
}

// Seed implements engine.Seeder.
func (s *Simulator) Seed() uint64 {
	if s.opts.Replay != nil {
		return s.opts.Replay.Header().Seed
	}
	if p, ok := s.opts.Through.(engine.Seeder); ok {
		return p.Seed()
	}
	return s.seed
}

// Executes implements engine.Executor: it reports whether tools run.
func (s *Simulator) Executes() bool { return s.opts.Replay == nil && s.opts.Exec == nil }

// OwnTime implements engine.OwnTime.
func (s *Simulator) OwnTime() bool { return true }

// Answers implements engine.Answerer.
func (s *Simulator) Answers(h *engine.Head) bool {
	a, ok := s.opts.Through.(engine.Answerer)
	return s.opts.Replay != nil || ok && a.Answers(h)
}

// Spent implements engine.Answerer.
func (s *Simulator) Spent(prefix string, yield func(tool string, calls int64, took usage.Spend)) {
	if s.opts.Replay != nil {
		journal.Replay(s.opts.Replay).Spent(prefix, yield)
	} else if a, ok := s.opts.Through.(engine.Answerer); ok {
		a.Spent(prefix, yield)
	}
}

// Worked is what the engine behind it knows, see journal.Past.
func (s *Simulator) Worked(prefix string) time.Duration {
	if w, ok := s.opts.Through.(interface {
		Worked(prefix string) time.Duration
	}); ok {
		return w.Worked(prefix)
	}
	return 0
}

// Start implements engine.Starter.
func (s *Simulator) Start(r *flow.Run) error {
	if s.current == nil {
		return &runtime.RunError{Kind: runtime.JournalUnavailable, Message: "a simulated run starts inside Drive"}
	}
	if s.opts.Record != nil {
		in, err := r.EncodeInput()
		s.opts.Record.SetHeader(journal.Header{Workflow: r.Info().Name, Seed: s.Seed(), Begin: s.opts.Begin, Input: in})
		return err
	}
	return s.startThrough(r)
}

// Finish implements engine.Finisher.
func (s *Simulator) Finish(r *flow.Run, err error) error {
	if s.opts.Record != nil {
		f := journal.FinishOf(r, err)
		f.At = s.now
		s.opts.Record.SetFinish(f)
	}
	return s.finishThrough(r, err)
}

type event struct {
	at  time.Duration
	tie uint64
	co  *coroutine
	do  func()
}

type queue []event

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].tie < q[j].tie
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(event)) }
func (q *queue) Pop() any {
	old := *q
	e := old[len(old)-1]
	*q = old[:len(old)-1]
	return e
}
