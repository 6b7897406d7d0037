package openexpertise

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/openexpertise"
)

// edges are those of the experience, one for one, after those that the engine's order makes. Nodes without any are on no edge,
// unless all of them do.
func (x *experience) edges() {
	var extra, ways, ends []*ir.Edge
	inside := map[string][]*ir.Edge{} // the ways through nodes that become several, by the first of these
	on := map[string]bool{}
	graph := slices.DeleteFunc(slices.Clone(x.tree.Nodes), func(n *openexpertise.Node) bool { return x.in[n] != nil })
	for _, n := range graph {
		var seen []string
		id := x.IDs[n.ID.Name]
		to := x.begins(x.units[n])
		for _, r := range n.Routes {
			from := x.IDs[r.From.Name]
			on[from], on[to] = true, true
			switch {
			case r.When != nil:
				test, typed := x.test(r.When, x.nodes[r.From.Name])
				if !typed {
					x.Refuse(r.When.Span, "compare fields with values of their declared type", "this condition has another meaning, or none, where values have types")
				}
				if many(x.nodes[r.From.Name]) {
					if strings.Contains(test, "||") {
						test = "(" + test + ")"
					}
					test = x.did(x.nodes[r.From.Name], true) + " && " + test
				}
				ways = append(ways, convert.When(from, to, test, r.Span))
			case many(x.nodes[r.From.Name]):
				ways = append(ways, convert.When(from, to, x.did(x.nodes[r.From.Name], true), r.Span))
			case !slices.Contains(seen, from):
				seen = append(seen, from)
				ways = append(ways, convert.Edge(from, r.Span, to))
			}
		}
		if first := x.extra[n]; first != nil {
			on[x.IDs[first.ID.Name]], on[to] = true, true
			extra = append(extra, convert.Edge(x.IDs[first.ID.Name], source.Span{}, to))
		}
		if to != id {
			first := to
			on[to], on[id] = true, true
			for _, b := range append(x.units[n].before[1:len(x.units[n].before):len(x.units[n].before)], &ir.Node{ID: convert.Name(id)}) {
				inside[first] = append(inside[first], convert.Edge(to, source.Span{}, b.ID.Name))
				to = b.ID.Name
			}
		}
	}
	slices.SortStableFunc(ways, func(a, b *ir.Edge) int { return a.Span.Lo - b.Span.Lo })
	for _, n := range graph {
		if id := x.IDs[n.ID.Name]; !on[id] && len(graph) > 1 {
			ends = append(ends, convert.Edge(id, source.Span{}, "end"))
		}
	}
	all := slices.Concat(extra, ways)
	for i, e := range slices.Backward(all) {
		if more := inside[e.To[0].Name]; more != nil {
			all = slices.Insert(all, i+1, more...)
			delete(inside, e.To[0].Name)
		}
	}
	for _, n := range graph {
		all = append(all, inside[x.begins(x.units[n])]...)
	}
	x.Out.Body.Edges = append(all, ends...)
}

// many reports whether a node runs for each item of a list and goes on when one fails: what comes after asks for all of them.
func many(n *openexpertise.Node) bool { return n.Each != nil && n.Skips }

// unclear refuses what depends on an order that neither edges nor the engine tell.
func (x *experience) unclear() {
	if x.line != nil {
		return
	}
	for _, n := range x.tree.Nodes {
		for _, w := range x.tree.Nodes {
			if ref := x.conditionMeets(w, n); ref != nil {
				x.Refuse(ref.Text.Span, "add an edge that orders them", "the node %s writes state.%s at a time that no edge tells, before or after this condition", w.ID.Name, ref.Path[0])
			}
		}
	}
	if s := x.appends(); s != nil {
		x.Refuse(s.Name.Span, "add edges between the nodes that write it", "several nodes add to state.%s in an order that no edges tell", s.Name.Name)
	}
}

// test is a condition on the state in the native language, where one of its edges can say it; typed is false where none can.
func (x *experience) test(p *dialect.Predicate, from *openexpertise.Node) (text string, typed bool) {
	typed = true
	c := convert.Condition{Converter: x.Converter, Else: func() { typed = false }}
	c.Place = func(r *dialect.Reference) (string, *schema.Type) {
		s := x.fields[strings.Join(r.Path, ".")]
		if r.Root != "state" || s == nil || !x.written(r.Path[0]) || x.optional(s) || !slices.Contains(x.units[from].writes, r.Path[0]) && !x.certain(r.Path[0], from) {
			return "", nil
		}
		return "state." + r.Path[0], s.Type
	}
	return c.Text(p), typed
}

// sideBySide tells where nodes that the engine runs one after the other run at the same time.
func (x *experience) sideBySide() {
	if x.tree.Concurrency > 1 || x.line != nil {
		return
	}
	nodes := x.tree.Nodes
	for i, a := range nodes {
		for _, b := range nodes[i+1:] {
			if !x.before(a, b) && !x.before(b, a) {
				x.Note(b.ID.Span, "add an edge between them if their order matters", "the native workflow runs %s and %s at the same time: no edge orders them", x.IDs[a.ID.Name], x.IDs[b.ID.Name])
				return
			}
		}
	}
}
