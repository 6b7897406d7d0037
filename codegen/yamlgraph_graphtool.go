package codegen

import (
	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
)

// graphTool writes the binding of a tool that runs another graph.
func (g *generator) graphTool(t *ir.Tool, b *ir.GraphTool) jen.Code {
	var child *check.Program
	for _, p := range g.p.Flows {
		if p.WF == b.Flow {
			child = p
		}
	}
	if child == nil {
		return jen.Nil() // reported
	}
	var given []jen.Code
	for _, f := range child.Input.Fields {
		arg := f.Name
		for _, pair := range b.In {
			if pair.Child.Name == f.Name {
				arg = pair.Parent.Name
			}
		}
		given = append(given, field(fieldName(f), jen.Id("args").Dot("At").Call(quote(arg))))
	}
	var result jen.Code
	if f := child.Output.Field(b.Out); f != nil {
		result = jen.Id("out").Dot(ident(fieldName(f)))
	} else {
		var all []jen.Code
		for _, f := range child.Output.Fields {
			all = append(all, put(f.Name, jen.Id("out").Dot(ident(fieldName(f)))))
		}
		result = jen.Qual(dynamicPath, "Object").Custom(parens(len(all) > 2), all...)
	}
	run := jen.Func().Params(jen.Id("run").Op("*").Qual(runtimePath, "Run"), jen.Id("args").Qual(dynamicPath, "Field")).Params(jen.Qual(dynamicPath, "Field"), jen.Error()).Block(
		jen.List(jen.Id("out"), jen.Err()).Op(":=").Id(ident(g.p.Names.Bodies[child])).Call(jen.Id("run"), jen.Add(g.goType(child.Input)).Custom(braces(len(given) > 3), given...)),
		jen.Return(result, jen.Err()))
	return jen.Qual(graphPath, "GraphTool").Call(append([]jen.Code{quote(t.FullName()), effectsName(check.Effects(t)), jen.Id("Info"), run}, g.options(t)...)...)
}
