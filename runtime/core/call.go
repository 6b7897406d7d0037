package core

import "github.com/flowgen-dev/flowgen/runtime/value"

// Call runs tool t for node n. Without an engine and without anything that gates the call it is a function call and a
// check of the context and of the output's size. The error is a *NodeError.
func Call[In, Out any](r *Run, n *Node, t *Tool[In, Out], in In) (Out, error) {
	if r.eng != nil || t.gated || n.Gated() {
		if t.floats && r.eng == nil && !n.Gated() && value.Sound(t.checkIn, &in) {
			return soundly(r, n, t, in)
		}
		return door(r, n, t, in)
	}
	ctx := r.ctx
	if ctx.Err() != nil {
		var zero Out
		return zero, r.stopped(n)
	}
	if t.effects >= Writes {
		ctx = r.state.ctx
	}
	out, err := t.fn(ctx, in)
	if err != nil {
		return out, r.failed(n, t.effects, err)
	}
	if t.maxOutput > 0 && !t.size.Short(&out, t.maxOutput) && !t.size.Fits(&out, t.maxOutput) {
		return oversized(r, n, t, out)
	}
	return out, nil
}

// soundly is Call of a tool of which nothing but floats has to be looked at: door without what records, bounds and repeats a call.
//
//go:noinline
func soundly[In, Out any](r *Run, n *Node, t *Tool[In, Out], in In) (out Out, err error) {
	ctx := r.ctx
	if ctx.Err() != nil {
		return out, r.stopped(n)
	}
	if t.effects >= Writes {
		ctx = r.state.ctx
	}
	defer func() {
		if p := recover(); p != nil {
			err = r.panicked(n, p)
		}
	}()
	if out, err = t.fn(ctx, in); err != nil {
		return out, r.failed(n, t.effects, err)
	}
	if !value.Sound(t.checkOut, &out) {
		return refused(r, n, t, out)
	}
	if t.maxOutput > 0 && !t.size.Fits(&out, t.maxOutput) {
		return oversized(r, n, t, out)
	}
	return out, nil
}

// refused holds the output of a call without an engine to what its type says.
//
//go:noinline
func refused[In, Out any](r *Run, n *Node, t *Tool[In, Out], out Out) (Out, error) {
	o := &op[In, Out]{call: call{run: r, head: Head{Node: n, Tool: t.name}}, tool: t, out: out}
	if err := o.accept(o); err != nil {
		var zero Out
		return zero, r.failed(n, t.effects, err)
	}
	return o.out, nil
}

// oversized holds the output of a call without an engine to the bound of its tool.
//
//go:noinline
func oversized[In, Out any](r *Run, n *Node, t *Tool[In, Out], out Out) (Out, error) {
	o := &op[In, Out]{call: call{run: r, head: Head{Node: n, Tool: t.name}}, tool: t, out: out}
	if err := o.bound(r.ctx, o); err != nil {
		return o.out, r.failed(n, t.effects, err)
	}
	return o.out, nil
}

// stopped and failed are out of line to keep Call small.
//
//go:noinline
func (r *Run) stopped(n *Node) error { return r.Fail(n, r.cancelled(r.ctx)) }

//go:noinline
func (r *Run) failed(n *Node, e Effects, err error) error {
	return &NodeError{Node: n, Key: r.scope.path() + n.ID, Err: r.redacted(r.classify(r.CallContext(e), err))}
}

// CallOrSkip is Call with on_error: skip. After a tool error it returns nil and no error; run errors come back.
func CallOrSkip[In, Out any](r *Run, n *Node, t *Tool[In, Out], in In) (*Out, error) {
	out, err := Call(r, n, t, in)
	if err != nil {
		return nil, Skipped(err)
	}
	return &out, nil
}

// CallOr is Call with on_error: {default: def}. After a tool error it returns def; run errors come back.
func CallOr[In, Out any](r *Run, n *Node, t *Tool[In, Out], in In, def Out) (Out, error) {
	out, err := Call(r, n, t, in)
	if err != nil {
		return def, Skipped(err)
	}
	return out, nil
}

// Try is Call with catch. Exactly one result is non-nil: the output, the tool error when n handles its code, or the
// error otherwise.
func Try[In, Out any](r *Run, n *Node, t *Tool[In, Out], in In) (*Out, *value.ToolError, error) {
	out, err := Call(r, n, t, in)
	if err != nil {
		te, err := Caught(n, err)
		return nil, te, err
	}
	return &out, nil, nil
}
