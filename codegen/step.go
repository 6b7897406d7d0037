package codegen

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// step writes one node: its condition, its verb, what its failure does, its writes to state, and the decisions after it.
func (b *block) step(s *check.Step) {
	b.node = s
	outer := b.fn.writing
	b.fn.writing = s
	defer func() { b.fn.writing = outer }()
	if w := s.Node.When; w != nil {
		low := b.lower()
		cond := low.cond(w.Node)
		b.flush(low)
		in := b.inner(b.layout.whens[s])
		in.does(s)
		in.sets(s)
		b.add(jen.If(cond).Block(in.code...))
		b.ranFlag(s)
	} else {
		b.does(s)
		b.ranFlag(s)
		b.sets(s)
	}
	b.decisionsAfter(s)
	b.node = nil
}

// does writes what a step does when it runs.
func (b *block) does(s *check.Step) {
	ir.Switch(s.Node.Verb,
		func(*ir.ToolCall) { b.toolCall(s) },
		func(*ir.ToolChoice) { b.call(s, b.pick(s), false) },
		func(v *ir.LLM) { b.ask(s, v) },
		func(*ir.Agent) { b.agentCall(s) },
		func(*ir.Human) { b.handled(s, b.question(s), nil, nil) },
		func(*ir.Let) { b.let(s) },
		func(v *ir.GoCall) { b.goCall(s, v) },
		func(v *ir.Map) { b.mapNode(s, v) },
		func(v *ir.Loop) { b.loop(s, v) },
		func(*ir.Flow) { b.flow(s) },
		func(v *ir.Fail) { b.failing(s, v) },
		func(v *ir.Wait) { b.wait(s, v) },
		func(*ir.Parse) { b.handled(s, b.parse(s), nil, nil) },
		func(*ir.Perform) {}, // of a Block, which writes it
	)
}

// ranFlag sets the variable that says a step ran, where its result cannot say so.
func (b *block) ranFlag(s *check.Step) {
	if !b.fn.flagged(s) {
		return
	}
	op := ":="
	if b.fn.outside(variable{kind: ranVar, step: s}) {
		op = "="
	}
	value := jen.True()
	if s.Catch {
		value = jen.Id(ident(b.fn.errName(s))).Op("==").Nil()
	}
	b.add(jen.Id(ident(b.fn.ranName(s))).Op(operator(op)).Add(value))
}

// check writes `if err != nil { return ... }`.
func (b *block) check() {
	b.leave(jen.If(jen.Err().Op("!=").Nil()).Block(b.fail(jen.Err())...), b.fail(jen.Err())...)
}

// call stores the result of an expression that returns (value, error). pointer says that value is already the pointer
// that the step's variable wants to be.
func (b *block) call(s *check.Step, c *jen.Statement, pointer bool) {
	v := variable{kind: resultVar, step: s}
	if !b.fn.reads(s) {
		b.leave(jen.If(jen.List(jen.Id("_"), jen.Err()).Op(":=").Add(c), jen.Err().Op("!=").Nil()).Block(b.fail(jen.Err())...),
			append([]jen.Code{jen.List(jen.Id("_"), jen.Err()).Op("=").Add(c)}, b.fail(jen.Err())...)...)
		return
	}
	if b.fn.pointer(s) && !pointer {
		c = jen.Qual(flowPath, "Some").Call(c)
	}
	if b.fn.outside(v) {
		b.add(jen.List(jen.Id(ident(b.fn.local(s))), jen.Err()).Op("=").Add(c))
	} else {
		b.add(jen.List(jen.Id(ident(b.fn.local(s))), jen.Err()).Op(":=").Add(c))
	}
	b.check()
}

