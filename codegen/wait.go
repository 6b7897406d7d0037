package codegen

import (
	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// wait writes a node that lets time pass.
func (b *block) wait(s *check.Step, v *ir.Wait) {
	d := jen.Code(nil)
	if v.For != nil {
		d = durationCode(v.For.Value)
	} else {
		d = b.valueAs(v.Value, schema.DurationType)
	}
	b.add(jen.If(jen.Err().Op(":=").Qual(flowPath, "Wait").Call(jen.Id("run"), b.fn.node(s), d), jen.Err().Op("!=").Nil()).Block(b.fail(jen.Err())...))
}

// paced reports whether a loop's iterations begin at a certain time.
func paced(v *ir.Loop) bool { return v.Every != nil || v.Timeout != nil }

// counted reports whether the end of `max` is the end of a loop, and no error.
func counted(s *check.Step, v *ir.Loop) bool { return (s.Until == nil || v.GoOn) && v.Max > 0 }

// paceFields are what a loop's node says of time.
func paceFields(v *ir.Loop, add func(name string, v jen.Code)) {
	if v.Every != nil {
		add("Every", durationCode(v.Every.Value))
	}
	if v.Timeout != nil {
		add("Within", durationCode(v.Timeout.Value))
	}
	if v.Timeout != nil && (v.GoOn || v.Until == nil) {
		add("GoOn", jen.True())
	}
}

// begin puts the beginning of an iteration before the statements of a loop node.
func (b *block) begin(s *check.Step, v *ir.Loop, pace, i string) {
	if pace == "" {
		b.iteration(b.fn.node(s), i)
		return
	}
	head := []jen.Code{
		jen.List(jen.Id("run"), jen.Err()).Op(":=").Id(ident(pace)).Dot("Iterate").Call(jen.Id("run"), b.fn.node(s), jen.Id(ident(i))),
		jen.If(jen.Err().Op("!=").Nil()).Block(b.fail(jen.Err())...),
	}
	switch {
	case v.Timeout != nil && (v.GoOn || v.Until == nil):
		head = append(head, jen.If(jen.Id("run").Op("==").Nil()).Block(jen.Break()))
	case !mentions(b.code, "run"):
		head = []jen.Code{jen.If(jen.List(jen.Id("_"), jen.Err()).Op(":=").Id(ident(pace)).Dot("Iterate").Call(jen.Id("run"), b.fn.node(s), jen.Id(ident(i))),
			jen.Err().Op("!=").Nil()).Block(b.fail(jen.Err())...)}
	}
	b.code = append(head, b.code...)
}
