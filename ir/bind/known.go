package bind

import (
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// runtimeFunctions are functions of flowgen's own runtime that converted workflows name. They are bound without the go command, so that
// such workflows need no Go module around them: every program of flowgen has the runtime. A test holds them to the source.
var runtimeFunctions = map[string]*ir.GoBinding{
	schema.RuntimePath + "/nautilus.Ask": inStruct("nautilus", "Ask", "Request", schema.AnyType,
		&schema.Field{Name: "agent_id", GoName: "AgentID", Type: schema.StringType}, &schema.Field{Name: "intent", GoName: "Intent", Type: schema.StringType}),
	schema.RuntimePath + "/openexpertise.Records": inStruct("openexpertise", "Records", "RecordsFile", schema.ListOf(schema.AnyType),
		&schema.Field{Name: "uri", GoName: "URI", Type: schema.StringType}, &schema.Field{Name: "format", GoName: "Format", Type: &schema.Type{Kind: schema.Enum, Values: []string{"json", "jsonl", "csv"}, Go: &schema.Go{Name: "string"}}}),
	schema.RuntimePath + "/sirenspec.Uninjected": ofText("Uninjected"),
	schema.RuntimePath + "/sirenspec.Shortened":  ofText("Shortened", &ir.GoParam{Name: "most", Type: goInt}),
	schema.RuntimePath + "/sirenspec.Short":      ofText("Short", &ir.GoParam{Name: "most", Type: goInt}),
	schema.RuntimePath + "/sirenspec.Redacted": ofText("Redacted", &ir.GoParam{Name: "entities", Type: schema.ListOf(schema.StringType)},
		&ir.GoParam{Name: "instead", Type: schema.StringType}),
	schema.RuntimePath + "/sirenspec.Impersonal": ofText("Impersonal", &ir.GoParam{Name: "entities", Type: schema.ListOf(schema.StringType)}),
	schema.RuntimePath + "/sirenspec.Fitting":    ofText("Fitting", &ir.GoParam{Name: "schema", Type: schema.StringType}),
}

func init() {
	for name, content := range map[string]*schema.Type{"WriteText": schema.StringType, "WriteBytes": schema.BytesType, "WriteValue": schema.AnyType} {
		ofOwn("stargraph", name, schema.AnyType, &ir.GoParam{Name: "content", Type: content}, &ir.GoParam{Name: "name", Type: schema.StringType},
			&ir.GoParam{Name: "contentType", Type: schema.StringType}, &ir.GoParam{Name: "metadata", Type: schema.AnyType}).Context = true
	}
	for name, v := range map[string]*schema.Type{"FormatString": schema.StringType, "FormatInt": schema.IntType, "FormatFloat": schema.FloatType,
		"FormatBool": schema.BoolType, "FormatBytes": schema.BytesType, "FormatValue": schema.AnyType} {
		ofOwn("stargraph", name, schema.StringType, &ir.GoParam{Name: "value", Type: v}, &ir.GoParam{Name: "format", Type: schema.StringType})
	}
}

// ofOwn adds a function with parameters of its own that can fail.
func ofOwn(pkg, name string, out *schema.Type, params ...*ir.GoParam) *ir.GoBinding {
	b := &ir.GoBinding{Path: schema.RuntimePath + "/" + pkg, Package: pkg, Func: name, Err: true, Out: out, In: &schema.Type{Kind: schema.Struct}, Params: params}
	for _, p := range params {
		b.In.Fields = append(b.In.Fields, &schema.Field{Name: p.Name, Type: p.Type})
	}
	runtimeFunctions[b.Path+"."+name] = b
	return b
}

// goInt is an int of Go.
var goInt = &schema.Type{Kind: schema.Int, Go: &schema.Go{Name: "int"}}

// ofText is a function of the package sirenspec that gives text as a guardrail lets it pass.
func ofText(name string, more ...*ir.GoParam) *ir.GoBinding {
	b := &ir.GoBinding{Path: schema.RuntimePath + "/sirenspec", Package: "sirenspec", Func: name, Err: true, Out: schema.StringType, In: &schema.Type{Kind: schema.Struct}}
	b.Params = append([]*ir.GoParam{{Name: "text", Type: schema.StringType}}, more...)
	for _, p := range b.Params {
		b.In.Fields = append(b.In.Fields, &schema.Field{Name: p.Name, Type: p.Type})
	}
	return b
}

// inStruct is a function of a context and a struct that can fail.
func inStruct(pkg, name, in string, out *schema.Type, fields ...*schema.Field) *ir.GoBinding {
	path := schema.RuntimePath + "/" + pkg
	t := &schema.Type{Kind: schema.Struct, Fields: fields, Go: &schema.Go{Path: path, Name: in}}
	return &ir.GoBinding{Path: path, Package: pkg, Func: name, Context: true, Struct: true, Err: true, In: t, Out: out, Params: []*ir.GoParam{{Name: "in", Type: t}}}
}

// bindKnown binds a reference to such a function, and reports whether it is one.
func (r *resolver) bindKnown(f *ref) bool {
	b := runtimeFunctions[f.id.Name]
	if b == nil || f.fn == nil || f.use == useReducer {
		return false
	}
	own := *b
	f.fn.Bind = &own
	if f.tool != nil {
		r.fillTool(f, &own)
	}
	return true
}
