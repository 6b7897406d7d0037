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

// Timeout bounds each attempt of a call; 0 and less means no bound. Without it attempts have 5 minutes, unless their node has a timeout.
func Timeout(d time.Duration) ToolOption {
	if d <= 0 {
		d = -1
	}
	return func(o *toolOptions) { o.timeout = d }
}

// Cancellable says that calls of the tool end soon after their context: they need no goroutine of their own.
func Cancellable() ToolOption { return func(o *toolOptions) { o.cancels = true } }

// Queue names the workers that may make calls, for engines whose workers ask queues for calls; others ignore it.
func Queue(name string) ToolOption { return func(o *toolOptions) { o.queue = name } }

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
	start func() // runs attempt under ctx; made once, so that a call costs no closure

	attempt interface {
		detached(context.Context, *watch)
	}
	ctx context.Context
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
	x := &watch{timer: time.NewTimer(d), done: make(chan outcome, 1)}
	x.start = func() { x.attempt.detached(x.ctx, x) }
	return x
}

func (w *watches) put(x *watch) {
	x.timer.Stop()
	x.attempt, x.ctx = nil, nil
	w.mu.Lock()
	defer w.mu.Unlock()
	w.free = append(w.free, x)
}

// invokeApart runs the tool on a goroutine of its own.
func (o *op[In, Out]) invokeApart(ctx context.Context) error {
	free := &o.run.state.watches
	b := o.head.bounds
	w := free.take(time.Until(b.until))
	w.attempt, w.ctx = o, ctx
	go w.start()
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
	if !b.state.CompareAndSwap(running, left) { // it has returned after all
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
	e, b := outcome{exit: true}, o.head.bounds
	defer func() {
		if p := recover(); p != nil {
			e = outcome{panic: o.run.panicOf(p)}
		}
		b.state.CompareAndSwap(running, returned)
		if b.state.Load() == returned {
			w.done <- e
		}
	}()
	out, err := o.tool.fn(ctx, o.in)
	e = outcome{err: err}
	if b.state.CompareAndSwap(running, returned) {
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
			Message: "the function of " + c.head.Tool + " ignores its context: it has not returned after its timeout and keeps running; the run does not wait for it"})
	}
}

func (c *call) abandoned() bool { return c.head.bounds != nil && c.head.bounds.state.Load() == left }

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
	if b := c.head.bounds; b.set() && (!ok || b.until.Before(d)) {
		return b.until, true
	}
	return d, ok
}

// Done implements context.Context.
func (c *call) Done() <-chan struct{} { return c.values().Done() }

// Err implements context.Context.
func (c *call) Err() error {
	b := c.head.bounds
	if !b.set() {
		return c.ctx.Err()
	}
	if own := b.own.Load(); own != nil {
		return own.Err()
	}
	if err := c.ctx.Err(); err != nil || time.Now().Before(b.until) {
		return err
	}
	return context.DeadlineExceeded
}

// values is the context that the attempt stands for.
func (c *call) values() context.Context {
	b := c.head.bounds
	if !b.set() {
		return c.ctx
	}
	if own := b.own.Load(); own != nil {
		return own
	}
	ctx, cancel := context.WithDeadline(c.ctx, b.until)
	own := &closing{ctx, cancel}
	if !b.own.CompareAndSwap(nil, own) {
		cancel()
		return b.own.Load()
	}
	return own
}

// close ends the context of an attempt that is over, and reports whether its time was.
func (b *bounds) close() (late bool) {
	late = !time.Now().Before(b.until)
	if own := b.own.Swap(closed); own != nil {
		late = late || own.Err() != nil
		own.cancel()
	}
	return late
}

// bounds is what bounds an attempt: what its tool says, and its state when it is on its way. It stands apart from the attempt,
// which every recorded call keeps.
type bounds struct {
	tool  time.Duration // as the tool says; 0: DefaultTimeout, below: none
	until time.Time     // zero: the attempt is not on its way, or has a context of its own
	apart bool          // the tool runs on a goroutine of its own
	state atomic.Int32
	own   atomic.Pointer[closing]
}

func (b *bounds) set() bool { return b != nil && !b.until.IsZero() }

func (b *bounds) ofTool() time.Duration {
	if b == nil {
		return 0
	}
	return b.tool
}

// bounds are those of an attempt of the tool.
func (o *toolOptions) bounds() *bounds {
	if o.timeout == 0 {
		return nil
	}
	return &bounds{tool: o.timeout}
}

// unbounded reports whether nobody has written a timeout for an attempt of a pure function, which nothing could stop. It finds
// out what Limit would for most calls that a journal keeps.
func (c *call) unbounded(t *toolOptions) bool {
	r, n := c.run, c.head.Node
	if c.head.Effects > None || t.cancels || c.head.bounds != nil || r.bound != nil || r.guard != nil || n.Timeout > 0 || n.Retry != nil {
		return false
	}
	_, ok := r.eng.(*elsewhere)
	return !ok
}

// timed bounds an attempt by the timeout that ends first, and gives every error a code.
func (c *call) timed(ctx context.Context, o typed, rest []gate) error {
	_, t := o.place()
	if c.unbounded(t) {
		if err := c.next(ctx, o, rest); err != nil {
			return c.run.classify(ctx, err)
		}
		return nil
	}
	limit := c.run.Limit(&c.head)
	x, ok := c.run.eng.(OwnTime)
	virtual := ok && x.OwnTime()
	if virtual {
		limit.Left = limit.Of // what is left is not a time of this clock
	}
	apart := t.waits(&c.head, limit)
	if limit.Left <= 0 || !limit.written && !t.cancels && !apart {
		if err := c.next(ctx, o, rest); err != nil {
			return c.run.classify(ctx, err)
		}
		return nil
	}
	var err error
	var late bool
	if apart && !virtual && c.run.state.rt.standIn == nil {
		if c.head.bounds == nil {
			c.head.bounds = new(bounds)
		}
		b := c.head.bounds
		b.until, b.apart = time.Now().Add(limit.Left), true
		err = c.next(ctx, o, rest)
		late = b.close()
	} else {
		own, cancel := context.WithTimeout(ctx, limit.Left)
		defer cancel()
		err = c.next(own, o, rest)
		late = own.Err() != nil
	}
	switch {
	case err == nil:
		return nil
	case value.ToolErrorOf(err) == nil && late && ctx.Err() == nil:
		return limit.Over()
	default:
		return c.run.classify(ctx, err)
	}
}
