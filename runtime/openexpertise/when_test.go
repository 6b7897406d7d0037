package openexpertise_test

import (
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/openexpertise"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// TestWhen: conditions of converted files mean what they mean in the engine.
func TestWhen(t *testing.T) {
	state, err := value.Parse([]byte(`{"n": 3, "s": "x", "o": {"deep": {"x": 1}}, "list": [9, 2], "no": false, "none": null}`))
	if err != nil {
		t.Fatal(err)
	}
	for condition, want := range map[string]bool{
		"$.n >= 3 && $.s == 'x'":                     true,
		"$.n == '3'":                                 false,
		"$.n > '2'":                                  true,
		"$.o.deep.x != 1 || $.list.0 <= \"10\"":      true,
		"($.list.length > 1) == true":                true,
		"length($.s) == 1 && length($.o) == 0":       true,
		"$.none != 1":                                true,
		"$.none == 1 || $.none < 1 || $.none != $.x": false,
		"$.n < 1 && $.n > 1 || -1.5 < 0":             true,
		"$.no || $.o.missing":                        false,
		"$.s trailing":                               true,
		"true":                                       true,
	} {
		if got, err := openexpertise.When(condition, state); got != want || err != nil {
			t.Errorf("%s: %v %v", condition, got, err)
		}
	}
	for _, condition := range []string{"", "$.n >", "$.n == 'x", "(true", "! $.n", "name == 1", "length $.s", strings.Repeat("(", 200) + "1" + strings.Repeat(")", 200)} {
		if got, err := openexpertise.When(condition, state); got || err == nil {
			t.Errorf("%.20s: %v, and no error", condition, got)
		}
	}
}
