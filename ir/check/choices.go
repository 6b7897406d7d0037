package check

import "slices"

// choices groups parts that different cases of one decision lead to. What is left runs under guards of its own.
func (p *planner) choices(parts []*part, ctx formula) (groups []*Plan, rest []*part) {
	led := map[*Decision][]*part{}
	var order []*Decision
	for _, one := range parts {
		for _, d := range p.ledBy(one) {
			if led[d] == nil {
				order = append(order, d)
			}
			led[d] = append(led[d], one)
		}
	}
	slices.SortFunc(order, func(a, b *Decision) int { return b.index - a.index }) // the earliest first
	grouped := map[*part]bool{}
	for _, d := range order {
		if choose := p.choose(d, led[d], grouped, ctx); choose != nil {
			groups = append(groups, choose)
		}
	}
	for _, one := range parts {
		if !grouped[one] {
			rest = append(rest, one)
		}
	}
	return groups, rest
}

// ledBy lists the decisions on the edges that lead into a part.
func (p *planner) ledBy(one *part) []*Decision {
	inside := map[*unit]bool{}
	for _, u := range one.units {
		inside[u] = true
	}
	var out []*Decision
	for _, u := range one.units {
		for _, a := range u.first().in {
			if a.orderOnly || inside[p.at[a.from]] {
				continue
			}
			for _, d := range []*Decision{a.decision, a.from.outcome} {
				if d != nil && !d.ended && !slices.Contains(out, d) {
					out = append(out, d)
				}
			}
		}
	}
	return out
}

// choose plans those of the parts that disjoint cases of a decision lead to; nil when there are not two.
func (p *planner) choose(decision *Decision, parts []*part, grouped map[*part]bool, ctx formula) *Plan {
	d := p.b.diagram
	if len(parts) < 2 || !d.implies(ctx, p.decided(decision)) {
		return nil
	}
	var group []*part
	var arms [][]int
	taken := make([]bool, len(decision.Cases))
next:
	for _, one := range parts {
		if grouped[one] {
			continue
		}
		var cases []int
		for k, possible := range p.possible(one.runs, decision) {
			switch {
			case possible && taken[k]:
				continue next
			case possible:
				cases = append(cases, k)
			}
		}
		if len(cases) == len(decision.Cases) {
			continue
		}
		for _, k := range cases {
			taken[k] = true
		}
		group, arms = append(group, one), append(arms, cases)
	}
	if len(group) < 2 {
		return nil
	}
	plan := &Plan{Kind: Choose, Decision: decision, Arms: arms}
	for k, one := range group {
		grouped[one] = true
		p.depth++
		plan.Kids = append(plan.Kids, p.sequence([]*part{one}, d.and(ctx, p.oneOf(decision, arms[k]))))
		p.depth--
	}
	p.mark(decision)
	return plan
}

// possible tells for every case of a decision whether f can hold in it.
func (p *planner) possible(f formula, decision *Decision) []bool {
	d := p.b.diagram
	out := make([]bool, len(decision.Cases))
	for at, possible := range d.casesIn(f, decision.index) {
		k := decision.at(at) // a condition that stands the other way round has its cases so
		out[k] = possible
	}
	if decision.Kind == Outcome && decision.Step.when != nil { // where it did not run, nothing failed
		for k := range out {
			out[k] = out[k] && !d.excludes(f, p.b.takes(decision, k))
		}
	}
	return out
}

// decided is when a decision is made at all.
func (p *planner) decided(d *Decision) formula {
	if d.Kind == Outcome {
		return d.Step.gate
	}
	return d.Step.passed
}

func (p *planner) oneOf(d *Decision, cases []int) formula {
	some := make([]formula, len(cases))
	for i, k := range cases {
		some[i] = p.b.takes(d, k)
	}
	return p.b.diagram.anyOf(some)
}
