package codegen

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// A tool that is chosen at run time is found by a switch: a function with one case for each tool that can be called, all
// of them bound at compile time. Arguments are read by a function for each tool, field by field.

// pick is the call of a tool_call node.
func (b *block) pick(s *check.Step) *jen.Statement {
	p := s.Pick
	id := jen.Code(jen.Qual(valuePath, "Null").Call())
	if p.ID != nil {
		id = b.typed(p.ID)
	}
	name := b.valueAs(p.Name.Value, schema.StringType)
	args := jen.Qual(valuePath, "Args").Values()
	switch {
	case p.Args == nil:
	case p.Args.Type.Kind == schema.Map && p.Args.Type.Elem.Kind == schema.Any && p.Args.Type.Go == nil:
		args = jen.Qual(valuePath, "MapArgs").Call(b.value(p.Args))
	default:
		args = jen.Qual(valuePath, "ValueArgs").Call(b.valueAs(p.Args.Value, schema.AnyType))
	}
	return jen.Qual(flowPath, "Choose").Call(jen.Id("run"), b.fn.node(s), id, name, args, jen.Id(ident(b.fn.g.p.Names.Picks[s])))
}

// typed is a value whose Go type does not depend on where it stands: a number is not an untyped constant.
func (b *block) typed(v *check.Expected) jen.Code {
	switch x := v.Value.(type) {
	case *ir.Expr:
		low := b.lower()
		c := low.expr(x.Node)
		b.flush(low)
		return c
	case *ir.Scalar:
		if v.Type.Kind == schema.Int || v.Type.Kind == schema.Float {
			return jen.Add(b.fn.g.goType(v.Type)).Call(b.value(v))
		}
	}
	return b.value(v)
}

// picks writes the functions of tool_call nodes, and those that read the input of the tools they can call.
func (g *generator) picks() {
	done := map[*ir.Tool]bool{}
	for _, s := range g.p.Table {
		if s.Pick == nil && s.Agent == nil {
			continue
		}
		if s.Pick != nil {
			g.pick(s)
		}
		for _, t := range s.Tools() {
			if !done[t] && g.p.Names.Args[t] != "" {
				done[t] = true
				g.toolArgs(t)
			}
		}
	}
}

// pick writes the switch over the tools of one node.
func (g *generator) pick(s *check.Step) {
	p := s.Pick
	result, none := jen.Code(jen.Qual(valuePath, "Value")), jen.Code(jen.Qual(valuePath, "Null").Call())
	if p.Out != nil && p.Out.Kind != schema.Any {
		result, none = jen.Op("*").Add(g.goType(p.Out)), jen.Nil()
	}
	var cases []jen.Code
	for _, t := range s.Tools() {
		var names []jen.Code
		for _, x := range p.Choices {
			if x.Tool == t {
				names = append(names, quote(x.Name))
			}
		}
		cases = append(cases, jen.Case(names...).Block(jen.Return(jen.Qual(flowPath, "Dispatch").Call(
			jen.Id("run"), jen.Op("&").Id(ident(g.p.Names.Nodes[s])), jen.Id(ident(g.p.Names.Tools[t])), jen.Id("args"), g.argsReader(t), g.toolResult(t, p.Out)))))
	}
	if len(p.Denied) > 0 {
		var names []jen.Code
		for _, n := range p.Denied {
			names = append(names, quote(n))
		}
		cases = append(cases, jen.Case(names...).Block(jen.Return(none, jen.Qual(flowPath, "DeniedTool").Call(jen.Id("name")))))
	}
	name := g.p.Names.Picks[s]
	g.file.Line()
	g.file.Add(comment(fmt.Sprintf("%s calls the tool that %s chose. There are no others.", name, s.Node.ID.Name)))
	g.file.Func().Id(ident(name)).
		Params(jen.Id("run").Op("*").Qual(flowPath, "Run"), jen.Id("name").String(), jen.Id("args").Op("*").Qual(valuePath, "Args")).
		Params(result, jen.Error()).Block(
		jen.Switch(jen.Id("name")).Block(cases...),
		jen.Return(none, jen.Qual(flowPath, "UnknownTool").Call(jen.Id("name"))),
	)
}

