package llm

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestPriceOf(t *testing.T) {
	for _, tt := range []struct {
		price Price
		usage Usage
		want  string
	}{
		{Price{"2.50", "1.25", "10"}, Usage{Input: 1_000_000}, "2.5"},
		{Price{"2.50", "1.25", "10"}, Usage{Input: 1_000_000, Cached: 400_000, Output: 100_000}, "3"},
		{Price{"2.50", "", "10"}, Usage{Input: 1000, Cached: 400}, "0.0025"},
		{Price{"0.15", "0.075", "0.60"}, Usage{}, "0"},
		{Price{"0", "0", "0"}, Usage{Input: 5, Output: 5}, "0"},
		{Price{"0.0001", "", "0"}, Usage{Input: 1}, "0.000000001"}, // a tenth of a billionth, rounded up
		{Price{"0.001", "", "0"}, Usage{Input: 1}, "0.000000001"},
		{Price{"0.0011", "", "0"}, Usage{Input: 1}, "0.000000002"},
		{Price{"1", "", "1"}, Usage{Input: 10, Cached: 30}, "0.00003"}, // more cached than all: the counts of a liar
	} {
		if got := tt.price.Of(tt.usage).String(); got != tt.want {
			t.Errorf("%v of %+v: %s, want %s", tt.price, tt.usage, got, tt.want)
		}
	}
	large := Price{Input: "9000000000", Output: "9000000000"}
	if got := large.Of(Usage{Input: math.MaxInt64, Output: math.MaxInt64}); got != math.MaxInt64 {
		t.Errorf("the largest cost is %d", got)
	}
}

// Costs add up: what two calls cost is at least what they cost as one, and at most a billionth more.
func TestPriceIsAdditive(t *testing.T) {
	p := Price{"0.15", "0.075", "0.60"}
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) Usage {
			in := rapid.Int64Range(0, 1e9).Draw(t, name+" input")
			return Usage{Input: in, Cached: rapid.Int64Range(0, in).Draw(t, name+" cached"), Output: rapid.Int64Range(0, 1e9).Draw(t, name+" output")}
		}
		a, b := draw("a"), draw("b")
		apart, together := p.Of(a)+p.Of(b), p.Of(a.Add(b))
		if apart < together || apart > together+1 {
			t.Fatalf("%+v and %+v: %d apart, %d together", a, b, apart, together)
		}
	})
}

func TestPriceNames(t *testing.T) {
	for name, want := range map[string]string{
		"openai:gpt-4o-mini": "0.15", "openai:gpt-4o-mini-2024-07-18": "0.15", "openai:gpt-4o-2024-08-06": "2.50",
		"anthropic:claude-sonnet-4-5-20250929": "3", "anthropic:claude-3-5-haiku-latest": "0.80", "gemini:gemini-2.0-flash-001": "0.10",
		"openai:gpt-4o-minimal": "", "ollama:gpt-4o": "", "anthropic:claude-sonnet-4-6": "", "": "",
	} {
		p := priceOf(name)
		if (p == nil) != (want == "") || p != nil && p.Input != want {
			t.Errorf("%q: %v, want %q", name, p, want)
		}
	}
	m := NewModel("openai:gpt-4o", "gpt-4o", nil, Priced(Price{Input: "7", Output: "8"}))
	if m.price.Input != "7" {
		t.Errorf("the price that is given does not count: %v", m.price)
	}
}
