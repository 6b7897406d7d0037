package core

import (
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// Text functions: what a node is told, made of values when it runs.

var (
	textType = schema.OpaqueOf(enginePath, "Text")
	toText   = schema.FuncOf(&schema.Signature{Params: []*schema.Type{schema.PointerTo(textType)}})
	asPrompt = schema.FuncOf(&schema.Signature{Result: schema.StringType, Fails: true})

	fnAdd    = engine("Add", expr.Func{Method: true}, schema.PointerTo(textType), schema.StringType)
	fnLength = engine("Length", expr.Func{Method: true, Result: dyn, Pure: true}, schema.PointerTo(textType), dyn)
	fnList   = engine("Items", expr.Func{Method: true, Result: schema.ListOf(dyn), Pure: true}, schema.PointerTo(textType), dyn)
	fnInner  = engine("Inner", expr.Func{Method: true, Result: dyn, Pure: true}, schema.PointerTo(textType), toText)
	fnDone   = engine("Done", expr.Func{Result: schema.StringType, Fails: true, Pure: true}, schema.PointerTo(textType))
	fnWrite  = engine("Write", expr.Func{Method: true, Result: ended, Fails: true}, flowType, runType, nodeType, modelType, asPrompt)
)

// textFunc makes a text function of dynamic parameters.
func (l *language) textFunc(name string, fails bool, do func(), params ...string) *ir.TextFunc {
	t := &ir.TextFunc{Name: ident(name), Doc: "is a text of the test language.", Result: schema.StringType, Fails: fails, Do: l.in(do)}
	for _, p := range params {
		t.Params = append(t.Params, &expr.Param{Name: p, Type: dyn})
	}
	return t
}

// self is the text that a function makes.
func self() *expr.Node { return expr.Address(read("user")) }

func grow(text, v *expr.Node) *expr.Node { return expr.Invoke(fnAdd, text, v) }

// write asks a model for a text.
func (l *language) write(id string, m *ir.Model, prompt *expr.Node) {
	l.perform(id, expr.Invoke(fnWrite, read("job"), run(), node(), expr.Of(expr.UseModel, m.Name.Name, m), prompt))
}

func texts(l *language) {
	l.wf.Public = true // names give way
	l.input("words", schema.ListOf(schema.StringType))
	m := l.model("gpt-4o")
	plain := l.textFunc("plain", false, func() { l.add(&ir.ReturnStmt{Value: of(text("A plain text. "))}) })
	// Its parameters have names of the file: of packages, of keywords, of variables that each function has.
	greeting := l.textFunc("greet_prompt", true, func() {
		l.zero("user", textType)
		l.zero("last", dyn)
		l.do(grow(self(), ir.CallText(plain)))
		more := expr.Invoke(fnLength, self(), read("words"))
		l.add(&ir.IfStmt{Cond: of(expr.Invoke(fnLess, whole(2), more)), Then: l.in(func() { l.do(grow(self(), text("Many: "))) }), Else: l.in(func() {
			l.add(&ir.IfStmt{Cond: of(expr.Invoke(fnLess, whole(0), more)), Then: l.in(func() { l.do(grow(self(), text("Few: "))) }), Else: l.in(func() { l.do(grow(self(), text("None."))) })})
		})})
		l.add(&ir.RangeStmt{Over: of(expr.Invoke(fnList, self(), read("words"))), Item: ident("item"), Do: l.in(func() {
			l.set(read("last"), expr.Invoke(fnInner, self(), expr.FnDo(l.in(func() { l.do(grow(read("engine_"), expr.Invoke(fnShow, read("item")))) }), "engine_")))
			l.do(grow(self(), expr.Invoke(fnShow, read("last"))))
		})})
		l.do(grow(self(), expr.Join(expr.Invoke(fnShow, read("engine")), expr.Invoke(fnShow, read("err")), expr.Invoke(fnShow, read("user_")), expr.Invoke(fnShow, read("type")))))
		l.add(&ir.ReturnStmt{Value: of(expr.Invoke(fnDone, self()))})
	}, "words", "engine", "err", "user_", "type")
	empty := l.textFunc("empty_prompt", true, func() {
		l.zero("user", textType)
		l.let("made", expr.Invoke(fnDone, self()))
		l.add(&ir.ReturnStmt{Value: of(expr.Join(read("made"), text("!")))})
	})
	l.begin()
	l.write("greet", m, expr.Fn(ir.CallText(greeting, read("input", "words"), whole(1), text("e"), expr.Const(true), expr.Const(nil))))
	l.write("plain", m, expr.Fn(ir.CallText(plain)))
	l.let("again", ir.CallText(greeting, expr.Const(nil), whole(2), text("f"), expr.Const(false), read("greet", "value")))
	l.when(expr.Invoke(fnLess, whole(100), whole(1)), func() { l.write("empty", m, expr.Fn(ir.CallText(empty))) })
	l.output("again", read("again"))
	l.let("told", expr.Join(ir.CallText(plain), expr.Invoke(fnShow, read("empty", "value"))))
	l.output("told", read("told"))
}
