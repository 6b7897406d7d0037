package codegen

import (
	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// child is the run of another graph: what it is given, and which of its fields go into the state.
func (b *tokenBody) child(s *check.Step, flow string) jen.Code {
	sub := s.Node.Dynamic.Token.Sub
	var given, taken []jen.Code
	for _, f := range s.Flow.Input.Fields {
		if v := b.handed(s, f); v != nil {
			given = append(given, field(fieldName(f), v))
		}
	}
	result := jen.List(jen.Id("_"), jen.Err())
	read := func(name string) *jen.Statement {
		if s.Flow.Output.Field(name) != nil {
			result = jen.List(jen.Id("out"), jen.Err())
		}
		return b.result(s, name)
	}
	for _, pair := range sub.Out {
		taken = append(taken, put(pair.Parent.Name, jen.Qual(dynamicPath, "Of").Call(read(pair.Child.Name).Dot("Value").Call())))
	}
	if sub.AllOut {
		for i, st := range b.p.WF.State {
			if st.Name.Name == "current_step" || s.Flow.Output.Field(st.Name.Name) == nil {
				continue
			}
			v := read(st.Name.Name)
			if tokenMerge(st) == "Append" && sub.AllIn {
				v = jen.Qual(graphPath, "Grown").Call(jen.Id("state").Dot(ident(fieldName(b.p.State.Fields[i]))), v)
			}
			taken = append(taken, put(st.Name.Name, v))
		}
	}
	return jen.Id(ident(flow)).Dot("Child").Call(b.node(s), jen.Func().Params().Params(jen.Qual(dynamicPath, "Field"), jen.Error()).Block(
		result.Op(":=").Id(ident(b.g.p.Names.Bodies[s.Flow])).Call(jen.Id("run").Dot("In").Call(b.node(s)), jen.Add(b.g.goType(s.Flow.Input)).Custom(braces(len(given) > 3), given...)),
		jen.Return(jen.Qual(dynamicPath, "Object").Custom(parens(len(taken) > 2), taken...), jen.Err())))
}

// handed is what the other graph is given for a field; nil: nothing.
func (b *tokenBody) handed(s *check.Step, f *schema.Field) jen.Code {
	sub := s.Node.Dynamic.Token.Sub
	for _, pair := range sub.In {
		if pair.Child.Name == f.Name {
			return b.value(pair.Ref)
		}
	}
	if !sub.AllIn {
		return nil
	}
	if b.inside && f.Name == b.item {
		return jen.Id("item")
	}
	for i, st := range b.p.WF.State {
		if st.Name.Name == f.Name {
			return jen.Id("state").Dot(ident(fieldName(b.p.State.Fields[i])))
		}
	}
	return nil
}

// result is a field of what the other graph ends with.
func (b *tokenBody) result(s *check.Step, name string) *jen.Statement {
	if f := s.Flow.Output.Field(name); f != nil {
		return jen.Id("out").Dot(ident(fieldName(f)))
	}
	return jen.Qual(dynamicPath, "Null").Call()
}
