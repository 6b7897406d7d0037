// Package pytool makes tools of Python functions. They run in a pool of
// long-lived interpreters (package worker), which need Python 3.9 or newer.
package pytool

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"

	"github.com/flowgen-dev/flowgen/runtime"
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

	// Interpreter is the program to run; empty means FLOWGEN_PYTHON, the virtual environment VIRTUAL_ENV, python3
	// or python, whichever there is first.
	Interpreter string
}

// Func names a function.
type Func struct {
	Source *Source // nil is the zero Source
	Module string  // "package.module"
	Name   string  // "function", or "Class.method" for what a class offers without an instance

	// MaxOutput bounds the result's JSON in bytes; 0 means worker.DefaultMaxOutput.
	MaxOutput int
}

// Bind makes a tool of a Python function. The fields of In are its keyword arguments; a field that JSON leaves out
// (omitempty) leaves the parameter its default. The result is decoded into Out as strictly as runtime.Decode does; an
// Out of struct{} ignores it.
func Bind[In, Out any](name string, e runtime.Effects, f Func, o ...runtime.ToolOption) *runtime.Tool[In, Out] {
	return runtime.Bind(name, e, func(ctx context.Context, in In) (out Out, err error) {
		args, err := json.Marshal(&in)
		if err != nil {
			return out, runtime.Invalid("input of %s: %v", f.what(), err)
		}
		result, err := f.call(ctx, e, args)
		if err != nil {
			return out, err
		}
		if _, nothing := any(&out).(*struct{}); nothing {
			return out, nil
		}
		err = runtime.Decode(result, &out)
		return out, f.badResult(err)
	}, o...)
}

func (f *Func) what() string { return f.Module + ":" + f.Name }

// badResult says whose result the decoder complains about.
func (f *Func) badResult(err error) error {
	var te *runtime.ToolError
	if !errors.As(err, &te) {
		return err
	}
	e := *te
	e.Message = "result of " + f.what() + ": " + e.Message
	return &e
}

// call runs the function with args, a JSON object.
func (f *Func) call(ctx context.Context, e runtime.Effects, args []byte) ([]byte, error) {
	body, err := f.request(ctx, args)
	if err != nil {
		return nil, err
	}
	call := worker.Call{What: f.what(), Body: body, Effects: e, MaxOutput: f.MaxOutput, Tenant: runtime.ToolContext(ctx).TenantID()}
	out, err := f.Source.pool().Call(ctx, &call)
	if err != nil {
		return nil, worker.Redact(ctx, err)
	}
	return out, nil
}
