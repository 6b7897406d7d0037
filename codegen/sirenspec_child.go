package codegen

import (
	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// outputBucket is the type of what a SirenSpec workflow writes below output.
func outputBucket(p *check.Program) *schema.Type {
	for _, f := range p.State.Fields {
		if f.Name == "output" {
			return f.Type
		}
	}
	return schema.EmptyType
}

// outputSnapshot declares the method that makes one value of what a workflow writes below output, for who runs it.
func (g *generator) outputSnapshot(p *check.Program) {
	t := outputBucket(p)
	if len(t.Fields) == 0 {
		return
	}
	var entries []jen.Code
	for _, f := range t.Fields {
		entries = append(entries, put(f.Name, jen.Id("s").Dot(ident(fieldName(f)))))
	}
	g.patterns.Line().Comment("snapshot is the output as one value.").Line().
		Func().Params(jen.Id("s").Op("*").Add(g.goType(t))).Id("snapshot").Params().Qual(dynamicPath, "Field").
		Block(jen.Return(jen.Qual(dynamicPath, "Object").Custom(parens(len(entries) > 2), entries...))).Line()
}

// child emits a node that runs another workflow.
func (b *contextBody) child(s *check.Step) {
	d := s.Node.Dynamic
	names := b.g.p.Names
	said := jen.Id(ident(b.local(s)))
	out := jen.Code(jen.Id("out").Dot("Output").Dot("snapshot").Call())
	result := jen.Id("out")
	if len(outputBucket(s.Flow).Fields) == 0 {
		out, result = jen.Qual(dynamicPath, "Object").Call(), jen.Id("_")
	}
	args := []jen.Code{jen.Id("run"), b.node(s), jen.Func().Params(jen.Id("run").Op("*").Qual(runtimePath, "Run"), jen.Id("given").Qual(dynamicPath, "Field")).
		Params(jen.Qual(dynamicPath, "Field"), jen.Error()).Block(
		jen.List(result, jen.Err()).Op(":=").Id(ident(names.Bodies[s.Flow])).Call(jen.Id("run"), b.childInput(s)),
		jen.Return(out, jen.Err()))}
	if d.Args != nil && len(d.Args.Entries) > 0 {
		given := b.arguments(d.Args)
		for i, a := range given {
			given[i] = jen.Line().Add(a)
		}
		args = append(append(args, given...), jen.Line())
	}
	b.add(jen.List(said, jen.Err()).Op(":=").Id("flow").Dot("Child").Custom(parens(false), args...), b.returnErr())
	own, _ := b.place("working", []string{s.Node.ID.Name})
	b.add(jen.Qual(sirenPath, "Set").Call(jen.Op("&").Add(own), said, quote("output")))
	if w := d.Context.Writes; w[0] != "output" || w[1] != s.Node.ID.Name || len(w) > 2 {
		to, _ := b.place("output", []string{s.Node.ID.Name})
		b.add(jen.Qual(sirenPath, "Set").Call(jen.Op("&").Add(to), said))
	}
	b.gave(s, said)
}

// childInput is what a workflow is run with: what the node binds, and for the message what this one was asked: the
// workflow's own counts only when it is run by itself.
func (b *contextBody) childInput(s *check.Step) jen.Code {
	bound := map[string]bool{}
	if d := s.Node.Dynamic; d.Args != nil {
		for _, e := range d.Args.Entries {
			bound[e.Key.Name] = true
		}
	}
	var fields []jen.Code
	for i, f := range s.Flow.Input.Fields {
		switch at := jen.Id("given").Dot("At").Call(quote(f.Name)); {
		case i == 0 && bound[f.Name]:
			fields = append(fields, field(fieldName(f), jen.Qual(sirenPath, "Text").Call(at.Dot("Value").Call())))
		case i == 0:
			fields = append(fields, field(fieldName(f), jen.Id("flow").Dot("Message").Call()))
		case bound[f.Name]:
			fields = append(fields, field(fieldName(f), at))
		}
	}
	return jen.Add(b.g.goType(s.Flow.Input)).Custom(braces(len(fields) > 1), fields...)
}

// question emits a node that asks a person.
func (b *contextBody) question(s *check.Step, v *ir.Human) {
	said := jen.Id(ident(b.local(s)))
	args := []jen.Code{jen.Id("run"), b.node(s), b.template(s.Node.Dynamic.Prompt)}
	name := "Person"
	if v.OnTimeout != nil {
		name = "PersonOr"
		args = append(args, quote(v.OnTimeout.Default.(*ir.Scalar).Text.Value))
	}
	b.add(jen.List(said, jen.Err()).Op(":=").Qual(sirenPath, ident(name)).Call(args...), b.returnErr())
	w := s.Node.Dynamic.Context.Writes
	to, path := b.place(w[0], w[1:])
	own, _ := b.place("working", []string{s.Node.ID.Name})
	b.add(jen.Id("flow").Dot("Wrote").Call(append([]jen.Code{jen.Op("&").Add(to), said}, quoteAll(path)...)...),
		jen.Qual(sirenPath, "Set").Call(jen.Op("&").Add(own), jen.Qual(dynamicPath, "Text").Call(said), quote("output")))
	b.remember(s)
}
