package native

import (
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// readVerb reads the value v of the verb's key and the keys that go with it.
func (p *parser) readVerb(verb string, m mapping, v *yamlnode.Node) ir.Verb {
	switch verb {
	case "tool":
		return &ir.ToolCall{Name: p.ref(v, "the name of a tool"), With: p.with(m)}
	case "let":
		return p.let(v)
	case "map":
		return p.mapVerb(m, v)
	case "loop":
		return p.loop(m, v)
	case "flow":
		return p.flow(m, v)
	case "go":
		g := &ir.GoCall{Func: &ir.GoFunc{}, With: p.with(m)}
		if t, ok := p.text(v, "a Go function"); ok {
			g.Func.Ref = p.goRef(t, "Func")
		}
		return g
	case "llm":
		return p.llm(m, v)
	case "agent":
		a := p.agent(m)
		a.Agent = p.ref(v, "an agent")
		return &a
	case "fail":
		return p.fail(m, v)
	case "wait":
		return p.wait(v)
	case "parse":
		return &ir.Parse{Value: p.value(v), Out: p.typeOf(m.get("out"))}
	case "human":
		return p.human(m, v)
	}
	return p.toolChoice(m, v)
}

// with reads the arguments of a call.
func (p *parser) with(m mapping) *ir.With {
	n := m.get("with")
	if n == nil {
		return nil
	}
	if n.Kind != yamlnode.Mapping {
		p.wrongShape(n, "`with` is a mapping from names to values", "")
		return nil
	}
	return &ir.With{Entries: p.entries(n, naming{}), Span: n.Span}
}

func (p *parser) let(v *yamlnode.Node) ir.Verb {
	if v.Kind != yamlnode.Mapping {
		return &ir.Let{Value: p.value(v)}
	}
	return &ir.Let{Fields: p.entries(v, declaredID)}
}

func (p *parser) mapVerb(m mapping, v *yamlnode.Node) ir.Verb {
	x := &ir.Map{Span: m.node.Span, Parallel: ir.DefaultParallel, MaxItems: ir.DefaultMaxItems}
	x.Over = p.over(v)
	outer := len(p.vars)
	if n := m.get("as"); n != nil {
		x.As = p.variable(n)
	}
	if n := m.get("index"); n != nil {
		if id := p.variable(n); id.Name != "" {
			x.Index = &id
		}
	}
	if n := m.get("parallel"); n != nil {
		x.ParallelSpan = n.Span
		if c, ok := p.count(n, "`parallel`", 1); ok {
			x.Parallel = int(c)
		}
	}
	if n := m.get("max_items"); n != nil {
		x.MaxItemsSpan = n.Span
		if c, ok := p.bound(n, "`max_items`"); ok {
			x.MaxItems = c
		}
	}
	if n := m.get("on_item_error"); n != nil {
		p.itemError(x, n)
	}
	x.Do = p.do(m.get("do"))
	p.vars = p.vars[:outer]
	return x
}

// itemError reads what a failed item does. The value in its place is computed before the items, of which it sees none.
func (p *parser) itemError(x *ir.Map, n *yamlnode.Node) {
	if n.Kind != yamlnode.Mapping {
		kinds := map[string]ir.ItemError{"fail": ir.ItemFail, "keep": ir.ItemKeep, "skip": ir.ItemDrop}
		x.OnItemError = kinds[p.word(n, "`on_item_error`", itemWords...)]
		return
	}
	if m, _ := p.mapping(n, shapeOnError); m.has("default") {
		x.OnItemError, x.ItemDefault = ir.ItemDefault, p.value(m.get("default"))
	}
}

var itemWords = []string{"fail", "keep", "skip"}

// over reads what a map goes through: an expression, or a list written out.
func (p *parser) over(v *yamlnode.Node) ir.Value {
	switch val := p.value(v).(type) {
	case *ir.Expr:
		return val
	case *ir.List:
		return val
	default:
		d := diag.Diagnostic{Code: diag.NotExpression, Span: headSpan(v), Message: "`map` iterates over a list: an expression is expected", Help: "write it with `$`"}
		if isScalar(v) && fieldPath.MatchString(v.Text.Value) {
			d.Fixes = []diag.Fix{diag.ReplaceIn(v.Text, textSpan(v.Text), "$"+v.Text.Value)}
			d.Help = d.Fixes[0].Title
		}
		p.say(d)
		return nil
	}
}

// variable reads the name of an item or index, which hides nothing.
func (p *parser) variable(n *yamlnode.Node) ir.Ident {
	t, ok := p.text(n, "the name of a variable")
	if !ok {
		return ir.Ident{}
	}
	id := ir.Ident{Name: t.Value, Span: textSpan(t)}
	p.checkName(id, variableID)
	if first, taken := p.ids[id.Name]; taken {
		p.duplicate("name", id, first, "choose a name that no node has")
	}
	for _, v := range p.vars {
		if v.Name == id.Name {
			p.duplicate("variable", id, v.Span, "inside a map the variables of the maps around it stay visible: choose another name")
		}
	}
	p.vars = append(p.vars, id)
	return id
}

func (p *parser) loop(m mapping, v *yamlnode.Node) ir.Verb {
	x := &ir.Loop{Span: m.node.Span, Max: 1}
	shape := shapeLoop
	if m.node.Get("max") != nil {
		shape = shapeLoopOpen // it is next to the loop, and was reported there
	}
	if isScalar(v) && v.Tag == "!!int" {
		p.rewrite(diag.WrongShape, v.Span, "{max: "+v.Text.Value+"}", "`loop` is a mapping")
	} else if l, ok := p.mapping(v, shape); ok {
		if n := l.get("until"); n != nil {
			x.Until = p.expr(n)
		}
		if n := l.get("max"); n != nil {
			if c, ok := p.bound(n, "`max`"); ok {
				x.Max = c
			}
		}
		x.Timeout = p.duration(l.get("timeout"), "`timeout`")
		if n := l.get("every"); n != nil {
			if x.Every = p.duration(n, "`every`"); x.Every == nil {
				x.Every = &ir.Duration{Span: n.Span} // it is written all the same
			}
		}
		x.GoOn = l.get("on_max") != nil && p.word(l.get("on_max"), "`on_max`", onMaxWords...) == "go_on"
	}
	x.Do = p.do(m.get("do"))
	return x
}

func (p *parser) flow(m mapping, v *yamlnode.Node) ir.Verb {
	x := &ir.Flow{Path: p.ref(v, "a workflow file"), With: p.with(m)}
	if x.Path.Name == "" {
		return x
	}
	x.Flow = p.load.Flow(p.file, x.Path)
	if x.Flow != nil {
		for _, w := range p.wf.Flows {
			if w == x.Flow {
				return x
			}
		}
		p.wf.Flows = append(p.wf.Flows, x.Flow)
	}
	return x
}

func (p *parser) llm(m mapping, v *yamlnode.Node) ir.Verb {
	x := &ir.LLM{Model: p.ref(v, "a model"), Prompt: p.prompt(m.get("prompt")), With: p.with(m), Span: m.node.Span}
	if n := m.get("system"); n != nil {
		x.System = p.textOnly(n, "a system prompt")
	}
	if n := m.get("media"); n != nil {
		x.Media = p.value(n)
	}
	x.Messages = p.value(m.get("messages"))
	x.Out, x.Reask = p.answer(m)
	if x.Messages == nil && !m.has("prompt") && !m.astray {
		p.missingKey(m.node, m.shape, "prompt")
	}
	return x
}

// answer reads what the answer of a model has to be.
func (p *parser) answer(m mapping) (out *schema.Type, reask int) {
	if n := m.get("out"); n != nil {
		out = p.typeOf(n)
	}
	if n := m.get("reask"); n != nil {
		c, _ := p.count(n, "`reask`", 0)
		reask = int(c)
	}
	return out, reask
}

// agent reads the keys of an agent, on a node or under `agents:`.
func (p *parser) agent(m mapping) ir.Agent {
	a := ir.Agent{
		System: p.prompt(m.get("system")), Prompt: p.prompt(m.get("prompt")), With: p.with(m),
		Tools: p.agentTools(m.get("tools")), PerCall: p.duration(m.get("tool_timeout"), "`tool_timeout`"),
		Policy: p.policy(m.get("policy"), shapeAgentPolicy), Span: m.node.Span,
	}
	if n := m.get("model"); n != nil {
		a.Model = p.ref(n, "a model")
	}
	a.Messages = p.value(m.get("messages"))
	a.Out, a.Reask = p.answer(m)
	if m.has("approve") {
		a.Approve = []ir.Effects{} // an empty list asks nobody, whatever the agent says
	}
	for _, e := range p.refs(m.get("approve"), "an effect") {
		if w := p.oneOf(e, "an effect", effectWords); w != "" {
			a.Approve = append(a.Approve, effectKinds[w])
		}
	}
	p.each(m.get("pins"), "pins", declaredID, func(id ir.Ident, v *yamlnode.Node) {
		x := &ir.Pin{Name: id, Strategy: "latest", OnMissing: "null"}
		a.Pins = append(a.Pins, x)
		pin, ok := p.mapping(v, shapePin)
		if !ok {
			return
		}
		if n := pin.get("tool"); n != nil {
			x.Tool = p.ref(n, "the name of a tool")
		}
		if n := pin.get("strategy"); n != nil {
			x.Strategy = p.word(n, "`strategy`", strategyWords...)
		}
		if n := pin.get("call_id"); n != nil {
			x.CallID = p.value(n)
		}
		if n := pin.get("on_missing"); n != nil && n.Kind == yamlnode.Mapping {
			if m, _ := p.mapping(n, shapeOnError); m.has("default") {
				x.OnMissing, x.Default = "default", p.value(m.get("default"))
			}
		} else if n != nil {
			x.OnMissing = missingKinds[p.word(n, "`on_missing`", missingWords...)]
		}
		if x.Strategy == "by_call_id" && !pin.has("call_id") {
			p.missingKey(v, shapePin, "call_id")
		}
	})
	return a
}

// agentTools reads the tools of an agent: names, or mappings that fix arguments.
func (p *parser) agentTools(n *yamlnode.Node) []*ir.AgentTool {
	if n == nil || n.Kind != yamlnode.Sequence {
		return ir.AgentTools(p.refs(n, "the name of a tool")...)
	}
	var out []*ir.AgentTool
	for _, it := range n.Items {
		if it.Kind != yamlnode.Mapping {
			one := *n
			one.Items = []*yamlnode.Node{it}
			out = append(out, ir.AgentTools(p.refs(&one, "the name of a tool")...)...)
			continue
		}
		m, ok := p.mapping(it, shapeAgentTool)
		if !ok || !m.has("tool") {
			continue
		}
		t := &ir.AgentTool{Tool: p.ref(m.get("tool"), "the name of a tool"), With: p.with(m)}
		t.As = t.Tool
		if as := m.get("as"); as != nil {
			if text, ok := p.text(as, "the name that the model sees"); ok {
				t.As, t.Named = ir.Ident{Name: text.Value, Span: textSpan(text)}, true
				p.checkName(t.As, declaredID)
			}
		}
		if t.Tool.Name != "" {
			out = append(out, t)
		}
	}
	return out
}

var (
	strategyWords = []string{"latest", "first_success", "by_call_id"}
	onMaxWords    = []string{"fail", "go_on"}
	missingWords  = []string{"skip", "fail", "keep"}
	missingKinds  = map[string]string{"skip": "null", "fail": "error", "keep": "stale_last_success"}
)

func (p *parser) fail(m mapping, v *yamlnode.Node) ir.Verb {
	x := &ir.Fail{Message: p.textOnly(v, "the message of an error"), Code: "PROVIDER_ERROR", Cause: p.value(m.get("error"))}
	if n := m.get("code"); n != nil {
		if code := p.word(n, "`code`", schema.ErrorCodes...); code != "" {
			x.Code = code
		}
	}
	return x
}

func (p *parser) wait(v *yamlnode.Node) ir.Verb {
	if isScalar(v) && !strings.HasPrefix(v.Text.Value, "$") && !strings.Contains(v.Text.Value, "{{") {
		return &ir.Wait{For: p.duration(v, "`wait`")}
	}
	return &ir.Wait{Value: p.value(v)}
}

func (p *parser) human(m mapping, v *yamlnode.Node) ir.Verb {
	x := &ir.Human{
		Prompt: p.textOnly(v, "a question"), Timeout: p.duration(m.get("timeout"), "`timeout`"),
		OnTimeout: p.onError(m.get("on_timeout"), "`on_timeout`"), Span: m.node.Span,
	}
	if n := m.get("out"); n != nil {
		x.Out = p.typeOf(n)
	}
	return x
}

func (p *parser) toolChoice(m mapping, v *yamlnode.Node) ir.Verb {
	x := &ir.ToolChoice{
		Tool: p.value(v), Args: p.value(m.get("with")), ID: p.value(m.get("id")),
		Allow: p.refs(m.get("allow"), "the name of a tool"), Open: m.get("allow") == nil, Span: m.node.Span,
	}
	if x.Open {
		x.AllowAt = insertion(m.node, "allow")
	}
	if n := m.get("out"); n != nil {
		x.Out = p.typeOf(n)
	}
	return x
}

// identAt is the name that is in [lo, hi) of a text.
func identAt(t source.Text, lo, hi int) ir.Ident {
	return ir.Ident{Name: t.Value[lo:hi], Span: t.At(lo, hi)}
}
