package codegen

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
)

// making is what placeholders stand for inside of a factory.
type making struct {
	bound []string // names of its inputs
	own   string   // the factory's name, by which a synthesis knows the swarm that it belongs to; empty: none
}

// value is what a placeholder stands for in an instance; nil: what it stands for elsewhere.
func (m *making) value(r *ir.Reference) jen.Code {
	if m == nil {
		return nil
	}
	switch r.Root {
	case "item":
		return jen.Id("each").Dot("Item")
	case "index":
		return jen.Id("each").Dot("Index")
	case "total":
		return jen.Id("each").Dot("Total")
	case "inputs":
		if slices.Contains(m.bound, r.Path[0]) {
			return jen.Id("each").Dot("Inputs")
		}
	}
	return nil
}

// input is an input of the workflow, and the path that is left below it.
func (b *contextBody) input(path []string) (jen.Code, []string) {
	for i, f := range b.p.Input.Fields {
		switch {
		case f.Name != path[0]:
		case i == 0:
			return jen.Qual(dynamicPath, "Text").Call(jen.Id("in").Dot(ident(fieldName(f)))), path[1:]
		default:
			return jen.Id("in").Dot(ident(fieldName(f))), path[1:]
		}
	}
	return jen.Qual(dynamicPath, "Field").Values(), nil
}

// factory emits a factory node.
func (b *contextBody) factory(s *check.Step, v *ir.Map) {
	d := s.Node.Dynamic
	own, _ := b.place("working", []string{s.Node.ID.Name})
	said := jen.Id(ident(b.local(s)))
	fields := []jen.Code{field("Items", b.items(d, v))}
	if v.OnItemError == ir.ItemKeep {
		fields = append(fields, field("Keep", jen.True()))
	}
	if b.counts() {
		fields = append(fields, field("Flow", jen.Id("flow")))
	}
	if l := d.Context.Limit; l != nil {
		fields = append(fields, field("Limit", durationCode(l.Value)))
	}
	b.making = &making{}
	instance := jen.Id("each").Qual(sirenPath, "Instance")
	if d.Args != nil && len(d.Args.Entries) > 0 {
		fields = append(fields, field("Inputs", jen.Func().Params(instance).Index().Qual(sirenPath, "Arg").Block(
			jen.Return(jen.Index().Qual(sirenPath, "Arg").Custom(braces(len(d.Args.Entries) > 1), b.pairs(d.Args)...)))))
		for _, e := range d.Args.Entries {
			b.making.bound = append(b.making.bound, e.Key.Name)
		}
	}
	fields = append(fields, field("Make", jen.Func().Params(jen.Id("run").Op("*").Qual(runtimePath, "Run"), instance).
		Params(jen.Qual(dynamicPath, "Field"), jen.Error()).Block(b.instance(s, s.Body.Steps[0])...)))
	b.making = nil
	b.add(jen.List(said, jen.Err()).Op(":=").Qual(sirenPath, "Factory").Call(jen.Id("run"), b.node(s), jen.Op("&").Add(own),
		jen.Qual(sirenPath, "Making").Custom(braces(true), fields...)), b.returnErr())
	b.gave(s, said)
}

// gave puts what a node gives where it writes to, which is what the next agent is told.
func (b *contextBody) gave(s *check.Step, v jen.Code) {
	w := s.Node.Dynamic.Context.Writes
	to, path := b.place(w[0], w[1:])
	b.add(jen.Id("flow").Dot("Gave").Call(append([]jen.Code{jen.Op("&").Add(to), v}, quoteAll(path)...)...))
	b.remember(s)
}

// pairs are named values, without the type that their list has.
func (b *contextBody) pairs(o *ir.Object) []jen.Code {
	var out []jen.Code
	for _, e := range o.Entries {
		out = append(out, jen.Values(field("Name", quote(e.Key.Name)), field("Value", b.content(e.Value))))
	}
	return out
}

// instance are the statements that make one instance.
func (b *contextBody) instance(s, inner *check.Step) []jen.Code {
	if v, ok := inner.Node.Verb.(*ir.Swarm); ok {
		b.making.own = s.Node.ID.Name
		call := b.voices(inner, v, jen.Op("&").Id("own"))
		return []jen.Code{jen.Var().Id("own").Qual(dynamicPath, "Field"), jen.Return(jen.Id("each").Dot("Swarm").Call(call...))}
	}
	return []jen.Code{jen.Return(jen.Id("each").Dot("Ask").Call(jen.Id("run"), b.node(inner), jen.Id(ident(b.g.p.Names.Models[inner.Ask.Model])), b.prompt(inner.Node.Dynamic)))}
}

// items are what a factory makes instances for.
func (b *contextBody) items(d *ir.DynamicNode, v *ir.Map) jen.Code {
	switch over := v.Over.(type) {
	case *ir.Scalar:
		return jen.Qual(sirenPath, "Count").Call(jen.Op(numeral(over.Text.Value)))
	case *ir.Mixed:
		if d.Context.Counted {
			return jen.Qual(sirenPath, "Times").Call(quote(over.Text.Value), b.template(over))
		}
		if len(over.Segments) == 1 && over.Segments[0].Ref != nil {
			name := "Each"
			if b.p.WF.Dynamic.Upstream {
				name = "EachUpstream"
			}
			return jen.Qual(sirenPath, ident(name)).Call(quote(over.Text.Value), b.part(over.Segments[0].Ref))
		}
		return jen.Qual(sirenPath, "Parsed").Call(quote(over.Text.Value), b.template(over))
	}
	return jen.Qual(sirenPath, "Constant").Call(b.value(v.Over))
}
