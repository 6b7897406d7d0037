package check

import (
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/expr"
)

// A Reason says why one step comes after another.
type Reason string

// The reasons.
const (
	ByEdge      Reason = "edge"      // an edge leads there
	ByCatch     Reason = "catch"     // it handles errors of the other
	ByReference Reason = "reference" // it reads the other's result
	ByWhen      Reason = "when"      // its `when` reads the other's result, and nothing else does
	ByWrites    Reason = "writes"    // both write to the world, and the other comes first in the file
	ByWait      Reason = "wait"      // one of the two waits, and the other comes first in the file
)

// A Follow is a step that another one comes after, and why.
type Follow struct {
	Step *Step
	Why  []Reason
}

// Step is the step of the body with an id; nil: there is none.
func (b *Body) Step(id string) *Step { return b.byID[id] }

// Follows are the steps that s comes after, in the order of the file. Those of a Block have none: it says the order itself.
func (s *Step) Follows() []Follow {
	var out []Follow
	for _, a := range s.in {
		if a.from == s.body.start {
			continue
		}
		why := s.reason(a)
		i := slices.IndexFunc(out, func(f Follow) bool { return f.Step == a.from })
		switch {
		case i < 0:
			out = append(out, Follow{a.from, []Reason{why}})
		case !slices.Contains(out[i].Why, why):
			out[i].Why = append(out[i].Why, why)
		}
	}
	slices.SortStableFunc(out, func(a, b Follow) int { return a.Step.index - b.Step.index })
	return out
}

func (s *Step) reason(a *arc) Reason {
	switch {
	case a.edge != nil:
		return ByEdge
	case a.decision != nil && a.decision.Kind == Outcome:
		return ByCatch
	case a.why == ByReference && s.onlyAsks(a.from):
		return ByWhen
	}
	return a.why
}

// onlyAsks reports whether s reads the result of t in its `when` and nowhere else.
func (s *Step) onlyAsks(t *Step) bool {
	if s.Node.When == nil {
		return false
	}
	all, own := 0, 0
	reads := func(n *int) func(*expr.Node) {
		return func(e *expr.Node) {
			for _, ref := range e.Refs() {
				if ref.Text == t.Node.ID.Name {
					*n++
				}
			}
		}
	}
	ir.Expressions(s.Node, reads(&all))
	reads(&own)(s.Node.When.Node)
	return own > 0 && own == all
}
