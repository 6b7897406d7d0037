package openexpertise

import (
	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// stateKey is what tools find the state under.
const stateKey = "_state"

// Bound runs a tool node whose module is replaced by another tool (flowgen.bindings.yaml). It takes of what the module is
// called with, args and the state, the fields that In has, and gives what a module returns: state_delta and edge_output, each of which
// may be left out. An entry for the state takes its place.
//
// No map is made of what has a type on both sides: args are read where they stand, and what is written goes straight into the
// state.
func Bound[In, Out any](f *Flow, r *flow.Run, n *flow.Node, t *flow.Tool[In, Out], p Policy, args ...dynamic.Entry) (Ended, error) {
	for attempt := 1; ; attempt++ {
		var room [8]value.Entry // few fields need no other
		delta, edge, err := once(f, r, n, t, args, room[:0])
		if err == nil {
			err = f.write(n, delta)
		}
		if err == nil {
			out := result{edge: edge}
			if f.aside {
				out.delta = value.Map(delta...)
			}
			return f.did(n, p, out), nil
		}
		if e, again, err := f.failed(r, n, p, attempt, err); !again {
			return e, err
		}
	}
}

// once is an attempt: what the tool writes, appended to room, and what it hands on.
func once[In, Out any](f *Flow, r *flow.Run, n *flow.Node, t *flow.Tool[In, Out], args []dynamic.Entry, room []value.Entry) ([]value.Entry, dynamic.Field, error) {
	inner := stateKey
	if dynamic.Find(args, stateKey).Present() {
		inner = ""
	}
	in, ok := value.DecodeFields[In](inner, func(in, key string) (value.Value, bool) {
		x := dynamic.Field{}
		if in == "" {
			x = dynamic.Find(args, key)
		} else {
			x = dynamic.Read(f.slots, key)
		}
		return x.Value(), x.Present()
	})
	if !ok {
		var err error
		if in, err = decoded[In](f, args, inner); err != nil {
			return nil, dynamic.Field{}, err
		}
	}
	out, err := flow.Call(r, n, t, in)
	if err != nil {
		return nil, dynamic.Field{}, err
	}
	delta, kind, writes, err := value.EntriesAt(room, &out, "state_delta")
	if err != nil {
		return nil, dynamic.Field{}, err
	}
	edge, hands, err := value.At(&out, "edge_output")
	switch {
	case err != nil:
		return nil, dynamic.Field{}, err
	case !writes && !hands: // it may be no object
		return untyped(n, room, out)
	case writes && kind != value.NullKind && kind != value.MapKind:
		return nil, dynamic.Field{}, badResult(n)
	case !hands:
		return delta, dynamic.Field{}, nil
	}
	return delta, dynamic.Of(edge), nil
}

// decoded reads the input from the map of what the module is called with, for fields that take more than is plain, and for
// errors.
//
//go:noinline
func decoded[In any](f *Flow, args []dynamic.Entry, inner string) (in In, err error) {
	whole := dynamic.Object(args...)
	if inner != "" {
		whole = whole.With(dynamic.Put(inner, dynamic.Snapshot(f.slots)))
	}
	err = value.DecodeValue(whole.Value(), &in)
	return in, err
}

// untyped reads an output without the two fields as that of a module is read.
//
//go:noinline
func untyped[Out any](n *flow.Node, room []value.Entry, out Out) ([]value.Entry, dynamic.Field, error) {
	v, err := value.Of(out)
	if err != nil {
		return nil, dynamic.Field{}, err
	}
	res, err := toolResult(n, v, true)
	return entries(room, res.delta), res.edge, err
}
