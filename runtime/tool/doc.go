// Package tool is for functions that are tools of workflows.
//
// A tool is a Go function that takes a context and a struct, and returns a struct and an error. It needs this package only
// when it asks for more than its input:
//
//	func Search(ctx context.Context, in SearchIn) (SearchOut, error) {
//		key, _ := tool.Secret(ctx, "SEARCH_KEY")
//		...
//	}
//
// Secret and Auth return the secrets that the tool's declaration names. Context returns the Invocation: what a tool may ask
// about its call, such as its key for idempotent writes, and where it says what it is doing. Attach adds a file to the
// result of the call. Room, Cut, Beginning and Spill are for outputs that are larger than a workflow can take.
// RedactorOf takes secrets out of text that the tool reports itself; outputs and errors are redacted anyway.
//
// Errors of tools have one of nine codes: make them with value.Errorf. TimedOut is the error of a timeout. Any other error
// becomes UNKNOWN.
//
// Isolation, Obtain and Require are for packages that bind tools which run outside of the program, in a sandbox.
//
// The functions are safe for concurrent use while the tool runs. A context that is not that of a tool has no secrets, and an
// empty Invocation.
package tool
