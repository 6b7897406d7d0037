// Package jstool binds JavaScript modules as tools. They run in a pool of
// long-lived Node processes (package worker), which need Node 18 or newer.
//
// # Calls
//
// The default export is called with two objects: the input, and the call's context
// with auth (secrets by name), call_id, tenant_id, idempotency_key, signal, an
// AbortSignal that says that the call must end, and attach({kind, url, content_type, bytes}),
// which puts a blob, image or table that is elsewhere next to the result. Integers beyond 2^53 are refused
// instead of being rounded. A result of undefined is null; NaN, infinities, Map, Set,
// bytes, functions and bigints are refused instead of being changed silently. An
// Error whose code is one of the nine codes of tools chooses it, with retry_after_s
// and details.
//
// Each module has processes of its own, for each set of secrets and their values, tenant and
// isolation, which load it once and keep its variables; which process a call gets is not
// defined. Modules with Inherit and without isolation share processes. A process that leaks
// descriptors, threads, processes or memory is replaced, see package worker. Node runs one thing
// at a time: a function that computes for long holds up the calls in its process. A
// module is loaded from memory: import finds Node's own modules only, require also
// packages from the working directory, and import.meta.url does not name a file.
//
// # Errors
//
// Those of package worker, and
//
//   - UNKNOWN: the function threw; the message is "TypeName: text", the details are
//     exception, stack and output (the end of what the call printed)
//   - VALIDATION_ERROR: an input or a result that has no exact JSON or does not fit
//     the declared type
//   - SANDBOX_ERROR: the module could not be loaded or exports no function
package jstool

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
	"github.com/flowgen-dev/flowgen/runtime/worker"
)

// Module is a bundle whose default export is the tool: a function that is called with one object, and whose result, or
// what its promise returns, is the result of the tool.
type Module struct {
	Name string // what messages and stack traces call it: "double.ts"
	Code string // ES module without imports other than of Node's own modules

	// Interpreter is the program to run; empty means FLOWGEN_NODE or node.
	Interpreter string

	// MaxOutput bounds the result's JSON in bytes; 0 means worker.DefaultMaxOutput. Text and values beyond it are cut,
	// and the whole is kept where the run has a store (runtime.WithBlobs).
	MaxOutput int

	// Inherit is for dialects whose engine runs modules in its own process. The module sees all variables of this program's
	// environment, and not those alone that proc.Environment lists; processes that see them serve such modules only. What
	// it gives is what JSON.stringify makes of it, and integers beyond 2^53 are rounded.
	Inherit bool
}

// Bind makes a tool of a module. In is encoded as the object the export is called with; fields that JSON leaves out are
// undefined there. The result is decoded into Out as strictly as value.Decode does, undefined as null; an Out of
// struct{} ignores it.
func Bind[In, Out any](name string, e flow.Effects, m Module, o ...flow.ToolOption) *flow.Tool[In, Out] {
	b := newBound(m)
	return flow.Bind(name, e, func(ctx context.Context, in In) (out Out, err error) {
		args, err := json.Marshal(&in)
		if err != nil {
			return out, value.Invalid("input of %s: %v", m.Name, err)
		}
		limit := worker.MaxOutput(m.MaxOutput)
		result, err := b.call(ctx, e, args, tool.Room[Out](ctx, limit))
		if err != nil {
			return out, err
		}
		if _, nothing := any(&out).(*struct{}); nothing {
			return out, nil
		}
		err = tool.Cut(ctx, result, limit, &out)
		return out, b.badResult(err)
	}, append([]flow.ToolOption{tool.Unisolated(), tool.Cancellable(), flow.MaxOutput(-1)}, o...)...)
}

// bound is a module ready to be called.
type bound struct {
	Module
	asset *worker.Asset
}

func newBound(m Module) *bound {
	sum := sha256.Sum256([]byte(m.Name + "\x00" + m.Code))
	key := hex.EncodeToString(sum[:16])
	// The name in stack traces; a data: URL would fill them with the code.
	name, _ := json.Marshal(m.Name)
	code := base64.StdEncoding.EncodeToString([]byte(m.Code + "\n//# sourceURL=" + sourceName(m.Name)))
	return &bound{m, &worker.Asset{Key: key, Body: []byte(`{"k":"` + key + `","n":` + string(name) + `,"u":"data:text/javascript;base64,` + code + `"}`)}}
}

// sourceName is name as a sourceURL comment can hold it.
func sourceName(name string) string {
	b := []byte(name)
	for i, c := range b {
		if c <= ' ' || c == '"' || c == '\'' || c >= 0x7f {
			b[i] = '_'
		}
	}
	return string(b)
}

// badResult says whose result the decoder complains about.
func (m *bound) badResult(err error) error {
	var te *value.ToolError
	if !errors.As(err, &te) {
		return err
	}
	e := *te
	e.Message = "result of " + m.Name + ": " + e.Message
	return &e
}

// call runs the module's default export with args, a JSON object. Its result has at most limit bytes.
func (m *bound) call(ctx context.Context, e flow.Effects, args []byte, limit int) ([]byte, error) {
	body, err := m.request(ctx, args, limit)
	if err != nil {
		return nil, err
	}
	secrets, holder := worker.Holder(ctx)
	call := worker.Call{What: m.Name, Body: body, Effects: e, MaxOutput: limit, Asset: m.asset, Holder: holder}
	out, err := m.pool(tool.Isolated(ctx), secrets).Call(ctx, &call)
	if err != nil {
		return nil, tool.RedactorOf(ctx).Error(err)
	}
	return out, nil
}
