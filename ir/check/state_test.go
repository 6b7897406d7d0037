package check

import (
	"testing"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// What is set with a reducer is held to the second parameter of the reducer, when that is one of the field's type.
func TestSetsWithReducer(t *testing.T) {
	binding := func(reducer bool, out *schema.Type) *ir.GoBinding {
		return &ir.GoBinding{Reducer: reducer, Out: out, Params: []*ir.GoParam{{Type: schema.IntType}, {Type: schema.IntType}}}
	}
	for name, tt := range map[string]struct {
		bind  *ir.GoBinding
		tag   string
		wrong bool
	}{
		"fits":         {binding(true, schema.IntType), "!!int", false},
		"does not fit": {binding(true, schema.IntType), "!!bool", true},
		"not bound":    {nil, "!!bool", false},
		"no reducer":   {binding(false, schema.IntType), "!!bool", false},
		"another type": {binding(true, schema.StringType), "!!bool", false},
	} {
		sink := &diag.Sink{}
		field := &ir.State{Name: ident("f"), Type: schema.IntType, Merge: ir.Merge{Kind: ir.MergeReducer, Reducer: &ir.GoFunc{Bind: tt.bind}}}
		c := &checker{wf: &ir.Workflow{}, sink: sink, state: map[string]*ir.State{"f": field}, stateSet: map[string]bool{}}
		text := map[string]string{"!!int": "1", "!!bool": "true"}[tt.tag]
		s := &Step{Node: &ir.Node{ID: ident("n"), Set: []*ir.Set{{Field: ident("f"), Value: &ir.Scalar{Text: source.Text{Value: text}, Tag: tt.tag}}}}}
		c.sets(s)
		if got := sink.HasErrors(); got != tt.wrong || len(s.Sets) != 1 {
			t.Errorf("%s: %v, want errors: %v", name, sink.List(), tt.wrong)
		}
	}
}
