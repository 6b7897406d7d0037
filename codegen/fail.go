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
	leave := b.fail(jen.Qual(flowPath, "Raise").Call(jen.Id("run"), b.fn.node(s), codeName(v.Code), message, cause))
	b.leave(leave[0], leave[0])
}

// cause writes the error that led to another one: that of a step is a pointer already.
func (b *block) cause(v ir.Value) jen.Code {
	if x, ok := v.(*ir.Expr); ok && x.Node.Sym != nil {
		switch x.Node.Sym.Ref.(type) {
		case *check.ErrorOf, *check.ErrorHere:
			return b.resolve(x.Node.Sym).code
		}
	}
	return b.valueAs(v, schema.OptOf(schema.ErrorType, ""))
}

// firstError writes the error that led to a handler: of several that can have, the first that is there.
func (b *block) firstError(steps []*check.Step) jen.Code {
	if len(steps) == 1 {
		return jen.Id(ident(b.fn.errName(steps[0])))
	}
	return jen.Qual("cmp", "Or").Call(b.errors(steps)...)
}

// failedNode writes the id of the node that has that error.
func (b *block) failedNode(steps []*check.Step) jen.Code {
	last := len(steps) - 1
	if last == 0 {
		return quote(steps[0].Node.ID.Name)
	}
	ids := make([]jen.Code, len(steps))
	for i, s := range steps {
		ids[i] = quote(s.Node.ID.Name)
	}
	return jen.Qual(flowPath, "FailedNode").Call(append([]jen.Code{jen.Index().String().Values(ids...)}, b.errors(steps[:last])...)...)
}

func (b *block) errors(steps []*check.Step) []jen.Code {
	out := make([]jen.Code, len(steps))
	for i, s := range steps {
		out[i] = jen.Id(ident(b.fn.errName(s)))
	}
	return out
}
