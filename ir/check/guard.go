package check

import (
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// maxLooked bounds the part of a diagram that is looked at to find a condition that reads well.
const maxLooked = 64

// guard makes the condition under which a part runs, given that ctx holds. Nil means that the part cannot be guarded as
// a whole; its steps then have guards of their own.
func (p *planner) guard(one *part, ctx formula) *Cond {
	d := p.b.diagram
	// One decision settles it: `if plan.Route == "fix"`.
	for _, i := range slices.Backward(d.support(one.runs, maxLooked)) {
		for _, decision := range p.b.byIndex[i] {
			if decision.own() || !d.implies(ctx, p.decided(decision)) {
				continue
			}
			var cases []int
			for k, possible := range p.possible(one.runs, decision) {
				if possible {
					cases = append(cases, k)
				}
			}
			if d.implies(d.and(ctx, p.oneOf(decision, cases)), one.runs) {
				p.mark(decision)
				return &Cond{Any: []Term{{Decision: decision, Cases: cases}}}
			}
		}
	}
	// Or the edges into a step that runs exactly then, if all of them come from before the part.
	inside := map[*unit]bool{}
	for _, u := range one.units {
		inside[u] = true
	}
	for _, u := range one.units {
		if act := u.first().gate; act == one.runs && act != unknown && !p.enteredFrom(u.first(), inside) {
			if cond := p.byEdges(u.first(), ctx); cond != nil {
				return cond
			}
		}
	}
	return nil
}

// enteredFrom reports whether an edge leads to s from one of the units.
func (p *planner) enteredFrom(s *Step, units map[*unit]bool) bool {
	return slices.ContainsFunc(s.in, func(a *arc) bool { return !a.orderOnly && units[p.at[a.from]] })
}

// byEdges writes the condition of a step from its incoming edges.
func (p *planner) byEdges(s *Step, ctx formula) *Cond {
	d := p.b.diagram
	cond := &Cond{}
	for _, a := range s.in {
		if a.orderOnly || !p.b.weak && d.excludes(ctx, p.b.active(a)) {
			continue
		}
		t := Term{}
		base := a.from.passed
		if a.decision != nil && a.decision.Kind == Outcome {
			base = a.from.gate
		}
		if a.decision != nil && (p.b.weak || !d.implies(d.and(ctx, base), p.b.active(a))) {
			t.Decision, t.Cases = a.decision, []int{a.cases}
			p.mark(a.decision)
		}
		if outcome := t.Decision != nil && t.Decision.Kind == Outcome; !outcome && !d.implies(ctx, base) {
			t.Ran = a.from
			p.flag(a.from)
		}
		if t.Ran == nil && t.Decision == nil { // always active here
			if s.joinsAll() {
				continue
			}
			return nil
		}
		cond.Any = append(cond.Any, t)
	}
	if len(cond.Any) == 0 {
		return nil
	}
	if s.joinsAll() {
		cond.All = true
	}
	return merge(cond)
}

func (s *Step) joinsAll() bool { return s.Node.Join == ir.JoinAll }

// merge joins terms that ask for cases of the same decision.
func merge(c *Cond) *Cond {
	if c.All {
		return c
	}
	var out []Term
	for _, t := range c.Any {
		i := slices.IndexFunc(out, func(o Term) bool { return o.Ran == t.Ran && o.Decision == t.Decision && t.Decision != nil })
		if i < 0 {
			out = append(out, t)
			continue
		}
		out[i].Cases = append(out[i].Cases, t.Cases...)
	}
	return &Cond{Any: out}
}

// mark makes what a decision is told by available: the result of a step with catch says whether it succeeded.
func (p *planner) mark(d *Decision) {
	d.Used++
	if d.Kind == Outcome {
		p.flag(d.Step)
		d.Step.ErrorRead = true
	}
}

// flag makes it possible to ask whether a step ran and succeeded: by its result where that can be nil, else by a
// variable of its own. A failure that on_error: skip made good counts as a success.
func (p *planner) flag(s *Step) {
	t := s.Node.Result
	empty := t.Kind == schema.Struct && len(t.Fields) == 0 && t.Go == nil
	if s.Skips() || t.Kind == schema.Opt || empty && !s.Catch {
		s.Flag = true
		s.ErrorRead = s.ErrorRead || s.Catch
		return
	}
	s.Maybe, s.Read = true, true
}
