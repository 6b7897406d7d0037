package yamlgraph

import (
	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlgraph"
)

// pairs are the fields that a node hands on to the graph that it runs, and those that it takes over.
func (g *graph) pairs(n *yamlgraph.Node, child *ir.Workflow) (in, out []yamlgraph.FieldPair) {
	sub := n.Token.Sub
	in, out = sub.In, sub.Out
	for _, s := range g.tree.State {
		if child.StateField(s.Name.Name) == nil || g.isAuto(s.Name.Name) {
			continue
		}
		same := yamlgraph.FieldPair{Parent: s.Name, Child: ir.Ident{Name: s.Name.Name}}
		same.Ref = &dialect.Reference{Root: "state", Path: []string{s.Name.Name}, Text: source.Text{Value: s.Name.Name, Span: n.ID.Span}}
		if sub.AllIn {
			in = append(in, same)
		}
		if sub.AllOut {
			out = append(out, same)
		}
	}
	return in, out
}

// child says what a node that runs another graph reads, and what it writes. A field that the other graph leaves without a value is
// emptied.
func (g *graph) child(n *yamlgraph.Node, v *ir.Flow) {
	if n.Token.Sub.AllOut && g.tree.StateField("errors") != nil && v.Flow.StateField("errors") != nil {
		g.Refuse(n.ID.Span, "name the fields in `output_mapping`", "%s takes over all fields, and the errors of the other graph with them", n.ID.Name)
	}
	g.FlowFile(v.Flow)
	in, out := g.pairs(n, v.Flow)
	for _, pair := range in {
		if g.nowhere(pair.Ref) {
			continue
		}
		if s := g.shapes[pair.Ref.Path[0]]; n.Token.Sub.AllIn || len(pair.Ref.Path) == 1 && s != nil && v.Flow.StateField(pair.Child.Name) == nil {
			g.reads[n] = append(g.reads[n], pair.Ref.Path[0])
			continue
		}
		g.use(pair.Ref, nil)
	}
	for _, pair := range out {
		if pair.Kept != "" {
			g.Refuse(pair.Parent.Span, "map the field in `output_mapping`, or let no node after the interrupt write it", "%s takes the value that %s had at the interrupt", n.ID.Name, pair.Child.Name)
		}
		s := v.Flow.StateField(pair.Child.Name)
		if len(g.held(pair.Parent.Name)) == 0 {
			continue
		}
		if s != nil && s.Merge.Kind == ir.MergeAppend || g.tree.StateField(pair.Parent.Name).Merge.Kind == ir.MergeAppend {
			g.Refuse(n.ID.Span, "write to a field of its own in each graph", "%s takes over the list %s, to which nodes add", n.ID.Name, pair.Parent.Name)
		}
		g.writes[n] = append(g.writes[n], pair.Parent.Name)
		g.nulls(n, pair.Parent.Name)
		if sh := g.shapes[pair.Parent.Name]; s != nil && !schema.Equal(sh.declared, fieldOf(g.Made(v.Flow), pair.Child.Name)) {
			sh.declared = schema.AnyType // which the engine does not mind
		}
	}
}

// flowNode is a node that runs another graph.
func (g *graph) flowNode(n *yamlgraph.Node, v *ir.Flow, out *ir.Node) {
	in, taken := g.pairs(n, v.Flow)
	with := &ir.With{}
	for _, f := range v.Flow.Input {
		for _, pair := range in {
			if pair.Child.Name == f.Name && !g.nowhere(pair.Ref) {
				with.Entries = append(with.Entries, convert.Pair(f.Name, convert.Ref(g.path(pair.Ref, ""))))
				break
			}
		}
	}
	out.Verb = &ir.Flow{Path: g.FlowFile(v.Flow), With: with}
	for _, pair := range taken {
		if len(g.held(pair.Parent.Name)) == 0 {
			continue
		}
		value := ir.Value(&ir.Scalar{Tag: "!!null"})
		if v.Flow.StateField(pair.Child.Name) != nil {
			value = convert.Ref(out.ID.Name + "." + pair.Child.Name)
		}
		out.Set = append(out.Set, &ir.Set{Field: convert.Name(pair.Parent.Name), Value: value})
	}
}

// fieldOf is the type of the values of a field of a native workflow.
func fieldOf(wf *ir.Workflow, name string) *schema.Type {
	t := schema.AnyType
	if wf == nil {
		return t
	}
	for _, f := range wf.Input {
		if f.Name == name {
			t = f.Type
		}
	}
	if s := wf.StateField(name); s != nil {
		t = s.Type
	}
	return t.Present()
}
