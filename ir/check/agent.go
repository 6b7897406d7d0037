package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/goname"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// An Agent is what an agent node runs: the agent that it names with what the node says instead.
type Agent struct {
	Model   *ir.Model
	Tools   []Choice // all that the model can call
	System  *Prompt  // nil: none, or the prompt's file has it
	Prompt  *Prompt
	Pins    []*Pin
	Policy  *ir.Policy   // nil: nothing is written
	PerCall *ir.Duration // of each call of a tool; nil: as the tool says

	Approve []ir.Effects // of calls that a user is asked for

	Messages *Expected // of type list<Message>; nil: none
	Format             // of the last answer

	name   ir.Ident // of the agent or model
	within int64    // the workflow's max_iterations; 0: none
}

// A Pin is a checked pin.
type Pin struct {
	IR     *ir.Pin
	Tool   *ir.Tool
	CallID *Expected // of by_call_id

	Default *Expected // of on_missing: {default: ...}
}

// Required reports whether a pin without a call is an error.
func (p *Pin) Required() bool { return p.IR.OnMissing == "error" }

// Stale reports whether a pin without a call is what an earlier run had.
func (p *Pin) Stale() bool { return p.IR.OnMissing == "stale_last_success" }

// stale checks a pin that an earlier run may fill: it is asked by a call of its own.
func (c *checker) stale(a *Agent, p *Pin) {
	same := 0
	for _, x := range a.Tools {
		if x.Tool == p.Tool {
			same++
		}
	}
	if same > 1 {
		c.report(diag.Diagnostic{Code: diag.Misplaced, Span: p.IR.Name.Span, Message: fmt.Sprintf("tool %q appears more than once in `tools`, and an earlier run does not say which of them it called", p.Tool.Key.Name),
			Help: "write `on_missing: skip` or `on_missing: fail`"})
	}
	if p.IR.Strategy == "by_call_id" {
		c.report(diag.Diagnostic{Code: diag.Misplaced, Span: p.IR.Name.Span, Message: "a pin of one call cannot be filled from an earlier run, which has other calls",
			Help: "write `on_missing: skip` or `on_missing: fail`, or another `strategy`"})
	}
	if !c.allowed(ir.EffectsReads) {
		c.report(diag.Diagnostic{Code: diag.EffectsDenied, Span: p.IR.Name.Span, Message: "querying an earlier run requires effect `reads`, which the policy forbids",
			Help: "allow it in `policy.effects`, or write `on_missing: skip`", Related: related(c.wf.Policy.Span, "the policy is here")})
	}
}

// agent finds what an agent node runs, and completes its verb: keys of the node take the place of those of the agent.
func (c *checker) agent(v *ir.Agent) *Agent {
	c.agents = true
	a := &Agent{name: v.Agent}
	var names []string
	var decl *ir.Agent
	for _, d := range c.wf.Agents {
		names = append(names, d.Name.Name)
		if d.Name.Name == v.Agent.Name {
			decl = &d.Agent
		}
	}
	switch {
	case decl != nil:
		complete(v, decl)
	case v.Model.Name != "":
		if v.Agent.Name != "" {
			c.undeclared("agent", v.Agent, names)
		}
	case strings.Contains(v.Agent.Name, ":") || c.declaresModel(v.Agent.Name):
		v.Model = v.Agent
	case v.Agent.Name != "":
		c.undeclared("agent", v.Agent, names)
	}
	c.agentTools(a, v)
	a.Policy, a.Approve, a.PerCall = v.Policy, v.Approve, v.PerCall
	c.longBound(v.PerCall, "`tool_timeout`")
	if p := c.wf.Policy; p != nil && p.MaxIterations != nil {
		a.within = *p.MaxIterations
	}
	for _, p := range v.Pins {
		a.Pins = append(a.Pins, &Pin{IR: p, Tool: c.pinned(a, p.Tool)})
	}
	return a
}

