package check

import (
	"fmt"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// step types everything a step holds, and the decisions that fall after it.
func (c *checker) step(s *Step) {
	e := &env{c: c, body: s.body, step: s, at: s.act}
	switch v := s.Node.Verb.(type) {
	case *ir.ToolCall:
		c.toolCall(s, v, e)
	case *ir.Let:
		c.let(s, v, e)
	case *ir.Map:
		c.mapNode(s, v, e)
	case *ir.Loop:
		c.loop(s, v)
	case *ir.Flow:
		c.flow(s, v, e)
	case *ir.GoCall:
		c.goCall(s, v, e)
	case *ir.LLM:
		c.unavailable(s, "llm")
	case *ir.Agent:
		c.unavailable(s, "agent")
	case *ir.Human:
		c.unavailable(s, "human")
	case *ir.ToolChoice:
		c.unavailable(s, "tool_call")
	default: // the parser found no verb and said so
		s.Node.Result = schema.InvalidType
	}
	if s.Node.Result == nil {
		s.Node.Result = schema.InvalidType
	}
	c.handling(s, e)
	c.sets(s)
	c.decisionsAfter(s)
	if s.Catch {
		s.Maybe = true // exactly one of result and error is there
	}
	if len(s.Sets) > 0 && (s.Catch || s.Skips()) {
		s.Read = true // it says whether to write
	}
}

func (c *checker) unavailable(s *Step, verb string) {
	s.Node.Result = schema.InvalidType
	c.report(diag.Diagnostic{Code: diag.Unavailable, Span: s.Node.ID.Span,
		Message: "this version of flowgen cannot compile `" + verb + "` nodes",
		Help:    "use a `tool`, `let`, `map`, `loop`, `flow` or `go` node"})
}

func (c *checker) toolCall(s *Step, v *ir.ToolCall, e *env) {
	var entries []*ir.Entry
	if v.With != nil {
		entries = v.With.Entries
	}
	if s.Tool == nil {
		c.poisonEntries(entries, e)
		return
	}
	v.Tool = s.Tool
	c.used[s.Tool] = true
	in := toolIn(s.Tool)
	if in.Kind == schema.Invalid {
		c.poisonEntries(entries, e)
	} else {
		s.With = c.arguments(entries, in, v.Name.Span, e, "input of "+s.Tool.Key.Name)
	}
	s.Node.Result = toolOut(s.Tool)
}

func (c *checker) poisonEntries(entries []*ir.Entry, e *env) {
	for _, x := range entries {
		c.value(x.Value, schema.InvalidType, e)
	}
}

func (c *checker) let(s *Step, v *ir.Let, e *env) {
	t := &schema.Type{Kind: schema.Struct}
	for _, x := range v.Fields {
		f := &schema.Field{Name: x.Key.Name, Span: x.Key.Span, Type: c.inferred(x.Value, e)}
		t.Fields = append(t.Fields, f)
		s.Fields = append(s.Fields, &Argument{Field: f, Value: &Expected{Value: x.Value, Type: f.Type}})
	}
	s.Node.Result = t
}

func (c *checker) mapNode(s *Step, v *ir.Map, e *env) {
	elem := schema.InvalidType
	over := c.value(v.Over, nil, e)
	switch over.Kind {
	case schema.List:
		elem = over.Elem
	case schema.Invalid:
	case schema.Opt:
		c.report(diag.Diagnostic{Code: diag.OptionalUse, Span: v.Over.Source(), Message: "a map needs a list, and this may be absent: " + over.Why,
			Help: "give a default: `default(" + exprText(v.Over) + ", [])`, or make the node depend on it"})
	default:
		c.report(diag.Diagnostic{Code: diag.TypeMismatch, Span: v.Over.Source(), Message: fmt.Sprintf("a map needs a list, and this is %s", over)})
	}
	s.Over = &Expected{Value: v.Over, Type: over}
	as := &Var{Name: v.As.Name, Type: elem, Step: s}
	s.Vars = []*Var{as}
	if v.Index != nil {
		s.Vars = append(s.Vars, &Var{Name: v.Index.Name, Type: schema.IntType, Step: s})
	}
	s.Body = c.body(&v.Do, s, s.body, s.Vars)
	r := s.Body.Result
	switch {
	case r == nil || r.Kind == schema.Invalid:
		s.Node.Result = schema.InvalidType
	case v.OnItemError == ir.ItemKeep:
		s.Node.Result = schema.ListOf(schema.ItemOf(r))
	default:
		s.Node.Result = schema.ListOf(r)
	}
}

func dropMap(s *Step) (drop, isMap bool) {
	m, ok := s.Node.Verb.(*ir.Map)
	return ok && m.OnItemError == ir.ItemDrop, ok
}

func (c *checker) loop(s *Step, v *ir.Loop) {
	s.Body = c.body(&v.Do, s, s.body, nil)
	s.Node.Result = s.Body.Result
	if v.Until == nil {
		return
	}
	// until is evaluated inside, after the body, where the loop's own result is that of this iteration.
	e := &env{c: c, body: s.body, step: s, at: s.act, self: true}
	c.condition(v.Until, e, "until")
	s.Until = v.Until.Node
}

func (c *checker) flow(s *Step, v *ir.Flow, e *env) {
	var entries []*ir.Entry
	if v.With != nil {
		entries = v.With.Entries
	}
	if v.Flow != nil {
		s.Flow = c.flows[v.Flow]
	}
	if s.Flow == nil {
		c.poisonEntries(entries, e)
		return
	}
	s.With = c.arguments(entries, s.Flow.Input, v.Path.Span, e, "input of "+s.Flow.WF.Name.Name)
	s.Node.Result = s.Flow.Output
}

func (c *checker) goCall(s *Step, v *ir.GoCall, e *env) {
	var entries []*ir.Entry
	if v.With != nil {
		entries = v.With.Entries
	}
	b := v.Func.Bind
	if b == nil {
		c.poisonEntries(entries, e)
		return
	}
	s.With = c.arguments(entries, b.In, v.Func.Ref.Span, e, "input of "+b.Package+"."+b.Func)
	s.Node.Result = b.Out
}

// handling checks retry, timeout, catch and on_error of a step.
func (c *checker) handling(s *Step, e *env) {
	n := s.Node
	_, isTool := n.Verb.(*ir.ToolCall)
	pure := false
	switch n.Verb.(type) {
	case *ir.Let, *ir.GoCall:
		pure = true
	}
	only := func(key string, at source.Span, help string) {
		c.report(diag.Diagnostic{Code: diag.Misplaced, Span: at, Message: "`" + key + "` has no meaning on this node", Help: help})
	}
	if n.Retry != nil && !isTool {
		only("retry", n.Retry.Span, "only calls are retried; put it on the nodes inside")
	}
	if n.Timeout != nil && !isTool {
		only("timeout", n.Timeout.Span, "only calls time out; put it on the nodes inside")
	}
	if pure && len(n.Catch) > 0 {
		only("catch", n.Catch[0].Code.Span, "a pure node calls nothing that could fail")
	}
	if n.OnError == nil {
		return
	}
	if pure {
		only("on_error", n.OnError.Span, "a pure node calls nothing that could fail")
		return
	}
	switch n.OnError.Kind {
	case ir.OnErrorSkip:
		n.Result = schema.OptOf(n.Result, n.ID.Name+" may have failed and been skipped (on_error: skip)")
	case ir.OnErrorDefault:
		c.value(n.OnError.Default, n.Result, e)
		s.DefaultExpr = &Expected{Value: n.OnError.Default, Type: n.Result}
	}
}

// Skips reports whether a failure of the step leaves it without a result.
func (s *Step) Skips() bool { return s.Node.OnError != nil && s.Node.OnError.Kind == ir.OnErrorSkip }

// condition checks an expression that must be true or false.
func (c *checker) condition(v *ir.Expr, e *env, key string) {
	t := c.expression(v, nil, e)
	switch t.Kind {
	case schema.Bool, schema.Invalid:
	case schema.Opt:
		c.report(diag.Diagnostic{Code: diag.OptionalUse, Span: v.Text.Span, Message: "`" + key + "` needs true or false, and this may be absent: " + t.Why,
			Help: "test it with `!= null`, or give a default: `default(" + v.Text.Value + ", false)`"})
	default:
		c.report(diag.Diagnostic{Code: diag.TypeMismatch, Span: v.Text.Span, Message: fmt.Sprintf("`%s` needs true or false, and this is %s", key, t),
			Help: "compare it with something"})
	}
}

// decisionsAfter types the conditions and switches that fall after s, and proves switches exhaustive.
func (c *checker) decisionsAfter(s *Step) {
	for _, d := range s.after {
		e := &env{c: c, body: s.body, step: s, at: s.ok, self: true}
		switch d.Kind {
		case When:
			c.condition(d.Value, e, "when")
			c.otherConditions(d, e)
		case Switch:
			c.switchCases(d, e)
		}
		d.Hoist = c.readsState(d.Expr) || !simple(d.Expr)
	}
}

// otherConditions checks the expressions of further edges that share a decision: each has its own text and span.
func (c *checker) otherConditions(d *Decision, e *env) {
	for _, edge := range e.body.IR.Edges {
		if edge.When != nil && edge.When != d.Value && edge.From.Name == d.Step.Node.ID.Name {
			if key, _ := canonical(edge.When.Node); key == d.key {
				c.condition(edge.When, e, "when")
			}
		}
	}
}

func (c *checker) switchCases(d *Decision, e *env) {
	t := c.expression(d.Value, nil, e)
	switch t.Kind {
	case schema.Enum, schema.String, schema.Int, schema.Bool, schema.Invalid:
	case schema.Opt:
		c.report(diag.Diagnostic{Code: diag.OptionalUse, Span: d.Value.Text.Span, Message: "a switch needs a value, and this may be absent: " + t.Why,
			Help: "give a default: `default(" + d.Value.Text.Value + ", ...)`"})
		t = schema.InvalidType
	default:
		c.report(diag.Diagnostic{Code: diag.TypeMismatch, Span: d.Value.Text.Span, Message: fmt.Sprintf("a switch chooses by an enum, a string, an int or a bool, and this is %s", t)})
		t = schema.InvalidType
	}
	seen := map[string]source.Span{}
	for i := range d.Cases {
		k := &d.Cases[i]
		if k.Default {
			continue
		}
		k.Value.Type = t
		c.value(k.Value.Value, t, e)
		if lit, ok := k.Value.Value.(*ir.Scalar); ok {
			if first, dup := seen[lit.Text.Value]; dup {
				c.report(diag.Diagnostic{Code: diag.DuplicateCase, Span: lit.Source(), Message: "the case " + lit.Text.Value + " stands twice",
					Help: "the first match is taken; remove one", Related: []diag.Related{{Span: first, Message: "it stands here first"}}})
			}
			seen[lit.Text.Value] = lit.Source()
			k.Label = lit.Text.Value
		}
	}
	c.exhaustive(d, t, seen)
}

func (c *checker) exhaustive(d *Decision, t *schema.Type, seen map[string]source.Span) {
	values := t.Values
	if t.Kind == schema.Bool {
		values = []string{"true", "false"}
	}
	if t.Kind != schema.Enum && t.Kind != schema.Bool {
		d.Open = d.Edge.Default == nil
		return
	}
	var missing []string
	for _, v := range values {
		if _, ok := seen[v]; !ok {
			missing = append(missing, v)
		}
	}
	if len(missing) > 0 && d.Edge.Default == nil {
		c.report(diag.Diagnostic{Code: diag.MissingCase, Span: d.Value.Text.Span,
			Message: fmt.Sprintf("%s can be %s, for which there is no case", d.Expr.String(), strings.Join(missing, " or ")),
			Help:    "add the case, or `default: end`"})
	}
	if len(missing) == 0 && d.Edge.Default != nil {
		c.warn(diag.Diagnostic{Code: diag.UselessDefault, Span: d.Edge.Default[0].Span, Message: "every value of " + d.Expr.String() + " has its case: default is never taken", Help: "remove it"})
	}
}

// simple reports whether an expression lowers to one Go expression that may be written anywhere.
func simple(n *expr.Node) bool {
	switch n.Op {
	case expr.Macro, expr.Cond:
		return false
	case expr.Binary:
		if (n.Text == "+" || n.Text == "-" || n.Text == "*") && (n.Type == nil || n.Type.Kind == schema.Int) {
			return false
		}
		if mixed(n.Kids[0], n.Kids[1]) || mixed(n.Kids[1], n.Kids[0]) {
			return false // the int is converted, with a check
		}
	case expr.Unary:
		if n.Text == "-" {
			return false
		}
	case expr.Call:
		if n.Text == "default" || n.Text == "first" {
			return false
		}
	}
	for _, k := range n.Kids {
		if !simple(k) {
			return false
		}
	}
	return true
}

// mixed reports an int beside a float.
func mixed(a, b *expr.Node) bool {
	return a.Type != nil && b.Type != nil && a.Type.Kind == schema.Int && b.Type.Kind == schema.Float
}

func exprText(v ir.Value) string {
	if e, ok := v.(*ir.Expr); ok {
		return e.Text.Value
	}
	return v.Source().Text()
}
