package codegen

import (
	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

const experiencePath = runtimePath + "/openexpertise"

// call is the call that runs a node, once or for each item of its list.
func (b *dynamicBody) call(s *check.Step, flow string) jen.Code {
	d := s.Node.Dynamic
	if d.Each == nil {
		return b.dispatch(s, flow, jen.Id("run"))
	}
	saved := b.roots
	b.roots = map[string]jen.Code{"item": jen.Id("item"), "index": index()}
	for k, v := range saved {
		if b.roots[k] == nil {
			b.roots[k] = v
		}
	}
	body := b.dispatch(s, "flow", jen.Id("run"))
	b.roots = saved
	return jen.Id(ident(flow)).Dot("Each").Call(jen.Id("run"), b.node(s), b.policy(d), b.value(d.Each.Over),
		jen.Func().Params(jen.Id("run").Op("*").Qual(runtimePath, "Run"), jen.Id("flow").Op("*").Qual(experiencePath, "Flow"),
			jen.Id("item").Qual(dynamicPath, "Field"), jen.Id("index").Int64()).
			Params(jen.Qual(experiencePath, "Ended"), jen.Error()).Block(jen.Return(body)))
}

func index() jen.Code { return jen.Qual(dynamicPath, "Whole").Call(jen.Id("index")) }

// dispatch is one call of a node's tool.
func (b *dynamicBody) dispatch(s *check.Step, flow string, run jen.Code) jen.Code {
	d := s.Node.Dynamic
	b.step = s
	switch {
	case s.Ask != nil:
		return b.ask(s, flow)
	case s.Flow != nil:
		return b.child(s, flow)
	}
	if d.Prompt != nil {
		return b.command(s, flow)
	}
	if t, is := s.Tool.Binding.(*ir.DatasetTool); is {
		return b.records(s, t, flow)
	}
	args := jen.Qual(dynamicPath, "Object").Custom(parens(true), b.arguments(s)...)
	if _, module := s.Tool.Binding.(*ir.JSTool); !module || s.Tool.In.Kind != schema.Any {
		return jen.Qual(experiencePath, "Bound").Call(jen.Id(ident(flow)), run, b.node(s), jen.Id(ident(b.g.p.Names.Tools[s.Tool])), b.policy(d), args)
	}
	return jen.Id(ident(flow)).Dot("Tool").Call(run, b.node(s), jen.Id(ident(b.g.p.Names.Tools[s.Tool])), b.policy(d), args)
}

// arguments are what a tool is called with: its args, then loop variables, then what nodes before it handed on and the
// state. Of two with the same name the later counts.
func (b *dynamicBody) arguments(s *check.Step) []jen.Code {
	out := b.entries(s.Node.Dynamic.Args)
	for _, v := range loopVariables {
		if c := b.roots[v.root]; c != nil {
			for _, name := range v.names {
				if name[0] != '_' || !b.p.WF.Dynamic.Upstream {
					out = append(out, put(name, c))
				}
			}
		}
	}
	out = append(out, put("_edge_inputs", b.edgeInputs(s)))
	return append(out, put("_state", b.readable(s)))
}

// loopVariables are the names that tools know what they run for by: the engine's, and those of the page.
var loopVariables = []struct {
	root  string
	names []string
}{
	{"item", []string{"$item", "_item"}}, {"index", []string{"$index", "_item_index"}}, {"pipeline", []string{"$pipeline"}},
	{"iter", []string{"$iter"}}, {"loop", []string{"$loop"}},
}

// edgeInputs are what the nodes that lead to s handed on, by their ids.
func (b *dynamicBody) edgeInputs(s *check.Step) jen.Code {
	if stage := b.roots["stage"]; stage != nil {
		return stage
	}
	var out []jen.Code
	seen := map[*check.Step]bool{}
	s.Routes(func(from *check.Step, _ *ir.Route) {
		if !seen[from] {
			seen[from] = true
			out = append(out, put(from.Node.ID.Name, b.ended(from).Dot("Edge")))
		}
	})
	return jen.Qual(dynamicPath, "Object").Call(out...)
}

// readable is the state that a node sees: all of it, or with the engine's rule what it reads.
func (b *dynamicBody) readable(s *check.Step) jen.Code {
	d := s.Node.Dynamic
	if !b.p.WF.Dynamic.Upstream {
		if len(b.p.WF.State) == 0 {
			return jen.Qual(dynamicPath, "Object").Call()
		}
		b.whole = true
		return jen.Id("state").Dot("snapshot").Call()
	}
	var out []jen.Code
	for _, id := range d.Reads {
		f, _ := b.root(&ir.Reference{Root: "state", Path: []string{id.Name}})
		out = append(out, put(id.Name, f))
	}
	return jen.Qual(dynamicPath, "Object").Call(out...)
}

// policy is what becomes of a node that fails.
func (b *dynamicBody) policy(d *ir.DynamicNode) jen.Code {
	switch {
	case d.Attempts > 1:
		return jen.Qual(experiencePath, "Retry").Call(jen.Lit(d.Attempts), durationCode(d.Base), jen.Lit(d.Double))
	case d.OnSpent == ir.SpentFail:
		return jen.Qual(experiencePath, "Fail")
	}
	return jen.Qual(experiencePath, "Skip")
}

// phaseNode is the variable of the node that a pipeline's or a loop's rounds are scopes of.
func (b *dynamicBody) phaseNode(ph *check.DynamicPhase) jen.Code {
	return jen.Op("&").Id(ident(b.g.p.Names.Phases[ph]))
}

// rounds emits a pipeline or a loop: its nodes, one after the other, in every round.
func (b *dynamicBody) rounds(ph *check.DynamicPhase) {
	var vars []jen.Code
	for _, w := range ph.Waves {
		if !b.again[w[0]] {
			b.again[w[0]] = true
			vars = append(vars, b.ended(w[0]))
		}
	}
	if len(vars) > 0 {
		b.add(jen.Var().List(vars...).Qual(experiencePath, "Ended"))
	}
	outer := b.code
	saved := b.roots
	b.code = nil
	if ph.IR.Kind == ir.PhasePipeline {
		b.roots = map[string]jen.Code{"item": jen.Qual(dynamicPath, "Of").Call(jen.Id("item")), "index": jen.Qual(dynamicPath, "Whole").Call(jen.Int64().Call(jen.Id("i"))),
			"pipeline": jen.Qual(dynamicPath, "Text").Call(quote(ph.IR.ID.Name))}
		b.stages(ph)
	} else {
		b.roots = map[string]jen.Code{"iter": jen.Qual(dynamicPath, "Whole").Call(jen.Int64().Call(jen.Id("i"))), "loop": jen.Qual(dynamicPath, "Text").Call(quote(ph.IR.ID.Name)),
			"stage": jen.Qual(dynamicPath, "Object").Call()}
		if ph.IR.Until != nil {
			b.add(jen.If(b.truth(ph.IR.Until, 0)).Block(jen.Break()))
		}
		b.add(b.round(ph))
		for i, w := range ph.Waves {
			b.stage(w[0], i > 0)
		}
	}
	inside := b.code
	b.code, b.roots = outer, saved
	if ph.IR.Kind == ir.PhaseLoop {
		b.add(jen.For(jen.Id("i").Op(":=").Range().Lit(ph.IR.Max)).Block(inside...))
		return
	}
	items := b.g.p.Names.Phases[ph]
	items = items[:len(items)-len("Node")] + "Items"
	b.add(jen.List(jen.Id(ident(items)), jen.Err()).Op(":=").Id("flow").Dot("Items").Call(jen.Id("run"), b.phaseNode(ph), b.value(ph.IR.Over)), b.returnErr())
	named := []jen.Code{jen.Id("i")}
	if mentions(inside, "item") {
		named = append(named, jen.Id("item"))
	}
	b.add(jen.For(jen.List(named...).Op(":=").Range().Id(ident(items))).Block(inside...))
}

// round opens the scope of a round.
func (b *dynamicBody) round(ph *check.DynamicPhase) jen.Code {
	return jen.Id("run").Op(":=").Id("run").Dot("At").Call(b.phaseNode(ph), jen.Id("i"))
}

// stages are the nodes of a pipeline: one that hands nothing on ends the item.
func (b *dynamicBody) stages(ph *check.DynamicPhase) {
	b.add(b.round(ph))
	for i, w := range ph.Waves {
		stage := jen.Qual(dynamicPath, "Object").Call()
		if i > 0 {
			before := ph.Waves[i-1][0]
			stage = jen.Qual(dynamicPath, "Object").Call(put(before.Node.ID.Name, jen.Id("stage").Dot("Edge")))
		}
		b.roots["stage"] = stage
		b.stage(w[0], i > 0)
		if i < len(ph.Waves)-1 {
			b.add(jen.If(jen.Op("!").Id("stage").Dot("Edge").Dot("Present").Call()).Block(jen.Continue()))
		}
	}
}

// stage runs a node once more.
func (b *dynamicBody) stage(s *check.Step, again bool) {
	op := ":="
	if again {
		op = "="
	}
	b.add(jen.List(jen.Id("stage"), jen.Err()).Op(operator(op)).Add(b.call(s, "flow")), b.returnErr())
	b.add(b.ended(s).Op("=").Add(b.ended(s)).Dot("And").Call(jen.Id("stage")))
}

// child is the run of another experience. Its id is that of the node: runs inside of a run are found by key.
func (b *dynamicBody) child(s *check.Step, flow string) jen.Code {
	names := b.g.p.Names
	return b.answered(s, flow, "Child", nil, jen.Func().Params().Params(jen.Qual(dynamicPath, "Field"), jen.Error()).Block(
		jen.List(jen.Id("out"), jen.Err()).Op(":=").Id(ident(names.Bodies[s.Flow])).Call(jen.Id("run").Dot("In").Call(b.node(s)), jen.Add(b.g.goType(s.Flow.Input)).Values()),
		jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Qual(dynamicPath, "Field").Values(), jen.Err())),
		jen.Return(jen.Qual(dynamicPath, "Object").Custom(parens(true),
			put("runId", jen.Qual(dynamicPath, "Text").Call(quote(s.Node.ID.Name))),
			put("status", jen.Qual(dynamicPath, "Text").Call(jen.Id("out").Dot("Status"))),
			put("finalState", jen.Id("out").Dot("FinalState").Dot("snapshot").Call())), jen.Nil())))
}

