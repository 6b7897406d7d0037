package codegen

import (
	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// question is the call of a human node: it returns the answer, or a pointer that is nil when nobody answered.
func (b *block) question(s *check.Step) *jen.Statement {
	q := s.Question
	fields := []jen.Code{field("Text", b.value(q.Text))}
	if q.Out.Kind == schema.Enum {
		var choices []jen.Code
		for _, v := range q.Out.Values {
			choices = append(choices, quote(v))
		}
		fields = append(fields, field("Choices", jen.Index().String().Values(choices...)))
	}
	args := []jen.Code{jen.Id("run"), b.fn.node(s), jen.Qual(runtimePath, "Question").Values(fields...)}
	name := "Ask"
	switch {
	case q.Default != nil:
		name = "AskOr"
		args = append(args, b.value(q.Default))
	case q.Skips:
		name = "AskOrSkip"
	}
	return jen.Qual(flowPath, ident(name)).Types(b.fn.g.goType(q.Out)).Call(args...)
}
