package dialect

import (
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// Edges reads a list of edges with `from`, `to` and `when`; names are those of all nodes. An edge of another node is reported
// and left out.
func (r *Reader) Edges(n *yamlnode.Node, shape *Shape, names []string, when func(*yamlnode.Node) *Predicate) []*Route {
	if n == nil {
		return nil
	}
	if !r.IsList(n, "`edges`") {
		return nil
	}
	nodes := map[string]bool{}
	for _, name := range names {
		nodes[name] = true
	}
	var routes []*Route
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
			if !nodes[id.Name] {
				known = false
				r.UnknownNode(id, names)
			}
		}
		route := &Route{From: from, To: to, Span: it.Span, When: when(m.Get("when"))}
		if known {
			routes = append(routes, route)
		}
	}
	return routes
}
