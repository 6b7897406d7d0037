package codegen

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// mapNode writes flow.Map over a list, the body as a function of one item.
func (b *block) mapNode(s *check.Step, v *ir.Map) {
	items := b.value(s.Over)
	var instead jen.Code
	if s.ItemDefault != nil {
		instead = b.value(s.ItemDefault)
	}
	item := s.Vars[0]
	elem := b.fn.g.goType(item.Type)
	param := jen.Id(ident(b.fn.varName(item))).Add(elem)
	if !item.Used {
		param = jen.Id("_").Add(elem)
	}
	fields := b.fn.itemFields(s)
	var head, commit []jen.Code
	if len(s.Vars) > 1 && s.Vars[1].Used || len(fields) > 0 {
		at := b.fn.fresh("at")
		items = jen.Qual(flowPath, "Enumerate").Call(items)
		param = jen.Id(ident(at)).Qual(flowPath, "Indexed").Types(elem)
		if item.Used {
			head = append(head, jen.Id(ident(b.fn.varName(item))).Op(":=").Id(ident(at)).Dot("Value"))
		}
		if len(s.Vars) > 1 && s.Vars[1].Used {
			head = append(head, jen.Id(ident(b.fn.varName(s.Vars[1]))).Op(":=").Id(ident(at)).Dot("Index"))
		}
		for _, f := range fields {
			head = append(head, jen.Var().Id(ident(f.own)).Add(b.fn.listOf(f.set)))
			commit = append(commit, jen.Id(ident(f.all)).Index(jen.Id(ident(at)).Dot("Index")).Op("=").Id(ident(f.own)))
		}
	}
	if len(fields) > 0 {
		name := b.fn.fresh(s.Node.ID.Name + "_items")
		b.add(jen.Id(ident(name)).Op(":=").Add(items))
		items = jen.Id(ident(name))
	}
	for _, f := range fields {
		b.add(jen.Id(ident(f.all)).Op(":=").Make(jen.Index().Add(b.fn.listOf(f.set)), jen.Len(items)))
	}
	var undo []jen.Code
	if len(s.InOrder) > 0 && (s.Catch || s.Node.OnError != nil && s.Node.OnError.Kind != ir.OnErrorFail) {
		undo = b.snapshot(s, s.InOrder...)
	}
	leave := b.fn.enter(fields)
	f := jen.Func().Params(jen.Id("run").Op("*").Qual(flowPath, "Run"), param)
	args := []jen.Code{jen.Id("run"), b.fn.node(s), items}
	if s.ItemDefault != nil {
		args = append(args, instead)
	}
	c := jen.Qual(flowPath, ident(mapFunc(v))).Call(append(args, b.itemFunc(s, f, head, commit))...)
	leave()
	if v.OnItemError == ir.ItemDrop {
		b.dropMap(s, c)
		b.add(b.applied(fields)...)
	} else {
		b.handled(s, c, b.applied(fields), undo)
	}
}

func mapFunc(v *ir.Map) string {
	switch v.OnItemError {
	case ir.ItemKeep:
		return "MapKeep"
	case ir.ItemDrop:
		return "MapDrop"
	case ir.ItemDefault:
		return "MapOr"
	}
	return "Map"
}

// itemFunc writes the function of one item. A body that is a single plain call is returned as it is.
func (b *block) itemFunc(s *check.Step, f *jen.Statement, head, commit []jen.Code) *jen.Statement {
	result := b.fn.g.goType(s.Body.Result)
	in := &block{fn: b.fn, scope: b.scope.child(), fail: returnOut}
	in.add(head...)
	if only := single(s.Body); only != nil && s.Body.IR.Result == nil {
		in.node = only
		before := len(in.code)
		values := in.only(only)
		if len(in.code) == before {
			in.add(jen.Return(values...))
			return f.Params(result, jen.Error()).Block(in.code...)
		}
		in.add(jen.Return(values...))
	} else {
		in.inside(s, commit)
	}
	return f.Params(jen.Id("out").Add(result), jen.Err().Error()).Block(in.code...)
}

// single is the step of a body that is nothing but one node without anything around it.
func single(body *check.Body) *check.Step {
	if len(body.Steps) != 1 {
		return nil
	}
	s := body.Steps[0]
	if !s.Node.Inline || s.Node.When != nil || s.Catch || s.Completes() || s.Node.OnError != nil && s.Node.OnError.Kind != ir.OnErrorFail {
		return nil
	}
	switch v := s.Node.Verb.(type) {
	case *ir.ToolCall, *ir.ToolChoice, *ir.Flow, *ir.Let, *ir.Parse:
		return s
	case *ir.GoCall:
		if !v.Func.Bind.Err && s.Node.Result != schema.EmptyType {
			return s
		}
	}
	return nil
}

