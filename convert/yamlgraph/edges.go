package yamlgraph

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/convert/doc"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlgraph"
)

// flow finds which nodes have run whenever a node runs, and refuses graphs in which tokens multiply or come back.
func (g *graph) flow() {
	g.sure, g.ends = map[*yamlgraph.Node]map[*yamlgraph.Node]bool{}, nil
	open := map[*yamlgraph.Node]bool{}
	var visit func(n *yamlgraph.Node, before map[*yamlgraph.Node]bool)
	meet := func(a map[*yamlgraph.Node]bool, b map[*yamlgraph.Node]bool) map[*yamlgraph.Node]bool {
		if a == nil {
			return b
		}
		out := map[*yamlgraph.Node]bool{}
		for n := range a {
			if b[n] {
				out[n] = true
			}
		}
		return out
	}
	visit = func(n *yamlgraph.Node, before map[*yamlgraph.Node]bool) {
		known, seen := g.sure[n]
		g.sure[n] = meet(known, before)
		if seen && len(g.sure[n]) == len(known) {
			return
		}
		open[n] = true
		after := map[*yamlgraph.Node]bool{n: true}
		for m := range g.sure[n] {
			after[m] = true
		}
		exits := n.Token.Exits
		plain, tests := 0, 0
		for _, x := range exits {
			if x.When == nil {
				plain++
			} else {
				tests++
			}
			if to := g.nodes[x.To.Name]; to != nil && open[to] {
				g.back(n, to, x)
			} else if to != nil {
				visit(to, after)
			} else {
				g.ends = meet(g.ends, after)
			}
		}
		if _, is := n.Verb.(*yamlgraph.Map); is || plain == 0 {
			g.ends = meet(g.ends, after)
		}
		if plain > 1 || plain > 0 && tests > 0 {
			g.Refuse(n.ID.Span, "write edges one after the other, or conditions", "several edges are taken from %s at the same time: nodes behind them may run more than once, which native nodes do not", n.ID.Name)
		}
		open[n] = false
	}
	for _, id := range g.tree.Start {
		if n := g.nodes[id.Name]; n != nil {
			visit(n, map[*yamlgraph.Node]bool{})
		}
	}
	for _, n := range g.tree.Nodes {
		if g.sure[n] == nil && !g.Refused {
			g.Refuse(n.ID.Span, "remove it", "nothing leads to %s", n.ID.Name)
		}
	}
}

// back notes an edge that leads back, with the rounds that the engine's bound on the steps of a run leaves to a loop of its
// length. Only one loop, whose nodes follow each other, has as many steps in each round.
func (g *graph) back(from, to *yamlgraph.Node, x *yamlgraph.Exit) {
	if g.rounds[x] > 0 {
		return
	}
	limit := g.tree.Limit
	if limit == 0 {
		limit = 25
	}
	length, before := 1, 0
	for n := to; n != from; length++ {
		next := (*yamlgraph.Node)(nil)
		for _, e := range n.Token.Exits {
			if m := g.nodes[e.To.Name]; m != nil && g.reaches(m, from, map[*yamlgraph.Node]bool{to: true}) {
				if next != nil && next != m {
					length = limit
				}
				next = m
			}
		}
		if next == nil || length > limit {
			length = limit + 1
			break
		}
		n = next
	}
	before = len(g.sure[to])
	longest := g.longest(from, map[*yamlgraph.Node]bool{to: true})
	most := (limit - before - longest) / length
	if len(g.rounds) > 0 || length > limit || most < 1 {
		g.Refuse(x.Span, "write a `loop`, or edges back with `max`, in the native language", "only one cycle of nodes that follow each other is converted: the engine bounds all steps of a run, and the native language the rounds of a loop")
		most = 1
	}
	g.rounds[x] = most
	g.once(x.Span, "the engine bounds the steps of a run; the loop has as many rounds as that leaves")
}

// reaches reports whether a way leads from one node to another that does not go through others.
func (g *graph) reaches(n, to *yamlgraph.Node, seen map[*yamlgraph.Node]bool) bool {
	if n == to {
		return true
	}
	if seen[n] {
		return false
	}
	seen[n] = true
	for _, x := range n.Token.Exits {
		if m := g.nodes[x.To.Name]; m != nil && g.reaches(m, to, seen) {
			return true
		}
	}
	return false
}

// longest is how many nodes come after one at most, by ways that do not go through others.
func (g *graph) longest(n *yamlgraph.Node, seen map[*yamlgraph.Node]bool) int {
	most := 0
	for _, x := range n.Token.Exits {
		if m := g.nodes[x.To.Name]; m != nil && !seen[m] {
			seen[m] = true
			most = max(most, 1+g.longest(m, seen))
			delete(seen, m)
		}
	}
	return most
}

// certain reports whether a node has written a field whenever n runs, or for nil whenever the graph ends.
func (g *graph) certain(field string, n *yamlgraph.Node) bool {
	before := g.ends
	if n != nil {
		before = g.sure[n]
	}
	for m := range before {
		if slices.Contains(g.writes[m], field) && !g.keeps(m) && (m.Token.Ask == nil || m.Token.Ask.Fail != yamlgraph.AskSkip) {
			return true
		}
	}
	return false
}

// attempted reports whether a node that writes a field has run whenever n runs, and has written it unless it failed.
func (g *graph) attempted(field string, n *yamlgraph.Node) bool {
	for m := range g.sure[n] {
		if slices.Contains(g.writes[m], field) {
			return true
		}
	}
	return false
}

