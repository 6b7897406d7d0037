package core

import "context"

// StandIn runs in place of a tool, behind all gates that come before it and before those that come after: what it gives
// is checked, cut, counted and recorded like what a tool returns. out points to the output, which it sets; tool runs the tool
// itself and sets the output. It is for simulations and tests, and must be safe for concurrent use.
type StandIn func(ctx context.Context, op Op, out any, tool func() error) error

// WithStandIn replaces all tools, models and users by s. Nothing is isolated then.
func WithStandIn(s StandIn) Option {
	return func(rt *Runtime) { rt.standIn = s }
}

func (o *op[In, Out]) stoodIn(ctx context.Context, s StandIn) error {
	return s(ctx, o, &o.out, func() (err error) {
		o.out, err = o.tool.fn(ctx, o.in)
		return err
	})
}
