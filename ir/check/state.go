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

// declareInput makes the type of `input`.
func (c *checker) declareInput() {
	c.inputType = &schema.Type{Kind: schema.Struct, Fields: c.wf.Input}
	for _, f := range c.wf.Input {
		c.defaultFits(f.Default, f.Type)
	}
	for _, t := range c.wf.Types {
		c.fieldDefaults(t.Type)
	}
	for _, t := range c.wf.Tools {
		if t.In != nil && t.In.Go == nil {
			c.fieldDefaults(t.In)
		}
	}
}

func (c *checker) fieldDefaults(t *schema.Type) {
	for _, f := range t.Fields {
		if f.Span.IsZero() {
			continue
		}
		c.defaultFits(f.Default, f.Type)
	}
}

// defaultFits checks a constant against its type.
func (c *checker) defaultFits(d *schema.Default, t *schema.Type) {
	if d == nil || t == nil || t.Kind == schema.Invalid {
		return
	}
	if problem := schema.CheckJSON([]byte(d.JSON), t); problem != "" {
		c.report(diag.Diagnostic{Code: diag.TypeMismatch, Span: d.Span, Message: "this constant does not fit: " + problem})
	}
}

// declareState makes the type of `state` and checks its declarations.
func (c *checker) declareState() {
	c.state = map[string]*ir.State{}
	c.stateType = &schema.Type{Kind: schema.Struct, Open: len(c.wf.State) == 0 && c.wf.Body.Block != nil}
	groups := c.groups()
	for _, s := range c.wf.State {
		c.state[s.Path()] = s
		if s.Open {
			c.openField(s, groups)
			continue
		}
		c.stateType.Fields = append(c.stateType.Fields, &schema.Field{Name: s.Name.Name, Type: s.Type, Span: s.Name.Span})
		c.defaultFits(s.Init, s.Type)
		if s.Merge.Kind == ir.MergeAppend && s.Type.Kind != schema.List && s.Type.Kind != schema.Invalid {
			c.report(diag.Diagnostic{Code: diag.BadMerge, Span: s.Merge.Span, Message: fmt.Sprintf("only a list can be appended to, and %s is %s", s.Name.Name, s.Type),
				Help: "declare it as list<...>, or use another merge rule"})
		}
		if s.Merge.Kind == ir.MergeReducer && s.Merge.Reducer.Bind != nil && s.Merge.Reducer.Bind.Reducer {
			c.reducer(s) // what is not a reducer at all was reported when it was bound
		}
	}
}

// groups declares the groups of an open state.
func (c *checker) groups() map[string]*schema.Type {
	out := map[string]*schema.Type{"": c.stateType}
	for _, name := range c.wf.Groups {
		t := &schema.Type{Kind: schema.Struct, Open: true}
		out[name] = t
		c.stateType.Open = true
		c.stateType.Fields = append(c.stateType.Fields, &schema.Field{Name: name, Type: t, Span: c.wf.Name.Span})
	}
	return out
}

// openField declares a field whose values only a run knows: what is written to it, a function of a dialect holds to its
// type.
func (c *checker) openField(s *ir.State, groups map[string]*schema.Type) {
	t := *schema.DynamicType
	t.Elem, t.Open = s.Type, s.Loose
	in := groups[s.Group]
	if in == nil {
		panic(&Fault{At: s.Name.Span, Message: fmt.Sprintf("the state has no group %q", s.Group)})
	}
	if f := c.given(s); s.Given && f == nil {
		panic(&Fault{At: s.Name.Span, Message: fmt.Sprintf("the state cannot start from input %q: it is not declared", s.Name.Name)})
	}
	in.Open = true
	in.Fields = append(in.Fields, &schema.Field{Name: s.Name.Name, Type: &t, Span: s.Name.Span, Omit: true})
}

// given is the input that a field begins as; nil when there is none.
func (c *checker) given(s *ir.State) *schema.Field {
	for _, f := range c.wf.Input {
		if f.Name == s.Name.Name && f.Type.Kind == schema.Dynamic {
			return f
		}
	}
	return nil
}

// reducer checks that func(old, new T) T is about the field's type.
func (c *checker) reducer(s *ir.State) {
	b := s.Merge.Reducer.Bind
	if schema.Equal(b.Out, s.Type) || schema.Poisoned(b.Out) || schema.Poisoned(s.Type) {
		return
	}
	c.report(diag.Diagnostic{Code: diag.GoReducer, Span: s.Merge.Reducer.Ref.Span,
		Message: fmt.Sprintf("%s.%s cannot merge %s: a reducer is func(old %s, new T) %s", b.Package, b.Func, s.Name.Name, s.Type, s.Type),
		Help:    "change the function, or use last, append or set_once",
		Related: related(b.PosSpan, "it is declared here")})
}

func related(at source.Span, message string) []diag.Related {
	if at.IsZero() {
		return nil
	}
	return []diag.Related{{Span: at, Message: message}}
}

// Zero reports whether a state field has a value from the start without `init`: lists and maps are empty, optionals
// absent.
func Zero(s *ir.State) bool {
	return s.Init != nil || s.Open || s.Type.Kind == schema.Opt || s.Type.Kind == schema.List || s.Type.Kind == schema.Map || s.Type.Kind == schema.Invalid
}

