package journal

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/usage"
)

// Replayer is an engine that answers every call from a journal and runs no tool, unless RunMissing says so. It serves
// one run.
type Replayer struct {
	journal *Journal
	missing bool              // calls without a record may run
	nodes   map[string]string // of the program; nil: it is the recorded one

	mu     sync.Mutex
	used   bool
	active int // branches that are neither parked nor waiting for their fork
	parked []*parked
	asked  marks
	now    time.Duration // end of the latest answered call
}

type parked struct {
	run  *flow.Run
	key  string
	wake chan struct{}
}

// ReplayOption configures Replay.
type ReplayOption func(*Replayer)

// RunMissing lets calls without a record run when the replay policy of their tool is recorded-result, which is the
// default of tools that change nothing (ToolSpec: replay_policy). They are not recorded. Others stay an error.
func RunMissing() ReplayOption { return func(e *Replayer) { e.missing = true } }

// Program says which versions of the nodes the program has that replays, by path. A call whose node is not the recorded
// one is then not answered: it is an error that says so.
func Program(nodes map[string]string) ReplayOption { return func(e *Replayer) { e.nodes = nodes } }

// Replay returns an engine that replays j.
func Replay(j *Journal, opts ...ReplayOption) *Replayer {
	e := &Replayer{journal: j}
	for _, o := range opts {
		o(e)
	}
	return e
}

// Start implements engine.Starter.
func (e *Replayer) Start(*flow.Run) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.used {
		return errUsed
	}
	e.used, e.active = true, 1
	return nil
}

// Executes implements engine.Executor: it reports whether a tool may run, and so whether secrets are needed.
func (e *Replayer) Executes() bool { return e.missing }

// Answers implements engine.Answerer.
func (e *Replayer) Answers(h *engine.Head) bool {
	if !e.missing {
		return true // or fails: nothing runs
	}
	rec, ok := e.journal.find(h.Key(), int(h.Attempt))
	return ok && rec.kind.done
}

// Spent implements engine.Answerer.
func (e *Replayer) Spent(prefix string, yield func(tool string, calls int64, took usage.Spend)) {
	e.journal.spent(prefix, yield)
}

// Begin implements engine.Beginner.
func (e *Replayer) Begin() time.Time { return e.journal.Header().Begin }

// Seed implements engine.Seeder.
func (e *Replayer) Seed() uint64 { return e.journal.Header().Seed }

// Do answers from the journal (R1). A call without a record waits until all branches are quiet (R2).
func (e *Replayer) Do(r *flow.Run, op engine.Op) error {
	h := op.Head()
	key, attempt := h.Key(), int(h.Attempt)
	known, ok := e.journal.find(key, attempt)
	if ok && known.kind.done {
		rec := e.journal.record(known)
		if why := e.stale(rec); why != "" {
			h.Replayed = true
			return diverged("call %s must be repeated: %s since it was recorded", key, why)
		}
		e.mu.Lock()
		e.asked.add(known.number)
		e.now = max(e.now, rec.End)
		e.mu.Unlock()
		return rec.Answer(op)
	}
	h.Replayed = true
	e.park(r, key)
	if err := r.Cancelled(); err != nil {
		return err
	}
	if e.missing && h.Replay == flow.RecordedResult {
		h.Replayed = false
		h.Err = op.Exec(r.CallContext(h.Effects))
		return h.Err
	}
	err := Miss(e.journal, key, attempt)
	if h.Replay == flow.FailLoud && !runtime.IsCancelled(err) {
		return diverged("the journal has no call %s, attempt %d, and its tool %s is fail-loud: it is never repeated", key, attempt, h.Tool)
	}
	return err
}

func (e *Replayer) stale(r Record) string {
	if e.nodes == nil {
		return ""
	}
	return e.journal.Changed(r, e.nodes)
}

// Miss is the error of a call that a replay of j asks for and that j cannot answer although its scope goes on.
func Miss(j *Journal, key string, attempt int) error {
	switch j.Finish().Outcome {
	case Cancelled, Waiting:
		return cancelled(runtime.ByRun)
	case Open:
		return diverged("the journal ends before call %s, attempt %d", key, attempt)
	}
	return diverged("the journal has no call %s, attempt %d", key, attempt)
}

func (e *Replayer) park(r *flow.Run, key string) {
	p := &parked{r, key, make(chan struct{})}
	e.mu.Lock()
	e.parked = append(e.parked, p)
	e.active--
	e.settle()
	e.mu.Unlock()
	<-p.wake
}

// settle wakes parked calls when nothing else moves: all that are cancelled, or else the first by key, which has
// diverged. e.mu is held.
func (e *Replayer) settle() {
	if e.active > 0 || len(e.parked) == 0 {
		return
	}
	wake := func(p *parked) { e.active++; close(p.wake) }
	e.parked = slices.DeleteFunc(e.parked, func(p *parked) bool {
		if p.run.Context().Err() == nil {
			return false
		}
		wake(p)
		return true
	})
	if e.active > 0 {
		return
	}
	slices.SortFunc(e.parked, func(a, b *parked) int { return strings.Compare(a.key, b.key) })
	wake(e.parked[0])
	e.parked = e.parked[1:]
}

// Fork runs the bodies as goroutines. Unlike a live fork it begins all of them even when one fails: their results may
// be recorded.
func (e *Replayer) Fork(r *flow.Run, n, limit int, body func(r *flow.Run, i int) error) error {
	if n == 0 {
		return nil
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	branch := r.Branch(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel(nil)
	var first engine.FirstFailure
	next, left := 0, min(n, max(limit, 1))
	e.mu.Lock()
	e.active += left - 1 // this branch waits
	e.mu.Unlock()
	claim := func() (int, bool) {
		e.mu.Lock()
		defer e.mu.Unlock()
		next++
		return next - 1, next <= n
	}
	leave := func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if left--; left > 0 { // the last one passes its place on to the branch that waits
			e.active--
			e.settle()
		}
	}
	for range left {
		wg.Go(func() {
			defer leave()
			for i, ok := claim(); ok; i, ok = claim() {
				first.Guard(i, cancel, func() error { return body(branch, i) })
			}
		})
	}
	wg.Wait()
	return first.Err()
}

// Sleep does not wait.
func (e *Replayer) Sleep(*flow.Run, time.Duration) error { return nil }

// Now returns the time at which the latest call answered so far had ended.
func (e *Replayer) Now(*flow.Run) time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.journal.Header().Begin.Add(e.now)
}

// Unused returns the keys of recorded results that the run has not asked for. A faithful replay may leave some only in
// a scope that failed.
func (e *Replayer) Unused() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := []string{}
	for _, r := range e.journal.chosen((*kept).result) {
		if !e.asked.has(r.number) {
			out = append(out, r.key)
		}
	}
	return slices.Compact(out)
}

// marks are numbers of records.
type marks []uint64

func (m *marks) add(n uint32) {
	for int(n/64) >= len(*m) {
		*m = append(*m, 0)
	}
	(*m)[n/64] |= 1 << (n % 64)
}

func (m marks) has(n uint32) bool { return int(n/64) < len(m) && m[n/64]&(1<<(n%64)) != 0 }
