package check

import (
	"encoding/json"
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
	c.stateType = &schema.Type{Kind: schema.Struct}
	for _, s := range c.wf.State {
		c.state[s.Name.Name] = s
		c.stateType.Fields = append(c.stateType.Fields, &schema.Field{Name: s.Name.Name, Type: s.Type, Span: s.Name.Span})
		c.defaultFits(s.Init, s.Type)
		if s.Merge.Kind == ir.MergeAppend && s.Type.Kind != schema.List && s.Type.Kind != schema.Invalid {
			c.report(diag.Diagnostic{Code: diag.BadMerge, Span: s.Merge.Span, Message: fmt.Sprintf("only a list can be appended to, and %s is %s", s.Name.Name, s.Type),
				Help: "declare it as list<...>, or use another merge rule"})
		}
		if s.Merge.Kind == ir.MergeReducer && s.Merge.Reducer.Bind != nil {
			c.reducer(s)
		}
	}
}

// reducer checks the shape func(old T, new V) T.
func (c *checker) reducer(s *ir.State) {
	b := s.Merge.Reducer.Bind
	if !b.Context && !b.Err && len(b.Params) == 2 && schema.Equal(b.Params[0].Type, s.Type) && schema.Equal(b.Out, s.Type) {
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
	return s.Init != nil || s.Type.Kind == schema.Opt || s.Type.Kind == schema.List || s.Type.Kind == schema.Map || s.Type.Kind == schema.Invalid
}

// stateRoot is the symbol `state` as seen from e. Fields that may not have been written yet cannot be read.
func (e *env) stateRoot() *expr.Symbol {
	sym := &expr.Symbol{Name: "state", Type: e.c.stateType, Ref: &Root{"state"}}
	for _, s := range e.c.wf.State {
		if Zero(s) || e.written(s) {
			continue
		}
		if sym.Members == nil {
			sym.Members = map[string]*expr.Symbol{}
		}
		sym.Members[s.Name.Name] = &expr.Symbol{Name: s.Name.Name, Type: schema.InvalidType, Problem: &expr.Problem{
			Code: diag.StateUnset, Message: "state." + s.Name.Name + " may not have been set here",
			Help: "give it an `init`, or declare it as opt<" + s.Type.String() + ">", Related: []diag.Related{{Span: s.Name.Span, Message: "it is declared here without `init`"}}}}
	}
	return sym
}

// written reports whether a node that certainly ran before, and succeeded, sets the field.
func (e *env) written(s *ir.State) bool {
	at := *e
	for b := e.body; b != nil; b = b.outer {
		if b.reach != nil {
			f := never
			for _, t := range b.Steps {
				if (at.precedes(t) && t != at.step || t == at.step && at.self) && t.setsField(s.Name.Name) && !t.Skips() {
					if b.weak && t.ok != always {
						continue
					}
					f = b.diagram.or(f, t.ok)
				}
			}
			if f != never && b.diagram.implies(at.at, f) {
				return true
			}
		}
		if b.outer != nil {
			at.body, at.step, at.at, at.self = b.outer, b.parent, b.parent.act, false
		}
	}
	return false
}

func (s *Step) setsField(name string) bool {
	return slices.ContainsFunc(s.Node.Set, func(x *ir.Set) bool { return x.Field.Name == name })
}

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
			if b := field.Merge.Reducer.Bind; b != nil && len(b.Params) == 2 {
				set.Value.Type = b.Params[1].Type
			}
		}
		c.value(x.Value, set.Value.Type, e)
		s.Sets = append(s.Sets, set)
	}
}

// appendsOne reports whether a value appended to a list is one element rather than a list of them.
func (c *checker) appendsOne(v ir.Value, list *schema.Type, e *env) bool {
	switch v := v.(type) {
	case *ir.List:
		return false
	case *ir.Expr:
		if v.Node == nil || list.Kind != schema.List {
			return false
		}
		look := *e
		look.quiet = true
		if len(expr.Check(v.Node, &look, e.facts())) > 0 || v.Node.Type == nil {
			return false
		}
		return v.Node.Type.Kind != schema.List && schema.Assignable(v.Node.Type, list.Elem)
	case *ir.Object, *ir.Scalar, *ir.Template:
		return list.Kind == schema.List
	}
	return false
}

// stateAccess is what a step, with everything inside it, does to state.
type stateAccess struct {
	reads, writes map[string]source.Span
}

// stateUse collects the state fields a step touches.
func (c *checker) stateUse(s *Step) *stateAccess {
	if a := c.access[s]; a != nil {
		return a
	}
	a := &stateAccess{reads: map[string]source.Span{}, writes: map[string]source.Span{}}
	c.access[s] = a
	read := func(n *expr.Node) {
		n.Walk(func(n *expr.Node) bool {
			if f, ok := stateField(n); ok {
				a.reads[f] = s.Node.ID.Span
			}
			return true
		})
	}
	ir.Expressions(s.Node, read)
	for _, d := range s.after {
		read(d.Expr)
	}
	for _, x := range s.Node.Set {
		a.writes[x.Field.Name] = x.Field.Span
	}
	if s.Body != nil {
		for _, t := range s.Body.Steps {
			for f, at := range c.stateUse(t).writes {
				a.writes[f] = at
			}
		}
	}
	return a
}

