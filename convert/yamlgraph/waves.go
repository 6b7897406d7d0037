package yamlgraph

import (
	"slices"
	"strconv"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlgraph"
)

// maxInLine bounds the nodes of a graph that is put in line.
const maxInLine = 100

// inLine puts the nodes of a graph one after the other in which edges part and meet: by the steps of the engine, and in one step
// in the order of the file. A node that is reached on ways of several lengths is there once for each. Conditions, cycles and
// questions are left for others to refuse.
func (g *graph) inLine() {
	byID, parts := map[string]*yamlgraph.Node{}, len(g.tree.Start) > 1
	for _, n := range g.tree.Nodes {
		byID[n.ID.Name] = n
		parts = parts || len(n.Token.Exits) > 1
		_, human := n.Verb.(*ir.Human)
		_, each := n.Verb.(*yamlgraph.Map)
		if human || each && g.tree.Upstream || bound(n) > 0 || g.always(n) || slices.ContainsFunc(n.Token.Exits, func(x *yamlgraph.Exit) bool { return x.When != nil || x.Routed || x.Spent }) {
			return
		}
	}
	if !parts || len(g.tree.Start) > 1 && !g.meets(byID) {
		return
	}
	now := map[*yamlgraph.Node]bool{}
	for _, id := range g.tree.Start {
		now[byID[id.Name]] = true
	}
	var line []*yamlgraph.Node
	waves, times := map[*yamlgraph.Node]int{}, map[*yamlgraph.Node]int{}
	for wave := 1; len(now) > 0; wave++ {
		next := map[*yamlgraph.Node]bool{}
		for _, n := range g.tree.Nodes {
			if !now[n] {
				continue
			}
			for _, x := range n.Token.Exits {
				if to := byID[x.To.Name]; to != nil {
					next[to] = true
				}
			}
			if times[n]++; times[n] > 1 {
				if n = g.twin(n, times[n]); n == nil {
					return
				}
			}
			waves[n] = wave
			if line = append(line, n); len(line) > maxInLine {
				return // a cycle, or nearly
			}
		}
		now = next
	}
	own := *g.tree
	own.Start, own.Nodes = convert.Names(line[0].ID.Name), nil
	for i, n := range line {
		in, t := *n, *n.Token
		at := source.Span{}
		if len(t.Exits) > 0 {
			at = t.Exits[0].Span
		}
		if t.Exits = nil; i+1 < len(line) {
			t.Exits = []*yamlgraph.Exit{{To: ir.Ident{Name: line[i+1].ID.Name}, Span: at}}
		}
		in.Token = &t
		own.Nodes = append(own.Nodes, &in)
		g.waves[&in] = waves[n]
	}
	g.tree = &own
}

// meets reports whether ways from several starts meet, or part.
func (g *graph) meets(byID map[string]*yamlgraph.Node) bool {
	seen := map[*yamlgraph.Node]bool{}
	for _, id := range g.tree.Start {
		for n := byID[id.Name]; n != nil; {
			if seen[n] || len(n.Token.Exits) > 1 {
				return true
			}
			seen[n] = true
			if len(n.Token.Exits) == 0 {
				break
			}
			n = byID[n.Token.Exits[0].To.Name]
		}
	}
	return false
}

// twin is a node once more; nil: it cannot run twice here.
func (g *graph) twin(n *yamlgraph.Node, times int) *yamlgraph.Node {
	switch n.Verb.(type) {
	case *ir.Let, *ir.ToolCall, *ir.ToolChoice:
	default:
		return nil
	}
	out, own := *n, n.ID.Name
	out.ID, out.Span = ir.Ident{Name: own + " (" + strconv.Itoa(times) + ")", Span: n.ID.Span}, source.Span{} // comments are those of the first one
	if slices.ContainsFunc(g.tree.Nodes, func(m *yamlgraph.Node) bool { return m.ID.Name == out.ID.Name }) {
		return nil
	}
	if name := out.ID.Name; g.IDs[name] == "" { // else an earlier attempt has named it
		g.IDs[name] = g.FreeID(convert.NativeID(own + "_" + strconv.Itoa(times)))
	}
	g.twins[out.ID.Name] = own
	return &out
}

// title is the name of a node in the file.
func (g *graph) title(n *yamlgraph.Node) string {
	if own := g.twins[n.ID.Name]; own != "" {
		return own
	}
	return n.ID.Name
}

// own is the name of a node in the file, at its place.
func (g *graph) own(n *yamlgraph.Node) ir.Ident { return ir.Ident{Name: g.title(n), Span: n.ID.Span} }

// beside reports whether two nodes run in one step: neither sees what the other writes.
func (g *graph) beside(n, m *yamlgraph.Node) bool {
	return n != m && n != nil && g.waves[n] > 0 && g.waves[n] == g.waves[m]
}

// together lets the nodes of a step write when all of them have ended, where one reads what another writes.
func (g *graph) together() {
	for i, n := range g.tree.Nodes {
		last := i
		var late bool
		for j, m := range g.tree.Nodes {
			if g.beside(n, m) && j > i {
				last = j
				late = late || slices.ContainsFunc(g.writes[n], func(field string) bool { return g.touches(m, field) })
			}
		}
		if !late {
			continue
		}
		p := g.part(n)
		both := slices.ContainsFunc(g.writes[n], func(field string) bool {
			return slices.ContainsFunc(g.tree.Nodes, func(m *yamlgraph.Node) bool { return g.beside(n, m) && slices.Contains(g.writes[m], field) })
		})
		if both || len(p.ways) > 0 || len(p.after) > 0 || len(p.next) > 0 || len(g.part(g.tree.Nodes[last]).ways) > 0 {
			g.Refuse(n.ID.Span, "add an edge between them", "%s runs beside a node that uses what it writes, and more comes of it than one value", n.ID.Name)
			continue
		}
		end := g.part(g.tree.Nodes[last])
		end.after = append(end.after, &ir.Node{ID: convert.Name(g.fresh(g.IDs[n.ID.Name] + "_written")), Verb: &ir.Let{}, Set: p.main.Set})
		p.main.Set = nil
	}
}
