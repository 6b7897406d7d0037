package check

import (
	"cmp"
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

func (s *blockScope) run(x *ir.RunStmt) *Plan {
	n := x.Node
	step := s.body.byID[n.ID.Name]
	v, ok := n.Verb.(*ir.Perform)
	switch {
	case step == nil || step.Node != n:
		s.fault(n.Span, "node %q is not in this body", n.ID.Name)
	case ok && v.Call == nil:
		s.fault(n.Span, "node %q performs nothing", n.ID.Name)
	case !ok:
		s.fault(n.Span, "a block runs nodes that perform, and %q does not", n.ID.Name)
	}
	s.body.visits = s.body.visits || v.Times > 0
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
		s.fault(n.Span, "node %q returns %s, and %s is %s", n.ID.Name, t, name.Name, plan.Local.Type)
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
