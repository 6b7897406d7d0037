package llm

import (
	"math/big"
	"regexp"

	"github.com/flowgen-dev/flowgen/runtime"
)

// Price is what a million tokens cost in dollars, as decimals. An empty Cached is the price of Input.
type Price struct {
	Input, Cached, Output string
}

// Of returns what usage costs, rounded up to a billionth of a dollar.
func (p *Price) Of(u Usage) runtime.USD {
	cached := p.Cached
	if cached == "" {
		cached = p.Input
	}
	sum := new(big.Int)
	for _, part := range []struct {
		tokens int64
		price  string
	}{{max(u.Input-u.Cached, 0), p.Input}, {u.Cached, cached}, {u.Output, p.Output}} {
		usd, err := runtime.ParseUSD(part.price)
		if err != nil || part.tokens < 0 {
			continue
		}
		sum.Add(sum, new(big.Int).Mul(big.NewInt(part.tokens), big.NewInt(int64(usd))))
	}
	million := big.NewInt(1e6)
	sum.Add(sum, big.NewInt(1e6-1)).Div(sum, million)
	if !sum.IsInt64() {
		return 1<<63 - 1
	}
	return runtime.USD(sum.Int64())
}

// priceOf is the price of provider:id in the table, nil when the table does not have it. A dated version has the price of
// its model.
func priceOf(name string) *Price {
	if p, ok := prices[name]; ok {
		return &p
	}
	if p, ok := prices[dated.ReplaceAllString(name, "")]; ok {
		return &p
	}
	return nil
}

var dated = regexp.MustCompile(`-(\d{4}-\d{2}-\d{2}|\d{8}|\d{3}|latest)$`)

// prices are list prices as the providers published them in autumn 2025, for estimates and caps: those of prompts of up to
// 200,000 tokens, above which some cost more, and without the surcharge for writing to a cache, which no provider here asks
// for. `price:` of a model overrides them; a model that is not here has no cost unless it has a price.
var prices = map[string]Price{
	"openai:gpt-4o":       {"2.50", "1.25", "10"},
	"openai:gpt-4o-mini":  {"0.15", "0.075", "0.60"},
	"openai:gpt-4.1":      {"2", "0.50", "8"},
	"openai:gpt-4.1-mini": {"0.40", "0.10", "1.60"},
	"openai:gpt-4.1-nano": {"0.10", "0.025", "0.40"},
	"openai:gpt-5":        {"1.25", "0.125", "10"},
	"openai:gpt-5.1":      {"1.25", "0.125", "10"},
	"openai:gpt-5-mini":   {"0.25", "0.025", "2"},
	"openai:gpt-5-nano":   {"0.05", "0.005", "0.40"},
	"openai:o3":           {"2", "0.50", "8"},
	"openai:o4-mini":      {"1.10", "0.275", "4.40"},

	"anthropic:claude-opus-4":     {"15", "1.50", "75"},
	"anthropic:claude-opus-4-1":   {"15", "1.50", "75"},
	"anthropic:claude-opus-4-5":   {"5", "0.50", "25"},
	"anthropic:claude-sonnet-4":   {"3", "0.30", "15"},
	"anthropic:claude-sonnet-4-5": {"3", "0.30", "15"},
	"anthropic:claude-haiku-4-5":  {"1", "0.10", "5"},
	"anthropic:claude-3-5-haiku":  {"0.80", "0.08", "4"},

	"gemini:gemini-3-pro-preview":  {"2", "0.20", "12"},
	"gemini:gemini-2.5-pro":        {"1.25", "0.31", "10"},
	"gemini:gemini-2.5-flash":      {"0.30", "0.075", "2.50"},
	"gemini:gemini-2.5-flash-lite": {"0.10", "0.025", "0.40"},
	"gemini:gemini-2.0-flash":      {"0.10", "0.025", "0.40"},
}