// agentTools resolves the tools of an agent. Each has a name that no other has, so that the model can tell them apart.
func (c *checker) agentTools(a *Agent, v *ir.Agent) {
	var named []ir.Ident
	for _, x := range v.Tools {
		named = append(named, x.Tool)
	}
	seen := map[string]source.Span{}
	for _, x := range v.Tools {
		if first, dup := seen[x.As.Name]; dup {
			help := "remove one"
			if x.With != nil {
				help = "give one of them another name with `as`"
			}
			c.report(diag.Diagnostic{Code: diag.DuplicateName, Span: x.As.Span, Message: fmt.Sprintf("tool %q appears twice in `tools`", x.As.Name), Help: help,
				Related: related(first, "first listed here")})
			continue
		}
		seen[x.As.Name] = x.As.Span
		if x.Named && x.As.Name == "model" {
			c.report(diag.Diagnostic{Code: diag.BadName, Span: x.As.Span, Message: "`model` is what the calls of the agent's model are called", Help: "choose another name"})
		}
		if t := c.resolveTool(x.Tool, named...); t != nil {
			a.Tools = append(a.Tools, Choice{Name: x.As.Name, Tool: t, Span: x.Tool.Span, Of: x})
		}
	}
}

// pinned is the tool that a pin is about: one of the agent under the name that the model knows, or any other.
func (c *checker) pinned(a *Agent, id ir.Ident) *ir.Tool {
	for _, x := range a.Tools {
		if x.Name == id.Name {
			return x.Tool
		}
	}
	return c.resolveTool(id)
}

// fixed types the arguments of an agent's tools that the model does not choose.
func (c *checker) fixed(a *Agent, v *ir.Agent, e *env) {
	typed := map[*ir.AgentTool]bool{}
	for i := range a.Tools {
		x := &a.Tools[i]
		if x.Of == nil || x.Of.With == nil {
			continue
		}
		typed[x.Of] = true
		in := toolIn(x.Tool)
		switch {
		case in.Kind == schema.Invalid:
			c.poisonEntries(x.Of.With.Entries, e)
			continue
		case in.Kind == schema.Any:
			c.poisonEntries(x.Of.With.Entries, e)
			c.report(diag.Diagnostic{Code: diag.Misplaced, Span: x.Of.With.Span, Message: fmt.Sprintf("tool %q declares no input, so none of its arguments can be fixed", x.Tool.Key.Name),
				Help: "declare its `in`"})
			continue
		}
		chosen := *in // what the model chooses may be missing here
		chosen.Fields = nil
		for _, f := range in.Fields {
			switch {
			case slices.ContainsFunc(x.Of.With.Entries, func(e *ir.Entry) bool { return e.Key.Name == f.Name }):
				chosen.Fields = append(chosen.Fields, f)
			case f.Type.Kind != schema.Invalid:
				free := *f
				free.Default, free.Type = nil, schema.OptOf(f.Type, "")
				chosen.Fields = append(chosen.Fields, &free)
			}
		}
		x.Fixed = c.arguments(x.Of.With.Entries, &chosen, x.Of.With.Span, e, x.Tool.Key.Name, "input")
	}
	for _, x := range v.Tools {
		if x.With != nil && !typed[x] {
			c.poisonEntries(x.With.Entries, e)
		}
	}
}

// Approves reports whether a user is asked before a call of the tool.
func (a *Agent) Approves(t *ir.Tool) bool {
	return t.Approve || slices.Contains(a.Approve, effectsOf(t))
}

// Fixes reports whether arguments of the agent's tools are fixed.
func (a *Agent) Fixes() bool {
	return slices.ContainsFunc(a.Tools, func(x Choice) bool { return len(x.Fixed) > 0 })
}

// Free is what the model chooses of the input of a tool.
func (x *Choice) Free() *schema.Type {
	in := x.Tool.In
	if len(x.Fixed) == 0 {
		return in
	}
	free := *in
	free.Fields = slices.DeleteFunc(slices.Clone(in.Fields), func(f *schema.Field) bool {
		return slices.ContainsFunc(x.Fixed, func(a *Argument) bool { return a.Field == f })
	})
	return &free
}

