package yamlgraph

import (
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/parser/yamlgraph"
)

// apart refuses graphs that begin at several nodes whose ways meet, or touch the same state: a token of the engine sees what
// others have written in the steps before, and a native node what the nodes before it have.
func (g *graph) apart() {
	if len(g.tree.Start) < 2 {
		return
	}
	way := map[*yamlgraph.Node]string{} // the start that a node comes after
	for _, start := range g.tree.Start {
		for _, n := range g.tree.Nodes {
			first := g.nodes[start.Name]
			if first == nil || !g.reaches(first, n, map[*yamlgraph.Node]bool{}) {
				continue
			}
			if way[n] != "" {
				g.Refuse(n.ID.Span, "write an edge from each node before it, and it runs once", "%s comes after %s and after %s, and may run more than once, which native nodes do not", n.ID.Name, way[n], start.Name)
				return
			}
			way[n] = start.Name
		}
	}
	for _, n := range g.tree.Nodes {
		if _, human := n.Verb.(*ir.Human); human || g.keeps(n) {
			g.Refuse(n.ID.Span, "let the graph begin at one node", "the graph begins at several nodes, and the order of its questions and errors depends on the steps of the engine")
			return
		}
	}
	if len(g.rounds) > 0 {
		g.Refuse(g.tree.Name.Span, "let the graph begin at one node", "the graph begins at several nodes, and the engine bounds the steps of all of them together")
		return
	}
	for _, n := range g.tree.Nodes {
		for _, m := range g.tree.Nodes {
			if way[m] == way[n] {
				continue
			}
			if calls(n) && calls(m) && way[n] != n.ID.Name {
				g.Refuse(n.ID.Span, "add an edge between them", "the steps of the engine say which of %s and %s calls first, and no edge does", n.ID.Name, m.ID.Name)
				return
			}
			if i := slices.IndexFunc(g.writes[n], func(field string) bool { return g.touches(m, field) }); i >= 0 {
				g.Refuse(n.ID.Span, "add an edge between them", "no edge says which of %s and %s comes first, and both use state.%s", n.ID.Name, m.ID.Name, g.writes[n][i])
				return
			}
		}
	}
}

// calls reports whether a node does more than to write to the state.
func calls(n *yamlgraph.Node) bool {
	_, let := n.Verb.(*ir.Let)
	return !let
}

// touches reports whether a node reads or writes a field.
func (g *graph) touches(n *yamlgraph.Node, field string) bool {
	f := g.called(n)
	return slices.Contains(g.writes[n], field) || slices.Contains(g.reads[n], field) || slices.Contains(g.tests[n], field) || f != nil && f.reads(field)
}