// toolCall writes a call of a tool through the runtime.
func (b *block) toolCall(s *check.Step) {
	args := []jen.Code{jen.Id("run"), b.fn.node(s), jen.Id(ident(b.fn.g.p.Names.Tools[s.Tool])), b.toolInput(s)}
	switch oe := s.Node.OnError; {
	case optionalOutput(s) && (s.Catch || s.Skips()):
		b.handled(s, jen.Qual(flowPath, "Call").Call(args...), nil, nil)
	case s.Catch:
		b.threeResults(s, jen.Qual(flowPath, "Try").Call(args...))
	case oe == nil || oe.Kind == ir.OnErrorFail:
		b.call(s, jen.Qual(flowPath, "Call").Call(args...), s.Node.Result.Kind == schema.Opt)
	case oe.Kind == ir.OnErrorSkip:
		b.call(s, jen.Qual(flowPath, "CallOrSkip").Call(args...), true)
	default:
		b.call(s, jen.Qual(flowPath, "CallOr").Call(append(args, b.value(s.DefaultExpr))...), s.Node.Result.Kind == schema.Opt)
	}
}

// optionalSkip is on_error: skip for a node whose result is optional anyway. What it writes to state depends on whether
// it succeeded, which the result does not say.
func (b *block) optionalSkip(s *check.Step, c jen.Code) {
	if !b.fn.reads(s) && !s.Completes() {
		b.add(jen.If(jen.List(jen.Id("_"), jen.Err()).Op(":=").Add(c), jen.Qual(flowPath, "Skipped").Call(jen.Err()).Op("!=").Nil()).
			Block(b.fail(jen.Err())...))
		return
	}
	op := ":="
	result := b.target(b.fn.reads(s), variable{kind: resultVar, step: s})
	if result == nil || b.fn.outside(variable{kind: resultVar, step: s}) {
		op = "="
	}
	b.add(jen.List(orBlank(result), jen.Err()).Op(operator(op)).Add(c))
	b.succeeded(s)
	b.add(jen.If(jen.Err().Op("=").Qual(flowPath, "Skipped").Call(jen.Err()), jen.Err().Op("!=").Nil()).Block(b.fail(jen.Err())...))
}

// succeeded keeps whether a call succeeded, for what is written to state after it, where its result does not say so.
func (b *block) succeeded(s *check.Step) {
	if !s.Completes() {
		return
	}
	if b.fn.done == nil {
		b.fn.done = map[*check.Step]string{}
	}
	b.fn.done[s] = b.fn.fresh(s.Node.ID.Name + "_done")
	b.add(jen.Id(ident(b.fn.done[s])).Op(":=").Err().Op("==").Nil())
}

// optionalOutput reports whether a node's result is optional before anything is said about its failure.
func optionalOutput(s *check.Step) bool {
	switch v := s.Node.Verb.(type) {
	case *ir.Parse:
		return v.Out.Kind == schema.Opt
	case *ir.ToolCall:
		return s.Tool.Out != nil && s.Tool.Out.Kind == schema.Opt
	case *ir.Loop:
		return s.Body.Result.Kind == schema.Opt
	case *ir.Human:
		return s.Question.Skips
	}
	return false
}

// threeResults stores (result, caught error, error) and applies on_error to what was not caught.
func (b *block) threeResults(s *check.Step, c jen.Code) {
	result, caught := b.target(b.fn.reads(s), variable{kind: resultVar, step: s}), b.target(b.fn.readsError(s), variable{kind: errorVar, step: s})
	if result == nil && caught == nil {
		if s.Node.OnError == nil || s.Node.OnError.Kind == ir.OnErrorFail {
			b.add(jen.If(jen.List(jen.Id("_"), jen.Id("_"), jen.Err()).Op(":=").Add(c), jen.Err().Op("!=").Nil()).Block(b.fail(jen.Err())...))
			return
		}
		b.add(jen.If(jen.List(jen.Id("_"), jen.Id("_"), jen.Err()).Op(":=").Add(c), jen.Qual(flowPath, "Skipped").Call(jen.Err()).Op("!=").Nil()).
			Block(b.fail(jen.Err())...))
		return
	}
	b.declareMixed(s)
	op := "="
	if b.inPlace(s) {
		op = ":="
	}
	b.add(jen.List(orBlank(result), orBlank(caught), jen.Err()).Op(operator(op)).Add(c))
	switch oe := s.Node.OnError; {
	case oe == nil || oe.Kind == ir.OnErrorFail:
		b.check()
	default:
		then := []jen.Code{jen.If(jen.Err().Op(":=").Qual(flowPath, "Skipped").Call(jen.Err()), jen.Err().Op("!=").Nil()).Block(b.fail(jen.Err())...)}
		if oe.Kind == ir.OnErrorDefault && result != nil {
			in := b.inner(b.scope)
			v := in.valueAs(s.DefaultExpr.Value, schema.OptOf(s.DefaultExpr.Type, ""))
			then = append(then, in.code...)
			then = append(then, jen.Add(result).Op("=").Add(v))
		}
		b.add(jen.If(jen.Err().Op("!=").Nil()).Block(then...))
	}
}