func (c *checker) declaresModel(name string) bool {
	for _, m := range c.wf.Models {
		if m.Name.Name == name {
			return true
		}
	}
	return false
}

// complete takes from an agent what a node that runs it does not say.
func complete(v, decl *ir.Agent) {
	if v.Model.Name == "" {
		v.Model = decl.Model
	}
	if v.System == nil {
		v.System = decl.System
	}
	if v.Prompt == nil {
		v.Prompt = decl.Prompt
	}
	if v.With == nil {
		v.With = decl.With
	}
	if v.Tools == nil {
		v.Tools = decl.Tools
	}
	if v.PerCall == nil {
		v.PerCall = decl.PerCall
	}
	if v.Policy == nil {
		v.Policy = decl.Policy
	}
	if v.Messages == nil {
		v.Messages = decl.Messages
	}
	if v.Out == nil {
		v.Out = decl.Out
	}
	if v.Reask == 0 {
		v.Reask = decl.Reask
	}
	if v.Approve == nil {
		v.Approve = decl.Approve
	}
	if v.Pins == nil {
		v.Pins = decl.Pins
	}
}

// agentNode types an agent node.
func (c *checker) agentNode(s *Step, v *ir.Agent, e *env) {
	a := s.Agent
	a.Model = c.model(v.Model)
	c.modelPolicy(a.Model, a.name.Span)
	for _, x := range a.Tools {
		c.used[x.Tool] = true
		c.agentEffects(a, x)
	}
	c.fixed(a, v, e)
	if s.AsksFirst() != nil {
		c.mayAsk(s)
	}
	promptWith, systemWith := v.With, (*ir.With)(nil)
	if v.Prompt == nil || v.Prompt.File.Name == "" {
		promptWith, systemWith = nil, v.With
	}
	if v.System == nil || v.System.File.Name == "" {
		if systemWith != nil { // neither is a file: say so where the prompt is
			promptWith, systemWith = v.With, nil
		}
	}
	a.Messages = c.messages(v.Messages, v.Prompt, promptWith, e)
	if v.Prompt == nil && v.Messages != nil {
		a.Prompt = &Prompt{}
	} else if v.Prompt == nil {
		c.report(diag.Diagnostic{Code: diag.MissingKey, Span: s.Node.ID.Span, Message: fmt.Sprintf("%s does not say what the agent has to do", s.Node.ID.Name),
			Help: "add `prompt: ...` to the node, or to the agent"})
		if promptWith != nil {
			c.poisonEntries(promptWith.Entries, e)
		}
	} else {
		a.Prompt = c.prompt(v.Prompt, promptWith, e)
	}
	if v.System != nil {
		a.System = c.prompt(v.System, systemWith, e)
		if a.Prompt != nil && a.Prompt.IR != nil && a.Prompt.IR.System != nil {
			c.report(diag.Diagnostic{Code: diag.Misplaced, Span: v.System.Span, Message: "`system` conflicts with the one in the prompt file",
				Help: "remove one of them", Related: related(v.Prompt.Span, "the file is named here")})
		}
	}
	s.Node.Result = c.agentResult(s, a, v, e)
}

// agentAnswer types what the last answer of an agent has to be; nil: nothing is written.
func (c *checker) agentAnswer(s *Step, a *Agent, v *ir.Agent) *schema.Type {
	if v.Out == nil {
		if v.Reask > 0 {
			c.vainReask(s)
		}
		return nil
	}
	out := c.answer(s, &a.Format, v.Out)
	if a.Answer == nil && out.Kind == schema.String {
		c.report(diag.Diagnostic{Code: diag.Misplaced, Span: s.Node.ID.Span, Message: "`out: string` has no effect on an agent: `response` is the text of its last answer", Help: "remove `out`"})
		return nil
	}
	return out
}

