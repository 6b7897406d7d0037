package codegen

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
)

// dynamics are the programs of the file whose data is dynamic.
func (g *generator) dynamics() []*check.Program {
	return slices.DeleteFunc(append([]*check.Program{g.p}, g.p.Flows...), func(p *check.Program) bool { return p.WF.Dynamic == nil })
}

// envFiles are the statements that load the files with variables, before anything asks for one.
func (g *generator) envFiles() []jen.Code {
	var out []jen.Code
	if g.inherits() {
		out = append(out, jen.If(jen.Err().Op(":=").Qual(graphPath, "LoadEnv").Call(), jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err())))
	}
	return out
}

// inherits reports whether functions or commands of YAMLGraph files see the variables of the file .env.
func (g *generator) inherits() bool {
	return slices.ContainsFunc(g.dynamics(), func(p *check.Program) bool {
		return p.WF.Dynamic.Tokens != nil && slices.ContainsFunc(p.WF.Tools, func(t *ir.Tool) bool {
			switch t.Binding.(type) {
			case *ir.PythonTool, *ir.ShellTool:
				return true
			}
			return false
		})
	})
}