// target is the variable to assign to, or nil when nothing reads it.
func (b *block) target(read bool, v variable) *jen.Statement {
	if !read {
		return nil
	}
	return jen.Id(ident(b.fn.name(v)))
}

func orBlank(s *jen.Statement) *jen.Statement {
	if s == nil {
		return jen.Id("_")
	}
	return s
}

// inPlace reports whether all variables of a step with catch are declared where it stands.
func (b *block) inPlace(s *check.Step) bool {
	return !(b.fn.reads(s) && b.fn.outside(variable{kind: resultVar, step: s})) && !(b.fn.readsError(s) && b.fn.outside(variable{kind: errorVar, step: s}))
}

// declareMixed declares, when one of the two variables lives outside, the other one here.
func (b *block) declareMixed(s *check.Step) {
	if b.inPlace(s) {
		return
	}
	for _, v := range []variable{{kind: resultVar, step: s}, {kind: errorVar, step: s}} {
		read := b.fn.reads(s)
		if v.kind == errorVar {
			read = b.fn.readsError(s)
		}
		if read && !b.fn.outside(v) {
			b.add(jen.Var().Id(ident(b.fn.name(v))).Add(b.fn.typeOf(v)))
		}
	}
}

// toolInput is the input of a call: a struct of the tool's own, or nothing.
func (b *block) toolInput(s *check.Step) jen.Code {
	in := s.Tool.In
	if in == nil || len(in.Fields) == 0 && in.Go == nil {
		return jen.Struct().Values()
	}
	return b.inputLiteral(in, s.With)
}

// inputLiteral writes an input struct, as a pointer where the function takes one.
func (b *block) inputLiteral(in *schema.Type, args []*check.Argument) jen.Code {
	if in.Go != nil && in.Go.Ptr {
		value := *in
		g := *in.Go
		g.Ptr = false
		value.Go = &g
		return jen.Op("&").Add(b.structLiteral(b.fn.g.goType(&value), args))
	}
	return b.structLiteral(b.fn.g.goType(in), args)
}

// assign stores a value that cannot fail.
func (b *block) assign(s *check.Step, value *jen.Statement, literal bool) {
	v := variable{kind: resultVar, step: s}
	if b.fn.pointer(s) && s.Node.Result.Kind != schema.Opt {
		if literal {
			value = jen.Op("&").Add(value)
		} else {
			value = jen.Qual(flowPath, "Ptr").Call(value)
		}
	}
	switch {
	case !b.fn.reads(s):
		b.add(jen.Id("_").Op("=").Add(value))
	case b.fn.outside(v):
		b.add(jen.Id(ident(b.fn.local(s))).Op("=").Add(value))
	default:
		b.add(jen.Id(ident(b.fn.local(s))).Op(":=").Add(value))
	}
}

// readsAny reports whether a let reads results: their variables must be used.
func readsAny(s *check.Step) bool {
	return slices.ContainsFunc(s.Fields, func(f *check.Argument) bool {
		found := false
		ir.ValueExpressions(f.Value.Value, func(n *expr.Node) { found = found || len(n.Refs()) > 0 })
		return found
	})
}

func (b *block) let(s *check.Step) {
	if v := s.Node.Verb.(*ir.Let); v.Value != nil {
		b.letValue(s)
		return
	}
	before := len(b.code)
	if f := b.fn.sole(s); f != nil && b.fn.reads(s) {
		b.letAlone(s, f)
		return
	}
	value := b.structLiteral(b.fn.g.goType(s.Node.Result), s.Fields)
	if !b.fn.reads(s) && len(b.code) == before {
		if !readsAny(s) || len(s.Fields) == 0 {
			return // nothing in it can fail, and nobody asks for it
		}
	}
	b.assign(s, jen.Add(value), true)
}

