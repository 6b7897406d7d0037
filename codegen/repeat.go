package codegen

import (
	"fmt"
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// mapNode writes runtime.Map over a list, the body as a function of one item.
func (b *block) mapNode(s *check.Step, v *ir.Map) {
	items := b.value(s.Over)
	item := s.Vars[0]
	elem := b.fn.g.goType(item.Type)
	param := jen.Id(b.fn.varName(item)).Add(elem)
	if !item.Used {
		param = jen.Id("_").Add(elem)
	}
	collect := b.collectors(s)
	var head []jen.Code
	if len(s.Vars) > 1 && s.Vars[1].Used || len(collect) > 0 {
		at := b.fn.fresh("at")
		items = jen.Qual(runtimePath, "Enumerate").Call(items)
		param = jen.Id(at).Qual(runtimePath, "Indexed").Types(elem)
		if item.Used {
			head = append(head, jen.Id(b.fn.varName(item)).Op(":=").Id(at).Dot("Value"))
		}
		if len(s.Vars) > 1 && s.Vars[1].Used {
			head = append(head, jen.Id(b.fn.varName(s.Vars[1])).Op(":=").Id(at).Dot("Index"))
		}
		saved := b.fn.itemIndex
		defer func() { b.fn.itemIndex = saved }()
		b.fn.itemIndex = jen.Id(at).Dot("Index")
	}
	for _, c := range collect {
		b.add(jen.Id(c.name).Op(":=").Make(jen.Index().Add(c.typ), jen.Len(b.value(s.Over))))
	}
	f := jen.Func().Params(jen.Id("run").Op("*").Qual(runtimePath, "Run"), param)
	c := jen.Qual(runtimePath, mapFunc(v)).Call(jen.Id("run"), b.fn.node(s), items, b.itemFunc(s, f, head))
	if v.OnItemError == ir.ItemDrop {
		b.dropMap(s, c)
	} else {
		b.handled(s, c)
	}
	for _, c := range collect {
		b.apply(c)
	}
}

func mapFunc(v *ir.Map) string {
	switch v.OnItemError {
	case ir.ItemKeep:
		return "MapKeep"
	case ir.ItemDrop:
		return "MapDrop"
	}
	return "Map"
}

// itemFunc writes the function of one item. A body that is a single plain call is returned as it is.
func (b *block) itemFunc(s *check.Step, f *jen.Statement, head []jen.Code) *jen.Statement {
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
		in.inside(s)
	}
	return f.Params(jen.Id("out").Add(result), jen.Err().Error()).Block(in.code...)
}

// single is the step of a body that is nothing but one node without anything around it.
func single(body *check.Body) *check.Step {
	if len(body.Steps) != 1 {
		return nil
	}
	s := body.Steps[0]
	if !s.Node.Inline || s.Catch || len(s.Sets) > 0 || s.Node.OnError != nil && s.Node.OnError.Kind != ir.OnErrorFail {
		return nil
	}
	switch v := s.Node.Verb.(type) {
	case *ir.ToolCall, *ir.Flow, *ir.Let:
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
		return []jen.Code{jen.Qual(runtimePath, "Call").Call(jen.Id("run"), b.fn.node(s), jen.Id(b.fn.g.p.Names.Tools[s.Tool]), b.toolInput(s))}
	case *ir.Flow:
		return []jen.Code{b.flowCall(s)}
	case *ir.GoCall:
		return []jen.Code{b.fn.g.goFunc(v.Func.Bind).Call(b.goArgs(s, v.Func.Bind)...), jen.Nil()}
	}
	return []jen.Code{b.structLiteral(b.fn.g.goType(s.Node.Result), s.Fields), jen.Nil()}
}

// inside writes the body of a map item and returns its result.
func (b *block) inside(s *check.Step) {
	b.run(s.Body, resultRefs(s.Body))
	b.gap()
	b.add(jen.Return(b.bodyResult(s.Body), jen.Nil()))
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
			return jen.Op("*").Id(b.fn.local(s))
		}
		return jen.Id(b.fn.local(s))
	}
	return jen.Id("out")
}

// dropMap stores the results and the failures of a map that drops failed items.
func (b *block) dropMap(s *check.Step, c jen.Code) {
	result := b.target(s.Read, variable{kind: resultVar, step: s})
	failures := b.target(s.FailuresRead, variable{kind: failuresVar, step: s})
	op := ":="
	if result == nil && failures == nil || result != nil && b.fn.outside(variable{kind: resultVar, step: s}) || failures != nil && b.fn.outside(variable{kind: failuresVar, step: s}) {
		op = "="
	}
	value := orBlank(result)
	if result != nil && b.fn.pointer(s) {
		value = jen.Id(b.fn.fresh(s.Node.ID.Name + "_value"))
		op = ":="
	}
	b.add(jen.List(value, orBlank(failures), jen.Err()).Op(op).Add(c))
	b.check()
	if result != nil && b.fn.pointer(s) {
		b.assign(s, value, true)
	}
}

