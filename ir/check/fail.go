package check

import (
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// fails reports whether the step ends what it stands in whenever it runs.
func (s *Step) fails() bool {
	_, fail := s.Node.Verb.(*ir.Fail)
	return fail
}

// failNode types a node that fails. It has no result, and sets nothing.
func (c *checker) failNode(s *Step, v *ir.Fail, e *env) {
	if v.Message != nil {
		c.value(v.Message, schema.StringType, e)
	}
	if v.Cause != nil {
		c.value(v.Cause, schema.OptOf(schema.ErrorType, ""), e)
	}
	if len(s.Node.Set) > 0 {
		c.report(diag.Diagnostic{Code: diag.Misplaced, Span: s.Node.Set[0].Field.Span, Message: "`set` has no effect on this node", Help: "remove it: the run ends here"})
	}
	s.Node.Result = schema.EmptyType
}

// leavesFail reports an edge out of a node that fails whenever its turn comes.
func (c *checker) leavesFail(b *Body, e *ir.Edge, from *Step) bool {
	if !from.fails() || from.Node.When != nil {
		return false
	}
	c.report(diag.Diagnostic{Code: diag.BadEdge, Span: e.From.Span, Message: "nothing can follow " + from.Node.ID.Name + ", which fails the run",
		Help: "remove the edge, or give the node a `when`", Related: []diag.Related{{Span: from.Node.ID.Span, Message: "it is defined here"}}})
	b.loose = true
	return true
}

// survived is when a step runs, or with nil the body ends, where at holds: nothing that fails ran before it.
func (b *Body) survived(reader *Step, at formula) formula {
	if b.weak || b.loose {
		return at
	}
	for _, s := range b.failing {
		if reader == nil || s.when != nil && b.before(s, reader) {
			at = b.diagram.without(at, s.act)
		}
	}
	return at
}
