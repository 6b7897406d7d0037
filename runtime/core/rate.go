package core

import (
	"context"
	"sync"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// rate lets at most n calls begin in any period of the given length. It remembers when the last n calls began or will
// begin: a call may begin one period after the n-th before it.
type rate struct {
	n      int
	period time.Duration
	mu     sync.Mutex
	ring   []time.Time
	next   int
	last   time.Time // branches read the clock before they come here: turns are given in the order of their times
}

// rateMemory bounds how many calls are remembered. A rate beyond it is kept in shorter periods, which is stricter: at
// most n/k in any period/k, and so at most n in any period.
const rateMemory = 4096

func newRate(n int, period time.Duration) *rate {
	if k := (n + rateMemory - 1) / rateMemory; k > 1 && period/time.Duration(k) > 0 {
		n, period = n/k, (period+time.Duration(k)-1)/time.Duration(k)
	}
	return &rate{n: n, period: period}
}

// fresh is the same rate with nothing remembered.
func (l *rate) fresh() *rate { return &rate{n: l.n, period: l.period} }

// reserve takes the next turn and returns how long it is until then, unless that is later than deadline, which may be zero.
func (l *rate) reserve(now, deadline time.Time) (wait time.Duration, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	begin := now
	if l.last.After(now) {
		begin = l.last
	}
	if len(l.ring) == l.n {
		if free := l.ring[l.next].Add(l.period); free.After(begin) {
			begin = free
		}
	}
	wait = begin.Sub(now)
	if !deadline.IsZero() && wait > 0 && begin.After(deadline) {
		return wait, false
	}
	l.last = begin
	if len(l.ring) < l.n {
		l.ring = append(l.ring, begin)
	} else {
		l.ring[l.next] = begin
		l.next = (l.next + 1) % l.n
	}
	return wait, true
}

// OwnTime is an Engine whose time is not that of the machine: limits of rates are then kept for each run.
type OwnTime interface{ OwnTime() bool }

// paced is the gate "rate": it waits until the tool may be called again. The turn of a call that is cancelled while it waits is
// lost: that is stricter than the rate, and cannot be got around by cancelling.
func (r *Run) paced(ctx context.Context, h *Head, l *rate) error {
	if l == nil {
		return nil
	}
	var deadline time.Time
	if own, ok := r.carrier().(OwnTime); ok && own.OwnTime() {
		kept, _ := r.state.rates.LoadOrStore(h.Tool, l.fresh())
		l = kept.(*rate)
	} else if d, ok := ctx.Deadline(); ok {
		deadline = d
	}
	if b := r.bound; b != nil && (deadline.IsZero() || b.until.Before(deadline)) {
		deadline = b.until
	}
	wait, ok := l.reserve(r.Now(), deadline)
	if !ok {
		te := value.Errorf(value.RateLimit, "tool %s is limited to %d calls in %v; the next slot is after the deadline", h.Tool, l.n, l.period)
		te.RetryAfterS = ptr(wait.Seconds())
		return te
	}
	if wait <= 0 {
		return nil
	}
	if h.Node.Timeout > 0 && h.Node.Retry != nil {
		h.metadata().waited = wait
	}
	return r.Sleep(wait)
}
