// Package walk writes graphs, in which data decides where a run goes next, as ifs, switches and loops.
package walk

import (
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/expr"
)

// A Graph is a graph that one token walks: it runs a stop, which decides where the token goes next.
type Graph struct {
	Start int
	Stops []Stop
}

// End is where a token goes that has come to its end.
const End = -1

// A Stop is a node of a Graph. Conditions and routes must change nothing.
type Stop struct {
	Do    ir.Block // what it does; no statement of it is a Next or a Break
	Tests []Test   // the token goes where the first condition leads that is true
	Route *Route   // where it goes else; nil: to Else
	Else  int
}

// A Test is a condition with the stop that it leads to.
type Test struct {
	When *expr.Node
	To   int
}

// A Route chooses a stop by a name. Its value is always one of the names.
type Route struct {
	Value *expr.Node
	Local string // a free name, for a route that is read more than once
	Ways  []Way
}

// A Way is a stop and its name.
type Way struct {
	Name string
	To   int
}

// Reached says which stops a token can come to.
func (w Graph) Reached() []bool {
	out := make([]bool, len(w.Stops))
	for open := []int{w.Start}; len(open) > 0; {
		at := open[len(open)-1]
		if open = open[:len(open)-1]; at == End || out[at] {
			continue
		}
		out[at] = true
		for _, t := range w.Stops[at].Tests {
			open = append(open, t.To)
		}
		if r := w.Stops[at].Route; r == nil {
			open = append(open, w.Stops[at].Else)
		} else {
			for _, way := range r.Ways {
				open = append(open, way.To)
			}
		}
	}
	return out
}

// maxStructured is up to how many stops Structure looks for a form: nobody reads longer functions.
const maxStructured = 300

// Structure writes a Graph as ifs, switches and loops, each stop in one place. A decision ends where its ways meet again; a cycle
// with one entry becomes a loop. It returns false for a graph that would need a jump.
func Structure(w Graph) (ir.Block, bool) {
	if len(w.Stops) > maxStructured {
		return nil, false
	}
	s := newStructure(w)
	if !s.dominate() {
		return nil, false
	}
	out, ok := s.seq(s.start, around{next: End, head: nowhere, after: nowhere})
	return out, ok
}

// nowhere is not a place: not even the end.
const nowhere = -2

// A point is a stop, or one of the later decisions of a stop, which are points of their own. Without a condition and without
// ways the token goes to no.
type point struct {
	do      ir.Block
	when    *expr.Node
	yes, no int
	route   *Route
}

// next are the points that a point leads to.
func (p *point) next() []int {
	var out []int
	add := func(to int) {
		if !slices.Contains(out, to) {
			out = append(out, to)
		}
	}
	switch {
	case p.route != nil:
		for _, w := range p.route.Ways {
			add(w.To)
		}
	case p.when != nil:
		add(p.yes)
		add(p.no)
	default:
		add(p.no)
	}
	return out
}

// A structure is a Graph while it is written.
type structure struct {
	start  int
	points []point
	order  []int          // those that are reached, each after the points before it where these are on no cycle with it
	place  []int          // in order; -1: not reached
	above  []int          // the nearest point that every way to one leads through
	below  [][]int        // the points whose above is this one, in order
	ways   []int          // how many points lead to one, those behind it on a cycle not counted
	cycles []map[int]bool // the points of the cycles that begin here; nil: none does
	tries  int
}

func newStructure(w Graph) *structure {
	s := &structure{start: w.Start, points: make([]point, len(w.Stops))}
	for i, stop := range w.Stops {
		s.points[i].do = stop.Do
		s.decide(i, stop)
	}
	return s
}

// decide adds the decision of a stop: conditions one after the other, as few as it takes.
func (s *structure) decide(at int, stop Stop) {
	tests, rest, route := slices.Clone(stop.Tests), stop.Else, stop.Route
	if route != nil {
		var to []Way
		for _, w := range route.Ways {
			if !slices.ContainsFunc(to, func(o Way) bool { return o.To == w.To }) {
				to = append(to, w)
			}
		}
		slices.SortStableFunc(to, func(a, b Way) int { return min(b.To, 0) - min(a.To, 0) }) // the end is last
		switch len(to) {
		case 2:
			tests = append(tests, Test{same(route.Value, to[0].Name), to[0].To})
			fallthrough
		case 1:
			rest, route = to[len(to)-1].To, nil
		}
	}
	if route == nil {
		for len(tests) > 0 && tests[len(tests)-1].To == rest {
			tests = tests[:len(tests)-1]
		}
		if n := len(tests); n > 0 && !slices.ContainsFunc(tests, func(t Test) bool { return t.To != tests[n-1].To && t.To != rest }) {
			tests, rest = either(tests, rest)
		}
	}
	for i, t := range tests {
		if i > 0 && t.To == tests[i-1].To {
			s.points[at].when = both("||", s.points[at].when, t.When)
			continue
		}
		if s.points[at].when != nil {
			at = s.later(at)
		}
		s.points[at].when, s.points[at].yes = t.When, t.To
	}
	if route != nil {
		if s.points[at].when != nil {
			at = s.later(at)
		}
		s.points[at].route = route
		return
	}
	s.points[at].no = rest
}

