package check

import (
	"math/bits"
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
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

	// Of the statements of a Block:
	Expr   *ir.Expr  // Branch, Select, While: what is asked; Range: the list; Assign, Effect, Return: the value
	Local  *Local    // Leaf, Assign: what gets the value; Range: the item
	Index  *Local    // While, Range
	Target *ir.Expr  // Assign: the field of state that gets the value
	New    bool      // Assign: Local is declared here
	Label  string    // Branch: what plans say of Expr
	Values []any     // Select: those of Kids; one more kid is for all others
	Max    int       // While: how many rounds at most; 0: a function says
	Scope  *ir.Scope // While, Range: what the keys of nodes inside begin with

	Joins []*SetState // Par, Scheduled: the deferred writes that are applied when it has ended, in file order
}

// PlanKind is the shape of a plan.
type PlanKind uint8

// The shapes.
const (
	Seq       PlanKind = iota // Kids one after the other
	Leaf                      // one step
	If                        // Kids[0] under a condition
	Choose                    // one of Kids, by the case of a decision
	Par                       // Kids in parallel, then joined
	Scheduled                 // each kid as soon as those it comes after have ended
	Repeat                    // Kids[0] until its back edge is not taken

	// The statements of a Block, besides Seq, Leaf and Par.
	Branch // Kids[0] when Expr holds, else Kids[1] if there is one
	Select // the one of Kids whose value Expr has
	While  // Kids[0] as long as Expr holds
	Range  // Kids[0] for every item of Expr
	Assign // Local, or Target, gets the value of Expr
	Effect // Expr is called for what it does
	Next   // the round ends
	Break  // the loop ends
	Return // the function ends
)