// stateRoot is the symbol `state` as seen from e. Fields that may not have been written yet cannot be read.
func (e *env) stateRoot() *expr.Symbol {
	sym := &expr.Symbol{Name: "state", Type: e.c.stateType, Ref: &Root{"state"}}
	for _, s := range e.c.wf.State {
		if Zero(s) || e.written(s.Name.Name) {
			continue
		}
		if sym.Members == nil {
			sym.Members = map[string]*expr.Symbol{}
		}
		p := unset(s)
		sym.Members[s.Name.Name] = &expr.Symbol{Name: s.Name.Name, Type: schema.InvalidType, Problem: &p}
	}
	return sym
}

func unset(s *ir.State) expr.Problem {
	return expr.Problem{
		Code: diag.StateUnset, Message: "state." + s.Name.Name + " may not have been set here",
		Help: "give it an `init`, or declare it as opt<" + s.Type.String() + ">", Related: []diag.Related{{Span: s.Name.Span, Message: "it is declared here without `init`"}}}
}

// wholeState reports the use of `state` as a whole where some field of it may have no value.
func (c *checker) wholeState(n *expr.Node, e *env) []expr.Problem {
	if e.params != nil || len(c.wf.State) == 0 {
		return nil
	}
	var out []expr.Problem
	fieldsOf(n, "state", func(f string, at *expr.Node) {
		if f != "*" || len(out) > 0 {
			return
		}
		for _, s := range c.wf.State {
			if !Zero(s) && !e.written(s.Name.Name) {
				p := unset(s)
				p.Lo, p.Hi = at.NameLo, at.NameHi
				out = append(out, p)
				return
			}
		}
	})
	return out
}

// maxSetters bounds how many nodes are asked whether one of them has set a field.
const maxSetters = maxCases + 1

// written reports whether a node that certainly ran before, and succeeded, sets the field.
func (e *env) written(field string) bool {
	if e.c.lost {
		return true
	}
	at := *e
	for b := e.body; b != nil; b = b.outer {
		if b.loose || at.wrote && at.step.when == nil && at.step.surelySets(field) || b.wrote(field, &at) {
			return true
		}
		if b.outer != nil {
			at.body, at.step, at.at, at.self, at.wrote = b.outer, b.parent, b.parent.act, false, false
		}
	}
	return false
}

func (b *Body) wrote(field string, at *env) bool {
	f := never
	tries := 0
	for _, t := range slices.Backward(b.setters[field]) {
		if t == at.step || at.step != nil && !b.before(t, at.step) {
			continue
		}
		if b.weak {
			if b.seen(t, at.step, at.at) == present {
				return true
			}
			continue
		}
		if f = b.diagram.or(f, t.ok); b.diagram.implies(at.at, f) {
			return true
		}
		if tries++; tries > maxSetters {
			return false
		}
	}
	return false
}

// addSetter files what a step surely sets, once its body is known.
func (b *Body) addSetter(s *Step) {
	for _, f := range s.sureSets() {
		if b.setters == nil {
			b.setters = map[string][]*Step{}
		}
		b.setters[f] = append(b.setters[f], s)
	}
}

// sureSets lists the fields that a step sets whenever it succeeds. A loop runs at least once, so that it sets what nodes
// in it set that always run.
func (s *Step) sureSets() []string {
	if s.Skips() {
		return nil
	}
	var out []string
	for _, x := range s.Node.Set {
		out = append(out, x.Field.Name)
	}
	if _, loop := s.Node.Verb.(*ir.Loop); loop && s.Body != nil {
		for _, t := range s.Body.Steps {
			if t.ok == always {
				out = append(out, t.sureSets()...)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (s *Step) surelySets(field string) bool { return slices.Contains(s.sureSets(), field) }

// sets checks the `set:` entries of a step.
func (c *checker) sets(s *Step) {
	e := &env{c: c, body: s.body, step: s, at: s.ok, self: true, done: true}
	for _, x := range s.Node.Set {
		field := c.state[x.Field.Name]
		if field == nil {
			var names []string
			for _, f := range c.wf.State {
				names = append(names, f.Name.Name)
			}
			c.lost = true
			c.reportUnknown(diag.UnknownField, fmt.Sprintf("state has no field %q", x.Field.Name), x.Field.Span, x.Field.Name, names)
			c.value(x.Value, schema.InvalidType, e)
			continue
		}
		c.stateSet[field.Name.Name] = true
		set := &SetState{State: field, Value: &Expected{Value: x.Value, Type: field.Type}}
		switch field.Merge.Kind {
		case ir.MergeAppend:
			set.One = c.appendsOne(x.Value, field.Type, e)
			if set.One {
				set.Value.Type = field.Type.Elem
			}
		case ir.MergeReducer:
			set.Value.Type = schema.InvalidType
			if b := field.Merge.Reducer.Bind; b != nil && b.Reducer && schema.Equal(b.Out, field.Type) {
				set.Value.Type = b.Params[1].Type
			}
		}
		c.value(x.Value, set.Value.Type, e)
		s.Sets = append(s.Sets, set)
	}
}

// appendsOne reports whether a value appended to a list is one element rather than a list of them.
func (c *checker) appendsOne(v ir.Value, list *schema.Type, e *env) bool {
	if list.Kind != schema.List {
		return false
	}
	x, ok := v.(*ir.Expr)
	if !ok {
		_, many := v.(*ir.List)
		return !many
	}
	if x.Node == nil || len(expr.Check(x.Node, e, e.facts(x.Node))) > 0 || x.Node.Type.Kind == schema.Invalid {
		return false
	}
	t := x.Node.Type
	return !schema.Assignable(t, list) && (t.Kind != schema.List || schema.Assignable(t, list.Elem))
}
