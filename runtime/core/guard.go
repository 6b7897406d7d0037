package core

import (
	"math"
	"sync"

	"github.com/flowgen-dev/flowgen/runtime/usage"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// guard holds a run to one policy. Guards form a chain, from the sub-workflow's to the run's. One lock serves the whole
// chain: a call is counted by all guards or by none, and nobody sees it half counted.
type guard struct {
	policy *Policy
	turns  bool // of an agent: about what its model asks for, not about the asking
	outer  *guard
	mu     *sync.Mutex // guards what follows, of all guards of the run
	calls  int64
	budget usage.USD // what may still be spent; unbounded is never touched
	tokens int64     // the same; counted only under a bound
	tools  map[string]int64
	work   *worktime // nil: nothing bounds it
}

const unbounded usage.USD = math.MaxInt64

func newGuard(p *Policy, outer *guard) *guard {
	g := &guard{policy: p, outer: outer, budget: unbounded, tokens: p.MaxTokens}
	if g.mu = new(sync.Mutex); outer != nil {
		g.mu = outer.mu
	}
	if p.MaxCostUSD != "" {
		g.budget, _ = usage.ParseUSD(p.MaxCostUSD) // New has checked it
	}
	if p.MaxPerTool != nil {
		g.tools = make(map[string]int64, len(p.MaxPerTool))
	}
	return g
}

// denies is the part of the policy that does not depend on what has happened before.
func (g *guard) denies(h *Head, o *toolOptions) *value.ToolError {
	for ; g != nil; g = g.outer {
		if g.turns && o.meter != nil {
			continue
		}
		if te := g.policy.denies(h, o); te != nil {
			return te
		}
	}
	return nil
}

// reserve takes n calls, 0 or 1, and what they take at most out of what is left, or says what is spent; then nothing is
// taken.
func (g *guard) reserve(tool string, most usage.Spend, n int64) *value.ToolError {
	g.mu.Lock()
	defer g.mu.Unlock()
	for x := g; x != nil; x = x.outer {
		if te := x.spent(tool, most, n); te != nil {
			return te
		}
	}
	g.count(tool, most, n)
	return nil
}

// spent says what one guard has not enough of. The lock is held.
func (g *guard) spent(tool string, most usage.Spend, n int64) *value.ToolError {
	p := g.policy
	if p.MaxToolCalls > 0 && n > 0 && g.calls >= p.MaxToolCalls {
		return value.Errorf(value.PolicyDenied, "the run has made %d tool calls, the maximum of the policy", p.MaxToolCalls)
	}
	if bound, ok := p.MaxPerTool[tool]; ok && n > 0 && g.tools[tool] >= bound {
		return value.Errorf(value.PolicyDenied, "tool %s was called %d times, the maximum of the policy", tool, bound)
	}
	if most.Cost > g.budget {
		return value.Errorf(value.PolicyDenied, "a call of %s can cost %s dollars, but of the policy's %s only %s are left", tool, most.Cost,
			p.MaxCostUSD, max(g.budget, 0))
	}
	if p.MaxTokens > 0 && most.Tokens > g.tokens {
		return value.Errorf(value.PolicyDenied, "a call of %s can take %d tokens, but of the policy's %d only %d are left", tool, most.Tokens,
			p.MaxTokens, max(g.tokens, 0))
	}
	return nil
}

// count adds n calls and takes what they took. The lock is held.
func (g *guard) count(tool string, took usage.Spend, n int64) {
	for ; g != nil; g = g.outer {
		g.calls += n
		if g.tools != nil {
			g.tools[tool] += n
		}
		if g.budget != unbounded {
			g.budget -= took.Cost
		}
		g.tokens -= took.Tokens
	}
}

// refund gives back what a call was reserved and did not take, and the n calls that it was not.
func (g *guard) refund(tool string, left usage.Spend, n int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.count(tool, usage.Spend{Cost: -left.Cost, Tokens: -left.Tokens}, -n)
}

// charge counts what a journal holds, whether there is room for it or not. It is used before anything runs.
func (g *guard) charge(tool string, calls int64, took usage.Spend) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.calls += calls
	if g.tools != nil {
		g.tools[tool] += calls
	}
	if g.budget != unbounded {
		g.budget -= min(took.Cost, max(g.budget, 0))
	}
	g.tokens -= min(took.Tokens, max(g.tokens, 0))
}

// minSandbox is the least isolation that a policy of the chain asks for.
func (g *guard) minSandbox() Tier {
	t := Native
	for ; g != nil; g = g.outer {
		t = max(t, g.policy.MinSandbox)
	}
	return t
}

// guarded is the gate "policy" for one attempt that takes at most most: what it refuses is noted in h.
//
// Calls that the journal answers are not reserved: they are charged when the scope is entered, and which of several
// calls come too late is a matter of timing, so that only the journal knows it.
func (r *Run) guarded(eng Engine, h *Head, o *toolOptions, most usage.Spend) {
	b := h.metadata()
	te := r.denied(h, o)
	if te == nil {
		if a, ok := eng.(Answerer); ok && a.Answers(h) {
			return
		}
		calls := int64(1)
		if o.meter != nil {
			calls = 0
		}
		if te = r.guard.reserve(h.Tool, most, calls); te == nil {
			b.paid, b.most, b.calls = true, most, calls
			return
		}
	}
	h.refuse(te)
}

// refuse notes that the attempt must not be made.
func (h *Head) refuse(te *value.ToolError) {
	b := h.metadata()
	h.refused, b.refused, b.Denied = true, te, true
}

// denied is what the policy says of a call, whatever has happened before.
func (r *Run) denied(h *Head, o *toolOptions) *value.ToolError {
	if o.state == blocked {
		return value.Errorf(value.PolicyDenied, "tool %s is blocked", h.Tool)
	}
	return r.guard.denies(h, o)
}

// settled gives back what was reserved and not used, as the doc comment of Policy says. A call that is denied stays so
// whatever the journal holds from before, unless only caps or budget denied it.
func (r *Run) settled(b *Metadata, h *Head, o *toolOptions, err error) error {
	switch {
	case !b.paid:
	case !b.began && IsCancelled(err):
		r.guard.refund(h.Tool, b.most, b.calls)
	case b.began && !b.ran:
		r.guard.refund(h.Tool, b.most, 0)
	case b.ran && (o.meter != nil || o.spends != nil):
		r.guard.refund(h.Tool, b.most.Minus(usage.Spend{Cost: b.Cost, Tokens: b.Tokens}), 0)
	}
	if b.refused != nil && err == nil {
		return b.refused
	}
	return err
}
