package yamlgraph

import (
	"errors"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/dynamic/jinja"
	"github.com/flowgen-dev/flowgen/runtime/dynamic/py"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// What follows is for native workflows that were graphs: `flowgen convert` makes nodes that call these functions where the
// native language has types, and the graph had none. A value that is absent is null.

// Holds reports whether the part of a value at a path is what a comparison says, in Python: == != < <= > or >=. Values that have no
// order, and those that are absent, are neither less nor more than others.
func Holds(of value.Value, at []string, is string, than value.Value) bool {
	a, b := part(of, at), dynamic.Of(than)
	switch is {
	case "==":
		return py.Equal(a, b)
	case "!=":
		return py.NotEqual(a, b)
	case "<":
		return py.Less(a, b)
	case "<=":
		return py.LessOrEqual(a, b)
	case ">":
		return py.Greater(a, b)
	}
	return py.GreaterOrEqual(a, b)
}

// Truth is what Python takes a value for where it asks for true or false.
func Truth(of value.Value) bool { return py.True(part(of, nil)) }

// At is the part of a value at a path of keys and places; null when there is none.
func At(of value.Value, path []string) value.Value { return part(of, path).Value() }

// Either is a value, or another one where it is null.
func Either(of, other value.Value) value.Value {
	if of.IsNull() {
		return other
	}
	return of
}

// Label is the part of an answer that names a way, as text.
func Label(of value.Value, field string) string { return py.Str(part(of, []string{field})) }

// Filled is what stands for a reference inside of text: the value as Python writes it, or the reference itself where there is
// none.
func Filled(of value.Value, written string) string { return Fill(part(of, nil), written) }

// Joined is a value in a prompt with braces: a list is its items with commas.
func Joined(of value.Value) string {
	var t jinja.Text
	t.Put(dynamic.Of(of), "")
	return t.String()
}

// A Failure is an error that the state keeps.
type Failure struct {
	Type    string `json:"type"`
	Message string `json:"message"`
	Node    string `json:"node"`
}

// Failed is the error of a function as the state keeps it: of an exception its text alone.
func Failed(code, message, node string) Failure {
	v := entry(node, &value.ToolError{Code: value.Code(code), Message: message})
	text, _ := v.Get("message")
	return Failure{code, text.String(), node}
}

// CommandFailed is the error of a command as the state keeps it: what the command has written to its standard error, its exit
// code, or after how many seconds it was ended.
func CommandFailed(code, message string, details value.Value, seconds, node string) Failure {
	exit, exited := details.Get("exit_code")
	stderr, _ := details.Get("stderr")
	switch {
	case code == string(value.Timeout) && seconds != "":
		message = "Command timed out after " + seconds + " seconds"
	case exited && stderr.String() != "":
		message = stderr.String()
	case exited:
		message = "Exit code " + exit.String()
	}
	return Failure{code, message, node}
}

// A Parsed is the value of a JSON document, or what is wrong with it.
type Parsed struct {
	Value value.Value `json:"value"`
	Error *string     `json:"error"`
}

// ParsedJSON reads a JSON document that a command has written.
func ParsedJSON(text string) Parsed {
	v, err := value.Parse([]byte(text))
	if err != nil {
		wrong := "JSON parse error: " + strings.TrimPrefix(err.Error(), string(value.ValidationError)+": ")
		return Parsed{Error: &wrong}
	}
	return Parsed{Value: v}
}

// Present is the state as a function sees it that looks at which fields there are: without those that have no value.
func Present(of value.Value) map[string]value.Value {
	out := map[string]value.Value{}
	for i := range of.Len() {
		if v := of.Index(i); !v.IsNull() {
			out[of.Key(i)] = v
		}
	}
	return out
}

// Raised is the error of a call without the class of what was raised, which is not a code: the older engine has the text alone. It
// is null when the call succeeded.
func Raised(error value.Value) value.Value {
	if error.IsNull() {
		return error
	}
	text := error.String()
	class := exceptionName.FindString(text)
	if name := class[strings.LastIndexByte(strings.TrimSuffix(class, ": "), '.')+1:]; name != "" && name != strings.ToUpper(name) && name[:1] == strings.ToUpper(name[:1]) && name[0] != '_' {
		text = text[len(class):]
	}
	return value.String(text)
}

// Word is what stands for a value in a command, before it is quoted; nil where there is none.
func Word(of value.Value) *string {
	text := ""
	switch of.Kind() {
	case value.NullKind:
		return nil
	case value.ListKind, value.MapKind:
		text = py.JSON(of, -1, false)
	default:
		text = py.Str(dynamic.Of(of))
	}
	return &text
}

// An Interruption is what a user is asked, and what the state keeps of it.
type Interruption struct {
	Payload value.Value `json:"payload"`
	Text    string      `json:"text"`
}

// Asking is what a user is asked: what the state holds already, or else a message.
func Asking(held, message value.Value) Interruption {
	payload := Either(held, message)
	return Interruption{payload, asked(payload)}
}

// Calculate calculates as Python does, with + - * or /, but that a list grows by what is added to it. It is null when the left side
// is.
func Calculate(left value.Value, op string, right value.Value) (value.Value, error) {
	var f Flow
	calculate := map[string]func(a, b dynamic.Field) dynamic.Field{"+": f.Add, "-": f.Sub, "*": f.Mul, "/": f.Div}[op]
	if calculate == nil {
		return value.Null(), value.Invalid("unknown calculation %q", op)
	}
	v := calculate(part(left, nil), part(right, nil))
	var te *value.ToolError
	switch {
	case errors.As(f.wrong, &te):
		return value.Null(), te
	case f.wrong != nil:
		return value.Null(), value.Invalid("%v", f.wrong)
	}
	return v.Value(), nil
}

// Calculated is Calculate with null in place of a mistake.
func Calculated(left value.Value, op string, right value.Value) value.Value {
	v, _ := Calculate(left, op, right)
	return v
}

func part(of value.Value, path []string) dynamic.Field {
	if of.IsNull() {
		return dynamic.Field{}
	}
	if f := dynamic.Of(of); len(path) > 0 {
		return f.At(path...)
	}
	return dynamic.Of(of)
}
