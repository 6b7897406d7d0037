package check

import (
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/expr"
)

// Where data decides which node comes next, nodes run as often as they say.

// timed reports whether every node that statements run says how often it runs.
func timed(b ir.Block) bool {
	some, all := false, true
	b.All(func(s ir.Stmt) {
		if run, ok := s.(*ir.RunStmt); ok {
			v, performs := run.Node.Verb.(*ir.Perform)
			some, all = true, all && performs && v.Times > 0
		}
	})
	return some && all
}

// visited notes that the Lambdas of a call run nodes.
func (b *Body) visited(n *expr.Node) {
	n.Walk(func(n *expr.Node) bool {
		if n.Op == expr.Lambda && n.Function.Do != nil {
			b.visits = b.visits || b.Lambdas[n.Function].leaf()
		}
		return true
	})
}

func (p *Plan) leaf() bool {
	return p != nil && (p.Kind == Leaf || slices.ContainsFunc(p.Kids, (*Plan).leaf))
}

// Shown is the plan as plans and costs have it: where data decides which node comes next, each node once, under the conditions
// of the edges that lead to it.
func (b *Body) Shown() *Plan {
	if !b.visits {
		return b.Plan
	}
	out := &Plan{Kind: Seq}
	for _, s := range b.Steps {
		leaf := &Plan{Kind: Leaf, Step: s}
		cond := &Cond{All: true}
		for _, a := range s.in {
			t := Term{Ran: a.from}
			if a.decision != nil {
				t.Decision, t.Cases = a.decision, []int{0}
			}
			cond.Any = append(cond.Any, t)
		}
		if len(cond.Any) > 0 {
			leaf = &Plan{Kind: If, Cond: cond, Kids: []*Plan{leaf}}
		}
		out.Kids = append(out.Kids, leaf)
	}
	return out
}
