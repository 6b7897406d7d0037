package openexpertise

import (
	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Bound runs a tool node whose module is replaced by another tool (flowgen.bindings.yaml). It takes of what the module is
// called with the fields that In has, and gives what a module returns: state_delta and edge_output, each of which may be left out.
func Bound[In, Out any](f *Flow, r *flow.Run, n *flow.Node, t *flow.Tool[In, Out], p Policy, args dynamic.Field) (Ended, error) {
	return f.run(r, n, p, func() (result, error) {
		var in In
		if err := value.DecodeValue(args.Value(), &in); err != nil {
			return result{}, err
		}
		out, err := flow.Call(r, n, t, in)
		if err != nil {
			return result{}, err
		}
		return boundResult(n, &out)
	})
}

// boundResult is toolResult of an output that has a type, of which the fields that count are looked at.
func boundResult[Out any](n *flow.Node, out *Out) (result, error) {
	delta, writes, err := value.At(out, "state_delta")
	if err != nil {
		return result{}, err
	}
	edge, hands, err := value.At(out, "edge_output")
	if err != nil {
		return result{}, err
	}
	switch {
	case !writes && !hands: // it may be no object
		v, err := value.Of(*out)
		if err != nil {
			return result{}, err
		}
		return toolResult(n, v, true)
	case !writes || delta.IsNull():
		delta = value.Map()
	case delta.Kind() != value.MapKind:
		return result{}, badResult(n)
	}
	res := result{delta: delta}
	if hands {
		res.edge = dynamic.Of(edge)
	}
	return res, nil
}
