package check

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// A Local is a name of a Block: of what a node gave, of a let, or of what a loop counts.
type Local struct {
	Name string
	Type *schema.Type
	Step *Step // whose result it is; nil for others

	sum bool // of a result: it can be read below the block in which it is made
}

// A Fault is a mistake of a translator, which no change of a workflow can fix: Check panics with it.
type Fault struct {
	At      source.Span
	Message string
}

func (f *Fault) Error() string {
	if f.At.IsZero() {
		return f.Message
	}
	p := f.At.Start()
	return fmt.Sprintf("%s:%d:%d: %s", f.At.File.Name, p.Line, p.Col, f.Message)
}

// blockScope is a block of statements while it is checked, with what can be named in it.
type blockScope struct {
	c      *checker
	body   *Body
	up     *blockScope
	locals []*Local
	lambda bool              // these are the statements of a Lambda
	params []*expr.Symbol    // its parameters
	sig    *schema.Signature // of that Lambda; nil: these are the statements of the body
	step   *Step             // in whose call the Lambda stands
	loop   bool              // the block of a while or a range
	cases  bool              // the block of an arm of a switch
	arm    *armWrites        // the block of an arm of a side
}

// armWrites is what the arms of a side set, each with the arm.
type armWrites struct {
	by  map[any]int
	arm int
}

// blockBody checks a body whose order is written as a Block, and makes its plan.
func (c *checker) blockBody(b *ir.Body) *Body {
	out := &Body{IR: b, byID: map[string]*Step{}, limit: c.limit, loose: true, Result: schema.EmptyType}
	for i, n := range b.Nodes {
		s := &Step{Node: n, body: out, index: i, defaults: &ir.Defaults{}, effects: c.nodeEffects(n)}
		n.Result = schema.InvalidType
		out.Steps = append(out.Steps, s)
		if _, dup := out.byID[n.ID.Name]; !dup {
			out.byID[n.ID.Name] = s
		}
	}
	out.describe()
	scope := &blockScope{c: c, body: out}
	out.scope = scope
	out.Plan = scope.block(b.Block)
	for _, s := range out.Steps {
		if s.Node.Result == schema.InvalidType && !c.sink.HasErrors() {
			scope.notRun(s)
		}
	}
	return out
}

// describe makes arcs of the edges. They decide nothing: the text of a condition is what graphs say of it.
func (b *Body) describe() {
	for _, e := range b.IR.Edges {
		var d *Decision
		from := b.byID[e.From.Name]
		if e.When != nil {
			d = &Decision{Step: from, Kind: When, Cases: []Case{{Label: e.When.Text.Value}}}
		}
		for _, t := range e.To {
			if to := b.byID[t.Name]; from != nil && to != nil {
				b.link(&arc{from: from, to: to, decision: d, edge: e, at: t.Span})
			}
		}
	}
}

func (s *blockScope) fault(at source.Span, format string, args ...any) {
	panic(&Fault{At: at, Message: fmt.Sprintf(format, args...)})
}

// notRun reports a node that no statement runs.
func (s *blockScope) notRun(step *Step) {
	s.fault(step.Node.Span, "no statement runs node %q", step.Node.ID.Name)
}

func (s *blockScope) inner() *blockScope {
	return &blockScope{c: s.c, body: s.body, up: s, sig: s.sig, step: s.step}
}

// inside checks a block inside of s. What its nodes give can be read below it.
func (s *blockScope) inside(b ir.Block, in *blockScope) *Plan {
	plan := in.block(b)
	s.collect(in)
	return plan
}

// collect makes the results of a block inside of s names of s.
func (s *blockScope) collect(in *blockScope) {
	for _, l := range in.locals {
		if l.sum {
			s.locals = append(s.locals, l)
		}
	}
}

// block checks statements one after the other.
func (s *blockScope) block(b ir.Block) *Plan {
	plan := &Plan{Kind: Seq}
	for i, stmt := range b {
		switch stmt.(type) {
		case *ir.NextStmt, *ir.BreakStmt, *ir.ReturnStmt:
			if i < len(b)-1 {
				s.fault(source.Span{}, "nothing runs what is after a next, a break or a return")
			}
		}
		plan.Kids = append(plan.Kids, s.stmt(stmt))
	}
	return plan
}

func (s *blockScope) stmt(stmt ir.Stmt) *Plan {
	s.textOnly(stmt)
	switch x := stmt.(type) {
	case *ir.RunStmt:
		return s.run(x)
	case *ir.IfStmt:
		s.value(x.Cond, schema.BoolType, s.place())
		plan := &Plan{Kind: Branch, Expr: x.Cond, Label: cmp.Or(x.Label, x.Cond.Node.String()), Kids: []*Plan{s.inside(x.Then, s.inner())}}
		if len(x.Else) > 0 {
			plan.Kids = append(plan.Kids, s.inside(x.Else, s.inner()))
		}
		return plan
	case *ir.SwitchStmt:
		return s.choose(x)
	case *ir.SideStmt:
		return s.side(x)
	case *ir.WhileStmt:
		return s.while(x)
	case *ir.RangeStmt:
		return s.each(x)
	case *ir.LetStmt:
		return s.let(x)
	case *ir.SetStmt:
		return s.set(x)
	case *ir.DoStmt:
		at := s.place()
		at.Calls = true
		s.call(x.Call, at)
		s.body.visited(x.Call.Node)
		return &Plan{Kind: Effect, Expr: x.Call}
	case *ir.NextStmt:
		s.inLoop("next", x.Span)
		return &Plan{Kind: Next}
	case *ir.BreakStmt:
		if s.inLoop("break", x.Span) {
			s.fault(x.Span, "a break is in a switch")
		}
		return &Plan{Kind: Break}
	case *ir.ReturnStmt:
		return s.ret(x)
	}
	s.fault(source.Span{}, "%T is not a statement", stmt)
	return nil
}

