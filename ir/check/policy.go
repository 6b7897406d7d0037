package check

import (
	"fmt"
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// policy checks what the nodes of a body do against what the workflow allows, and tools that should not be used.
func (c *checker) policy(b *Body) {
	for _, s := range b.Steps {
		if s.Body != nil {
			c.policy(s.Body)
		}
		if s.Undo != nil {
			c.policyOf(s.Undo)
		}
		if s.Flow != nil {
			c.flowPolicy(s)
		}
		c.policyOf(s)
	}
}

// policyOf checks the tools of one step.
func (c *checker) policyOf(s *Step) {
	if s.Tool != nil {
		c.toolPolicy(s.Tool, s.Node.Verb.(*ir.ToolCall).Name.Span)
	}
	if s.Pick != nil || s.Agent != nil {
		for _, x := range s.choices() {
			c.toolPolicy(x.Tool, x.Span)
		}
	}
	if r := s.Retry(); r != nil && r.Attempts > 1 && len(s.Tools()) > 0 && s.effects >= ir.EffectsWrites && !s.idempotent() {
		c.warn(diag.Diagnostic{Code: diag.RetriedWrite, Span: r.Span, Message: fmt.Sprintf("%s has effects %s and may be done up to %d times", s.Node.ID.Name, s.effects, r.Attempts),
			Help: "retry only what is safe to repeat: a failure may have happened after the effect; if the other side recognizes a call by its key, give the tool an `idempotency_key`"})
	}
}

// toolPolicy checks one tool that a node calls, or can call.
func (c *checker) toolPolicy(t *ir.Tool, at source.Span) {
	if e := effectsOf(t); !c.allowed(e) {
		c.report(diag.Diagnostic{Code: diag.EffectsDenied, Span: at, Message: fmt.Sprintf("tool %q has effects %s, which the policy does not allow", t.Key.Name, e),
			Help: "allow it in `policy.effects`, or use another tool", Related: related(c.wf.Policy.Span, "the policy is here")})
	}
	c.capabilities(t, at)
	switch t.State {
	case "deprecated":
		c.warn(diag.Diagnostic{Code: diag.Deprecated, Span: at, Message: fmt.Sprintf("tool %q is deprecated", t.Key.Name),
			Help: "use the tool or version that replaces it", Related: related(t.Key.Span, "it is declared here")})
	case "blocked":
		c.report(diag.Diagnostic{Code: diag.Blocked, Span: at, Message: fmt.Sprintf("tool %q is blocked", t.Key.Name),
			Help: "use another tool", Related: related(t.Key.Span, "it is declared here")})
	}
}

func (c *checker) allowed(e ir.Effects) bool {
	if e == ir.EffectsAsks {
		return c.wf.Policy == nil || !c.wf.Policy.NoModels
	}
	return c.wf.Policy == nil || c.wf.Policy.Effects == nil || slices.Contains(c.wf.Policy.Effects, e)
}

// flowPolicy holds a sub-workflow to the policy of the workflow that runs it: a policy of its own can only narrow that.
func (c *checker) flowPolicy(s *Step) {
	if c.wf.Policy == nil {
		return
	}
	v := s.Node.Verb.(*ir.Flow)
	seen := map[*Program]bool{} // a workflow that many ways lead to is looked at once
	var walk func(p *Program) bool
	walk = func(p *Program) bool {
		if seen[p] {
			return true
		}
		seen[p] = true
		for _, t := range p.Body.All() {
			if t.Flow != nil && !walk(t.Flow) {
				return false
			}
			if (t.Question != nil || t.AsksFirst() != nil) && !c.allowed(ir.EffectsReads) {
				c.report(diag.Diagnostic{Code: diag.EffectsDenied, Span: v.Path.Span,
					Message: fmt.Sprintf("workflow %q asks a user, which has effects reads, and the policy does not allow that", p.WF.Name.Name),
					Help:    "allow it in `policy.effects`, or run another workflow",
					Related: append(related(c.wf.Policy.Span, "the policy is here"), related(t.Node.ID.Span, "the question is here")...)})
				return false
			}
			for _, m := range t.Models() {
				if c.allowed(ir.EffectsAsks) {
					continue
				}
				c.report(diag.Diagnostic{Code: diag.EffectsDenied, Span: v.Path.Span,
					Message: fmt.Sprintf("workflow %q asks model %q, which has effects asks, and the policy denies that", p.WF.Name.Name, m.Model.Name),
					Help:    "remove `asks: deny` from the policy, or run another workflow",
					Related: append(related(c.wf.Policy.Span, "the policy is here"), related(t.Node.ID.Span, "the model is asked here")...)})
				return false
			}
			for _, tool := range t.Tools() {
				here := append(related(c.wf.Policy.Span, "the policy is here"), related(t.Node.ID.Span, "the tool is called here")...)
				if missing := ungranted(c.wf.Policy, tool); missing != "" {
					c.report(diag.Diagnostic{Code: diag.NotGranted, Span: v.Path.Span,
						Message: fmt.Sprintf("workflow %q calls tool %q, which needs the capability %q, and the policy does not grant it", p.WF.Name.Name, tool.Key.Name, missing),
						Help:    "add `" + missing + "` to `policy.grants`", Related: here})
					return false
				}
				if c.allowed(effectsOf(tool)) {
					continue
				}
				c.report(diag.Diagnostic{Code: diag.EffectsDenied, Span: v.Path.Span,
					Message: fmt.Sprintf("workflow %q calls tool %q with effects %s, which the policy does not allow", p.WF.Name.Name, tool.Key.Name, effectsOf(tool)),
					Help:    "allow it in `policy.effects`, or run another workflow",
					Related: here})
				return false
			}
		}
		return true
	}
	walk(s.Flow)
}

// unused warns about what nothing uses.
func (c *checker) unused(p *Program) {
	warn := func(at source.Span, message, help string) {
		c.warn(diag.Diagnostic{Code: diag.Unused, Span: at, Message: message, Help: help})
	}
	c.unusedTools()
	ir.BodyExpressions(&c.wf.Body, c.touch)
	for _, o := range c.wf.Output {
		ir.ValueExpressions(o.Value, c.touch)
	}
	for _, f := range c.wf.Input {
		if c.wf.Body.Block == nil && !c.inputRead[f.Name] && !c.inputRead["*"] { // a translator declares what its engine has
			warn(f.Span, "input \""+f.Name+"\" is not read", "remove it, or use `input."+f.Name+"`")
		}
	}
	for _, s := range c.wf.State {
		if s.Open {
			continue // the translator knows what its nodes read and write
		}
		name := s.Name.Name
		switch read := c.stateRead[name] || c.stateRead["*"]; {
		case !read:
			warn(s.Name.Span, "state \""+name+"\" is never read", "remove it, or use `state."+name+"`")
		case !c.stateSet[name]:
			warn(s.Name.Span, "state \""+name+"\" is never set", "add `set: {"+name+": ...}` to a node, or use an input")
		}
	}
	c.unusedResults(p.Body)
	c.silentHandlers(p.Body, func(read func(*expr.Node)) {
		for _, o := range c.wf.Output {
			ir.ValueExpressions(o.Value, read)
		}
	})
}

// unusedTools warns about tools of the file that nothing calls.
func (c *checker) unusedTools() {
	help := "remove it, or move it to a file that is included"
	if c.wf.Public {
		help = "remove it, or call it"
	}
	for _, t := range c.wf.Tools {
		if !c.used[t] && t.File == c.wf.File && len(c.wf.Body.Nodes) > 0 {
			c.warn(diag.Diagnostic{Code: diag.Unused, Span: t.Key.Span, Message: "tool \"" + t.Key.Name + "\" is not used", Help: help})
		}
	}
}

func (c *checker) unusedResults(b *Body) {
	for _, s := range b.Steps {
		if _, performs := s.Node.Verb.(*ir.Perform); performs {
			continue
		}
		if s.Body != nil {
			c.unusedResults(s.Body)
		}
		if !s.Read && !s.Catch && s.effects == ir.EffectsNone && !s.sets() && !checks(s) && !passes(s) {
			c.warn(diag.Diagnostic{Code: diag.Unused, Span: s.Node.ID.Span, Message: "the result of \"" + s.Node.ID.Name + "\" is not read, and it has no effects",
				Help: unusedHelp(s)})
		}
	}
}

// unusedHelp says what to do with a node whose result nobody reads: edges that leave it are needed without it.
func unusedHelp(s *Step) string {
	switch {
	case len(s.after) == 0:
		return "remove it, or use `" + s.Node.ID.Name + "`"
	case s.body.starts(s):
		return "remove it, and write `start` where edges leave it"
	}
	return "remove it, and let its edges leave the node before it"
}

// passes reports a node that computes nothing: dialects have such, to have a name to lead to.
func passes(s *Step) bool {
	l, ok := s.Node.Verb.(*ir.Let)
	return ok && len(l.Fields) == 0 && l.Value == nil
}

// checks reports a node that is there to stop the run, or to hold it up: one that fails or waits, or a Go function that returns only an error.
func checks(s *Step) bool {
	if s.fails() || s.waits() {
		return true
	}
	g, ok := s.Node.Verb.(*ir.GoCall)
	return ok && g.Func.Bind != nil && g.Func.Bind.Err && g.Func.Bind.Out == schema.EmptyType
}

// sets reports whether the step, or something inside it, writes state.
func (s *Step) sets() bool {
	return len(s.Node.Set) > 0 || s.Body != nil && slices.ContainsFunc(s.Body.Steps, (*Step).sets)
}
