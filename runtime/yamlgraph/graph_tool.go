package yamlgraph

import (
	"context"
	"errors"
	"slices"

	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/dynamic/py"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// GraphTool makes a tool of another graph. It is called with the fields that the graph begins with and gives the field that
// run returns as text: lists and maps as JSON, other values as Python writes them. As in the engine an error of the graph is
// such a text, too, which begins with `Error: `. What the graph does is part of one call: it is recorded as a whole.
func GraphTool(name string, e flow.Effects, info *flow.Info, run func(r *flow.Run, args dynamic.Field) (dynamic.Field, error), o ...flow.ToolOption) *flow.Tool[value.Value, value.Value] {
	return flow.Bind(name, e, func(ctx context.Context, in value.Value) (value.Value, error) {
		out, err := inside(ctx, info, func(r *flow.Run) (dynamic.Field, error) { return run(r, dynamic.Of(in)) })
		var te *value.ToolError
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return value.Null(), err
		case errors.As(err, &te):
			return value.String("Error: " + te.Message), nil
		default:
			return value.String("Error: " + err.Error()), nil
		}
		if k := out.Value().Kind(); k == value.ListKind || k == value.MapKind {
			return value.String(py.JSON(out.Value(), -1, false)), nil
		}
		return value.String(py.Str(out)), nil
	}, append([]flow.ToolOption{tool.Cancellable(), flow.MaxOutput(-1), tool.Timeout(0)}, o...)...) // its calls have bounds
}

// inside runs a graph inside of a call.
func inside(ctx context.Context, info *flow.Info, f func(*flow.Run) (dynamic.Field, error)) (out dynamic.Field, err error) {
	rt, err := flow.New(info)
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
	Parsed string   // the field of the mapping that a graph tool returns; empty: none
	Graphs []string // the tools that give such a mapping
}

// Choose is ToolCall with more rules.
func (f *Flow) Choose(r *flow.Run, n *flow.Node, c Choosing, id, tool, args dynamic.Field, call Choice) error {
	if err := f.given(r, n); err != nil {
		return err
	}
	name := py.Str(tool)
	wrong := ""
	var v, parsed value.Value
	if c.Parsed != "" && !slices.Contains(c.Graphs, name) {
		wrong = "parsed_key '" + c.Parsed + "' requires a graph-runtime tool; '" + name + "' is not one"
		v = value.Map(value.Entry{Key: "task_id", Value: id.Value()}, value.Entry{Key: "tool", Value: tool.Value()}, value.Entry{Key: "success", Value: value.Bool(false)},
			value.Entry{Key: "result", Value: value.Null()}, value.Entry{Key: "error", Value: value.String(wrong)})
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
		return r.Fail(n, value.Errorf(value.Unknown, "tool_call node '%s': tool '%s' failed: %s", n.ID, name, wrong))
	case wrong == "" && c.Parsed != "":
		f.write(c.Parsed, parsed)
	}
	return f.put(n, c.Key, v, nil)
}

// parse reads the mapping that a graph tool returns; wrong says why there is none.
func (c *Choosing) parse(v value.Value) (parsed value.Value, wrong string) {
	result, _ := v.Get("result")
	text := result.String()
	begin := string([]rune(text)[:min(400, len([]rune(text)))])
	parsed, err := value.Parse([]byte(text))
	switch {
	case err != nil:
		return parsed, "parsed_key '" + c.Parsed + "': output is not valid JSON — raw output: " + py.Quote(begin)
	case parsed.Kind() != value.MapKind:
		return parsed, "parsed_key '" + c.Parsed + "': JSON output is " + py.TypeName(parsed) + ", expected object — raw output: " + py.Quote(begin)
	}
	return parsed, ""
}

// failed is a result with what is wrong with it; empty: nothing is.
func failed(v value.Value, wrong string) value.Value {
	if wrong == "" {
		return v
	}
	var out []value.Entry
	for i, key := range v.Keys() {
		switch e := (value.Entry{Key: key, Value: v.Index(i)}); key {
		case "success":
			out = append(out, value.Entry{Key: key, Value: value.Bool(false)})
		case "error":
			out = append(out, value.Entry{Key: key, Value: value.String(wrong)})
		default:
			out = append(out, e)
		}
	}
	return value.Map(out...)
}
