package migrate

import "github.com/flowgen-dev/flowgen/parser/yamlnode"

// A body has nodes and edges: the workflow, or the body of a map or a loop.
type body struct {
	nodes *yamlnode.Node
	edges *yamlnode.Node
	skips bool // nodes whose error nothing handles are skipped
}

// bodies visits every body, from the outside in.
func (x *finder) bodies(visit func(b body)) {
	skips := skip(x.root.Get("defaults"))
	var in func(m *yamlnode.Node, depth int)
	in = func(m *yamlnode.Node, depth int) {
		b := body{m.Get("nodes"), m.Get("edges"), skips}
		if b.nodes == nil || depth > 100 {
			return
		}
		visit(b)
		for _, e := range b.nodes.Entries {
			for do := e.Value.Get("do"); do != nil; do = do.Get("do") { // a single node can have a body itself
				in(do, depth+1)
			}
		}
	}
	in(x.root, 0)
}

// skip reports whether a node or the defaults skip what has failed.
func skip(n *yamlnode.Node) bool {
	e := n.Get("on_error")
	return e != nil && e.Text.Value == "skip"
}

// nodes visits every node, also those that are the whole of a `do`.
func (x *finder) nodes(visit func(n *yamlnode.Node)) {
	x.bodies(func(b body) {
		for _, e := range b.nodes.Entries {
			for n := e.Value; n != nil; n = n.Get("do") {
				if n.Kind == yamlnode.Mapping && n.Get("nodes") == nil {
					visit(n)
				}
			}
		}
	})
}

// section visits the entries of a mapping at the top of the file.
func (x *finder) section(key string, visit func(name string, n *yamlnode.Node)) {
	m := x.root.Get(key)
	if m == nil {
		return
	}
	for _, e := range m.Entries {
		if e.Value.Kind == yamlnode.Mapping {
			visit(e.Key.Text.Value, e.Value)
		}
	}
}

// items are the scalars of a list, or the one scalar that stands for it.
func items(n *yamlnode.Node) []*yamlnode.Node {
	switch {
	case n == nil:
		return nil
	case n.Kind == yamlnode.Scalar:
		return []*yamlnode.Node{n}
	}
	return n.Items
}