// toolResult is the function that makes a tool's output the result of the node.
func (g *generator) toolResult(t *ir.Tool, out *schema.Type) jen.Code {
	have := check.Out(t)
	switch {
	case out == nil || out.Kind == schema.Any:
		return jen.Qual(valuePath, "ToValue")
	case lowerRender(g.goType(have)) == lowerRender(g.goType(out)):
		return jen.Qual(valuePath, "ToPtr")
	}
	return jen.Qual(valuePath, "ToType").Types(g.goType(have), g.goType(out))
}

// argsReader is the function that reads the input of a tool from data.
func (g *generator) argsReader(t *ir.Tool) jen.Code {
	if name := g.p.Names.Args[t]; name != "" {
		return jen.Id(ident(name))
	}
	if t.In != nil && t.In.Kind == schema.Any {
		return jen.Qual(valuePath, "AnyArgs")
	}
	return jen.Qual(valuePath, "NoArgs")
}

// toolArgs writes the function that reads the input of a tool from data.
func (g *generator) toolArgs(t *ir.Tool) {
	in := *t.In
	pointer := in.Go != nil && in.Go.Ptr
	if pointer {
		bare := *in.Go
		bare.Ptr = false
		in.Go = &bare
	}
	fn := &function{g: g, names: map[string]bool{}}
	b := &block{fn: fn, scope: &scope{}, fail: returnOut}
	typ := g.goType(t.In)
	if pointer {
		typ = g.goType(&in)
	}
	var fields []jen.Code
	for _, f := range in.Fields {
		fields = append(fields, jen.Id(ident(fieldName(f))).Op(":").Add(g.toolArg(b, f)))
	}
	literal := jen.Add(typ).Custom(braces(len(fields) > 1), fields...)
	result := typ
	if pointer {
		literal, result = jen.Op("&").Add(literal), jen.Op("*").Add(typ)
	}
	name := g.p.Names.Args[t]
	g.file.Line()
	g.file.Add(comment(name + " reads the input of tool " + t.Key.Name + " from data."))
	g.file.Func().Id(ident(name)).Params(jen.Id("a").Op("*").Qual(valuePath, "Args")).Add(result).Block(append(b.code, jen.Return(literal))...)
}

// toolArg reads one field.
func (g *generator) toolArg(b *block, f *schema.Field) jen.Code {
	arg := func(function string, as jen.Code, more ...jen.Code) jen.Code {
		return jen.Qual(valuePath, ident(function)).Call(append([]jen.Code{jen.Id("a"), quote(f.Name), as}, more...)...)
	}
	switch {
	case f.Default != nil:
		return arg("ArgOr", g.as(f.Type), b.constant(f.Default, f.Type))
	case f.Type.Kind == schema.Opt:
		return arg("ArgOpt", g.as(f.Type.Elem))
	}
	return arg("Arg", g.as(f.Type))
}

// as is the function that reads a dynamic value as a type.
func (g *generator) as(t *schema.Type) jen.Code {
	plain := t.Go == nil && g.p.Names.Types[t] == ""
	switch t.Kind {
	case schema.String, schema.Enum:
		return jen.Qual(valuePath, "AsString").Types(g.goType(t))
	case schema.Bool:
		return jen.Qual(valuePath, "AsBool").Types(g.goType(t))
	case schema.Int:
		return jen.Qual(valuePath, "AsInt").Types(g.goType(t))
	case schema.Float:
		return jen.Qual(valuePath, "AsFloat").Types(g.goType(t))
	case schema.Any:
		if plain {
			return jen.Qual(valuePath, "AsValue")
		}
	case schema.Opt:
		if plain {
			return jen.Qual(valuePath, "AsOpt").Call(g.as(t.Elem))
		}
	case schema.List:
		if plain {
			return jen.Qual(valuePath, "AsList").Call(g.as(t.Elem))
		}
	case schema.Map:
		if plain {
			return jen.Qual(valuePath, "AsMap").Call(g.as(t.Elem))
		}
	}
	return jen.Qual(valuePath, "As").Types(g.goType(t))
}
