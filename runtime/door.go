package runtime

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"
)

// door is the one way to the outside for calls that something records, checks or bounds. The gates stand in this order,
// the numbers are those of the design; gates of later versions have their place between them:
//
//	1 policy guard, caps, budget   (none yet)
//	2 input schema                 Head.refused
//	3 journal                      Engine.Do: answers, or makes the intent durable and goes on
//	4 cache, 5 rate limit          (none yet)
//	6 secrets                      op.Exec
//	7 execution, with timeout      op.Exec; the repetition stands here, so that every engine has it
//	8 output schema and size       op.Exec
//	9 envelope, event              Engine.Do for the record, emit for the event
//
//go:noinline
func door[In, Out any](r *Run, n *Node, t *Tool[In, Out], in In) (Out, error) {
	o := &op[In, Out]{head: Head{Node: n, Tool: t.name, Effects: t.effects, Scope: r.scope, Visit: r.scope.enter(n), Attempt: 1},
		run: r, tool: t, in: in}
	if t.checkIn != nil {
		o.head.refused = t.checkIn.value(&o.in) != nil
	}
	eng := r.carrier()
	begin := r.nodeStart(&o.head)
	for {
		err := r.state.broken
		if err == nil {
			err = eng.Do(r, o)
		}
		if err == nil {
			r.nodeEnd(&o.head, begin, nil)
			return o.out, nil
		}
		again, err := r.again(&o.head, err)
		if !again {
			err = r.fail(&o.head, err)
			r.nodeEnd(&o.head, begin, err)
			var zero Out
			return zero, err
		}
		next := *o // engines keep what they have seen
		next.out = *new(Out)
		next.head = Head{Node: n, Tool: t.name, Effects: t.effects, Scope: r.scope, Visit: o.head.Visit, Attempt: o.head.Attempt + 1, refused: o.head.refused}
		o = &next
	}
}

// op is the Op of one attempt: the only allocation of a recorded call.
type op[In, Out any] struct {
	head Head
	run  *Run
	tool *Tool[In, Out]
	in   In
	out  Out
}

func (o *op[In, Out]) Head() *Head { return &o.head }

func (o *op[In, Out]) EncodeIn(b []byte) ([]byte, error) { return AppendCanonical(b, &o.in) }

func (o *op[In, Out]) EncodeOut(b []byte) ([]byte, error) {
	j, err := json.Marshal(&o.out)
	return append(b, j...), err
}

func (o *op[In, Out]) DecodeOut(b []byte) error {
	var out Out
	if err := json.Unmarshal(b, &out); err != nil {
		return err
	}
	o.out = out
	return nil
}

// Exec is gates 6 to 8.
func (o *op[In, Out]) Exec(ctx context.Context) error {
	if o.head.refused { // rare: checked once more rather than kept
		return o.tool.checkIn.value(&o.in)
	}
	if o.head.Node.Timeout > 0 {
		tctx, cancel := context.WithTimeout(ctx, o.head.Node.Timeout)
		defer cancel()
		return o.bounded(ctx, tctx)
	}
	if err := o.exec(ctx); err != nil {
		return o.run.classify(ctx, err)
	}
	return nil
}

// bounded runs the tool under tctx, ctx with the node's timeout.
func (o *op[In, Out]) bounded(ctx, tctx context.Context) error {
	err := o.exec(tctx)
	if err == nil {
		return nil
	}
	if te := toolError(err); te == nil && tctx.Err() != nil && ctx.Err() == nil {
		return TimedOut(o.head.Node)
	}
	return o.run.classify(ctx, err)
}

// TimedOut is the error of an attempt of n that took longer than n.Timeout.
func TimedOut(n *Node) *ToolError { return Errorf(Timeout, "no result after %v", n.Timeout) }

func (o *op[In, Out]) exec(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = Errorf(Unknown, "panic: %s", clip(fmt.Sprint(p), 1000))
		}
	}()
	ctx, te := o.run.authorize(ctx, o.tool.secrets)
	if te != nil {
		return te
	}
	if o.out, err = o.tool.fn(ctx, o.in); err != nil {
		return err
	}
	return o.admit()
}

