package core

import (
	"strings"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// wrong are programs that no translator may make. Each is a Fault, with its message; what begins with "error:" is
// reported as a mistake of the file.
var wrong = []struct {
	message string
	build   func(l *language)
}{
	// expressions
	{"`==` does not take a value whose type only a run knows", func(l *language) { l.let("x", binary("==", read("state", "a"), whole(1))) }},
	{"`&&` does not take", func(l *language) { l.let("x", binary("&&", read("state", "a"), expr.Const(true))) }},
	{"`+` does not take", func(l *language) { l.let("x", binary("+", read("state", "a"), whole(1))) }},
	{"`!` does not take", func(l *language) { l.when(expr.Not(read("state", "a")), nothing) }},
	{"`?:` does not take", func(l *language) {
		l.let("x", &expr.Node{Op: expr.Cond, Kids: []*expr.Node{expr.Const(true), read("state", "a"), whole(1)}})
	}},
	{"`size` does not take", func(l *language) {
		l.let("x", &expr.Node{Op: expr.Call, Text: "size", Kids: []*expr.Node{read("state", "a")}})
	}},
	{"`==` does not take engine.Ended", func(l *language) { l.zero("e", ended); l.let("x", binary("==", read("e"), read("e"))) }},
	{"a template does not show", func(l *language) {
		tmpl, _ := expr.ParseTemplate("{{ state.a }}")
		l.wf.Output = append(l.wf.Output, &ir.Output{Name: ident("x"), Value: &ir.Template{Tmpl: tmpl}})
	}},
	{"a part of a text is int", func(l *language) { l.let("x", expr.Join(text("a"), whole(1))) }},
	{"cannot use a value whose type only a run knows as bool", func(l *language) { l.when(read("state", "a"), nothing) }},
	{"cannot use engine.Ended as a value whose type only a run knows", func(l *language) { l.zero("e", ended); l.let("x", expr.Object(expr.Put("e", read("e")))) }},
	{"engine.Ended has no field \"missing\"", func(l *language) { l.zero("e", ended); l.let("x", read("e", "missing")) }},
	{"Show takes 1 arguments and has 2", func(l *language) { l.let("x", expr.Invoke(fnShow, whole(1), whole(2))) }},
	{"Less takes 2 arguments and has 1", func(l *language) { l.let("x", expr.Invoke(fnLess, whole(1))) }},
	{"cannot use int as string", func(l *language) { l.let("x", expr.Invoke(fnShout, whole(1))) }},
	{"Put changes something", func(l *language) { l.output("x", expr.Invoke(fnPut, expr.Address(read("state", "a")), whole(1))) }},
	{"Shout can fail, but errors cannot be handled here", func(l *language) { l.output("x", expr.Invoke(fnShout, text("a"))) }},
	{"engine.Options has no field \"nome\"", func(l *language) { l.let("x", expr.Struct(options, expr.Put("nome", text("a")))) }},
	{"error: name \"nobody\"", func(l *language) { l.let("x", expr.Invoke(fnShow, read("nobody"))) }},
	{"error: node \"late\" has not run here", func(l *language) {
		l.let("x", expr.Invoke(fnShow, read("late", "value")))
		l.perform("late", l.call(l.tool("echo"), cFail))
	}},
	// lambdas
	{"a lambda is used where no function is expected", func(l *language) { l.let("x", expr.Fn(whole(1))) }},
	{"the lambda takes 2 values, and is handed 1", func(l *language) { l.let("x", expr.Invoke(fnApply, expr.Fn(read("a"), "a", "b"), text("t"))) }},
	{"the lambda returns int, and string is asked for", func(l *language) { l.let("x", expr.Invoke(fnApply, expr.Fn(whole(1), "a"), text("t"))) }},
	{"the lambda ends without a value", func(l *language) { l.let("x", expr.Invoke(fnApply, expr.FnDo(ir.Block{}, "a"), text("t"))) }},
	// handles
	{"only a perform uses tools", func(l *language) {
		l.let("x", expr.Invoke(fnTool, read("job"), run(), expr.Of(expr.UseNode, "n", l.node("n", whole(1))), use(l.tool("echo")), expr.Invoke(cFail), expr.Object()))
	}},
	{"no node is in scope here", func(l *language) { l.do(expr.Invoke(fnStep, read("job"), run(), node())) }},
	{"\"other\" is not a node of the body", func(l *language) {
		l.do(expr.Invoke(fnStep, read("job"), run(), expr.Of(expr.UseNode, "other", &ir.Node{})))
	}},
	{"no loop has the scope", func(l *language) {
		l.do(expr.Invoke(fnStep, read("job"), run(), expr.Of(expr.UseNode, "round", l.scope("round", ""))))
	}},
	{"\"foreign\" is not a tool of the workflow", func(l *language) { l.perform("n", l.call(&ir.Tool{Key: ident("foreign")}, cFail)) }},
	{"the address of", func(l *language) { l.do(expr.Invoke(fnPut, expr.Address(whole(1)), whole(1))) }},
	{"the state field \"closed\" is not open", func(l *language) {
		l.wf.State = append(l.wf.State, &ir.State{Name: ident("closed"), Type: schema.ListOf(schema.IntType)})
		l.begin2()
	}},
	{"nobody says what tool \"dark\" reaches", func(l *language) {
		l.tool("dark").Binding.(*ir.Made).Reach = nil
		l.perform("n", l.call(l.wf.Tools[0], cFail))
	}},
	{"nothing makes tool \"dark\"", func(l *language) { l.tool("dark").Binding.(*ir.Made).New = nil }},
	{"cannot use string as flow.Tool", func(l *language) { l.tool("dark").Binding.(*ir.Made).New = of(text("a")) }},
	{"\"dark\" is not a model of the workflow", func(l *language) {
		l.perform("n", expr.Invoke(fnAsk, read("job"), run(), node(), expr.Of(expr.UseModel, "dark", &ir.Model{}), text("a")))
	}},
	{"\"other\" is not a workflow that this one runs", func(l *language) { l.nest(&ir.Workflow{}, expr.Object()) }},
	{"inner is not given its input \"word\"", func(l *language) { l.nest(l.inner(), expr.Object()) }},
	{"{word: string} has no field \"wort\"", func(l *language) {
		l.nest(l.inner(), expr.Object(expr.Put("word", text("a")), expr.Put("wort", text("a"))))
	}},
	{"the input of inner is not an object", func(l *language) { l.nest(l.inner(), text("a")) }},
	// text functions
	{"\"t\" is not a text function", func(l *language) { l.let("x", expr.Of(expr.UseText, "t", nil)) }},
	{"the text function \"t\" takes 1 values, and is handed 2", func(l *language) { l.let("x", ir.CallText(l.made(false, nothing), whole(1), whole(2))) }},
	{"cannot use engine.Ended as a value whose type only a run knows", func(l *language) { l.zero("e", ended); l.let("x", ir.CallText(l.made(false, nothing), read("e"))) }},
	{"the text function \"t\" can fail, but errors cannot be handled here", func(l *language) {
		l.add(&ir.WhileStmt{Max: 3, Cond: of(binary("==", ir.CallText(l.made(true, nothing), whole(1)), text("a")))})
	}},
	{"the text function \"t\" returns no value", func(l *language) {
		t := l.made(false, nothing)
		t.Result = nil
		l.let("x", ir.CallText(t, whole(1)))
	}},
	{"a parameter \"a\" without a type, or twice", func(l *language) {
		l.let("x", ir.CallText(l.textFunc("t", false, nothing, "a", "a"), whole(1), whole(2)))
	}},
	{"the text function \"t\" ends without a value", func(l *language) { l.let("x", ir.CallText(l.textFunc("t", false, nothing))) }},
	{"the text function \"t\" calls itself", func(l *language) {
		t := l.made(false, nothing)
		t.Do = append(ir.Block{&ir.DoStmt{Call: of(ir.CallText(t, whole(1)))}}, t.Do...)
		l.let("x", ir.CallText(t, whole(1)))
	}},
	{"the text function \"t\" runs nodes", func(l *language) { l.let("x", ir.CallText(l.made(false, func() { l.side(nothing) }), whole(1))) }},
	{"the text function \"t\" runs nodes", func(l *language) {
		l.let("x", ir.CallText(l.made(false, func() { l.run("", l.node("n", whole(1))) }), whole(1)))
	}},
	{"the text function \"t\" runs nodes", func(l *language) {
		l.let("x", ir.CallText(l.made(false, func() { l.add(&ir.WhileStmt{Max: 3, Scope: l.scope("s", ""), Index: ident("i")}) }), whole(1)))
	}},
	{"the text function \"t\" uses what only a body has", func(l *language) {
		l.let("x", ir.CallText(l.made(false, func() { l.let("n", expr.Invoke(fnNew, expr.Of(expr.UseSlots, "", nil))) }), whole(1)))
	}},
	{"Shout can fail, but errors cannot be handled here", func(l *language) {
		l.let("x", ir.CallText(l.made(false, func() { l.let("n", expr.Invoke(fnShout, text("a"))) }), whole(1)))
	}},
	{"\"a\" is declared twice", func(l *language) { l.let("x", ir.CallText(l.made(false, func() { l.let("a", whole(1)) }), whole(1))) }},
	{"error: name \"state\"", func(l *language) {
		l.let("x", ir.CallText(l.made(false, func() { l.let("n", read("state", "a")) }), whole(1)))
	}},
	{"error: name \"job\"", func(l *language) {
		l.let("x", ir.CallText(l.made(false, func() { l.let("n", read("job")) }), whole(1)))
	}},
	// nodes
	{"no statement runs node \"idle\"", func(l *language) { l.node("idle", l.call(l.tool("echo"), cFail)) }},
	{"node \"x\" is not in this body", func(l *language) { l.run("", &ir.Node{ID: ident("x")}) }},
	{"a block runs nodes that perform, and \"n\" does not", func(l *language) { l.perform("n", whole(1)).Verb = &ir.Let{} }},
	{"1 is not a call", func(l *language) { l.perform("n", whole(1)) }},
	{"node \"n\" bounds what it does not use", func(l *language) { l.atMost(l.perform("n", l.call(l.tool("echo"), cFail)), &ir.Tool{}, 3) }},
	{"node \"n\" returns engine.Ended, and text is string", func(l *language) {
		l.let("text", text("a"))
		l.into("text", "n", l.call(l.tool("echo"), cFail))
	}},
	{"node \"n\" has no lambda for the items of a list", func(l *language) {
		l.verb(l.perform("n", l.call(l.tool("echo"), cFail))).Items = &ir.Inside{Do: expr.Fn(whole(1))}
	}},
	{"node \"n\" uses \"other\" in one place and not in the other", func(l *language) {
		n := l.perform("n", l.call(l.tool("echo"), cFail))
		l.add(&ir.RunStmt{Node: n, Call: of(l.call(l.tool("other"), cFail)), Into: ident("again")})
	}},
	{"\"n\" is not an answer that a node asks for", func(l *language) {
		l.let("x", expr.Invoke(fnBounded, &expr.Node{Op: expr.Field, Text: "json", Kids: []*expr.Node{expr.Of(expr.UseAnswer, "n", &ir.Answer{JSON: "{}"})}}, expr.Const(time.Second)))
	}},
	{"\"n\" is not an answer that a node asks for", func(l *language) {
		l.perform("n", expr.Invoke(fnJudge, read("job"), run(), node(), expr.Of(expr.UseModel, "m", l.model("m")), expr.Of(expr.UseAnswer, "n", &ir.Answer{}), text("a")))
	}},
	{"the output has no text \"status\"", func(l *language) { l.wf.Outcome.Status = true }},
	{"cannot use int as bytes", func(l *language) { l.let("x", expr.Invoke(fnBounded, whole(1), expr.Const(time.Second))) }},
	{"\"none\" is not a choice of tools", func(l *language) {
		l.perform("n", expr.Invoke(fnPick, read("job"), run(), node(), expr.Of(expr.UseChoice, "none", &ir.ToolChoice{}), text("a"), expr.Object()))
	}},
	// what runs inside
	{"node \"n\" performs nothing", func(l *language) { l.verb(l.perform("n", l.call(l.tool("echo"), cFail))).Call = nil }},
	{"a function runs nodes that perform, and \"in\" does not", func(l *language) {
		l.encloses(func(n *ir.Node, m *ir.Model) ir.Block { n.Verb = &ir.Let{}; return nil })
	}},
	{"node \"in\" has a call of its own", func(l *language) {
		l.encloses(func(n *ir.Node, m *ir.Model) ir.Block { l.verb(n).Call = of(text("a")); return nil })
	}},
	{"node \"in\" is not handed to the function that runs it", func(l *language) {
		n := l.perform("n", l.call(l.tool("echo"), cFail))
		l.verb(n).Inside = &ir.Body{Nodes: []*ir.Node{l.within("in", l.model("m"))}}
	}},
	{"node \"in\" uses what the function that runs it is not handed", func(l *language) {
		l.encloses(func(n *ir.Node, m *ir.Model) ir.Block { l.verb(n).AtMost[0].Of = &ir.Model{}; return nil })
	}},
	{"no statement runs node \"in\"", func(l *language) { l.encloses(func(n *ir.Node, m *ir.Model) ir.Block { return ir.Block{} }) }},
	{"the function does not run node \"x\"", func(l *language) {
		l.encloses(func(n *ir.Node, m *ir.Model) ir.Block { return ir.Block{&ir.RunStmt{Node: &ir.Node{ID: ident("x")}}} })
	}},
	{"is described by runs and sides", func(l *language) {
		l.encloses(func(n *ir.Node, m *ir.Model) ir.Block { return ir.Block{&ir.NextStmt{}} })
	}},
	// outcome and groups
	{"the state has no group \"nowhere\"", func(l *language) {
		l.wf.State = append(l.wf.State, &ir.State{Name: ident("x"), Type: schema.AnyType, Open: true, Group: "nowhere"})
	}},
	{"has groups, which have no slots", func(l *language) { l.grouped("g", "x") }},
	{"the output reads x, which has no value in a run that fails before it", func(l *language) {
		l.wf.Outcome.Always = true
		l.perform("n", l.call(l.tool("echo"), cFail))
		l.let("x", text("a"))
		l.output("x", read("x"))
	}},
	{"error: node \"error\"", func(l *language) { l.output("x", expr.Invoke(fnFailure, read("error"))) }},
	{"what a program loads is a call without a result", func(l *language) { l.wf.Load = []*ir.Expr{of(expr.Invoke(fnShout, text("a")))} }},
	// statements
	{"\"x\" is declared twice", func(l *language) { l.let("x", whole(1)); l.let("x", whole(2)) }},
	{"\"state\" is not a valid name of a local", func(l *language) { l.let("state", whole(1)) }},
	{"\"x\" has no value, and none that its type has from the start", func(l *language) { l.zero("x", schema.IntType) }},
	{"\"x\" gets no value", func(l *language) { l.let("x", expr.Invoke(fnPut, expr.Address(read("state", "a")), whole(1))) }},
	{"engine.Show(1) cannot be set", func(l *language) { l.set(expr.Invoke(fnShow, whole(1)), text("a")) }},
	{"state.a.b cannot be set", func(l *language) { l.set(read("state", "a", "b"), whole(1)) }},
	{"input cannot be set", func(l *language) { l.set(read("input"), whole(1)) }},
	{"cannot use int as string", func(l *language) { l.let("x", text("a")); l.set(read("x"), whole(1)) }},
	{"two arms of a side set x", func(l *language) {
		l.let("x", text("a"))
		l.side(func() { l.set(read("x"), text("b")) }, func() { l.set(read("x"), text("c")) })
	}},
	{"two arms of a side set state.a", func(l *language) {
		l.side(func() { l.set(read("state", "a"), text("b")) }, func() { l.when(expr.Const(true), func() { l.set(read("state", "a"), text("c")) }) })
	}},
	{"error: node \"one\" has not run here", func(l *language) {
		echo := l.tool("echo")
		l.side(func() { l.perform("one", l.call(echo, cFail)) }, func() { l.perform("two", l.call(echo, cFail, expr.Put("one", read("one", "value")))) })
	}},
	{"error: name \"inside\"", func(l *language) {
		l.when(expr.Const(true), func() { l.let("inside", whole(1)) })
		l.let("x", read("inside"))
	}},
	{"a return is in an arm of a side", func(l *language) { l.side(l.ret, nothing) }},
	{"a next is outside of a loop", func(l *language) { l.add(&ir.NextStmt{}) }},
	{"a next is outside of a loop", func(l *language) {
		l.add(&ir.WhileStmt{Max: 2, Do: l.in(func() { l.side(func() { l.add(&ir.NextStmt{}) }) })})
	}},
	{"a break is outside of a loop", func(l *language) { l.add(&ir.BreakStmt{}) }},
	{"a break is in a switch", func(l *language) {
		l.add(&ir.WhileStmt{Max: 2, Do: ir.Block{&ir.SwitchStmt{On: of(text("a")), Arms: []ir.SwitchArm{{Value: "a", Do: ir.Block{&ir.BreakStmt{}}}}}}})
	}},
	{"nothing runs what is after a next, a break or a return", func(l *language) { l.ret(); l.let("x", whole(1)) }},
	{"a body returns what the workflow returns", func(l *language) { l.add(&ir.ReturnStmt{Value: of(whole(1))}) }},
	{"the output reads x, which has no value at a return before it", func(l *language) {
		l.when(expr.Const(true), l.ret)
		l.let("x", whole(1))
		l.output("x", read("x"))
	}},
	{"nothing bounds a while", func(l *language) { l.add(&ir.WhileStmt{Do: l.in(nothing)}) }},
	{"a while without a number has no index", func(l *language) {
		l.add(&ir.WhileStmt{Index: ident("i"), Do: l.in(func() { l.stepOf() })})
	}},
	{"scope \"s\" has no index", func(l *language) { l.add(&ir.WhileStmt{Max: 3, Scope: l.scope("s", "")}) }},
	{"scope \"s\" has no index", func(l *language) {
		l.add(&ir.RangeStmt{Over: of(&expr.Node{Op: expr.ListLit, Kids: []*expr.Node{whole(1)}}), Scope: l.scope("s", "")})
	}},
	{"a range needs a list", func(l *language) { l.add(&ir.RangeStmt{Over: of(text("a"))}) }},
	{"the case 1 is not a value of \"a\", which is string", func(l *language) {
		l.add(&ir.SwitchStmt{On: of(text("a")), Arms: []ir.SwitchArm{{Value: int64(1)}}})
	}},
	{"an expression is missing", func(l *language) { l.add(&ir.DoStmt{}) }},
}

func nothing() {}

func binary(op string, a, b *expr.Node) *expr.Node {
	return &expr.Node{Op: expr.Binary, Text: op, Kids: []*expr.Node{a, b}}
}

// begin2 makes another run of the engine.
func (l *language) begin2() { l.let("flow2", expr.Invoke(fnNew, expr.Of(expr.UseSlots, "", nil))) }

func (l *language) inner() *ir.Workflow {
	return l.child("inner", func(in *language) { in.input("word", schema.StringType) })
}

// made is a text function that does something besides.
func (l *language) made(fails bool, do func()) *ir.TextFunc {
	return l.textFunc("t", fails, func() {
		do()
		l.add(&ir.ReturnStmt{Value: of(text("a"))})
	}, "a")
}

// nest runs a workflow.
func (l *language) nest(wf *ir.Workflow, input *expr.Node) {
	name := "other"
	if wf.Name.Name != "" {
		name = wf.Name.Name
	}
	l.perform("n", expr.Invoke(fnChild, read("job"), expr.FnDo(l.in(func() {
		l.let("out", expr.Of(expr.UseFlow, name, wf, input))
		l.add(&ir.ReturnStmt{Value: of(expr.Object())})
	}))))
}

// encloses makes a node whose function runs another one, which change may spoil; it gives the order.
func (l *language) encloses(change func(n *ir.Node, m *ir.Model) ir.Block) {
	m := l.model("m")
	in := l.within("in", m)
	v := expr.Struct(voice, expr.Put("node", expr.Of(expr.UseNode, "in", in)), expr.Put("model", expr.Of(expr.UseModel, "m", m)), expr.Put("text", text("a")))
	n := l.perform("n", expr.Invoke(fnSay, read("job"), run(), v))
	l.verb(n).Inside = &ir.Body{Nodes: []*ir.Node{in}}
	l.verb(n).Inside.Block = change(in, m)
}

// stepOf calls what bounds a loop.
func (l *language) stepOf() {
	n := l.node("counted", l.call(l.tool("echo"), cFail))
	l.do(expr.Invoke(fnStep, read("job"), run(), expr.Of(expr.UseNode, n.ID.Name, n)))
	l.run("", n)
}

// TestWrong: each wrong use has its message, and none gets as far as Go.
func TestWrong(t *testing.T) {
	for _, w := range append(wrong, wrongVisits...) {
		p := &program{name: "wrong", build: func(l *language) {
			l.state("a", schema.AnyType)
			if !strings.Contains(w.message, "is not open") {
				l.begin()
			}
			w.build(l)
		}}
		c, err := p.compile()
		var got string
		switch f := err.(type) {
		case *check.Fault:
			got = f.Message
		case nil:
			got = c.diag
		default:
			t.Errorf("%s: %v", w.message, err)
			continue
		}
		if !strings.Contains(got, w.message) {
			t.Errorf("want %q, got %q", w.message, got)
		}
		if c != nil && c.code != "" {
			t.Errorf("%s: there is code", w.message)
		}
	}
}
