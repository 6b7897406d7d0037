package openexpertise

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// The functions that read records in the native language.
const (
	datasetFunc = schema.RuntimePath + "/openexpertise.Records"
	rowsFunc    = schema.RuntimePath + "/openexpertise/sqlite.Records"
)

// dataset is a node that reads a file of records.
func (x *experience) dataset(u *unit, n *ir.Node, b *ir.Made) {
	f, args := b.New.Node.Func, b.New.Node.Kids
	if f.Name == "Rows" && len(args) == 3 {
		x.source(u, n, rowsFunc, "rows", "query", args[1:])
		return
	}
	if f.Name != "File" || len(args) != 3 {
		kind := convert.Below(u.tree, "source", "kind").Text()
		if _, of, ok := strings.Cut(kind, ":"); ok {
			kind = strings.TrimSpace(of)
		}
		x.Refuse(b.New.Text.Span, "read it in a tool", "datasets of the kind %s are not converted", kind)
		return
	}
	x.source(u, n, datasetFunc, "records", "format", args[1:])
}

// source calls a function that reads the records of a file. how is its second argument.
func (x *experience) source(u *unit, n *ir.Node, function, name, how string, args []*expr.Node) {
	uri, _ := args[0].Value.(string)
	what, _ := args[1].Value.(string)
	tool := x.declare(function, name, &ir.Tool{Binding: convert.Go(function), Effects: ir.EffectsReads})
	n.Verb = &ir.ToolCall{Name: tool, With: convert.With(convert.Pair("uri", convert.Literal(uri)), convert.Pair(how, convert.Literal(what)))}
	n.Set = []*ir.Set{convert.Set(u.writes[0], n.ID.Name)}
}

// declare is the key of a tool. Those of the same shape are one.
func (x *experience) declare(shape, name string, t *ir.Tool) ir.Ident {
	if _, is := x.shapes[shape]; !is {
		t.Key = convert.Name(convert.Free(convert.NativeID(name), x.toolKey))
		x.shapes[shape] = t.Key.Name
		x.Out.Tools = append(x.Out.Tools, t)
	}
	return convert.Name(x.shapes[shape])
}

func (x *experience) toolKey(name string) bool {
	return slices.ContainsFunc(x.Out.Tools, func(t *ir.Tool) bool { return t.Key.Name == name })
}

// jsTool is the key of a module's tool.
func (x *experience) jsTool(u *unit, tool *ir.Tool, b *ir.JSTool, in *schema.Type) ir.Ident {
	delta, out := convert.Struct(), convert.Struct()
	add := func(name string, t *schema.Type) { out.Fields = append(out.Fields, convert.Field(name, t)) }
	for _, f := range u.writes {
		delta.Fields = append(delta.Fields, convert.Field(f, holds(x.fields[f])))
	}
	if len(delta.Fields) > 0 || u.module.says("state_delta") {
		add("state_delta", delta)
	}
	maybe := schema.OptOf(schema.AnyType, "")
	handsOn := x.handsOn(u)
	other := len(out.Fields) == 0 && !handsOn && !u.module.says("edge_output") && !u.module.says("metrics") // what it may return, and nothing else
	if handsOn {
		add("edge_output", schema.AnyType)
	} else if other || u.module.says("edge_output") {
		add("edge_output", maybe)
	}
	if other || u.module.says("metrics") {
		add("metrics", maybe)
	}
	path := b.Path.Name
	if !strings.HasPrefix(path, "./") && !strings.HasPrefix(path, "../") {
		path = "./" + path
	}
	name := tool.Key.Name
	if x.toolKey(convert.NativeID(name)) {
		name = x.IDs[u.node.ID.Name]
	}
	return x.declare(path+in.String()+out.String(), name, &ir.Tool{Binding: &ir.JSTool{Path: convert.Name(path)}, In: in, Out: out, Effects: ir.EffectsExternal})
}
