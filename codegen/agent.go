package codegen

import (
	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/goname"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

const agentPath = schema.AgentPath

// agents declares the agents of all nodes, and the functions that pick out their pins.
func (g *generator) agents() {
	var defs []jen.Code
	for _, s := range g.p.Table {
		if s.Agent == nil {
			continue
		}
		spec := g.agent
		if _, made := s.Node.Verb.(*ir.Perform); made {
			spec = g.performAgent
		}
		defs = append(defs, jen.Id(ident(g.p.Names.Agents[s])).Op("=").Add(spec(s)))
	}
	if len(defs) == 0 {
		return
	}
	g.file.Line()
	g.file.Comment("Agents with the tools that their models can call. There are no others.")
	g.file.Var().Defs(defs...)
	for _, s := range g.p.Table {
		if s.Agent != nil && s.Agent.Made() {
			g.agentRun(s)
		}
	}
}

// performAgent is the agent that the function of a node lets work.
func (g *generator) performAgent(s *check.Step) jen.Code {
	v, _ := s.Node.Verb.(*ir.Perform)
	fields := []jen.Code{field("Model", jen.Id(ident(g.p.Names.Models[s.Agent.Model])))}
	var tools []jen.Code
	for _, x := range s.Agent.Tools {
		tools = append(tools, g.use(x))
	}
	if len(tools) > 0 {
		fields = append(fields, field("Tools", jen.Index().Qual(agentPath, "Tool").Custom(braces(true), tools...)))
	}
	for _, f := range v.Agent.Fields {
		t := v.Agent.Type.Field(f.Key)
		fields = append(fields, field(fieldName(t), g.apartAs(f.Value, t.Type)))
	}
	own := *v.Agent.Type.Go
	own.Ptr = false
	return jen.Qual(importPath(own.Path), ident(own.Name)).Custom(braces(true), fields...)
}

func (g *generator) agent(s *check.Step) jen.Code {
	a := s.Agent
	fields := []jen.Code{field("Model", jen.Id(ident(g.p.Names.Models[a.Model])))}
	var tools []jen.Code
	for _, x := range a.Tools {
		tools = append(tools, g.use(x))
	}
	if len(tools) > 0 {
		fields = append(fields, field("Tools", jen.Index().Qual(agentPath, "Tool").Custom(braces(true), tools...)))
	}
	fields = append(fields, field("MaxIterations", agentBound(a.Iterations())))
	if len(tools) > 0 {
		fields = append(fields, field("MaxToolCalls", agentBound(a.ToolCalls())))
	}
	if a.PerCall != nil {
		fields = append(fields, field("ToolTimeout", durationCode(a.PerCall.Value)))
	}
	if p := agentPolicy(a.Policy, a.Approve); p != nil {
		fields = append(fields, field("Policy", p))
	}
	return jen.Qual(agentPath, "Spec").Custom(braces(true), fields...)
}

// use makes a tool callable by a model, which is told its name, what it does and what it takes (Agent Tools 3.3).
func (g *generator) use(x check.Choice) jen.Code {
	if len(x.Fixed) > 0 {
		return jen.Qual(agentPath, "UseFixed").Call(quote(x.Name), quote(x.Tool.Description), jen.Id(ident(g.p.Names.Tools[x.Tool])), g.freeArgs(x), g.schema(schema.JSONSchema(x.Free())))
	}
	args := jen.Code(jen.Qual(valuePath, "NoArgs"))
	if name := g.p.Names.Args[x.Tool]; name != "" {
		args = jen.Id(ident(name))
	} else if x.Tool.In != nil && x.Tool.In.Kind == schema.Any {
		args = jen.Qual(valuePath, "AnyArgs")
	}
	return jen.Qual(agentPath, "Use").Call(quote(x.Name), quote(x.Tool.Description), jen.Id(ident(g.p.Names.Tools[x.Tool])), args, g.schema(inputSchema(x.Tool)))
}

// freeArgs is the function that adds what a model chooses to what the node fixes of a tool's input.
func (g *generator) freeArgs(x check.Choice) jen.Code {
	fn := &function{g: g, names: map[string]bool{}}
	b := &block{fn: fn, scope: &scope{}, fail: returnOut}
	own, shared := "in", x.Tool.In.Go != nil && x.Tool.In.Go.Ptr
	var set []jen.Code
	if shared { // by all calls
		own = "own"
		set = append(set, jen.Id("own").Op(":=").Op("*").Id("in"))
	}
	for _, f := range x.Free().Fields {
		set = append(set, jen.Id(ident(own)).Dot(ident(fieldName(f))).Op("=").Add(g.toolArg(b, f)))
	}
	args := jen.Id("a")
	if len(x.Free().Fields) == 0 {
		args = jen.Id("_")
	}
	typ := g.goType(x.Tool.In)
	result := jen.Id(ident(own))
	if shared {
		result = jen.Op("&").Id(ident(own))
	}
	return jen.Func().Params(args.Op("*").Qual(valuePath, "Args"), jen.Id("in").Add(typ)).Add(typ).Block(append(append(b.code, set...), jen.Return(result))...)
}

func agentBound(n int64) jen.Code {
	if n == ir.Unbounded {
		return jen.Qual(agentPath, "Unbounded")
	}
	return wholeNumber(n)
}

// agentPolicy is what an agent says about itself besides its own caps; nil when that is nothing. What it does not grant
// or deny is the workflow's to say.
func agentPolicy(p *ir.Policy, approve []ir.Effects) jen.Code {
	if p == nil {
		p = &ir.Policy{}
	}
	if p.Effects == nil && p.MaxCostUSD == "" && p.MaxTokens == nil && p.Grants == nil && len(approve) == 0 {
		return nil
	}
	grants := p.Grants
	if grants == nil {
		grants = []string{"*"}
	}
	fields := []jen.Code{field("Grants", jen.Index().String().Values(quoted(grants)...))}
	if p.Effects != nil {
		fields = append(fields, field("Effects", effectsList(p.Effects)))
	}
	if len(approve) > 0 {
		fields = append(fields, field("Approve", effectsList(approve)))
	}
	if p.MaxCostUSD != "" {
		fields = append(fields, field("MaxCostUSD", quote(p.MaxCostUSD)))
	}
	if p.MaxTokens != nil {
		fields = append(fields, field("MaxTokens", wholeNumber(*p.MaxTokens)))
	}
	return jen.Op("&").Qual(runtimePath, "Policy").Values(fields...)
}

func effectsList(list []ir.Effects) jen.Code {
	var effects []jen.Code
	for _, e := range list {
		if e != ir.EffectsAsks { // no tool has it
			effects = append(effects, effectsName(e))
		}
	}
	return jen.Index().Qual(flowPath, "Effects").Values(effects...)
}

// agentRun writes the function that runs the agent of a node and picks out its pins.
func (g *generator) agentRun(s *check.Step) {
	a := s.Agent
	result := g.typeName(s.Node.Result.Present())
	params := []jen.Code{jen.Id("run").Op("*").Qual(flowPath, "Run"), jen.Id("prompt").Qual(llmPath, "Prompt")}
	run := []jen.Code{jen.Id("run"), jen.Op("&").Id(ident(g.p.Names.Nodes[s]))}
	check := jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Id("out"), jen.Err()))
	call := append(run[:2:2], jen.Op("&").Id(ident(g.p.Names.Agents[s])), jen.Id("prompt"))
	var fixed []jen.Code
	if a.Fixes() {
		fixed = append(fixed, jen.Id("fixed").Op("..."))
	}
	failed, unpinned := jen.Err(), jen.Err().Op("!=").Nil()
	if s.ReceiptsRead { // of an agent that failed: pins are picked out then, too
		failed, unpinned = jen.Id("failed"), jen.Err().Op("!=").Nil().Op("&&").Id("failed").Op("==").Nil()
		check = jen.Null()
	}
	code := []jen.Code{jen.List(jen.Id("all"), failed).Op(":=").Qual(agentPath, "Run").Call(append(call[:4:4], fixed...)...), check}
	if a.Answer != nil {
		v, _ := s.Node.Verb.(*ir.Agent)
		code[0] = jen.List(jen.Id("all"), jen.Id("answer"), failed).Op(":=").Qual(agentPath, "Ask").Types(g.goType(a.Answer)).Call(append(append(call[:4:4], g.format(s, v.Reask)), fixed...)...)
	}
	copies := []jen.Code{}
	for _, f := range schema.AgentType.Fields {
		copies = append(copies, field(f.GoName, jen.Id("all").Dot(ident(f.GoName))))
	}
	if a.Answer != nil {
		answer := jen.Id("answer")
		if a.Boxed {
			answer = answer.Dot("Value")
		}
		copies = append(copies, field(fieldName(s.Node.Result.Present().Field("answer")), answer))
	}
	if a.Messages != nil {
		copies = append(copies, field(fieldName(s.Node.Result.Present().Field("messages")), jen.Id("prompt").Dot("Told").Call(jen.Id("all").Dot("Response"))))
	}
	code = append(code, jen.Id("out").Op("=").Add(result).Custom(braces(true), copies...))
	for _, p := range a.Pins {
		f := s.Node.Result.Present().Field(p.IR.Name.Name)
		selector := jen.Qual(agentPath, ident(selectors[p.IR.Strategy])).Call(quote(p.IR.Tool.Name))
		if p.CallID != nil {
			id := pinID(p)
			params = append(params, jen.Id(ident(id)).String())
			selector = jen.Qual(agentPath, "ByCallID").Call(quote(p.IR.Tool.Name), jen.Id(ident(id)))
		}
		switch {
		case p.Required():
			selector = selector.Dot("Required").Call()
		case p.Stale():
			selector = selector.Dot("Stale").Call(quote(p.IR.Name.Name), quote(p.Tool.FullName()))
		}
		if p.Default != nil {
			id := goname.Local(p.IR.Name.Name + "_default")
			params = append(params, jen.Id(ident(id)).Add(g.goType(f.Type)))
			pick := jen.Qual(agentPath, "PinOr").Call(append(run[:2:2], jen.Id("all"), selector, jen.Id(ident(id)))...)
			code = append(code, jen.If(jen.List(jen.Id("out").Dot(ident(fieldName(f))), jen.Err()).Op("=").Add(pick), unpinned).Block(jen.Return(jen.Id("out"), jen.Err())))
			continue
		}
		pick := jen.Qual(agentPath, "Pin").Types(g.goType(f.Type.Present())).Call(append(run[:2:2], jen.Id("all"), selector)...)
		code = append(code, jen.If(jen.List(jen.Id("out").Dot(ident(fieldName(f))), jen.Err()).Op("=").Add(pick), unpinned).Block(jen.Return(jen.Id("out"), jen.Err())))
	}
	if !s.ReceiptsRead {
		failed = jen.Nil()
	}
	code = append(code, jen.Return(jen.Id("out"), failed))
	if a.Fixes() {
		params = append(params, jen.Id("fixed").Op("...").Qual(agentPath, "Fixed"))
	}
	name := g.p.Names.Runs[s]
	g.file.Line()
	does := "picks out its pins."
	if len(a.Pins) == 0 {
		does = "makes its result."
	}
	g.file.Add(comment(name + " runs the agent of " + s.Node.ID.Name + " and " + does))
	g.file.Func().Id(ident(name)).Params(params...).Params(jen.Id("out").Add(result), jen.Err().Error()).Block(code...)
}

