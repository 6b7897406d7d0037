// Package startool binds Starlark functions as tools. Starlark is a small
// dialect of Python without a way to the outside: no files, no network, no
// clock, no randomness, no load; a call depends on its arguments only. There is
// no recursion and no while, so every program ends, and its steps, the memory it
// asks for and the size of its values are bounded.
//
// # Bounds
//
// A call has MaxSteps steps. An operation on large values (joining, repeating,
// slicing, comparing, formatting, hashing) counts a step for every 32 bytes it
// touches, before it is done, so that a call cannot touch more than 320 MB. Values
// that such an operation looks into are nested at most 200 deep; integers have at
// most 65536 bits. Beyond any of these the call fails with POLICY_DENIED.
//
// # Errors
//
// Messages begin with the place in the file.
//
//   - SANDBOX_ERROR: the file cannot be compiled, or has no such function
//   - VALIDATION_ERROR: arguments that do not fit; a result that has no JSON or does not
//     fit the declared type
//   - POLICY_DENIED: a bound, or a result that is too large
//   - TIMEOUT: the context's deadline passed
//   - UNKNOWN: any other error of the program, fail() among them (details traceback)
//
// Cancellation comes back as the context's error, not as a tool error.
package startool

import (
	"context"
	"encoding/json"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

const (
	// MaxSteps bounds the steps of one call; copying and comparing large values counts as well.
	MaxSteps = 10_000_000

	// DefaultMaxOutput bounds the result's JSON where flow.MaxOutput does not: 2 MiB.
	DefaultMaxOutput = 2 << 20
)

// Bind makes a tool of a function of a Starlark file. file is the name that messages give it, source its text. The
// fields of In are the function's keyword arguments; one that JSON leaves out (omitempty) leaves the parameter its
// default. The result is decoded into Out as strictly as value.Decode does; an Out of struct{} ignores it. Its JSON has
// at most DefaultMaxOutput bytes, or what flow.MaxOutput says; text and values beyond it are cut, and the whole is
// kept where the run has a store (runtime.WithBlobs).
func Bind[In, Out any](name string, e flow.Effects, file, source, function string, o ...flow.ToolOption) *flow.Tool[In, Out] {
	p := &program{file: file, source: source, function: function}
	return flow.Bind(name, e, func(ctx context.Context, in In) (out Out, err error) {
		args, err := json.Marshal(&in)
		if err != nil {
			return out, value.Invalid("input of %s: %v", p.what(), err)
		}
		limit := tool.Context(ctx).MaxOutput()
		if limit == 0 {
			limit = DefaultMaxOutput
		}
		result, err := p.call(ctx, args, tool.Room[Out](ctx, limit))
		if err != nil {
			return out, err
		}
		if _, nothing := any(&out).(*struct{}); nothing {
			return out, nil
		}
		err = tool.Cut(ctx, result, limit, &out)
		return out, p.badResult(err)
	}, append([]flow.ToolOption{tool.Cancellable()}, o...)...)
}
