package core_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// TestParse: what does not fit is a VALIDATION_ERROR at the node's place, with the path in the data.
func TestParse(t *testing.T) {
	type item struct {
		Name string `json:"name"`
		Kind string `json:"kind" flow:"enum=a|b"`
		At   *int8  `json:"at"`
	}
	n := &flow.Node{ID: "n", Index: -1, Pos: "f.yaml:3:1"}
	run := start(t, t.Context())
	for _, tt := range []struct{ text, want string }{
		{`[{"name": "x", "kind": "a", "more": {"at": 1}}]`, ""},
		{`[{"name": "x", "kind": "a", "at": null}, {"kind": "a"}]`, `[1]: field "name" is missing`},
		{`[{"name": "x", "kind": "c"}]`, `[0].kind: `},
		{`[{"name": "x", "kind": "a", "at": 128}]`, `[0].at: 128 is out of range`},
		{`[{"name": null, "kind": "a"}]`, `[0].name: a string expected, null given`},
		{`[{"name": "x", "name": "x", "kind": "a"}]`, `[0]: the key "name" appears twice`},
		{`[] []`, ``},
		{`{"a": 1}`, `a list expected, an object given`},
		{`"[]"`, `a list expected, a string given`},
		{strings.Repeat("[", 100_000), ``},
		{`[{"name": "x", "kind": "a", "more": ` + strings.Repeat("[", 100_000) + `}]`, ``},
		{``, ``},
	} {
		got, err := flow.ParseText[[]item](run, n, tt.text)
		_, bytesErr := flow.ParseText[[]item](run, n, []byte(tt.text))
		errs := []error{err, bytesErr}
		if v, perr := value.Parse([]byte(tt.text)); perr == nil {
			_, err := flow.Parse[[]item](run, n, v)
			errs = append(errs, err)
		}
		for _, err := range errs {
			if tt.want == "" && len(got) == 1 {
				if err != nil || got[0].Name != "x" {
					t.Errorf("%.80s: %v, %v", tt.text, got, err)
				}
				continue
			}
			var te *value.ToolError
			if !errors.As(err, &te) || te.Code != value.ValidationError || !strings.HasPrefix(err.Error(), "f.yaml:3:1: node n: VALIDATION_ERROR: ") || !strings.Contains(te.Message, tt.want) {
				t.Errorf("%.80s: %.200v, want %q", tt.text, err, tt.want)
			}
		}
	}
}

// TestParseEnum: values of an enum that stands in no struct are checked as well.
func TestParseEnum(t *testing.T) {
	n := &flow.Node{ID: "n", Index: -1, Pos: "f.yaml:3:1"}
	run := start(t, t.Context())
	if got, err := flow.ParseText[string](run, n, `"b"`, "a", "b"); err != nil || got != "b" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := flow.Parse[string](run, n, value.String("c"), "a", "b"); err == nil || got != "" {
		t.Errorf("%q, %v", got, err)
	}
	_, err := flow.ParseText[map[string][]*string](run, n, `{"x": ["a", null, "c"]}`, "a", "b")
	if err == nil || !strings.Contains(err.Error(), "x[2]: ") {
		t.Errorf("%v", err)
	}
	if got, err := flow.ParseText[*string](run, n, `null`, "a"); err != nil || got != nil {
		t.Errorf("%v, %v", got, err)
	}
}
