package hashes

import (
	"testing"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// coversCore holds the hashes of what translators make to all fields of its structs.
func coversCore(t *testing.T, verb func(ir.Verb) string, binding func(ir.Binding) string) {
	stmt := func(s ir.Stmt) string { return sumOf(func(x *text) { block(x, ir.Block{s}) }) }
	covers(t, ir.RunStmt{Node: &ir.Node{}}, func(s *ir.RunStmt) string { return stmt(s) })
	covers(t, ir.IfStmt{}, func(s *ir.IfStmt) string { return stmt(s) })
	covers(t, ir.SwitchStmt{}, func(s *ir.SwitchStmt) string { return stmt(s) })
	covers(t, ir.SwitchArm{}, func(a *ir.SwitchArm) string { return stmt(&ir.SwitchStmt{Arms: []ir.SwitchArm{*a}}) })
	covers(t, ir.SideStmt{}, func(s *ir.SideStmt) string { return stmt(s) })
	covers(t, ir.WhileStmt{}, func(s *ir.WhileStmt) string { return stmt(s) })
	covers(t, ir.Scope{}, func(s *ir.Scope) string { return stmt(&ir.WhileStmt{Scope: s}) }, "Name") // only Go sees it
	covers(t, ir.RangeStmt{}, func(s *ir.RangeStmt) string { return stmt(s) })
	covers(t, ir.LetStmt{}, func(s *ir.LetStmt) string { return stmt(s) })
	covers(t, ir.SetStmt{}, func(s *ir.SetStmt) string { return stmt(s) })
	covers(t, ir.DoStmt{}, func(s *ir.DoStmt) string { return stmt(s) })
	covers(t, ir.NextStmt{}, func(s *ir.NextStmt) string { return stmt(s) }, "Span")
	covers(t, ir.BreakStmt{}, func(s *ir.BreakStmt) string { return stmt(s) }, "Span")
	covers(t, ir.ReturnStmt{}, func(s *ir.ReturnStmt) string { return stmt(s) }, "Span")

	covers(t, ir.Perform{}, func(v *ir.Perform) string { return verb(v) }, "Items", "Inside")
	if verb(&ir.Perform{Inside: &ir.Body{Block: ir.Block{&ir.NextStmt{}}}}) == verb(&ir.Perform{}) {
		t.Error("what runs inside does not count")
	}
	covers(t, ir.PerformAgent{}, func(a *ir.PerformAgent) string { return verb(&ir.Perform{Agent: a}) })
	covers(t, ir.Inside{}, func(in *ir.Inside) string { return verb(&ir.Perform{Items: in}) }, "Do") // a part of the call
	covers(t, ir.Answer{JSON: "{}"}, func(a *ir.Answer) string {
		return verb(&ir.Perform{Call: &ir.Expr{Node: expr.Of(expr.UseAnswer, "a", a)}})
	})
	covers(t, ir.Outcome{}, func(o *ir.Outcome) string {
		p := &check.Program{WF: &ir.Workflow{Outcome: *o}, Input: &schema.Type{}, Names: &check.Names{}, Body: &check.Body{IR: &ir.Body{}}}
		return newMaker(p).program(p)
	})
	one := []*ir.Expr{{Node: expr.Invoke(&expr.Func{Path: "a/b", Name: "Load"})}}
	if loads := func(calls []*ir.Expr) string {
		p := &check.Program{WF: &ir.Workflow{Load: calls}, Input: &schema.Type{}, Names: &check.Names{}, Body: &check.Body{IR: &ir.Body{}}}
		return newMaker(p).program(p)
	}; loads(nil) == loads(one) {
		t.Error("what a program loads does not count")
	}
	covers(t, ir.UseBound{Of: &ir.Tool{}}, func(u *ir.UseBound) string { return verb(&ir.Perform{AtMost: []ir.UseBound{*u}}) }, "Of") // its name and its hash count
	covers(t, ir.Made{}, func(b *ir.Made) string { return binding(b) })
	covers(t, ir.Reach{}, func(r *ir.Reach) string { return binding(&ir.Made{Reach: r}) }, "Servers") // New makes them

	value := func(n *expr.Node) string { return stmt(&ir.DoStmt{Call: &ir.Expr{Node: n}}) }
	call := func(f *expr.Func) string { return value(&expr.Node{Op: expr.Intrinsic, Func: f}) }
	covers(t, expr.Func{Path: "a/b"}, func(f *expr.Func) string { return call(f) }, // what the table says follows from its name
		"Method", "Params", "Variadic", "TypeArgs", "Result", "Fails", "Pure", "Env", "Bounds")
	if call(&expr.Func{Path: "a/b", TypeArgs: []*schema.Type{schema.BoolType}}) == call(&expr.Func{Path: "a/b"}) {
		t.Error("type arguments do not count")
	}
	covers(t, expr.Function{Do: ir.Block{}}, func(f *expr.Function) string { return value(&expr.Node{Op: expr.Lambda, Function: f}) })
	covers(t, expr.Param{}, func(p *expr.Param) string {
		return value(&expr.Node{Op: expr.Lambda, Function: &expr.Function{Params: []*expr.Param{p}, Do: ir.Block{}}})
	}, "Type")
	covers(t, ir.TextFunc{}, func(f *ir.TextFunc) string { return value(ir.CallText(f)) }, "Doc")
	covers(t, expr.Use{}, func(u *expr.Use) string { return value(&expr.Node{Op: expr.Handle, Use: u}) }, "Ref")
	if value(&expr.Node{Op: expr.Make, Keys: []string{"a"}, Kids: []*expr.Node{expr.Const("x")}}) == value(&expr.Node{Op: expr.Make, Keys: []string{"b"}, Kids: []*expr.Node{expr.Const("x")}}) {
		t.Error("keys of objects do not count")
	}
}
