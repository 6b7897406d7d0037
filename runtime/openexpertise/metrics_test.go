package openexpertise

import (
	"fmt"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// TestMetrics: tokens and dollars are taken from `metrics` where they are numbers of 0 or more.
func TestMetrics(t *testing.T) {
	for in, want := range map[string]string{
		`{"state_delta": {}, "metrics": {"tokens_in": 12, "tokens_out": 3, "cost_usd": 0.05}}`: "12 3 $0.05",
		`{"metrics": {"cost_usd": 1e300}}`:                     "0 0 $1000000000",
		`{"metrics": {"tokens_in": 1e300, "tokens_out": 2.7}}`: "1000000000000 2 -",
		`{"metrics": {"tokens_in": -5, "cost_usd": "0.5"}}`:    "none",
		`{"metrics": {"tokens_in": -5, "tokens_out": 1}}`:      "0 1 -",
		`{"metrics": {"tokens": 7}}`:                           "none",
		`{"metrics": [1]}`:                                     "none",
		`{}`:                                                   "none",
		`"text"`:                                               "none",
	} {
		var out value.Value
		if err := value.Unmarshal([]byte(in), &out); err != nil {
			t.Fatal(err)
		}
		got := "none"
		if u := Metrics(&out); u != nil {
			got = fmt.Sprint(u.InputTokens, " ", u.OutputTokens, " -")
			if u.CostUSD != nil {
				got = fmt.Sprint(u.InputTokens, " ", u.OutputTokens, " $", u.CostUSD)
			}
		}
		if got != want {
			t.Errorf("%s: %s, not %s", in, got, want)
		}
	}
}
