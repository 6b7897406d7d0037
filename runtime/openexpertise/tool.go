package openexpertise

import (
	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Tool runs a tool node: the default export of its module is called with one object and returns what it writes, what it
// hands on, and what it took (seed page, "The implementation contract").
func (f *Flow) Tool(r *flow.Run, n *flow.Node, t *flow.Tool[value.Value, value.Value], p Policy, args dynamic.Field) (Ended, error) {
	return f.run(r, n, p, func() (result, error) {
		out, err := flow.Call(r, n, t, args.Value())
		if err != nil {
			return result{}, err
		}
		return toolResult(n, out, f.loose)
	})
}

// toolResult reads what a tool returned: an object with state_delta. With loose it may be missing, and nothing is written.
func toolResult(n *flow.Node, out value.Value, loose bool) (result, error) {
	if out.Kind() != value.MapKind {
		return result{}, badResult(n)
	}
	res := result{delta: value.Map()}
	delta, ok := out.Get("state_delta")
	if !ok && !loose {
		return result{}, badResult(n)
	}
	if ok && !delta.IsNull() {
		if delta.Kind() != value.MapKind {
			return result{}, badResult(n)
		}
		res.delta = delta
	}
	if edge, ok := out.Get("edge_output"); ok {
		res.edge = dynamic.Of(edge)
	}
	return res, nil
}

func badResult(n *flow.Node) error {
	return value.Errorf(value.ValidationError, "Tool %q default export must return an object with at least { state_delta }", n.ID)
}
