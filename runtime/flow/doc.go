// Package flow is what generated code calls. Import it to bind tools in hand-written code, or to write a workflow in Go.
//
// # The contract of generated code
//
// A generated workflow has a Body of straight Go that takes one *Run and typed input:
//
//	func (w *Workflow) Run(ctx context.Context, in Input) (out Output, err error) {
//		run := flow.Start(ctx, w.rt, in)
//		defer flow.End(run, &out, &err)
//		return w.Body(run, in)
//	}
//
// The Body reaches the world only through this package: Call and its variants for tools, Parallel, Map and Graph for
// concurrency, Run.Sleep, Run.Now and Run.Rand for time and chance. It has no goroutine, channel, select, clock, random
// number, environment, range over a map or context of its own. In return the same Body runs as plain Go, recorded,
// replayed, resumed after a crash, in a simulation, or on a workflow server: what differs is the Engine. Without an
// engine a Call is a function call and a check of the context, and allocates nothing.
//
// Values that cross a Call survive a round trip through JSON, and tools do not change their input.
//
// # Keys
//
// Each call has a key: the path of its scope, the node's id, and from the second visit on the visit, as in
// "probe[3]/search", "pub/notify", "draft#2". Map items, loop iterations (Run.At, Run.Iterate) and sub-workflows (Run.In)
// are scopes; Parallel and Graph are not. So a key depends on the workflow and its data, never on the schedule. Attempts
// of a retried call share its key.
//
// # Errors
//
// A failed node returns a *runtime.NodeError with the node's position. It wraps a *value.ToolError, which has one of nine
// codes and can be caught, skipped or defaulted, or a *runtime.RunError (cancelled, in doubt, diverged, journal
// unavailable), which cannot. An error nobody handles ends its scope: siblings are cancelled and waited for, and of several
// failures the first in file order that failed by itself is reported. Calls that write are not cancelled by siblings, only
// by the run's own context. A panic in a branch goes on in the goroutine that waits for the branch.
//
// # Functions of expressions
//
// Add to Neg, Float and Int are arithmetic that fails instead of overflowing. Sort, Distinct, Chunk and their kin are the
// functions of lists. They need no run.
package flow
