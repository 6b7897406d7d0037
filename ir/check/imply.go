package check

import (
	"slices"

	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// A condition of several tests is one decision of the diagram, which knows nothing of what it asks. What its outcome says of results
// and values together is found here, only where a proof needs it: `a == null && b == null` that came out false says that one of them
// is there.

// Bounds of one proof. Beyond them nothing is proved: sound, but weaker.
const (
	maxLeaves  = 64  // tests of values of one body that have a decision of their own
	maxLemmas  = 50  // conditions that one proof looks at
	maxSupport = 500 // nodes of the diagram in which they are looked for
)

// A leaf is the test of a value inside conditions: whether it is absent.
type leaf struct {
	index int
	paths expr.Facts // that are present when it is not
}

// implied is what certainly holds where the checked condition n has come out as holds.
func (b *Body) implied(n *expr.Node, holds bool) formula {
	switch {
	case n.Op == expr.Unary && n.Text == "!":
		return b.implied(n.Kids[0], !holds)
	case n.Op == expr.Binary && (n.Text == "&&" || n.Text == "||"):
		x, y := b.implied(n.Kids[0], holds), b.implied(n.Kids[1], holds)
		if (n.Text == "&&") == holds {
			return b.diagram.and(x, y)
		}
		return b.diagram.or(x, y)
	}
	if readsState(n) {
		return always
	}
	f := always
	key, positive := canonical(n)
	if d := b.asks[key]; d != nil {
		f = b.takes(d, outcomeOf((holds == positive) == d.positive))
	}
	x, name, only := expr.NullTest(n)
	if x == nil || name == nil {
		return f
	}
	absent := (n.Text == "==") == holds
	s, _ := name.Ref.(*Step)
	if s != nil && s.body != b {
		return f
	}
	switch {
	case s != nil && !absent:
		f = b.diagram.and(f, b.diagram.and(s.ok, s.known))
	case s != nil && only:
		f = b.diagram.and(f, b.diagram.without(always, s.ok))
	}
	if l := b.leaf(x); l != nil && !only {
		f = b.diagram.and(f, b.diagram.is(l.index, outcomeOf(absent)))
	}
	return f
}

// outcomeOf is the case of a decision about a condition: the first when it holds.
func outcomeOf(holds bool) int {
	if holds {
		return 0
	}
	return 1
}

// leaf is the test of whether x is absent; nil when there are too many.
func (b *Body) leaf(x *expr.Node) *leaf {
	path := x.Path()
	l := b.leaves[path]
	if l == nil && path != "" && len(b.leaves) < maxLeaves && !b.diagram.full {
		if b.leaves == nil {
			b.leaves = map[string]*leaf{}
		}
		l = &leaf{index: b.diagram.decide(2), paths: expr.FactsOf(&expr.Node{Op: expr.Binary, Text: "!=", Kids: []*expr.Node{x, {Op: expr.Lit}}}, true)}
		b.leaves[path] = l
	}
	return l
}

// refuted reports whether f cannot hold, given what conditions ask that it depends on.
func (b *Body) refuted(f formula) bool {
	if b.weak || b.loose || len(b.loops) > 0 {
		return f == never
	}
	var seen []*Decision
	for changed := true; changed && f != never && f != unknown && len(seen) < maxLemmas; {
		changed = false
		for _, index := range b.diagram.support(f, maxSupport) {
			for _, d := range b.byIndex[index] {
				if d.Kind != When || d.ended || d.Expr == nil || len(seen) == maxLemmas || slices.Contains(seen, d) {
					continue
				}
				if wrong(d.Expr) {
					return true // which is reported already
				}
				seen, changed = append(seen, d), true
				yes := b.diagram.and(b.takes(d, 0), b.implied(d.Expr, true))
				no := b.diagram.and(b.takes(d, 1), b.implied(d.Expr, false))
				f = b.diagram.and(f, b.diagram.or(yes, no))
			}
		}
	}
	return f == never
}

// wrong reports whether a condition has a mistake, so that nobody knows what it asks.
func wrong(n *expr.Node) bool {
	found := false
	n.Walk(func(n *expr.Node) bool {
		found = found || n.Type != nil && n.Type.Kind == schema.Invalid
		return !found
	})
	return found
}

// asksOf reports whether a condition of several tests asks whether a path is absent.
func (b *Body) asksOf(path string) bool {
	if b.tested == nil {
		b.tested = map[string]bool{}
		for _, d := range b.asks {
			d.Expr.Walk(func(n *expr.Node) bool {
				if x, _, _ := expr.NullTest(n); x != nil && n != d.Expr {
					b.tested[x.Path()] = true
				}
				return n.Op != expr.Lambda
			})
		}
	}
	return b.tested[path]
}
