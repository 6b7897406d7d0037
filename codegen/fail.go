package codegen

import (
	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// failing writes a node that fails: it leaves the function with the error.
func (b *block) failing(s *check.Step, v *ir.Fail) {
	cause := jen.Code(jen.Nil())
	if v.Cause != nil {
		cause = b.cause(v.Cause)
	}
	message := b.valueAs(v.Message, schema.StringType)
	leave := b.fail(jen.Qual(runtimePath, "Raise").Call(jen.Id("run"), b.fn.node(s), codeName(v.Code), message, cause))
	b.leave(leave[0], leave[0])
}

// cause writes the error that led to another one: that of a step is a pointer already.
func (b *block) cause(v ir.Value) jen.Code {
	if x, ok := v.(*ir.Expr); ok && x.Node.Sym != nil {
		if _, caught := x.Node.Sym.Ref.(*check.ErrorOf); caught {
			return b.resolve(x.Node.Sym).code
		}
	}
	return b.valueAs(v, schema.OptOf(schema.ErrorType, ""))
}
