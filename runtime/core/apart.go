package core

import (
	"context"
	goruntime "runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// A Go function may ignore its context, and Go cannot stop it. So a function that can wait runs on a goroutine of its own, and the
// run goes on without it when its time is over. What keeps to its context (Cancellable), and what only computes and has no timeout of
// its own, stays on the goroutine of its caller.

// DefaultTimeout bounds an attempt for which no timeout is written.
const DefaultTimeout = 5 * time.Minute

// grace is how long after its time a function may still return: until then it counts as one that keeps to its context.
const grace = 500 * time.Millisecond

// Timeout bounds each attempt of a call; 0 and less is no bound. Without it attempts have 5 minutes, unless their node has a timeout.
func Timeout(d time.Duration) ToolOption {
	if d <= 0 {
		d = -1
	}
	return func(o *toolOptions) { o.timeout = d }
}

// Cancellable says that calls of the tool end soon after their context: they need no goroutine of their own.
func Cancellable() ToolOption { return func(o *toolOptions) { o.cancels = true } }

// waits reports whether an attempt under limit runs on a goroutine of its own.
func (o *toolOptions) waits(h *Head, limit Limit) bool {
	return !o.cancels && (h.Effects > None || limit.written)
}

// The states of a function on a goroutine of its own.
const (
	running int32 = iota
	returned
	left // nobody waits for it any more
)

// watch is what waits for such a function. It is used again by other calls of its run.
type watch struct {
	timer *time.Timer
	done  chan outcome
}

// outcome is how a function ended that may have failed, panicked or called runtime.Goexit.
type outcome struct {
	err   error
	panic *PanicError
	exit  bool
}

// watches are those of a run that nobody uses.
type watches struct {
	mu   sync.Mutex
	free []*watch
}

// take returns a watch that fires after d.
func (w *watches) take(d time.Duration) *watch {
	w.mu.Lock()
	defer w.mu.Unlock()
	if last := len(w.free) - 1; last >= 0 {
		x := w.free[last]
		w.free = w.free[:last]
		x.timer.Reset(d)
		return x
	}
	return &watch{time.NewTimer(d), make(chan outcome, 1)}
}

func (w *watches) put(x *watch) {
	x.timer.Stop()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.free = append(w.free, x)
}

// invokeApart runs the tool on a goroutine of its own.
func (o *op[In, Out]) invokeApart(ctx context.Context) error {
	free := &o.run.state.watches
	w := free.take(time.Until(o.until))
	go o.detached(ctx, w)
	for late := false; ; late = true {
		select {
		case e := <-w.done:
			return free.over(w, e)
		case <-w.timer.C:
		}
		if late {
			break
		}
		w.timer.Reset(grace)
	}
	if !o.state.CompareAndSwap(running, left) { // it has returned after all
		return free.over(w, <-w.done)
	}
	o.abandon()
	return context.DeadlineExceeded
}

// over gives the watch back, and hands on how the function ended.
func (w *watches) over(x *watch, e outcome) error {
	w.put(x)
	switch {
	case e.panic != nil:
		panic(e.panic)
	case e.exit:
		goruntime.Goexit()
	}
	return e.err
}

// detached is the function's goroutine. Its result is dropped when nobody waits for it.
func (o *op[In, Out]) detached(ctx context.Context, w *watch) {
	e := outcome{exit: true}
	defer func() {
		if p := recover(); p != nil {
			e = outcome{panic: o.run.panicOf(p)}
		}
		o.state.CompareAndSwap(running, returned)
		if o.state.Load() == returned {
			w.done <- e
		}
	}()
	out, err := o.tool.fn(ctx, o.in)
	e = outcome{err: err}
	if o.state.CompareAndSwap(running, returned) {
		o.out = out
	}
}

// abandon notes that the function goes on by itself: from here on it cannot touch the call.
func (c *call) abandon() {
	attaching.Lock()
	c.head.metadata().Abandoned = true
	attaching.Unlock()
	if r := c.run; r.observed() {
		r.emit(Event{Kind: Warning, Key: c.head.Key(), Node: c.head.Node, Tool: c.head.Tool, Time: r.Now(),
			Message: "the function of " + c.head.Tool + " ignores its context: it has not returned after its timeout and goes on; the run does not wait for it"})
	}
}

func (c *call) abandoned() bool { return c.state.Load() == left }

// closing is the context of an attempt with a bound, made when its tool asks for it.
type closing struct {
	context.Context
	cancel context.CancelFunc
}

var closed = func() *closing {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return &closing{ctx, cancel}
}()

// An attempt is the context of its tool, so that telling about the call costs nothing.

// Deadline implements context.Context.
func (c *call) Deadline() (time.Time, bool) {
	d, ok := c.ctx.Deadline()
	if !c.until.IsZero() && (!ok || c.until.Before(d)) {
		return c.until, true
	}
	return d, ok
}

// Done implements context.Context.
func (c *call) Done() <-chan struct{} { return c.values().Done() }

// Err implements context.Context.
func (c *call) Err() error {
	if own := c.own.Load(); own != nil {
		return own.Err()
	}
	if err := c.ctx.Err(); err != nil || c.until.IsZero() || time.Now().Before(c.until) {
		return err
	}
	return context.DeadlineExceeded
}

// values is the context that the attempt stands for.
func (c *call) values() context.Context {
	if c.until.IsZero() {
		return c.ctx
	}
	if own := c.own.Load(); own != nil {
		return own
	}
	ctx, cancel := context.WithDeadline(c.ctx, c.until)
	own := &closing{ctx, cancel}
	if !c.own.CompareAndSwap(nil, own) {
		cancel()
		return c.own.Load()
	}
	return own
}

// close ends the context of an attempt that is over, and reports whether its time was.
func (c *call) close() (late bool) {
	late = !time.Now().Before(c.until)
	if own := c.own.Swap(closed); own != nil {
		late = late || own.Err() != nil
		own.cancel()
	}
	return late
}

// bounds is the state of an attempt that has a bound.
type bounds struct {
	until time.Time // zero: none
	apart bool      // the tool runs on a goroutine of its own
	state atomic.Int32
	own   atomic.Pointer[closing]
}

// timed bounds an attempt by the timeout that ends first, and gives every error a code.
func (c *call) timed(ctx context.Context, o typed, rest []gate) error {
	limit := c.run.Limit(&c.head)
	own, ok := c.run.eng.(OwnTime)
	if ok && own.OwnTime() {
		limit.Left = limit.Of // what is left is no time of this clock
	}
	_, t := o.place()
	if limit.Left <= 0 || !limit.written && !t.cancels && !t.waits(&c.head, limit) {
		if err := c.next(ctx, o, rest); err != nil {
			return c.run.classify(ctx, err)
		}
		return nil
	}
	c.until = time.Now().Add(limit.Left)
	c.apart = !(ok && own.OwnTime()) && t.waits(&c.head, limit) && c.run.state.rt.standIn == nil
	err := c.next(ctx, o, rest)
	switch late := c.close(); {
	case err == nil:
		return nil
	case value.ToolErrorOf(err) == nil && late && ctx.Err() == nil:
		return limit.Over()
	default:
		return c.run.classify(ctx, err)
	}
}
