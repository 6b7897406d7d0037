package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/expr"
)

// naturalLoops finds the members of every loop that a back edge closes: the header, the source of the edge, and all
// that lies between them. A loop is entered through its header alone; two loops nest or are disjoint.
func (c *checker) naturalLoops(b *Body) {
	var kept []*backEdge
	for _, l := range b.loops {
		if l.header != l.from && !b.before(l.header, l.from) {
			c.report(diag.Diagnostic{Code: diag.BadLoop, Span: l.edge.To[0].Span,
				Message: "this edge has `max` but does not lead back: no edges lead from " + l.header.Node.ID.Name + " to " + l.from.Node.ID.Name,
				Help:    "remove `max`, or lead back to a node that comes before"})
			continue
		}
		if !c.oneHeader(b, l) {
			continue
		}
		if l.when == nil && l.edge.Exhausted == nil {
			c.report(diag.Diagnostic{Code: diag.BadLoop, Span: l.edge.To[0].Span, Message: "this loop can only end with an error: nothing stops it before its bound is spent",
				Help: "add `when`, or say with `exhausted` where to go on then"})
			continue
		}
		kept = append(kept, l)
	}
	b.loops = kept
	c.nesting(b)
}

// oneHeader fills in the members of a loop, by going back from the source of its edge to the header. It reports a way
// into the middle, which misses the header.
func (c *checker) oneHeader(b *Body, l *backEdge) bool {
	in := map[*Step]bool{l.header: true}
	queue := []*Step{l.header}
	if l.from != l.header {
		in[l.from] = true
		queue = append(queue, l.from)
	}
	for i := 1; i < len(queue); i++ {
		for _, a := range queue[i].in {
			if in[a.from] {
				continue
			}
			if !b.before(l.header, a.from) {
				at := a.at
				if at.IsZero() {
					at = queue[i].Node.ID.Span
				}
				c.report(diag.Diagnostic{Code: diag.BadLoop, Span: at,
					Message: "this edge enters the loop of " + l.header.Node.ID.Name + " in the middle",
					Help:    "a loop is entered through its first node; lead to `" + l.header.Node.ID.Name + "`, or use a `loop` node",
					Related: []diag.Related{{Span: l.edge.Span, Message: "this edge closes the loop"}}})
				return false
			}
			in[a.from] = true
			queue = append(queue, a.from)
		}
	}
	slices.SortFunc(queue, func(s, t *Step) int { return s.index - t.index })
	l.members = queue
	l.from.back = append(l.from.back, l)
	return true
}

// nesting reports loops that are neither apart nor one inside the other. One overlap is enough: it may be the reason for
// others.
func (c *checker) nesting(b *Body) {
	of := map[*Step][]int{} // the loops around a step, in the order of their edges
	for i, l := range b.loops {
		shared := map[int]int{}
		for _, s := range l.members {
			for _, m := range of[s] {
				shared[m]++
			}
			of[s] = append(of[s], i)
		}
		for _, m := range sortedKeys(shared) {
			if !c.nests(l, b.loops[m], shared[m]) {
				return
			}
		}
	}
}

func (c *checker) nests(l, m *backEdge, shared int) bool {
	message, help := "two loops overlap", "let one contain the other, or use `loop` nodes"
	switch {
	case l.header == m.header:
		message, help = "two edges lead back to "+l.header.Node.ID.Name, "join them into one edge whose `when` holds for both"
	case shared != len(l.members) && shared != len(m.members):
	case l.when != nil && l.when == m.when:
		message, help = "two loops repeat under one condition", "the inner one ends only when it does not hold; give the outer one a condition of its own"
	default:
		return true
	}
	c.report(diag.Diagnostic{Code: diag.BadLoop, Span: l.edge.Span, Message: message, Help: help,
		Related: []diag.Related{{Span: m.edge.Span, Message: "the other one"}}})
	return false
}

// exclusiveExits warns about a back edge next to which another edge of the same node may be active too: the back edge
// wins, and the exit is taken only by the last iteration.
func (c *checker) exclusiveExits(b *Body) {
	for _, l := range b.loops {
		for _, a := range l.from.out {
			switch {
			case a.exhausted, a.orderOnly, a.to.gate == never, a.decision != nil && a.decision.Kind == Outcome:
				continue
			case a.decision != nil && a.decision == l.when && a.cases != l.repeat:
				continue
			case l.when == nil: // the loop goes on to its bound
			case exclusiveCase(l, a):
				continue
			}
			c.warn(diag.Diagnostic{Code: diag.BackAndExit, Span: a.at,
				Message: "this edge and the one that leads back can both hold",
				Help:    "the loop goes on while its edge holds; write the opposite condition here to say so",
				Related: []diag.Related{{Span: l.edge.Span, Message: "this edge leads back"}}})
		}
	}
}

// exclusiveCase reports whether the edge a is not active while l repeats because both compare one value with constants.
func exclusiveCase(l *backEdge, a *arc) bool {
	what, value, ok := l.when.compares(l.repeat)
	if !ok || a.decision == nil {
		return false
	}
	switch a.decision.Kind {
	case When:
		other, v, ok := a.decision.compares(a.cases)
		return ok && other == what && v != value
	case Switch:
		if a.decision.Expr.String() != what {
			return false
		}
		k := a.decision.Cases[a.cases]
		if !k.Default {
			return constant(k.Value.Value) != value
		}
		return slices.ContainsFunc(a.decision.Cases, func(k Case) bool { return !k.Default && constant(k.Value.Value) == value })
	}
	return false
}

// compares says that in its case k a condition holds exactly when an expression has a value.
func (d *Decision) compares(k int) (what, value string, ok bool) {
	n, want := d.Expr, k == 0
	for n.Op == expr.Unary && n.Text == "!" {
		n, want = n.Kids[0], !want
	}
	if n.Op != expr.Binary || n.Text != "==" && n.Text != "!=" || want != (n.Text == "==") {
		return "", "", false
	}
	x, v := n.Kids[0], n.Kids[1]
	if x.Op == expr.Lit {
		x, v = v, x
	}
	if v.Op != expr.Lit || v.Value == nil {
		return "", "", false
	}
	return x.String(), fmt.Sprint(v.Value), true
}

// constant is the value of a case as an expression would have it.
func constant(v ir.Value) string {
	s, ok := v.(*ir.Scalar)
	if !ok {
		return ""
	}
	switch s.Tag {
	case "!!int":
		if n, err := ParseInt(s.Text.Value); err == nil {
			return fmt.Sprint(n)
		}
	case "!!bool":
		return strings.ToLower(s.Text.Value)
	}
	return s.Text.Value
}
