package yamlgraph

import (
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// search reads a tool that searches the web, which agents call.
func (p *parser) search(m dialect.Mapping, key ir.Ident) {
	if n := m.Get("provider"); n != nil {
		p.Word(n, "the provider of a websearch tool", "duckduckgo")
	}
	t := &ir.Tool{Name: ir.Ident{Name: p.wf.Name.Name + "." + key.Name, Span: key.Span}, Version: "1", Key: key, Effects: ir.EffectsReads, EffectsSpan: key.Span,
		In: schema.AnyType, Out: schema.AnyType, OutSpan: key.Span,
		Description: "Search the web for current information on any topic", File: p.File, Span: key.Span}
	t.Binding = made(&ir.Reach{Hosts: []string{"html.duckduckgo.com"}}, fnSearch, expr.Const(t.FullName()), expr.Const(p.Count(m.Get("max_results"), "`max_results`", 1, 100, 5)))
	t.Def = &ir.Definition{Name: key.Name, Span: key.Span, In: &schema.Type{Kind: schema.Struct, Fields: []*schema.Field{{Name: "query", Type: schema.StringType, Span: key.Span}}}}
	if d, ok := p.Text(m.Get("description"), "the description"); ok {
		t.Description = d.Name
	}
	p.tools[key.Name] = t
	p.wf.Tools = append(p.wf.Tools, t)
}
