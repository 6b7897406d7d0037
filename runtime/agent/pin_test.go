package agent_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime/agent"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Agent Tools 4.2: which call a pin is about, and what it is when there is none.
func TestPins(t *testing.T) {
	good := mustRun(t, &agent.Spec{Model: model(plays(ask(`search {"q":"bad"}`, `search {"q":"a"}`), ask(`search {"q":"b"}`, `echo {"q":"e"}`))), Tools: tools()})
	failed := mustRun(t, &agent.Spec{Model: model(plays(ask(`search {"q":"a"}`, `search {"q":"bad"}`))), Tools: tools()})
	none := mustRun(t, &agent.Spec{Model: model(plays()), Tools: tools()})
	a := &found{[]string{"a", "a!"}}
	b := &found{[]string{"b", "b!"}}
	tests := []struct {
		name string
		out  agent.Outputs
		sel  agent.Selector
		want *found
	}{
		{"latest", good, agent.Latest("search"), b},
		{"latest failed counts as missing", failed, agent.Latest("search"), nil},
		{"latest of none", none, agent.Latest("search"), nil},
		{"first success", good, agent.FirstSuccess("search"), a},
		{"first success before a failure", failed, agent.FirstSuccess("search"), a},
		{"by id", good, agent.ByCallID("search", good.ToolOrder[1]), a},
		{"by id of a failure", good, agent.ByCallID("search", good.ToolOrder[0]), nil},
		{"by id of another tool", good, agent.ByCallID("search", good.ToolOrder[3]), nil},
		{"by an id that is none", good, agent.ByCallID("search", "x"), nil},
		{"a tool that the agent does not have any more", good, agent.Latest("gone"), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := agent.Pin[found](start(t), node, tt.out, tt.sel)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			_, err = agent.Pin[found](start(t), node, tt.out, tt.sel.Required())
			if (codeOf(err) == value.ValidationError) != (tt.want == nil) {
				t.Errorf("required: %v", err)
			}
		})
	}
}