// place is what expressions may do: they can fail where there is an error to return.
func (s *blockScope) place() expr.Place { return expr.Place{Fails: s.sig == nil || s.sig.Fails} }

// value checks an expression and returns its type.
func (s *blockScope) value(v *ir.Expr, want *schema.Type, at expr.Place) *schema.Type {
	if v == nil || v.Node == nil {
		s.fault(source.Span{}, "an expression is missing")
	}
	s.c.problems(v.Text, expr.CheckAt(v.Node, s, want, at))
	return v.Node.Type
}

// call checks an expression that has to be a call.
func (s *blockScope) call(v *ir.Expr, at expr.Place) *schema.Type {
	t := s.value(v, nil, at)
	if v.Node.Op != expr.Intrinsic || v.Node.Func.Const {
		s.fault(v.Text.Span, "%s is not a call", v.Node)
	}
	return t
}

func (s *blockScope) let(x *ir.LetStmt) *Plan {
	plan := &Plan{Kind: Assign, Expr: x.Value, New: true}
	t := x.Type
	switch {
	case x.Value == nil && !t.Unknown() && (t == nil || t.Kind != schema.Bool):
		s.fault(x.Name.Span, "%q has no value, and none that its type has from the start", x.Name.Name)
	case x.Value != nil:
		at := s.place()
		at.Calls = true
		if have := s.value(x.Value, t, at); t == nil {
			t = have
		}
		if t == schema.EmptyType || t.Kind == schema.Null {
			s.fault(x.Name.Span, "%q gets no value: %s returns none", x.Name.Name, x.Value.Node)
		}
	}
	plan.Local = s.declare(&Local{Name: x.Name.Name, Type: t}, x.Name.Span)
	return plan
}

func (s *blockScope) set(x *ir.SetStmt) *Plan {
	t := s.value(x.Target, nil, expr.Place{})
	plan := &Plan{Kind: Assign, Expr: x.Value}
	n := x.Target.Node
	unsettable := func() { s.fault(x.Target.Text.Span, "%s cannot be set", n) }
	switch {
	case t.Kind == schema.Invalid:
	case n.Op == expr.Name && n.Sym != nil:
		plan.Local, _ = n.Sym.Ref.(*Local)
		if plan.Local == nil {
			unsettable()
		}
		s.touch(plan.Local, n.Text, x.Target.Text.Span)
	case t.Kind == schema.Dynamic && s.inState(n):
		plan.Target = x.Target
		s.touch(n.String(), n.String(), x.Target.Text.Span)
	default:
		unsettable()
	}
	s.value(x.Value, t, s.place())
	return plan
}

// inState reports whether an expression is a field of the state, or of one of its groups.
func (s *blockScope) inState(n *expr.Node) bool {
	if n.Op != expr.Field {
		return false
	}
	in := n.Kids[0]
	if in.Op == expr.Field && slices.Contains(s.c.wf.Groups, in.Text) {
		in = in.Kids[0]
	}
	return in.Op == expr.Name && in.Text == "state"
}

// touch notes that a local or a field of state is set. Two arms of a side that set the same race.
func (s *blockScope) touch(what any, name string, at source.Span) {
	for b := s; b != nil; b = b.up {
		if l, ok := what.(*Local); ok {
			for _, own := range b.locals {
				if own == l {
					return // it is declared inside of the arm
				}
			}
		}
		if b.arm == nil {
			continue
		}
		if other, dup := b.arm.by[what]; dup && other != b.arm.arm {
			s.fault(at, "two arms of a side set %s", name)
		}
		b.arm.by[what] = b.arm.arm
	}
}

func (s *blockScope) Do(f *expr.Function, params []*expr.Symbol, sig *schema.Signature) []expr.Problem {
	in := &blockScope{c: s.c, body: s.body, up: s, lambda: true, params: params, sig: sig, step: s.step}
	b, ok := f.Do.(ir.Block)
	if !ok {
		s.fault(source.Span{}, "%T are not statements", f.Do)
	}
	if s.body.Lambdas == nil {
		s.body.Lambdas = map[*expr.Function]*Plan{}
	}
	plan := in.block(b)
	s.body.Lambdas[f] = plan
	if n := len(plan.Kids); sig.Result != nil && (n == 0 || !plan.Kids[n-1].Ends()) {
		s.fault(source.Span{}, "the lambda ends without a value")
	}
	return nil
}