// later adds a point for the decision that follows another one.
func (s *structure) later(at int) int {
	s.points = append(s.points, point{})
	s.points[at].no = len(s.points) - 1
	return len(s.points) - 1
}

// either is a decision between two ways as one condition, which leads to the way of the first test.
func either(tests []Test, rest int) ([]Test, int) {
	last := len(tests) - 1
	to, other := tests[last].To, rest
	is := tests[last].When
	if tests[0].To != to {
		to, other, is = rest, to, negated(is)
	}
	for _, t := range slices.Backward(tests[:last]) {
		if t.To == to {
			is = both("||", t.When, is)
		} else {
			is = both("&&", negated(t.When), is)
		}
	}
	return []Test{{is, to}}, other
}

// both joins two conditions, or compares two texts. What joins several needs no parentheses.
func both(op string, a, b *expr.Node) *expr.Node {
	if b.Op == expr.Binary && b.Text == op && (op == "&&" || op == "||") {
		a, b = both(op, a, b.Kids[0]), b.Kids[1]
	}
	return &expr.Node{Op: expr.Binary, Text: op, Kids: []*expr.Node{a, b}}
}

func same(v *expr.Node, name string) *expr.Node { return both("==", v, expr.Const(name)) }

// negated is the opposite of a condition. One with a part that is negated itself is taken apart.
func negated(n *expr.Node) *expr.Node {
	switch {
	case n.Op == expr.Unary && n.Text == "!":
		return n.Kids[0]
	case n.Op == expr.Binary && n.Text == "==":
		return both("!=", n.Kids[0], n.Kids[1])
	case n.Op == expr.Binary && n.Text == "!=":
		return both("==", n.Kids[0], n.Kids[1])
	case n.Op == expr.Binary && n.Text == "&&" && slices.ContainsFunc(n.Kids, opposite):
		return both("||", negated(n.Kids[0]), negated(n.Kids[1]))
	case n.Op == expr.Binary && n.Text == "||" && slices.ContainsFunc(n.Kids, opposite):
		return both("&&", negated(n.Kids[0]), negated(n.Kids[1]))
	}
	return expr.Not(n)
}

func opposite(n *expr.Node) bool { return n.Op == expr.Unary && n.Text == "!" }

// dominate finds the order of the points, which of them every way to others leads through, and their cycles. It returns false
// when a cycle has two entries.
func (s *structure) dominate() bool {
	n := len(s.points)
	s.place, s.above = slices.Repeat([]int{-1}, n), slices.Repeat([]int{-1}, n)
	s.below, s.ways, s.cycles = make([][]int, n), make([]int, n), make([]map[int]bool, n)
	seen := make([]bool, n)
	var visit func(at int)
	visit = func(at int) {
		seen[at] = true
		for _, to := range slices.Backward(s.points[at].next()) {
			if to != End && !seen[to] {
				visit(to)
			}
		}
		s.order = append(s.order, at)
	}
	visit(s.start)
	slices.Reverse(s.order)
	before := make([][]int, n)
	for i, at := range s.order {
		s.place[at] = i
	}
	for _, at := range s.order {
		for _, to := range s.points[at].next() {
			if to != End {
				before[to] = append(before[to], at)
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for _, at := range s.order[1:] {
			above := -1
			for _, from := range before[at] {
				switch {
				case from != s.start && s.above[from] < 0:
				case above < 0:
					above = from
				default:
					above = s.meet(above, from)
				}
			}
			if s.above[at] != above {
				s.above[at], changed = above, true
			}
		}
	}
	for _, at := range s.order {
		if at != s.start {
			s.below[s.above[at]] = append(s.below[s.above[at]], at)
		}
		for _, from := range before[at] {
			switch {
			case s.place[from] < s.place[at]:
				s.ways[at]++
			case !s.through(at, from):
				return false
			default:
				s.cycle(at, from, before)
			}
		}
	}
	return true
}

// meet is the nearest point that every way to two others leads through.
func (s *structure) meet(a, b int) int {
	for a != b {
		for s.place[a] > s.place[b] {
			a = s.above[a]
		}
		for s.place[b] > s.place[a] {
			b = s.above[b]
		}
	}
	return a
}

// through reports whether every way to a point leads through another one, or is it.
func (s *structure) through(by, at int) bool {
	for at >= 0 && at != by {
		at = s.above[at]
	}
	return at == by
}

// cycle adds the points of a cycle that begins at head and comes back from a point.
func (s *structure) cycle(head, from int, before [][]int) {
	if s.cycles[head] == nil {
		s.cycles[head] = map[int]bool{head: true}
	}
	in := s.cycles[head]
	for open := []int{from}; len(open) > 0; {
		at := open[len(open)-1]
		if open = open[:len(open)-1]; !in[at] {
			in[at] = true
			open = append(open, before[at]...)
		}
	}
}
