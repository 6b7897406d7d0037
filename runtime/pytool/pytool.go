// Package pytool binds Python functions as tools. They run in a pool of
// long-lived interpreters (package worker), which need Python 3.9 or newer and
// nothing beyond the standard library.
//
// # Calls
//
// The fields of the input are keyword arguments. An argument whose parameter is
// annotated with a dataclass, enum, datetime, date, time, timedelta (from
// nanoseconds), Decimal, bytes (from base64), UUID, path, set or tuple, also inside
// of containers, Optional and TypedDict, is made into one; a class with
// model_validate (pydantic) gets the object. Results go the other way; a set must
// be sortable and becomes a list, a timedelta is text such as "1500000us". NaN,
// lone surrogates and other objects are refused.
//
// Sync functions run in parallel, one in the main thread of each interpreter and
// the others in threads; async ones run in one event loop of their interpreter. A
// module is imported once in each interpreter and keeps its variables; which
// interpreter a call gets is not defined. Bytecode is not written.
//
// Functions share interpreters only when they have the same module, the same secrets with
// the same values, the same tenant and the same isolation. Functions of a Source with
// Inherit and without isolation share them whatever their modules are. An interpreter that
// leaks descriptors, threads, processes or memory is replaced, see package worker.
//
// # What a function can ask for
//
// In a worker `import flowgen` gives flowgen.context(), with auth (secrets by name),
// call_id, tenant_id and idempotency_key; the last three are empty in calls that
// nothing records or gates. flowgen.attach(kind, url, content_type, bytes) puts a blob, an image or a table that stands
// elsewhere next to the result (tool.Attach). A parameter annotated flowgen.Context gets the same and
// is not an argument. raise flowgen.ToolError(code, message, details, retry_after_s)
// chooses one of the nine codes, as does any exception whose attribute code is one.
//
// # Errors
//
// Those of package worker, and
//
//   - UNKNOWN: the function raised; the message is "TypeName: text", the details are
//     exception, traceback (its end) and output (the end of what the call printed)
//   - VALIDATION_ERROR: arguments that do not fit, a result that has no JSON or does
//     not fit the declared type
//   - SANDBOX_ERROR: "Cannot import module 'm': ...", "Module 'm' has no attribute 'f'"
package pytool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
	"github.com/flowgen-dev/flowgen/runtime/worker"
)

// Source says where modules are found. Tools with one Source share interpreters; it must not change after the first call.
type Source struct {
	// Files are sources that are part of the program: *.py files and what they read with pkgutil.get_data.
	// Nothing of them is written to disk. They come before everything but Python's built-in modules.
	Files fs.FS

	// Path are folders that come first in sys.path, relative to the working directory. Without Files and Path it is
	// the working directory. PYTHONPATH of this process follows.
	Path []string

	// Spare are modules that come after everything else: they stand in for packages that are not installed.
	Spare fs.FS

	// Interpreter is the program to run; empty means FLOWGEN_PYTHON, the virtual environment VIRTUAL_ENV, python3
	// or python, whichever there is first.
	Interpreter string

	// Inherit calls functions as the engines of other languages do, from within their own process: they see all variables
	// of this program's environment, and not those alone that proc.Environment names. Without Spare, whose packages have
	// the classes of states, arguments are what JSON holds, whatever annotations say, and a result that has no JSON is its
	// text; with it they are what annotations say, as anywhere else. Dates, times and timedeltas of such a result are again
	// what they were where data of type any hand them to another function, and a mapping has its fields as attributes, too,
	// where the module of the function looks at attributes of their names.
	Inherit bool

	// Home, where it is not empty, is the folder that Files are in on disk, relative to the workflow file when flowgen
	// runs it (FLOWGEN_FILE): __file__ says so, and it comes first in sys.path, followed by the working directory. In a
	// program that runs by itself the folder is looked for in the working directory, such as src, and else it is that one.
	Home string
}

// Func names a function.
type Func struct {
	Source *Source // nil is the zero Source
	Module string  // "package.module"
	Name   string  // "function", or "Class.method" for what a class offers without an instance

	// Under is the argument that the input is as a whole; empty: its fields are arguments. Fixed is a JSON object of
	// arguments that every call has besides, and goes with Under.
	Under, Fixed string

	// Unit is whose functions share interpreters, next to what else must be the same; empty: those of Module.
	Unit string

	// Title is what messages call the function; empty: module:name.
	Title string

	// MaxOutput bounds the result's JSON in bytes; 0 means worker.DefaultMaxOutput. Text and values beyond it are cut,
	// and the whole is kept where the run has a store (runtime.WithBlobs).
	MaxOutput int
}

// Bind makes a tool of a Python function. The fields of In are its keyword arguments; a field that JSON leaves out
// (omitempty) leaves the parameter its default. The result is decoded into Out as strictly as value.Decode does; an
// Out of struct{} ignores it.
func Bind[In, Out any](name string, e flow.Effects, f Func, o ...flow.ToolOption) *flow.Tool[In, Out] {
	return flow.Bind(name, e, func(ctx context.Context, in In) (out Out, err error) {
		data, dynamic := any(&in).(*value.Value)
		if dynamic = dynamic && f.Source.plain(); dynamic {
			*data = sent(*data)
		}
		args, err := json.Marshal(&in)
		if err != nil {
			return out, value.Invalid("input of %s: %v", f.what(), err)
		}
		if f.Under != "" {
			args = f.under(args)
		}
		limit := worker.MaxOutput(f.MaxOutput)
		result, err := f.call(ctx, e, args, tool.Room[Out](ctx, limit))
		if err != nil {
			return out, err
		}
		if _, nothing := any(&out).(*struct{}); nothing {
			return out, nil
		}
		err = tool.Cut(ctx, result, limit, &out)
		if data, dynamic := any(&out).(*value.Value); dynamic && f.Source.plain() {
			*data = received(*data)
		}
		return out, f.badResult(err)
	}, append([]flow.ToolOption{tool.Unisolated(), tool.Cancellable(), flow.MaxOutput(-1)}, o...)...)
}

func (f *Func) what() string { return cmp.Or(f.Title, f.Module+":"+f.Name) }

// under puts the input into the fixed arguments.
func (f *Func) under(input []byte) []byte {
	b := append([]byte(strings.TrimSuffix(cmp.Or(f.Fixed, "{}"), "}")), ',')
	if len(b) == 2 {
		b = b[:1]
	}
	b = strconv.AppendQuote(b, f.Under)
	return append(append(append(b, ':'), input...), '}')
}

// badResult says whose result the decoder complains about.
func (f *Func) badResult(err error) error {
	var te *value.ToolError
	if !errors.As(err, &te) {
		return err
	}
	e := *te
	e.Message = "result of " + f.what() + ": " + e.Message
	return &e
}

// call runs the function with args, a JSON object. Its result has at most limit bytes.
func (f *Func) call(ctx context.Context, e flow.Effects, args []byte, limit int) ([]byte, error) {
	body, err := f.request(ctx, args, limit)
	if err != nil {
		return nil, err
	}
	secrets, holder := worker.Holder(ctx)
	call := worker.Call{What: f.what(), Body: body, Effects: e, MaxOutput: limit, Holder: holder}
	out, err := f.pool(tool.Isolated(ctx), secrets).Call(ctx, &call)
	if err != nil {
		return nil, tool.RedactorOf(ctx).Error(err)
	}
	return out, nil
}
