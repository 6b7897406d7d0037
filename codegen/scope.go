package codegen

import (
	"slices"

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
	local    *check.Local
}

type variableKind uint8

const (
	resultVar variableKind = iota
	errorVar
	ranVar
	failuresVar
	receiptsVar
	decisionVar
	localVar // of a Block
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
	declared  bool // of a local of a Block, which may be set in several places: it was written
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
	whens  map[*check.Step]*scope // of what a step with a condition of its own does

	// stops are the switches that are written in the block of their step, by decision: a value without a case can be
	// stopped there.
	stops map[*check.Decision]*check.Plan
}

// lay computes the layout of a body's plan inside root. end are the expressions evaluated after the plan.
func (fn *function) lay(b *check.Body, root *scope, end []*expr.Node) *layout {
	l := &layout{fn: fn, body: b, scopes: map[*check.Plan]*scope{}, leaf: map[*check.Step]*scope{}, whens: map[*check.Step]*scope{}, stops: map[*check.Decision]*check.Plan{}}
	if b.Plan != nil {
		start := b.Start()
		if start != nil {
			l.leaf[start] = root
			l.defineDecisions(start, root)
		}
		l.define(b.Plan, root)
		l.uses(b.Plan, root)
		for _, s := range leaves(b.Plan) {
			l.decides(s)
		}
		if start != nil {
			l.decides(start)
		}
	}
	for _, n := range end {
		l.use(n, root)
	}
	if len(b.Steps) == 1 && b.Steps[0].Node.Inline && b.Steps[0].Node.When != nil { // the result of the body, which is not an expression
		l.at(variable{kind: resultVar, step: b.Steps[0]}, root)
	}
	return l
}

// layPlan computes the layout of the statements of a Lambda.
func (fn *function) layPlan(p *check.Plan, root *scope) *layout {
	l := &layout{fn: fn, scopes: map[*check.Plan]*scope{}, leaf: map[*check.Step]*scope{}, whens: map[*check.Step]*scope{}, stops: map[*check.Decision]*check.Plan{}}
	l.define(p, root)
	l.uses(p, root)
	return l
}

func (l *layout) define(p *check.Plan, at *scope) {
	if p.Local != nil && p.Kind != check.Range {
		l.defineLocal(p.Local, at)
	}
	switch p.Kind {
	case check.Leaf:
		l.leaf[p.Step] = at
		in := at
		if p.Step.Node.When != nil { // what it does is in an if; whether it went on is known after that
			in = at.child()
			l.whens[p.Step] = in
		}
		for _, k := range []variableKind{resultVar, errorVar, ranVar, failuresVar, receiptsVar} {
			l.fn.vars[variable{kind: k, step: p.Step}] = &place{def: in, home: in}
		}
		l.fn.vars[variable{kind: ranVar, step: p.Step}] = &place{def: at, home: at}
		l.defineDecisions(p.Step, at)
	case check.Seq:
		for _, k := range p.Kids {
			l.define(k, at)
		}
	default:
		for _, k := range p.Kids {
			in := at.child()
			in.loop = p.Kind == check.Repeat
			l.scopes[k] = in
			if p.Index != nil {
				l.defineLocal(p.Index, in)
			}
			if p.Local != nil {
				l.defineLocal(p.Local, in)
			}
			l.define(k, in)
		}
	}
}

// defineDecisions notes that the decisions after a step are made in a block.
func (l *layout) defineDecisions(s *check.Step, at *scope) {
	for _, d := range s.Decisions() {
		l.fn.vars[variable{kind: decisionVar, decision: d}] = &place{def: at, home: at}
	}
}

// defineLocal notes that a local of a Block gets a value in a block.
func (l *layout) defineLocal(x *check.Local, at *scope) {
	v := variable{kind: localVar, local: x}
	if p := l.fn.vars[v]; p != nil {
		p.home = common(p.home, at)
		return
	}
	l.fn.vars[v] = &place{def: at, home: at}
}

// declare reports whether the variable of a local is declared already when a value for it is written in a block; from then on it is.
func (l *layout) declare(x *check.Local, at *scope) bool {
	p := l.fn.vars[variable{kind: localVar, local: x}]
	was := p.declared
	p.declared = true
	return was
}

func (l *layout) uses(p *check.Plan, at *scope) {
	for _, e := range []*ir.Expr{p.Expr, p.Target} {
		if e != nil {
			l.use(e.Node, at)
		}
	}
	switch p.Kind {
	case check.Leaf:
		if p.Expr != nil { // of a Block
			break
		}
		if w := p.Step.Node.When; w != nil {
			l.use(w.Node, at)
			at = l.whens[p.Step]
		}
		ir.Expressions(p.Step.Node, func(n *expr.Node) {
			if n != p.Step.Until || !ownFunction(p.Step) {
				l.use(n, at)
				return
			}
			// Inside a function of its own a loop's own result is that function's.
			l.useExcept(n, at, p.Step)
		})
	case check.If:
		for _, t := range p.Cond.Any {
			if t.Ran != nil {
				l.ran(t.Ran, at)
			}
			if asks(t) {
				l.decision(t.Decision, t.Cases, at)
			}
		}
	case check.Choose:
		for _, cases := range tested(p) {
			l.decision(p.Decision, cases, at)
		}
		if l.leaf[p.Decision.Step] == at {
			l.stops[p.Decision] = p
		}
	case check.Repeat:
		in := l.scopes[p.Kids[0]]
		l.decision(p.Loop.When, []int{p.Loop.Case}, in)
		switch from := p.Loop.From; {
		case conditional(p.Kids[0], from) || from.Catch && from.Flag:
			l.fn.ends[from] = true
			l.at(variable{kind: ranVar, step: from}, in)
		default:
			l.success(from, in)
		}
	}
	for _, k := range p.Kids {
		in := at
		if s := l.scopes[k]; s != nil {
			in = s
		}
		l.uses(k, in)
	}
}

