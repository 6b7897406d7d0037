package check

import (
	"fmt"
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// Cases are test cases that fit their workflow. Only CheckCases makes them.
type Cases struct {
	IR      *ir.CaseFile
	Program *Program

	json  map[ir.Value]string
	types map[ir.Value]*schema.Type
}

// JSON is a value of the file as JSON of the type it stands for; conditions stay mappings with a `$` key.
func (c *Cases) JSON(v ir.Value) string { return c.json[v] }

// Type is the type of what a value of the file is compared with.
func (c *Cases) Type(v ir.Value) *schema.Type { return c.types[v] }

// CheckCases holds a file of test cases to the workflow: every field, node and key is real, every value has the type of
// what it is compared with. It returns nil when something was reported.
func CheckCases(p *Program, f *ir.CaseFile, sink *diag.Sink) *Cases {
	before := sink.Errors()
	c := &caseChecker{checker: &checker{wf: p.WF, sink: sink, cases: true}, p: p, out: &Cases{IR: f, Program: p, json: map[ir.Value]string{}, types: map[ir.Value]*schema.Type{}}}
	for _, x := range f.Cases {
		c.testCase(x)
	}
	if sink.Errors() > before {
		return nil
	}
	return c.out
}

type caseChecker struct {
	*checker
	p   *Program
	out *Cases
}

func (c *caseChecker) testCase(x *ir.TestCase) {
	c.input(x)
	for _, a := range x.Answers {
		c.answer(a)
	}
	w := &x.Want
	c.fields(w.Output, c.p.Output, "the output")
	c.fields(w.State, c.p.State, "the state")
	for _, call := range w.Calls {
		c.call(call)
	}
	for _, id := range w.Order {
		c.exact(id, c.resolve(id))
	}
	if w.Error == nil {
		return
	}
	if id := w.Error.Node; id.Name != "" {
		var names []string
		for _, s := range c.p.Table {
			names = append(names, s.Node.ID.Name)
		}
		if !slices.Contains(names, id.Name) {
			c.reportUnknown(diag.UnknownName, fmt.Sprintf("the workflow has no node %q", id.Name), id.Span, id.Name, names)
		}
	}
	c.message(w.Error)
}

func (c *caseChecker) message(e *ir.WantError) {
	if e != nil && e.Message != nil {
		c.expect(e.Message, schema.StringType)
	}
}

// input checks the fields that the run is given: all that have no default.
func (c *caseChecker) input(x *ir.TestCase) {
	at := x.Name.Span
	before := c.sink.Errors()
	in := *c.p.Input
	in.Fields = slices.Clone(in.Fields)
	for i, f := range in.Fields {
		field := *f
		if field.Type = declared(f.Type); !f.Required() && field.Required() && f.Default == nil {
			field.Type = schema.OptOf(field.Type, "a run may omit it")
		}
		in.Fields[i] = &field
	}
	c.arguments(x.Input, &in, at, &env{c: c.checker}, c.p.WF.Name.Name, "input")
	if c.sink.Errors() > before {
		return
	}
	for _, e := range x.Input {
		c.out.json[e.Value] = writeJSON(e.Value, in.Field(e.Key.Name).Type)
	}
}

// fields checks what is expected of the fields of the output or the state.
func (c *caseChecker) fields(list []*ir.Entry, t *schema.Type, what string) {
	for _, e := range list {
		var f *schema.Field
		var names []string
		if t != nil {
			f, names = t.Field(e.Key.Name), t.FieldNames()
		}
		switch {
		case f != nil:
			c.expect(e.Value, f.Type)
		case len(names) == 0:
			c.report(diag.Diagnostic{Code: diag.UnknownField, Span: e.Key.Span, Message: what + " has no fields", Help: "leave this out"})
		default:
			c.noField(what, e.Key, names)
		}
	}
}

// answer checks what a user is made to say.
func (c *caseChecker) answer(e *ir.Entry) {
	called := c.resolve(e.Key)
	if called == nil {
		return
	}
	if called.question == nil {
		c.report(diag.Diagnostic{Code: diag.TypeMismatch, Span: e.Key.Span, Message: fmt.Sprintf("%s is not a question", e.Key.Name), Help: "answers are for nodes with `human`"})
		return
	}
	s, ok := e.Value.(*ir.Scalar)
	if !ok {
		return // reported
	}
	if s.Tag == "!!null" {
		c.out.json[s] = "null"
		return
	}
	before := c.sink.Errors()
	c.scalar(s, called.question)
	if c.sink.Errors() == before {
		c.out.json[s] = writeJSON(s, schema.StringType) // as it is typed
	}
}

func (c *caseChecker) call(w *ir.WantCall) {
	called := c.resolve(w.Key)
	if called == nil {
		return
	}
	if w.Input != nil {
		c.expect(w.Input, called.in)
	}
	if w.Output != nil {
		c.expect(w.Output, called.out)
	}
	c.message(w.Error)
	if w.Output != nil && w.Error != nil {
		c.report(diag.Diagnostic{Code: diag.Misplaced, Span: w.Key.Span, Message: "a call that ends with an error has no output", Help: "leave out `output` or `error`"})
	}
	if w.Times != nil && *w.Times == 0 && (w.Input != nil || w.Output != nil || w.Error != nil || w.Cached != nil || w.Attempts != nil) {
		c.report(diag.Diagnostic{Code: diag.Misplaced, Span: w.Key.Span, Message: "expectations about calls that are not made are meaningless", Help: "leave out `times: 0`, or the rest"})
	}
}

// exact reports a key that stands for several calls where one is needed.
func (c *caseChecker) exact(id ir.Ident, called *called) {
	if called != nil && called.wild {
		c.report(diag.Diagnostic{Code: diag.BadLiteral, Span: id.Span, Message: "an order lists single calls: `*` is not allowed here", Help: "write the index of the item or the visit"})
	}
}

// expect checks a value, in which there may be conditions, against the type of what it is compared with.
func (c *caseChecker) expect(v ir.Value, t *schema.Type) {
	before := c.sink.Errors()
	c.expected(v, t)
	if t = declared(t); c.sink.Errors() == before {
		c.out.json[v], c.out.types[v] = writeJSON(v, t), t
	}
}

func (c *caseChecker) expected(v ir.Value, t *schema.Type) {
	if s, ok := v.(*ir.Scalar); ok && s.Tag == "!!null" && t.Kind == schema.Dynamic {
		return // engines let it be null, whatever is declared
	}
	t = declared(t)
	if name, arg := ir.Condition(v); arg != nil {
		c.condition(name, arg, t)
		return
	}
	switch v := v.(type) {
	case *ir.Scalar:
		c.scalar(v, t)
	case *ir.List:
		elem := elemOf(t, schema.List)
		if elem == nil {
			c.mismatch(v.Span, t, "a list")
			return
		}
		for _, it := range v.Items {
			c.expected(it, elem)
		}
	case *ir.Object:
		c.members(v, t, true)
	}
}

// declared is the type that dynamic data is declared with, any where it is not, or where that only describes it; other types are as they are.
func declared(t *schema.Type) *schema.Type {
	switch {
	case t == nil || t.Kind != schema.Dynamic:
		return t
	case t.Elem == nil, t.Open:
		return schema.AnyType
	}
	return t.Elem
}

// members checks a mapping; whole says that it must have all fields.
func (c *caseChecker) members(v *ir.Object, t *schema.Type, whole bool) {
	to := t.Present()
	if to.Kind != schema.Struct {
		elem := elemOf(t, schema.Map)
		if elem == nil {
			c.mismatch(v.Span, t, "a mapping")
			return
		}
		for _, e := range v.Entries {
			c.expected(e.Value, elem)
		}
		return
	}
	given := map[string]bool{}
	for _, e := range v.Entries {
		f := to.Field(e.Key.Name)
		if f == nil {
			whole = false // it may be one of those that are missing
			c.noField(to.String(), e.Key, to.FieldNames())
			continue
		}
		given[f.Name] = true
		c.expected(e.Value, f.Type)
	}
	for _, f := range to.Fields {
		if whole && !given[f.Name] && f.Type.Kind != schema.Opt && f.Type.Kind != schema.Dynamic {
			c.report(diag.Diagnostic{Code: diag.MissingField, Span: v.Span, Message: fmt.Sprintf("field %q of %s is missing", f.Name, to),
				Help: "add it, or compare only some fields with `{$has: {...}}`"})
			return
		}
	}
}

// elemOf is the type of the elements of a list or map; nil when t is something else.
func elemOf(t *schema.Type, k schema.Kind) *schema.Type {
	switch to := t.Present(); to.Kind {
	case k:
		return to.Elem
	case schema.Any, schema.Invalid:
		return to
	}
	return nil
}

// condition checks `{$name: arg}` on a value of type t.
func (c *caseChecker) condition(name ir.Ident, arg ir.Value, t *schema.Type) {
	to := t.Present()
	dynamic := to.Kind == schema.Any || to.Kind == schema.Invalid
	text := to.Kind == schema.String || to.Kind == schema.Enum || dynamic
	on := func(ok bool, what string) bool {
		if !ok {
			c.report(diag.Diagnostic{Code: diag.TypeMismatch, Span: name.Span, Message: fmt.Sprintf("`%s` is for %s, this is %s", name.Name, what, t)})
		}
		return ok
	}
	switch name.Name {
	case "$contains":
		switch {
		case to.Kind == schema.List:
			c.expected(arg, to.Elem)
		case on(text, "text and lists"):
			if !dynamic {
				c.scalarOf(arg, schema.StringType)
			}
		}
	case "$matches":
		if on(text, "text") {
			c.pattern(arg)
		}
	case "$min", "$max":
		if on(to.Kind == schema.Int || to.Kind == schema.Float || dynamic, "numbers") {
			c.scalarOf(arg, schema.FloatType)
		}
	case "$size":
		if on(to.Kind == schema.List || to.Kind == schema.Map || text, "text, lists and maps") {
			c.expected(arg, schema.IntType)
		}
	case "$has":
		o, ok := arg.(*ir.Object)
		switch {
		case !on(to.Kind == schema.Struct || to.Kind == schema.Map || dynamic, "mappings"):
		case !ok:
			c.mismatch(arg.Source(), t, "no mapping")
		default:
			c.members(o, t, false)
		}
	case "$any":
		if s, ok := arg.(*ir.Scalar); !ok || s.Tag != "!!bool" || s.Text.Value != "true" {
			c.report(diag.Diagnostic{Code: diag.BadLiteral, Span: arg.Source(), Message: "`$any` is written `{$any: true}`: any value but null"})
		}
	default:
		c.reportUnknown(diag.UnknownWord, fmt.Sprintf("unknown condition `%s`", name.Name), name.Span, name.Name, ir.Conditions)
	}
}

func (c *caseChecker) scalarOf(v ir.Value, t *schema.Type) {
	s, ok := v.(*ir.Scalar)
	if !ok {
		c.mismatch(v.Source(), t, "no single value")
		return
	}
	c.scalar(s, t)
}
