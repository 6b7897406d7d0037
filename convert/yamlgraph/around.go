package yamlgraph

import (
	"slices"
	"strconv"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlgraph"
)

// enginePath is the package of the functions that converted graphs call.
const enginePath = "github.com/flowgen-dev/flowgen/runtime/yamlgraph."

// An around is what a node of the graph becomes: a native node, and those before and after it that do what its verb cannot.
type around struct {
	main   *ir.Node
	before []step     // what it needs, in order
	after  []*ir.Node // when it did well
	more   []*ir.Node // to which errors and conditions lead
	ways   []way      // from where the run goes on, besides the last of after
	next   []*ir.Node // however it ended: what conditions behind it look at
	edges  []*ir.Edge // among more
	last   string     // of the nodes that try the same, whose error is kept
}

// A step is a node before another one.
type step struct {
	*ir.Node
	ok    string // what has to hold for the next; empty: nothing
	other string // where it leads else; empty: a way says so
}

// A way is a node from which the run goes on.
type way struct{ id, when string }

// part is what a node becomes.
func (g *graph) part(n *yamlgraph.Node) *around {
	if g.parts[n] == nil {
		g.parts[n] = &around{}
	}
	return g.parts[n]
}

// call is a node that calls a function of the engine.
func (g *graph) call(id, function string, with ...*ir.Entry) *ir.Node {
	return &ir.Node{ID: convert.Name(g.fresh(id)), Verb: convert.Call(enginePath+function, with...)}
}

// fresh is an id that no other node has.
func (g *graph) fresh(name string) string {
	name = convert.NativeID(name)
	id := name
	for i := 2; g.taken[id] || g.free(id) != id; i++ {
		id = name + "_" + strconv.Itoa(i)
	}
	g.taken[id] = true
	return id
}

// entry is the native node to which edges to a node lead.
func (g *graph) entry(id ir.Ident) string {
	n := g.nodes[id.Name]
	if n == nil {
		return "end"
	}
	if p := g.part(n); len(p.before) > 0 {
		return p.before[0].ID.Name
	}
	return g.IDs[n.ID.Name]
}

// leaving are the native nodes from which the run goes on after a node, the one when all went well first.
func (g *graph) leaving(n *yamlgraph.Node) []way {
	p := g.part(n)
	if k := len(p.next); k > 0 {
		return []way{{id: p.next[k-1].ID.Name}}
	}
	return g.ended(n)
}

// ended are those before what conditions look at.
func (g *graph) ended(n *yamlgraph.Node) []way {
	p := g.part(n)
	last := p.main.ID.Name
	if k := len(p.after); k > 0 {
		last = p.after[k-1].ID.Name
	}
	return append([]way{{id: last}}, p.ways...)
}

// inside are the edges among the native nodes that a node becomes.
func (g *graph) inside(n *yamlgraph.Node) (out []*ir.Edge) {
	p := g.part(n)
	add := func(from, to, when string) {
		e := convert.Edge(from, source.Span{}, to)
		if when != "" {
			e.When = convert.Ref(when)
		}
		out = append(out, e)
	}
	for i, s := range p.before {
		to := p.main.ID.Name
		if i+1 < len(p.before) {
			to = p.before[i+1].ID.Name
		}
		add(s.ID.Name, to, s.ok)
		if s.other != "" {
			add(s.ID.Name, s.other, "!("+s.ok+")")
		}
	}
	last := p.main.ID.Name
	for _, a := range p.after {
		add(last, a.ID.Name, "")
		last = a.ID.Name
	}
	out = append(out, p.edges...)
	if len(p.next) > 0 {
		for _, w := range g.ended(n) {
			add(w.id, p.next[0].ID.Name, w.when)
		}
		for i, m := range p.next[1:] {
			add(p.next[i].ID.Name, m.ID.Name, "")
		}
	}
	return out
}

// nodesOf are the native nodes that a node becomes, in the order of the file.
func (g *graph) nodesOf(n *yamlgraph.Node) (out []*ir.Node) {
	p := g.part(n)
	for _, s := range p.before {
		out = append(out, s.Node)
	}
	return slices.Concat(out, []*ir.Node{p.main}, p.after, p.more, p.next)
}

// joins gives a node one native node from which the run goes on.
func (g *graph) joins(n *yamlgraph.Node) {
	if p := g.part(n); len(p.next) == 0 && len(p.ways) > 0 {
		p.next = append(p.next, &ir.Node{ID: convert.Name(g.fresh(g.IDs[n.ID.Name] + "_ended")), Verb: &ir.Let{}})
	}
}