// stateField recognises `state.x`.
func stateField(n *expr.Node) (string, bool) {
	if (n.Op == expr.Field || n.Op == expr.OptField) && n.Kids[0].Op == expr.Name && n.Kids[0].Text == "state" {
		return n.Text, true
	}
	return "", false
}

// readsState reports whether an expression depends on state.
func (c *checker) readsState(n *expr.Node) bool {
	found := false
	n.Walk(func(n *expr.Node) bool {
		found = found || n.Op == expr.Name && n.Text == "state"
		return !found
	})
	return found
}

// merges reports whether several branches may write the field at the same time: its rule does not depend on their order,
// or is applied at the join, in file order.
func merges(s *ir.State) bool {
	return s.Merge.Kind == ir.MergeAppend || s.Merge.Kind == ir.MergeReducer
}

// stateRaces reports fields written in one branch and touched in another, and marks the writes that are applied at the
// join. Every item of a map is a branch beside the others.
func (c *checker) stateRaces(b *Body) {
	type user struct {
		s *Step
		a *stateAccess
	}
	var users []user
	for _, s := range b.order {
		if a := c.stateUse(s); len(a.reads)+len(a.writes) > 0 {
			users = append(users, user{s, a})
		}
	}
	for i, u := range users {
		for _, v := range users[i+1:] {
			if b.reach[u.s.index].has(v.s.index) || b.reach[v.s.index].has(u.s.index) {
				continue
			}
			if !b.weak && b.diagram.excludes(u.s.act, v.s.act) {
				continue
			}
			c.race(u.s, v.s, u.a, v.a)
		}
		if _, ok := u.s.Node.Verb.(*ir.Map); ok {
			c.race(u.s, u.s, u.a, u.a)
		}
	}
}

func (c *checker) race(s, t *Step, a, b *stateAccess) {
	for _, f := range c.wf.State {
		name := f.Name.Name
		at, wa := a.writes[name]
		bt, wb := b.writes[name]
		_, ra := a.reads[name]
		_, rb := b.reads[name]
		if s == t {
			wa = wa && c.inside(s, name)
			wb, at = wa, bt
		}
		if !wa && !wb || !(wa || ra) || !(wb || rb) {
			continue
		}
		if wa && wb && !ra && !rb && merges(f) && c.joinable(s, t, name) {
			s.deferSets(name, s == t)
			t.deferSets(name, s == t)
			continue
		}
		if !wa {
			at = bt
		}
		message := fmt.Sprintf("state.%s is written while %s may be using it", name, other(s, t, wa))
		if s == t {
			message = fmt.Sprintf("state.%s is written by all items of %s at the same time", name, s.Node.ID.Name)
		}
		c.report(diag.Diagnostic{Code: diag.StateRace, Span: at, Message: message,
			Help: "put the nodes one after the other, or declare the field with `merge: append` or a reducer and only write it"})
	}
}

// joinable reports whether the writes of two branches can be kept apart and applied at the join: those of the branches'
// own nodes, or those that the nodes of a map's body make for every item.
func (c *checker) joinable(s, t *Step, name string) bool {
	if s == t {
		for _, x := range s.Body.Steps {
			if _, isMap := x.Node.Verb.(*ir.Map); isMap && c.inside(x, name) {
				return false
			}
		}
		return !s.setsField(name)
	}
	nested := func(s *Step) bool { return s.Body != nil && c.inside(s, name) }
	return !nested(s) && !nested(t)
}

func other(s, t *Step, writesFirst bool) string {
	if writesFirst {
		return t.Node.ID.Name
	}
	return s.Node.ID.Name
}

// inside reports whether the body of a map writes the field, as opposed to the map node itself.
func (c *checker) inside(s *Step, name string) bool {
	for _, t := range s.Body.Steps {
		if _, ok := c.stateUse(t).writes[name]; ok {
			return true
		}
	}
	return false
}

// deferSets marks the writes of a step, or with insideOnly those of its body, as applied at the join.
func (s *Step) deferSets(name string, insideOnly bool) {
	if !insideOnly {
		for _, x := range s.Sets {
			if x.State.Name.Name == name {
				x.Deferred = true
			}
		}
	}
	if s.Body != nil {
		for _, t := range s.Body.Steps {
			t.deferSets(name, false)
		}
	}
}

// Constant is the JSON of an init or a default, compacted.
func Constant(d *schema.Default) string {
	var v json.RawMessage
	if json.Unmarshal([]byte(d.JSON), &v) != nil {
		return "null"
	}
	return string(v)
}
