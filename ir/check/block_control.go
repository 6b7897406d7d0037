package check

import (
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// armOf is the block of an arm of a switch.
func (s *blockScope) armOf() *blockScope {
	in := s.inner()
	in.cases = true
	return in
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
			s.fault(x.On.Text.Span, "the case %v is not a value of %s, which is %s", a.Value, x.On.Node, t)
		}
		plan.Values = append(plan.Values, a.Value)
		plan.Kids = append(plan.Kids, s.inside(a.Do, s.armOf()))
	}
	if len(x.Default) > 0 {
		plan.Kids = append(plan.Kids, s.inside(x.Default, s.armOf()))
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
	}
	s.indexed(x.Scope, x.Index)
	if x.Index.Name != "" {
		plan.Index = in.declare(&Local{Name: x.Index.Name, Type: goInt}, x.Index.Span)
	}
	if x.Cond != nil {
		in.value(x.Cond, schema.BoolType, expr.Place{})
	}
	plan.Kids = []*Plan{s.inside(x.Do, in)}
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
	s.indexed(x.Scope, x.Index)
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

// inLoop reports a statement that is in no loop, and returns whether it is in a switch inside of one.
func (s *blockScope) inLoop(what string, at source.Span) (inSwitch bool) {
	for b := s; b != nil; b = b.up {
		inSwitch = inSwitch || b.cases
		if b.loop {
			return inSwitch
		}
		if b.arm != nil || b.lambda {
			break
		}
	}
	s.fault(at, "a %s is outside of a loop", what)
	return false
}

func (s *blockScope) ret(x *ir.ReturnStmt) *Plan {
	for b := s; b != nil && !b.lambda; b = b.up {
		if b.arm != nil {
			s.fault(x.Span, "a return is in an arm of a side, which cannot end the body")
		}
	}
	plan := &Plan{Kind: Return, Expr: x.Value}
	switch {
	case s.sig == nil && x.Value != nil:
		s.fault(x.Span, "a body returns what the workflow returns, and no other value")
	case s.sig == nil:
		s.body.ends = append(s.body.ends, s.visible())
	case s.sig.Result != nil:
		at := s.place()
		at.Calls = s.step != nil // what a function of a node calls when it is called itself
		s.value(x.Value, s.sig.Result, at)
	case x.Value != nil:
		s.fault(x.Span, "the lambda returns no value")
	}
	return plan
}

// Do implements expr.CoreEnv.
// Ends reports whether nothing runs after a plan: it returns, or repeats without an end.
func (p *Plan) Ends() bool {
	if p == nil {
		return false
	}
	switch p.Kind {
	case Return:
		return true
	case Leaf:
		return p.Step.fails() && p.Step.Node.When == nil
	case Seq:
		return len(p.Kids) > 0 && p.Kids[len(p.Kids)-1].Ends()
	case Branch:
		return len(p.Kids) == 2 && p.Kids[0].Ends() && p.Kids[1].Ends()
	case While:
		return p.Expr == nil && p.Max == 0 && !p.Kids[0].breaks()
	}
	return false
}

// breaks reports whether a plan ends the loop that it is in.
func (p *Plan) breaks() bool {
	return p.Kind == Break || p.Kind != While && p.Kind != Range && slices.ContainsFunc(p.Kids, (*Plan).breaks)
}

// indexed reports a loop with a scope of its own, whose calls nothing numbers.
func (s *blockScope) indexed(scope *ir.Scope, index ir.Ident) {
	if scope != nil && index.Name == "" {
		s.fault(scope.ID.Span, "scope %q has no index", scope.ID.Name)
	}
}
