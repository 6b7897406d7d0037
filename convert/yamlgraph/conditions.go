package yamlgraph

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlgraph"
)

// conditions makes the conditions on the edges out of a node. Those on values whose types are known are expressions; for others
// nodes behind it ask what Python would say.
func (g *graph) conditions(n *yamlgraph.Node) (texts map[*yamlgraph.Exit]string) {
	texts = map[*yamlgraph.Exit]string{}
	joined := g.joined(n)
	for _, x := range n.Token.Exits {
		if x.When != nil {
			texts[x] = g.test(x.When, n, joined)
		}
	}
	return texts
}

// joined reports whether conditions behind a node are asked however it ended: what they look at may be there when it failed.
func (g *graph) joined(n *yamlgraph.Node) bool {
	if len(g.part(n).ways) == 0 {
		return false
	}
	own := !g.cyclic(n)
	for _, x := range n.Token.Exits {
		if x.When == nil {
			continue
		}
		if _, typed := g.typed(x.When, n); !typed {
			own = false
		}
		x.When.Refs(func(r *dialect.Reference) {
			if r.Root != "state" || !slices.Contains(g.writes[n], r.Path[0]) || g.writers(r.Path[0]) > 1 {
				own = false
			}
		})
	}
	return !own || len(g.part(n).ways) > 1 || !g.keeps(n)
}

// writers is how many nodes write a field.
func (g *graph) writers(field string) (k int) {
	for _, n := range g.tree.Nodes {
		if slices.Contains(g.writes[n], field) {
			k++
		}
	}
	return k
}

// typed is a condition as an expression; false: its values have no types.
func (g *graph) typed(p *dialect.Predicate, n *yamlgraph.Node) (string, bool) {
	ok := true
	c := convert.Condition{Converter: g.Converter, Else: func() { ok = false }}
	c.Place = func(r *dialect.Reference) (string, *schema.Type) { return g.operand(r, n) }
	text := c.Text(p)
	return text, ok
}

// test is a condition on an edge out of n.
func (g *graph) test(p *dialect.Predicate, n *yamlgraph.Node, joined bool) string {
	if text, ok := g.typed(p, n); ok && !joined {
		return text
	}
	if p.Op == "&&" || p.Op == "||" {
		a, b := g.test(p.Kids[0], n, joined), g.test(p.Kids[1], n, joined)
		if p.Op == "&&" {
			return both(a, b)
		}
		return a + " || " + b
	}
	if len(p.Kids) == 2 && p.Kids[0].Op == "ref" && p.Kids[1].Op == "const" && comparisons[p.Op] != "" {
		return g.asked(p, n)
	}
	c := convert.Condition{Converter: g.Converter, Place: func(r *dialect.Reference) (string, *schema.Type) { return g.operand(r, n) }}
	return c.Text(p) // which refuses it
}

// comparisons are the words of nodes that compare.
var comparisons = map[string]string{"==": "is", "!=": "is_not", "<": "below", "<=": "at_most", ">": "above", ">=": "at_least"}

// asked is a comparison that a node behind another one makes.
func (g *graph) asked(p *dialect.Predicate, n *yamlgraph.Node) string {
	r, part := p.Kids[0].Ref, g.part(n)
	if r.Root != "state" || g.shapes[r.Path[0]] == nil {
		return "false" // it is missing: nothing is equal to it, or before or after it
	}
	at := &ir.List{}
	for _, key := range r.Path[1:] {
		at.Items = append(at.Items, convert.Literal(key))
	}
	with := []*ir.Entry{convert.Pair("of", convert.Ref(g.path(&dialect.Reference{Root: "state", Path: r.Path[:1]}, ""))), convert.Pair("at", at)}
	with = append(with, convert.Pair("is", convert.Literal(p.Op)), convert.Pair("than", p.Kids[1].Lit))
	for _, m := range part.next { // the same one, which another edge asks as well
		if c, is := m.Verb.(*ir.GoCall); is && sameEntries(c.With.Entries, with) {
			return m.ID.Name
		}
	}
	m := g.call(strings.Join(r.Path, "_")+"_"+comparisons[p.Op], "Holds", with...)
	part.next = append(part.next, m)
	return m.ID.Name
}

// sameEntries reports whether two lists of arguments of a comparison are the same.
func sameEntries(a, b []*ir.Entry) bool {
	return slices.EqualFunc(a, b, func(a, b *ir.Entry) bool { return a.Key.Name == b.Key.Name && written(a.Value) == written(b.Value) })
}

func written(v ir.Value) string {
	switch v := v.(type) {
	case *ir.Expr:
		return v.Text.Value
	case *ir.Scalar:
		return v.Tag + v.Text.Value
	case *ir.List:
		var parts []string
		for _, it := range v.Items {
			parts = append(parts, written(it))
		}
		return strings.Join(parts, "\x00")
	}
	return ""
}

// negated is the opposite of a condition.
func negated(text string) string {
	if !strings.ContainsAny(text, " ") {
		return "!" + text
	}
	return "!(" + text + ")"
}

// both is that two conditions hold.
func both(a, b string) string {
	switch {
	case a == "":
		return b
	case b == "":
		return a
	}
	for _, s := range []*string{&a, &b} {
		if strings.Contains(*s, " || ") || strings.Contains(*s, " && ") && !strings.HasPrefix(*s, "!(") {
			*s = "(" + *s + ")"
		}
	}
	return a + " && " + b
}
