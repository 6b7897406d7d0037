package openexpertise

import (
	"strings"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/convert/doc"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// datasetFunc reads records in the native language.
const datasetFunc = schema.RuntimePath + "/openexpertise.Records"

// dataset writes a node that reads a file of records.
func (x *experience) dataset(u *unit, m *doc.Mapping, b *ir.Made, result string) {
	const name = "records"
	f, args := b.New.Node.Func, b.New.Node.Kids
	if f.Name != "File" || len(args) != 3 {
		kind := convert.Below(u.tree, "source", "kind").Text()
		if _, of, ok := strings.Cut(kind, ":"); ok {
			kind = strings.TrimSpace(of)
		}
		x.Refuse(b.New.Text.Span, "read it in a tool", "datasets of the kind %s are not converted", kind)
		return
	}
	uri, _ := args[1].Value.(string)
	format, _ := args[2].Value.(string)
	if _, is := x.shapes[datasetFunc]; !is {
		x.shapes[datasetFunc] = x.toolName(name)
		x.tools.Add(x.shapes[datasetFunc], doc.Flow(doc.Pair("go", doc.Scalar(doc.Quoted(datasetFunc))), doc.Pair("effects", doc.Scalar("reads"))), source.Span{})
	}
	m.Add("tool", doc.Scalar(x.shapes[datasetFunc]), source.Span{})
	m.Add("with", doc.Flow(doc.Pair("uri", convert.Constant(&ir.Scalar{Text: source.Text{Value: uri}, Tag: "!!str"})), doc.Pair("format", doc.Scalar(format))), convert.Below(u.tree, "source"))
	m.Add("set", doc.Flow(doc.Pair(u.writes[0], doc.Scalar("$"+result))), convert.Below(u.tree, "writes"))
}

// toolName is a key that no other tool has.
func (x *experience) toolName(name string) string {
	name = convert.NativeID(name)
	for x.tools.Find(name) != nil {
		name += "_"
	}
	return name
}

// jsTool is the key of a module's tool. Nodes that call a module in the same way share one.
func (x *experience) jsTool(u *unit, tool *ir.Tool, b *ir.JSTool, in *doc.Mapping) string {
	delta := doc.Flow()
	for _, f := range u.writes {
		s := x.fields[f]
		delta.Add(f, x.Typ(holds(s), s.Span), source.Span{})
	}
	out := doc.Flow()
	if len(delta.Entries) > 0 || u.module.says("state_delta") {
		out.Add("state_delta", delta, source.Span{})
	}
	if x.handsOn(u) {
		out.Add("edge_output", doc.Scalar("any"), source.Span{})
	} else if u.module.says("edge_output") {
		out.Add("edge_output", doc.Scalar("opt<any>"), source.Span{})
	}
	if u.module.says("metrics") {
		out.Add("metrics", doc.Scalar("opt<any>"), source.Span{})
	}
	if len(out.Entries) == 0 { // what it may return, and nothing else
		out.Add("edge_output", doc.Scalar("opt<any>"), source.Span{})
		out.Add("metrics", doc.Scalar("opt<any>"), source.Span{})
	}
	def := &doc.Mapping{}
	def.Add("js", doc.Scalar(doc.Quoted(jsPath(b.Path.Name))), source.Span{})
	def.Add("in", in, source.Span{})
	def.Add("out", out, source.Span{})
	def.Add("effects", doc.Scalar("external"), source.Span{})
	key := doc.Write(nil, def, nil)
	if name, is := x.shapes[key]; is {
		return name
	}
	name := tool.Key.Name
	if x.tools.Find(convert.NativeID(name)) != nil {
		name = x.IDs[u.node.ID.Name]
	}
	x.shapes[key] = x.toolName(name)
	x.tools.Add(x.shapes[key], def, source.Span{})
	return x.shapes[key]
}

// jsPath is a module as the native language names it.
func jsPath(name string) string {
	if strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../") {
		return name
	}
	return "./" + name
}