// agentEffects holds one tool of an agent to the agent's own policy.
func (c *checker) agentEffects(a *Agent, x Choice) {
	p := a.Policy
	if p == nil || p.Effects == nil {
		return
	}
	for _, e := range p.Effects {
		if e == effectsOf(x.Tool) {
			return
		}
	}
	c.report(diag.Diagnostic{Code: diag.EffectsDenied, Span: x.Span, Message: fmt.Sprintf("tool %q has effects %s, which the policy of the agent does not allow", x.Tool.Key.Name, effectsOf(x.Tool)),
		Help: "allow it in the agent's `policy.effects`, or remove the tool", Related: related(p.Span, "the policy is here")})
}

// receipts are the outputs of an agent that are there although it failed: Agent Tools 3.1. A pin that has to have a call is not.
func (s *Step) receipts() []*schema.Field {
	if s.Agent == nil || s.Node.Result == nil {
		return nil
	}
	var out []*schema.Field
	for _, f := range s.Node.Result.Fields {
		pin := slices.IndexFunc(s.Agent.Pins, func(p *Pin) bool { return p.IR.Name.Name == f.Name })
		if pin >= 0 && !s.Agent.Pins[pin].Required() || pin < 0 && f.Name != "response" && schema.AgentType.Field(f.Name) != nil {
			out = append(out, f)
		}
	}
	return out
}

// Made reports whether the result of an agent has more than every agent's has: pins, a typed answer, a conversation.
func (a *Agent) Made() bool { return len(a.Pins) > 0 || a.Answer != nil || a.Messages != nil }

// agentResult is the type of an agent's outputs with its pins: Agent Tools 3.1 and 4.2.
func (c *checker) agentResult(s *Step, a *Agent, v *ir.Agent, e *env) *schema.Type {
	answer := c.agentAnswer(s, a, v)
	if !a.Made() && answer == nil { // answer is poison where its type is not known
		return schema.AgentType
	}
	out := &schema.Type{Kind: schema.Struct}
	for _, f := range schema.AgentType.Fields {
		out.Fields = append(out.Fields, &schema.Field{Name: f.Name, GoName: f.GoName, Type: f.Type, Span: s.Node.ID.Span})
	}
	if answer != nil {
		out.Fields = append(out.Fields, &schema.Field{Name: "answer", Type: answer, Description: "the last answer, of the type that is asked for", Span: s.Node.ID.Span})
	}
	if a.Messages != nil {
		out.Fields = append(out.Fields, &schema.Field{Name: "messages", Type: schema.ListOf(schema.MessageType), Description: "the conversation with the prompt and the last answer", Span: s.Node.ID.Span})
	}
	for _, p := range a.Pins {
		if out.Field(p.IR.Name.Name) != nil && schema.AgentType.Field(p.IR.Name.Name) == nil {
			c.report(diag.Diagnostic{Code: diag.DuplicateName, Span: p.IR.Name.Span, Message: fmt.Sprintf("the agent has an output %q", p.IR.Name.Name), Help: "choose another name for the pin"})
			continue
		}
		if schema.AgentType.Field(p.IR.Name.Name) != nil {
			c.report(diag.Diagnostic{Code: diag.DuplicateName, Span: p.IR.Name.Span, Message: fmt.Sprintf("every agent has an output %q", p.IR.Name.Name), Help: "choose another name for the pin"})
			continue
		}
		out.Fields = append(out.Fields, &schema.Field{Name: p.IR.Name.Name, Type: c.pin(a, p, e), Span: p.IR.Name.Span})
	}
	return out
}

