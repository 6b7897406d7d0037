package check

import (
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// wait types a node that lets time pass. It has no result.
func (c *checker) wait(s *Step, v *ir.Wait, e *env) {
	if v.Value != nil {
		c.value(v.Value, schema.DurationType, e)
	}
	s.Node.Result = schema.EmptyType
}

// waits reports whether the step lets time pass: nodes on both sides of it in the file keep to it.
func (s *Step) waits() bool {
	_, wait := s.Node.Verb.(*ir.Wait)
	return wait
}

// Rests reports whether the step, or a step inside of it, lets time pass.
func (s *Step) Rests() bool {
	l, loop := s.Node.Verb.(*ir.Loop)
	return s.waits() || loop && l.Every != nil || s.Body != nil && slices.ContainsFunc(s.Body.Steps, (*Step).Rests) ||
		s.Flow != nil && slices.ContainsFunc(s.Flow.Body.Steps, (*Step).Rests)
}

// separate makes nodes without edges keep to those that wait: nodes before one in the file end first, and those after it begin
// later, unless what they read says otherwise.
func (b *Body) separate() {
	from := 0
	var last *Step
	for i, w := range b.Steps {
		if !w.waits() {
			continue
		}
		before, after := reached(w, backwards), reached(w, forwards)
		for _, s := range b.Steps[from:i] {
			if !before[s] && !after[s] {
				b.link(&arc{from: s, to: w, orderOnly: true, why: ByWait})
			}
		}
		if last != nil {
			b.follow(last, b.Steps[from:i])
		}
		from, last = i+1, w
		if before[last] { // a circle, which is reported
			return
		}
	}
	if last != nil {
		b.follow(last, b.Steps[from:])
	}
}

// follow makes steps come after w that do not come before it.
func (b *Body) follow(w *Step, steps []*Step) {
	before, after := reached(w, backwards), reached(w, forwards)
	for _, s := range steps {
		if !before[s] && !after[s] {
			b.link(&arc{from: w, to: s, orderOnly: true, why: ByWait})
		}
	}
}

func backwards(s *Step) (out []*Step) {
	for _, a := range s.in {
		out = append(out, a.from)
	}
	return out
}

func forwards(s *Step) (out []*Step) {
	for _, a := range s.out {
		out = append(out, a.to)
	}
	return out
}

// reached are the steps that arcs lead to from s, or with backwards, from which they lead to s.
func reached(s *Step, next func(*Step) []*Step) map[*Step]bool {
	seen := map[*Step]bool{}
	for list := next(s); len(list) > 0; {
		t := list[len(list)-1]
		list = list[:len(list)-1]
		if !seen[t] {
			seen[t] = true
			list = append(list, next(t)...)
		}
	}
	return seen
}

// pace checks what a loop says of time.
func (c *checker) pace(s *Step, v *ir.Loop) {
	if v.GoOn && v.Until == nil {
		c.report(diag.Diagnostic{Code: diag.Misplaced, Span: s.Node.ID.Span, Message: "`on_max` has no effect without `until`", Help: "remove it: the loop goes on after its last iteration"})
	}
	if v.GoOn && v.Max == 0 && v.Timeout == nil {
		c.report(diag.Diagnostic{Code: diag.Misplaced, Span: s.Node.ID.Span, Message: "`on_max` has no effect without a bound", Help: "write a number as `max`, or add `timeout`"})
	}
	if v.Every != nil || v.Until == nil || c.wf.Public || s.Body == nil || v.Max == 1 || s.Body.rests() {
		return
	}
	if t := s.Body.sameAgain(s.Body); t != nil {
		c.warn(diag.Diagnostic{Code: diag.BusyLoop, Span: s.Node.ID.Span, Message: t.again() + " at once with the same arguments",
			Help: "add `every: 10s` to the loop, or a `wait` node to its body"})
	}
}

// again says what happens to a step in every iteration.
func (s *Step) again() string {
	id := s.Node.ID.Name
	if s.Agent == nil {
		return id + " is called again"
	}
	for _, t := range s.choices() {
		if effectsOf(t.Tool) != ir.EffectsNone {
			return "an agent with the tool " + t.Name + " runs again"
		}
	}
	return id + " runs again"
}

func (b *Body) rests() bool { return slices.ContainsFunc(b.Steps, (*Step).Rests) }

// sameAgain finds a step inside a loop, at any depth, that calls a tool with effects, and nothing that it reads changes from one
// iteration to the next. A loop inside with a condition of its own answers for itself.
func (b *Body) sameAgain(around *Body) *Step {
	for _, s := range b.Steps {
		l, loop := s.Node.Verb.(*ir.Loop)
		switch {
		case loop && l.Until != nil || !s.readsTheSame(around):
		case s.Body != nil:
			if t := s.Body.sameAgain(around); t != nil {
				return t
			}
		case s.touches():
			return s
		}
	}
	return nil
}

// touches reports whether a step calls tools with effects, or lets a model do so.
func (s *Step) touches() bool {
	switch s.Node.Verb.(type) {
	case *ir.ToolCall:
		return s.effects != ir.EffectsNone
	case *ir.ToolChoice, *ir.Agent:
		return (s.Pick != nil || s.Agent != nil) && slices.ContainsFunc(s.choices(), func(t Choice) bool { return effectsOf(t.Tool) != ir.EffectsNone })
	}
	return s.Flow != nil && slices.ContainsFunc(s.Flow.Body.All(), (*Step).touches)
}

// readsTheSame reports whether nothing that a step reads itself changes from one iteration of the loop around it to the next.
func (s *Step) readsTheSame(around *Body) bool {
	same := true
	note := func(v ir.Value) {
		ir.ValueExpressions(v, func(n *expr.Node) {
			n.Walk(func(n *expr.Node) bool {
				same = same && !changes(n, around) && (n.Type == nil || n.Type.Kind != schema.Invalid) // a mistake is reported already
				return same
			})
		})
	}
	ir.Values(s.Node.Verb, note)
	if s.Node.When != nil {
		note(s.Node.When)
	}
	return same
}

// changes reports whether a name means something else in each iteration of a loop, as results in its body do. The items of a map are
// as they were: the map itself has been looked at.
func changes(n *expr.Node, loop *Body) bool {
	if n.Op != expr.Name {
		return false
	}
	if n.Text == "state" || n.Text == "now" {
		return true
	}
	if n.Sym == nil {
		return false
	}
	if t, ok := n.Sym.Ref.(*Step); ok {
		for b := t.body; b != nil; b = b.outer {
			if b == loop {
				return true
			}
		}
	}
	return false
}
