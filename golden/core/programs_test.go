package core

import (
	"time"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

var programs = []*program{
	{"steps", "One node after the other: what a node gives is read as dynamic data, and a condition decides about the next.", steps,
		[]string{`{"n": 3}`, `{"n": 30}`}},
	{"sides", "Nodes in parallel, one of them under a condition and for every item of a list; the results are read below, and their addresses handed on.", sides,
		[]string{`{"n": 3}`, `{"n": 30}`}},
	{"rounds", "A loop over a list and one with a bound: scopes of keys, a local that nodes share, a round that ends early.", rounds,
		[]string{`{}`}},
	{"machine", "A node chooses the next one: a while that only a function bounds, a switch, and what runs again is a visit.", machine,
		[]string{`{"n": 0}`, `{"n": 1}`, `{"n": 2}`}},
	{"values", "What can be handed to functions: lambdas, structs, lists, optional values, fields that no state has.", values,
		[]string{`{"word": "a", "more": ["x"]}`, `{"word": "", "note": "n", "more": []}`}},
	{"early", "A body that returns from the middle, and one of several ways at its end.", early,
		[]string{`{"n": 0}`, `{"n": 9}`}},
	{"uses", "Nodes that ask a model and run another workflow; the plan counts both, as often as is said.", uses,
		[]string{`{"word": "a"}`}},
	{"answers", "A model answers what a schema asks for; waits and bytes are constants; the workflow is translated when it is checked, and its status decides about the exit code.", answers,
		[]string{`{}`}},
	{"texts", "Named functions that make texts: their variables have names of the file and give way, choices and loops stand in them, and one calls another.", texts,
		[]string{`{"words": ["a", "b", "c"]}`, `{"words": ["a"]}`}},
	{"always", "A state with groups; an output that is made also of a run that fails, of what the run has reached until then; a workflow that gives what it has although it fails.", always,
		[]string{`{"word": "a"}`, `{"word": ""}`}},
	{"inside", "Functions that run nodes by themselves: two in parallel and one after them, one for each item of a list, and one that calls a tool by its name.", inside,
		[]string{`{"word": "a"}`}},
	{"visits", "Data decides which node comes next: a loop whose nodes say how often they run, and a function that runs nodes by itself; a state that begins as the input and is the output.", visits,
		[]string{`{"n": 3, "words": ["x"]}`, `{"n": 30, "total": 4}`}},
	{"agents", "Models that a function makes, one of them with tools; a workflow and a choice of tools for each item of a list.", agents,
		[]string{`{}`}},
	{"names", "Nodes with the names of locals, of packages and of what every function has: the results give way.", meeting,
		[]string{`{}`}},
}

func steps(l *language) {
	l.input("n", schema.IntType)
	l.state("total", schema.FloatType)
	l.state("words", schema.ListOf(schema.StringType))
	echo := l.tool("echo")
	l.begin()
	l.perform("load", l.call(echo, cFail, give(expr.Put("total", read("input", "n")), expr.Put("words", &expr.Node{Op: expr.ListLit, Kids: []*expr.Node{text("a"), text("b")}}))))
	l.when(expr.All(ok("load"), expr.Invoke(fnLess, read("state", "total"), whole(10))), func() {
		l.perform("small", l.call(echo, cKeep, expr.Put("fail", read("load", "value", "total"))))
		l.when(expr.Not(ok("small")), func() { l.set(read("state", "words"), read("state", "total")) })
	})
	l.let("seen", expr.Join(text("total "), expr.Invoke(fnShow, read("state", "total")), text("!")))
	l.output("status", expr.Invoke(fnStatus, read("load"), read("small")))
	l.output("seen", read("seen"))
	l.output("state", read("state"))
}

func sides(l *language) {
	l.input("n", schema.IntType)
	l.state("total", schema.FloatType)
	l.state("words", schema.ListOf(schema.StringType))
	echo := l.tool("echo")
	l.begin()
	words := &expr.Node{Op: expr.ListLit, Kids: []*expr.Node{text("a"), text("b"), text("c")}}
	load := l.perform("load", l.call(echo, cFail, give(expr.Put("total", read("input", "n")), expr.Put("words", words))))
	l.verb(load).Writes = []ir.Ident{ident("words")}
	l.let("aside", expr.Invoke(fnAside, read("job")))
	l.side(func() {
		l.when(expr.Invoke(fnLess, read("state", "total"), whole(10)), func() {
			item := l.call(echo, cFail, give(expr.Put("item", read("item")), expr.Put("index", read("index"))))
			body := expr.Fn(item, "run", "job", "item", "index")
			n := l.perform("each", expr.Invoke(fnEach, read("aside"), run(), node(), read("state", "words"), body))
			v := l.verb(n)
			v.Items, v.Attempts, v.Reads = &ir.Inside{Do: body, Most: 1000, Limit: 2}, 2, []ir.Ident{ident("total"), ident("words")}
		})
	}, func() {
		l.perform("other", callOf("aside", echo, cFail, give(expr.Put("total", read("load", "value", "words")))))
	})
	l.do(expr.Invoke(fnJoin, read("job"), expr.Address(read("each")), expr.Address(read("other"))))
	l.output("each", expr.Invoke(fnShow, read("each", "value")))
	l.output("status", expr.Invoke(fnStatus, read("load"), read("each"), read("other")))
}

func rounds(l *language) {
	l.state("list", schema.ListOf(schema.IntType))
	l.state("n", schema.IntType)
	echo := l.tool("echo")
	l.begin()
	l.perform("load", l.call(echo, cFail, give(expr.Put("n", whole(0)), expr.Put("list", &expr.Node{Op: expr.ListLit, Kids: []*expr.Node{whole(1), whole(5), whole(2)}}))))
	l.zero("first", ended)
	l.zero("second", ended)
	l.let("items", expr.Invoke(fnItems, read("job"), read("state", "list")))
	docs, count := l.scope("docs", ""), l.scope("count", "counting")
	again := l.node("first", l.call(echo, cFail, give(expr.Put("n", read("item")))))
	l.add(&ir.RangeStmt{Over: of(read("items")), Item: ident("item"), Index: ident("i"), Scope: docs, Do: l.in(func() {
		l.run("stage", again)
		l.set(read("first"), expr.Invoke(fnAnd, read("first"), read("stage")))
		l.when(expr.Invoke(fnLess, whole(3), read("state", "n")), func() { l.add(&ir.NextStmt{}) })
		l.into("stage", "last", l.call(echo, cKeep, expr.Put("index", read("i")), expr.Put("before", read("stage", "value", "n"))))
		l.set(read("second"), expr.Invoke(fnAnd, read("second"), read("stage")))
	})})
	l.add(&ir.WhileStmt{Cond: of(expr.Not(expr.Invoke(fnLess, whole(4), read("state", "n")))), Label: "until n > 4", Max: 4, Index: ident("i"), Scope: count, Do: l.in(func() {
		l.perform("bump", l.call(echo, cFail, give(expr.Put("n", read("i")))))
		l.when(expr.Invoke(fnLess, whole(7), read("i")), func() { l.add(&ir.BreakStmt{}) })
		again := &ir.RunStmt{Node: again, Call: of(l.call(echo, cFail, give(expr.Put("n", whole(3))))), Into: ident("stage")}
		l.add(&ir.IfStmt{Cond: of(expr.Invoke(fnLess, whole(2), read("i"))), Label: "the last round", Then: ir.Block{again}})
	})})
	l.output("status", expr.Invoke(fnStatus, read("first"), read("second"), read("bump")))
	l.output("n", expr.Invoke(fnShow, read("state", "n")))
}

func machine(l *language) {
	l.input("n", schema.IntType)
	l.state("ways", schema.ListOf(schema.StringType))
	echo := l.tool("echo")
	l.begin()
	l.let("at", text("start"))
	notEnd := &expr.Node{Op: expr.Binary, Text: "!=", Kids: []*expr.Node{read("at"), text("")}}
	step := func(n *ir.Node) {
		l.do(expr.Invoke(fnStep, read("job"), run(), expr.Of(expr.UseNode, n.ID.Name, n)))
		l.run("", n)
	}
	start, once, more := l.node("start", l.call(echo, cKeep)), l.node("once", l.call(echo, cKeep)), l.node("more", l.call(echo, cKeep))
	l.add(&ir.WhileStmt{Cond: of(notEnd), Do: l.in(func() {
		l.add(&ir.SwitchStmt{On: of(read("at")), Arms: []ir.SwitchArm{
			{Value: "start", Do: l.in(func() {
				step(start)
				l.set(read("at"), expr.Invoke(fnRoute, read("job"), read("input", "n"), text("once"), text("again")))
			})},
			{Value: "once", Do: l.in(func() {
				step(once)
				l.set(read("at"), text(""))
			})},
		}, Default: l.in(func() {
			step(more)
		})})
	})})
	l.output("status", expr.Invoke(fnStatus, read("start"), read("once"), read("more")))
}

func values(l *language) {
	l.input("word", schema.StringType)
	l.input("note", schema.OptOf(schema.StringType, ""))
	l.input("more", schema.ListOf(schema.StringType))
	l.state("kept", schema.AnyType)
	l.begin()
	l.do(expr.Invoke(fnPut, expr.Address(read("state", "kept")), expr.Object(expr.Put("note", read("input", "note")), expr.Put("more", read("input", "more")),
		expr.Put("half", expr.Const(0.5)), expr.Put("yes", expr.Const(true)), expr.Put("none", expr.Const(nil)), expr.Put("nothing", read("state", "kep")))))
	l.let("loud", expr.Invoke(fnApply, expr.Fn(expr.Invoke(fnShout, read("text")), "text"), read("input", "word")))
	l.let("twice", expr.Invoke(fnApply, expr.Fn(expr.Join(read("text"), read("text")), "text"), read("loud")))
	l.let("slow", expr.Invoke(fnApply, expr.FnDo(l.in(func() {
		l.let("first", expr.Invoke(fnShout, read("text")))
		l.when(expr.Invoke(fnLess, whole(1), whole(2)), func() { l.add(&ir.ReturnStmt{Value: of(expr.Invoke(fnShout, read("first")))}) })
		l.add(&ir.ReturnStmt{Value: of(read("first"))})
	}), "text"), read("twice")))
	l.let("about", expr.Invoke(fnDescribe, expr.Struct(options, expr.Put("name", read("slow")), expr.Put("deep", expr.Object(expr.Put("kept", read("state", "kept")))))))
	l.output("about", read("about"))
	l.output("state", expr.Invoke(fnShow, read("state")))
}

func early(l *language) {
	l.input("n", schema.IntType)
	l.state("total", schema.IntType)
	echo := l.tool("echo")
	l.begin()
	l.perform("load", l.call(echo, cFail, give(expr.Put("total", read("input", "n")))))
	l.when(expr.Invoke(fnLess, read("state", "total"), whole(5)), l.ret)
	l.perform("big", l.call(echo, cKeep, give(expr.Put("total", whole(100)))))
	l.add(&ir.IfStmt{Cond: of(ok("big")), Then: l.in(func() { l.set(read("state", "total"), text("big")) }), Else: l.in(l.ret)})
	l.output("total", expr.Invoke(fnShow, read("state", "total")))
}

func uses(l *language) {
	l.input("word", schema.StringType)
	echo, model := l.tool("echo"), l.model("gpt-4o")
	child := l.child("inner", func(in *language) {
		in.input("word", schema.StringType)
		tool := in.tool("nested")
		in.begin()
		in.perform("first", in.call(tool, cKeep, give(expr.Put("again", read("input", "word")))))
		in.output("found", expr.Invoke(fnShow, read("first", "value")))
	})
	l.begin()
	l.perform("ask", expr.Invoke(fnAsk, read("job"), run(), node(), expr.Of(expr.UseModel, "gpt-4o", model), expr.Join(text("Say "), read("input", "word"))))
	n := l.perform("nest", expr.Invoke(fnChild, read("job"), expr.FnDo(l.in(func() {
		l.let("out", expr.Of(expr.UseFlow, "inner", child, expr.Object(expr.Put("word", read("input", "word")))))
		l.add(&ir.ReturnStmt{Value: of(expr.Object(expr.Put("found", read("out", "found")), expr.Put("asked", read("ask", "value"))))})
	}))))
	l.atMost(n, child, 3)
	l.perform("last", l.call(echo, cFail, expr.Put("before", read("nest", "value"))))
	l.output("nest", expr.Invoke(fnShow, read("nest", "value")))
}

func meeting(l *language) {
	l.wf.Public = true // names give way
	echo := l.tool("echo")
	l.begin()
	all := []*expr.Node{}
	for _, id := range []string{"flow", "job", "engine", "run", "err", "out", "in", "dynamic", "echo_tool", "item"} {
		name := id
		if id == "job" { // the translator has a local of that name
			name = "ended"
			l.into(name, id, l.call(echo, cKeep))
		} else {
			l.perform(id, l.call(echo, cKeep))
		}
		all = append(all, read(name))
	}
	l.output("status", expr.Invoke(fnStatus, all...))
}

func answers(l *language) {
	l.wf.Settle = func(*diag.Sink) { // as a dialect does whose tools are bound
		l.wf.Outcome.Status = true
		model := l.model("gpt-4o")
		l.begin()
		judge := expr.Of(expr.UseAnswer, "judge", &ir.Answer{Name: "judge", JSON: `{"type":"object","properties":{"n":{"type":"integer"}}}`, Tool: "answer"})
		l.perform("judge", expr.Invoke(fnJudge, read("job"), run(), node(), expr.Of(expr.UseModel, "gpt-4o", model), judge,
			expr.Join(text("answer: {\"n\": 3, \"told\": \""), expr.Invoke(fnBounded, &expr.Node{Op: expr.Field, Text: "json", Kids: []*expr.Node{judge}}, expr.Const(1500*time.Millisecond)), text("\"}"))))
		l.perform("load", l.call(l.tool("echo"), cFail))
		l.verb(l.wf.Body.Nodes[1]).Gives = `{"type":"object"}`
		l.let("plain", expr.Invoke(fnBounded, expr.Const([]byte("{}")), expr.Const(time.Duration(0))))
		l.let("none", expr.Invoke(fnBounded, expr.Const([]byte(nil)), expr.Const(time.Hour)))
		l.output("status", expr.Invoke(fnStatus, read("judge"), read("load")))
		l.output("about", expr.Join(read("plain"), text(", "), read("none")))
		l.output("found", expr.Invoke(fnShow, expr.Invoke(fnAt, expr.Object(expr.Put("a", read("judge", "value"))), text("a"), text("n"))))
		l.output("one", expr.Invoke(fnShow, expr.Invoke(fnAt, whole(1), text("n"))))
		l.wf.Body.Edges = []*ir.Edge{{From: ident("judge"), To: []ir.Ident{ident("load")}, When: &ir.Expr{Text: source.Text{Value: "n > 2"}}}}
	}
}

func always(l *language) {
	l.input("word", schema.StringType)
	l.grouped("work", "first")
	l.grouped("work", "second")
	l.wf.Groups = append(l.wf.Groups, "empty")
	l.wf.Load = []*ir.Expr{of(expr.Invoke(fnLoad, text("settings")))}
	l.wf.Outcome.Always = true
	child := l.child("inner", func(in *language) {
		in.input("word", schema.StringType)
		in.grouped("made", "loud")
		in.wf.Load, in.wf.Outcome.Always = l.wf.Load, true
		in.begin0()
		in.set(read("state", "made", "loud"), read("input", "word"))
		in.let("long", expr.Invoke(fnNeed, expr.Join(read("input", "word"), read("input", "word"))))
		in.do(expr.Invoke(fnPut, expr.Address(read("state", "made", "loud")), read("long")))
		in.output("made", read("state", "made"))
	})
	l.set(read("state", "work", "first"), read("input", "word"))
	l.begin0()
	l.add(&ir.LetStmt{Name: ident("active"), Type: schema.BoolType})
	given := expr.FnDo(ir.Block{&ir.ReturnStmt{Value: of(below(expr.Of(expr.UseFlow, "inner", child, expr.Object(expr.Put("word", read("input", "word"))), read("run")), "made"))}}, "run")
	l.perform("nest", expr.Invoke(fnKept, read("job"), run(), node(), given))
	l.do(expr.Invoke(fnPut, expr.Address(read("state", "work", "second")), read("nest", "value")))
	l.set(read("active"), binary("||", read("active"), expr.Invoke(fnLess, whole(0), expr.Invoke(fnSteps, read("job")))))
	l.when(read("active"), func() { l.let("needed", expr.Invoke(fnNeed, read("input", "word"))) })
	l.output("failure", expr.Invoke(fnFailure, read("error")))
	l.output("steps", expr.Invoke(fnSteps, read("job")))
	l.output("word", read("input", "word"))
	l.output("work", read("state", "work"))
	l.output("state", read("state"))
}

func inside(l *language) {
	l.input("word", schema.StringType)
	echo, other := l.tool("echo"), l.tool("other")
	model := l.model("gpt-4o")
	l.begin()
	ask := func(id string) (*ir.Node, *expr.Node) {
		n := l.within(id, model)
		return n, expr.Struct(voice, expr.Put("node", expr.Of(expr.UseNode, id, n)), expr.Put("model", expr.Of(expr.UseModel, "gpt-4o", model)), expr.Put("text", expr.Join(text(id+" "), read("input", "word"))))
	}
	voices := func(a, b *expr.Node) *expr.Node { return &expr.Node{Op: expr.ListLit, Kids: []*expr.Node{a, b}} }
	pro, first := ask("pro")
	con, second := ask("con")
	last, third := ask("last")
	panel := l.perform("panel", expr.Invoke(fnPanel, read("job"), run(), node(), voices(first, second), expr.Fn(third)))
	l.verb(panel).Inside = &ir.Body{Nodes: []*ir.Node{pro, con, last}, Block: ir.Block{
		&ir.SideStmt{Arms: []ir.Block{{&ir.RunStmt{Node: pro}}, {&ir.RunStmt{Node: con}}}}, &ir.RunStmt{Node: last}}}
	one, single := ask("one")
	body := expr.Fn(expr.Invoke(fnSay, read("job"), read("run"), single), "run", "job", "item", "index")
	each := l.perform("each", expr.Invoke(fnEach, read("job"), run(), node(), &expr.Node{Op: expr.ListLit, Kids: []*expr.Node{text("a"), text("b")}}, body))
	l.verb(each).Items = &ir.Inside{Do: body, Most: 2, Limit: 1}
	l.verb(each).Inside = &ir.Body{Nodes: []*ir.Node{one}, Block: ir.Block{&ir.RunStmt{Node: one}}}
	choice := &ir.ToolChoice{Allow: []ir.Ident{echo.Key, other.Key}}
	l.perform("pick", expr.Invoke(fnPick, read("job"), run(), node(), expr.Of(expr.UseChoice, "pick", choice), text("other"), expr.Object(give(expr.Put("n", whole(1))))))
	l.output("panel", expr.Invoke(fnShow, read("panel", "value")))
	l.output("each", expr.Invoke(fnShow, read("each", "value")))
	l.output("pick", expr.Invoke(fnShow, read("pick", "value")))
}
