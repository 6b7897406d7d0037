package check

import (
	"fmt"
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
)

// policy checks what the nodes of a body do against what the workflow allows, and tools that should not be used.
func (c *checker) policy(b *Body) {
	for _, s := range b.Steps {
		if s.Body != nil {
			c.policy(s.Body)
		}
		if s.Tool == nil {
			continue
		}
		v := s.Node.Verb.(*ir.ToolCall)
		e := effectsOf(s.Tool)
		if p := c.wf.Policy; p != nil && p.Effects != nil && !slices.Contains(p.Effects, e) {
			c.report(diag.Diagnostic{Code: diag.EffectsDenied, Span: v.Name.Span, Message: fmt.Sprintf("tool %q has effects %s, which the policy does not allow", s.Tool.Key.Name, e),
				Help: "allow it in `policy.effects`, or use another tool", Related: related(p.Span, "the policy is here")})
		}
		switch s.Tool.State {
		case "deprecated":
			c.warn(diag.Diagnostic{Code: diag.Deprecated, Span: v.Name.Span, Message: fmt.Sprintf("tool %q is deprecated", s.Tool.Key.Name),
				Help: "use the tool or version that replaces it", Related: related(s.Tool.Key.Span, "it is declared here")})
		case "blocked":
			c.report(diag.Diagnostic{Code: diag.Blocked, Span: v.Name.Span, Message: fmt.Sprintf("tool %q is blocked", s.Tool.Key.Name),
				Help: "use another tool", Related: related(s.Tool.Key.Span, "it is declared here")})
		}
		r := s.Node.Retry
		if r == nil {
			r = c.wf.Defaults.Retry
		}
		if r != nil && r.Attempts > 1 && e >= ir.EffectsWrites {
			c.warn(diag.Diagnostic{Code: diag.RetriedWrite, Span: r.Span, Message: fmt.Sprintf("%s has effects %s and may be done up to %d times", s.Node.ID.Name, e, r.Attempts),
				Help: "retry only what is safe to repeat; a failure may have happened after the effect"})
		}
	}
}

// unused warns about what nothing uses.
func (c *checker) unused(p *Program) {
	if c.sink.HasErrors() {
		return // a mistake elsewhere may be what keeps it from being used
	}
	for _, t := range c.wf.Tools {
		if !c.used[t] && t.File == c.wf.File && len(c.wf.Body.Nodes) > 0 && !c.named(t) {
			c.warn(diag.Diagnostic{Code: diag.Unused, Span: t.Key.Span, Message: "tool \"" + t.Key.Name + "\" is not used", Help: "remove it, or move it to a file that is included"})
		}
	}
	ir.BodyExpressions(&c.wf.Body, c.touch)
	for _, o := range c.wf.Output {
		ir.ValueExpressions(o.Value, c.touch)
	}
	for _, f := range c.wf.Input {
		if !c.inputRead[f.Name] && !c.inputRead["*"] {
			c.warn(diag.Diagnostic{Code: diag.Unused, Span: f.Span, Message: "input \"" + f.Name + "\" is not read", Help: "remove it, or use `input." + f.Name + "`"})
		}
	}
	for _, s := range c.wf.State {
		if !c.stateRead[s.Name.Name] && !c.stateRead["*"] {
			c.warn(diag.Diagnostic{Code: diag.Unused, Span: s.Name.Span, Message: "state \"" + s.Name.Name + "\" is never read", Help: "remove it, or use `state." + s.Name.Name + "`"})
		}
	}
	c.unusedResults(p.Body)
}

// named reports whether an agent or a tool_call, which this version does not compile, names the tool.
func (c *checker) named(t *ir.Tool) bool {
	return len(c.wf.Agents) > 0
}

func (c *checker) unusedResults(b *Body) {
	for _, s := range b.Steps {
		if s.Body != nil {
			c.unusedResults(s.Body)
		}
		if !s.Read && s.Effects() == ir.EffectsNone && len(s.Node.Set) == 0 && s.Body == nil {
			c.warn(diag.Diagnostic{Code: diag.Unused, Span: s.Node.ID.Span, Message: "the result of \"" + s.Node.ID.Name + "\" is not read, and it has no effects",
				Help: "remove it, or use `" + s.Node.ID.Name + "`"})
		}
	}
}
