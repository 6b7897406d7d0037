package stargraph

import (
	"testing"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// TestFloatRules: a rule compares a float with Python's text of it, which has an exponent from 1e+16 on.
func TestFloatRules(t *testing.T) {
	for text, want := range map[string]string{"1.5": "1.5", "2.0": "2", "1e+16": "1e+16", "1.5e+300": "1.5e+300"} {
		cond, never := test{field: &field{id: ir.Ident{Name: "n"}, typ: schema.FloatType}, value: source.Text{Value: text}}.cond()
		if never != "" {
			t.Errorf("%s: %s", text, never)
			continue
		}
		if n, err := expr.Parse(cond); err != nil || n.Kids[1].String() == "10000000000000000" {
			t.Errorf("%s: %v, %v, want %s", cond, n, err, want)
		}
	}
}
