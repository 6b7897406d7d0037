package codegen

import (
	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// made writes what makes a tool, with the gates around its calls.
func (g *generator) made(t *ir.Tool, b *ir.Made) jen.Code {
	low := g.apartLowerer()
	if b.Flow != nil {
		fn := &function{g: g, p: g.p, names: map[string]bool{}}
		low.core = fn.block(nil).core()
	}
	if b.Gated() {
		return low.invoke(b.New.Node, g.options(t)...)
	}
	return low.exprAs(b.New.Node, b.New.Node.Type)
}

// apart writes an expression of constants, which is at package level.
func (g *generator) apart(n *expr.Node) jen.Code { return g.apartAs(n, n.Type) }

// apartAs writes it as a value of a type.
func (g *generator) apartAs(n *expr.Node, want *schema.Type) jen.Code {
	return g.apartLowerer().exprAs(n, want)
}

func (g *generator) apartLowerer() *lowerer {
	return &lowerer{
		resolve: func(s *expr.Symbol) storage { panic(refused{"a name at package level", s.Name}) },
		goType:  func(t *schema.Type) jen.Code { return g.goType(t) },
		fail:    func(jen.Code) []jen.Code { panic(refused{"an error at package level", "it"}) },
		fresh:   func(hint string) string { panic(refused{"a variable at package level", hint}) },
	}
}