// written reports whether any node writes a field.
func (g *graph) written(field string) bool {
	for _, list := range g.writes {
		if slices.Contains(list, field) {
			return true
		}
	}
	return false
}

// edges writes the edges. Of conditions the first that holds decides, so that the others say that it does not.
func (g *graph) edges(begin bool) *doc.List {
	l := &doc.List{}
	for _, id := range g.tree.Start {
		if begin {
			l.Add(doc.Scalar("begin -> "+g.IDs[id.Name]), source.Span{})
		}
	}
	for _, n := range g.tree.Nodes {
		from := g.IDs[n.ID.Name]
		_, isMap := n.Verb.(*yamlgraph.Map)
		var before []string
		for _, x := range n.Token.Exits {
			to := g.Target(x.To)
			switch {
			case x.When != nil:
				own := g.test(x.When, n)
				text := own
				for _, b := range before {
					if !opposite(b, own) {
						text = "!(" + b + ") && (" + text + ")"
					}
				}
				before = append(before, own)
				e := doc.Flow(doc.Pair("from", doc.Scalar(from)), doc.Pair("to", doc.Scalar(to)), doc.Pair("when", doc.Scalar(convert.Condition(text))))
				if most := g.rounds[x]; most > 0 {
					e.Add("max", doc.Number(most), source.Span{})
				}
				l.Add(e, x.Span)
			case g.rounds[x] > 0 && !isMap && !g.keeps(n):
				l.Add(doc.Flow(doc.Pair("from", doc.Scalar(from)), doc.Pair("to", doc.Scalar(to)), doc.Pair("when", doc.Scalar("true")), doc.Pair("max", doc.Number(g.rounds[x]))), x.Span)
			case isMap && to != "end":
				l.Add(doc.Flow(doc.Pair("from", doc.Scalar(from)), doc.Pair("to", doc.Scalar(to)), doc.Pair("when", doc.Scalar(convert.Condition("size("+from+") > 0")))), x.Span)
			case g.keeps(n):
				l.Add(doc.Scalar(from+", "+g.failed(n)+" -> "+to), x.Span)
			default:
				l.Add(doc.Scalar(from+" -> "+to), x.Span)
			}
		}
		if g.keeps(n) {
			g.afterFailure(n, l)
		}
	}
	if len(g.tree.Nodes) == 1 && !begin && !g.keepsErrors() {
		l.Items = nil
	}
	return l
}

var opposites = [][2]string{{" < ", " >= "}, {" > ", " <= "}, {" == ", " != "}}

// opposite reports whether one comparison is the negation of another.
func opposite(a, b string) bool {
	if strings.Contains(a+b, "&&") || strings.Contains(a+b, "||") {
		return false
	}
	return slices.ContainsFunc(opposites, func(o [2]string) bool {
		return strings.Contains(a, o[0]) && strings.Replace(a, o[0], o[1], 1) == b || strings.Contains(a, o[1]) && strings.Replace(a, o[1], o[0], 1) == b
	})
}

// test is a condition in the native language: only where both sides have the declared type is it the same.
func (g *graph) test(p *dialect.Predicate, n *yamlgraph.Node) string {
	switch p.Op {
	case "&&", "||":
		side := func(kid *dialect.Predicate) string {
			if kid.Op == "||" && p.Op == "&&" {
				return "(" + g.test(kid, n) + ")"
			}
			return g.test(kid, n)
		}
		return side(p.Kids[0]) + " " + p.Op + " " + side(p.Kids[1])
	case "==", "!=", "<", "<=", ">", ">=":
		a, at := g.operand(p.Kids[0], n)
		b, bt := g.operand(p.Kids[1], n)
		number := func(t *schema.Type) bool { return t.Kind == schema.Int || t.Kind == schema.Float }
		if at != nil && bt != nil && (at.Kind == bt.Kind && at.Kind != schema.Bool || number(at) && number(bt)) && (p.Op == "==" || p.Op == "!=" || number(at)) {
			return a + " " + p.Op + " " + b
		}
	}
	g.Refuse(p.Span, "compare fields with values of their declared type", "this condition has another meaning, or none, where values have types")
	return "true"
}

func (g *graph) operand(p *dialect.Predicate, n *yamlgraph.Node) (string, *schema.Type) {
	switch p.Op {
	case "const":
		switch p.Lit.Tag {
		case "!!int":
			return p.Lit.Text.Value, schema.IntType
		case "!!float":
			return p.Lit.Text.Value, schema.FloatType
		case "!!str":
			return doc.Escaped(p.Lit.Text.Value), schema.StringType
		}
	case "ref":
		if len(p.Ref.Path) == 2 {
			return g.answerPart(p.Ref, n)
		}
		s := g.shapes[p.Ref.Path[0]]
		if len(p.Ref.Path) > 1 || s == nil || !g.certain(p.Ref.Path[0], n) && !slices.Contains(g.writes[n], p.Ref.Path[0]) {
			return "", nil
		}
		switch s.declared.Kind {
		case schema.Int, schema.Float, schema.String:
		default:
			return "", nil
		}
		if f := g.called(n); f != nil && slices.Contains(g.writes[n], p.Ref.Path[0]) {
			if f.value {
				return g.IDs[n.ID.Name], s.declared
			}
			return g.IDs[n.ID.Name] + "." + p.Ref.Path[0], s.declared
		}
		return g.path(p.Ref, ""), s.declared
	}
	return "", nil
}
