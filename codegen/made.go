package codegen

import (
	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// made writes what makes a tool.
func (g *generator) made(b *ir.Made) jen.Code { return g.apart(b.New.Node) }

// apart writes an expression of constants, which stands at package level.
func (g *generator) apart(n *expr.Node) jen.Code { return g.apartAs(n, n.Type) }

// apartAs writes it as a value of a type.
func (g *generator) apartAs(n *expr.Node, want *schema.Type) jen.Code {
	low := &lowerer{
		resolve: func(s *expr.Symbol) storage { panic(refused{"a name at package level", s.Name}) },
		goType:  func(t *schema.Type) jen.Code { return g.goType(t) },
		fail:    func(jen.Code) []jen.Code { panic(refused{"an error at package level", n.String()}) },
		fresh:   func(hint string) string { panic(refused{"a variable at package level", hint}) },
	}
	return low.exprAs(n, want)
}