// only is what the function of such a body returns.
func (b *block) only(s *check.Step) []jen.Code {
	switch v := s.Node.Verb.(type) {
	case *ir.ToolCall:
		return []jen.Code{jen.Qual(flowPath, "Call").Call(jen.Id("run"), b.fn.node(s), jen.Id(ident(b.fn.g.p.Names.Tools[s.Tool])), b.toolInput(s))}
	case *ir.ToolChoice:
		return []jen.Code{b.pick(s)}
	case *ir.Flow:
		return []jen.Code{b.flowCall(s)}
	case *ir.Parse:
		return []jen.Code{b.parse(s)}
	case *ir.GoCall:
		return []jen.Code{b.fn.g.goFunc(v.Func.Bind).Call(b.goArgs(s, v.Func.Bind)...), jen.Nil()}
	}
	if v, ok := s.Node.Verb.(*ir.Let); ok && v.Value != nil {
		return []jen.Code{b.argument(s.Fields[0]), jen.Nil()}
	}
	return []jen.Code{b.structLiteral(b.fn.g.goType(s.Node.Result), s.Fields), jen.Nil()}
}

// inside writes the body of a map item and returns its result.
func (b *block) inside(s *check.Step, commit []jen.Code) {
	b.run(s.Body, resultRefs(s.Body))
	b.gap()
	b.node = s
	result := b.bodyResult(s.Body)
	b.add(commit...)
	b.add(jen.Return(result, jen.Nil()))
}

func resultRefs(body *check.Body) []*expr.Node {
	var refs []*expr.Node
	ir.ValueExpressions(body.IR.Result, func(n *expr.Node) { refs = append(refs, n) })
	return refs
}

// bodyResult is what a loop or map body yields.
func (b *block) bodyResult(body *check.Body) jen.Code {
	switch {
	case body.IR.Result != nil:
		return b.valueAs(body.IR.Result, body.Result)
	case len(body.Steps) == 1 && body.Steps[0].Node.Inline:
		s := body.Steps[0]
		if b.fn.pointer(s) && body.Result.Kind != schema.Opt {
			return jen.Op("*").Id(ident(b.fn.local(s)))
		}
		return jen.Id(ident(b.fn.local(s)))
	}
	return jen.Id("out")
}

// dropMap stores the results and the failures of a map that drops failed items.
func (b *block) dropMap(s *check.Step, c jen.Code) {
	result, failures := variable{kind: resultVar, step: s}, variable{kind: failuresVar, step: s}
	reads, readsFailures := b.fn.reads(s), b.fn.readsFailures(s)
	if !reads && !readsFailures {
		b.add(jen.If(jen.List(jen.Id("_"), jen.Id("_"), jen.Err()).Op(":=").Add(c), jen.Err().Op("!=").Nil()).Block(b.fail(jen.Err())...))
		return
	}
	// What lives outside, or is held as a pointer, gets its value afterwards.
	value, dropped := b.target(reads, result), b.target(readsFailures, failures)
	moved, movedFailures := reads && (b.fn.pointer(s) || b.fn.outside(result)), readsFailures && b.fn.outside(failures)
	if moved {
		value = jen.Id(ident(b.fn.fresh(s.Node.ID.Name + "_value")))
	}
	if movedFailures {
		dropped = jen.Id(ident(b.fn.fresh(s.Node.ID.Name + "_dropped")))
	}
	b.add(jen.List(orBlank(value), orBlank(dropped), jen.Err()).Op(":=").Add(c))
	b.check()
	if moved {
		b.assign(s, jen.Add(value), true)
	}
	if movedFailures {
		b.add(jen.Id(ident(b.fn.failuresName(s))).Op("=").Add(dropped))
	}
}

// ownFunction reports whether a loop is written as a function, because its failure does not end the one it is in.
func ownFunction(s *check.Step) bool {
	_, loop := s.Node.Verb.(*ir.Loop)
	return loop && (s.Catch || s.Node.OnError != nil && s.Node.OnError.Kind != ir.OnErrorFail)
}

// loop writes a loop node: its body, then the test.
func (b *block) loop(s *check.Step, v *ir.Loop) {
	if ownFunction(s) {
		in := &block{fn: b.fn, scope: b.scope.child(), fail: returnOut}
		saved := b.fn.own
		b.fn.own = map[*check.Step]string{s: "out"}
		in.iterate(s, v, func(value jen.Code) jen.Code { return jen.Id("out").Op("=").Add(value) })
		b.fn.own = saved
		in.add(jen.Return(jen.Id("out"), jen.Nil()))
		c := jen.Func().Params(jen.Id("run").Op("*").Qual(flowPath, "Run")).
			Params(jen.Id("out").Add(b.fn.g.goType(s.Body.Result)), jen.Err().Error()).Block(in.code...).Call(jen.Id("run"))
		undo := b.snapshot(s)
		b.handled(s, c, nil, undo)
		return
	}
	name := b.fn.local(s)
	if b.fn.reads(s) && !b.fn.outside(variable{kind: resultVar, step: s}) {
		b.add(jen.Var().Id(ident(name)).Add(b.fn.typeOf(variable{kind: resultVar, step: s})))
	}
	if only := s.Body.Steps[0]; only.Node.Inline && !b.fn.reads(s) {
		b.fn.unread = only
	}
	b.iterate(s, v, func(value jen.Code) jen.Code {
		switch {
		case !b.fn.reads(s):
			return jen.Id("_").Op("=").Add(value)
		case b.fn.pointer(s) && s.Node.Result.Kind != schema.Opt:
			return jen.Id(ident(name)).Op("=").Qual(flowPath, "Ptr").Call(value)
		}
		return jen.Id(ident(name)).Op("=").Add(value)
	})
}

