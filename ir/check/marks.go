package check

import (
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/expr"
)

// marks finds out what of every step is read, so that each has the variables it needs and no others: Go refuses those
// that nothing uses. What is written only into Go that the plan has no place for, such as the condition of an edge to
// the end, reads nothing.
func (c *checker) marks(p *Program) {
	for _, o := range p.Outputs {
		ir.ValueExpressions(o.Value.Value, mark)
	}
	p.Body.marks()
}

// marks goes backwards, so that whether a step is read is known when its own reads are looked at.
func (b *Body) marks() {
	ir.ValueExpressions(b.IR.Result, mark)
	if len(b.Steps) == 1 && b.Steps[0].Node.Inline {
		b.Steps[0].Read = true
	}
	for _, s := range slices.Backward(b.order) {
		s.marks()
	}
	if b.start != nil {
		b.start.marksDecisions()
	}
}

func (s *Step) marksDecisions() {
	for _, d := range s.after {
		if d.Used > 0 || d.Open {
			mark(d.Expr)
		}
	}
}

func (s *Step) marks() {
	s.marksDecisions()
	if s.when != nil {
		mark(s.when.Expr)
	}
	for _, x := range s.Sets {
		ir.ValueExpressions(x.Value.Value, mark)
	}
	if s.Undo != nil {
		s.Undo.marks()
	}
	if s.Completes() && (s.Catch || s.Skips()) {
		s.Read = true // it says whether to write, or to undo it later
	}
	if s.Until != nil {
		mark(s.Until)
	}
	if s.DefaultExpr != nil && (s.Read || !s.Catch) {
		ir.ValueExpressions(s.DefaultExpr.Value, mark)
	}
	if s.ItemDefault != nil {
		ir.ValueExpressions(s.ItemDefault.Value, mark)
	}
	if s.Body != nil {
		s.Body.marks()
	}
	if s.Pick != nil {
		for _, v := range []*Expected{s.Pick.Name, s.Pick.Args, s.Pick.ID} {
			if v != nil {
				ir.ValueExpressions(v.Value, mark)
			}
		}
	}
	if v, ok := s.Node.Verb.(*ir.LLM); ok && s.Ask != nil {
		ir.Values(v, func(v ir.Value) { ir.ValueExpressions(v, mark) })
	}
	switch v := s.Node.Verb.(type) {
	case *ir.Fail, *ir.Wait, *ir.Parse:
		ir.Values(v, func(v ir.Value) { ir.ValueExpressions(v, mark) })
	}
	s.Question.marks()
	if v, ok := s.Node.Verb.(*ir.Agent); ok && s.Agent != nil {
		ir.Values(v, func(v ir.Value) { ir.ValueExpressions(v, mark) })
	}
	if s.Data != nil {
		ir.ValueExpressions(s.Data.Value, mark)
	}
	if s.Over != nil {
		ir.ValueExpressions(s.Over.Value, mark)
	}
	for _, a := range slices.Concat(s.With, s.Fields) {
		if a.Value.Value != nil {
			ir.ValueExpressions(a.Value.Value, mark)
		}
	}
}

// mark records what an expression reads of steps and variables.
func mark(n *expr.Node) {
	n.Walk(func(n *expr.Node) bool {
		if n.Sym == nil {
			return true
		}
		switch ref := n.Sym.Ref.(type) {
		case *Step:
			ref.Read = true
			ref.Maybe = ref.Maybe || n.Sym.Absent
		case *ErrorOf:
			ref.Step.ErrorRead = true
			return false // the step's own result is not read
		case *ErrorHere:
			for _, s := range ref.Steps {
				s.ErrorRead = true
			}
		case *FailedHere:
			for _, s := range ref.Steps {
				s.ErrorRead = true
			}
			return false
		case *ReceiptOf:
			ref.Step.ReceiptsRead = true
			return false
		case *FailuresOf:
			ref.Step.FailuresRead = true
			return false
		case *Var:
			ref.Used = true
		}
		return true
	})
}
