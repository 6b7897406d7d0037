package codegen

import (
	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir/check"
)

// undo writes what undoes a step that has succeeded: its arguments are made there, as those of a deferred call are.
func (b *block) undo(s *check.Step) {
	u := s.Undo
	if u == nil {
		return
	}
	outer := b.node
	b.node = u
	input := b.toolInput(u)
	b.node = outer
	b.add(jen.Qual(flowPath, "OnFailure").Call(jen.Id("run"), b.fn.node(u), jen.Id(ident(b.fn.g.p.Names.Tools[u.Tool])), input))
}
