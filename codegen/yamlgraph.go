package codegen

import (
	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

const (
	graphPath = runtimePath + "/yamlgraph"
	pyPath    = dynamicPath + "/py"
)

// tokenBody is the state of emitting the function of a graph of tokens.
type tokenBody struct {
	*dynamicBody
	inside bool   // the node of a map is written
	item   string // what its item is called
	flow   string // the flow of the node that is written
}

// tokenBody emits the statements of Body: nodes in their order where it is known, else the way of one token.
func (g *generator) tokenBody(p *check.Program) []jen.Code {
	b := &tokenBody{dynamicBody: &dynamicBody{g: g, p: p, roots: map[string]jen.Code{}, fail: []jen.Code{jen.Id("out")}}}
	b.special = b.calculated
	var given []jen.Code
	for _, f := range p.Input.Fields {
		given = append(given, field(fieldName(f), jen.Id("in").Dot(ident(fieldName(f)))))
	}
	b.add(jen.Id("state").Op(":=").Add(g.goType(p.State)).Custom(braces(len(given) > 3), given...))
	if p == g.p {
		b.add(jen.Defer().Qual(runtimePath, "EndState").Call(jen.Id("run"), jen.Op("&").Id("state")))
	}
	b.seeds()
	b.add(jen.Id("flow").Op(":=").Qual(graphPath, "New").Custom(parens(len(p.WF.State) > 1), b.fields()...))
	if n := p.WF.Dynamic.Tokens.Limit; n > 0 && p.Tokens.Waves == nil {
		b.add(jen.Id("flow").Dot("Bound").Call(jen.Lit(n)))
	}
	switch {
	case p.Tokens.Waves != nil:
		for _, w := range p.Tokens.Waves {
			b.gap()
			b.side(w)
		}
		b.gap()
		b.add(b.done())
	case p.Tokens.Start != nil:
		b.gap()
		b.way()
	default:
		b.gap()
		b.steps()
	}
	if b.whole {
		g.dynamicSnapshot(p)
	}
	return b.code
}

func (b *tokenBody) done() jen.Code {
	return jen.Return(jen.Add(b.g.goType(b.p.Output)).Call(jen.Id("state")), jen.Nil())
}

// fields are the fields of the state as writes see them. Types are not enforced; lists that nodes add to grow.
func (b *tokenBody) fields() []jen.Code {
	var out []jen.Code
	for i, s := range b.p.WF.State {
		fields := []jen.Code{field("Name", quote(s.Name.Name))}
		if m := tokenMerge(s); m != "" {
			fields = append(fields, field("Merge", jen.Qual(dynamicPath, ident(m))))
		}
		fields = append(fields, field("Field", jen.Op("&").Id("state").Dot(ident(fieldName(b.p.State.Fields[i])))))
		out = append(out, jen.Qual(dynamicPath, "Slot").Values(fields...))
	}
	return out
}

// tokenMerge is what a write does to a field: lists grow, numbers and texts that are added are sums.
func tokenMerge(s *ir.State) string {
	if s.Merge.Kind != ir.MergeAppend {
		return ""
	}
	switch s.Type.Kind {
	case schema.Int, schema.Float, schema.String:
		return "Sum"
	}
	return "Append"
}

// side emits nodes that run side by side, or one alone.
func (b *tokenBody) side(w []*check.Step) {
	if len(w) == 1 {
		b.run(w[0], func() jen.Code { return b.done() })
		return
	}
	var names, flows []jen.Code
	branches := []jen.Code{jen.Id("run")}
	for _, s := range w {
		name := b.local(s)
		if name == "state" || name == "flow" {
			name += "_"
		}
		names = append(names, jen.Id(ident(name)))
		flows = append(flows, jen.Id("flow").Dot("Aside").Call())
		branches = append(branches, jen.Func().Params(jen.Id("run").Op("*").Qual(runtimePath, "Run")).Error().Block(b.branch(s, name)...))
	}
	scope := []jen.Code{
		jen.List(names...).Op(":=").List(flows...),
		jen.If(jen.Err().Op(":=").Qual(runtimePath, "Parallel").Custom(parens(true), branches...), jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Id("out"), jen.Err())),
		jen.Id("flow").Dot("Join").Call(names...),
	}
	b.add(jen.Block(scope...)) // a node that runs again has its name for itself
}

// branch is the inside of a branch.
func (b *tokenBody) branch(s *check.Step, flow string) []jen.Code {
	if _, pure := s.Node.Verb.(*ir.Let); pure && len(s.Node.Dynamic.Token.Final) == 0 {
		return []jen.Code{b.invoke(s, flow), jen.Return(jen.Nil())}
	}
	if _, each := s.Node.Verb.(*ir.Map); each {
		return []jen.Code{jen.List(jen.Id("_"), jen.Err()).Op(":=").Add(b.invoke(s, flow)), jen.Return(jen.Err())}
	}
	return []jen.Code{jen.Return(b.invoke(s, flow))}
}