// pin types a pin: an optional output of its tool.
func (c *checker) pin(a *Agent, p *Pin, e *env) *schema.Type {
	if p.IR.CallID != nil {
		p.CallID = &Expected{Value: p.IR.CallID, Type: schema.StringType}
		c.value(p.IR.CallID, schema.StringType, e)
	}
	if p.Stale() {
		c.stale(a, p)
	}
	if p.Tool == nil {
		return schema.InvalidType
	}
	listed := false
	for _, x := range a.Tools {
		listed = listed || x.Tool == p.Tool
	}
	if !listed {
		c.used[p.Tool] = true
	}
	if !listed && p.Required() {
		c.report(diag.Diagnostic{Code: diag.PinWithoutTool, Span: p.IR.Tool.Span, Message: fmt.Sprintf("the agent cannot call %q, so pin %q fails every run", p.IR.Tool.Name, p.IR.Name.Name),
			Help: "add the tool to `tools`, or write `on_missing: skip`"})
	} else if !listed && p.IR.Default != nil {
		c.warn(diag.Diagnostic{Code: diag.PinWithoutTool, Span: p.IR.Tool.Span, Message: fmt.Sprintf("the agent cannot call %q, so pin %q always has its default", p.IR.Tool.Name, p.IR.Name.Name),
			Help: "add the tool to `tools`, or remove the unused pin"})
	} else if !listed && !p.Stale() {
		c.warn(diag.Diagnostic{Code: diag.PinWithoutTool, Span: p.IR.Tool.Span, Message: fmt.Sprintf("the agent can no longer call %q, so pin %q is always null", p.IR.Tool.Name, p.IR.Name.Name),
			Help: "add the tool to `tools`, or remove the unused pin"})
	}
	if p.IR.Default != nil {
		t := toolOut(p.Tool).Present()
		p.Default = &Expected{Value: p.IR.Default, Type: t}
		c.value(p.IR.Default, t, e)
		return t
	}
	return schema.OptOf(toolOut(p.Tool), "the agent may not have called "+p.IR.Tool.Name+", or the call failed")
}

// names of an agent node: its agent, its model, the types that its prompts take, and what reads the tools' arguments.
func (n *Names) agent(s *Step, wf *ir.Workflow, prefix string) {
	at := s.Node.ID.Span
	a := s.Agent
	stem := strings.TrimSuffix(n.Nodes[s], "Node")
	n.Agents[s] = n.take(stem+"Agent", at)
	n.model(a.Model, wf, prefix)
	base := prefix + goname.Exported(stem)
	n.prompt(a.Prompt, base+"With")
	n.prompt(a.System, base+"SystemWith")
	for _, x := range a.Tools {
		if len(x.Fixed) == 0 {
			n.args(x.Tool)
		}
	}
	for _, p := range a.Pins {
		if p.Tool != nil && p.Tool.Out != nil {
			n.anonymous(p.Tool.Out, prefix+goname.Exported(p.Tool.Key.Name)+"Out", "is the output of tool "+p.Tool.Key.Name+".", p.Tool.Key.Span)
		}
	}
	n.format(s, &a.Format, base)
	if a.Made() {
		n.Runs[s] = n.take(stem+"Run", at)
	}
}

// args names the function that reads the input of a tool from data.
func (n *Names) args(t *ir.Tool) {
	if in := toolIn(t); n.Args[t] == "" && len(in.Fields) > 0 {
		n.Args[t] = n.take(strings.TrimSuffix(n.Tools[t], "Tool")+"Args", t.Key.Span)
	}
}

// The caps of an agent that says nothing: Agent Tools 5.1.
const (
	defaultIterations = 10
	defaultToolCalls  = 25
)

// Iterations is the most answers of the agent's model: the agent's own bound, but at most the workflow's. It is
// ir.Unbounded when the agent says so and the workflow has none.
func (a *Agent) Iterations() int64 {
	most := a.within
	if p := a.Policy; p != nil && p.MaxIterations != nil {
		own := *p.MaxIterations
		if most == 0 || own != ir.Unbounded && own < most {
			most = own
		}
	}
	if most == 0 {
		return defaultIterations
	}
	return most
}

// ToolCalls is the most calls of the agent's tools, or ir.Unbounded.
func (a *Agent) ToolCalls() int64 {
	if a.Policy == nil || a.Policy.MaxToolCalls == nil {
		return defaultToolCalls
	}
	return *a.Policy.MaxToolCalls
}
