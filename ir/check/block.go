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
			scope.fault(s.Node.Span, "no statement runs node %q", s.Node.ID.Name)
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
		case *ir.NextStmt, *ir.ReturnStmt:
			if i < len(b)-1 {
				s.fault(source.Span{}, "nothing runs what stands after a next or a return")
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
		return s.next(x)
	case *ir.ReturnStmt:
		return s.ret(x)
	}
	s.fault(source.Span{}, "%T is no statement", stmt)
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
		s.fault(v.Text.Span, "%s is no call", v.Node)
	}
	return t
}

func (s *blockScope) run(x *ir.RunStmt) *Plan {
	n := x.Node
	step := s.body.byID[n.ID.Name]
	v, ok := n.Verb.(*ir.Perform)
	switch {
	case step == nil || step.Node != n:
		s.fault(n.Span, "node %q is none of this body", n.ID.Name)
	case ok && v.Call == nil:
		s.fault(n.Span, "node %q performs nothing", n.ID.Name)
	case !ok:
		s.fault(n.Span, "a block runs nodes that perform, and %q does not", n.ID.Name)
	}
	outer := s.step
	s.step = step
	call := cmp.Or(x.Call, v.Call)
	t := s.call(call, expr.Place{Calls: true, Fails: s.place().Fails})
	s.step = outer
	s.uses(step, v, call)
	n.Result = t
	plan := &Plan{Kind: Leaf, Step: step, Expr: call}
	if t == schema.EmptyType || t.Kind == schema.Invalid {
		return plan
	}
	name := x.Into
	if name.Name == "" {
		name = n.ID
		plan.Local = s.declare(&Local{Name: name.Name, Type: t, Step: step, sum: t.Unknown()}, name.Span)
		return plan
	}
	if plan.Local = s.local(name.Name); plan.Local == nil {
		plan.Local = s.declare(&Local{Name: name.Name, Type: t}, name.Span)
	} else if !schema.Assignable(t, plan.Local.Type) {
		s.fault(n.Span, "node %q gives %s, and %s is %s", n.ID.Name, t, name.Name, plan.Local.Type)
	}
	s.touch(plan.Local, name.Name, n.Span)
	return plan
}

// uses notes what a node calls, asks and runs.
func (s *blockScope) uses(step *Step, v *ir.Perform, call *ir.Expr) {
	if call != v.Call {
		for _, u := range ir.Uses(call.Node) {
			if !slices.ContainsFunc(ir.Uses(v.Call.Node), func(own *expr.Use) bool { return own.Ref == u.Ref }) {
				s.fault(step.Node.Span, "node %q uses %q in one place and not in the other", step.Node.ID.Name, u.Name)
			}
		}
		return
	}
	step.Uses, step.Flow, step.Pick = nil, nil, nil
	items := map[any]bool{}
	if v.Items != nil {
		if v.Items.Do == nil || v.Items.Do.Op != expr.Lambda || !holds(v.Call.Node, v.Items.Do) {
			s.fault(step.Node.Span, "node %q has no lambda for the items of a list", step.Node.ID.Name)
		}
		for _, u := range ir.Uses(v.Items.Do) {
			items[u.Ref] = true
		}
	}
	if v.Person {
		step.Question = &Question{Text: &Expected{Type: schema.StringType}, Out: schema.StringType}
	}
	if step.Agent = nil; v.Agent != nil {
		s.agent(step, v.Agent)
	}
	inner := s.performs(step, v)
	for _, u := range ir.Uses(v.Call.Node) {
		if inner[u.Ref] {
			continue
		}
		use := Use{Of: u.Ref, AtMost: 1, Item: items[u.Ref]}
		for _, b := range v.AtMost {
			if b.Of == u.Ref {
				use.AtMost = b.N
			}
		}
		step.Uses = append(step.Uses, use)
		switch of := u.Ref.(type) {
		case *ir.Tool:
			s.c.used[of] = true
		case *ir.ToolChoice:
			s.choice(step, of)
		case *ir.Model:
			s.c.usedModel(of, step.Node.Span)
		case *ir.Workflow:
			if step.Flow != nil {
				s.fault(step.Node.Span, "node %q runs two workflows", step.Node.ID.Name)
			}
			step.Flow = s.c.flows[of]
		}
	}
	for _, b := range v.AtMost {
		found := false
		for _, u := range step.Uses {
			found = found || u.Of == b.Of
		}
		if !found {
			s.fault(step.Node.Span, "node %q bounds what it does not use", step.Node.ID.Name)
		}
	}
}