// goCall writes a direct call of a pure function.
func (b *block) goCall(s *check.Step, v *ir.GoCall) {
	f := v.Func.Bind
	args := b.goArgs(s, f)
	c := b.fn.g.goFunc(f).Call(args...)
	hasOut := f.Out != schema.EmptyType
	switch {
	case !f.Err && !hasOut:
		b.add(c)
	case !f.Err:
		b.assign(s, c, false)
	case !hasOut:
		b.add(jen.If(jen.Err().Op(":=").Add(c), jen.Err().Op("!=").Nil()).Block(b.failNode(s)...))
	default:
		saved := b.fail
		b.fail = func(err jen.Code) []jen.Code { return saved(jen.Id("run").Dot("Fail").Call(b.fn.node(s), err)) }
		b.call(s, c, s.Node.Result.Kind == schema.Opt)
		b.fail = saved
	}
	if !hasOut && b.fn.reads(s) { // who reads it asks whether it ran, or wants a struct without fields
		b.assign(s, b.fn.g.goType(f.Out).Values(), false)
	}
}

func (b *block) failNode(s *check.Step) []jen.Code {
	return b.fail(jen.Id("run").Dot("Fail").Call(b.fn.node(s), jen.Err()))
}

// goFunc names a Go function; one of the same package is not qualified.
func (g *generator) goFunc(f *ir.GoBinding) *jen.Statement {
	return jen.Qual(importPath(f.Path), ident(f.Func))
}

// goArgs are the arguments of a direct call.
func (b *block) goArgs(s *check.Step, f *ir.GoBinding) []jen.Code {
	var args []jen.Code
	if f.Context {
		args = append(args, jen.Id("run").Dot("Context").Call())
	}
	if f.Struct {
		return append(args, b.inputLiteral(f.In, s.With))
	}
	for _, p := range f.In.Fields {
		arg := jen.Code(jen.Nil())
		for _, a := range s.With {
			if a.Field == p {
				arg = b.argument(a)
			}
		}
		args = append(args, arg)
	}
	return args
}

// flow writes a call of a sub-workflow.
func (b *block) flow(s *check.Step) { b.handled(s, b.flowCall(s), nil, nil) }

// flowCall is the call itself, in a scope of its own.
func (b *block) flowCall(s *check.Step) *jen.Statement {
	return jen.Id(ident(b.fn.g.p.Names.Bodies[s.Flow])).Call(
		jen.Id("run").Dot("In").Call(b.fn.node(s)),
		b.structLiteral(b.fn.g.goType(s.Flow.Input), s.With))
}

// handled stores the result of a node that is not a single call, with its catch and on_error. c returns (value, error). done
// is what follows a success, undo what follows a failure that does not end the workflow.
func (b *block) handled(s *check.Step, c *jen.Statement, done, undo []jen.Code) {
	oe := s.Node.OnError
	optional := optionalOutput(s)
	if !s.Catch && (oe == nil || oe.Kind == ir.OnErrorFail) {
		b.call(s, c, s.Node.Result.Kind == schema.Opt)
		b.add(done...)
		return
	}
	if !s.Catch && oe.Kind == ir.OnErrorSkip && len(done) == 0 && len(undo) == 0 {
		if optional {
			b.optionalSkip(s, c)
		} else {
			b.call(s, jen.Qual(flowPath, "Skip").Call(c), true)
		}
		return
	}
	receipts := b.target(b.fn.readsReceipts(s), variable{kind: receiptsVar, step: s})
	outside := receipts != nil && b.fn.outside(variable{kind: receiptsVar, step: s})
	v := receipts
	if v == nil || outside {
		v = jen.Id(ident(b.fn.fresh(s.Node.ID.Name + "_value")))
	}
	b.add(jen.List(v, jen.Err()).Op(":=").Add(c))
	if outside {
		b.add(receipts.Op("=").Add(v))
	}
	if len(done) > 0 {
		b.add(jen.If(jen.Err().Op("==").Nil()).Block(done...))
	}
	if len(undo) > 0 {
		b.add(jen.If(jen.Err().Op("!=").Nil()).Block(undo...))
	}
	switch {
	case s.Catch && optional:
		b.succeeded(s)
		b.threeResults(s, jen.Qual(flowPath, "CatchOptional").Call(b.fn.node(s), v, jen.Err()))
	case s.Catch:
		b.threeResults(s, jen.Qual(flowPath, "Catch").Call(b.fn.node(s), v, jen.Err()))
	case oe.Kind == ir.OnErrorDefault:
		b.orDefault(s, v)
	case optional:
		b.optionalSkip(s, jen.List(v, jen.Err()))
	default:
		b.call(s, jen.Qual(flowPath, "Skip").Call(v, jen.Err()), true)
	}
}

