package core_test

import (
	"context"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/usage"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Asking a model is allowed whatever effects a policy allows to tools, unless it denies models.
func TestPolicyOfModels(t *testing.T) {
	ask := func(_ context.Context, in pair) (pair, error) { return in, nil }
	free := tool.Metered(func(*pair) usage.Spend { return usage.Spend{} }, func(*pair, *pair) usage.Spend { return usage.Spend{} })
	model := flow.Bind("test:model@1", flow.External, ask, free)
	other := flow.Bind("t.other@1", flow.External, ask)
	for _, tt := range []struct {
		name          string
		policy        runtime.Policy
		models, tools bool
	}{
		{"nothing is said", runtime.Policy{}, true, true},
		{"of tools", runtime.Policy{Effects: []flow.Effects{flow.None, flow.Reads}}, true, false},
		{"of models", runtime.Policy{NoModels: true}, false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := start(t, t.Context(), runtime.WithPolicy(&tt.policy))
			for f, allowed := range map[*flow.Tool[pair, pair]]bool{model: tt.models, other: tt.tools} {
				_, err := flow.Call(r, node("n"), f, pair{})
				te := value.ToolErrorOf(err)
				if (err == nil) != allowed || err != nil && te.Code != value.PolicyDenied {
					t.Errorf("%s: %v", f.Name(), err)
				}
			}
		})
	}
}
