package check

import (
	"fmt"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
)

// undoStep makes the step of what undoes s.
func (c *checker) undoStep(s *Step) {
	n := s.Node.Undo
	if n == nil {
		return
	}
	s.Undo = &Step{Node: n, body: s.body, defaults: s.defaults, effects: c.nodeEffects(n), undoes: s, Tool: c.resolveTool(n.Verb.(*ir.ToolCall).Name)}
}

// undo types what undoes s. Its arguments are made when s has succeeded, and can read what `set` can.
func (c *checker) undo(s *Step) {
	u := s.Undo
	if u == nil || s.Node.Inline && s.Tool == nil { // the id of the single node of a `do:` is that of its tool, which is misspelled
		return
	}
	c.toolCall(u, u.Node.Verb.(*ir.ToolCall), &env{c: c, body: s.body, step: s, at: s.ok, self: true, done: true})
	c.doubt(u.Node.InDoubt, u.Node.ID.Name, u.Tools())
	if s.Tool == nil || u.Tool == nil {
		return
	}
	at, oe := u.Node.ID.Span, s.Node.OnError
	if oe != nil && oe.Kind == ir.OnErrorDefault {
		c.report(diag.Diagnostic{Code: diag.Misplaced, Span: at, Message: "`undo` has no effect on a node with a default result",
			Help: "write `on_error: skip` or a `catch`: then the result says whether there is anything to undo", Related: related(oe.Span, "the default is here")})
	}
	for _, x := range []struct {
		tool *ir.Tool
		what string
	}{{s.Tool, "there is nothing to undo"}, {u.Tool, "it undoes nothing"}} {
		if e := effectsOf(x.tool); e < ir.EffectsWrites {
			c.warn(diag.Diagnostic{Code: diag.UselessUndo, Span: at, Message: fmt.Sprintf("tool %q has effects %s: %s", x.tool.Key.Name, e, x.what),
				Help: "remove `undo`, or correct `effects` of the tool", Related: related(x.tool.Key.Span, "the tool is declared here")})
			return
		}
	}
}

// Undoes is the step that s undoes; nil for all others.
func (s *Step) Undoes() *Step { return s.undoes }

// Completes reports whether something is done once the step has succeeded: state is written, or its undo noted.
func (s *Step) Completes() bool { return len(s.Sets) > 0 || s.Undo != nil }

// Undoes reports whether something in the workflow, or in one that it runs, can be undone.
func (p *Program) Undoes() bool {
	for _, s := range p.Body.All() {
		if s.Undo != nil || s.Flow != nil && s.Flow.Undoes() {
			return true
		}
	}
	return false
}
