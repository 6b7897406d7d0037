package check

import (
	"cmp"
	"maps"
	"slices"
)

// A formula says when something runs: a reduced ordered decision diagram over the decisions of one body. Formulas of
// one diagram are equal iff their numbers are, unknown excepted.
//
// Decisions are many-valued (the cases of a switch, the outcomes of a node), so a node of the diagram has one child per
// case. See Bryant, "Graph-Based Algorithms for Boolean Function Manipulation", 1986.
type formula int32

const (
	unknown formula = -1 // the diagram is full: this may hold whenever it likes
	never   formula = 0
	always  formula = 1
)

// The limits of a diagram: nodes, children of all nodes, and results kept. Beyond one of them new formulas are unknown.
const (
	maxDiagram = 100_000
	maxKids    = 16 << 20
	maxMemo    = 2 << 20
)

type diagram struct {
	cases []int // number of cases of each decision, by decision index
	nodes []branch
	kids  int
	index map[branchKey][]formula
	memo  map[opKey]formula
	limit int // of nodes

	// full is set once a limit was reached. Whatever is not known by then stays unknown, and nothing can be proved of it:
	// sound, but weaker.
	full bool
}

type branch struct {
	decision int
	kids     []formula
}

type branchKey struct {
	decision int
	hash     uint64
}

type opKey struct {
	op   byte
	x, y formula
}

func newDiagram(limit int) *diagram {
	last := 1 << 30 // terminals come after every decision
	return &diagram{
		nodes: []branch{{decision: last}, {decision: last}},
		index: map[branchKey][]formula{},
		memo:  map[opKey]formula{},
		limit: limit,
	}
}

// decide adds a decision with n cases and returns its index. A decision should be added before those it depends on:
// "this case, and what led there" then is one new node on top of the formula of what led there.
func (d *diagram) decide(n int) int {
	d.cases = append(d.cases, n)
	return len(d.cases) - 1
}

func (d *diagram) make(decision int, kids []formula) formula {
	same := true
	hash := uint64(14695981039346656037)
	for _, k := range kids {
		if k == unknown {
			return unknown
		}
		same = same && k == kids[0]
		hash = (hash ^ uint64(k)) * 1099511628211
	}
	if same {
		return kids[0]
	}
	key := branchKey{decision, hash}
next:
	for _, f := range d.index[key] {
		for i, k := range d.nodes[f].kids {
			if k != kids[i] {
				continue next
			}
		}
		return f
	}
	if d.full || len(d.nodes) >= d.limit || d.kids+len(kids) > maxKids {
		d.full = true
		return unknown
	}
	d.kids += len(kids)
	d.nodes = append(d.nodes, branch{decision, kids})
	f := formula(len(d.nodes) - 1)
	d.index[key] = append(d.index[key], f)
	return f
}

// is holds when the decision takes the case.
func (d *diagram) is(decision, c int) formula {
	kids := make([]formula, d.cases[decision])
	kids[c] = always
	return d.make(decision, kids)
}

func (d *diagram) and(x, y formula) formula {
	switch {
	case x == never || y == never:
		return never
	case x == always:
		return y
	case y == always, x == y:
		return x
	}
	return d.apply('&', min(x, y), max(x, y))
}

func (d *diagram) or(x, y formula) formula {
	switch {
	case x == always || y == always:
		return always
	case x == never:
		return y
	case y == never, x == y:
		return x
	}
	return d.apply('|', min(x, y), max(x, y))
}

// anyOf is the disjunction of a list. Halves are joined, so that a long list of cases of one decision costs n log n.
func (d *diagram) anyOf(list []formula) formula {
	switch len(list) {
	case 0:
		return never
	case 1:
		return list[0]
	}
	half := len(list) / 2
	return d.or(d.anyOf(list[:half]), d.anyOf(list[half:]))
}

// without is x and not y.
func (d *diagram) without(x, y formula) formula {
	switch {
	case x == never, y == always, x == y && x != unknown:
		return never
	case y == never:
		return x
	}
	return d.apply('-', x, y)
}

func (d *diagram) apply(op byte, x, y formula) formula {
	if x == unknown || y == unknown {
		return unknown
	}
	key := opKey{op, x, y}
	if f, ok := d.memo[key]; ok {
		return f
	}
	if d.full = d.full || len(d.memo) >= maxMemo; d.full {
		return unknown
	}
	a, b := d.nodes[x], d.nodes[y]
	decision := min(a.decision, b.decision)
	kids := make([]formula, d.cases[decision])
	for i := range kids {
		p, q := x, y
		if a.decision == decision {
			p = a.kids[i]
		}
		if b.decision == decision {
			q = b.kids[i]
		}
		switch op {
		case '&':
			kids[i] = d.and(p, q)
		case '|':
			kids[i] = d.or(p, q)
		default:
			kids[i] = d.without(p, q)
		}
	}
	f := d.make(decision, kids)
	d.memo[key] = f
	return f
}

// implies reports whether y certainly holds whenever x does.
func (d *diagram) implies(x, y formula) bool { return d.without(x, y) == never }

// excludes reports whether x and y certainly never hold together.
func (d *diagram) excludes(x, y formula) bool { return d.and(x, y) == never }

// support lists the decisions that f depends on, those that depend on others first. It is nil when there are more nodes
// to look at than limit.
func (d *diagram) support(f formula, limit int) []int {
	seen, in := map[formula]bool{}, map[int]bool{}
	var walk func(formula) bool
	walk = func(f formula) bool {
		if f <= always || seen[f] {
			return true
		}
		if len(seen) >= limit {
			return false
		}
		seen[f] = true
		in[d.nodes[f].decision] = true
		for _, k := range d.nodes[f].kids {
			if !walk(k) {
				return false
			}
		}
		return true
	}
	if !walk(f) {
		return nil
	}
	return sortedKeys(in)
}

// casesIn tells for every case of a decision whether f can hold in it.
func (d *diagram) casesIn(f formula, decision int) []bool {
	out := make([]bool, d.cases[decision])
	seen := map[formula]bool{}
	every := func() {
		for i := range out {
			out[i] = true
		}
	}
	var walk func(formula)
	walk = func(f formula) {
		switch {
		case f == never || seen[f]:
			return
		case f == unknown || d.nodes[f].decision > decision:
			every()
			return
		}
		seen[f] = true
		for i, k := range d.nodes[f].kids {
			switch {
			case d.nodes[f].decision < decision:
				walk(k)
			case k != never:
				out[i] = true
			}
		}
	}
	walk(f)
	return out
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
