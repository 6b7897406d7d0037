package llm

import (
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/usage"
)

// AskAs is Ask for a result that is not an object of its own: models answer with JSON objects, so the answer is one, and get
// takes the result out of it.
func AskAs[Answer, Out any](r *flow.Run, n *flow.Node, m *Model, p Prompt, f Format, get func(Answer) Out) (Out, error) {
	a, err := Ask[Answer](r, n, m, p, f)
	if err != nil {
		var none Out
		return none, err
	}
	return get(a), nil
}

// AnsweredBy is the model that answered, as the provider says.
func (r *Reply) AnsweredBy() string { return r.Model }

// Spent is what the call took, for the event that it has ended.
func (r *Reply) Spent() *usage.Usage {
	return &usage.Usage{InputTokens: r.Usage.Input, CachedTokens: r.Usage.Cached, OutputTokens: r.Usage.Output, CostUSD: r.CostUSD}
}
