package codegen

import (
	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
)

// choose is a call of the tool that stands for a function of Python.
func (b *contextBody) choose(s *check.Step) jen.Code {
	d := s.Node.Dynamic
	args := []jen.Code{jen.Id("run"), b.node(s), jen.Id(ident(b.g.p.Names.Picks[s])), b.policy(d), b.template(s.Node.Verb.(*ir.ToolChoice).Tool.(*ir.Mixed))}
	if d.Args == nil || len(d.Args.Entries) == 0 {
		return jen.Id("flow").Dot("Choose").Call(args...)
	}
	return jen.Id("flow").Dot("Choose").Call(append(args, jen.Line().Add(jen.List(b.arguments(d.Args)...)), jen.Line())...)
}
