// Package runtime is for programs that use generated workflows. It imports the standard library and golang.org/x only.
//
// A generated package has a New that takes Options, and a Workflow whose Run returns the typed output:
//
//	w, err := review.New(runtime.WithPolicy(&runtime.Policy{MaxCostUSD: "0.50"}), runtime.WithSecrets(os.LookupEnv))
//	out, err := w.Run(ctx, review.Input{PR: 8})
//
// A Workflow is safe for concurrent use: make one and run it as often as needed.
//
// # Options
//
// WithPolicy restricts runs: effects, tools, calls, cost. WithSecrets and WithSecretLookup provide secrets. WithLogger writes
// a log record for each call, WithObserver receives the events of runs, WithUsage the cost of each attempt. WithHuman answers
// the questions of a workflow; without it a recorded run returns *Waiting, and is resumed with the answer: see package
// journal/runs. WithRunID chooses the id of a run. WithCache, WithBlobs and WithPast keep results between runs. WithTenant
// separates the data of users. WithFakes replaces tools in tests. WithEngines records, resumes and replays runs: see package
// journal.
//
// # Errors
//
// A failed node returns a *NodeError, with its file, line and column. It wraps a *value.ToolError, which has one of nine
// codes, or a *RunError: the run was cancelled, a write is in doubt, a replay diverged, or the journal is not available.
// Use errors.As. A branch that panics fails its run with a *PanicError, as a panic of the caller.
//
// # Other packages
//
// Package flow is what generated code calls, tool what tools call, engine what engines implement. Dynamic values and errors
// of tools are in value, redaction in redact, tokens and dollars in usage.
package runtime
