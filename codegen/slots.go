package codegen

import (
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// slots declares what the program that embeds the workflow brings.
func (g *generator) slots() {
	tools := g.p.Slots()
	if len(tools) == 0 {
		return
	}
	var methods []jen.Code
	for _, t := range tools {
		method := g.p.Names.Slots[t]
		doc := method + " stands for " + t.Binding.(*ir.SlotTool).Name.Name + "."
		if t.Description != "" {
			doc = method + " stands for " + t.Binding.(*ir.SlotTool).Name.Name + ": " + lowerStart(strings.TrimRight(t.Description, ". ")) + "."
		}
		methods = append(methods, comment(doc), jen.Id(ident(method)).Add(g.slotSignature(t)))
	}
	g.file.Line()
	g.file.Add(comment("Slots are what the workflow calls and has no code for: the program that embeds it brings them. They have to be safe for concurrent use."))
	g.file.Type().Id("Slots").Interface(methods...)
}

// slotSignature is the signature of the method of a slot.
func (g *generator) slotSignature(t *ir.Tool) *jen.Statement {
	params := []jen.Code{jen.Id("ctx").Qual("context", "Context")}
	if t.In != nil && len(t.In.Fields) > 0 {
		params = append(params, jen.Id("in").Add(g.inType(t)))
	}
	if told := t.Binding.(*ir.SlotTool).Told; told != nil {
		params = append(params, jen.Id("config").Add(g.goType(told)))
	}
	if !gives(t) {
		return jen.Params(params...).Error()
	}
	return jen.Params(params...).Params(g.goType(t.Out), jen.Error())
}

// gives reports whether a slot has a result.
func gives(t *ir.Tool) bool { return t.Out != nil && t.Out != schema.EmptyType }

// slotTool binds a slot: a call of its method.
func (g *generator) slotTool(t *ir.Tool, s *ir.SlotTool) jen.Code {
	args := []jen.Code{jen.Id("ctx")}
	in := jen.Id("_")
	if t.In != nil && len(t.In.Fields) > 0 {
		in = jen.Id("in")
		args = append(args, jen.Id("in"))
	}
	if s.Told != nil {
		b := &block{fn: &function{g: g, names: map[string]bool{}}, scope: &scope{}, fail: returnOut}
		args = append(args, b.constant(s.Config, s.Told))
	}
	out := jen.Code(jen.Struct())
	if gives(t) {
		out = g.goType(t.Out)
	}
	call := jen.Qual(flowPath, "Slots").Types(jen.Id("Slots")).Call(jen.Id("ctx")).Dot(ident(g.p.Names.Slots[t])).Call(args...)
	if !gives(t) {
		call = jen.Struct().Values().Op(",").Add(call)
	}
	f := jen.Func().Params(jen.Id("ctx").Qual("context", "Context"), in.Add(g.inType(t))).Params(out, jen.Error()).Block(jen.Return(call))
	return jen.Qual(flowPath, "Bind").Call(g.bindArgs(t, f)...)
}

// newParams are the parameters of New, and the options that it hands to the runtime.
func (g *generator) newParams() (params []jen.Code, options jen.Code) {
	opts := jen.Id("opts").Op("...").Qual(runtimePath, "Option")
	if len(g.p.Slots()) == 0 {
		return []jen.Code{opts}, jen.Id("opts").Op("...")
	}
	return []jen.Code{jen.Id("slots").Id("Slots"), opts},
		jen.Append(jen.Index().Qual(runtimePath, "Option").Values(jen.Qual(runtimePath, "WithSlots").Call(jen.Id("slots"))), jen.Id("opts").Op("...")).Op("...")
}
