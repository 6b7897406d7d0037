package check

import (
	"time"

	"github.com/flowgen-dev/flowgen/ir"
)

// Retry is the step's retry, its own or the workflow's default, which is for calls that may be repeated: those that do
// not write. A retry that bounds attempts and says nothing else is AttemptTimeout alone.
func (s *Step) Retry() *ir.Retry {
	if r := s.Node.Retry; r != nil && (r.Attempts > 0 || r.Timeout == nil) {
		return r
	}
	repeats := s.effects < ir.EffectsWrites || s.Ask != nil || s.Agent != nil // a question can be asked again
	if !s.calls() || s.defaults == nil || !repeats {
		return nil
	}
	if r := s.defaults.Retry; r != nil && (r.Attempts > 0 || r.Timeout == nil) {
		return r
	}
	return nil
}

// calls reports whether defaults of calls are about the step. a user takes the time it takes.
func (s *Step) calls() bool { return len(s.Tools()) > 0 || s.Ask != nil || s.Agent != nil }

// AttemptTimeout bounds one attempt of the step, of an agent each question to its model; 0 means that nothing does but Timeout.
func (s *Step) AttemptTimeout() time.Duration {
	if r := s.Node.Retry; r != nil && r.Timeout != nil {
		return r.Timeout.Value
	}
	if s.Node.Timeout == nil && s.calls() && s.defaults != nil && s.defaults.Retry != nil && s.defaults.Retry.Timeout != nil {
		return s.defaults.Retry.Timeout.Value
	}
	return 0
}

// Timeout bounds the step with all its attempts and the waits between them; 0 means that nothing does.
func (s *Step) Timeout() time.Duration {
	if v, asks := s.Node.Verb.(*ir.Human); asks { // a user takes the time it takes, whatever the default for calls is
		if v.Timeout == nil {
			return 0
		}
		return v.Timeout.Value
	}
	switch {
	case s.Node.Timeout != nil:
		return s.Node.Timeout.Value
	case s.Node.Retry != nil && s.Node.Retry.Timeout != nil:
	case s.calls() && s.defaults != nil && s.defaults.Timeout != nil:
		return s.defaults.Timeout.Value
	}
	return 0
}

// CallTimeout bounds one attempt of a call of t in the step, alone or by an agent; 0 means that nothing does. a user takes the
// time it takes.
func (s *Step) CallTimeout(t *ir.Tool) time.Duration {
	bound := s.AttemptTimeout()
	if s.Agent != nil {
		bound = 0 // that of a question to its model
		if s.Agent.PerCall != nil {
			bound = s.Agent.PerCall.Value
		}
	}
	if own := t.Timeout; own != nil && own.Value > 0 && (bound == 0 || own.Value < bound) {
		bound = own.Value
	}
	if all := s.Timeout(); all > 0 && (bound == 0 || all < bound) {
		if s.Agent == nil || bound > 0 || t.Timeout != nil {
			return all
		}
		return min(all, ir.DefaultTimeout)
	}
	if made, ok := t.Binding.(*ir.Made); bound == 0 && t.Timeout == nil && (!ok || made.Flow == nil) { // the calls in a workflow have theirs
		return ir.DefaultTimeout
	}
	return bound
}

// AskTimeout bounds one attempt of a question of the step to its model.
func (s *Step) AskTimeout() time.Duration {
	bound, all := s.AttemptTimeout(), s.Timeout()
	if bound == 0 && (all == 0 || s.Agent != nil) {
		bound = ir.DefaultTimeout
	}
	if all > 0 && (bound == 0 || all < bound) {
		return all
	}
	return bound
}

// Single reports whether the step makes at most one call with one attempt: then both timeouts are the same.
func (s *Step) Single() bool {
	if s.Agent != nil {
		return false
	}
	if v, ok := s.Node.Verb.(*ir.LLM); ok && v.Reask > 0 {
		return false
	}
	r := s.Retry()
	return r == nil || r.Attempts <= 1
}

// An EdgeView is an edge as people see it; From may be "start", and To "end".
type EdgeView struct{ From, To, Label string }

// Edges lists the edges of a body by the steps they leave: to other steps, and to the end where that was written.
func (b *Body) Edges() []EdgeView {
	back := map[*Step][]*backEdge{}
	for _, l := range b.loops {
		back[l.from] = append(back[l.from], l)
	}
	ends := map[string][]EdgeView{}
	for _, e := range b.IR.Edges {
		ends[e.From.Name] = append(ends[e.From.Name], endEdges(e)...)
	}
	var out []EdgeView
	if b.start != nil {
		out = append(b.start.forward(), ends["start"]...)
	}
	for _, s := range b.Steps {
		out = append(out, s.forward()...)
		id := s.Node.ID.Name
		if s.Undo != nil {
			out = append(out, EdgeView{From: id, To: s.Undo.Node.ID.Name, Label: "undo"})
		}
		for _, l := range back[s] {
			label := "again"
			if l.when != nil {
				label = l.when.Cases[l.repeat].Label
			}
			out = append(out, EdgeView{From: id, To: l.header.Node.ID.Name, Label: label})
		}
		out = append(out, ends[id]...)
		for _, c := range s.Node.Catch {
			if c.Target.Name == "end" {
				out = append(out, EdgeView{From: id, To: "end", Label: "catch " + c.Code.Name})
			}
		}
	}
	return out
}

// forward are the edges to steps that come later.
func (s *Step) forward() []EdgeView {
	var out []EdgeView
	for _, a := range s.out {
		if a.orderOnly {
			continue
		}
		e := EdgeView{From: s.Node.ID.Name, To: a.to.Node.ID.Name}
		if a.decision != nil {
			e.Label = a.decision.Cases[a.cases].Label
		}
		out = append(out, e)
	}
	return out
}

// endEdges are the parts of a written edge that lead to the end.
func endEdges(e *ir.Edge) []EdgeView {
	var out []EdgeView
	add := func(to []ir.Ident, label string) {
		for _, t := range to {
			if t.Name == "end" {
				out = append(out, EdgeView{From: e.From.Name, To: "end", Label: label})
			}
		}
	}
	label := ""
	if e.When != nil {
		label = e.When.Text.Value
	}
	if !e.Back {
		add(e.To, label)
	}
	for _, c := range e.Cases {
		label := c.Value.Source().Text()
		if lit, ok := c.Value.(*ir.Scalar); ok {
			label = lit.Text.Value // without its quotes
		}
		add(c.To, label)
	}
	add(e.Default, "default")
	return out
}