// iterate writes the `for` of a loop node.
func (b *block) iterate(s *check.Step, v *ir.Loop, store func(jen.Code) jen.Code) {
	i := b.fn.counter()
	in := b.inner(b.scope.child())
	refs := resultRefs(s.Body)
	in.run(s.Body, refs)
	in.node = s
	if len(s.Body.Result.Fields) > 0 || s.Body.Result.Kind != schema.Struct || len(refs) > 0 {
		if only := s.Body.Steps[0]; !only.Node.Inline || b.fn.reads(only) {
			in.add(store(in.bodyResult(s.Body)))
		}
	}
	if s.Until != nil {
		low := in.lower()
		cond := low.cond(s.Until)
		in.flush(low)
		in.add(jen.If(cond).Block(jen.Break()))
	}
	pace := ""
	if paced(v) {
		pace = b.fn.fresh(s.Node.ID.Name + "_pace")
	}
	in.begin(s, v, pace, i)
	b.add(comment(loopText(s, v)))
	if pace != "" {
		b.add(jen.Var().Id(ident(pace)).Qual(flowPath, "Pace"))
	}
	if counted(s, v) {
		b.add(jen.For(jen.Id(ident(i)).Op(":=").Range().Lit(v.Max)).Block(in.code...))
		return
	}
	b.add(jen.For(jen.Id(ident(i)).Op(":=").Lit(0), jen.Empty(), jen.Id(ident(i)).Op("++")).Block(in.code...))
}

// iteration puts the beginning of an iteration before a loop's statements: the bound, the cancellation, and the scope.
func (b *block) iteration(node jen.Code, i string) {
	call := jen.Id("run").Dot("Iterate").Call(node, jen.Id(ident(i)))
	head := []jen.Code{jen.List(jen.Id("run"), jen.Err()).Op(":=").Add(call), jen.If(jen.Err().Op("!=").Nil()).Block(b.fail(jen.Err())...)}
	if !mentions(b.code, "run") {
		head = []jen.Code{jen.If(jen.List(jen.Id("_"), jen.Err()).Op(":=").Add(call), jen.Err().Op("!=").Nil()).Block(b.fail(jen.Err())...)}
	}
	b.code = append(head, b.code...)
}

// mentions reports whether statements use a name of the function they are in; functions inside it have one of their
// own when they have any.
func mentions(code []jen.Code, name string) bool {
	text := fmt.Sprintf("%#v", jen.Func().Id("_").Params().Block(code...))
	file, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+text, parser.SkipObjectResolution)
	found := err != nil
	if err == nil {
		ast.Inspect(file.Decls[0].(*ast.FuncDecl).Body, func(n ast.Node) bool {
			if f, ok := n.(*ast.FuncLit); ok {
				return !slices.ContainsFunc(f.Type.Params.List, func(p *ast.Field) bool {
					return slices.ContainsFunc(p.Names, func(id *ast.Ident) bool { return id.Name == name })
				})
			}
			id, ok := n.(*ast.Ident)
			found = found || ok && id.Name == name
			return !found
		})
	}
	return found
}

func loopText(s *check.Step, v *ir.Loop) string {
	text := s.Node.ID.Name + ": "
	if v.Max > 0 {
		text += fmt.Sprintf("at most %d times", v.Max)
	} else {
		text += "without bound"
	}
	if v.Every != nil {
		text += ", every " + v.Every.Value.String()
	}
	if v.Timeout != nil {
		text += ", for " + v.Timeout.Value.String()
	}
	if s.Until != nil {
		text += ", until " + s.Until.String()
	}
	return text
}

// loopComment says what a loop of edges does.
func (g *generator) loopComment(l *check.Loop) jen.Code {
	text := fmt.Sprintf("from %s back to %s", l.From.Node.ID.Name, l.Header.Node.ID.Name)
	if l.Max > 0 {
		text += fmt.Sprintf(", at most %d times", l.Max)
	}
	return comment(text)
}

// counter is the variable of a `for`; loops inside each other may share it, but it must not hide a name of the workflow.
func (fn *function) counter() string {
	if fn.names["i"] {
		return "iteration"
	}
	return "i"
}

// leaves are the steps of a plan in file order.
func leaves(p *check.Plan) []*check.Step {
	var steps []*check.Step
	var walk func(p *check.Plan)
	walk = func(p *check.Plan) {
		if p.Kind == check.Leaf {
			steps = append(steps, p.Step)
		}
		for _, k := range p.Kids {
			walk(k)
		}
	}
	walk(p)
	slices.SortFunc(steps, func(a, b *check.Step) int { return a.Table - b.Table })
	return steps
}