// run emits a node alone. empty is what follows a map of an empty list, where something comes after it.
func (b *tokenBody) run(s *check.Step, empty func() jen.Code) {
	more := false
	s.Exits(func(_ *ir.Exit, to *check.Step) { more = more || to != nil })
	call := b.invoke(s, "flow")
	switch s.Node.Verb.(type) {
	case *ir.Let:
		if len(s.Node.Dynamic.Token.Final) == 0 {
			b.add(call)
			return
		}
		call = jen.Err().Op(":=").Add(call)
	case *ir.Map:
		if more {
			b.add(jen.If(jen.List(jen.Id("ran"), jen.Err()).Op(":=").Add(call), jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Id("out"), jen.Err())).
				Else().If(jen.Op("!").Id("ran")).Block(empty()))
			return
		}
		call = jen.List(jen.Id("_"), jen.Err()).Op(":=").Add(call)
	default:
		call = jen.Err().Op(":=").Add(call)
	}
	b.add(jen.If(call, jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Id("out"), jen.Err())))
}

// invoke is the call that runs a node.
func (b *tokenBody) invoke(s *check.Step, flow string) jen.Code {
	g, d := b.g, s.Node.Dynamic
	b.flow = flow
	on := func(method string, args ...jen.Code) jen.Code {
		return b.ruled(s, flow).Dot(ident(method)).Call(args...)
	}
	switch v := s.Node.Verb.(type) {
	case *ir.LLM:
		return on("Ask", jen.Id("run"), b.node(s), b.question(s), b.promptOf(s))
	case *ir.Agent:
		return on("Agent", jen.Id("run"), b.node(s), jen.Op("&").Id(ident(g.p.Names.Agents[s])), b.promptOf(s))
	case *ir.Let:
		args := []jen.Code{b.node(s)}
		for _, f := range v.Fields {
			args = append(args, put(f.Key.Name, b.value(f.Value)))
		}
		if len(d.Token.Final) > 0 {
			return b.verify(s, flow)
		}
		return b.ruled(s, flow).Dot("Set").Custom(parens(len(args) > 3), args...)
	case *ir.ToolCall:
		policy := "Raise"
		if d.Token.OnError == ir.TokenNull {
			policy = "Null"
		}
		if _, program := s.Tool.Binding.(*ir.CopilotTool); program {
			return on("Copilot", b.copilot(s)...)
		}
		if _, shell := s.Tool.Binding.(*ir.ShellTool); shell {
			var args []jen.Code
			for _, e := range d.Token.Values {
				args = append(args, put(e.Key.Name, jen.Qual(dynamicPath, "Of").Call(jen.Add(b.value(e.Value)).Dot("Value").Call())))
			}
			return on("Tool", jen.Id("run"), b.node(s), jen.Id(ident(g.p.Names.Tools[s.Tool])), quote(d.Token.Key.Name), jen.Qual(graphPath, ident(policy)),
				jen.Qual(dynamicPath, "Object").Custom(parens(len(args) > 2), args...))
		}
		if s.Tool.File != b.p.WF.File { // of flowgen.bindings.yaml
			return jen.Qual(graphPath, "Bound").Call(b.ruled(s, flow), jen.Id("run"), b.node(s), jen.Id(ident(g.p.Names.Tools[s.Tool])), quote(d.Token.Key.Name), jen.Qual(graphPath, ident(policy)), b.given(d.Token))
		}
		return on("Python", jen.Id("run"), b.node(s), jen.Id(ident(g.p.Names.Tools[s.Tool])), quote(d.Token.Key.Name), jen.Qual(graphPath, ident(policy)),
			jen.Qual(dynamicPath, "Object").Call(put(parameter(s.Tool), b.given(d.Token))))
	case *ir.ToolChoice:
		if d.Token.Stops || d.Token.Parsed.Name != "" {
			return on("Choose", append([]jen.Code{jen.Id("run"), b.node(s), b.pickRules(d.Token)}, b.choice(s, v)...)...)
		}
		return on("ToolCall"+b.rules(), append([]jen.Code{jen.Id("run"), b.node(s), quote(d.Token.Key.Name)}, b.choice(s, v)...)...)
	case *ir.Map:
		return b.each(s, v, flow)
	case *ir.Flow:
		return b.child(s, flow)
	case *ir.Human:
		held := b.value(&ir.Reference{Root: "state", Path: []string{d.Token.Key.Name}})
		if d.Token.Fresh {
			held = absent()
		}
		if d.Token.Ask != nil {
			return on("InterruptPrompt", jen.Id("run"), b.node(s), quote(d.Token.Key.Name), quote(d.Token.Resume.Name), held, b.asker(s), b.promptOf(s))
		}
		return on("Interrupt", jen.Id("run"), b.node(s), quote(d.Token.Key.Name), quote(d.Token.Resume.Name), held, b.value(d.Token.Payload))
	}
	return jen.Null()
}

