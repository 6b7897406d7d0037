package codegen

import (
	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// stmt writes a statement of a Block.
func (b *block) stmt(p *check.Plan) {
	switch p.Kind {
	case check.Branch:
		b.branchOn(p)
	case check.Select:
		b.selectOn(p)
	case check.While:
		b.while(p)
	case check.Range:
		b.rangeOver(p)
	case check.Assign:
		b.assignTo(p)
	case check.Effect:
		b.store(nil, p.Expr.Node, nil)
	case check.Next:
		b.add(jen.Continue())
	case check.Break:
		b.add(jen.Break())
	case check.Return:
		b.ret(p)
	}
}

// store writes a call, or another value, whose result goes to a local; nil: nobody asks for it.
func (b *block) store(to *check.Local, n *expr.Node, s *check.Step) {
	low := b.lower()
	fails := fails(n)
	var code *jen.Statement
	if n.Op == expr.Intrinsic || fails {
		code = low.invoke(n)
	} else {
		want := n.Type
		if to != nil {
			want = to.Type
		}
		code = jen.Add(low.exprAs(n, want))
		if n.Op == expr.Lit && to != nil && to.Type.Kind != schema.Dynamic {
			code = jen.Add(low.expr(n))
		}
	}
	b.flush(low)
	gives := n.Type != schema.EmptyType
	read := to != nil && b.fn.used[variable{kind: localVar, local: to}]
	name := jen.Id("_")
	op := ":="
	if read {
		name = jen.Id(ident(b.fn.localName(to)))
		if b.layout.declare(to, b.scope) {
			op = "="
		}
	}
	switch {
	case fails && gives && read:
		b.add(jen.List(name, jen.Err()).Op(operator(op)).Add(code))
		b.check()
		if b.outer = op == "="; b.outer {
			b.fn.outers++
		}
	case fails && gives:
		b.leave(jen.If(jen.List(name, jen.Err()).Op(":=").Add(code), jen.Err().Op("!=").Nil()).Block(b.fail(jen.Err())...),
			jen.List(name, jen.Err()).Op(":=").Add(code), jen.Return(jen.Err()))
	case fails:
		b.leave(jen.If(jen.Err().Op(":=").Add(code), jen.Err().Op("!=").Nil()).Block(b.fail(jen.Err())...), jen.Return(code))
	case read:
		b.add(jen.Add(name).Op(operator(op)).Add(code))
	case gives && n.Op == expr.Intrinsic && !n.Func.Pure || !gives:
		b.add(code)
	default:
		b.add(jen.Id("_").Op("=").Add(code))
	}
}

// perform writes the call of a node whose work is a function.
func (b *block) perform(p *check.Plan) {
	b.node = p.Step
	outer := b.fn.writing
	b.fn.writing = p.Step
	b.store(p.Local, p.Expr.Node, p.Step)
	b.fn.writing, b.node = outer, nil
}

func (b *block) condition(v *ir.Expr) jen.Code {
	low := b.lower()
	c := low.cond(v.Node)
	b.flush(low)
	return c
}

func (b *block) branchOn(p *check.Plan) {
	cond := b.condition(p.Expr)
	in := b.inner(b.layout.scopes[p.Kids[0]])
	in.plan(p.Kids[0])
	if len(p.Kids) == 1 {
		full := jen.If(cond).Block(in.code...)
		if n := len(in.code); n > 0 && in.outer && in.code[n-1] == in.last { // at the end of a function the error is returned in any case
			b.leave(full, append([]jen.Code{jen.If(cond).Block(in.code[:n-1]...)}, b.fail(jen.Err())...)...)
			return
		}
		b.add(full)
		return
	}
	other := b.inner(b.layout.scopes[p.Kids[1]])
	other.plan(p.Kids[1])
	if k := p.Kids[1]; len(other.code) == 1 && k.Kind == check.Seq && len(k.Kids) == 1 && k.Kids[0].Kind == check.Branch {
		b.add(jen.If(cond).Block(in.code...).Else().Add(other.code[0])) // else if
		return
	}
	b.add(jen.If(cond).Block(in.code...).Else().Block(other.code...))
}

func (b *block) selectOn(p *check.Plan) {
	low := b.lower()
	on := low.expr(p.Expr.Node)
	b.flush(low)
	var cases []jen.Code
	for i, k := range p.Kids {
		in := b.inner(b.layout.scopes[k])
		in.plan(k)
		if i < len(p.Values) {
			cases = append(cases, jen.Case(b.caseOf(low, p.Values[i])).Block(in.code...))
		} else {
			cases = append(cases, jen.Default().Block(in.code...))
		}
	}
	b.add(jen.Switch(on).Block(cases...))
}

// caseOf is the value of an arm.
func (b *block) caseOf(low *lowerer, v any) jen.Code {
	if n, ok := v.(*ir.Node); ok {
		return b.handle(expr.Of(expr.UseNode, n.ID.Name, n))[0]
	}
	return low.literal(v).code
}

// while writes a loop: with a number over the rounds, which the condition may end early.
func (b *block) while(p *check.Plan) {
	in := b.inner(b.layout.scopes[p.Kids[0]])
	head := jen.For()
	switch {
	case p.Max > 0 && p.Index != nil && b.counts(p):
		head.Id(ident(b.fn.localName(p.Index))).Op(":=").Range().Lit(p.Max)
	case p.Max > 0:
		head.Range().Lit(p.Max)
	case p.Expr != nil && p.Expr.Node.Inline():
		head.Add(in.condition(p.Expr))
		in.plan(p.Kids[0])
		b.add(head.Block(in.code...))
		return
	}
	if p.Expr != nil {
		low := in.lower()
		stop := low.not(p.Expr.Node)
		if n := p.Expr.Node; n.Op == expr.Unary {
			stop = low.cond(n.Kids[0])
		}
		in.flush(low)
		in.add(jen.If(stop).Block(jen.Break()))
	}
	in.enterRound(p)
	in.plan(p.Kids[0])
	b.add(head.Block(in.code...))
}

// counts reports whether anything asks for the round of a loop.
func (b *block) counts(p *check.Plan) bool {
	return p.Scope != nil || b.fn.used[variable{kind: localVar, local: p.Index}]
}

// enterRound makes the run that of a round.
func (b *block) enterRound(p *check.Plan) {
	if p.Scope != nil {
		b.add(jen.Id("run").Op(":=").Id("run").Dot("At").Call(b.fn.scopeNode(p.Scope), jen.Id(ident(b.fn.localName(p.Index)))))
	}
}

func (b *block) rangeOver(p *check.Plan) {
	low := b.lower()
	over := low.expr(p.Expr.Node)
	b.flush(low)
	in := b.inner(b.layout.scopes[p.Kids[0]])
	in.enterRound(p)
	in.plan(p.Kids[0])
	index, item := jen.Id("_"), jen.Code(nil)
	if p.Index != nil && b.counts(p) {
		index = jen.Id(ident(b.fn.localName(p.Index)))
	}
	if p.Local != nil && b.fn.used[variable{kind: localVar, local: p.Local}] {
		item = jen.Id(ident(b.fn.localName(p.Local)))
	}
	head := jen.For()
	switch {
	case item != nil:
		head.List(index, item).Op(":=").Range().Add(over)
	case p.Index != nil && b.counts(p):
		head.Add(index).Op(":=").Range().Add(over)
	default:
		head.Range().Add(over)
	}
	b.add(head.Block(in.code...))
}

func (b *block) assignTo(p *check.Plan) {
	switch {
	case p.Target != nil:
		low := b.lower()
		to, v := low.expr(p.Target.Node), low.exprAs(p.Expr.Node, schema.DynamicType)
		b.flush(low)
		b.add(jen.Add(to).Op("=").Add(v))
	case p.Expr != nil:
		b.store(p.Local, p.Expr.Node, nil)
	}
}

// zeros writes the declarations of locals without values that plans begin with, and returns how many they are.
func (b *block) zeros(plans []*check.Plan) int {
	n := 0
	var locals []*check.Local
	for n < len(plans) && plans[n].Kind == check.Assign && plans[n].Target == nil && plans[n].Expr == nil {
		if l := plans[n].Local; b.fn.used[variable{kind: localVar, local: l}] {
			b.layout.declare(l, b.scope)
			locals = append(locals, l)
		}
		n++
	}
	for _, v := range b.fn.localVars(locals) {
		b.add(jen.Var().Add(v))
	}
	return n
}

// ret ends the function: of a workflow with its output, of a Lambda with a value.
func (b *block) ret(p *check.Plan) {
	if b.sig == nil {
		b.result(b.fn.g.goType(b.fn.p.Output), b.fn.p.Outputs)
		return
	}
	if p.Expr == nil {
		if b.sig.Fails {
			b.add(jen.Return(jen.Nil()))
		} else {
			b.add(jen.Return())
		}
		return
	}
	low := b.lower()
	n := p.Expr.Node
	if fails(n) && (n.Op == expr.Intrinsic || calls(n) != nil) && schema.Equal(n.Type, b.sig.Result) {
		c := low.invoke(n)
		b.flush(low)
		b.add(jen.Return(c))
		return
	}
	if flow := partial(n, b.sig.Result); flow != nil && b.sig.Fails {
		b.retPartial(n, flow)
		return
	}
	v := low.exprAs(n, b.sig.Result)
	b.flush(low)
	if b.sig.Fails {
		b.add(jen.Return(v, jen.Nil()))
	} else {
		b.add(jen.Return(v))
	}
}

// partial is the run of a workflow that a value is a part of and that gives one also when it fails, absent if need be; nil:
// there is none.
func partial(n *expr.Node, want *schema.Type) *expr.Node {
	for n.Op == expr.Field {
		n = n.Kids[0]
	}
	if n.Op == expr.Handle && n.Use.Kind == expr.UseFlow {
		if wf, ok := n.Use.Ref.(*ir.Workflow); ok && (wf.Outcome.Always || want.Kind == schema.Dynamic) {
			return n
		}
	}
	return nil
}

// retPartial returns what a run has given, and its error.
func (b *block) retPartial(n, flow *expr.Node) {
	call := b.handle(flow)[0]
	low := b.lower()
	out := &expr.Symbol{Name: "out", Type: flow.Type}
	low.locals = map[*expr.Symbol]storage{out: {code: jen.Id("out")}}
	was := *flow
	*flow = expr.Node{Op: expr.Name, Text: "out", Sym: out, Type: was.Type, Stored: was.Type}
	v := low.exprAs(n, b.sig.Result)
	*flow = was
	b.flush(low)
	name := jen.Id("out")
	if !mentions([]jen.Code{jen.Return(v)}, "out") {
		name = jen.Id("_")
	}
	b.add(jen.List(name, jen.Err()).Op(":=").Add(call), jen.Return(v, jen.Err()))
}

// core is what the lowerer of a block can write besides expressions.
func (b *block) core() *coreLowerer {
	return &coreLowerer{handle: b.handle, lambda: b.lambda, whole: func(t *schema.Type) { b.fn.g.snapshot(t) }}
}

// handle writes what a Handle names.
func (b *block) handle(n *expr.Node) []jen.Code {
	names := b.fn.g.p.Names
	one := func(c jen.Code) []jen.Code { return []jen.Code{c} }
	switch u := n.Use; u.Kind {
	case expr.UseRun:
		return one(jen.Id("run"))
	case expr.UseNode:
		switch ref := u.Ref.(type) {
		case *ir.Scope:
			return one(b.fn.scopeNode(ref))
		case *ir.Node:
			for _, s := range b.fn.body.All() {
				if s.Node == ref {
					return one(b.fn.node(s))
				}
			}
		}
		return one(b.fn.node(b.fn.writing))
	case expr.UseTool:
		if t, ok := u.Ref.(*ir.Tool); ok {
			return one(jen.Id(ident(names.Tools[t])))
		}
	case expr.UseModel:
		if m, ok := u.Ref.(*ir.Model); ok {
			return one(jen.Id(ident(names.Models[m])))
		}
	case expr.UseFlow:
		low := b.lower()
		in := low.expr(n.Kids[0])
		var run jen.Code
		if len(n.Kids) == 2 {
			run = low.expr(n.Kids[1])
		} else {
			run = jen.Id("run").Dot("In").Call(b.fn.node(b.fn.writing))
		}
		b.flush(low)
		for p, name := range names.Bodies {
			if p.WF == u.Ref {
				return one(jen.Id(ident(name)).Call(run, in))
			}
		}
	case expr.UseChoice:
		for _, s := range b.fn.body.All() {
			if s.Pick != nil && s.Pick.Of == u.Ref {
				return one(jen.Id(ident(names.Picks[s])))
			}
		}
	case expr.UseAgent:
		for _, s := range b.fn.body.All() {
			if v, ok := s.Node.Verb.(*ir.Perform); ok && v.Agent == u.Ref {
				return one(jen.Op("&").Id(ident(names.Agents[s])))
			}
		}
	case expr.UseSlots:
		return b.fn.g.slotValues(b.fn.p)
	case expr.UseAnswer:
		if a, ok := u.Ref.(*ir.Answer); ok {
			return one(jen.Id(ident(names.Answers[a])))
		}
	case expr.UseText:
		if t, ok := u.Ref.(*ir.TextFunc); ok {
			return one(jen.Id(ident(names.Texts[t])))
		}
	case expr.UseProgram:
		return one(jen.Id("Info"))
	case expr.UseAddress:
		low := b.lower()
		return one(jen.Op("&").Add(low.expr(n.Kids[0])))
	}
	panic(refused{"a handle", n.String()})
}

// lambda writes a function literal.
func (b *block) lambda(n *expr.Node, sig *schema.Signature) jen.Code {
	f := n.Function
	in := b.fn.block(b.scope)
	in.layout, in.node = b.layout, b.node
	in.gives(sig)
	if f.Do != nil {
		plan := b.fn.body.Lambdas[f]
		in.layout = b.fn.layPlan(plan, in.scope)
		before := b.fn.outers
		in.plan(plan)
		if sig.Result == nil && sig.Fails && !plan.Ends() {
			in.returns()
		}
		return b.fn.lambdaHead(f, sig, b.fn.outers > before).Block(in.code...)
	}
	value := n.Kids[0]
	if call := in.bare(f, value); call != nil {
		return call
	}
	in.ret(&check.Plan{Kind: check.Return, Expr: &ir.Expr{Node: value}})
	return b.fn.lambdaHead(f, sig, false).Block(in.code...)
}

// gives makes the block that of a function with a signature.
func (b *block) gives(sig *schema.Signature) {
	b.sig = sig
	b.fail = func(err jen.Code) []jen.Code {
		switch {
		case !sig.Fails:
			panic(refused{"a way out of a function", "an error"})
		case sig.Result != nil:
			return []jen.Code{jen.Return(b.fn.g.zero(sig.Result), err)}
		}
		return []jen.Code{jen.Return(err)}
	}
}

// bare is the function itself where a Lambda does nothing but call it with its own parameters.
func (b *block) bare(f *expr.Function, n *expr.Node) jen.Code {
	if t := calls(n); t != nil && len(n.Kids) == 0 && len(f.Params) == 0 && t.Fails == b.sig.Fails {
		return b.handle(n)[0]
	}
	if n.Op != expr.Intrinsic || n.Func.Method || n.Func.Const || len(n.Kids) != len(f.Params) || len(n.Func.TypeArgs) > 0 {
		return nil
	}
	for i, k := range n.Kids {
		if k.Op != expr.Name || k.Sym == nil || k.Sym.Ref != f.Params[i] || !schema.Equal(k.Type, n.Func.Params[i]) {
			return nil
		}
	}
	return jen.Qual(importPath(n.Func.Path), ident(n.Func.Name))
}

// localName is the variable of a local.
func (fn *function) localName(l *check.Local) string {
	if fn.called != nil {
		return fn.called[l.Name]
	}
	return fn.escape(fn.g.p.Names.Blocks[l])
}

// paramName is the variable of a parameter.
func (fn *function) paramName(p *expr.Param) string {
	if fn.called != nil {
		return fn.called[p.Name]
	}
	return p.Name
}

func (fn *function) scopeNode(s *ir.Scope) jen.Code {
	return jen.Op("&").Id(ident(fn.g.p.Names.Scopes[s]))
}

// snapshot declares, once, the method that makes one value of an open state.
func (g *generator) snapshot(t *schema.Type) {
	if g.snapshots[t] {
		return
	}
	if g.snapshots == nil {
		g.snapshots = map[*schema.Type]bool{}
	}
	g.snapshots[t] = true
	var entries []jen.Code
	for _, f := range t.Fields {
		v := jen.Id("s").Dot(ident(fieldName(f)))
		if f.Type.Kind == schema.Struct { // a group
			if v = v.Dot("snapshot").Call(); len(f.Type.Fields) == 0 {
				v = jen.Qual(dynamicPath, "Object").Call()
			} else {
				g.snapshot(f.Type)
			}
		}
		entries = append(entries, put(f.Name, v))
	}
	g.patterns.Line()
	if t.Open {
		g.patterns.Comment("snapshot is the state as one value.")
	} else {
		g.patterns.Comment("snapshot is the output as one value.")
	}
	g.patterns.Line().
		Func().Params(jen.Id("s").Op("*").Add(g.goType(t))).Id("snapshot").Params().Qual(dynamicPath, "Field").
		Block(jen.Return(jen.Qual(dynamicPath, "Object").Custom(parens(len(entries) > 2), entries...))).Line()
}
