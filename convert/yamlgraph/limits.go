package yamlgraph

import (
	"slices"
	"strconv"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/yamlgraph"
)

// A counter counts the runs of a node with a limit that is not the first in its loop.
type counter struct {
	limit int
	field string   // of the state, with the number of runs
	spent string   // the node to which the run goes when the limit is reached
	to    ir.Ident // where it goes on from there; an empty name is the end
}

// counted notes a node whose runs are counted.
func (g *graph) counted(n *yamlgraph.Node, limit int) {
	if slices.ContainsFunc(n.Token.Exits, func(x *yamlgraph.Exit) bool { return x.When == nil && !x.Spent }) {
		g.Refuse(n.ID.Span, "give its edges conditions, or let the edge back lead to it", "%s has a round limit, after which the run continues with its next node", n.ID.Name)
	}
	g.counts[n] = &counter{limit: limit, to: *g.exhausted(n)}
}

// counting declares the counters and what they do before their nodes.
func (g *graph) counting() {
	for _, n := range g.tree.Nodes {
		c := g.counts[n]
		if c == nil {
			continue
		}
		id := g.IDs[n.ID.Name]
		c.field = convert.Free(id+"_runs", func(name string) bool { return g.shapes[name] != nil })
		g.Out.State = append(g.Out.State, &ir.State{Name: convert.Name(c.field), Type: schema.IntType, Init: &schema.Default{JSON: "0"}})
		look := &ir.Node{ID: convert.Name(g.fresh(id + "_left")), Verb: &ir.Let{Fields: []*ir.Entry{convert.Pair("any", convert.Ref("state."+c.field+" < "+strconv.Itoa(c.limit)))}}}
		look.Set = []*ir.Set{{Field: convert.Name(c.field), Value: convert.Ref("state." + c.field + " + 1")}}
		spent := &ir.Node{ID: convert.Name(g.fresh(id + "_spent")), Verb: &ir.Let{}}
		c.spent = spent.ID.Name
		p := g.part(n)
		p.before = append(p.before, step{Node: look, ok: look.ID.Name + ".any", other: c.spent})
		p.more = append(p.more, spent)
	}
}
