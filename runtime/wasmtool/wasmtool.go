// Package wasmtool binds WebAssembly modules for WASI preview 1 as tools: the tier "wasm" of the workflow language.
//
// A module can reach nothing: it has no files, network, processes, environment variables or arguments. Its clock begins at the same
// time in every call and goes on only when it is read, its random numbers are always the same, and it never sleeps, so that a call
// depends on its input only. Every call runs in an instance of its own, with a memory of its own.
//
// # Commands
//
// A module that exports _start is a command: it reads its input, a JSON object, from standard input, and writes its result, one JSON
// value, to standard output. An exit code other than 0 is an error, whose message begins standard error.
//
// # Functions
//
// Other modules export memory, and
//
//	alloc(size i32) i32                a pointer to size bytes for the input
//	<name>(pointer, length i32) i64    the function: its input is JSON in memory, its result pointer<<32 | length of JSON
//
// _initialize is called first where there is one. What a function writes to standard output is dropped.
//
// # Bounds
//
// A call has 256 MiB of memory and ten minutes at most, MaxOutput bytes of output, and the calls of all modules together as many
// processors as the program has. A module is compiled when its first call needs it; the machine code is kept in the user's cache
// folder where there is one that nobody else can write to.
//
// # Limits
//
// The module runs in the process of the program: an error in the WebAssembly machine, or in the processor, can be a way out.
//
// # Errors
//
//   - SANDBOX_ERROR: the module cannot be compiled, has no such export, or ran for longer than ten minutes
//   - PROVIDER_ERROR: it trapped or ended with an exit code other than 0 (details exit_code, stderr)
//   - VALIDATION_ERROR: a result that is not JSON or does not fit the declared type
//   - POLICY_DENIED: a result that is too large
//   - TIMEOUT: the context's deadline passed
//
// Cancellation comes back as the context's error, not as a tool error.
package wasmtool

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// DefaultMaxOutput is the cap of a module that names none: 2 MiB.
const DefaultMaxOutput = 2 << 20

// Module is one function of a WebAssembly module.
type Module struct {
	Name   string // of the file, for messages
	Code   string // the module, in binary form
	Export string // the function; empty: the module is a command

	// MaxOutput bounds the result's JSON in bytes; 0 means DefaultMaxOutput. Text and values beyond it are cut, and the whole
	// is kept where the run has a store (runtime.WithBlobs).
	MaxOutput int
}

// Bind makes a tool of a module, in the tier runtime.Wasm. In is written as JSON; the result is decoded into Out as strictly as
// value.Decode does; an Out of struct{} ignores it. The tool is safe for concurrent use.
func Bind[In, Out any](name string, e flow.Effects, m Module, o ...flow.ToolOption) *flow.Tool[In, Out] {
	p := &program{Module: m}
	return flow.Bind(name, e, func(ctx context.Context, in In) (out Out, err error) {
		args, err := json.Marshal(&in)
		if err != nil {
			return out, value.Invalid("input of %s: %v", p.what(), err)
		}
		limit := m.MaxOutput
		if limit <= 0 {
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
	}, append(append([]flow.ToolOption{flow.MaxOutput(-1)}, o...), tool.Isolate(machine{}, runtime.Wasm), tool.Cancellable())...)
}

// machine is the isolation of all modules.
type machine struct{}

// Obtain returns runtime.Wasm, which is there on every system.
func (machine) Obtain(context.Context, runtime.Tier) (runtime.Tier, error) { return runtime.Wasm, nil }

func (p *program) what() string {
	if p.Export == "" {
		return p.Name
	}
	return p.Name + "#" + p.Export
}

// badResult says whose result the decoder complains about.
func (p *program) badResult(err error) error {
	var te *value.ToolError
	if !errors.As(err, &te) {
		return err
	}
	e := *te
	e.Message = "result of " + p.what() + ": " + e.Message
	return &e
}