// A Loop is a loop written with a back edge.
type Loop struct {
	Header, From *Step
	Max          int       // 0 = unbounded
	When         *Decision // nil: it always repeats, until Max. A round in which From has not run, or failed, is the last
	Case         int       // the case of When that repeats
	Exhausted    bool      // spending Max is not an error: the workflow goes on from there
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

// maxNesting bounds how deep blocks are put into blocks. What is deeper is scheduled, or guarded step by step.
const maxNesting = 40

// unit is a step, or a whole loop seen from outside.
type unit struct {
	steps []*Step // in topological order; the header first
	loop  *backEdge
}

func (u *unit) first() *Step { return u.steps[0] }

// part is a set of units that is planned as one, in topological order.
type part struct {
	units []*unit
	runs  formula // when any of them runs
}

type planner struct {
	b     *Body
	at    map[*Step]*unit // the unit a step belongs to at the level being planned
	depth int
}

// makePlan plans an entire body.
func (b *Body) makePlan() *Plan {
	if len(b.order) == 0 {
		return &Plan{Kind: Seq}
	}
	p := &planner{b: b}
	plan := p.level(b.order, nil, always)
	b.joinWrites(plan)
	return plan
}

// level plans a set of steps, with the loops directly inside it collapsed to one unit each. inside is the loop whose
// body this is. Here and below, ctx holds where the plan stands, and every step it is about runs only where ctx holds.
func (p *planner) level(steps []*Step, inside *backEdge, ctx formula) *Plan {
	units := p.collapse(steps, inside)
	saved := p.at
	p.at = map[*Step]*unit{}
	for _, u := range units {
		for _, s := range u.steps {
			p.at[s] = u
		}
	}
	var plan *Plan
	if len(units) == 1 { // it may hang on a decision that falls before any node
		plan = p.sequence([]*part{p.part(units)}, ctx)
	} else {
		plan = p.set(units, ctx)
	}
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
	p.depth++
	defer func() { p.depth-- }()
	if len(units) == 1 {
		return p.one(units[0])
	}
	if p.depth > maxNesting {
		return p.scheduled(units, ctx)
	}
	if parts := p.components(units); len(parts) > 1 {
		return p.arms(parts, ctx)
	}
	if parts := p.cuts(units); len(parts) > 1 {
		return p.sequence(parts, ctx)
	}
	return p.scheduled(units, ctx)
}

func (p *planner) one(u *unit) *Plan {
	if u.loop == nil {
		return &Plan{Kind: Leaf, Step: u.first()}
	}
	l := u.loop
	body := p.level(u.steps, l, l.header.gate)
	if l.when != nil {
		p.mark(l.when)
	}
	return &Plan{Kind: Repeat, Kids: []*Plan{body}, Loop: &Loop{
		Header: l.header, From: l.from, Max: l.edge.Max, When: l.when, Case: l.repeat,
		Exhausted: l.edge.Exhausted != nil, Members: l.members, Span: l.edge.Span,
	}}
}

// part makes a part of units.
func (p *planner) part(units []*unit) *part {
	acts := make([]formula, len(units))
	for i, u := range units {
		acts[i] = u.first().gate
	}
	return &part{units, p.b.diagram.anyOf(acts)}
}

// components are the parts of units between which there is no order at all: the connected components of the arcs.
func (p *planner) components(units []*unit) []*part {
	place := make(map[*unit]int, len(units))
	parent := make([]int, len(units))
	for i, u := range units {
		place[u], parent[i] = i, i
	}
	find := func(i int) int {
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
	var groups [][]*unit
	for i, u := range units {
		r := find(i)
		k, ok := index[r]
		if !ok {
			k = len(groups)
			index[r] = k
			groups = append(groups, nil)
		}
		groups[k] = append(groups[k], u)
	}
	parts := make([]*part, len(groups))
	for i, g := range groups {
		parts[i] = p.part(g)
	}
	return parts
}

// cuts splits units, which are in topological order, wherever everything before comes before everything after.
func (p *planner) cuts(units []*unit) []*part {
	low, high := len(p.b.order), 0
	for _, u := range units {
		low, high = min(low, u.first().pos), max(high, u.first().pos)
	}
	mask := newBitset(len(p.b.order)) // the places of the units in the order of all steps
	for _, u := range units {
		mask.set(u.first().pos)
	}
	var parts []*part
	start, far := 0, -1 // far is the last place that some unit so far does not come before
	for i, u := range units {
		far = max(far, p.notAfter(u, mask, low, high))
		if i+1 == len(units) || far < units[i+1].first().pos {
			parts = append(parts, p.part(units[start:i+1]))
			start = i + 1
		}
	}
	return parts
}

// notAfter is the last of the places in mask, from low to high, that does not come after u; u's own at the least.
func (p *planner) notAfter(u *unit, mask bitset, low, high int) int {
	after := p.b.reach[u.first().index]
	if len(u.steps) > 1 {
		after = slices.Clone(after)
		for _, s := range u.steps[1:] {
			after.union(p.b.reach[s.index])
		}
	}
	for w := high / 64; w >= low/64; w-- {
		if rest := mask[w] &^ after[w]; rest != 0 {
			return w*64 + bits.Len64(rest) - 1
		}
	}
	return u.first().pos
}

// sequence plans parts one after the other. Neighbours that run only where an earlier one does share its block.
func (p *planner) sequence(parts []*part, ctx formula) *Plan {
	d := p.b.diagram
	plan := &Plan{Kind: Seq}
	for i := 0; i < len(parts); {
		here := parts[i]
		cond := (*Cond)(nil)
		if !d.implies(ctx, here.runs) {
			cond = p.guard(here, ctx)
		}
		if cond == nil {
			plan.add(p.set(here.units, ctx))
			i++
			continue
		}
		j := i + 1
		for p.depth < maxNesting && j < len(parts) && d.implies(parts[j].runs, here.runs) {
			j++
		}
		p.depth++
		inside := p.sequence(parts[i:j], here.runs)
		p.depth--
		plan.Kids = append(plan.Kids, &Plan{Kind: If, Cond: cond, Kids: []*Plan{inside}})
		i = j
	}
	if len(plan.Kids) == 1 {
		return plan.Kids[0]
	}
	return plan
}

// add appends a kid to a sequence; the kids of another sequence become its own.
func (plan *Plan) add(k *Plan) {
	if k.Kind == Seq {
		plan.Kids = append(plan.Kids, k.Kids...)
		return
	}
	plan.Kids = append(plan.Kids, k)
}

// arms plans parts that have no order between them: as a decision where they exclude each other, else in parallel.
func (p *planner) arms(parts []*part, ctx formula) *Plan {
	exclusive := p.exclusive(parts)
	kids, rest := p.choices(parts, ctx)
	for _, one := range rest {
		kids = append(kids, p.sequence([]*part{one}, ctx))
	}
	if len(kids) == 1 {
		return kids[0]
	}
	fileOrder(kids)
	if !exclusive {
		return &Plan{Kind: Par, Kids: kids}
	}
	plan := &Plan{Kind: Seq}
	for _, k := range kids {
		plan.add(k)
	}
	return plan
}

// exclusive reports whether at most one of the parts runs.
func (p *planner) exclusive(parts []*part) bool {
	d := p.b.diagram
	some := never
	for _, one := range parts {
		if !d.excludes(one.runs, some) {
			return false
		}
		some = d.or(some, one.runs)
	}
	return true
}

// fileOrder sorts arms by the first step in them: the error that is reported, and the writes that are applied, go by it.
func fileOrder(kids []*Plan) {
	first := map[*Plan]int{}
	for _, k := range kids {
		first[k] = k.firstStep()
	}
	slices.SortStableFunc(kids, func(a, b *Plan) int { return first[a] - first[b] })
}

func (plan *Plan) firstStep() int {
	if plan.Kind == Leaf {
		return plan.Step.index
	}
	first := 1 << 30
	for _, k := range plan.Kids {
		first = min(first, k.firstStep())
	}
	return first
}

// scheduled plans units whose order has no structure.
func (p *planner) scheduled(units []*unit, ctx formula) *Plan {
	plan := &Plan{Kind: Scheduled}
	place := map[*unit]int{}
	for i, u := range units {
		place[u] = i
	}
	for i, u := range units {
		p.depth++
		plan.Kids = append(plan.Kids, p.sequence([]*part{p.part([]*unit{u})}, ctx))
		p.depth--
		after := map[int]bool{}
		for _, s := range u.steps {
			for _, a := range s.in {
				if j, ok := place[p.at[a.from]]; ok && j != i {
					after[j] = true
				}
			}
		}
		plan.After = append(plan.After, sortedKeys(after))
	}
	return plan
}