// admit is gate 8: what a tool returned is outside data until it fits the schema.
func (o *op[In, Out]) admit() error {
	if c := o.tool.checkOut; c != nil {
		if te := c.value(&o.out); te != nil {
			te.Message = "output: " + te.Message
			return te
		}
	}
	if limit := o.tool.maxOutput; limit > 0 {
		b, err := o.EncodeOut(nil)
		if err != nil {
			return Invalid("output: %v", err)
		}
		if len(b) > limit {
			return Errorf(PolicyDenied, "output has %d bytes, at most %d are allowed", len(b), limit)
		}
	}
	return nil
}

// again decides whether another attempt follows, and waits for it. A wait cut short gives the cancelled error.
func (r *Run) again(h *Head, err error) (bool, error) {
	retry := h.Node.Retry
	te := toolError(err)
	if retry == nil || te == nil || h.refused || int(h.Attempt) >= retry.Attempts || !retry.covers(te.Code) {
		return false, err
	}
	wait := retry.wait(int(h.Attempt), te.RetryAfterS, func() float64 {
		return float64(r.jitter(h)>>11) / (1 << 53)
	})
	if r.observed() {
		r.emit(Event{Kind: Retrying, Key: h.Key(), Node: h.Node, Tool: h.Tool, Time: r.Now(), Duration: h.End - h.Start,
			Attempt: int(h.Attempt), Wait: wait, Err: te, Replayed: h.Replayed})
	}
	if h.Replayed {
		return true, nil // waited when it was recorded; whether the scope is cancelled is for Do to see (R1)
	}
	if err := r.Sleep(wait); err != nil {
		return false, err
	}
	return true, nil
}

// jitter is the random number of one wait. Unlike Rand it needs no counter: the attempt is one.
func (r *Run) jitter(h *Head) uint64 {
	if r.scope == nil {
		return r.Rand(h.Node)
	}
	return r.hash(h.Key(), h.Attempt)
}

var transient = []Code{RateLimit, Timeout, NetworkError, ProviderError}

func (p *Retry) covers(c Code) bool {
	if len(p.Codes) == 0 {
		return slices.Contains(transient, c)
	}
	return slices.Contains(p.Codes, c)
}

// longestWait bounds a wait that the other side asked for.
const longestWait = 24 * time.Hour

// wait is the pause after a failed attempt (from 1): the longer of the backoff and what the error asks for.
// random gives a number in [0, 1).
func (p *Retry) wait(attempt int, after *float64, random func() float64) time.Duration {
	d := float64(p.Base)
	if !p.Constant {
		d = math.Ldexp(d, attempt-1)
	}
	if p.Cap > 0 {
		d = min(d, float64(p.Cap))
	}
	if p.Jitter > 0 {
		d *= 1 - min(p.Jitter, 1)*random() // only downwards: Cap stays the bound
	}
	if after != nil && *after > 0 { // false for NaN
		d = max(d, *after*float64(time.Second))
	}
	return time.Duration(min(d, float64(longestWait)))
}

// fail makes the call's NodeError and remembers run errors that no catch may hide.
func (r *Run) fail(h *Head, err error) error {
	ne := &NodeError{Node: h.Node, Key: h.Key(), Err: r.classify(r.ctx, err)}
	if isFatal(ne) {
		r.state.fatal.CompareAndSwap(nil, ne)
	}
	return ne
}

func (r *Run) nodeStart(h *Head) time.Time {
	if !r.observed() {
		return time.Time{}
	}
	now := r.Now()
	r.emit(Event{Kind: NodeStart, Key: h.Key(), Node: h.Node, Tool: h.Tool, Time: now})
	return now
}

func (r *Run) nodeEnd(h *Head, begin time.Time, err error) {
	if !r.observed() {
		return
	}
	now := r.Now()
	r.emit(Event{Kind: NodeEnd, Key: h.Key(), Node: h.Node, Tool: h.Tool, Time: now, Duration: now.Sub(begin),
		Attempt: int(h.Attempt), Err: err, Replayed: h.Replayed, Cached: h.Cached})
}
