package codegen

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// cond writes a guard.
func (b *block) cond(c *check.Cond) jen.Code {
	op := "||"
	if c.All {
		op = "&&"
	}
	var out *jen.Statement
	for _, t := range c.Any {
		term := b.term(t)
		if out == nil {
			out = jen.Add(term)
		} else {
			out = out.Op(operator(op)).Add(term)
		}
	}
	return out
}

// asks reports whether a term asks for a decision: not for whatever it was.
func asks(t check.Term) bool { return t.Decision != nil && len(t.Cases) < len(t.Decision.Cases) }

func (b *block) term(t check.Term) jen.Code {
	var ran, is jen.Code
	if t.Ran != nil {
		ran = b.ran(t.Ran)
	}
	if asks(t) {
		is = b.caseTest(t.Decision, t.Cases)
	}
	switch {
	case is == nil && ran == nil:
		return jen.True()
	case is == nil:
		return ran
	case ran == nil:
		return is
	}
	if len(t.Cases) > 1 || t.Decision.Kind == check.When && needsParens(t.Decision.Expr) {
		is = jen.Parens(is)
	}
	return jen.Add(ran).Op("&&").Add(is)
}

func needsParens(n *expr.Node) bool { return n.Op == expr.Binary && n.Text == "||" }

// ran tests whether a step ran and succeeded.
func (b *block) ran(s *check.Step) jen.Code {
	if s.Flag {
		return jen.Id(ident(b.fn.ranName(s)))
	}
	return jen.Id(ident(b.fn.local(s))).Op("!=").Nil()
}

// caseTest writes "the decision took one of these cases".
func (b *block) caseTest(d *check.Decision, cases []int) jen.Code {
	switch d.Kind {
	case check.When:
		if len(cases) == 2 {
			return jen.True()
		}
		if d.Hoist {
			if cases[0] == 1 {
				return jen.Op("!").Id(ident(b.fn.decisionName(d)))
			}
			return jen.Id(ident(b.fn.decisionName(d)))
		}
		if cases[0] == 1 {
			return b.lower().not(d.Expr)
		}
		return b.lower().cond(d.Expr)
	case check.Outcome:
		return b.outcomeTest(d, cases)
	}
	return b.switchTest(d, cases)
}

// outcomeTest tells how a step with catch ended.
func (b *block) outcomeTest(d *check.Decision, cases []int) jen.Code {
	failed := jen.Id(ident(b.fn.errName(d.Step)))
	ok := contains(cases, 0)
	switch {
	case ok && len(cases) == 1:
		return b.ran(d.Step)
	case !ok && len(cases) == len(d.Cases)-1: // every way to fail
		return failed.Op("!=").Nil()
	case ok: // success or some of the failures: name the failures that are not meant
		var others []int
		for k := range d.Cases {
			if !contains(cases, k) {
				others = append(others, k)
			}
		}
		return jen.Op("!").Parens(b.outcomeTest(d, others))
	}
	test := b.failedWith(d, cases)
	if len(cases) > 1 && !b.catchesAny(d, cases) {
		test = jen.Parens(test)
	}
	return failed.Op("!=").Nil().Op("&&").Add(test)
}

// failedWith tells how a step failed that did.
func (b *block) failedWith(d *check.Decision, cases []int) *jen.Statement {
	code, op, join := jen.Id(ident(b.fn.errName(d.Step))).Dot("Code"), "==", "||"
	if b.catchesAny(d, cases) { // any other code than those that have a clause of their own and are not meant
		op, join = "!=", "&&"
		var others []int
		for k := range d.Cases {
			if k > 0 && !contains(cases, k) {
				others = append(others, k)
			}
		}
		cases = others
	}
	var test *jen.Statement
	for _, k := range cases {
		one := jen.Add(code).Op(operator(op)).Add(codeName(d.Cases[k].Code))
		if test == nil {
			test = one
		} else {
			test = test.Op(operator(join)).Add(one)
		}
	}
	return test
}

func (b *block) catchesAny(d *check.Decision, cases []int) bool {
	return slices.ContainsFunc(cases, func(k int) bool { return d.Cases[k].Code == "any" })
}

func contains(xs []int, x int) bool {
	for _, y := range xs {
		if x == y {
			return true
		}
	}
	return false
}

