package check

import (
	"slices"

	"github.com/flowgen-dev/flowgen/ir/source"
)

// A Plan is the structure of the Go that runs a set of steps: straight lines, decisions, parallel arms, loops, and a
// scheduled graph for what has no structure. See Emission in the design: series-parallel decomposition of the order,
// with parallel parts that exclude each other written as decisions.
type Plan struct {
	Kind PlanKind
	Kids []*Plan

	Step *Step // Leaf

	Cond     *Cond     // If: Kids[0] runs when it holds
	Decision *Decision // Choose: Kids[i] runs in the cases Arms[i]
	Arms     [][]int

	Loop *Loop // Repeat: Kids[0] is the body

	After [][]int // Scheduled: for every kid the kids it comes after
}

// PlanKind is the shape of a plan.
type PlanKind uint8

// The shapes.
const (
	Seq       PlanKind = iota // Kids one after the other
	Leaf                      // one step
	If                        // Kids[0] under a condition
	Choose                    // one of Kids, by the case of a decision
	Par                       // Kids side by side, then joined
	Scheduled                 // each kid as soon as those it comes after have ended
	Repeat                    // Kids[0] until its back edge is not taken
)

// A Loop is a loop written with a back edge.
type Loop struct {
	Header, From *Step
	Max          int       // 0 = unbounded
	When         *Decision // nil: it always repeats, until Max
	Case         int       // the case of When that repeats
	Exhausted    bool      // spending Max is no error: the workflow goes on from there
	Members      []*Step
	Span         source.Span // the edge
}

// A Cond is true when one of its terms is or, with All, when every one is.
type Cond struct {
	Any []Term
	All bool
}

// A Term holds when the step ran (if any) and the decision took one of the cases (if any).
type Term struct {
	Ran      *Step
	Decision *Decision
	Cases    []int
}

// unit is a step, or a whole loop seen from outside.
type unit struct {
	steps []*Step // in topological order; the header first
	loop  *backEdge
}

func (u *unit) first() *Step { return u.steps[0] }

type planner struct {
	b  *Body
	at map[*Step]*unit // the unit a step belongs to at the level being planned
}

// makePlan plans a whole body.
func (b *Body) makePlan() *Plan {
	if len(b.order) == 0 {
		return &Plan{Kind: Seq}
	}
	p := &planner{b: b}
	return p.level(b.order, nil, always)
}

// level plans a set of steps, with the loops directly inside it collapsed to one unit each. inside is the loop whose
// body this is.
func (p *planner) level(steps []*Step, inside *backEdge, ctx formula) *Plan {
	units := p.collapse(steps, inside)
	saved := p.at
	p.at = map[*Step]*unit{}
	for _, u := range units {
		for _, s := range u.steps {
			p.at[s] = u
		}
	}
	plan := p.set(units, ctx)
	p.at = saved
	return plan
}

// collapse partitions steps into units. Of nested loops the outermost become units; the others follow inside them.
func (p *planner) collapse(steps []*Step, inside *backEdge) []*unit {
	in := map[*Step]bool{}
	for _, s := range steps {
		in[s] = true
	}
	owner := map[*Step]*backEdge{}
	for _, l := range p.b.loops {
		if l == inside || !in[l.header] || inside != nil && len(l.members) >= len(inside.members) {
			continue
		}
		for _, s := range l.members {
			if o := owner[s]; o == nil || len(l.members) > len(o.members) {
				owner[s] = l
			}
		}
	}
	byLoop := map[*backEdge]*unit{}
	var units []*unit
	for _, s := range steps {
		l := owner[s]
		if u := byLoop[l]; l != nil && u != nil {
			u.steps = append(u.steps, s)
			continue
		}
		u := &unit{steps: []*Step{s}, loop: l}
		if l != nil {
			byLoop[l] = u
		}
		units = append(units, u)
	}
	return units
}

// set plans units that have no structure imposed yet.
func (p *planner) set(units []*unit, ctx formula) *Plan {
	if len(units) == 1 {
		return p.one(units[0], ctx)
	}
	if parts := p.components(units); len(parts) > 1 {
		return p.arms(parts, ctx)
	}
	if parts := p.cuts(units); len(parts) > 1 {
		return p.sequence(parts, ctx)
	}
	return p.scheduled(units, ctx)
}

