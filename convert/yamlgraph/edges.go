package yamlgraph

import (
	"cmp"
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
		if g.always(n) {
			return
		}
		for _, x := range n.Token.Exits {
			visit(x.To.Name)
		}
	}
	for _, id := range g.tree.Start {
		visit(id.Name)
	}
	own := *g.tree
	own.Nodes = slices.Clone(own.Nodes)
	for i, n := range own.Nodes {
		if g.always(n) {
			last, t := *n, *n.Token
			t.Exits, last.Token, own.Nodes[i] = nil, &t, &last
			seen[&last] = seen[n]
		}
	}
	own.Nodes = slices.DeleteFunc(own.Nodes, func(n *yamlgraph.Node) bool {
		if !seen[n] {
			g.Note(n.ID.Span, "", "no edge leads to %s, which is left out", n.ID.Name)
			delete(g.IDs, n.ID.Name)
		}
		return !seen[n]
	})
	g.tree = &own
}

// always reports whether a node always fails, and the run with it.
func (g *graph) always(n *yamlgraph.Node) bool {
	if m, is := n.Verb.(*yamlgraph.Map); is {
		r, ref := m.Over.(*dialect.Reference)
		return ref && r.Root == "state" && len(r.Path) > 0 && g.tree.StateField(r.Path[0]) == nil
	}
	return n.Token.OnError == yamlgraph.TokenRaise && g.lacks(n) != ""
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
		plain, tests, routed := 0, 0, false
		for _, x := range exits {
			switch {
			case x.Routed:
				routed = true
			case x.Spent:
			case x.When == nil:
				plain++
			default:
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
		if _, is := n.Verb.(*yamlgraph.Map); is && g.tree.Upstream || plain == 0 && !routed || bound(n) > 0 {
			g.ends = meet(g.ends, after)
		}
		if plain > 1 || plain > 0 && tests > 0 || routed && plain+tests > 0 {
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
	limit := cmp.Or(g.tree.Limit, yamlgraph.MaxSteps) - g.stepped
	loop := []*yamlgraph.Node{to}
	for n := to; n != from; loop = append(loop, n) {
		next, several := g.within(n, from, to)
		if next == nil || several || len(loop) > limit {
			loop = nil
			break
		}
		n = next
	}
	length, most := len(loop), 0
	if length > 0 {
		most = (limit - len(g.sure[to]) - g.longest(from, map[*yamlgraph.Node]int{to: -1})) / length
	}
	if g.endless && len(g.rounds) > 0 || most < 1 || slices.ContainsFunc(loop, func(n *yamlgraph.Node) bool { return g.looped[n] }) {
		g.Refuse(x.Span, "write a `loop`, or edges back with `max`, in the native language", "only cycles of nodes that follow each other are converted, and only the last without a limit of its own: the engine bounds all steps of a run, and the native language the rounds of a loop")
		most = 1
	}
	rounds, first := bound(to), true
	for _, n := range loop {
		g.looped[n] = true
		if b := bound(n); b > 0 && n != to {
			g.counted(n, b)
			if rounds == 0 || b+1 < rounds { // the first runs once more
				rounds, first = b+1, false
			}
		}
	}
	switch {
	case rounds > 0 && rounds <= most:
		if g.rounds[x] = rounds; first {
			g.spent[x] = g.exhausted(to)
		}
		g.stepped += (rounds + 1) * length
	default:
		g.rounds[x], g.endless = most, true
		g.Note(x.Span, "", "the engine bounds the steps of a run; the loop has as many rounds as that leaves")
	}
}

// within is the node after another in a loop, and whether there are several.
func (g *graph) within(n, from, to *yamlgraph.Node) (next *yamlgraph.Node, several bool) {
	for _, e := range n.Token.Exits {
		if m := g.nodes[e.To.Name]; m != nil && g.reaches(m, from, map[*yamlgraph.Node]bool{to: true}) {
			several = several || next != nil && next != m
			next = m
		}
	}
	return next, several
}

// bound is how often a node runs at most; 0: nothing bounds it.
func bound(n *yamlgraph.Node) int {
	if n.Token.Ask != nil {
		return n.Token.Ask.Limit
	}
	return n.Token.Limit
}

// exhausted is where the run goes on when a node has reached its limit. From then on all conditions lead there or to the end.
func (g *graph) exhausted(n *yamlgraph.Node) *ir.Ident {
	i := slices.IndexFunc(n.Token.Exits, func(x *yamlgraph.Exit) bool { return x.Spent })
	if i < 0 {
		return &ir.Ident{Name: ""}
	}
	to := n.Token.Exits[i].To
	if m := g.nodes[to.Name]; m != nil && slices.ContainsFunc(m.Token.Exits, func(x *yamlgraph.Exit) bool { return x.To.Name != "" }) {
		g.Refuse(n.Token.Exits[i].Span, "let it lead to a node after which the graph ends", "nodes follow %s, where the limit of %s leads: their conditions would lead to the end, too", to.Name, n.ID.Name)
	}
	return &to
}

// cyclic reports whether a node may run again.
func (g *graph) cyclic(n *yamlgraph.Node) bool {
	return slices.ContainsFunc(n.Token.Exits, func(x *yamlgraph.Exit) bool {
		m := g.nodes[x.To.Name]
		return m != nil && g.reaches(m, n, map[*yamlgraph.Node]bool{})
	})
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
	if g.seeded(field) || g.handing[field] {
		return true
	}
	if g.emptied[field] {
		return false
	}
	before := g.ends
	if n != nil {
		before = g.sure[n]
	}
	for m := range before {
		if !g.beside(m, n) && slices.Contains(g.writes[m], field) && !g.keeps(m) && !g.kept[m][field] && (m.Token.Ask == nil || m.Token.Ask.Fail != yamlgraph.AskSkip) {
			return true
		}
	}
	return false
}

// attempted reports whether a node that writes a field has run whenever n runs, and has written it unless it failed.
func (g *graph) attempted(field string, n *yamlgraph.Node) bool {
	for m := range g.sure[n] {
		if !g.beside(m, n) && slices.Contains(g.writes[m], field) && !g.kept[m][field] {
			return true
		}
	}
	return false
}

// written reports whether any node writes a field, or the file gives it a value.
func (g *graph) written(field string) bool {
	if g.seeded(field) {
		return true
	}
	for _, list := range g.writes {
		if slices.Contains(list, field) {
			return true
		}
	}
	return false
}

// edges makes the edges.
func (g *graph) edges() {
	add := func(edges ...*ir.Edge) { g.Out.Body.Edges = append(g.Out.Body.Edges, edges...) }
	if g.begin {
		for _, start := range g.tree.Start {
			add(convert.Edge("begin", source.Span{}, g.entry(start)))
		}
	}
	for _, n := range g.tree.Nodes {
		out := g.outward(n)
		if c := g.counts[n]; c != nil {
			add(convert.Edge(c.spent, source.Span{}, g.entry(c.to)))
		}
		add(g.inside(n)...)
		add(out...)
	}
}

// outward are the edges that leave a node. Of conditions the first that holds decides, so that the others say that it does not.
func (g *graph) outward(n *yamlgraph.Node) (out []*ir.Edge) {
	exits := slices.DeleteFunc(slices.Clone(n.Token.Exits), func(x *yamlgraph.Exit) bool { return x.Spent })
	if g.always(n) {
		return nil
	}
	texts := g.conditions(n)
	if len(texts) > 0 && g.joined(n) || slices.ContainsFunc(exits, func(x *yamlgraph.Exit) bool { return g.rounds[x] > 0 && len(g.part(n).ways) > 0 }) {
		g.joins(n)
	}
	leaving := g.leaving(n)
	switch {
	case len(exits) == 0 && (len(g.tree.Start) > 1 && !g.begin || len(leaving) > 1):
		for _, w := range leaving { // else it may be in no edge
			out = append(out, w.edge(source.Span{}, "end"))
		}
	case len(exits) > 0 && exits[0].Routed:
		return g.routes(n, exits)
	}
	var before []string
	for _, x := range exits {
		to, when := g.entry(x.To), ""
		if x.When != nil {
			own := texts[x]
			when = own
			for _, b := range slices.Backward(before) {
				if !opposite(b, own) {
					when = both(negated(b), when)
				}
			}
			before = append(before, own)
		} else if _, isMap := n.Verb.(*yamlgraph.Map); isMap && g.tree.Upstream && to != "end" {
			when = "size(" + g.IDs[n.ID.Name] + ") > 0"
		}
		for i, w := range leaving {
			if x.When != nil && i > 0 {
				break // it failed, and what the condition looks at is not there
			}
			e := w.edge(x.Span, to)
			if text := both(w.when, when); text != "" {
				e.When = convert.Ref(text)
			}
			if e.Max = g.rounds[x]; e.Max > 0 {
				e.Back, e.Exhausted = true, g.after(x)
				if e.When == nil && e.Exhausted == nil {
					e.When = convert.Ref("true")
				}
			}
			out = append(out, e)
		}
	}
	if len(before) > 0 && len(leaving) > 1 {
		out = append(out, leaving[1].edge(source.Span{}, "end"))
	}
	return out
}

// after is the native node after an edge back that has been taken as often as its limit says; nil: it has none.
func (g *graph) after(x *yamlgraph.Exit) *ir.Ident {
	if g.spent[x] == nil {
		return nil
	}
	id := convert.Name(g.entry(*g.spent[x]))
	return &id
}

// edge leads on.
func (w way) edge(at source.Span, to string) *ir.Edge {
	e := convert.Edge(w.id, at, to)
	if w.when != "" {
		e.When = convert.Ref(w.when)
	}
	return e
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

// operand is a reference in a condition on an edge out of n, with its type; nil when that is not known.
func (g *graph) operand(r *dialect.Reference, n *yamlgraph.Node) (string, *schema.Type) {
	if len(r.Path) == 2 {
		return g.answerPart(r, n)
	}
	s := g.shapes[r.Path[0]]
	if len(r.Path) > 1 || s == nil || g.emptied[r.Path[0]] || !g.certain(r.Path[0], n) && !slices.Contains(g.writes[n], r.Path[0]) {
		return "", nil
	}
	typ := s.declared
	if typ.Kind == schema.Any && s.wants != nil {
		typ = s.wants
	}
	switch typ.Kind {
	case schema.Int, schema.Float, schema.String:
		if r.Root != "state" {
			return "", nil
		}
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
