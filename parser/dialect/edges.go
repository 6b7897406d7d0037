package dialect

import (
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// Edges reads a list of edges with `from`, `to` and `when`, and gives each of nodes, which are those of wf by their names, the
// routes that lead to it. An edge of another node is reported.
func (r *Reader) Edges(n *yamlnode.Node, shape *Shape, wf *ir.Workflow, nodes map[string]*ir.Node, when func(*yamlnode.Node) *ir.Predicate) {
	if n == nil {
		return
	}
	if n.Kind != yamlnode.Sequence {
		r.WrongShape(n, "`edges` is a list")
		return
	}
	for _, it := range n.Items {
		m, ok := r.Mapping(it, shape)
		if !ok {
			continue
		}
		from, ok1 := r.Text(m.Get("from"), "`from`")
		to, ok2 := r.Text(m.Get("to"), "`to`")
		if !ok1 || !ok2 {
			continue
		}
		known := true
		for _, id := range []ir.Ident{from, to} {
			if nodes[id.Name] == nil {
				known = false
				r.UnknownNode(id, NodeNames(wf))
			}
		}
		route := &ir.Route{From: from, To: to, Span: it.Span, When: when(m.Get("when"))}
		if known {
			d := nodes[to.Name].Dynamic
			d.Routes = append(d.Routes, route)
		}
	}
}

// NodeNames are the names of a workflow's nodes, in the order of the file.
func NodeNames(wf *ir.Workflow) []string {
	var names []string
	for _, n := range wf.Body.Nodes {
		names = append(names, n.ID.Name)
	}
	return names
}
