package check

import (
	"fmt"
	"strings"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// What symbols refer to, besides *Step and *Var.
type (
	// Root is one of the names every expression knows: input and state.
	Root struct{ Name string }
	// ErrorOf is `node.error`.
	ErrorOf struct{ Step *Step }
	// FailuresOf is `map.failures` of a map with on_item_error: drop.
	FailuresOf struct{ Step *Step }
	// Param is a field of a tool's input, inside the tool's own templates.
	Param struct{ Field *schema.Field }
)

// env is what an expression can see from where it stands.
type env struct {
	c    *checker
	body *Body // nil inside a tool's templates
	step *Step // the reader; nil at the end of the body
	at   formula
	self bool // the reader's own result is there: set, until, conditions after it

	params *schema.Type // a tool's input, instead of everything else
	quiet  bool         // look only, mark nothing as read
	done   bool         // after success: an own result that on_error: skip makes optional is there
}

func (e *env) Lookup(name string) *expr.Symbol {
	if e.params != nil {
		if f := e.params.Field(name); f != nil {
			return &expr.Symbol{Name: name, Type: f.Type, Ref: &Param{f}}
		}
		return nil
	}
	switch name {
	case "input":
		return &expr.Symbol{Name: name, Type: e.c.inputType, Ref: &Root{name}}
	case "state":
		return e.stateRoot()
	}
	at := *e
	for b := e.body; b != nil; b = b.outer {
		if s := b.byID[name]; s != nil {
			at.body = b
			return at.node(s)
		}
		for _, v := range b.vars {
			if v.Name == name {
				v.Used = true
				return &expr.Symbol{Name: name, Type: v.Type, Ref: v}
			}
		}
		if b.outer != nil { // from inside, the outer body is seen as the enclosing step sees it
			at.step, at.at, at.self = b.parent, b.parent.act, false
		}
	}
	return nil
}

func (e *env) Names() []string {
	if e.params != nil {
		return e.params.FieldNames()
	}
	names := []string{}
	for b := e.body; b != nil; b = b.outer {
		for _, v := range b.vars {
			names = append(names, v.Name)
		}
		for _, s := range b.Steps {
			if s != e.step || e.self {
				names = append(names, s.Node.ID.Name)
			}
		}
	}
	return append(names, "input", "state")
}

// node is the symbol of a step's result as seen from e.
func (e *env) node(s *Step) *expr.Symbol {
	sym := &expr.Symbol{Name: s.Node.ID.Name, Ref: s, Type: s.Node.Result}
	if sym.Type == nil {
		sym.Type = schema.InvalidType
	}
	fail := func(message, help string, related ...diag.Related) *expr.Symbol {
		sym.Type = schema.InvalidType
		sym.Problem = &expr.Problem{Code: diag.NotBefore, Message: message, Help: help, Related: related}
		return sym
	}
	id, here := s.Node.ID.Name, diag.Related{Span: s.Node.ID.Span, Message: "it is defined here"}
	if s == e.step {
		if !e.self {
			return fail(fmt.Sprintf("node %q reads its own result", id), "carry it from one run to the next in `state`")
		}
	} else if !e.precedes(s) {
		if e.step != nil && e.body.reach != nil && e.body.reach[e.step.index].has(s.index) {
			return fail(fmt.Sprintf("%s runs after %s", id, e.step.Node.ID.Name), "only results of nodes that come before can be read", here)
		}
		return fail(fmt.Sprintf("%s does not come before this: no edges lead from it to here", id), "add an edge from `"+id+"`, or read another node", here)
	}
	e.addMembers(sym, s)
	how := present
	if e.body.reach != nil {
		how = e.body.seen(s, e.step, e.at)
	}
	if how == absent {
		sym.Type = schema.InvalidType
		sym.Problem = &expr.Problem{Code: diag.NeverRan, Message: fmt.Sprintf("%s has no result here: %s", id, e.never(s)),
			Help: "read it where it ran, or read `" + id + ".error` behind its catch", Related: []diag.Related{here}}
		return sym
	}
	if !e.quiet {
		s.Read = true
	}
	if e.done && s == e.step {
		sym.Type = sym.Type.Present()
	}
	if how == perhaps {
		if !e.quiet {
			s.Maybe = true
		}
		sym.Absent = true
		sym.Type = schema.OptOf(sym.Type, fmt.Sprintf("%s may not have run here: %s", id, e.body.why(s)))
	}
	return sym
}

// precedes reports whether s has ended whenever the reader runs.
func (e *env) precedes(s *Step) bool {
	return e.step == nil || e.body.reach == nil || e.body.reach[s.index].has(e.step.index)
}

// addMembers gives a step's symbol its pseudo-fields.
func (e *env) addMembers(sym *expr.Symbol, s *Step) {
	add := func(name string, m *expr.Symbol) {
		if sym.Members == nil {
			sym.Members = map[string]*expr.Symbol{}
		}
		sym.Members[name] = m
	}
	if s.Catch {
		m := &expr.Symbol{Name: "error", Type: schema.ErrorType, Ref: &ErrorOf{s}}
		failed := e.body.diagram.without(s.act, s.ok)
		if e.body.weak || !e.body.diagram.implies(e.at, failed) {
			m.Type = schema.InvalidType
			m.Problem = &expr.Problem{Code: diag.NotCaught, Message: sym.Name + ".error can be read only behind its catch",
				Help: "read it in the node that `catch` names, or in nodes after that one alone"}
		} else if !e.quiet {
			s.ErrorRead = true
		}
		add("error", m)
	} else if t := sym.Type.Present(); t.Kind == schema.Struct && t.Field("error") == nil {
		add("error", &expr.Symbol{Name: "error", Type: schema.InvalidType, Problem: &expr.Problem{Code: diag.NotCaught,
			Message: sym.Name + " has no catch, so that nothing runs after it fails", Help: "add `catch: {any: NODE}` to " + sym.Name}})
	}
	if m, ok := dropMap(s); ok && m {
		add("failures", &expr.Symbol{Name: "failures", Type: schema.ListOf(schema.FailureType), Ref: &FailuresOf{s}})
		if !e.quiet {
			s.FailuresRead = true
		}
	}
}

// never says why a step has no result where it is read.
func (e *env) never(s *Step) string {
	if s.Catch && e.body.diagram.implies(e.at, e.body.diagram.without(s.act, s.ok)) {
		return "it failed, and its error was caught"
	}
	return "it runs only when " + e.body.when(s)
}

// why is the condition under which a step's result is there, for messages.
func (b *Body) why(s *Step) string {
	if s.Catch && (b.weak || s.act == always) {
		return "it may have failed"
	}
	return "only when " + b.when(s)
}

// when describes the nearest decisions that lead to a step.
func (b *Body) when(s *Step) string {
	for at := s; ; at = at.in[0].from {
		if len(at.in) == 0 {
			return "it succeeds"
		}
		var ways []string
		for _, a := range at.in {
			if a.decision != nil {
				ways = append(ways, a.decision.describe(a.cases))
			}
		}
		if len(ways) > 0 {
			if len(ways) > 3 {
				ways = append(ways[:3], "...")
			}
			return strings.Join(ways, " or ")
		}
	}
}

// describe says one case of a decision: "plan.route is fix (12:5)".
func (d *Decision) describe(k int) string {
	switch d.Kind {
	case Switch:
		p := d.Value.Text.Span.Start()
		what := "is " + d.Cases[k].Label
		if d.Cases[k].Default {
			what = "is none of its cases"
		}
		return fmt.Sprintf("%s %s (%d:%d)", d.Expr.String(), what, p.Line, p.Col)
	case When:
		p := d.Value.Text.Span.Start()
		return fmt.Sprintf("%s (%d:%d)", d.Cases[k].Label, p.Line, p.Col)
	}
	if k == 0 {
		return d.Step.Node.ID.Name + " succeeds"
	}
	return d.Step.Node.ID.Name + " fails with " + d.Cases[k].Code
}

// Covers reports whether, where the expression stands, at least one of the steps certainly has a result.
func (e *env) Covers(syms []*expr.Symbol) bool {
	f := never
	for _, sym := range syms {
		s, ok := sym.Ref.(*Step)
		if !ok || s.body != e.body || e.body.weak {
			return false
		}
		f = e.body.diagram.or(f, s.ok)
	}
	return e.body != nil && e.body.diagram.implies(e.at, f)
}

// facts are the paths known to be present because of the conditions that led here. Conditions over state say nothing:
// state may have changed since.
func (e *env) facts() expr.Facts {
	facts := expr.Facts{}
	at := e.at
	for b := e.body; b != nil && e.params == nil; b = b.outer {
		if !b.weak && b.diagram != nil {
			for p := range e.c.factsAt(b, at) {
				facts[p] = true
			}
		}
		if b.outer != nil {
			at = b.parent.act
		}
	}
	return facts
}

// factsAt is the part of facts that one body knows where at holds.
func (c *checker) factsAt(b *Body, at formula) expr.Facts {
	if f, ok := b.facts[at]; ok {
		return f
	}
	facts := expr.Facts{}
	for _, i := range b.diagram.support(at) {
		d := b.byIndex[i]
		if d == nil || d.Kind != When || c.readsState(d.Expr) {
			continue
		}
		for k, want := range []bool{true, false} {
			if b.diagram.implies(at, b.diagram.is(d.index, k)) {
				for p := range expr.FactsOf(d.Expr, want) {
					facts[p] = true
				}
			}
		}
	}
	if b.facts == nil {
		b.facts = map[formula]expr.Facts{}
	}
	b.facts[at] = facts
	return facts
}
