package core

import (
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

var programs = []*program{
	{"steps", "One node after the other: what a node gives is read as dynamic data, and a condition decides about the next.", steps,
		[]string{`{"n": 3}`, `{"n": 30}`}},
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