// choice notes the tools of which a node calls the one that data names.
func (s *blockScope) choice(step *Step, of *ir.ToolChoice) {
	if step.Pick != nil {
		s.fault(step.Node.Span, "node %q has two choices of tools", step.Node.ID.Name)
	}
	step.Pick = s.c.pick(of)
	for _, x := range step.Pick.Choices {
		s.c.used[x.Tool] = true
	}
}

// holds reports whether an expression has a part.
func holds(n, part *expr.Node) bool {
	found := false
	n.Walk(func(n *expr.Node) bool { found = found || n == part; return !found })
	return found
}

func (s *blockScope) choose(x *ir.SwitchStmt) *Plan {
	t := s.value(x.On, nil, s.place())
	plan := &Plan{Kind: Select, Expr: x.On}
	for _, a := range x.Arms {
		kind := schema.Invalid
		switch v := a.Value.(type) {
		case string:
			kind = schema.String
		case int64:
			kind = schema.Int
		case bool:
			kind = schema.Bool
		case *ir.Node:
			if kind = schema.Opaque; !schema.Assignable(nodeType, t) || !slices.Contains(s.body.IR.Nodes, v) {
				kind = schema.Invalid
			}
		}
		if t.Kind != schema.Invalid && kind != t.Kind {
			s.fault(x.On.Text.Span, "the case %v is no value of %s, which is %s", a.Value, x.On.Node, t)
		}
		plan.Values = append(plan.Values, a.Value)
		plan.Kids = append(plan.Kids, s.inside(a.Do, s.inner()))
	}
	if len(x.Default) > 0 {
		plan.Kids = append(plan.Kids, s.inside(x.Default, s.inner()))
	}
	return plan
}

func (s *blockScope) side(x *ir.SideStmt) *Plan {
	plan := &Plan{Kind: Par}
	writes := &armWrites{by: map[any]int{}}
	var arms []*blockScope
	for i, b := range x.Arms {
		in := s.inner()
		writes.arm, in.arm = i, writes
		plan.Kids = append(plan.Kids, in.block(b))
		arms = append(arms, in)
	}
	for _, in := range arms {
		s.collect(in)
	}
	return plan
}

func (s *blockScope) while(x *ir.WhileStmt) *Plan {
	in := s.inner()
	in.loop = true
	plan := &Plan{Kind: While, Expr: x.Cond, Label: x.Label, Max: x.Max, Scope: x.Scope}
	switch {
	case x.Max < 0:
		s.fault(source.Span{}, "a while has a negative bound")
	case x.Max == 0 && !bounds(x.Do) && !timed(x.Do):
		s.fault(source.Span{}, "nothing bounds a while: neither a number nor a function that it calls")
	case x.Max == 0 && x.Index.Name != "":
		s.fault(x.Index.Span, "a while without a number has no index")
	case x.Scope != nil && x.Index.Name == "":
		s.fault(x.Scope.ID.Span, "scope %q has no index", x.Scope.ID.Name)
	}
	if x.Index.Name != "" {
		plan.Index = in.declare(&Local{Name: x.Index.Name, Type: goInt}, x.Index.Span)
	}
	if x.Cond != nil {
		in.value(x.Cond, schema.BoolType, expr.Place{})
	}
	plan.Kids = []*Plan{s.inside(x.Do, in)}
	s.body.visits = s.body.visits || x.Max == 0 && timed(x.Do)
	return plan
}

// goInt is what Go's loops count with.
var goInt = &schema.Type{Kind: schema.Int, Go: &schema.Go{Name: "int"}}

// bounds reports whether statements call, in every round, a function that bounds how often it is called.
func bounds(b ir.Block) bool {
	for _, s := range b {
		if do, ok := s.(*ir.DoStmt); ok && do.Call != nil && do.Call.Node.Op == expr.Intrinsic && do.Call.Node.Func.Bounds {
			return true
		}
		if sw, ok := s.(*ir.SwitchStmt); ok { // every arm but one that ends the loop
			all := len(sw.Arms) > 0
			for _, a := range sw.Arms {
				all = all && bounds(a.Do)
			}
			if all && (len(sw.Default) == 0 || bounds(sw.Default)) {
				return true
			}
		}
	}
	return false
}

