package check

import (
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// performs checks the nodes that the function of a Perform runs and returns what they use: that is theirs.
func (s *blockScope) performs(step *Step, v *ir.Perform) map[any]bool {
	uses := map[any]bool{}
	if v.Inside != nil {
		step.Body = s.insideOf(step, v.Inside, v.Call.Node, uses)
	}
	return uses
}

// insideOf makes steps of the nodes of a body that call runs.
func (s *blockScope) insideOf(parent *Step, in *ir.Body, call *expr.Node, uses map[any]bool) *Body {
	b := &Body{IR: in, byID: map[string]*Step{}, limit: s.c.limit, parent: parent, loose: true, Result: schema.EmptyType}
	for i, n := range in.Nodes {
		step := &Step{Node: n, body: b, index: i, defaults: &ir.Defaults{}, effects: s.c.nodeEffects(n)}
		n.Result = schema.InvalidType
		b.Steps = append(b.Steps, step)
		b.byID[n.ID.Name] = step
		v, ok := n.Verb.(*ir.Perform)
		switch {
		case !ok:
			s.fault(n.Span, "a function runs nodes that perform, and %q does not", n.ID.Name)
		case v.Call != nil:
			s.fault(n.Span, "node %q has a call of its own, and is run by %q", n.ID.Name, parent.Node.ID.Name)
		case v.Inside != nil:
			step.Body = s.insideOf(step, v.Inside, call, uses)
		case !handed(call, n):
			s.fault(n.Span, "node %q is not handed to the function that runs it", n.ID.Name)
		}
		if v.Agent != nil && handed(call, v.Agent) {
			s.agent(step, v.Agent)
		}
		for _, u := range v.AtMost {
			if !handed(call, u.Of) {
				s.fault(n.Span, "node %q uses what the function that runs it is not handed", n.ID.Name)
			}
			uses[u.Of] = true
			step.Uses = append(step.Uses, Use{Of: u.Of, AtMost: u.N})
			switch of := u.Of.(type) {
			case *ir.Tool:
				s.c.used[of] = true
			case *ir.Model:
				s.c.usedModel(of, n.Span)
			case *ir.ToolChoice:
				s.choice(step, of)
			case *ir.Workflow:
				step.Flow = s.c.flows[of]
			}
		}
	}
	b.Plan = s.insidePlan(b, in.Block)
	for _, step := range b.Steps {
		if !b.Plan.runs(step) {
			s.notRun(step)
		}
	}
	return b
}

// insidePlan says how nodes that a function runs follow each other.
func (s *blockScope) insidePlan(b *Body, block ir.Block) *Plan {
	plan := &Plan{Kind: Seq}
	for _, stmt := range block {
		switch x := stmt.(type) {
		case *ir.RunStmt:
			step := b.byID[x.Node.ID.Name]
			if step == nil || step.Node != x.Node || x.Call != nil || x.Into.Name != "" {
				s.fault(x.Node.Span, "the function does not run node %q", x.Node.ID.Name)
			}
			plan.Kids = append(plan.Kids, &Plan{Kind: Leaf, Step: step})
		case *ir.SideStmt:
			side := &Plan{Kind: Par}
			for _, arm := range x.Arms {
				side.Kids = append(side.Kids, s.insidePlan(b, arm))
			}
			plan.Kids = append(plan.Kids, side)
		default:
			s.fault(b.parent.Node.Span, "what a function runs is described by runs and sides, and not by %T", stmt)
		}
	}
	if len(plan.Kids) == 1 {
		return plan.Kids[0]
	}
	return plan
}

func (p *Plan) runs(s *Step) bool {
	return p.Step == s || slices.ContainsFunc(p.Kids, func(k *Plan) bool { return k.runs(s) })
}

// handed reports whether an expression has a Handle of something.
func handed(n *expr.Node, ref any) bool {
	found := false
	n.Walk(func(n *expr.Node) bool {
		found = found || n.Op == expr.Handle && n.Use.Ref == ref
		return !found
	})
	return found
}

// Handed is the part of a call that says what becomes of a step which the function of another node runs: the innermost one that
// its Handle is in. Nil for other steps.
func (s *Step) Handed() *expr.Node {
	by := s
	for by.performed() {
		by = by.body.parent
	}
	v, ok := by.Node.Verb.(*ir.Perform)
	if by == s || !ok || v.Call == nil {
		return nil
	}
	var part *expr.Node
	v.Call.Node.Walk(func(n *expr.Node) bool {
		if slices.ContainsFunc(n.Kids, func(k *expr.Node) bool { return k.Op == expr.Handle && k.Use.Ref == s.Node }) {
			part = n
		}
		return true
	})
	return part
}

// performed reports whether the function of another node runs a step.
func (s *Step) performed() bool {
	if s.body == nil || s.body.parent == nil {
		return false
	}
	_, ok := s.body.parent.Node.Verb.(*ir.Perform)
	return ok
}

// within are the nodes that a step runs, and those that they run.
func (s *Step) within(n *ir.Node) bool {
	if s == nil {
		return false
	}
	v, ok := s.Node.Verb.(*ir.Perform)
	return ok && v.Inside != nil && has(v.Inside, n)
}

func has(b *ir.Body, n *ir.Node) bool {
	return slices.ContainsFunc(b.Nodes, func(x *ir.Node) bool {
		v, ok := x.Verb.(*ir.Perform)
		return x == n || ok && v.Inside != nil && has(v.Inside, n)
	})
}
