package core_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/flow"
)

func TestFacts(t *testing.T) {
	f := flow.NewFacts(`{
  "generated": "by flowgen from w.flowgen.yaml; do not edit",
  "plan": {"plan": 1, "workflow": "w <&> \u202e"},
  "manifest": {"manifest": 1},
  "hashes": {"graph": "g"},
  "schemas": {"a": {"type": "string"}}
}`)
	var all sync.WaitGroup
	for range 8 { // the first that asks reads the file
		all.Go(func() {
			for _, tt := range [][2]string{
				{f.Plan(), `{"plan":1,"workflow":"w <&> \u202e"}`},
				{f.Manifest(), `{"manifest":1}`},
				{f.Hashes(), `{"graph":"g"}`},
				{f.Schema("a"), `{"type":"string"}`},
			} {
				if tt[0] != tt[1] {
					t.Errorf("%s, want %s", tt[0], tt[1])
				}
			}
		})
	}
	all.Wait()
	if _, err := flow.New(&flow.Info{Name: "w", Facts: f}); err != nil {
		t.Error(err)
	}
	var none *flow.Facts
	if got := none.Plan() + none.Manifest() + none.Hashes() + none.Schema("a"); got != "" {
		t.Error(got)
	}
}

// TestFactsDoNotFit holds that a file that was edited, or is half of a merge, stops a program before it runs.
func TestFactsDoNotFit(t *testing.T) {
	tests := []struct{ text, schema, want string }{
		{"", "", "unexpected end of JSON input"},
		{"<<<<<<< HEAD\n{}", "", "invalid character"},
		{`{"schemas": []}`, "", "schemas"},
		{`{"schemas": {"a": {}}}`, "b", "it has no schema b"},
	}
	for _, tt := range tests {
		f := flow.NewFacts(tt.text)
		if tt.schema != "" && f.Schema(tt.schema) != "" {
			t.Errorf("%s: there is a schema", tt.text)
		}
		_, err := flow.New(&flow.Info{Name: "w", Source: "w.flowgen.yaml", Facts: f})
		if err == nil || !strings.HasPrefix(err.Error(), "workflow w: the JSON file next to the generated code of w.flowgen.yaml does not fit it: ") ||
			!strings.Contains(err.Error(), tt.want) || !strings.HasSuffix(err.Error(), "; run `flowgen generate`") {
			t.Errorf("%q: %v", tt.text, err)
		}
	}
}
