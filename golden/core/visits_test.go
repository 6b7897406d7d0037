package core

import (
	"slices"
	"testing"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/hashes"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

var (
	nodes      = schema.ListOf(nodeType)
	madeModel  = schema.PointerTo(schema.OpaqueOf(enginePath, "Model"))
	workerType = schema.PointerTo(schema.OpaqueOf(enginePath, "Worker", &schema.Field{Name: "most", Type: &schema.Type{Kind: schema.Int, Go: &schema.Go{Name: "int"}}}, &schema.Field{Name: "title", Type: schema.StringType}))
	onStep     = schema.FuncOf(&schema.Signature{Params: []*schema.Type{runType, flowType, nodeType}, Fails: true})
	onNext     = schema.FuncOf(&schema.Signature{Params: []*schema.Type{nodeType}, Result: nodes})

	fnTo      = engine("To", expr.Func{Variadic: true, Result: nodes, Pure: true}, nodeType)
	fnWalk    = engine("Walk", expr.Func{Method: true, Fails: true}, flowType, runType, nodes, onStep, onNext)
	fnModel   = engine("NewModel", expr.Func{Result: madeModel, Pure: true}, schema.StringType, schema.OptOf(schema.FloatType, ""))
	fnConsult = engine("Consult", expr.Func{Method: true, Result: ended, Fails: true}, flowType, runType, nodeType, madeModel, madeModel)
	fnWork    = engine("Work", expr.Func{Method: true, Result: ended, Fails: true}, flowType, runType, nodeType, workerType)
)

// given declares an open field that begins as an input.
func (l *language) given(name string, t *schema.Type) {
	typ := *schema.DynamicType
	typ.Elem = schema.OptOf(t, "")
	l.wf.Input = append(l.wf.Input, &schema.Field{Name: name, Type: &typ, Omit: true})
	l.wf.State = append(l.wf.State, &ir.State{Name: ident(name), Type: t, Open: true, Loose: true, Given: true})
}

// gives makes the state the output.
func (l *language) gives() {
	for _, s := range l.wf.State {
		l.output(s.Name.Name, read("state", s.Name.Name))
	}
}

func (l *language) where(n *ir.Node) *expr.Node { return expr.Of(expr.UseNode, n.ID.Name, n) }

func visits(l *language) {
	l.given("n", schema.IntType)
	l.given("words", schema.ListOf(schema.StringType))
	l.wf.State[1].Merge.Kind = ir.MergeAppend
	l.given("total", schema.IntType)
	l.wf.State[2].Merge.Kind = ir.MergeSum
	echo := l.tool("echo")
	l.begin()
	make := func(id string, times int) *ir.Node {
		n := l.node(id, l.call(echo, cKeep, give(expr.Put("words", &expr.Node{Op: expr.ListLit, Kids: []*expr.Node{text(id)}}), expr.Put("total", whole(1)))))
		l.verb(n).Times = times
		return n
	}
	first, second, third := make("first", 1), make("second", 3), make("third", 2)
	l.let("at", text("first"))
	l.add(&ir.WhileStmt{Cond: of(binary("!=", read("at"), text(""))), Do: l.in(func() {
		l.add(&ir.SwitchStmt{On: of(read("at")), Arms: []ir.SwitchArm{
			{Value: "first", Do: l.in(func() {
				l.run("", first)
				l.set(read("at"), text("second"))
			})},
			{Value: "second", Do: l.in(func() {
				l.run("", second)
				l.set(read("at"), text(""))
			})},
		}})
	})})
	again := func(n *ir.Node) ir.Block {
		return ir.Block{&ir.RunStmt{Node: n, Call: of(l.call(echo, cKeep, give(expr.Put("words", &expr.Node{Op: expr.ListLit, Kids: []*expr.Node{text("again")}}))))}}
	}
	step := ir.Block{&ir.SwitchStmt{On: of(read("at")), Arms: []ir.SwitchArm{{Value: second, Do: again(second)}, {Value: third, Do: ir.Block{&ir.RunStmt{Node: third}}}}}}
	next := ir.Block{
		&ir.SwitchStmt{On: of(read("at")), Arms: []ir.SwitchArm{{Value: second, Do: l.in(func() {
			l.when(expr.Invoke(fnLess, read("state", "n"), whole(5)), func() { l.add(&ir.ReturnStmt{Value: of(expr.Invoke(fnTo, l.where(third)))}) })
		})}}},
		&ir.ReturnStmt{Value: of(&expr.Node{Op: expr.ListLit})},
	}
	l.do(expr.Invoke(fnWalk, read("job"), run(), expr.Invoke(fnTo, l.where(second), l.where(second)), expr.FnDo(step, "run", "job", "at"), expr.FnDo(next, "at")))
	l.wf.Body.Edges = []*ir.Edge{{From: ident("first"), To: []ir.Ident{ident("second")}}, {From: ident("second"), To: []ir.Ident{ident("third")}}}
	l.gives()
}

// made is a model that the engine makes.
func (l *language) madeModel(name string, heat *expr.Node) *ir.Model {
	m := &ir.Model{Name: ident(name), Model: ident("engine:" + name), New: of(expr.Invoke(fnModel, text(name), heat))}
	l.wf.Models = append(l.wf.Models, m)
	return m
}

func agents(l *language) {
	echo := l.tool("echo")
	hot, cold := l.madeModel("hot", expr.Const(0.9)), l.madeModel("cold", expr.Const(nil))
	model := func(m *ir.Model) *expr.Node { return expr.Of(expr.UseModel, m.Name.Name, m) }
	worker := &ir.PerformAgent{Model: hot, Tools: []ir.Ident{echo.Key}, Iterations: 4, Type: workerType, Fields: []expr.Entry{expr.Put("most", whole(4)), expr.Put("title", text("the"))}}
	child := l.child("inner", func(in *language) {
		in.given("word", schema.StringType)
		in.begin()
		in.do(expr.Invoke(fnPut, expr.Address(read("state", "word")), expr.Join(text("again "), expr.Invoke(fnShow, read("state", "word")))))
		in.gives()
	})
	l.begin()
	l.perform("alone", expr.Invoke(fnConsult, read("job"), run(), node(), model(cold), expr.Const(nil)))
	l.perform("both", expr.Invoke(fnConsult, read("job"), run(), node(), model(cold), model(hot)))
	l.verb(l.perform("work", expr.Invoke(fnWork, read("job"), run(), node(), expr.Of(expr.UseAgent, "work", worker)))).Agent = worker
	list := &expr.Node{Op: expr.ListLit, Kids: []*expr.Node{text("a"), text("b")}}
	each := func(id, inner string, v *ir.Perform, do func(n *ir.Node) *expr.Node) {
		n := l.within(inner, nil)
		n.Verb = v
		body := do(n)
		outer := l.verb(l.perform(id, expr.Invoke(fnEach, read("job"), run(), node(), list, body)))
		outer.Items, outer.Inside = &ir.Inside{Do: body, Most: 2}, &ir.Body{Nodes: []*ir.Node{n}, Block: ir.Block{&ir.RunStmt{Node: n}}}
		list = &expr.Node{Op: expr.ListLit, Kids: []*expr.Node{text("a"), text("b")}}
	}
	each("children", "child", &ir.Perform{Kind: "flow", AtMost: []ir.UseBound{{Of: child, N: 1}}}, func(n *ir.Node) *expr.Node {
		nested := expr.FnDo(ir.Block{&ir.LetStmt{Name: ident("out"), Value: of(expr.Of(expr.UseFlow, "inner", child, expr.Object(expr.Put("word", read("item"))), read("run")))}, &ir.ReturnStmt{Value: of(read("out", "word"))}}, "run")
		return expr.Fn(expr.Invoke(fnKept, read("job"), run(), l.where(n), nested), "run", "job", "item", "index")
	})
	choice := &ir.ToolChoice{Allow: []ir.Ident{echo.Key}}
	each("picks", "pick", &ir.Perform{Kind: "tool_call", AtMost: []ir.UseBound{{Of: choice, N: 1}}}, func(n *ir.Node) *expr.Node {
		return expr.Fn(expr.Invoke(fnPick, read("job"), run(), l.where(n), expr.Of(expr.UseChoice, "pick", choice), text("echo"), expr.Object(give(expr.Put("n", read("item"))))), "run", "job", "item", "index")
	})
	for _, name := range []string{"alone", "both", "work", "children", "picks"} {
		l.output(name, expr.Invoke(fnShow, read(name, "value")))
	}
}

// wrongVisits are more programs that no translator may make.
var wrongVisits = []struct {
	message string
	build   func(l *language)
}{
	{"is not a value of", func(l *language) {
		l.do(expr.Invoke(fnWalk, read("job"), run(), expr.Invoke(fnTo), expr.FnDo(ir.Block{&ir.SwitchStmt{On: of(read("at")), Arms: []ir.SwitchArm{{Value: &ir.Node{ID: ident("other")}}}}}, "run", "job", "at"),
			expr.FnDo(ir.Block{&ir.ReturnStmt{Value: of(expr.Invoke(fnTo))}}, "at")))
	}},
	{"nothing bounds a while", func(l *language) {
		n := l.node("n", l.call(l.tool("echo"), cFail))
		l.add(&ir.WhileStmt{Cond: of(expr.Const(true)), Do: ir.Block{&ir.RunStmt{Node: n}}})
	}},
	{"the state cannot start from input \"x\"", func(l *language) {
		l.wf.State = append(l.wf.State, &ir.State{Name: ident("x"), Type: schema.AnyType, Open: true, Given: true})
	}},
	{"\"w\" is not an agent of the node", func(l *language) {
		l.perform("n", expr.Invoke(fnWork, read("job"), run(), node(), expr.Of(expr.UseAgent, "w", &ir.PerformAgent{Type: workerType})))
	}},
	{"has no field \"height\"", func(l *language) {
		a := &ir.PerformAgent{Model: l.madeModel("m", expr.Const(nil)), Type: workerType, Fields: []expr.Entry{expr.Put("height", whole(1))}}
		l.verb(l.perform("n", expr.Invoke(fnWork, read("job"), run(), node(), expr.Of(expr.UseAgent, "n", a)))).Agent = a
	}},
	{"cannot use null as engine.Ended", func(l *language) { l.let("x", expr.Invoke(fnOK, expr.Const(nil))) }},
}

// TestInsideHashes: a node that a function runs has another hash when that function is told something else of it, and the nodes
// beside it have not.
func TestInsideHashes(t *testing.T) {
	of := func(edit bool) map[string]string {
		l := newLanguage("inside")
		inside(l)
		if edit {
			v := l.verb(l.wf.Body.Nodes[0])
			v.Call.Node.Walk(func(n *expr.Node) bool {
				if n.Op == expr.Lit && n.Value == "pro " {
					n.Value = "against "
				}
				return true
			})
		}
		p := check.Check(l.done(), &diag.Sink{})
		if p == nil {
			t.Fatal("the program does not check")
		}
		return hashes.Of(p).Nodes
	}
	before, after := of(false), of(true)
	var changed []string
	for path, hash := range before {
		if after[path] != hash {
			changed = append(changed, path)
		}
	}
	slices.Sort(changed)
	if want := []string{"panel", "panel/", "panel/pro"}; !slices.Equal(changed, want) {
		t.Errorf("%v changed, want %v", changed, want)
	}
}
