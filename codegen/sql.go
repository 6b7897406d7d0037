package codegen

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

const sqlPath = runtimePath + "/sqltool"

// sqlTool writes the binding of a statement: what the engine is sent, and the fields that are bound to its parameters.
func (g *generator) sqlTool(t *ir.Tool, b *ir.SQLTool) jen.Code {
	fields := []jen.Code{field("Database", quote(b.DB.Name)), field("Text", quote(b.Text))}
	if rows := map[string]string{"one": "One", "none": "None"}[b.Rows]; rows != "" {
		fields = append(fields, field("Rows", jen.Qual(sqlPath, ident(rows))))
	}
	if b.MaxRows > 0 {
		fields = append(fields, field("MaxRows", jen.Lit(int(b.MaxRows))))
	}
	if t.MaxOutput > 0 {
		fields = append(fields, field("MaxOutput", jen.Lit(int(t.MaxOutput))))
	}
	bound := jen.Code(jen.Nil())
	if len(b.Params) > 0 {
		var args []jen.Code
		for _, p := range b.Params {
			i := slices.IndexFunc(t.In.Fields, func(f *schema.Field) bool { return f.Name == p })
			args = append(args, jen.Id("in").Dot(ident(fieldName(t.In.Fields[i]))))
		}
		bound = jen.Func().Params(jen.Id("in").Add(g.inType(t))).Qual(sqlPath, "Args").Block(jen.Return(jen.Qual(sqlPath, "Args").Values(args...)))
	}
	args := []jen.Code{quote(t.FullName()), effectsName(check.Effects(t)), jen.Qual(sqlPath, "Statement").Custom(braces(true), fields...), bound}
	return jen.Qual(importPath(sqlPath+"/"+b.Engine), "Bind").Types(g.inType(t), g.outType(t)).Call(append(args, g.options(t)...)...)
}