// rules is how the functions with the rules of the engine end.
func (b *tokenBody) rules() string {
	if b.p.WF.Dynamic.Upstream {
		return "Upstream"
	}
	return ""
}

// parameter is the name of a function's parameter for the state.
func parameter(t *ir.Tool) string {
	if t.Def != nil && t.Def.In != nil && len(t.Def.In.Fields) > 0 {
		return t.Def.In.Fields[0].Name
	}
	return "state" // it could not be read
}

// given is what a function is called with: the state, and what the node gives it besides.
func (b *tokenBody) given(t *ir.Token) jen.Code {
	if len(t.Values) == 0 {
		return b.snapshot()
	}
	var more []jen.Code
	for _, e := range t.Values {
		more = append(more, put(e.Key.Name, jen.Add(b.value(e.Value)).Dot("OrNull").Call()))
	}
	return jen.Add(b.snapshot()).Dot("With").Custom(parens(len(more) > 2), more...)
}

func (b *tokenBody) snapshot() jen.Code {
	b.whole = true
	whole := jen.Id("state").Dot("snapshot").Call()
	if b.inside {
		return jen.Id("flow").Dot("State").Call(whole)
	}
	return whole
}

// choice are the arguments of a tool that the state names.
func (b *tokenBody) choice(s *check.Step, v *ir.ToolChoice) []jen.Code {
	return []jen.Code{b.value(v.ID), b.value(v.Tool), b.operand(v.Args), jen.Id(ident(b.g.p.Names.Picks[s]))}
}

// way emits the way of one token: a switch over the node that it has come to, until the end.
func (b *tokenBody) way() {
	var cases []jen.Code
	outer := b.code
	for _, s := range b.p.Body.Steps {
		b.code = nil
		if b.p.Tokens.Cyclic {
			b.add(jen.If(jen.Err().Op(":=").Id("flow").Dot("Step").Call(jen.Id("run"), b.node(s)), jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Id("out"), jen.Err())))
		}
		b.run(s, b.done)
		b.next(s)
		cases = append(cases, jen.Case(quote(s.Node.ID.Name)).Block(b.code...))
	}
	b.code = outer
	b.add(jen.Id("at").Op(":=").Add(quote(b.p.Tokens.Start.Node.ID.Name)))
	b.add(jen.For(jen.Id("at").Op("!=").Qual(graphPath, "End")).Block(jen.Switch(jen.Id("at")).Block(cases...)))
	b.add(b.done())
}

// next emits where the token goes: to the first exit whose condition holds, else to the end.
func (b *tokenBody) next(s *check.Step) {
	target := func(to *check.Step) jen.Code {
		if to == nil {
			return jen.Id("at").Op("=").Qual(graphPath, "End")
		}
		return jen.Id("at").Op("=").Add(quote(to.Node.ID.Name))
	}
	var tests, routed []jen.Code
	var plain jen.Code = target(nil)
	spent := target(nil)
	s.Exits(func(e *ir.Exit, to *check.Step) {
		if e.Spent {
			spent = target(to)
			return
		}
		if e.Routed {
			routed = append(routed, b.place(to))
			return
		}
		if e.When == nil {
			plain = target(to)
			return
		}
		tests = append(tests, jen.Case(b.holds(e.When, 0)).Block(target(to)))
	})
	if len(routed) > 0 {
		plain = jen.Id("at").Op("=").Id("flow").Dot("Route").Call(routed...)
	}
	if len(tests) == 0 {
		b.add(plain)
		return
	}
	if b.limited() {
		tests = append([]jen.Code{jen.Case(jen.Id("flow").Dot("Limited").Call()).Block(spent)}, tests...)
	}
	b.add(jen.Switch().Block(append(tests, jen.Default().Block(plain))...))
}

// holds is a condition as a Go condition; above is as for truth.
func (b *tokenBody) holds(c *ir.Predicate, above int) jen.Code {
	if c.Op == "&&" || c.Op == "||" {
		own := map[string]int{"||": 1, "&&": 2}[c.Op]
		out := jen.Add(b.holds(c.Kids[0], own)).Op(operator(c.Op)).Add(b.holds(c.Kids[1], own))
		if own < above {
			return jen.Parens(out)
		}
		return out
	}
	return jen.Qual(pyPath, ident(comparisons[c.Op])).Call(b.value(c.Kids[0].Ref), b.scalar(c.Kids[1].Lit))
}
