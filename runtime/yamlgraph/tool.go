package yamlgraph

import (
	"cmp"
	"errors"
	"regexp"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/dynamic/py"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// A Choice is the function that calls the tool of a name, which the generator writes.
type Choice func(*flow.Run, string, *value.Args) (value.Value, error)

// Choose calls the tool that data names. The result is a map that says what became of the call, whatever became of it
// (Tool Call Nodes, Result Structure). The error is one of the run.
func Choose(r *flow.Run, n *flow.Node, id, tool, args dynamic.Field, call Choice) (value.Value, error) {
	name := tool.Value().String()
	switch tool.Value().Kind() {
	case value.StringKind:
	case value.NullKind:
		name = "None"
	default:
		name = py.Str(tool)
	}
	out, err := flow.Choose(r, n, id.Value(), name, value.ValueArgs(args.Value()), call)
	if err != nil {
		return value.Value{}, err
	}
	message := value.Null()
	if out.Error != nil {
		text := *out.Error
		if text == flow.DeniedTool(name).Error() { // a tool that is not a python tool
			text = "Unknown tool: " + name
		}
		message = value.String(text)
	}
	return value.Map(
		value.Entry{Key: "task_id", Value: out.TaskID}, value.Entry{Key: "tool", Value: tool.Value()}, value.Entry{Key: "success", Value: value.Bool(out.Success)},
		value.Entry{Key: "result", Value: out.Result}, value.Entry{Key: "error", Value: message},
	), nil
}

var exceptionName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*: `)

// ChooseUpstream is Choose with the rules of the engine: what is not a mapping stands for no arguments, and the text of an
// exception comes without its name.
func ChooseUpstream(r *flow.Run, n *flow.Node, id, tool, args dynamic.Field, call Choice) (value.Value, error) {
	if args.Value().Kind() != value.MapKind {
		args = dynamic.Null()
	}
	return Choose(r, n, id, tool, args, func(r *flow.Run, name string, a *value.Args) (value.Value, error) {
		v, err := call(r, name, a)
		var te *value.ToolError
		if err == nil || flow.Skipped(err) != nil || !errors.As(err, &te) || te.Code != value.Unknown {
			return v, err
		}
		if _, unknown := strings.CutPrefix(te.Message, "Unknown tool: "); unknown {
			return v, err
		}
		plain := *te
		plain.Message = exceptionName.ReplaceAllString(te.Message, "")
		return v, r.Fail(n, &plain)
	})
}

// ToolCall runs a tool_call node: the result of Choose goes into a field.
func (f *Flow) ToolCall(r *flow.Run, n *flow.Node, key string, id, tool, args dynamic.Field, call Choice) error {
	if err := f.given(r, n); err != nil {
		return err
	}
	v, err := Choose(r, n, id, tool, args, call)
	return f.put(n, key, v, err)
}

// ToolCallUpstream is ToolCall with ChooseUpstream.
func (f *Flow) ToolCallUpstream(r *flow.Run, n *flow.Node, key string, id, tool, args dynamic.Field, call Choice) error {
	if err := f.given(r, n); err != nil {
		return err
	}
	v, err := ChooseUpstream(r, n, id, tool, args, call)
	return f.put(n, key, v, err)
}

func (f *Flow) put(n *flow.Node, key string, v value.Value, err error) error {
	if err == nil {
		f.write(key, v)
		f.step(n)
	}
	return err
}

// A Policy is what becomes of a node whose function raises.
type Policy uint8

// The run ends, or the node's field becomes null and the error goes into errors.
const (
	Raise Policy = iota
	Null
)

// Python runs a python node: its function is called with the state. A mapping that it returns is what the node writes,
// anything else goes into the field key.
func (f *Flow) Python(r *flow.Run, n *flow.Node, t *flow.Tool[value.Value, value.Value], key string, p Policy, state dynamic.Field) error {
	return f.function(r, n, key, p, func() (value.Value, error) { return flow.Call(r, n, t, state.Value()) })
}

// function runs a node that is a function of the state.
func (f *Flow) function(r *flow.Run, n *flow.Node, key string, p Policy, call func() (value.Value, error)) error {
	if err := f.given(r, n); err != nil {
		return err
	}
	x := f.ruled()
	if f.reached(n, x.Limit) {
		return nil
	}
	if skip, err := x.before(r, n); err != nil {
		return err
	} else if skip {
		f.skipped(n, key, "Python node '"+n.ID+"' skipped by pre-guard")
		return nil
	}
	v, err := x.run(r, n, call)
	switch {
	case err != nil && (p == Raise || halted(err) || flow.Skipped(err) != nil):
		return err
	case err != nil:
		f.write(key, value.Null())
		f.write("errors", value.List(entry(f.called(n), err)))
	case v.Kind() == value.MapKind:
		for i, k := range v.Keys() {
			f.write(k, v.Index(i))
		}
	default:
		f.write(key, v)
	}
	f.step(n)
	return nil
}

// Tool runs a tool node: what its tool returns goes into the field key.
func (f *Flow) Tool(r *flow.Run, n *flow.Node, t *flow.Tool[value.Value, value.Value], key string, p Policy, args dynamic.Field) error {
	if err := f.given(r, n); err != nil {
		return err
	}
	x := f.ruled()
	if f.reached(n, x.Limit) {
		return nil
	}
	if skip, err := x.before(r, n); err != nil {
		return err
	} else if skip {
		f.skipped(n, key, "Tool node '"+n.ID+"' skipped by pre-guard")
		return nil
	}
	v, err := x.run(r, n, func() (value.Value, error) { return flow.Call(r, n, t, args.Value()) })
	switch {
	case err == nil:
		f.write(key, v)
	case p == Raise || halted(err) || flow.Skipped(err) != nil:
		return err
	default:
		f.write(key, value.Null())
		f.write("errors", value.List(entry(f.called(n), err)))
	}
	f.step(n)
	return nil
}

// called is the name of a node in the state: inside of a map the engine's.
func (f *Flow) called(n *flow.Node) string { return cmp.Or(f.name, n.ID) }

// entry is an error in the state.
func entry(node string, err error) value.Value {
	kind, message := "UNKNOWN", err.Error()
	var te *value.ToolError
	if errors.As(err, &te) {
		if kind, message = string(te.Code), te.Message; te.Code == value.Unknown { // of an exception its text alone
			message = exceptionName.ReplaceAllString(message, "")
		}
	}
	return value.Map(value.Entry{Key: "type", Value: value.String(kind)}, value.Entry{Key: "message", Value: value.String(message)},
		value.Entry{Key: "node", Value: value.String(node)})
}
