package core

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Parallel runs the branches at the same time. All have ended when it returns. A failing branch cancels the others; of
// several failures the first branch, in file order, that failed by itself gives the error.
func Parallel(r *Run, branches ...func(*Run) error) error {
	return ParallelLimit(r, len(branches), branches...)
}

// ParallelLimit is Parallel with at most limit branches at a time, which begin in file order; nothing begins after a
// failure.
func ParallelLimit(r *Run, limit int, branches ...func(*Run) error) error {
	body := func(r *Run, i int) error { return branches[i](r) }
	if r.eng != nil {
		return r.eng.Fork(r, len(branches), limit, body)
	}
	return fork(r, len(branches), limit, body)
}

// fork runs the bodies on goroutines, one of them on the caller's.
func fork(r *Run, n, limit int, body func(*Run, int) error) error {
	return spread(r, n, min(n, max(limit, 1)), 1, func(r *Run, i, _ int) (int, error) { return i, body(r, i) })
}

// spread hands out blocks of indexes to workers, in order, until all are done. When there are fewer workers than indexes
// nothing begins after a failure. Then all that began have lower indexes than all that did not, so that the error does not
// depend on what did not begin. Branches that all run at once begin in any case: in a graph an index says nothing.
// body runs the indexes from lo to below hi and returns the one it has come to with its error.
func spread(r *Run, n, workers, block int, body func(r *Run, lo, hi int) (int, error)) error {
	if n == 0 {
		return nil
	}
	ctx, cancel := context.WithCancelCause(r.ctx)
	s := &spreading{run: r.Branch(ctx), n: n, block: block, stops: workers < n, body: body, cancel: cancel}
	defer s.wg.Wait() // also when the caller's own share ends in runtime.Goexit
	defer cancel(nil)
	s.wg.Add(workers - 1)
	work := func() { // one closure for all
		defer s.wg.Done()
		s.work()
	}
	for range workers - 1 {
		go work()
	}
	s.work()
	s.wg.Wait()
	return s.first.Err()
}

type spreading struct {
	run      *Run
	n, block int
	stops    bool // nothing begins after a failure
	body     func(r *Run, lo, hi int) (int, error)
	cancel   context.CancelCauseFunc
	next     atomic.Int64
	wg       sync.WaitGroup
	first    FirstFailure
}

func (s *spreading) work() {
	returned := false
	defer s.first.rescue(&returned, s.cancel)
	for {
		hi := int(s.next.Add(int64(s.block)))
		if hi-s.block >= s.n || s.stops && s.first.Failed() {
			returned = true
			return
		}
		if i, err := s.body(s.run, hi-s.block, min(hi, s.n)); err != nil {
			s.first.Set(i, err)
			s.cancel(errSibling)
		}
	}
}

// FirstFailure chooses the error of several concurrent bodies: run errors such as a divergence before tool errors,
// these before cancellations, and among equals the lowest index. Engines use one per Fork. The zero value is ready.
type FirstFailure struct {
	failed atomic.Bool // by itself, not by cancellation
	mu     sync.Mutex
	index  int
	rank   int
	err    error
	panic  *PanicError
	exit   bool
}

// errSibling is why the scope of bodies is cancelled one of which has failed.
var errSibling = errors.New("a sibling failed")

// Guard runs body i. Its error is noted, its panic or runtime.Goexit kept for Err; each of them calls cancel, which must be
// that of the context of the bodies.
func (f *FirstFailure) Guard(i int, cancel context.CancelCauseFunc, body func() error) {
	returned := false
	defer f.rescue(&returned, cancel)
	err := body()
	returned = true
	if err != nil {
		f.Set(i, err)
		cancel(errSibling)
	}
}

// rescue is deferred by what runs bodies: unless it returned, it keeps its panic or runtime.Goexit and calls cancel.
func (f *FirstFailure) rescue(returned *bool, cancel context.CancelCauseFunc) {
	if *returned {
		return
	}
	f.mu.Lock()
	if p := recover(); p == nil {
		f.exit = true
	} else if f.panic == nil {
		f.panic = capture(p)
	}
	f.mu.Unlock()
	f.failed.Store(true)
	cancel(errSibling)
}

// Set notes the error of body i.
func (f *FirstFailure) Set(i int, err error) {
	rank := 1
	switch {
	case IsCancelled(err):
		rank = 0
	case isFatal(err):
		rank = 2
	}
	f.mu.Lock()
	if f.err == nil || rank > f.rank || rank == f.rank && i < f.index {
		f.index, f.rank, f.err = i, rank, err
	}
	f.mu.Unlock()
	if rank > 0 {
		f.failed.Store(true)
	}
}

// Failed reports whether a body has failed so far by itself, not by cancellation.
func (f *FirstFailure) Failed() bool { return f.failed.Load() }

// Err returns the chosen error. A body's panic is raised again here, in the caller's goroutine, as a *PanicError.
// It is called when all bodies have ended.
func (f *FirstFailure) Err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.panic != nil {
		panic(f.panic)
	}
	if f.exit {
		goruntime.Goexit()
	}
	return f.err
}

// PanicError is a panic: of a concurrent branch, raised again in the goroutine that waited for it, or of a tool, found in its
// error with errors.As.
type PanicError struct {
	Value any    // what the branch panicked with
	Stack []byte // of the branch
}

func capture(p any) *PanicError {
	if pe, ok := p.(*PanicError); ok {
		return pe
	}
	return &PanicError{p, debug.Stack()}
}

// Error returns the panic's value and the stack of the branch.
// maxStack bounds what is kept of the stack of a tool that panicked, in bytes.
const maxStack = 8 << 10

// panicOf is the panic of a tool: its stack begins where it panicked, and is bounded and without secrets.
func (r *Run) panicOf(v any) *PanicError {
	if _, branch := v.(*PanicError); branch {
		return capture(v)
	}
	stack := string(debug.Stack())
	if i := strings.Index(stack, "\npanic("); i >= 0 {
		if _, rest, ok := strings.Cut(stack[i+1:], "\n"); ok { // its function, then its file
			_, stack, _ = strings.Cut(rest, "\n")
		}
	}
	return &PanicError{v, []byte(value.Clip(r.state.rt.redactor.Load().Text(stack), maxStack))}
}

// StackOf returns the stack of the tool's panic that err comes from, "" when it comes from none. It is for people.
func StackOf(err error) string {
	if p := (*PanicError)(nil); errors.As(err, &p) {
		return value.Clip(string(p.Stack), maxStack)
	}
	return ""
}

func (p *PanicError) Error() string { return fmt.Sprintf("%v\n\nbranch:\n%s", p.Value, p.Stack) }

// Unwrap returns the value when it is an error.
func (p *PanicError) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}
