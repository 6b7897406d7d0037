// Package tool is for Go functions that workflows call as tools.
//
// A tool is a function with a context and a struct, or parameters, that returns a result and an error. The workflow names it,
// its effects and its secret:
//
//	secrets: [SEARCH_KEY]
//	tools:
//	  search: {go: ./tools.Search, effects: reads, auth: {bearer: SEARCH_KEY}}
//
// Most tools do not need this package. It has what a tool can ask about its call:
//
//	func Search(ctx context.Context, in SearchIn) (SearchOut, error) {
//		key, ok := tool.Secret(ctx, "SEARCH_KEY")
//		if !ok {
//			return SearchOut{}, value.Errorf(value.AuthRequired, "set SEARCH_KEY")
//		}
//		...
//	}
//
// Secret and Auth return the secrets of the tool's declaration. Context returns the Invocation: the idempotency key of a
// write, the attempt, the tenant, a writer for progress. Attach adds a file to the result. Spill, Cut, Beginning and Room
// handle outputs that are too large. RedactorOf removes secrets from text that the tool prints itself; results and errors
// are redacted anyway.
//
// # Errors
//
// An error of value.Errorf has one of nine codes, which workflows can catch. Any other error becomes UNKNOWN. Return the
// context's error after it was cancelled.
//
// # Bindings
//
// Obtain, Require, Isolate, Isolation and Metered are for packages that bind tools of another kind: processes, sandboxes,
// models. They pass them to flow.Bind.
//
// # Concurrency
//
// The functions are safe for concurrent use while the tool runs. The context of no tool, as in a unit test, has no secrets and
// an empty Invocation.
package tool
