package core

import (
	"context"
	"fmt"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// WaitTool is the name of the tool that waits are recorded and reported as. Policies do not count it, and no stub
// replaces it.
const WaitTool = "wait@1"

// pause is what a wait waits for, and what its record holds as the input; its output is when it ended.
type pause struct {
	For   string     `json:"for,omitempty"`   // so long
	Until *time.Time `json:"until,omitempty"` // or until then
	By    *time.Time `json:"by,omitempty"`    // when the time of the loop ends that goes on after it
}

// Wait waits for the duration d. It is recorded: a replay does not wait, and a resumed run waits for the remaining time.
// The error is a *NodeError: a wait fails only when its scope is cancelled.
func Wait(r *Run, n *Node, d time.Duration) error {
	_, err := r.pause(n, pause{For: d.String()}, d)
	return err
}

// pause waits at most most.
func (r *Run) pause(n *Node, p pause, most time.Duration) (time.Time, error) {
	free := *r
	free.guard = nil
	return Call(&free, n, Bind(WaitTool, None, func(ctx context.Context, p pause) (time.Time, error) {
		began := r.Now()
		if c := callOf(ctx); c != nil && c.Head().Since != nil {
			began = *c.Head().Since
		}
		end := began.Add(most)
		if p.Until != nil {
			end = *p.Until
		}
		if left := min(end.Sub(r.Now()), most); left > 0 { // a clock may have been set
			over := r.workLimit(&Head{Node: n, Tool: WaitTool}, Limit{Left: left})
			if err := r.Sleep(over.Left); err != nil {
				return time.Time{}, err
			}
			if over.run {
				return time.Time{}, over.Over()
			}
		}
		if now := r.Now(); end.Before(now) {
			end = now
		}
		return end.UTC().Round(0), nil
	}, Timeout(0), Cancellable()), p)
}

// Pace is the time of one run of a loop with n.Every or n.Within: when its iterations begin. It is for one goroutine.
type Pace struct{ first, last time.Time }

// Iterate is Run.Iterate for such a loop: it waits until the next iteration may begin. When n.Within is over it fails with TIMEOUT, or
// with n.GoOn returns nil and no error.
func (p *Pace) Iterate(r *Run, n *Node, i int) (*Run, error) {
	in, err := r.iterate(n, i)
	if err != nil {
		return nil, err
	}
	if i == 0 {
		*p = Pace{}
	}
	next, most := pause{}, time.Duration(0)
	if i > 0 {
		at := p.last.Add(n.Every)
		if p.over(n, at) {
			return nil, r.late(n, i)
		}
		next.Until, most = &at, n.Every
		if n.Within > 0 {
			by := p.first.Add(n.Within)
			next.By = &by
		}
	}
	at, err := in.begins(n, i, next, most)
	if err != nil {
		return nil, err
	}
	if i == 0 {
		p.first = at
	}
	if p.last = at; p.over(n, at) {
		return nil, r.late(n, i)
	}
	return in, nil
}

// begins waits for the beginning of iteration i of n, in whose scope r is. The record is next to those of the iteration: "n[2]".
func (r *Run) begins(n *Node, i int, p pause, most time.Duration) (time.Time, error) {
	visit := int32(1)
	if r.scope != nil {
		visit = r.scope.visit
		c := *r
		c.scope = &Scope{parent: r.scope.parent, item: transparent}
		r = &c
	}
	id := fmt.Sprintf("%s[%d]", appendVisited(nil, n.ID, visit), i)
	return r.pause(&Node{ID: id, Pos: n.Pos, Index: -1}, p, most)
}

func (p *Pace) over(n *Node, at time.Time) bool {
	return n.Within > 0 && at.After(p.first.Add(n.Within))
}

func (r *Run) late(n *Node, rounds int) error {
	if n.GoOn {
		return nil
	}
	times := "times"
	if rounds == 1 {
		times = "time"
	}
	return r.Fail(n, value.Errorf(value.Timeout, "%s ran %d %s in %v, its timeout, without finishing", n.ID, rounds, times, n.Within))
}
