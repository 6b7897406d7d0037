package sirenspec

import (
	"regexp"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// An Arg is a keyword argument.
type Arg struct {
	Name  string
	Value Content
}

// A Content is a value of the file with its placeholders filled in, or the error of one that cannot be.
type Content struct {
	value value.Value
	err   error
}

// Const is a value without placeholders.
func Const(v dynamic.Field) Content { return Content{value: v.Value()} }

// Filled is text with placeholders.
func Filled(parts ...Part) Content {
	text, err := Template(parts).text()
	return Content{value.String(text), err}
}

// List is a list of values.
func List(items ...Content) Content {
	out := make([]value.Value, len(items))
	for i := range items {
		if items[i].err != nil {
			return items[i]
		}
		out[i] = items[i].value
	}
	return Content{value: value.List(out...)}
}

// Map is a map of values.
func Map(entries ...Arg) Content {
	v, err := resolveArgs(entries)
	return Content{v, err}
}

func resolveArgs(args []Arg) (value.Value, error) {
	var room [4]value.Entry // few arguments need no other
	out, err := appendArgs(room[:0], args)
	return value.Map(out...), err
}

func appendArgs(out []value.Entry, args []Arg) ([]value.Entry, error) {
	for i := range args {
		a := &args[i]
		if a.Value.err != nil {
			return out, a.Value.err
		}
		out = append(out, value.Entry{Key: a.Name, Value: a.Value.value})
	}
	return out, nil
}

// Python calls a Python function with keyword arguments. function is its name with the module's, as in tools.parse.
func (f *Flow) Python(r *flow.Run, n *flow.Node, t *flow.Tool[value.Value, value.Value], p Policy, function string, args ...Arg) (dynamic.Field, error) {
	in, err := resolveArgs(args)
	if err != nil {
		return dynamic.Field{}, r.Fail(n, err)
	}
	return run(r, n, t, p, in, func(e *value.ToolError) {
		e.Message = "[tool:python] " + raised(e, function)
		details := []value.Entry{{Key: "tool_name", Value: value.String("python")}}
		if cause, ok := e.Details.Get("exception"); ok {
			details = append(details, value.Entry{Key: "cause", Value: cause})
		}
		e.Details = value.Map(append(details, entriesOf(e.Details)...)...)
	})
}

// importFailed finds the exception that importing a module has raised, when it is none for a module that is missing.
var importFailed = regexp.MustCompile(`^Cannot import module ('[^']*'): [A-Z][A-Za-z0-9_.]*(?:: (?s:(.*)))?$`)

// raised is the message of a function that failed, in the engine's words.
func raised(e *value.ToolError, function string) string {
	what, _ := e.Details.Get("exception")
	switch m := importFailed.FindStringSubmatch(e.Message); {
	case e.Code == value.Unknown && what.Kind() == value.StringKind:
		text := e.Message
		if text == what.String() {
			text += ": "
		}
		return "'" + function + "' raised " + text
	case e.Code == value.ValidationError && strings.Contains(e.Message, "() ") && strings.Contains(e.Message, "argument"):
		return "'" + function + "' raised TypeError: " + e.Message // the arguments do not fit
	case e.Code == value.SandboxError && m != nil:
		return "Error importing module " + m[1] + ": " + m[2]
	case e.Code == value.SandboxError && strings.HasSuffix(e.Message, "is not callable"):
		return "'" + function + "' is not callable"
	}
	return e.Message
}

func entriesOf(v value.Value) []value.Entry {
	var out []value.Entry
	for i, key := range v.Keys() {
		out = append(out, value.Entry{Key: key, Value: v.Index(i)})
	}
	return out
}
