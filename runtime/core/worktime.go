package core

import (
	"sync"
	"time"
)

// worktime counts how long a run works: not while all it does is to wait for answers, and not between its parts, when it is
// resumed. It is safe for concurrent use.
type worktime struct {
	most time.Duration

	mu           sync.Mutex
	spent        time.Duration // until since
	since        time.Time
	busy, asking int // calls, and questions to users
}

// account counts what went on until now. The lock is held.
func (w *worktime) account(now time.Time) {
	if (w.asking == 0 || w.busy > 0) && now.After(w.since) {
		w.spent += now.Sub(w.since)
	}
	w.since = now
}

// change notes that d more calls of a tool go on.
func (w *worktime) change(now time.Time, tool string, d int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.account(now)
	if tool == HumanTool {
		w.asking += d
	} else {
		w.busy += d
	}
}

// left is what is left of the time; 0 or less: nothing.
func (w *worktime) left(now time.Time) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.account(now)
	return w.most - w.spent
}

// newWorktime is the time of a policy whose run begins, or goes on after calls whose keys begin with prefix.
func newWorktime(r *Run, most time.Duration, prefix string) *worktime {
	w := &worktime{most: most, since: r.Now()}
	if x, ok := r.eng.(interface {
		Worked(prefix string) time.Duration
	}); ok {
		w.spent = x.Worked(prefix)
	}
	return w
}

// begin and end note that a call goes on.
func (g *guard) begin(r *Run, tool string) { g.change(r, tool, 1) }
func (g *guard) end(r *Run, tool string)   { g.change(r, tool, -1) }

func (g *guard) change(r *Run, tool string, d int) {
	for ; g != nil; g = g.outer {
		if g.work != nil {
			g.work.change(r.Now(), tool, d)
		}
	}
}

// least is the time of the chain of which the least is left; nil: none has a bound.
func (g *guard) least(now time.Time) (least *worktime, left time.Duration) {
	for ; g != nil; g = g.outer {
		if g.work == nil {
			continue
		}
		if l := g.work.left(now); least == nil || l < left {
			least, left = g.work, l
		}
	}
	return least, left
}

// timed reports whether a policy of the chain bounds the time.
func (g *guard) timed() bool {
	for ; g != nil; g = g.outer {
		if g.work != nil {
			return true
		}
	}
	return false
}

// workedOut reports whether the run has no time left for a call of the tool.
func (g *guard) workedOut(r *Run, tool string) bool {
	if tool == HumanTool || !g.timed() {
		return false
	}
	w, left := g.least(r.Now())
	return w != nil && left <= 0
}

// workLimit is l, or what is left of the run's time when that is less.
func (r *Run) workLimit(h *Head, l Limit) Limit {
	if h.Tool == HumanTool || !r.guard.timed() {
		return l
	}
	if w, left := r.guard.least(r.Now()); w != nil && (l.Left <= 0 || left < l.Left) {
		return Limit{Left: max(left, 1), Of: w.most, head: h, written: true, run: true}
	}
	return l
}
