package codegen

import (
	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// division lowers a / b and a % b: by a constant, which is not zero, to Go's operator, and else to a call that may fail.
func (l *lowerer) division(n *expr.Node) lowered {
	a, b := l.value(n.Kids[0]), l.value(n.Kids[1])
	a, b = l.to(a, n.Type), l.to(b, n.Type)
	if n.Type.Kind == schema.Float {
		return l.quotient(a, b)
	}
	function, hint := "Div", "quotient"
	if n.Text == "%" {
		function, hint = "Mod", "rest"
	}
	y, constant := b.lit.(int64)
	if x, ok := a.lit.(int64); ok && constant && y != 0 && y != -1 {
		if n.Text == "%" {
			return l.literal(x % y)
		}
		return l.literal(x / y)
	}
	if constant && y != 0 && y != -1 { // -1 divides all ints but one
		v := lowered{prec: lowerMul, typ: schema.IntType}
		if v.code = jen.Add(a.in(lowerMul)).Op("/").Add(b.in(lowerMul + 1)); n.Text == "%" {
			v.code = jen.Add(a.in(lowerMul)).Op("%").Add(b.in(lowerMul + 1))
		}
		return v
	}
	return l.partial(function, lowerLastName(n.Kids[0], hint), a.code, b.code)
}

// quotient divides floats. Constants are folded here, as those of floats are.
func (l *lowerer) quotient(a, b lowered) lowered {
	switch by := lowerFloat(b.lit); {
	case b.lit == nil || by == 0:
		return l.hoist(jen.Qual(flowPath, "DivFloat").Call(a.code, b.code), "quotient", schema.FloatType)
	case a.lit != nil:
		return l.literal(lowerFloat(a.lit) / by)
	}
	return lowered{code: jen.Add(a.in(lowerMul)).Op("/").Add(b.in(lowerMul + 1)), prec: lowerMul, typ: schema.FloatType}
}