// orDefault stores the result v of a call or, after a tool error, the default.
func (b *block) orDefault(s *check.Step, v *jen.Statement) {
	in := b.inner(b.scope)
	in.add(jen.If(jen.Err().Op(":=").Qual(flowPath, "Skipped").Call(jen.Err()), jen.Err().Op("!=").Nil()).Block(b.fail(jen.Err())...))
	in.add(jen.Add(v).Op("=").Add(in.value(s.DefaultExpr)))
	b.add(jen.If(jen.Err().Op("!=").Nil()).Block(in.code...))
	b.assign(s, jen.Add(v), false)
}

// sets writes `undo:` and `set:`. A step that may have failed without ending the workflow is undone, and writes, only when it succeeded.
func (b *block) sets(s *check.Step) {
	if !s.Completes() {
		return
	}
	if !s.Catch && !s.Skips() {
		b.undo(s)
		for _, x := range s.Sets {
			b.set(s, x)
		}
		return
	}
	in := b.inner(b.scope)
	in.undo(s)
	for _, x := range s.Sets {
		in.set(s, x)
	}
	succeeded := jen.Id(ident(b.fn.local(s))).Op("!=").Nil()
	if name := b.fn.done[s]; name != "" {
		succeeded = jen.Id(ident(name))
	}
	b.add(jen.If(succeeded).Block(in.code...))
}

func (b *block) set(s *check.Step, x *check.SetState) {
	field := stateField(x.State)
	v := b.value(x.Value)
	list := b.fn.armWrites[x]
	if list == "" {
		list = b.fn.itemWrites[x.State]
	}
	if list != "" { // applied where the branches meet
		if x.State.Merge.Kind == ir.MergeAppend {
			v = spread(v, x)
		}
		b.add(jen.Id(ident(list)).Op("=").Append(jen.Id(ident(list)), v))
		return
	}
	switch x.State.Merge.Kind {
	case ir.MergeAppend:
		b.add(jen.Add(field).Op("=").Append(field, spread(v, x)))
	case ir.MergeReducer:
		b.add(jen.Add(field).Op("=").Add(b.fn.g.goFunc(x.State.Merge.Reducer.Bind)).Call(field, v))
	case ir.MergeSetOnce:
		b.add(jen.If(jen.Err().Op(":=").Qual(flowPath, "SetOnce").Call(jen.Id("run"), b.fn.node(s), quote(x.State.Name.Name), jen.Op("&").Id(ident(b.fn.onceName(x.State)))),
			jen.Err().Op("!=").Nil()).Block(b.fail(jen.Err())...))
		b.write(field, v)
	default:
		b.write(field, v)
	}
}

// write assigns a value to a field of state, unless it is that field's.
func (b *block) write(field, v jen.Code) {
	if code(v) != code(field) {
		b.add(jen.Add(field).Op("=").Add(v))
	}
}

// code is what a piece of code looks like.
func code(c jen.Code) string {
	s, ok := c.(*jen.Statement)
	if !ok {
		return ""
	}
	return s.GoString()
}

// onceName is the variable that remembers whether a set_once field was written.
func (fn *function) onceName(s *ir.State) string {
	if name := fn.once[s]; name != "" {
		return name
	}
	if fn.once == nil {
		fn.once = map[*ir.State]string{}
	}
	fn.once[s] = fn.fresh(s.Name.Name + "_set")
	return fn.once[s]
}

// spread writes the appended list, or the one element.
func spread(v jen.Code, x *check.SetState) jen.Code {
	if x.One {
		return v
	}
	return jen.Add(v).Op("...")
}
