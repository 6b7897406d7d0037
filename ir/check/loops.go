package check

import (
	"github.com/flowgen-dev/flowgen/ir/diag"
)

// naturalLoops finds the members of every loop that a back edge closes: the header, the source of the edge, and all
// that lies between them. A loop is entered through its header alone; two loops nest or are disjoint.
func (c *checker) naturalLoops(b *Body) {
	var kept []*backEdge
	for _, l := range b.loops {
		if l.header != l.from && !b.reach[l.header.index].has(l.from.index) {
			c.report(diag.Diagnostic{Code: diag.BadLoop, Span: l.edge.To[0].Span,
				Message: "this edge has `max` but does not lead back: no edges lead from " + l.header.Node.ID.Name + " to " + l.from.Node.ID.Name,
				Help:    "remove `max`, or lead back to a node that comes before"})
			continue
		}
		for _, s := range b.Steps {
			if s == l.header || s == l.from || b.reach[l.header.index].has(s.index) && b.reach[s.index].has(l.from.index) {
				l.members = append(l.members, s)
			}
		}
		if c.oneHeader(b, l) {
			kept = append(kept, l)
		}
	}
	b.loops = kept
	for i, l := range kept {
		for _, m := range kept[:i] {
			c.nesting(l, m)
		}
	}
}

// oneHeader reports edges into the middle of a loop.
func (c *checker) oneHeader(b *Body, l *backEdge) bool {
	in := map[*Step]bool{}
	for _, s := range l.members {
		in[s] = true
	}
	for _, s := range l.members {
		if s == l.header {
			continue
		}
		for _, a := range s.in {
			if !in[a.from] {
				c.report(diag.Diagnostic{Code: diag.BadLoop, Span: edgeSpan(a, s.Node.ID.Span),
					Message: "this enters the loop of " + l.header.Node.ID.Name + " in the middle",
					Help:    "a loop is entered through its first node; lead to `" + l.header.Node.ID.Name + "`, or use a `loop` node",
					Related: []diag.Related{{Span: l.edge.Span, Message: "this edge closes the loop"}}})
				return false
			}
		}
	}
	return true
}

func (c *checker) nesting(l, m *backEdge) {
	in := map[*Step]bool{}
	for _, s := range l.members {
		in[s] = true
	}
	shared := 0
	for _, s := range m.members {
		if in[s] {
			shared++
		}
	}
	if shared == 0 || l.header != m.header && (shared == len(l.members) || shared == len(m.members)) {
		return
	}
	message, help := "two loops overlap", "let one contain the other, or use `loop` nodes"
	if l.header == m.header {
		message, help = "two edges lead back to "+l.header.Node.ID.Name, "join them into one edge whose `when` holds for both"
	}
	c.report(diag.Diagnostic{Code: diag.BadLoop, Span: l.edge.Span, Message: message, Help: help,
		Related: []diag.Related{{Span: m.edge.Span, Message: "the other one"}}})
}

// exclusiveExits warns about a back edge beside which another edge of the same node may be active too: the back edge
// wins, and the exit is taken only by the last iteration.
func (c *checker) exclusiveExits(b *Body) {
	for _, l := range b.loops {
		repeat := always
		if l.when != nil {
			repeat = b.diagram.is(l.when.index, l.repeat)
		}
		for _, a := range l.from.out {
			if a.edge == l.edge || a.orderOnly || a.decision != nil && a.decision.Kind == Outcome {
				continue
			}
			if !b.weak && !b.diagram.excludes(b.active(a), repeat) {
				c.warn(diag.Diagnostic{Code: diag.BackAndExit, Span: edgeSpan(a, l.from.Node.ID.Span),
					Message: "this edge and the one that leads back can both hold",
					Help:    "the loop goes on while its edge holds; write the opposite condition here to say so",
					Related: []diag.Related{{Span: l.edge.Span, Message: "this edge leads back"}}})
			}
		}
	}
}