// ask is the question of an agent or a skill.
func (b *dynamicBody) ask(s *check.Step, flow string) jen.Code {
	d := s.Node.Dynamic
	var prompt []jen.Code
	if d.System != nil {
		prompt = append(prompt, field("System", b.mixed(d.System)), field("Text", jen.Qual(jsPath, "Indent").Call(b.visible(s))))
	} else {
		prompt = append(prompt, field("Text", b.mixed(d.Prompt)))
	}
	var format []jen.Code
	answer := jen.String()
	if name := b.g.p.Names.Schemas[s]; name != "" {
		format = append(format, field("Schema", jen.Id(ident(name))))
		answer = jen.Qual(runtimePath, "Value")
	}
	question := jen.Qual(llmPath, "Ask").Types(answer).Call(jen.Id("run"), b.node(s), jen.Id(ident(b.g.p.Names.Models[s.Ask.Model])),
		jen.Qual(llmPath, "Prompt").Custom(braces(true), prompt...), jen.Qual(llmPath, "Format").Values(format...))
	if len(format) > 0 {
		return b.answered(s, flow, "Values", jen.Id(ident(b.g.p.Names.Schemas[s])).Dot("JSON"), jen.Func().Params().Params(jen.Qual(runtimePath, "Value"), jen.Error()).Block(jen.Return(question)))
	}
	return b.answered(s, flow, "Text", quote(d.Writes[0].Name), jen.Func().Params().Params(jen.String(), jen.Error()).Block(jen.Return(question)))
}

