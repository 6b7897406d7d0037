package core

import "context"

// Isolation is a way to run tools apart from the program and the machine. Packages that isolate implement it, and those that start
// processes for tools ask it, with Isolated, for the methods they need.
type Isolation interface {
	// Obtain returns the tier that a call gets which needs at least required. It is asked before every call and must be quick and
	// safe for concurrent use. It proves what it says: a tier that may not hold on this machine is an error.
	Obtain(ctx context.Context, required Tier) (Tier, error)
}

// Isolate makes a tool run in an isolation, of at least tier least: calls that do not get it fail with SANDBOX_ERROR
// before the tool runs. It is for tools that start processes with Isolated; for others it has no effect on how they run.
func Isolate(i Isolation, least Tier) ToolOption {
	return func(o *toolOptions) {
		o.isolation, o.obtain = i, i.Obtain
		o.tier = max(o.tier, least)
	}
}

// Isolated returns the isolation that the running tool has to start its processes in, nil when there is none.
func Isolated(ctx context.Context) Isolation {
	c := callOf(ctx)
	if c == nil {
		return nil
	}
	_, opts := c.place()
	return opts.isolation
}

// Unisolated is for tools that start processes without isolation: the MinSandbox of policies is about them, and above Native they fail.
// Isolate after it takes its place.
func Unisolated() ToolOption {
	return Obtain(func(context.Context, Tier) (Tier, error) { return Native, nil })
}
