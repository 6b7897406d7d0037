package check

import (
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// errorType is the type of `error` in an output that is made also of a run that fails.
var errorType = &schema.Type{Kind: schema.Opaque, Go: &schema.Go{Name: "error"}}

// returns holds what the workflow returns to what can be named wherever its body ends.
func (c *checker) returns(p *Program) {
	s := p.Body.scope
	if c.sink.HasErrors() {
		return // what cannot be read has no type
	}
	if f := p.Output.Field("status"); c.wf.Outcome.Status && (f == nil || f.Type.Kind != schema.Enum && f.Type.Kind != schema.String) {
		panic(&Fault{At: c.wf.Name.Span, Message: "the output has no text \"status\" that could decide about the exit code"})
	}
	if c.wf.Outcome.Always {
		s.always(c.wf.Body.Block, p.Outputs)
	}
	for _, visible := range p.Body.ends {
		for _, o := range p.Outputs {
			ir.ValueExpressions(o.Value.Value, func(n *expr.Node) {
				n.Walk(func(n *expr.Node) bool {
					if n.Sym == nil {
						return true
					}
					if l, ok := n.Sym.Ref.(*Local); ok && !slices.Contains(visible, l) {
						s.fault(o.Value.Value.Source(), "the output reads %s, which has no value at a return before it", l.Name)
					}
					return true
				})
			})
		}
	}
}

// always holds an output that is made also of a run that fails to what has a value wherever that happens: the input, the
// state, the error, and what is declared before anything can fail.
func (s *blockScope) always(b ir.Block, outputs []*Argument) {
	ready := map[*Local]bool{}
	for i, stmt := range b {
		let, declares := stmt.(*ir.LetStmt)
		if _, sets := stmt.(*ir.SetStmt); !sets && !declares || fails(b[:i+1]) {
			break
		}
		if declares {
			ready[s.local(let.Name.Name)] = true
		}
	}
	for _, o := range outputs {
		ir.ValueExpressions(o.Value.Value, func(n *expr.Node) {
			n.Walk(func(n *expr.Node) bool {
				if n.Sym == nil {
					return true
				}
				if l, ok := n.Sym.Ref.(*Local); ok && !ready[l] {
					s.fault(o.Value.Value.Source(), "the output reads %s, which has no value in a run that fails before it", l.Name)
				}
				return true
			})
		})
	}
}

// fails reports whether an expression of statements can fail.
func fails(b ir.Block) bool {
	found := false
	b.Walk(func(n *expr.Node) bool {
		found = found || n.Op == expr.Intrinsic && n.Func.Fails || n.Op == expr.Handle && (n.Use.Kind == expr.UseFlow || n.Use.Kind == expr.UseText)
		return n.Op != expr.Lambda
	})
	return found
}