// conditional reports whether a step may not run although the plan around it does.
func conditional(p *check.Plan, s *check.Step) bool {
	return slices.ContainsFunc(p.Kids, func(k *check.Plan) bool {
		return slices.Contains(leaves(k), s) && (p.Kind == check.If || p.Kind == check.Choose || conditional(k, s))
	})
}

// decides records what is read right after a step to make the decisions there.
func (l *layout) decides(s *check.Step) {
	for _, d := range s.Decisions() {
		if l.fn.hoists(d) || guarded(d) {
			l.use(d.Expr, l.leaf[s])
			l.success(s, l.leaf[s])
		}
	}
}

// hoists reports whether a decision is kept in a variable.
func (fn *function) hoists(d *check.Decision) bool {
	return d.Hoist && (guarded(d) || fn.used[variable{kind: decisionVar, decision: d}])
}

// success records what tells, right after a step with catch, whether it succeeded.
func (l *layout) success(s *check.Step, at *scope) {
	switch {
	case !s.Catch:
	case s.Flag:
		l.at(variable{kind: ranVar, step: s}, at)
	case noResult(s):
		l.at(variable{kind: errorVar, step: s}, at)
	default:
		l.at(variable{kind: resultVar, step: s}, at)
	}
}

// decision records what a test for cases of d reads.
func (l *layout) decision(d *check.Decision, cases []int, at *scope) {
	switch {
	case d == nil:
	case d.Kind == check.Outcome:
		if len(cases) == 1 && cases[0] == 0 {
			l.ran(d.Step, at)
		} else {
			l.at(variable{kind: errorVar, step: d.Step}, at)
		}
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
func (l *layout) use(n *expr.Node, at *scope) { l.useExcept(n, at, nil) }

func (l *layout) useExcept(n *expr.Node, at *scope, own *check.Step) {
	fields := map[*expr.Node]bool{} // names whose fields are read
	n.Walk(func(n *expr.Node) bool {
		if n.Op == expr.Field && n.Sym == nil {
			fields[n.Kids[0]] = true
		}
		if n.Op == expr.Call && n.Text == "first" && !n.Method { // what is behind a value that is always there is not written
			for _, k := range n.Kids {
				l.useExcept(k, at, own)
				if k.Type.Kind != schema.Opt {
					break
				}
			}
			return false
		}
		if n.Sym == nil {
			return true
		}
		switch ref := n.Sym.Ref.(type) {
		case *check.Local:
			l.at(variable{kind: localVar, local: ref}, at)
		case *check.Step:
			if !fields[n] {
				l.fn.whole[ref] = true
			}
			if ref != own {
				l.at(variable{kind: resultVar, step: ref}, at)
			}
		case *check.ErrorOf:
			l.at(variable{kind: errorVar, step: ref.Step}, at)
			return false // below it stands the step's name, and not its result
		case *check.ErrorHere:
			for _, s := range ref.Steps {
				l.at(variable{kind: errorVar, step: s}, at)
			}
		case *check.FailedHere:
			for _, s := range ref.Steps[:len(ref.Steps)-1] { // that of the last one is the only one left
				l.at(variable{kind: errorVar, step: s}, at)
			}
			return false
		case *check.ReceiptOf:
			l.at(variable{kind: receiptsVar, step: ref.Step}, at)
			return false
		case *check.FailuresOf:
			l.at(variable{kind: failuresVar, step: ref.Step}, at)
			return false
		}
		return true
	})
}

func (l *layout) at(v variable, at *scope) {
	if v.kind == localVar && l.fn.vars[v] == nil { // of a Lambda, whose layout sees this use as well
		return
	}
	if v.kind == ranVar && v.step.Catch && v.step.Node.When != nil && l.leaf[v.step] != nil {
		l.at(variable{kind: errorVar, step: v.step}, l.leaf[v.step])
	}
	if v.kind != localVar && l.leaf[v.owner()] == nil { // of another body, whose layout sees this use as well
		return
	}
	l.fn.used[v] = true
	if p := l.fn.vars[v]; p != nil {
		p.home = common(p.home, at)
	}
}

func (v variable) owner() *check.Step {
	if v.decision != nil {
		return v.decision.Step
	}
	return v.step
}

// reads reports whether anything asks for a step's result.
func (fn *function) reads(s *check.Step) bool {
	guards := s.Completes() && (s.Catch || s.Skips()) && !optionalOutput(s)
	return fn.used[variable{kind: resultVar, step: s}] || s.Read && (guards || s.Node.Inline && s != fn.unread)
}

// readsError reports whether anything asks for the error that a step's catch holds.
func (fn *function) readsError(s *check.Step) bool {
	flag := fn.flagged(s)
	return s.Catch && (flag || fn.used[variable{kind: errorVar, step: s}])
}

// readsReceipts reports whether anything asks for outputs of an agent that failed.
func (fn *function) readsReceipts(s *check.Step) bool {
	return s.ReceiptsRead && fn.used[variable{kind: receiptsVar, step: s}]
}

// readsFailures reports whether anything asks for the items that a map dropped.
func (fn *function) readsFailures(s *check.Step) bool {
	return s.FailuresRead && fn.used[variable{kind: failuresVar, step: s}]
}

// flagged reports whether a variable says that a step ran, and anything asks for it.
func (fn *function) flagged(s *check.Step) bool {
	return (s.Flag || fn.ends[s]) && fn.used[variable{kind: ranVar, step: s}]
}

// outside reports whether a variable is declared before the block that sets it.
func (fn *function) outside(v variable) bool {
	p := fn.vars[v]
	return p != nil && p.home != p.def
}

// declarations are the `var` statements needed in scope at before the statement of plan p.
func (l *layout) declarations(p *check.Plan, at *scope) []jen.Code {
	var out []jen.Code
	var locals []*check.Local
	var walk func(p *check.Plan)
	walk = func(p *check.Plan) {
		if v := (variable{kind: localVar, local: p.Local}); p.Local != nil && l.fn.used[v] {
			if pl := l.fn.vars[v]; pl.home == at && pl.def != at && !pl.declared {
				pl.declared = true
				locals = append(locals, p.Local)
			}
		}
		if p.Kind == check.Leaf {
			for _, v := range l.fn.variablesOf(p.Step) {
				if pl := l.fn.vars[v]; pl.home == at && pl.def != at {
					out = append(out, jen.Id(ident(l.fn.name(v))).Add(l.fn.typeOf(v)))
				}
			}
		}
		for _, k := range p.Kids {
			walk(k)
		}
	}
	walk(p)
	return append(l.fn.localVars(locals), out...)
}

// localVars are the declarations of locals of Blocks: those of one type, which follow each other, are one.
func (fn *function) localVars(locals []*check.Local) []jen.Code {
	var out []jen.Code
	for len(locals) > 0 {
		t := locals[0].Type
		var names []jen.Code
		for len(locals) > 0 && schema.Equal(locals[0].Type, t) {
			names = append(names, jen.Id(ident(fn.localName(locals[0]))))
			locals = locals[1:]
		}
		out = append(out, jen.List(names...).Add(fn.g.goType(t)))
	}
	return out
}

// resets are the variables that an iteration of a loop must clear: set under a condition, and declared outside.
func (l *layout) resets(p *check.Plan, in *scope) []jen.Code {
	var out []jen.Code
	var walk func(p *check.Plan)
	walk = func(p *check.Plan) {
		if p.Kind == check.Leaf && (l.leaf[p.Step] != in || p.Step.Node.When != nil) {
			for _, v := range l.fn.variablesOf(p.Step) {
				if pl := l.fn.vars[v]; pl.home.depth < in.depth {
					switch {
					case v.kind == ranVar:
						out = append(out, jen.Id(ident(l.fn.name(v))).Op("=").False())
					case v.kind == errorVar, v.kind == resultVar && l.fn.pointer(v.step):
						out = append(out, jen.Id(ident(l.fn.name(v))).Op("=").Nil())
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
	if fn.reads(s) {
		out = append(out, variable{kind: resultVar, step: s})
	}
	if fn.readsError(s) {
		out = append(out, variable{kind: errorVar, step: s})
	}
	if fn.flagged(s) {
		out = append(out, variable{kind: ranVar, step: s})
	}
	if fn.readsReceipts(s) {
		out = append(out, variable{kind: receiptsVar, step: s})
	}
	if fn.readsFailures(s) {
		out = append(out, variable{kind: failuresVar, step: s})
	}
	for _, d := range s.Decisions() {
		if fn.hoists(d) {
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
	case receiptsVar:
		return fn.receiptsName(v.step)
	case decisionVar:
		return fn.decisionName(v.decision)
	}
	return fn.local(v.step)
}

func (fn *function) typeOf(v variable) jen.Code {
	switch v.kind {
	case errorVar:
		return jen.Op("*").Qual(valuePath, "ToolError")
	case ranVar:
		return jen.Bool()
	case receiptsVar:
		return fn.g.goType(v.step.Node.Result)
	case failuresVar:
		return jen.Index().Qual(flowPath, "Failure")
	case decisionVar:
		return fn.g.goType(v.decision.Expr.Type)
	}
	if f := fn.sole(v.step); f != nil {
		return fn.g.goType(f.Type)
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
