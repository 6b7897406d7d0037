package core

import (
	"time"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// bound is what is left of Node.Timeout, for a node that makes several attempts or calls.
type bound struct {
	node  *Node
	until time.Time
	last  *value.ToolError // why the attempt before failed, when the wait after it ends too late; nil otherwise
}

// Within returns a Run whose calls end together after n.Timeout, for a node that makes several. A resumed run begins anew: what the
// calls that its journal answers have taken does not count.
func (r *Run) Within(n *Node) *Run {
	if n.Timeout <= 0 {
		return r
	}
	return r.until(bound{node: n, until: r.Now().Add(n.Timeout)})
}

// until is r under one more bound, or the earlier one when that ends before.
func (r *Run) until(b bound) *Run {
	if r.bound != nil && r.bound.until.Before(b.until) {
		return r
	}
	c := *r
	c.bound = &b
	return &c
}

// repeated is r for the attempts after one that began at first and has failed: what is left to them.
func (r *Run) repeated(h *Head, first time.Time) *Run {
	n := h.Node
	if n.Timeout <= 0 || h.Replayed || r.bound != nil && r.bound.node == n {
		return r
	}
	if h.Metadata != nil {
		first = first.Add(h.Metadata.waited)
	}
	return r.until(bound{node: n, until: first.Add(n.Timeout)})
}

// Limit is how long an attempt may take.
type Limit struct {
	Left time.Duration // from now on; 0: as long as it likes
	Of   time.Duration // as it was in the beginning: of the attempt, or of the node with all its attempts

	written bool  // somebody has written it
	tool    bool  // it is the tool's
	run     bool  // it is what the run may take, by its policy
	node    *Node // whose timeout it is; nil: it bounds one attempt
	head    *Head
	because *value.ToolError
}

// Limit returns the bound of an attempt of r that ends first.
func (r *Run) Limit(h *Head) Limit {
	if e, ok := r.eng.(*elsewhere); ok {
		return *e.limit
	}
	n, l := h.Node, Limit{head: h}
	least := func(left time.Duration) bool { return left > 0 && (l.Left <= 0 || left <= l.Left) }
	if n.Retry != nil && least(n.Retry.Timeout) {
		l = Limit{Left: n.Retry.Timeout, Of: n.Retry.Timeout, written: true, head: h}
	}
	own := h.bounds.ofTool()
	if least(own) {
		l = Limit{Left: own, Of: own, written: true, tool: true, head: h}
	}
	if own == 0 && l.Left <= 0 && n.Timeout <= 0 {
		l.Left, l.Of = DefaultTimeout, DefaultTimeout
	}
	b := r.bound
	if (b == nil || b.node != n) && least(n.Timeout) {
		l = Limit{Left: n.Timeout, Of: n.Timeout, written: true, node: n, head: h}
	}
	if b != nil {
		if left := max(b.until.Sub(r.Now()), 1); least(left) {
			l = Limit{Left: left, Of: b.node.Timeout, written: true, node: b.node, because: b.last, head: h}
		}
	}
	return r.workLimit(h, l)
}

// Over returns the error of an attempt that took longer.
func (l Limit) Over() *value.ToolError {
	h := l.head
	switch {
	case l.run:
		return value.Errorf(value.Timeout, "the run has worked for %v, its max_time", l.Of)
	case l.tool:
		return value.Errorf(value.Timeout, "no result after %v, the timeout of %s", l.Of, h.Tool)
	case !l.written:
		return value.Errorf(value.Timeout, "no result after %v, the default timeout", l.Of)
	case l.node == nil:
		return value.Errorf(value.Timeout, "no result after %v in one attempt", l.Of)
	case l.node != h.Node:
		return value.Errorf(value.Timeout, "%s has no result after %v", l.node.ID, l.Of)
	case l.node.Retry == nil:
		return value.Errorf(value.Timeout, "no result after %v", l.Of)
	}
	made, times := h.Attempt, "attempts"
	if h.refused {
		made--
	}
	if made == 1 {
		times = "attempt"
	}
	if l.because != nil {
		return value.Errorf(value.Timeout, "no result after %d %s, and the next would start after the timeout of %v: %v", made, times, l.Of, l.because).From(l.because)
	}
	return value.Errorf(value.Timeout, "no result after %v and %d %s", l.Of, made, times)
}

// refuseLate refuses an attempt that would begin after the end of the bound, unless a record answers it. It is recorded as one that a
// policy denies, so that a replay stops where the run did.
func (r *Run) refuseLate(eng Engine, h *Head) bool {
	if spent := r.guard.workedOut(r, h.Tool); !spent && (r.bound == nil || r.bound.until.After(r.Now())) {
		return false
	}
	if a, ok := eng.(Answerer); ok && a.Answers(h) {
		return false
	}
	h.refused = true
	m := h.metadata()
	m.Denied, m.refused = true, r.Limit(h).Over()
	return true
}
