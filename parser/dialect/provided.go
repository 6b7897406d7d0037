package dialect

import (
	"path"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// Provide is a function of the package pkg below the runtime, with parameters of its own, that can fail.
func Provide(pkg, name string, out *schema.Type, params ...*ir.GoParam) *ir.GoBinding {
	b := &ir.GoBinding{Path: schema.RuntimePath + "/" + pkg, Package: path.Base(pkg), Func: name, Err: true, Out: out, In: &schema.Type{Kind: schema.Struct}, Params: params}
	for _, p := range params {
		b.In.Fields = append(b.In.Fields, &schema.Field{Name: p.Name, Type: p.Type})
	}
	return b
}

// PyText writes a value as Python's str() does.
func PyText() *ir.GoBinding {
	b := Provide("dynamic/py", "Text", schema.StringType, &ir.GoParam{Name: "v", Type: schema.AnyType})
	b.Err = false
	return b
}

// ProvideIn is a function of a context and a struct, called in, that can fail.
func ProvideIn(pkg, name, in string, out *schema.Type, fields ...*schema.Field) *ir.GoBinding {
	t := &schema.Type{Kind: schema.Struct, Fields: fields, Go: &schema.Go{Path: schema.RuntimePath + "/" + pkg, Name: in}}
	b := Provide(pkg, name, out, &ir.GoParam{Name: "in", Type: t})
	b.Context, b.Struct, b.In = true, true, t
	return b
}
