package core

import (
	"context"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// required is the isolation that a call needs: what its tool asks for, and, for tools that can be isolated, what the policy does.
func required(r *Run, o *toolOptions) Tier {
	t := o.tier
	if o.obtain != nil {
		t = max(t, r.guard.minSandbox())
	}
	return t
}

// isolate finds out which tier the call runs in, and refuses one that is not enough.
func (r *Run) isolate(ctx context.Context, h *Head, o *toolOptions) error {
	need, got := required(r, o), Native
	if o.obtain != nil {
		var err error
		if got, err = o.obtain(ctx, need); err != nil {
			if te := value.ToolErrorOf(err); te != nil {
				return te
			}
			return value.Errorf(value.SandboxError, "tool %s cannot be isolated: %v", h.Tool, err)
		}
	}
	if got < need {
		return value.Errorf(value.SandboxError, "tool %s needs the sandbox tier %s, but only %s is available", h.Tool, need, got)
	}
	if got > Native {
		h.metadata().Sandbox = got
	}
	return nil
}

// findTiers reports the first sandbox tier that this machine does not have.
func (rt *Runtime) findTiers() error {
	if x, ok := rt.engine.(Executor); ok && !x.Executes() || rt.standIn != nil || rt.fakes != nil {
		return nil
	}
	for _, n := range rt.info.Needs {
		got, err := n.Isolation.Obtain(context.Background(), n.Tier)
		if err == nil && got < n.Tier {
			err = value.Errorf(value.SandboxError, "the sandbox tier %s is required, but only %s is available", n.Tier, got)
		}
		if err != nil {
			return &NodeError{Node: n.Node, Key: n.Node.ID, Err: err}
		}
	}
	return nil
}
