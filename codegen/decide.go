package codegen

import (
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
		term := b.term(t, len(c.Any) > 1 && !c.All)
		if out == nil {
			out = jen.Add(term)
		} else {
			out = out.Op(op).Add(term)
		}
	}
	return out
}

func (b *block) term(t check.Term, inOr bool) jen.Code {
	var ran, is jen.Code
	if t.Ran != nil {
		ran = b.ran(t.Ran)
	}
	if t.Decision != nil {
		is = b.caseTest(t.Decision, t.Cases)
	}
	switch {
	case is == nil:
		return ran
	case ran == nil:
		if len(t.Cases) > 1 && !inOr && t.Decision.Kind != check.Switch {
			return is
		}
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
		return jen.Id(b.fn.ranName(s))
	}
	return jen.Id(b.fn.local(s)).Op("!=").Nil()
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
				return jen.Op("!").Id(b.fn.decisionName(d))
			}
			return jen.Id(b.fn.decisionName(d))
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
	failed := jen.Id(b.fn.errName(d.Step))
	ok := false
	var codes []jen.Code
	any := false
	for _, k := range cases {
		switch c := d.Cases[k]; {
		case k == 0:
			ok = true
		case c.Code == "any":
			any = true
		default:
			codes = append(codes, jen.Add(failed).Dot("Code").Op("==").Add(codeName(c.Code)))
		}
	}
	total := len(cases) == len(d.Cases)-1
	switch {
	case ok && len(cases) == 1:
		return b.ran(d.Step)
	case !ok && total: // every way to fail
		return jen.Add(failed).Op("!=").Nil()
	case ok: // success or some of the failures: name the failures that are not meant
		var others []int
		for k := range d.Cases {
			if !contains(cases, k) {
				others = append(others, k)
			}
		}
		return jen.Op("!").Parens(b.outcomeTest(d, others))
	case any: // any other code than those that have a clause of their own and are not meant
		test := jen.Add(failed).Op("!=").Nil()
		for k, c := range d.Cases {
			if k > 0 && c.Code != "any" && !contains(cases, k) {
				test = test.Op("&&").Add(failed).Dot("Code").Op("!=").Add(codeName(c.Code))
			}
		}
		return test
	}
	test := jen.Add(codes[0])
	for _, c := range codes[1:] {
		test = test.Op("||").Add(c)
	}
	if len(codes) > 1 {
		return jen.Add(failed).Op("!=").Nil().Op("&&").Parens(test)
	}
	return jen.Add(failed).Op("!=").Nil().Op("&&").Add(test)
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
		test := jen.Add(b.decisionValue(d)).Op(op).Add(v)
		if out == nil {
			out = test
		} else {
			out = out.Op(join).Add(test)
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
		return jen.Id(b.fn.decisionName(d))
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
	for _, d := range s.Decisions() {
		if d.Hoist && d.Used > 0 {
			low := b.lower()
			v := low.expr(d.Expr)
			b.flush(low)
			op := ":="
			if b.fn.outside(variable{kind: decisionVar, decision: d}) {
				op = "="
			}
			b.add(jen.Id(b.fn.decisionName(d)).Op(op).Add(v))
		}
		if d.Open {
			b.openSwitch(s, d)
		}
	}
}

// openSwitch stops the run when a switch has no case for the value.
func (b *block) openSwitch(s *check.Step, d *check.Decision) {
	var all []int
	for k := range d.Cases {
		all = append(all, k)
	}
	value := b.lower().expr(d.Expr)
	if d.Hoist && d.Used > 0 {
		value = b.decisionValue(d)
	}
	b.add(jen.Switch(value).Block(
		jen.Case(b.caseValues(d, all)...),
		jen.Default().Block(b.fail(jen.Qual(runtimePath, "NoCase").Call(jen.Id("run"), b.fn.node(s), quote(d.Expr.String()), value))...),
	))
}