// switchTest compares the value of a switch with the values of its cases; the default is everything else.
func (b *block) switchTest(d *check.Decision, cases []int) jen.Code {
	op, join := "==", "||"
	if hasDefault(d, cases) {
		var others []int
		for k := range d.Cases {
			if !contains(cases, k) {
				others = append(others, k)
			}
		}
		cases, op, join = others, "!=", "&&"
	} else if d.Expr.Type.Kind == schema.Bool {
		if lit := d.Cases[cases[0]].Label; len(cases) == 1 && lit == "true" {
			return b.decisionValue(d)
		}
	}
	var out *jen.Statement
	for _, v := range b.caseValues(d, cases) {
		test := jen.Add(b.decisionValue(d)).Op(operator(op)).Add(v)
		if out == nil {
			out = test
		} else {
			out = out.Op(operator(join)).Add(test)
		}
	}
	if out == nil {
		return jen.True()
	}
	return out
}

// decisionValue is the value a switch looks at, or the condition.
func (b *block) decisionValue(d *check.Decision) jen.Code {
	if d.Hoist {
		return jen.Id(ident(b.fn.decisionName(d)))
	}
	return b.lower().expr(d.Expr)
}

func (b *block) caseValues(d *check.Decision, cases []int) []jen.Code {
	var out []jen.Code
	for _, k := range cases {
		if !d.Cases[k].Default {
			out = append(out, b.value(d.Cases[k].Value))
		}
	}
	return out
}

// decisionsAfter writes what must be evaluated as soon as a step has ended: conditions that are kept, and switches that
// may meet a value without a case.
func (b *block) decisionsAfter(s *check.Step) {
	in := b
	if s.Catch { // after a failure nothing of it is asked, and its result is not there
		in = b.inner(b.scope)
	}
	for _, d := range s.Decisions() {
		if b.fn.hoists(d) {
			low := in.lower()
			v := low.expr(d.Expr)
			in.flush(low)
			op := ":="
			switch {
			case b.fn.outside(variable{kind: decisionVar, decision: d}):
				op = "="
			case s.Catch:
				b.add(jen.Var().Id(ident(b.fn.decisionName(d))).Add(b.fn.typeOf(variable{kind: decisionVar, decision: d})))
				op = "="
			}
			in.add(jen.Id(ident(b.fn.decisionName(d))).Op(operator(op)).Add(v))
		}
		if guarded(d) && b.layout.stops[d] == nil {
			in.openSwitch(s, d)
		}
	}
	if s.Catch && len(in.code) > 0 {
		b.add(jen.If(b.succeededTest(s)).Block(in.code...))
	}
}

// noResult reports whether a step can go on without a result although no error was caught.
func noResult(s *check.Step) bool { return s.Skips() || optionalOutput(s) }

// succeededTest tests, right after a step with catch, whether it succeeded.
func (b *block) succeededTest(s *check.Step) jen.Code {
	switch {
	case s.Flag:
		return jen.Id(ident(b.fn.ranName(s)))
	case noResult(s):
		return jen.Id(ident(b.fn.errName(s))).Op("==").Nil()
	}
	return jen.Id(ident(b.fn.local(s))).Op("!=").Nil()
}

// guarded reports whether a switch can meet a value that has no case: text or numbers without a default, or an enum
// of the user's Go, whose type cannot keep other values out.
func guarded(d *check.Decision) bool {
	if d.Kind != check.Switch || d.Edge.Default != nil {
		return false
	}
	t := d.Expr.Type
	return d.Open || t.Kind == schema.Enum && t.Go != nil && !schema.Ours(t.Go.Path)
}

// noCase stops the run at a switch that has no case for the value.
func (b *block) noCase(d *check.Decision) []jen.Code {
	return b.fail(jen.Qual(flowPath, "NoCase").Call(jen.Id("run"), b.fn.node(d.Step), quote(d.Expr.String()), b.decisionValue(d)))
}

// openSwitch stops the run when a switch, whose cases are tested elsewhere, has none for the value.
func (b *block) openSwitch(s *check.Step, d *check.Decision) {
	var all []int
	for k := range d.Cases {
		all = append(all, k)
	}
	b.add(jen.Switch(b.decisionValue(d)).Block(
		jen.Case(b.caseValues(d, all)...),
		jen.Default().Block(b.noCase(d)...),
	))
}
