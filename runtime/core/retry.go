package core

import (
	"math"
	"slices"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// again decides whether another attempt follows, and waits for it. It returns the Run of that attempt, nil when there is none. A wait
// cut short gives the cancelled error; one that would end after the node's timeout is not begun. first is when the first attempt began.
func (r *Run) again(h *Head, first time.Time, err error) (*Run, error) {
	retry := h.Node.Retry
	te := value.ToolErrorOf(err)
	refused := h.refused || h.Metadata != nil && h.Metadata.Denied // also when a journal says so
	if retry == nil || te == nil || refused || int(h.Attempt) >= retry.Attempts || !retry.covers(te.Code) {
		return nil, err
	}
	wait := retry.wait(int(h.Attempt), te.RetryAfterS, func() float64 {
		return float64(r.jitter(h)>>11) / (1 << 53)
	})
	if h.Replayed {
		// Waited when it was recorded, unless the run stopped then; whether the scope is cancelled is for Do to see (R1).
		wait = max(r.rest(h, wait), 0)
	}
	if r.observed() {
		r.emit(Event{Kind: Retrying, Key: h.Key(), Node: h.Node, Tool: h.Tool, Time: r.Now(), Duration: h.End - h.Start,
			Attempt: int(h.Attempt), Wait: wait, Err: te, Replayed: h.Replayed})
	}
	if h.Replayed && wait == 0 {
		return r, nil
	}
	r = r.repeated(h, first)
	if b := r.bound; b != nil {
		switch now := r.Now(); {
		case !now.Before(b.until): // the next attempt is refused, and recorded
			return r, nil
		case !now.Add(wait).Before(b.until):
			return r.until(bound{node: b.node, until: now, last: te}), nil
		}
	}
	if err := r.Sleep(wait); err != nil {
		return nil, err
	}
	return r, nil
}

// rest is what is left of the wait after an attempt that was answered from a journal: nothing when the next one is, too.
func (r *Run) rest(h *Head, wait time.Duration) time.Duration {
	b, began := r.eng.(Beginner)
	a, answers := r.eng.(Answerer)
	next := Head{Node: h.Node, Tool: h.Tool, Effects: h.Effects, Scope: h.Scope, Visit: h.Visit, Attempt: h.Attempt + 1}
	if !began || !answers || a.Answers(&next) {
		return 0
	}
	return min(wait, b.Begin().Add(h.End).Add(wait).Sub(r.Now()))
}

// jitter is the random number of one wait. Unlike Rand it needs no counter: the attempt is one.
func (r *Run) jitter(h *Head) uint64 {
	if r.scope == nil {
		return r.Rand(h.Node)
	}
	return r.hash(h.Key(), h.Attempt)
}

var transient = []value.Code{value.RateLimit, value.Timeout, value.NetworkError, value.ProviderError}

func (p *Retry) covers(c value.Code) bool {
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
