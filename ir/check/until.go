package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// holdsAfter is the condition that holds for the result of a step wherever there is one: `until` of a loop
// that does not go on without it. Nil when there is none.
func (s *Step) holdsAfter() *expr.Node {
	l, ok := s.Node.Verb.(*ir.Loop)
	if !ok || l.GoOn || l.Until == nil || l.Until.Node == nil || s.Node.OnError != nil && s.Node.OnError.Kind == ir.OnErrorDefault {
		return nil
	}
	return l.Until.Node
}

// untilFacts adds to facts what `until` proves of the result of a loop that has certainly succeeded before the reader.
func (b *Body) untilFacts(name string, reader *Step, at formula, facts expr.Facts) expr.Facts {
	s := b.byID[name]
	if s == nil || s == reader || b.loose || s.Node.OnError != nil {
		return facts
	}
	until := s.holdsAfter()
	if until == nil || b.seen(s, reader, at) != present {
		return facts
	}
	own := expr.Facts{}
	for path := range expr.FactsOf(until, true) {
		if root, _, _ := strings.Cut(path, "."); root == name {
			own[path] = true
		}
	}
	return bothFacts(facts, own)
}

// ruledOut reports whether a value of a switch cannot come: the loop that the value is of has not ended with it.
func ruledOut(n *expr.Node, values []string) func(string) bool {
	root := n
	for root.Op == expr.Field || root.Op == expr.OptField {
		root = root.Kids[0]
	}
	if root.Sym == nil {
		return func(string) bool { return false }
	}
	s, ok := root.Sym.Ref.(*Step)
	if !ok || s.holdsAfter() == nil {
		return func(string) bool { return false }
	}
	wrong := false // what a misspelled condition leaves is not known, and it is reported already
	s.holdsAfter().Walk(func(n *expr.Node) bool {
		wrong = wrong || n.Type != nil && n.Type.Kind == schema.Invalid
		return !wrong
	})
	if wrong {
		return func(string) bool { return true }
	}
	left := allowed(s.holdsAfter(), n.Path(), values, true)
	return func(v string) bool { return !slices.Contains(left, v) }
}

// allowed are those of the values of a path for which a condition can come out as holds.
func allowed(n *expr.Node, path string, values []string, holds bool) []string {
	only := func(some []string, in bool) []string {
		return slices.DeleteFunc(slices.Clone(values), func(v string) bool { return slices.Contains(some, v) != in })
	}
	switch {
	case path == "":
	case n.Path() == path: // a bool
		return only([]string{fmt.Sprint(holds)}, true)
	case n.Op == expr.Unary && n.Text == "!":
		return allowed(n.Kids[0], path, values, !holds)
	case n.Op != expr.Binary:
	case n.Text == "&&", n.Text == "||":
		x, y := allowed(n.Kids[0], path, values, holds), allowed(n.Kids[1], path, values, holds)
		if (n.Text == "&&") == holds {
			return slices.DeleteFunc(x, func(v string) bool { return !slices.Contains(y, v) })
		}
		return only(slices.Concat(x, y), true)
	case n.Text == "==", n.Text == "!=":
		x, y := n.Kids[0], n.Kids[1]
		if x.Op == expr.Lit {
			x, y = y, x
		}
		if x.Path() == path && y.Op == expr.Lit && y.Value != nil {
			return only([]string{fmt.Sprint(y.Value)}, (n.Text == "==") == holds)
		}
	case n.Text == "in":
		list := n.Kids[1]
		if n.Kids[0].Path() != path || list.Op != expr.ListLit || slices.ContainsFunc(list.Kids, func(k *expr.Node) bool { return k.Op != expr.Lit }) {
			break
		}
		var some []string
		for _, k := range list.Kids {
			some = append(some, fmt.Sprint(k.Value))
		}
		return only(some, holds)
	}
	return slices.Clone(values)
}
