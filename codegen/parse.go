package codegen

import (
	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// parse is the call of a node that reads a typed value out of dynamic data.
func (b *block) parse(s *check.Step) *jen.Statement {
	name := "Parse"
	if s.Data.Type.Kind != schema.Any {
		name = "ParseText"
	}
	out := s.Node.Verb.(*ir.Parse).Out
	args := []jen.Code{jen.Id("run"), b.fn.node(s), b.value(s.Data)}
	if leaf := out.Leaf(); leaf.Kind == schema.Enum {
		args = append(args, quoted(leaf.Values)...)
	}
	return jen.Qual(flowPath, ident(name)).Types(b.fn.g.goType(out)).Call(args...)
}
