package codegen

import "github.com/dave/jennifer/jen"

const carryPath = runtimePath + "/engine"

// CallsHeader is how the list of calls begins in generated code.
const CallsHeader = "func (*Workflow) Calls() "

// calls writes the list of what the workflow calls, which engines need that make calls in other processes.
func (g *generator) calls() {
	if !g.opts.Calls {
		return
	}
	var list []jen.Code
	for _, t := range g.usedTools() {
		list = append(list, jen.Id(ident(g.p.Names.Tools[t])))
	}
	for _, m := range g.usedModels() {
		list = append(list, jen.Id(ident(g.p.Names.Models[m])).Dot("Callable").Call())
	}
	g.file.Line()
	g.file.Comment("Calls are the tools and models of the workflow, for engines that make calls in other processes.")
	g.file.Func().Params(jen.Op("*").Id("Workflow")).Id("Calls").Params().Index().Qual(carryPath, "Callable").
		Block(jen.Return(jen.Index().Qual(carryPath, "Callable").Values(list...)))
}
