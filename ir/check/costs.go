package check

import (
	"fmt"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/runtime/llm/catalog"
)

// costs warns about models whose price nobody knows where that matters: under a cap of dollars, which cannot hold for
// them, and where nothing else bounds what they take. A model that is asked without a key costs nothing that could be
// counted. Calls need no such pass: what repeats them has a bound, or says `unbounded`.
func (p *Program) costs(sink *diag.Sink) {
	w := &costWalk{sink: sink, seen: map[costVisit]bool{}, told: map[source.Span]bool{}}
	w.walk(costVisit{p: p})
}

type costWalk struct {
	sink *diag.Sink
	seen map[costVisit]bool
	told map[source.Span]bool
}

// A costVisit is a workflow with the caps that hold where it runs.
type costVisit struct {
	p       *Program
	dollars *ir.Policy // that caps dollars; nil: none
	tokens  bool
}

// under adds what a policy caps.
func (v costVisit) under(p *ir.Policy) costVisit {
	if p != nil && p.MaxCostUSD != "" {
		v.dollars = p
	}
	v.tokens = v.tokens || p != nil && p.MaxTokens != nil
	return v
}

func (w *costWalk) walk(v costVisit) {
	if v = v.under(v.p.WF.Policy); w.seen[v] {
		return
	}
	w.seen[v] = true
	for _, s := range v.p.Body.All() {
		if s.Flow != nil {
			w.walk(costVisit{s.Flow, v.dollars, v.tokens})
		}
		here := v
		if s.Agent != nil {
			here = v.under(s.Agent.Policy)
		}
		for _, m := range s.Models() {
			if m.New == nil { // else the environment decides, and with it what it costs
				w.model(m, here)
			}
		}
	}
}

func (w *costWalk) model(m *ir.Model, v costVisit) {
	if w.told[m.Model.Span] || Priced(m) || ModelKey(v.p.WF, m) == "" {
		return
	}
	d := diag.Diagnostic{Severity: diag.Warning, Code: diag.CostUnknown, Span: m.Model.Span}
	price := "set its `price` under `models`, in dollars per million tokens: `price: {input: \"0.10\", output: \"0.40\"}`"
	if v.p.WF.Public { // has no such key
		price = "name a file with its price with `--prices`: see `flowgen prices`"
	}
	switch {
	case v.dollars != nil:
		d.Message = fmt.Sprintf("`max_cost_usd` cannot be enforced for model %q: its price is unknown", m.Model.Name)
		d.Help, d.Related = price, related(v.dollars.Span, "the cap is in this policy")
	case !v.tokens && m.Params.MaxTokens == nil && !m.Unbounded:
		d.Message = fmt.Sprintf("the cost of model %q is unbounded: its price is unknown and its answers have no token limit", m.Model.Name)
		d.Help = price + ", or bound its answers with `max_tokens`; `max_tokens: unbounded` allows it explicitly"
	default:
		return
	}
	w.told[m.Model.Span] = true
	w.sink.Report(d)
}

// Priced reports whether it is known what a model costs.
func Priced(m *ir.Model) bool {
	_, listed := Listed(m)
	return listed || m.Price != nil
}

// Listed is what a list of prices says of a model: the one that was brought, else that of the release.
func Listed(m *ir.Model) (catalog.Model, bool) {
	l := m.Listed
	if l == nil {
		return catalog.Find(m.Model.Name)
	}
	out := catalog.Model{Price: catalog.Price(l.ModelPrice), Prompt: l.Prompt, Answer: l.Answer}
	if l.Long != nil {
		long := catalog.Price(*l.Long)
		out.Long = &long
	}
	return out, true
}