// loop writes a loop node: its body, then the test.
func (b *block) loop(s *check.Step, v *ir.Loop) {
	if s.Catch || s.Node.OnError != nil && s.Node.OnError.Kind != ir.OnErrorFail {
		in := &block{fn: b.fn, scope: b.scope.child(), fail: returnOut}
		b.fn.own = map[*check.Step]string{s: "out"}
		in.iterate(s, v, func(value jen.Code) jen.Code { return jen.Id("out").Op("=").Add(value) })
		b.fn.own = nil
		in.add(jen.Return(jen.Id("out"), jen.Nil()))
		c := jen.Func().Params(jen.Id("run").Op("*").Qual(runtimePath, "Run")).
			Params(jen.Id("out").Add(b.fn.g.goType(s.Body.Result)), jen.Err().Error()).Block(in.code...).Call(jen.Id("run"))
		b.handled(s, c)
		return
	}
	name := b.fn.local(s)
	if s.Read && !b.fn.outside(variable{kind: resultVar, step: s}) {
		b.add(jen.Var().Id(name).Add(b.fn.typeOf(variable{kind: resultVar, step: s})))
	}
	b.iterate(s, v, func(value jen.Code) jen.Code {
		switch {
		case !s.Read:
			return nil
		case b.fn.pointer(s) && s.Node.Result.Kind != schema.Opt:
			return jen.Id(name).Op("=").Qual(runtimePath, "Ptr").Call(value)
		}
		return jen.Id(name).Op("=").Add(value)
	})
}

// iterate writes the `for` of a loop node.
func (b *block) iterate(s *check.Step, v *ir.Loop, store func(jen.Code) jen.Code) {
	i := b.fn.counter()
	in := b.inner(b.scope.child())
	in.add(jen.List(jen.Id("run"), jen.Err()).Op(":=").Id("run").Dot("Iterate").Call(b.fn.node(s), jen.Id(i)))
	in.check()
	in.run(s.Body, resultRefs(s.Body))
	if len(s.Body.Result.Fields) > 0 || s.Body.Result.Kind != schema.Struct {
		if c := store(in.bodyResult(s.Body)); c != nil {
			in.add(c)
		}
	}
	if s.Until != nil {
		in.node = s
		low := in.lower()
		cond := low.cond(s.Until)
		in.flush(low)
		in.add(jen.If(cond).Block(jen.Break()))
	}
	b.add(comment(loopText(s, v)))
	if s.Until == nil && v.Max > 0 {
		b.add(jen.For(jen.Id(i).Op(":=").Range().Lit(v.Max)).Block(in.code...))
		return
	}
	b.add(jen.For(jen.Id(i).Op(":=").Lit(0), jen.Empty(), jen.Id(i).Op("++")).Block(in.code...))
}

func loopText(s *check.Step, v *ir.Loop) string {
	text := s.Node.ID.Name + ": "
	if v.Max > 0 {
		text += fmt.Sprintf("at most %d times", v.Max)
	} else {
		text += "without bound"
	}
	if s.Until != nil {
		text += ", until " + s.Until.String()
	}
	return text
}

// A collector gathers what parallel branches write to one state field, to be applied in order at the join.
type collector struct {
	name string
	typ  *jen.Statement
	set  *check.SetState
	step *check.Step
	many bool // one entry for every item of a map
}

// collectors are the deferred writes inside a map.
func (b *block) collectors(s *check.Step) []*collector {
	var out []*collector
	for _, t := range s.Body.All() {
		for _, x := range t.Sets {
			if x.Deferred {
				out = append(out, b.fn.collector(t, x, true))
			}
		}
	}
	return out
}

// collector is the variable for one deferred write: a slice of what was written, in order.
func (fn *function) collector(s *check.Step, x *check.SetState, many bool) *collector {
	if c := fn.collect[x]; c != nil {
		return c
	}
	typ := jen.Index().Add(fn.g.goType(x.Value.Type))
	if x.State.Merge.Kind == ir.MergeAppend {
		typ = fn.g.goType(x.State.Type)
	}
	c := &collector{name: fn.fresh(s.Node.ID.Name + "_" + x.State.Name.Name), typ: jen.Add(typ), set: x, step: s, many: many}
	if fn.collect == nil {
		fn.collect = map[*check.SetState]*collector{}
	}
	fn.collect[x] = c
	return c
}

// deferred writes into the collector instead of into state.
func (b *block) deferred(s *check.Step, x *check.SetState) {
	c := b.fn.collector(s, x, false)
	at := jen.Id(c.name)
	if c.many {
		at = jen.Id(c.name).Index(b.fn.itemIndex)
	}
	v := b.value(x.Value)
	if x.State.Merge.Kind == ir.MergeAppend {
		v = spread(v, x)
	}
	b.add(jen.Add(at).Op("=").Append(at, v))
}

// apply merges a collector into state.
func (b *block) apply(c *collector) {
	field := jen.Id("state").Dot(fieldName(&schema.Field{Name: c.set.State.Name.Name}))
	each := func(list jen.Code) jen.Code {
		if c.set.State.Merge.Kind == ir.MergeAppend {
			return jen.Add(field).Op("=").Append(field, jen.Add(list).Op("..."))
		}
		return jen.For(jen.List(jen.Id("_"), jen.Id("x")).Op(":=").Range().Add(list)).Block(
			jen.Add(field).Op("=").Add(b.fn.g.goFunc(c.set.State.Merge.Reducer.Bind)).Call(field, jen.Id("x")))
	}
	if !c.many {
		b.add(each(jen.Id(c.name)))
		return
	}
	b.add(jen.For(jen.List(jen.Id("_"), jen.Id("xs")).Op(":=").Range().Id(c.name)).Block(each(jen.Id("xs"))))
}

// joins applies, after parallel arms, what they wrote to state together, in file order.
func (b *block) joins(p *check.Plan) {
	for _, s := range leaves(p) {
		for _, x := range s.Sets {
			if c := b.fn.collect[x]; x.Deferred && c != nil && !c.many {
				b.apply(c)
			}
		}
	}
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

// collectIn declares the collectors of the writes that parallel arms make.
func (b *block) collectIn(p *check.Plan) {
	for _, s := range leaves(p) {
		for _, x := range s.Sets {
			if x.Deferred && b.fn.collect[x] == nil {
				c := b.fn.collector(s, x, false)
				b.add(jen.Var().Id(c.name).Add(c.typ))
			}
		}
	}
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
