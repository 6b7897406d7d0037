package yamlgraph

import (
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// counted are the types of nodes, besides those that ask a model, whose runs newer engines count.
var counted = []string{"python", "tool", "passthrough"}

// The keys that nodes of all types have.
var everyKeys = []dialect.Key{
	{Name: "type", Doc: "what it does"}, {Name: "state_key", Doc: "the field of its result"}, {Name: "on_error", Doc: "what becomes of an error"}, {Name: "description", Doc: "what it is for"},
	{Name: "guards", Doc: "conditions before and after it"}, {Name: "timeout", Doc: "seconds that it has"}, {Name: "cache", Doc: "whether its result is kept"},
}

// everyNode reads the keys that nodes of all types have.
func (p *parser) everyNode(m dialect.Mapping, kind string, out *Node) {
	t := out.Token
	p.guards(m, kind, t)
	if n := m.Get("timeout"); n != nil && kind != "map" && kind != "race" {
		out.Timeout = p.seconds(n, "the timeout of a node")
	}
	if m.Get("cache") != nil {
		p.Differs(m.Key("cache"), "", "nothing is kept: the engine's command line has no cache either")
	}
	if n := m.Get("loop_limit"); n != nil && slices.Contains(counted, kind) {
		t.Limit = int(p.Count(n, "`loop_limit`", 1, 1_000_000, 0))
	}
}

// limits reads how often nodes run. The engine of the page counts the runs of nodes that ask a model only.
func (p *parser) limits(m dialect.Mapping) {
	n := m.Get("loop_limits")
	switch {
	case n == nil:
		return
	case !p.IsMapping(n, "`loop_limits`"):
		return
	}
	for _, e := range n.Entries {
		id := ir.Ident{Name: e.Key.Text.Value, Span: e.Key.Span}
		limit := int(p.Count(e.Value, "a limit", 1, 1_000_000, 0))
		node := p.nodes[id.Name]
		switch {
		case node == nil:
			p.unknownNode(id)
		case slices.Contains([]string{"llm", "router", "race"}, p.types[id.Name]) && node.Token.Ask != nil:
			node.Token.Ask.Limit = limit // this wins over the node's own
		case !slices.Contains(counted, p.types[id.Name]):
			p.Warn(diag.IgnoredKey, id.Span, "end the cycle with a condition", "the engine does not count the runs of %s nodes: this limit has no effect", p.types[id.Name])
		case p.opts.Upstream:
			p.Warn(diag.IgnoredKey, id.Span, "end the cycle with a condition", "YAMLGraph 0.4 counts the runs of nodes that ask a model only: this limit has no effect")
		default:
			node.Token.Limit = limit
			p.Differs(id.Span, "", "the runs of this node are counted, as in YAMLGraph 0.6; 0.4 counts those of nodes that ask a model only")
		}
	}
}

// loopExits reads where conditions lead when a node has reached its limit.
func (p *parser) loopExits(n *yamlnode.Node) {
	switch {
	case n == nil:
		return
	case !p.IsMapping(n, "`loop_exits`"):
		return
	}
	for _, e := range n.Entries {
		id := ir.Ident{Name: e.Key.Text.Value, Span: e.Key.Span}
		to, ok := p.Text(e.Value, "a node in `loop_exits`")
		node := p.nodes[id.Name]
		switch {
		case node == nil:
			p.unknownNode(id)
			continue
		case !ok:
			continue
		case to.Name == end:
			to.Name = ""
		case p.nodes[to.Name] == nil:
			p.unknownNode(to)
			continue
		}
		t := node.Token
		if !slices.ContainsFunc(t.Exits, func(x *Exit) bool { return x.When != nil }) {
			p.Warn(diag.IgnoredKey, id.Span, "give an edge from it a condition", "no edge with a condition leaves %q, so that this has no effect", id.Name)
			continue
		}
		if t.Limit == 0 && (t.Ask == nil || t.Ask.Limit == 0) {
			p.Warn(diag.IgnoredKey, id.Span, "add it to `loop_limits`", "%q has no limit itself: this is taken when another node has reached its own", id.Name)
		}
		t.Exits = append(t.Exits, &Exit{To: to, Spent: true, Span: e.Key.Span})
	}
}

// seen reads what a function sees besides the state.
func (p *parser) seen(m dialect.Mapping, t *Token) {
	n := m.Get("variables")
	switch {
	case n == nil:
		return
	case !p.IsMapping(n, "`variables`"):
		return
	case p.opts.Upstream:
		p.Warn(diag.IgnoredKey, m.Key("variables"), "write them to the state in a passthrough node", "YAMLGraph 0.4 does not read the variables of a python node")
		return
	}
	p.Differs(m.Key("variables"), "", "the function sees these together with the fields of the state, as in YAMLGraph 0.6; 0.4 does not read them")
	for _, e := range n.Entries {
		t.Values = append(t.Values, &ir.Entry{Key: ir.Ident{Name: e.Key.Text.Value, Span: e.Key.Span}, Value: p.value(e.Value)})
	}
}
