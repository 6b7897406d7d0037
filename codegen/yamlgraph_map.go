package codegen

import (
	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
)

// each is a map: its node runs for every item.
func (b *tokenBody) each(s *check.Step, v *ir.Map, flow string) jen.Code {
	over := b.value(v.Over)
	inner := s.Body.Steps[0]
	saved := b.roots
	b.roots, b.inside, b.item = map[string]jen.Code{"item": jen.Id("item")}, true, v.As.Name
	defer func() { b.roots, b.inside = saved, false }()
	run := jen.Id("run").Op("*").Qual(runtimePath, "Run")
	item := jen.Id("item").Qual(dynamicPath, "Field")
	d := s.Node.Dynamic.Token
	if pick, ok := inner.Node.Verb.(*ir.ToolChoice); ok && d.Gather == nil && !calculates(pick.Args) && !calculates(pick.Tool) {
		call := jen.Qual(graphPath, ident("Choose"+b.rules())).Call(append([]jen.Code{jen.Id("run"), b.node(inner)}, b.choice(inner, pick)...)...)
		return jen.Id(ident(flow)).Dot("Map").Call(jen.Id("run"), b.node(s), quote(d.Key.Name), over,
			jen.Func().Params(run, item).Params(jen.Qual(runtimePath, "Value"), jen.Error()).Block(jen.Return(call)))
	}
	return jen.Id(ident(flow)).Dot("MapNode").Call(jen.Id("run"), b.node(s), jen.Qual(graphPath, "Gather").Values(gather(d, v)...), over,
		jen.Func().Params(run, jen.Id("flow").Op("*").Qual(graphPath, "Flow"), item).Error().Block(b.branch(inner, "flow")...))
}

// gather says what becomes of the results.
func gather(t *ir.Token, v *ir.Map) []jen.Code {
	out := []jen.Code{field("Into", quote(t.Key.Name)), field("As", quote(v.As.Name))}
	g := t.Gather
	if g == nil {
		return append(out, field("Key", quote("result")))
	}
	out = append(out, field("Key", quote(g.Key)))
	if g.MaxItems > 0 {
		out = append(out, field("MaxItems", jen.Lit(g.MaxItems)))
	}
	if g.Failures != "" {
		out = append(out, field("Failures", quote(g.Failures)))
	}
	if g.Least > 0 {
		out = append(out, field("Least", jen.Lit(g.Least)))
	}
	if g.Share > 0 {
		out = append(out, field("Share", jen.Lit(g.Share)))
	}
	if g.Strict {
		out = append(out, field("Strict", jen.True()))
	}
	if g.Fail {
		out = append(out, field("Fail", jen.True()))
	}
	if g.Flat {
		out = append(out, field("Flat", jen.True()))
	}
	return out
}
