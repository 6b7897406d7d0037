package codegen

import (
	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
)

// choose is a call of the tool that stands for a function of Python: the one that is written there, or the one that a
// placeholder names.
func (b *contextBody) choose(s *check.Step) jen.Code {
	d := s.Node.Dynamic
	var call *jen.Statement
	var args []jen.Code
	if t := fixed(s); t != nil {
		call = jen.Qual(sirenPath, "Bound")
		args = []jen.Code{jen.Id("flow"), jen.Id("run"), b.node(s), jen.Id(ident(b.g.p.Names.Tools[t])), b.g.argsReader(t), b.policy(d)}
	} else {
		call = jen.Id("flow").Dot("Choose")
		args = []jen.Code{jen.Id("run"), b.node(s), jen.Id(ident(b.g.p.Names.Picks[s])), b.policy(d), b.template(s.Node.Verb.(*ir.ToolChoice).Tool.(*ir.Mixed))}
	}
	if d.Args == nil || len(d.Args.Entries) == 0 {
		return call.Call(args...)
	}
	return call.Call(append(args, jen.Line().Add(jen.List(b.arguments(d.Args)...)), jen.Line())...)
}

// fixed is the tool of a SirenSpec node that no placeholder chooses, nil where one does.
func fixed(s *check.Step) *ir.Tool {
	choice, ok := s.Node.Verb.(*ir.ToolChoice)
	if !ok || len(s.Pick.Choices) != 1 {
		return nil
	}
	name, ok := choice.Tool.(*ir.Mixed)
	if !ok {
		return nil
	}
	for _, part := range name.Segments {
		if part.Ref != nil {
			return nil
		}
	}
	return s.Pick.Choices[0].Tool
}
