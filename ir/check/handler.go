package check

import (
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

type (
	// ErrorHere is `error` in a handler: the first error that is there, of the steps that can have led to it.
	ErrorHere struct{ Steps []*Step } // the last in order first
	// FailedHere is `error.node`: the id of the node that has the error.
	FailedHere struct{ Steps []*Step }
)

// causes are the steps with a catch whose errors lead to s, the last in order first; nil when s can run without one.
func (b *Body) causes(s *Step) []*Step {
	found, seen := map[*Step]bool{}, map[*Step]bool{}
	var behind func(s *Step) bool
	behind = func(s *Step) bool {
		if seen[s] {
			return true
		}
		seen[s] = true
		if s == b.start || b.starts(s) {
			return false
		}
		for _, a := range s.in {
			switch {
			case a.orderOnly:
			case a.decision != nil && a.decision.Kind == Outcome && a.cases > 0:
				found[a.from] = true
			case !behind(a.from):
				return false
			}
		}
		return true
	}
	if !behind(s) {
		return nil
	}
	var out []*Step
	for _, t := range slices.Backward(b.order) {
		if found[t] {
			out = append(out, t)
		}
	}
	return out
}

// handled is the symbol of `error`, from the inside out; nil where nobody could mean it.
func (e *env) handled() *expr.Symbol {
	if e.c.wf.Public || e.body == nil {
		return nil
	}
	sym := &expr.Symbol{Name: "error", Type: schema.InvalidType}
	for b, s := e.body, e.step; b != nil; b, s = b.outer, b.parent {
		if b.loose {
			return sym
		}
		if s == nil {
			continue
		}
		if steps := b.causes(s); steps != nil {
			sym.Type, sym.Ref = schema.ErrorType, &ErrorHere{steps}
			sym.Members = map[string]*expr.Symbol{"node": {Name: "node", Type: schema.StringType, Ref: &FailedHere{steps}}}
			return sym
		}
	}
	sym.Problem = &expr.Problem{Code: diag.NotCaught, Message: "error can be read only behind a catch",
		Help: "read it in the node that `catch` names, or in nodes after handlers alone"}
	return sym
}

// silentHandlers warns about handlers after which a run that failed succeeds without a word of it. output is what is read at the
// end of the body.
func (c *checker) silentHandlers(b *Body, output func(func(*expr.Node))) {
	if c.wf.Public {
		return
	}
	var q *handlers
	told := map[*Step]bool{}
	for _, s := range b.Steps {
		if s.Body != nil {
			c.silentHandlers(s.Body, func(read func(*expr.Node)) { ir.ValueExpressions(s.Body.IR.Result, read) })
		}
		for _, k := range s.Node.Catch {
			h := b.byID[k.Target.Name]
			if h == nil || told[h] {
				continue
			}
			if q == nil {
				q = b.handlers(output)
			}
			if told[h] = true; !q.silent(h) {
				continue
			}
			c.warn(diag.Diagnostic{Code: diag.SilentHandler, Span: h.Node.ID.Span,
				Message: "the run succeeds although " + s.Node.ID.Name + " failed, and nothing shows that " + h.Node.ID.Name + " ran",
				Help:    "end with a `fail` node, or read what the handler returns or sets where the run ends",
				Related: []diag.Related{{Span: k.Target.Span, Message: "its errors lead here"}}})
		}
	}
}

// handlers is what is known of the steps of a body that run for errors alone.
type handlers struct {
	only    map[*Step]bool
	readers map[*Step][]*Step // nil among them: the end of the body
}

func (b *Body) handlers(output func(func(*expr.Node))) *handlers {
	q := &handlers{only: map[*Step]bool{}, readers: map[*Step][]*Step{}}
	for _, s := range b.order {
		q.only[s] = !b.starts(s) && !slices.ContainsFunc(s.in, func(a *arc) bool {
			return !a.orderOnly && !q.only[a.from] && (a.decision == nil || a.decision.Kind != Outcome || a.cases == 0)
		})
		ir.Expressions(s.Node, q.read(s))
	}
	output(q.read(nil))
	return q
}

// read notes who reads the results of steps.
func (q *handlers) read(reader *Step) func(*expr.Node) {
	return func(n *expr.Node) {
		n.Walk(func(n *expr.Node) bool {
			if n.Sym == nil {
				return true
			}
			if s, ok := n.Sym.Ref.(*Step); ok {
				q.readers[s] = append(q.readers[s], reader)
			}
			return true
		})
	}
}

// silent reports whether all that comes after a handler runs for errors alone, does not fail the run, and nobody else reads it.
func (q *handlers) silent(h *Step) bool {
	after, read := map[*Step]bool{}, []*Step{}
	list := []*Step{h}
	for len(list) > 0 {
		s := list[0]
		list = list[1:]
		switch {
		case after[s]:
			continue
		case !q.only[s] || s.fails() || s.sets():
			return false // the way goes on, or says what became of it
		}
		after[s] = true
		read = append(read, q.readers[s]...)
		for _, a := range s.out {
			if !a.orderOnly {
				list = append(list, a.to)
			}
		}
	}
	return !slices.ContainsFunc(read, func(s *Step) bool { return !after[s] })
}
