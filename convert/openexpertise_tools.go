package convert

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// datasetFunc reads records in the native language.
const datasetFunc = schema.RuntimePath + "/openexpertise.Records"

// dataset writes a node that reads a file of records.
func (x *experience) dataset(u *unit, m *mapping, b *ir.Made, result string) {
	const name = "records"
	f, args := b.New.Node.Func, b.New.Node.Kids
	if f.Name != "File" || len(args) != 3 {
		kind := below(u.tree, "source", "kind").Text()
		if _, of, ok := strings.Cut(kind, ":"); ok {
			kind = strings.TrimSpace(of)
		}
		x.refuse(b.New.Text.Span, "read it in a tool", "datasets of the kind %s are not converted", kind)
		return
	}
	uri, _ := args[1].Value.(string)
	format, _ := args[2].Value.(string)
	if _, is := x.shapes[datasetFunc]; !is {
		x.shapes[datasetFunc] = x.toolName(name)
		x.tools.add(x.shapes[datasetFunc], flow(pair("go", scalar(quoted(datasetFunc))), pair("effects", scalar("reads"))), source.Span{})
	}
	m.add("tool", scalar(x.shapes[datasetFunc]), source.Span{})
	m.add("with", flow(pair("uri", constant(&ir.Scalar{Text: source.Text{Value: uri}, Tag: "!!str"})), pair("format", scalar(format))), below(u.tree, "source"))
	m.add("set", flow(pair(u.writes[0], scalar("$"+result))), below(u.tree, "writes"))
}

// toolName is a key that no other tool has.
func (x *experience) toolName(name string) string {
	name = nativeID(name)
	for slices.ContainsFunc(x.tools.entries, func(e *entry) bool { return e.key == name }) {
		name += "_"
	}
	return name
}

// jsTool is the key of a module's tool. Nodes that call a module in the same way share one.
func (x *experience) jsTool(u *unit, tool *ir.Tool, b *ir.JSTool, in *mapping) string {
	delta := flow()
	for _, f := range u.writes {
		s := x.fields[f]
		typ := s.Type
		if s.Merge.Kind == ir.MergeAppend {
			typ = schema.ListOf(schema.AnyType)
		}
		delta.add(f, x.typ(typ, s.Span), source.Span{})
	}
	out := flow()
	if len(delta.entries) > 0 || u.module.says("state_delta") {
		out.add("state_delta", delta, source.Span{})
	}
	if x.handsOn(u) {
		out.add("edge_output", scalar("any"), source.Span{})
	} else if u.module.says("edge_output") {
		out.add("edge_output", scalar("opt<any>"), source.Span{})
	}
	if u.module.says("metrics") {
		out.add("metrics", scalar("opt<any>"), source.Span{})
	}
	if len(out.entries) == 0 { // what it may return, and nothing else
		out.add("edge_output", scalar("opt<any>"), source.Span{})
		out.add("metrics", scalar("opt<any>"), source.Span{})
	}
	def := &mapping{}
	def.add("js", scalar(quoted(jsPath(b.Path.Name))), source.Span{})
	def.add("in", in, source.Span{})
	def.add("out", out, source.Span{})
	def.add("effects", scalar("external"), source.Span{})
	key := write(nil, def, nil)
	if name, is := x.shapes[key]; is {
		return name
	}
	name := tool.Key.Name
	if slices.ContainsFunc(x.tools.entries, func(e *entry) bool { return e.key == nativeID(name) }) {
		name = x.ids[u.node.ID.Name]
	}
	x.shapes[key] = x.toolName(name)
	x.tools.add(x.shapes[key], def, source.Span{})
	return x.shapes[key]
}

// jsPath is a module as the native language names it.
func jsPath(name string) string {
	if strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../") {
		return name
	}
	return "./" + name
}
