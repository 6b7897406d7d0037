package yamlgraph

import (
	"errors"

	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Bound runs a python node whose function is replaced by another tool (flowgen.bindings.yaml). It takes of the state the
// fields that In has; what it gives is written as what a function of Python returns. A state that does not fit In is a
// VALIDATION_ERROR.
func Bound[In, Out any](f *Flow, r *flow.Run, n *flow.Node, t *flow.Tool[In, Out], key string, p Policy, state dynamic.Field) error {
	return f.function(r, n, key, p, func() (value.Value, error) { return bound(r, n, t, state) })
}

func bound[In, Out any](r *flow.Run, n *flow.Node, t *flow.Tool[In, Out], state dynamic.Field) (value.Value, error) {
	var in In
	text, err := state.MarshalJSON()
	if err == nil {
		err = value.DecodeKnown(text, &in)
	}
	if err != nil {
		var te *value.ToolError
		if !errors.As(err, &te) {
			te = value.Invalid("%v", err)
		}
		return value.Null(), r.Fail(n, te)
	}
	out, err := flow.Call(r, n, t, in)
	if err != nil {
		return value.Null(), err
	}
	return value.Of(out)
}
