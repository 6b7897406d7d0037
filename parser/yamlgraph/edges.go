package yamlgraph

import (
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// edges gives nodes their exits.
func (p *parser) edges(m dialect.Mapping) {
	n := m.Get("edges")
	if n == nil {
		return
	}
	if !p.IsList(n, "`edges`") {
		return
	}
	entered := false
	for _, it := range n.Items {
		if e, ok := p.Mapping(it, edgeShape); ok {
			entered = entered || is(e.Get("from"), start)
			p.edge(e)
		}
	}
	if !entered {
		p.entries(m)
	}
}

// entries has a graph without an edge from START begin as that of the page does: at the nodes that edges leave and none
// leads to.
func (p *parser) entries(m dialect.Mapping) {
	entered := map[string]bool{}
	for _, n := range p.tree.Nodes {
		for _, e := range n.Token.Exits {
			entered[e.To.Name] = true
		}
	}
	var first []ir.Ident
	for _, n := range p.tree.Nodes {
		if len(n.Token.Exits) > 0 && !entered[n.ID.Name] {
			first = append(first, n.ID)
		}
	}
	if p.opts.Upstream || len(first) == 0 {
		p.Error(diag.BadEdge, m.Key("edges"), "add `{from: START, to: ...}`", "no edge begins at START, so that nothing runs")
		return
	}
	p.Differs(m.Key("edges"), "add `{from: START, to: "+first[0].Name+"}`", "no edge begins at START: the graph begins at node %q, and the engine refuses it", first[0].Name)
	p.tree.Start = first
}

func (p *parser) edge(m dialect.Mapping) {
	from, ok := p.Text(m.Get("from"), "`from`")
	if !ok {
		return
	}
	targets := p.targets(m.Get("to"))
	if len(targets) == 0 {
		return
	}
	t := m.Get("type")
	routed := t != nil && p.Word(t, "the type of an edge", "conditional", "simple") == "conditional"
	switch {
	case from.Name == end:
		p.Error(diag.BadEdge, from.Span, "", "no edge begins at END")
		return
	case from.Name == start:
		if m.Get("condition") != nil {
			p.Warn(diag.IgnoredKey, m.Key("condition"), "remove it", "the engine does not read the condition of an edge from START")
		}
		p.tree.Start = append(p.tree.Start, targets...)
		return
	}
	node := p.nodes[from.Name]
	if node == nil {
		p.unknownNode(from)
		return
	}
	var when *dialect.Predicate
	if c := m.Get("condition"); c != nil {
		if when = p.condition(c); when == nil {
			return
		}
		if p.ofMap(node) || p.ofMap(p.nodes[targets[0].Name]) {
			if p.opts.Upstream {
				p.Warn(diag.IgnoredKey, m.Key("condition"), "put a passthrough node between", "the engine does not read the condition of an edge that enters or leaves a map node")
				when = nil
			} else {
				p.Differs(m.Key("condition"), "put a passthrough node between", "the condition is looked at; YAMLGraph 0.4 does not read that of an edge that enters or leaves a map node")
			}
		}
	}
	routed = routed && when == nil
	if when != nil && len(targets) > 1 {
		p.Error(diag.WrongShape, m.Key("to"), "write an edge for each target", "an edge with a condition leads to one node")
		return
	}
	for _, to := range targets {
		if to.Name == end {
			to.Name = ""
		}
		node.Token.Exits = append(node.Token.Exits, &Exit{To: to, When: when, Routed: routed, Span: m.Node.Span})
	}
}

func (p *parser) ofMap(n *Node) bool {
	if n == nil {
		return false
	}
	_, yes := n.Verb.(*Map)
	return yes
}

// targets reads the nodes that an edge leads to.
func (p *parser) targets(n *yamlnode.Node) []ir.Ident {
	var all []ir.Ident
	switch {
	case n == nil:
		return nil
	case n.Kind == yamlnode.Sequence:
		all = p.Idents(n, "`to`")
	default:
		if id, ok := p.Text(n, "`to`"); ok {
			all = []ir.Ident{id}
		}
	}
	var out []ir.Ident
	for _, id := range all {
		switch {
		case id.Name == start:
			p.Error(diag.BadEdge, id.Span, "", "no edge leads to START")
		case id.Name != end && p.nodes[id.Name] == nil:
			p.unknownNode(id)
		default:
			out = append(out, id)
		}
	}
	return out
}

func (p *parser) unknownNode(id ir.Ident) {
	if slices.Contains(p.dropped, id.Name) {
		return
	}
	p.UnknownNode(id, append([]string{end}, p.names...))
}