func (p *planner) one(u *unit, ctx formula) *Plan {
	if u.loop == nil {
		return &Plan{Kind: Leaf, Step: u.first()}
	}
	l := u.loop
	body := p.level(u.steps, l, p.b.diagram.and(ctx, u.first().act))
	return &Plan{Kind: Repeat, Kids: []*Plan{body}, Loop: &Loop{
		Header: l.header, From: l.from, Max: l.edge.Max, When: l.when, Case: l.repeat,
		Exhausted: l.edge.Exhausted != nil, Members: l.members, Span: l.edge.Span,
	}}
}

// before reports whether some step of u comes before some step of v.
func (p *planner) before(u, v *unit) bool {
	for _, s := range u.steps {
		if p.b.reach[s.index].has(v.first().index) {
			return true
		}
	}
	return false
}

// components are the parts of units between which there is no order at all: the connected components of the arcs.
func (p *planner) components(units []*unit) [][]*unit {
	place := make(map[*unit]int, len(units))
	parent := make([]int, len(units))
	for i, u := range units {
		place[u], parent[i] = i, i
	}
	var find func(int) int
	find = func(i int) int {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	for i, u := range units {
		for _, s := range u.steps {
			for _, a := range s.out {
				if j, ok := place[p.at[a.to]]; ok {
					parent[find(j)] = find(i)
				}
			}
		}
	}
	index := map[int]int{}
	var parts [][]*unit
	for i, u := range units {
		r := find(i)
		k, ok := index[r]
		if !ok {
			k = len(parts)
			index[r] = k
			parts = append(parts, nil)
		}
		parts[k] = append(parts[k], u)
	}
	return parts
}

// cuts splits units, which are in topological order, wherever everything before comes before everything after.
func (p *planner) cuts(units []*unit) [][]*unit {
	var parts [][]*unit
	start, far := 0, 0
	for i, u := range units {
		for j := len(units) - 1; j > max(i, far); j-- {
			if !p.before(u, units[j]) {
				far = j
			}
		}
		if far <= i {
			parts = append(parts, units[start:i+1])
			start, far = i+1, i+1
		}
	}
	if start < len(units) {
		parts = append(parts, units[start:])
	}
	return parts
}

// runs is when any of the units runs.
func (p *planner) runs(units []*unit) formula {
	f := never
	for _, u := range units {
		f = p.b.diagram.or(f, u.first().act)
	}
	return f
}

// sequence plans parts one after the other. Neighbours that run only where an earlier one does share its block.
func (p *planner) sequence(parts [][]*unit, ctx formula) *Plan {
	d := p.b.diagram
	plan := &Plan{Kind: Seq}
	add := func(k *Plan) {
		if k.Kind == Seq {
			plan.Kids = append(plan.Kids, k.Kids...)
			return
		}
		plan.Kids = append(plan.Kids, k)
	}
	for i := 0; i < len(parts); {
		f := p.runs(parts[i])
		cond := (*Cond)(nil)
		if !d.implies(ctx, f) {
			cond = p.guard(parts[i], f, ctx)
		}
		if cond == nil {
			add(p.set(parts[i], ctx))
			i++
			continue
		}
		j := i + 1
		for j < len(parts) && d.implies(d.and(ctx, p.runs(parts[j])), f) {
			j++
		}
		plan.Kids = append(plan.Kids, &Plan{Kind: If, Cond: cond, Kids: []*Plan{p.sequence(parts[i:j], d.and(ctx, f))}})
		i = j
	}
	if len(plan.Kids) == 1 {
		return plan.Kids[0]
	}
	return plan
}

// arms plans parts that have no order between them: as a decision where they exclude each other, else side by side.
func (p *planner) arms(parts [][]*unit, ctx formula) *Plan {
	d := p.b.diagram
	exclusive := true
	for i := range parts {
		for _, q := range parts[i+1:] {
			exclusive = exclusive && d.excludes(d.and(ctx, p.runs(parts[i])), p.runs(q))
		}
	}
	groups, rest := p.choices(parts, ctx)
	var kids []*Plan
	kids = append(kids, groups...)
	for _, part := range rest {
		kids = append(kids, p.sequence([][]*unit{part}, ctx))
	}
	switch {
	case len(kids) == 1:
		return kids[0]
	case exclusive:
		return &Plan{Kind: Seq, Kids: kids}
	}
	p.fileOrder(kids)
	return &Plan{Kind: Par, Kids: kids}
}

// fileOrder sorts arms by the first step in them: the error that is reported, and the writes that are applied, go by it.
func (p *planner) fileOrder(kids []*Plan) {
	slices.SortStableFunc(kids, func(a, b *Plan) int { return a.firstStep() - b.firstStep() })
}

func (k *Plan) firstStep() int {
	if k.Kind == Leaf {
		return k.Step.index
	}
	first := 1 << 30
	for _, x := range k.Kids {
		first = min(first, x.firstStep())
	}
	return first
}

// choices groups parts that different cases of one decision lead to. What is left runs under guards of its own.
func (p *planner) choices(parts [][]*unit, ctx formula) (groups []*Plan, rest [][]*unit) {
	rest = parts
	for i := 0; i < len(p.b.diagram.cases) && len(rest) > 1; i++ {
		decision := p.b.byIndex[i]
		if decision == nil || !p.relevant(rest, i) || !p.b.diagram.implies(ctx, p.decided(decision)) {
			continue
		}
		var group, others [][]*unit
		var arms [][]int
		taken := map[int]bool{}
		for _, part := range rest {
			cases := p.casesOf(decision, p.runs(part), ctx)
			if len(cases) == len(decision.Cases) || slices.ContainsFunc(cases, func(k int) bool { return taken[k] }) {
				others = append(others, part)
				continue
			}
			for _, k := range cases {
				taken[k] = true
			}
			group, arms = append(group, part), append(arms, cases)
		}
		if len(group) < 2 {
			continue
		}
		choose := &Plan{Kind: Choose, Decision: decision, Arms: arms}
		for k, part := range group {
			choose.Kids = append(choose.Kids, p.sequence([][]*unit{part}, p.b.diagram.and(ctx, p.oneOf(decision, arms[k]))))
		}
		p.mark(decision)
		groups, rest = append(groups, choose), others
	}
	return groups, rest
}

func (p *planner) relevant(parts [][]*unit, decision int) bool {
	for _, part := range parts {
		if slices.Contains(p.b.diagram.support(p.runs(part)), decision) {
			return true
		}
	}
	return false
}

// decided is when a decision is made at all.
func (p *planner) decided(d *Decision) formula {
	if d.Kind == Outcome {
		return d.Step.act
	}
	return d.Step.ok
}

func (p *planner) oneOf(d *Decision, cases []int) formula {
	f := never
	for _, k := range cases {
		f = p.b.diagram.or(f, p.b.diagram.is(d.index, k))
	}
	return f
}

// casesOf lists the cases of a decision in which f can hold.
func (p *planner) casesOf(d *Decision, f, ctx formula) []int {
	f = p.b.diagram.and(f, ctx)
	var out []int
	for k := range d.Cases {
		if !p.b.diagram.excludes(f, p.b.diagram.is(d.index, k)) {
			out = append(out, k)
		}
	}
	return out
}

// scheduled plans units whose order has no structure.
func (p *planner) scheduled(units []*unit, ctx formula) *Plan {
	plan := &Plan{Kind: Scheduled}
	place := map[*unit]int{}
	for i, u := range units {
		place[u] = i
	}
	for i, u := range units {
		plan.Kids = append(plan.Kids, p.sequence([][]*unit{{u}}, ctx))
		var after []int
		for _, s := range u.steps {
			for _, a := range s.in {
				if j, ok := place[p.at[a.from]]; ok && j != i && !slices.Contains(after, j) {
					after = append(after, j)
				}
			}
		}
		slices.Sort(after)
		plan.After = append(plan.After, after)
	}
	return plan
}
