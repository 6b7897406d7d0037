package check

import (
	"fmt"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// A TextFunc is a text function of the workflow.
type TextFunc struct {
	IR   *ir.TextFunc
	Sig  *schema.Signature
	Body *Body // without steps
}

// textType is the type of a text function, which is checked when it is called first.
func (s *blockScope) textType(u *expr.Use) (*schema.Type, string) {
	t, ok := u.Ref.(*ir.TextFunc)
	if !ok {
		return nil, fmt.Sprintf("%q is not a text function", u.Name)
	}
	f, seen := s.c.textOf[t]
	if seen && f == nil {
		return nil, fmt.Sprintf("the text function %q calls itself", t.Name.Name)
	}
	if f == nil {
		f = s.c.textFunc(t)
	}
	return schema.FuncOf(f.Sig), ""
}

// textFunc checks a text function.
func (c *checker) textFunc(t *ir.TextFunc) *TextFunc {
	if c.textOf == nil {
		c.textOf = map[*ir.TextFunc]*TextFunc{}
	}
	c.textOf[t] = nil
	f := &TextFunc{IR: t, Sig: t.Signature(), Body: &Body{IR: &ir.Body{Block: t.Do}, byID: map[string]*Step{}, loose: true, Result: schema.EmptyType, text: t}}
	s := &blockScope{c: c, body: f.Body, lambda: true, sig: f.Sig}
	if t.Result == nil {
		s.fault(t.Name.Span, "the text function %q returns no value", t.Name.Name)
	}
	for _, p := range t.Params {
		if p.Type == nil || s.find(p.Name) != nil {
			s.fault(t.Name.Span, "the text function %q has a parameter %q without a type, or twice", t.Name.Name, p.Name)
		}
		s.params = append(s.params, &expr.Symbol{Name: p.Name, Type: p.Type, Ref: p})
	}
	f.Body.scope = s
	if f.Body.Plan = s.block(t.Do); !f.Body.Plan.Ends() {
		s.fault(t.Name.Span, "the text function %q ends without a value", t.Name.Name)
	}
	c.textOf[t] = f
	c.texts = append(c.texts, f)
	return f
}

// textOnly refuses what has no place in a text function: it has no run.
func (s *blockScope) textOnly(stmt ir.Stmt) {
	if s.body.text == nil {
		return
	}
	var scope *ir.Scope
	refused := false
	switch x := stmt.(type) {
	case *ir.RunStmt, *ir.SideStmt:
		refused = true
	case *ir.WhileStmt:
		scope = x.Scope
	case *ir.RangeStmt:
		scope = x.Scope
	}
	if refused || scope != nil {
		s.fault(source.Span{}, "the text function %q runs nodes", s.body.text.Name.Name)
	}
}

// Texts checks text functions that no workflow calls.
func Texts(list []*ir.TextFunc, sink *diag.Sink) *Program {
	wf := &ir.Workflow{Name: ir.Ident{Name: "texts"}, File: source.NewFile("texts", ""), Public: true, Body: ir.Body{Block: ir.Block{}}}
	for i, t := range list {
		var args []*expr.Node
		for range t.Params {
			args = append(args, expr.Const(nil))
		}
		wf.Body.Block = append(wf.Body.Block, &ir.LetStmt{Name: ir.Ident{Name: fmt.Sprintf("text_%d", i)}, Value: &ir.Expr{Node: ir.CallText(t, args...)}})
	}
	return Check(wf, sink)
}
