package yamlgraph

import (
	"fmt"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

var defaultsShape = &dialect.Shape{What: "`defaults`", Open: true, Keys: []dialect.Key{
	{Name: "provider", Doc: "who is asked"},
	{Name: "model", Doc: "the model"},
	{Name: "temperature", Doc: "of answers"},
	{Name: "max_tokens", Doc: "of answers"},
	{Name: "on_error", Doc: "what becomes of an error of an llm node"},
	{Name: "on_overflow", Doc: "error or truncate, for lists that are too long for a map"},
	{Name: "thinking_budget", Doc: "not read"},
	{Name: "prompts_relative", Doc: "whether prompts are below the folder of this file"},
	{Name: "prompts_dir", Doc: "the folder of the prompts"},
}}

// settings reads what holds for all nodes. What is next to `defaults` wins over what is in it.
func (p *parser) settings(m dialect.Mapping) {
	if n := m.Get("defaults"); n != nil {
		if d, ok := p.Mapping(n, defaultsShape); ok {
			p.defaults = d
		}
	}
	either := func(key string) *yamlnode.Node {
		if n := m.Get(key); n != nil || p.defaults.Node == nil {
			return n
		}
		return p.defaults.Get(key)
	}
	p.promptsRelative = p.Flag(either("prompts_relative"), "`prompts_relative`", false)
	if id, ok := p.Text(either("prompts_dir"), "`prompts_dir`"); ok {
		p.promptsDir = id.Name
	}
}

// routes holds the routes of routers to nodes that there are, and to edges that lead there.
func (p *parser) routes() {
	for _, x := range p.asked {
		t := x.node.Token
		if x.kind != "router" {
			continue
		}
		if x.item != "" {
			p.Warn(diag.IgnoredKey, x.m.Key("routes"), "", "a router inside of a map routes nothing")
			continue
		}
		reached := map[string]bool{}
		routed := false
		for _, e := range t.Exits {
			reached[e.To.Name] = true
			routed = routed || e.Routed
		}
		check := func(id *ir.Ident) {
			switch {
			case id.Name == end:
				id.Name = ""
			case id.Name != "" && p.nodes[id.Name] == nil:
				p.unknownNode(*id)
				return
			}
			if routed && !reached[id.Name] && !id.Span.IsZero() {
				p.Warn(diag.IgnoredKey, id.Span, "add it to the edge's `to`", "no edge leads there from %q: the token goes to the first node of the edge", x.node.ID.Name)
			}
		}
		for i := range t.Ask.Routes {
			check(&t.Ask.Routes[i].To)
		}
		if t.Ask.Other.Name != "" {
			check(&t.Ask.Other)
		}
		if !routed && len(t.Exits) > 0 && len(t.Ask.Routes) > 0 {
			p.Warn(diag.IgnoredKey, x.m.Key("routes"), fmt.Sprintf("write an edge `{from: %s, to: [...], type: conditional}`", x.node.ID.Name), "no edge of the type conditional begins at %q, so that its routes have no effect", x.node.ID.Name)
		}
	}
}
