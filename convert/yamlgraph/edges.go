package yamlgraph

import (
	"maps"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlgraph"
)

// reached leaves out the nodes that no way leads to.
func (g *graph) reached() {
	named, seen := map[string]*yamlgraph.Node{}, map[*yamlgraph.Node]bool{}
	for _, n := range g.tree.Nodes {
		named[n.ID.Name] = n
	}
	var visit func(id string)
	visit = func(id string) {
		n := named[id]
		if n == nil || seen[n] {
			return
		}
		seen[n] = true
		for _, x := range n.Token.Exits {
			visit(x.To.Name)
		}
	}
	for _, id := range g.tree.Start {
		visit(id.Name)
	}
	own := *g.tree
	own.Nodes = slices.DeleteFunc(slices.Clone(own.Nodes), func(n *yamlgraph.Node) bool {
		if !seen[n] {
			g.Note(n.ID.Span, "", "no edge leads to %s, which is left out", n.ID.Name)
			delete(g.IDs, n.ID.Name)
		}
		return !seen[n]
	})
	g.tree = &own
}

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
	ends := map[*yamlgraph.Node]bool{} // the graph ends when all its tokens have
	for _, id := range g.tree.Start {
		if n := g.nodes[id.Name]; n != nil {
			g.ends = nil
			visit(n, map[*yamlgraph.Node]bool{})
			maps.Copy(ends, g.ends)
		}
	}
	g.ends = ends
	g.apart()
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
	longest := g.longest(from, map[*yamlgraph.Node]int{to: -1})
	most := (limit - before - longest) / length
	if len(g.rounds) > 0 || length > limit || most < 1 {
		g.Refuse(x.Span, "write a `loop`, or edges back with `max`, in the native language", "only one cycle of nodes that follow each other is converted: the engine bounds all steps of a run, and the native language the rounds of a loop")
		most = 1
	}
	g.rounds[x] = most
	g.Note(x.Span, "", "the engine bounds the steps of a run; the loop has as many rounds as that leaves")
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

// longest is how many nodes come after one at most, by ways that do not go through those that count for less than nothing.
func (g *graph) longest(n *yamlgraph.Node, known map[*yamlgraph.Node]int) int {
	if most, is := known[n]; is {
		return most
	}
	known[n] = -1 // it does not come after itself
	most := 0
	for _, x := range n.Token.Exits {
		if m := g.nodes[x.To.Name]; m != nil {
			most = max(most, 1+g.longest(m, known))
		}
	}
	known[n] = most
	return most
}

// certain reports whether a node has written a field whenever n runs, or for nil whenever the graph ends.
func (g *graph) certain(field string, n *yamlgraph.Node) bool {
	before := g.ends
	if n != nil {
		before = g.sure[n]
	}
	for m := range before {
		if slices.Contains(g.writes[m], field) && !g.keeps(m) && !g.kept[m][field] && (m.Token.Ask == nil || m.Token.Ask.Fail != yamlgraph.AskSkip) {
			return true
		}
	}
	return false
}

// attempted reports whether a node that writes a field has run whenever n runs, and has written it unless it failed.
func (g *graph) attempted(field string, n *yamlgraph.Node) bool {
	for m := range g.sure[n] {
		if slices.Contains(g.writes[m], field) && !g.kept[m][field] {
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

// edges makes the edges. Of conditions the first that holds decides, so that the others say that it does not.
func (g *graph) edges() {
	add := func(edges ...*ir.Edge) { g.Out.Body.Edges = append(g.Out.Body.Edges, edges...) }
	if g.begin {
		for _, start := range g.tree.Start {
			add(convert.Edge("begin", source.Span{}, g.IDs[start.Name]))
		}
	}
	for _, n := range g.tree.Nodes {
		from := g.IDs[n.ID.Name]
		if len(n.Token.Exits) == 0 && len(g.tree.Start) > 1 && !g.begin {
			add(convert.Edge(from, source.Span{}, "end")) // else it may be in no edge
		}
		_, isMap := n.Verb.(*yamlgraph.Map)
		var before []string
		for _, x := range n.Token.Exits {
			e := convert.Edge(from, x.Span, g.Target(x.To))
			e.Max = g.rounds[x]
			e.Back = e.Max > 0
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
				e.When = convert.Ref(text)
			case isMap && e.To[0].Name != "end":
				e.When, e.Back = convert.Ref("size("+from+") > 0"), false
			case e.Back && !g.keeps(n):
				e.When = convert.Ref("true")
			default:
				e.Back = false
			}
			add(e)
			if x.When == nil && g.keeps(n) && !isMap {
				add(convert.Edge(g.failed(n), x.Span, g.Target(x.To)))
			}
		}
		if g.keeps(n) {
			g.afterFailure(n)
		}
	}
	if len(g.tree.Nodes) == 1 && !g.begin && !g.keepsErrors() {
		g.Out.Body.Edges = nil
	}
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

// test is a condition on an edge out of n.
func (g *graph) test(p *dialect.Predicate, n *yamlgraph.Node) string {
	c := convert.Condition{Converter: g.Converter}
	c.Place = func(r *dialect.Reference) (string, *schema.Type) { return g.operand(r, n) }
	return c.Text(p)
}

// operand is a reference in a condition on an edge out of n, with its type; nil when that is not known.
func (g *graph) operand(r *dialect.Reference, n *yamlgraph.Node) (string, *schema.Type) {
	if len(r.Path) == 2 {
		return g.answerPart(r, n)
	}
	s := g.shapes[r.Path[0]]
	if len(r.Path) > 1 || s == nil || !g.certain(r.Path[0], n) && !slices.Contains(g.writes[n], r.Path[0]) {
		return "", nil
	}
	typ := s.declared
	if typ.Kind == schema.Any && s.wants != nil {
		typ = s.wants
	}
	switch typ.Kind {
	case schema.Int, schema.Float, schema.String:
	default:
		return "", nil
	}
	if f := g.called(n); f != nil && slices.Contains(g.writes[n], r.Path[0]) {
		if f.value {
			return g.IDs[n.ID.Name], typ
		}
		return g.IDs[n.ID.Name] + "." + r.Path[0], typ
	}
	return g.path(r, ""), typ
}
