package runtime

import (
	"math"
	"sync"
)

// guard holds a run to one policy. Guards form a chain, from the sub-workflow's to the run's. One lock serves the whole
// chain: a call is counted by all guards or by none, and nobody sees it half counted.
type guard struct {
	policy *Policy
	outer  *guard
	mu     *sync.Mutex // guards what follows, of all guards of the run
	calls  int64
	budget USD // what may still be spent; unbounded is never touched
	tools  map[string]int64
}

const unbounded USD = math.MaxInt64

func newGuard(p *Policy, outer *guard) *guard {
	g := &guard{policy: p, outer: outer, budget: unbounded}
	if g.mu = new(sync.Mutex); outer != nil {
		g.mu = outer.mu
	}
	if p.MaxCostUSD != "" {
		g.budget, _ = ParseUSD(p.MaxCostUSD) // New has checked it
	}
	if p.MaxPerTool != nil {
		g.tools = make(map[string]int64, len(p.MaxPerTool))
	}
	return g
}

// denies is the part of gate 1 that does not depend on what has happened before.
func (g *guard) denies(h *Head, claims []string) *ToolError {
	for ; g != nil; g = g.outer {
		if te := g.policy.denies(h, claims); te != nil {
			return te
		}
	}
	return nil
}

// reserve takes a call and its cost out of what is left, or says what is spent; then nothing is taken.
func (g *guard) reserve(tool string, cost USD) *ToolError {
	g.mu.Lock()
	defer g.mu.Unlock()
	for x := g; x != nil; x = x.outer {
		if most := x.policy.MaxToolCalls; most > 0 && x.calls >= most {
			return Errorf(PolicyDenied, "the run has made %d tool calls, which is the most that the policy allows", most)
		}
		if most, bound := x.policy.MaxPerTool[tool]; bound && x.tools[tool] >= most {
			return Errorf(PolicyDenied, "tool %s was called %d times, which is the most that the policy allows", tool, most)
		}
		if cost > x.budget {
			return Errorf(PolicyDenied, "a call of %s costs %s dollars, and of the %s that the policy allows %s are left", tool, cost,
				x.policy.MaxCostUSD, x.budget)
		}
	}
	g.count(tool, cost, 1)
	return nil
}

// count adds n calls and takes their cost. The lock is held.
func (g *guard) count(tool string, cost USD, n int64) {
	for ; g != nil; g = g.outer {
		g.calls += n
		if g.tools != nil {
			g.tools[tool] += n
		}
		if g.budget != unbounded {
			g.budget -= cost
		}
	}
}

// release undoes reserve for a call that was not made.
func (g *guard) release(tool string, cost USD) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.count(tool, -cost, -1)
}

// refund gives back the cost of a call that was made and did not cost it.
func (g *guard) refund(tool string, cost USD) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.count(tool, -cost, 0)
}

// charge counts what a journal holds, whether there is room for it or not. It is used before anything runs.
func (g *guard) charge(tool string, calls int64, cost USD) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.calls += calls
	if g.tools != nil {
		g.tools[tool] += calls
	}
	if g.budget != unbounded {
		g.budget -= min(cost, max(g.budget, 0))
	}
}

// minSandbox is the least isolation that a policy of the chain asks for.
func (g *guard) minSandbox() Tier {
	t := Native
	for ; g != nil; g = g.outer {
		t = max(t, g.policy.MinSandbox)
	}
	return t
}

// guarded is gate 1 for one attempt: what it refuses is noted in h.
//
// Calls that the journal answers are not reserved: they are charged when the scope is entered, and which of several
// calls come too late is a matter of timing, so that only the journal knows it.
func (r *Run) guarded(eng Engine, h *Head, o *toolOptions) *Beside {
	b := h.beside()
	refuse := func(te *ToolError) { h.refused, b.refused, b.Denied = true, te, true }
	switch te := r.guard.denies(h, o.claims); {
	case o.state == blocked:
		refuse(Errorf(PolicyDenied, "tool %s is blocked", h.Tool))
		return b
	case te != nil:
		refuse(te)
		return b
	}
	if a, ok := eng.(Answerer); ok && a.Answers(h) {
		return b
	}
	if te := r.guard.reserve(h.Tool, o.cost); te != nil {
		refuse(te)
		return b
	}
	b.paid = true
	return b
}

// settled gives back what was reserved and not used, as the doc comment of Policy says. A call that is denied stays so
// whatever the journal holds from before, unless only caps or budget denied it.
func (r *Run) settled(b *Beside, h *Head, o *toolOptions, err error) error {
	switch {
	case !b.paid:
	case !b.began && IsCancelled(err):
		r.guard.release(h.Tool, o.cost)
	case b.began && !b.ran:
		r.guard.refund(h.Tool, o.cost)
	}
	if b.refused != nil && err == nil {
		return b.refused
	}
	return err
}