// answered is the call of a method of the flow that runs a function.
func (b *dynamicBody) answered(s *check.Step, flow, method string, into, f jen.Code) jen.Code {
	args := []jen.Code{jen.Id("run"), b.node(s), b.policy(s.Node.Dynamic)}
	if into != nil {
		args = append(args, into)
	}
	return jen.Id(ident(flow)).Dot(ident(method)).Call(append(args, f)...)
}

// command is the call of the program of a cli-agent.
func (b *dynamicBody) command(s *check.Step, flow string) jen.Code {
	d := s.Node.Dynamic
	run := jen.Qual(runtimePath, "Call").Call(jen.Id("run"), b.node(s), jen.Id(ident(b.g.p.Names.Tools[s.Tool])),
		jen.Add(b.g.inType(s.Tool)).Values(field("Prompt", b.mixed(d.Prompt))))
	if d.JSON {
		fits := jen.Nil()
		if d.Schema != "" {
			fits = jen.Index().Byte().Call(quoteOne(d.Schema))
		}
		return b.answered(s, flow, "Values", fits, jen.Func().Params().Params(jen.Qual(runtimePath, "Value"), jen.Error()).Block(
			jen.List(jen.Id("text"), jen.Err()).Op(":=").Add(run),
			jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Qual(runtimePath, "Null").Call(), jen.Err())),
			jen.Return(jen.Qual(experiencePath, "Unwrap").Call(jen.Id("text")))))
	}
	into := jen.Lit("")
	if len(d.Writes) > 0 {
		into = jen.Add(quote(d.Writes[0].Name))
	}
	return b.answered(s, flow, "Text", into, jen.Func().Params().Params(jen.String(), jen.Error()).Block(jen.Return(run)))
}

// visible is what a skill is told: what it reads, what nodes before it handed on, and its args.
func (b *dynamicBody) visible(s *check.Step) jen.Code {
	var out []jen.Code
	for _, id := range s.Node.Dynamic.Reads {
		f, _ := b.root(&ir.Reference{Root: "state", Path: []string{id.Name}})
		out = append(out, put(id.Name, f))
	}
	s.Routes(func(from *check.Step, _ *ir.Route) {
		out = append(out, put(from.Node.ID.Name, b.ended(from).Dot("Edge")))
	})
	out = append(out, b.entries(s.Node.Dynamic.Args)...)
	for _, v := range loopVariables {
		if c := b.roots[v.root]; c != nil {
			out = append(out, put(v.names[0], c))
		}
	}
	return jen.Qual(dynamicPath, "Object").Custom(parens(len(out) > 2), out...)
}

// mixed is text with values in it.
func (b *dynamicBody) mixed(m *ir.Mixed) jen.Code {
	var out *jen.Statement
	for _, seg := range m.Segments {
		part := quote(seg.Lit)
		if seg.Ref != nil {
			f, path := b.root(seg.Ref)
			if len(path) > 0 {
				f = jen.Add(f).Dot("At").Call(quoteAll(path)...)
			}
			if seg.Ref.Filter == "length" {
				f = jen.Qual(experiencePath, "Length").Call(f)
			}
			part = jen.Qual(experiencePath, "Fill").Call(f, quote(seg.Ref.Text.Value))
		}
		if out == nil {
			out = jen.Add(part)
			continue
		}
		out.Op("+").Add(part)
	}
	if out == nil {
		return quote("")
	}
	return out
}
