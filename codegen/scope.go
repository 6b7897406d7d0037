package codegen

import (
	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// A variable is something a step leaves behind: its result, its caught error, whether it ran, a map's failures, or a
// decision that must be kept.
type variable struct {
	kind     variableKind
	step     *check.Step
	decision *check.Decision
}

type variableKind uint8

const (
	resultVar variableKind = iota
	errorVar
	ranVar
	failuresVar
	decisionVar
)

// A scope is a Go block of the function being written. Where a variable is declared follows from the blocks in which it
// is set and used: in place when the block that sets it holds all uses, else before the statement of the innermost block
// that holds them all.
type scope struct {
	parent *scope
	depth  int
	loop   bool // the body of a loop written with edges
}

type place struct {
	def, home *scope
}

func (s *scope) child() *scope { return &scope{parent: s, depth: s.depth + 1} }

func common(a, b *scope) *scope {
	for a != b {
		if a.depth >= b.depth {
			a = a.parent
		} else {
			b = b.parent
		}
	}
	return a
}

// layout walks a plan before it is emitted and finds the block of every variable. scopes receives the scope that each
// plan's inside has.
type layout struct {
	fn     *function
	body   *check.Body
	scopes map[*check.Plan]*scope // If, Choose arms, Par arms, Scheduled kids, Repeat bodies: by the kid
	leaf   map[*check.Step]*scope
}

// lay computes the layout of a body's plan inside root. end are the expressions evaluated after the plan.
func (fn *function) lay(b *check.Body, root *scope, end []*expr.Node) *layout {
	l := &layout{fn: fn, body: b, scopes: map[*check.Plan]*scope{}, leaf: map[*check.Step]*scope{}}
	if b.Plan != nil {
		l.define(b.Plan, root)
		l.uses(b.Plan, root)
	}
	for _, n := range end {
		l.use(n, root)
	}
	return l
}

func (l *layout) define(p *check.Plan, at *scope) {
	switch p.Kind {
	case check.Leaf:
		l.leaf[p.Step] = at
		for _, k := range []variableKind{resultVar, errorVar, ranVar, failuresVar} {
			l.fn.vars[variable{kind: k, step: p.Step}] = &place{at, at}
		}
		for _, d := range p.Step.Decisions() {
			l.fn.vars[variable{kind: decisionVar, decision: d}] = &place{at, at}
		}
	case check.Seq:
		for _, k := range p.Kids {
			l.define(k, at)
		}
	default:
		for _, k := range p.Kids {
			in := at.child()
			in.loop = p.Kind == check.Repeat
			l.scopes[k] = in
			l.define(k, in)
		}
	}
}

func (l *layout) uses(p *check.Plan, at *scope) {
	switch p.Kind {
	case check.Leaf:
		ir.Expressions(p.Step.Node, func(n *expr.Node) { l.use(n, at) })
		for _, d := range p.Step.Decisions() {
			if d.Hoist || d.Open {
				l.use(d.Expr, at)
			}
		}
	case check.If:
		for _, t := range p.Cond.Any {
			if t.Ran != nil {
				l.ran(t.Ran, at)
			}
			l.decision(t.Decision, at)
		}
	case check.Choose:
		l.decision(p.Decision, at)
	case check.Repeat:
		l.decision(p.Loop.When, l.scopes[p.Kids[0]])
	}
	for _, k := range p.Kids {
		in := at
		if s := l.scopes[k]; s != nil {
			in = s
		}
		l.uses(k, in)
	}
}

func (l *layout) decision(d *check.Decision, at *scope) {
	switch {
	case d == nil:
	case d.Kind == check.Outcome:
		l.at(variable{kind: errorVar, step: d.Step}, at)
		l.ran(d.Step, at)
	case d.Hoist:
		l.at(variable{kind: decisionVar, decision: d}, at)
	default:
		l.use(d.Expr, at)
	}
}

func (l *layout) ran(s *check.Step, at *scope) {
	if s.Flag {
		l.at(variable{kind: ranVar, step: s}, at)
	} else {
		l.at(variable{kind: resultVar, step: s}, at)
	}
}

// use records what an expression reads.
func (l *layout) use(n *expr.Node, at *scope) {
	n.Walk(func(n *expr.Node) bool {
		if n.Sym == nil {
			return true
		}
		switch ref := n.Sym.Ref.(type) {
		case *check.Step:
			l.at(variable{kind: resultVar, step: ref}, at)
		case *check.ErrorOf:
			l.at(variable{kind: errorVar, step: ref.Step}, at)
		case *check.FailuresOf:
			l.at(variable{kind: failuresVar, step: ref.Step}, at)
		}
		return true
	})
}

func (l *layout) at(v variable, at *scope) {
	if p := l.fn.vars[v]; p != nil && l.leaf[v.owner()] != nil {
		p.home = common(p.home, at)
	}
}

func (v variable) owner() *check.Step {
	if v.decision != nil {
		return v.decision.Step
	}
	return v.step
}

// outside reports whether a variable is declared before the block that sets it.
func (fn *function) outside(v variable) bool {
	p := fn.vars[v]
	return p != nil && p.home != p.def
}

// declarations are the `var` statements needed in scope at before the statement of plan p.
func (l *layout) declarations(p *check.Plan, at *scope) []jen.Code {
	var out []jen.Code
	var walk func(p *check.Plan)
	walk = func(p *check.Plan) {
		if p.Kind == check.Leaf {
			for _, v := range l.fn.variablesOf(p.Step) {
				if pl := l.fn.vars[v]; pl.home == at && pl.def != at {
					out = append(out, jen.Id(l.fn.name(v)).Add(l.fn.typeOf(v)))
				}
			}
		}
		for _, k := range p.Kids {
			walk(k)
		}
	}
	walk(p)
	return out
}

// resets are the variables that an iteration of a loop must clear: set under a condition, and declared outside.
func (l *layout) resets(p *check.Plan, in *scope) []jen.Code {
	var out []jen.Code
	var walk func(p *check.Plan)
	walk = func(p *check.Plan) {
		if p.Kind == check.Leaf && l.leaf[p.Step] != in {
			for _, v := range l.fn.variablesOf(p.Step) {
				if pl := l.fn.vars[v]; pl.home.depth < in.depth {
					switch {
					case v.kind == ranVar:
						out = append(out, jen.Id(l.fn.name(v)).Op("=").False())
					case v.kind == errorVar, v.kind == resultVar && l.fn.pointer(v.step):
						out = append(out, jen.Id(l.fn.name(v)).Op("=").Nil())
					}
				}
			}
		}
		for _, k := range p.Kids {
			walk(k)
		}
	}
	walk(p)
	return out
}

// variablesOf lists what a step really leaves behind.
func (fn *function) variablesOf(s *check.Step) []variable {
	var out []variable
	if s.Read {
		out = append(out, variable{kind: resultVar, step: s})
	}
	if s.Catch && s.ErrorRead {
		out = append(out, variable{kind: errorVar, step: s})
	}
	if s.Flag {
		out = append(out, variable{kind: ranVar, step: s})
	}
	if s.FailuresRead {
		out = append(out, variable{kind: failuresVar, step: s})
	}
	for _, d := range s.Decisions() {
		if d.Hoist && d.Used > 0 {
			out = append(out, variable{kind: decisionVar, decision: d})
		}
	}
	return out
}

func (fn *function) name(v variable) string {
	switch v.kind {
	case errorVar:
		return fn.errName(v.step)
	case ranVar:
		return fn.ranName(v.step)
	case failuresVar:
		return fn.failuresName(v.step)
	case decisionVar:
		return fn.decisionName(v.decision)
	}
	return fn.local(v.step)
}

func (fn *function) typeOf(v variable) jen.Code {
	switch v.kind {
	case errorVar:
		return jen.Op("*").Qual(runtimePath, "ToolError")
	case ranVar:
		return jen.Bool()
	case failuresVar:
		return jen.Index().Qual(runtimePath, "Failure")
	case decisionVar:
		return fn.g.goType(v.decision.Expr.Type)
	}
	t := v.step.Node.Result
	if fn.pointer(v.step) && t.Kind != schema.Opt {
		return jen.Op("*").Add(fn.g.goType(t))
	}
	return fn.g.goType(t)
}

// pointer reports whether a step's result is held as a pointer that may be nil.
func (fn *function) pointer(s *check.Step) bool {
	return s.Maybe || s.Node.Result.Kind == schema.Opt
}

// decisionName is the variable of a decision that is kept: the step's name and the last name of the expression.
func (fn *function) decisionName(d *check.Decision) string {
	if name := fn.hoisted[d]; name != "" {
		return name
	}
	last := "chosen"
	d.Expr.Walk(func(n *expr.Node) bool {
		if n.Op == expr.Field || n.Op == expr.OptField {
			last = n.Text
			return false
		}
		return true
	})
	name := fn.fresh(d.Step.Node.ID.Name + "_" + last)
	fn.hoisted[d] = name
	return name
}
