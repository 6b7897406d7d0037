package check

// A formula says when something runs: a reduced ordered decision diagram over the decisions of one body. Formulas of
// one diagram are equal iff their numbers are.
//
// Decisions are many-valued (the cases of a switch, the outcomes of a node), so a node of the diagram has one child per
// case. See Bryant, "Graph-Based Algorithms for Boolean Function Manipulation", 1986.
type formula int32

const (
	never  formula = 0
	always formula = 1
)

// maxDiagram bounds the diagram. Beyond it formulas are widened: see diagram.full.
const maxDiagram = 100_000

type diagram struct {
	cases []int // number of cases of each decision, by decision index
	nodes []branch
	index map[branchKey][]formula
	memo  map[opKey]formula

	// full is set once the diagram has reached its limit. From then on every new formula is unknown, which is neither
	// always nor never and implies nothing: sound, but weaker.
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

func newDiagram() *diagram {
	last := 1 << 30 // terminals come after every decision
	return &diagram{
		nodes: []branch{{decision: last}, {decision: last}},
		index: map[branchKey][]formula{},
		memo:  map[opKey]formula{},
	}
}

// decide adds a decision with n cases and returns its index. Decisions must be added in an order in which a decision
// comes after those it depends on; that keeps the diagrams of workflows small.
func (d *diagram) decide(n int) int {
	d.cases = append(d.cases, n)
	return len(d.cases) - 1
}

func (d *diagram) make(decision int, kids []formula) formula {
	same := true
	hash := uint64(14695981039346656037)
	for _, k := range kids {
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
	if len(d.nodes) >= maxDiagram {
		d.full = true
	}
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

// without is x and not y.
func (d *diagram) without(x, y formula) formula {
	switch {
	case x == never, y == always, x == y:
		return never
	case y == never:
		return x
	}
	return d.apply('-', x, y)
}

func (d *diagram) apply(op byte, x, y formula) formula {
	key := opKey{op, x, y}
	if f, ok := d.memo[key]; ok {
		return f
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

// implies reports whether y holds whenever x does.
func (d *diagram) implies(x, y formula) bool { return d.without(x, y) == never }

// excludes reports whether x and y never hold together.
func (d *diagram) excludes(x, y formula) bool { return d.and(x, y) == never }

// support lists the decisions that f depends on, in order.
func (d *diagram) support(f formula) []int {
	seen, in := map[formula]bool{}, map[int]bool{}
	var walk func(formula)
	walk = func(f formula) {
		if f <= always || seen[f] {
			return
		}
		seen[f] = true
		in[d.nodes[f].decision] = true
		for _, k := range d.nodes[f].kids {
			walk(k)
		}
	}
	walk(f)
	var out []int
	for i := range d.cases {
		if in[i] {
			out = append(out, i)
		}
	}
	return out
}