var selectors = map[string]string{"latest": "Latest", "first_success": "FirstSuccess", "by_call_id": "ByCallID"}

// callForm is a call with its arguments on one line or, where some fix arguments of tools, on lines of their own.
func callForm(fixed []jen.Code) jen.Options {
	form := multiline
	form.Multi = len(fixed) > 0
	return form
}

// pinID is the parameter with the call that a pin is about.
func pinID(p *check.Pin) string { return goname.Local(p.IR.Name.Name + "_id") }

// agentCall writes an agent node. The result and what its failure does are those of any call.
func (b *block) agentCall(s *check.Step) {
	g, a := b.fn.g, s.Agent
	var system []jen.Code
	if a.System != nil {
		system = b.promptText(a.System, "System", a.System.IR.Text)
	}
	var prompt []jen.Code
	if a.Prompt.IR != nil {
		prompt = b.promptText(a.Prompt, "Text", a.Prompt.IR.Text)
	}
	if a.Messages != nil {
		prompt = append([]jen.Code{field("Messages", b.value(a.Messages))}, prompt...)
	}
	fields := append(system, prompt...)
	literal := jen.Qual(llmPath, "Prompt").Custom(braces(len(fields) > 1), fields...)
	var fixed []jen.Code
	for _, x := range a.Tools {
		if len(x.Fixed) > 0 {
			fixed = append(fixed, jen.Qual(agentPath, "Fix").Call(quote(x.Name), b.inputLiteral(x.Tool.In, x.Fixed)))
		}
	}
	if !a.Made() {
		args := append([]jen.Code{jen.Id("run"), b.fn.node(s), jen.Op("&").Id(ident(g.p.Names.Agents[s])), literal}, fixed...)
		b.handled(s, jen.Qual(agentPath, "Run").Custom(callForm(fixed), args...), nil, nil)
		return
	}
	args := []jen.Code{jen.Id("run"), literal}
	for _, p := range a.Pins {
		if p.CallID != nil {
			args = append(args, b.value(p.CallID))
		}
		if p.Default != nil {
			args = append(args, b.value(p.Default))
		}
	}
	b.handled(s, jen.Id(ident(g.p.Names.Runs[s])).Custom(callForm(fixed), append(args, fixed...)...), nil, nil)
}
