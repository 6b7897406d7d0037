package yamlgraph

import (
	"context"
	"errors"
	"slices"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/dynamic/py"
)

// GraphTool makes a tool of another graph. It is called with the fields that the graph begins with and gives the field that
// run returns as text: lists and maps as JSON, other values as Python writes them. As in the engine an error of the graph is
// such a text, too, which begins with `Error: `. What the graph does is part of one call: it is recorded as a whole.
func GraphTool(name string, e runtime.Effects, info *runtime.Info, run func(r *runtime.Run, args dynamic.Field) (dynamic.Field, error), o ...runtime.ToolOption) *runtime.Tool[runtime.Value, runtime.Value] {
	return runtime.Bind(name, e, func(ctx context.Context, in runtime.Value) (runtime.Value, error) {
		out, err := inside(ctx, info, func(r *runtime.Run) (dynamic.Field, error) { return run(r, dynamic.Of(in)) })
		var te *runtime.ToolError
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return runtime.Null(), err
		case errors.As(err, &te):
			return runtime.StringValue("Error: " + te.Message), nil
		default:
			return runtime.StringValue("Error: " + err.Error()), nil
		}
		if k := out.Value().Kind(); k == runtime.ListKind || k == runtime.MapKind {
			return runtime.StringValue(py.JSON(out.Value(), -1, false)), nil
		}
		return runtime.StringValue(py.Str(out)), nil
	}, o...)
}

// inside runs a graph inside of a call.
func inside(ctx context.Context, info *runtime.Info, f func(*runtime.Run) (dynamic.Field, error)) (out dynamic.Field, err error) {
	rt, err := runtime.New(info)
	if err != nil {
		return out, err
	}
	r := rt.Start(ctx)
	defer r.End(&err)
	return f(r)
}

// Choosing says what becomes of the result of a tool that the state names.
type Choosing struct {
	Key    string   // the field of the result
	Stops  bool     // a call that fails ends the run
	Parsed string   // the field of the mapping that a graph tool gives; empty: none
	Graphs []string // the tools that give such a mapping
}

// Choose is ToolCall with more rules.
func (f *Flow) Choose(r *runtime.Run, n *runtime.Node, c Choosing, id, tool, args dynamic.Field, call Choice) error {
	if err := f.given(r, n); err != nil {
		return err
	}
	name := py.Str(tool)
	wrong := ""
	var v, parsed runtime.Value
	if c.Parsed != "" && !slices.Contains(c.Graphs, name) {
		wrong = "parsed_key '" + c.Parsed + "' requires a graph-runtime tool; '" + name + "' is not one"
		v = runtime.MapValue(runtime.Entry{Key: "task_id", Value: id.Value()}, runtime.Entry{Key: "tool", Value: tool.Value()}, runtime.Entry{Key: "success", Value: runtime.BoolValue(false)},
			runtime.Entry{Key: "result", Value: runtime.Null()}, runtime.Entry{Key: "error", Value: runtime.StringValue(wrong)})
	} else {
		var err error
		if v, err = Choose(r, n, id, tool, args, call); err != nil {
			return err
		}
		if message, _ := v.Get("error"); !message.IsNull() {
			wrong = message.String()
		} else if c.Parsed != "" {
			parsed, wrong = c.parse(v)
			v = failed(v, wrong)
		}
	}
	switch {
	case wrong != "" && c.Stops:
		return r.Fail(n, runtime.Errorf(runtime.Unknown, "tool_call node '%s': tool '%s' failed: %s", n.ID, name, wrong))
	case wrong == "" && c.Parsed != "":
		f.write(c.Parsed, parsed)
	}
	return f.put(n, c.Key, v, nil)
}

// parse reads the mapping that a graph tool gives; wrong says why there is none.
func (c *Choosing) parse(v runtime.Value) (parsed runtime.Value, wrong string) {
	result, _ := v.Get("result")
	text := result.String()
	begin := string([]rune(text)[:min(400, len([]rune(text)))])
	parsed, err := runtime.ParseValue([]byte(text))
	switch {
	case err != nil:
		return parsed, "parsed_key '" + c.Parsed + "': output is not valid JSON — raw output: " + py.Quote(begin)
	case parsed.Kind() != runtime.MapKind:
		return parsed, "parsed_key '" + c.Parsed + "': JSON output is " + py.TypeName(parsed) + ", expected object — raw output: " + py.Quote(begin)
	}
	return parsed, ""
}

// failed is a result with what is wrong with it; empty: nothing is.
func failed(v runtime.Value, wrong string) runtime.Value {
	if wrong == "" {
		return v
	}
	var out []runtime.Entry
	for i, key := range v.Keys() {
		switch e := (runtime.Entry{Key: key, Value: v.Index(i)}); key {
		case "success":
			out = append(out, runtime.Entry{Key: key, Value: runtime.BoolValue(false)})
		case "error":
			out = append(out, runtime.Entry{Key: key, Value: runtime.StringValue(wrong)})
		default:
			out = append(out, e)
		}
	}
	return runtime.MapValue(out...)
}
