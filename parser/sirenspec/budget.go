package sirenspec

import (
	"math"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

var budgetShape = &dialect.Shape{What: "a budget", Open: true, Keys: []dialect.Key{
	{Name: "max_tokens", Doc: "the most tokens of a run"},
	{Name: "max_cost_usd", Doc: "the most dollars of a run"},
	{Name: "max_duration_s", Doc: "the most seconds of a run"},
	{Name: "on_exceeded", Doc: "abort, warn or skip_remaining"},
}}

// budget reads the bounds of a run.
func (p *parser) budget(n *yamlnode.Node) {
	m, ok := p.Mapping(n, budgetShape)
	if !ok {
		return
	}
	b := &Budget{Exceeded: "abort", Declared: true, Span: n.Span}
	p.ceilings(m, b, "max_cost_usd", "a budget")
	if d := m.Get("max_duration_s"); d != nil {
		f, ok := p.number(d)
		if !ok || f <= 0 || f > 1e9 {
			p.Error(diag.BadLiteral, dialect.Head(d), "", "`max_duration_s` is a number of seconds above 0")
		}
		b.Seconds = f
	}
	if e := m.Get("on_exceeded"); e != nil {
		b.Exceeded = p.Word(e, "`on_exceeded`", "abort", "warn", "skip_remaining")
	}
	p.tree.Budgets = append(p.tree.Budgets, b) // after those of guardrails, as the engine looks at them
}

// ceilings reads the most tokens and the most dollars. At least one bound has to be there.
func (p *parser) ceilings(m dialect.Mapping, b *Budget, usd, what string) {
	b.Tokens = p.Count(m.Get("max_tokens"), "`max_tokens`", 1, 1<<50, 0)
	if u := m.Get(usd); u != nil {
		f, ok := p.number(u)
		if !ok || f <= 0 || f > 1e9 {
			p.Error(diag.BadLiteral, dialect.Head(u), "", "`%s` is a number of dollars above 0", usd)
		}
		b.USD = strings.TrimRight(strings.TrimRight(strconv.FormatFloat(math.Round(f*1e9)/1e9, 'f', 9, 64), "0"), ".")
	}
	if m.Get("max_tokens") == nil && m.Get(usd) == nil && m.Get("max_duration_s") == nil {
		p.Error(diag.MissingKey, dialect.Head(m.Node), "add `max_tokens` or `"+usd+"`", "%s has no bound", what)
	}
}

// reads declares working._budget, which the run itself writes, when something reads it.
func (p *parser) reads(root, name string, at source.Span) {
	if root == "working" && name == "_budget" {
		p.place("working", ir.Ident{Name: name, Span: at})
	}
}
