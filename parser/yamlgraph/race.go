package yamlgraph

import (
	"time"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

var candidateShape = &dialect.Shape{What: "a candidate", Open: true, Keys: []dialect.Key{{Name: "provider", Doc: "who is asked"}, {Name: "model", Doc: "the model"}}}

// race reads who is asked until one answers.
func (p *parser) race(x *asking, a *TokenAsk) {
	n := x.m.Get("candidates")
	if !p.IsList(n, "`candidates`") {
		return
	}
	if len(n.Items) < 2 && x.kind == "race" {
		p.Error(diag.WrongShape, x.m.Key("candidates"), "write an llm node, or add another one", "a race has at least two candidates")
		return
	}
	if x.m.Get("provider") != nil {
		p.Error(diag.UnknownKey, x.m.Key("provider"), "remove it", "`candidates` say who is asked")
	}
	switch {
	case x.kind == "router" && a.Fail == AskSkip:
		p.Error(diag.UnknownWord, x.m.Key("on_error"), "write `on_error: fallback`, which takes `default_route`", "a router with candidates always leads somewhere, and has no `on_error: skip`")
	case x.kind == "race" && (a.Fail == AskRetry || a.Fail == AskFallback):
		p.Warn(diag.IgnoredKey, x.m.Key("on_error"), "write `skip` or `fail`", "a race knows `skip` and `fail`: an error ends the run")
	}
	if x.kind == "race" && a.Fail != AskSkip {
		a.Fail = AskRaise
	}
	p.Differs(x.m.Key("candidates"), "", "the candidates are asked one after the other until one answers, so that a run can be repeated; the engine asks all at once and takes the first answer")
	for _, it := range n.Items {
		m, ok := p.Mapping(it, candidateShape)
		if !ok {
			continue
		}
		k := TokenCandidate{}
		who := ir.Ident{Span: dialect.Head(it)}
		if v := m.Get("provider"); v != nil {
			if who, ok = p.provider(v); !ok {
				continue
			}
			k.Provider = who.Name
		}
		name, _ := p.Text(m.Get("model"), "`model`")
		if k.Model = name.Name; k.Model == "" && k.Provider == "" {
			p.Error(diag.MissingKey, dialect.Head(it), "add `provider` or `model`", "a candidate says who is asked")
			continue
		}
		k.Use = p.modelOf(who, name, p.setting(x.m, "temperature"))
		a.Candidates = append(a.Candidates, k)
	}
	if len(a.Candidates) == 0 {
		return
	}
	a.Model = a.Candidates[0].Use
	limit := &ir.Duration{Value: 30 * time.Second, Span: n.Span}
	if t := x.m.Get("timeout"); t != nil {
		limit = p.seconds(t, "the timeout of a race")
	}
	if x.kind == "race" {
		x.node.Timeout = limit
	}
}
