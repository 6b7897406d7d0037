package codegen

import (
	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir/schema"
)

// union declares a sealed interface, whose one method returns the tag, and says to decoders which struct a tag stands for.
func (g *generator) union(name string, t *schema.Type) []jen.Code {
	method := tagMethod(name)
	out := []jen.Code{jen.Type().Id(ident(name)).Interface(jen.Id(ident(method)).Params().String()), jen.Line()}
	variants := jen.Dict{}
	for _, v := range t.Variants {
		variant := g.goType(v.Type)
		variants[quote(v.Tag)] = jen.Add(variant).Values()
		out = append(out, jen.Func().Params(variant).Id(ident(method)).Params().String().Block(jen.Return(quote(v.Tag))), jen.Line())
	}
	return append(out, jen.Var().Id("_").Op("=").Qual(valuePath, "Union").Call(quote(t.By), jen.Map(jen.String()).Id(ident(name)).Values(variants)))
}

// tagMethod is the method of a union's interface.
func tagMethod(name string) string { return "tagOf" + name }

// variantOf is the value of a union as the variant that it is known to be.
func (l *lowerer) variantOf(p storage, t *schema.Type) storage {
	code := p.code
	if p.ptr {
		code = jen.Parens(jen.Op("*").Add(code))
	}
	return storage{code: jen.Add(code).Assert(l.goType(t))}
}