func (s *blockScope) each(x *ir.RangeStmt) *Plan {
	t := s.value(x.Over, nil, s.place())
	item := schema.InvalidType
	switch t.Kind {
	case schema.List:
		item = t.Elem
	case schema.Invalid:
	default:
		s.fault(x.Over.Text.Span, "a range needs a list, and %s is %s", x.Over.Node, t)
	}
	if x.Scope != nil && x.Index.Name == "" {
		s.fault(x.Scope.ID.Span, "scope %q has no index", x.Scope.ID.Name)
	}
	in := s.inner()
	in.loop = true
	plan := &Plan{Kind: Range, Expr: x.Over, Scope: x.Scope}
	if x.Index.Name != "" {
		plan.Index = in.declare(&Local{Name: x.Index.Name, Type: goInt}, x.Index.Span)
	}
	if x.Item.Name != "" {
		plan.Local = in.declare(&Local{Name: x.Item.Name, Type: item}, x.Item.Span)
	}
	plan.Kids = []*Plan{s.inside(x.Do, in)}
	return plan
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
			s.fault(x.Name.Span, "%q gets no value: %s gives none", x.Name.Name, x.Value.Node)
		}
	}
	plan.Local = s.declare(&Local{Name: x.Name.Name, Type: t}, x.Name.Span)
	return plan
}

func (s *blockScope) set(x *ir.SetStmt) *Plan {
	t := s.value(x.Target, nil, expr.Place{})
	plan := &Plan{Kind: Assign, Expr: x.Value}
	switch n := x.Target.Node; {
	case t.Kind == schema.Invalid:
	case n.Op == expr.Name && n.Sym != nil:
		plan.Local, _ = n.Sym.Ref.(*Local)
		if plan.Local == nil {
			s.fault(x.Target.Text.Span, "%s cannot be set", n)
		}
		s.touch(plan.Local, n.Text, x.Target.Text.Span)
	case t.Kind == schema.Dynamic && s.inState(n):
		plan.Target = x.Target
		s.touch(n.String(), n.String(), x.Target.Text.Span)
	default:
		s.fault(x.Target.Text.Span, "%s cannot be set", n)
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

func (s *blockScope) next(x *ir.NextStmt) *Plan {
	for b := s; b != nil; b = b.up {
		if b.loop {
			return &Plan{Kind: Next}
		}
		if b.arm != nil || b.lambda {
			break
		}
	}
	s.fault(x.Span, "a next stands in no loop")
	return nil
}

func (s *blockScope) ret(x *ir.ReturnStmt) *Plan {
	for b := s; b != nil && !b.lambda; b = b.up {
		if b.arm != nil {
			s.fault(x.Span, "a return stands in an arm of a side, which cannot end the body")
		}
	}
	plan := &Plan{Kind: Return, Expr: x.Value}
	switch {
	case s.sig == nil && x.Value != nil:
		s.fault(x.Span, "a body returns what the workflow gives, and no other value")
	case s.sig == nil:
		s.body.ends = append(s.body.ends, s.visible())
	case s.sig.Result != nil:
		at := s.place()
		at.Calls = s.step != nil // what a function of a node calls when it is called itself
		s.value(x.Value, s.sig.Result, at)
	case x.Value != nil:
		s.fault(x.Span, "the lambda gives no value")
	}
	return plan
}

// Do implements expr.CoreEnv.
func (s *blockScope) Do(f *expr.Function, params []*expr.Symbol, sig *schema.Signature) []expr.Problem {
	in := &blockScope{c: s.c, body: s.body, up: s, lambda: true, params: params, sig: sig, step: s.step}
	b, ok := f.Do.(ir.Block)
	if !ok {
		s.fault(source.Span{}, "%T are no statements", f.Do)
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

// Ends reports whether nothing runs after a plan: it returns.
func (p *Plan) Ends() bool {
	if p == nil {
		return false
	}
	switch p.Kind {
	case Return:
		return true
	case Seq:
		return len(p.Kids) > 0 && p.Kids[len(p.Kids)-1].Ends()
	case Branch:
		return len(p.Kids) == 2 && p.Kids[0].Ends() && p.Kids[1].Ends()
	}
	return false
}
