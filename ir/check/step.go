package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// step types everything a step holds, and the decisions that fall after it.
func (c *checker) step(s *Step) {
	if d := s.when; d != nil {
		c.condition(d.Value, &env{c: c, body: s.body, step: s, at: s.body.survived(s, s.gate), gate: true}, "when")
		s.body.addProof(d)
		s.known = s.body.found(d)
	}
	e := &env{c: c, body: s.body, step: s, at: s.body.diagram.and(s.body.survived(s, s.act), s.known)}
	ir.Switch(s.Node.Verb, // nil: the parser found no verb and said so
		func(v *ir.ToolCall) { c.toolCall(s, v, e) },
		func(v *ir.ToolChoice) { c.toolChoice(s, v, e) },
		func(v *ir.LLM) { c.ask(s, v, e) },
		func(v *ir.Agent) { c.agentNode(s, v, e) },
		func(v *ir.Human) { c.human(s, v, e) },
		func(v *ir.Let) { c.let(s, v, e) },
		func(v *ir.GoCall) { c.goCall(s, v, e) },
		func(v *ir.Map) { c.mapNode(s, v, e) },
		func(v *ir.Loop) { c.loop(s, v) },
		func(v *ir.Flow) { c.flow(s, v, e) },
		func(v *ir.Fail) { c.failNode(s, v, e) },
		func(v *ir.Wait) { c.wait(s, v, e) },
		func(v *ir.Parse) { c.parse(s, v, e) },
		func(*ir.Perform) { s.Node.Result = schema.InvalidType }, // of a Block, which types it
	)
	if s.Node.Result == nil {
		s.Node.Result = schema.InvalidType
	}
	c.handling(s, e)
	c.undo(s)
	c.sets(s)
	c.decisionsAfter(s)
	if s.Catch {
		s.Maybe = true // exactly one of result and error is there
	}
	s.body.addSetter(s)
	s.body.addProofs(s)
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
	switch in.Kind {
	case schema.Invalid:
		c.poisonEntries(entries, e)
	case schema.Any:
		c.poisonEntries(entries, e)
		c.report(diag.Diagnostic{Code: diag.Misplaced, Span: v.Name.Span, Message: fmt.Sprintf("tool %q takes arguments of any name, which only a `tool_call` node and an agent hand over", s.Tool.Key.Name),
			Help: "declare them in its `in`: `in: {q: string}`", Related: related(s.Tool.Key.Span, "the tool is declared here")})
	default:
		s.With = c.arguments(entries, in, v.Name.Span, e, s.Tool.Key.Name, "input")
	}
	s.Node.Result = toolOut(s.Tool)
	if s.Approves() {
		c.mayAsk(s)
	}
}

func (c *checker) poisonEntries(entries []*ir.Entry, e *env) {
	for _, x := range entries {
		c.value(x.Value, schema.InvalidType, e)
	}
}

func (c *checker) let(s *Step, v *ir.Let, e *env) {
	if v.Value != nil {
		t := c.inferred(v.Value, e)
		s.Fields = []*Argument{{Field: &schema.Field{Name: s.Node.ID.Name, Type: t}, Value: &Expected{Value: v.Value, Type: t}}}
		s.Node.Result = t
		return
	}
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
	as := &Var{Name: v.As.Name, Type: elem, Step: s, Over: over}
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
	if v.ItemDefault != nil && r != nil {
		c.value(v.ItemDefault, r, e)
		s.ItemDefault = &Expected{Value: v.ItemDefault, Type: r}
	}
}

func (c *checker) loop(s *Step, v *ir.Loop) {
	s.Body = c.body(&v.Do, s, s.body, nil)
	s.Node.Result = s.Body.Result
	c.pace(s, v)
	if v.Until == nil {
		return
	}
	// until is evaluated inside, after the body, where the loop's own result is that of this iteration.
	e := &env{c: c, body: s.body, step: s, at: s.body.survived(s, s.ok), self: true}
	before := c.sink.Errors()
	c.condition(v.Until, e, "until")
	c.unsure = c.unsure || c.sink.Errors() > before // what holds behind the loop is not known
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
	s.With = c.arguments(entries, s.Flow.Input, v.Path.Span, e, s.Flow.WF.Name.Name, "input")
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
	s.With = c.arguments(entries, b.In, v.Func.Ref.Span, e, b.Package+"."+b.Func, "input")
	s.Node.Result = b.Out
}

// handling checks retry, timeout, catch and on_error of a step.
func (c *checker) handling(s *Step, e *env) {
	n := s.Node
	only := func(key string, at source.Span, help string) {
		c.report(diag.Diagnostic{Code: diag.Misplaced, Span: at, Message: "`" + key + "` has no effect on this node", Help: help})
	}
	work := workOf(n.Verb)
	calls, pure := work == call, work == computation
	if n.Retry != nil && !calls {
		only("retry", n.Retry.Span, "only calls are retried: remove it, or put it on the calls inside")
	}
	if _, asks := n.Verb.(*ir.Human); asks && n.Retry != nil && n.Retry.Timeout != nil {
		only("timeout", n.Retry.Timeout.Span, "a question stays open for as long as the `timeout` of its node says")
	}
	if n.Timeout != nil && !calls {
		only("timeout", n.Timeout.Span, "only calls time out: remove it, or put it on the calls inside")
	}
	if _, asks := n.Verb.(*ir.Human); calls && !asks {
		c.longBound(n.Timeout, "`timeout`")
		if n.Retry != nil {
			c.longBound(n.Retry.Timeout, "`timeout`")
		}
	}
	if v, ok := n.Verb.(*ir.ToolChoice); !ok || len(s.Tools()) >= len(v.Allow) { // else one of them is unknown, which was said
		c.doubt(n.InDoubt, n.ID.Name, s.Tools())
	}
	if _, data := n.Verb.(*ir.ToolChoice); data {
		const help = "remove it: what fails is data, read `success` and `error`"
		if len(n.Catch) > 0 {
			only("catch", n.Catch[0].Code.Span, help)
			c.unsure = true // its result is there whatever happens, which those that read it would be told otherwise
		}
		if n.OnError != nil {
			only("on_error", n.OnError.Span, help)
		}
		return
	}
	what := "a node that only computes"
	if s.waits() {
		what = "a node that waits"
	}
	if pure && len(n.Catch) > 0 {
		only("catch", n.Catch[0].Code.Span, "remove it: "+what+" has no errors to catch")
		c.unsure = true
	}
	if n.OnError == nil {
		return
	}
	if pure {
		only("on_error", n.OnError.Span, "remove it: "+what+" has no errors to handle")
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

// work is what a verb costs: nothing but time of the processor, a call, or what the nodes inside of it cost. Reading costs nothing
// either, and can fail in a way that workflows handle.
type work uint8

const (
	call work = iota
	computation
	container
	reading
)

// workOf says what a verb costs. A node whose verb was refused counts as a call, so that nothing more is said about it.
func workOf(v ir.Verb) (is work) {
	ir.Switch(v,
		func(*ir.ToolCall) {}, func(*ir.ToolChoice) {}, func(*ir.LLM) {}, func(*ir.Agent) {}, func(*ir.Human) {},
		func(*ir.Let) { is = computation },
		func(*ir.GoCall) { is = computation },
		func(*ir.Map) { is = container },
		func(*ir.Loop) { is = container },
		func(*ir.Flow) { is = container },
		func(*ir.Fail) { is = computation },
		func(*ir.Wait) { is = computation }, // it cannot fail either
		func(*ir.Parse) { is = reading },
		func(*ir.Perform) {},
	)
	return is
}

// pure reports whether the step only computes.
func (s *Step) pure() bool { return workOf(s.Node.Verb) == computation }

// Skips reports whether a failure of the step leaves it without a result.
func (s *Step) Skips() bool { return s.Node.OnError != nil && s.Node.OnError.Kind == ir.OnErrorSkip }

// condition checks an expression that must be true or false.
func (c *checker) condition(v *ir.Expr, e *env, key string) {
	t := c.expression(v, nil, e)
	switch t.Kind {
	case schema.Invalid:
	case schema.Bool:
		c.constant(v, key)
	case schema.Opt:
		c.report(diag.Diagnostic{Code: diag.OptionalUse, Span: v.Text.Span, Message: "`" + key + "` needs true or false, and this may be absent: " + t.Why,
			Help: "test it with `!= null`, or give a default: `default(" + v.Text.Value + ", false)`"})
	default:
		c.report(diag.Diagnostic{Code: diag.TypeMismatch, Span: v.Text.Span, Message: fmt.Sprintf("`%s` needs true or false, and this is %s", key, t),
			Help: "compare it with something"})
	}
}

// constant warns about a condition that reads nothing.
func (c *checker) constant(v *ir.Expr, key string) {
	reads := false
	v.Node.Walk(func(n *expr.Node) bool {
		reads = reads || n.Op == expr.Name
		return !reads
	})
	if reads || c.wf.Public || key != "when" {
		return
	}
	d := diag.Diagnostic{Code: diag.ConstantCondition, Span: v.Text.Span, Message: "`" + key + "` reads nothing, so it is always the same",
		Help: "compare a value, as in `input.mode == \"fast\"`, or remove it"}
	if b, ok := v.Node.Value.(bool); ok && v.Node.Op == expr.Lit {
		d.Message = fmt.Sprintf("`%s` is always %v", key, b)
		d.Help = "remove it, or compare a value, as in `input.mode == \"fast\"`"
	}
	c.warn(d)
}

// decisionsAfter types the conditions and switches that fall after s, and proves switches exhaustive.
func (c *checker) decisionsAfter(s *Step) {
	before := c.sink.Errors()
	defer func() { c.unsure = c.unsure || c.sink.Errors() > before }()
	for _, d := range s.after {
		e := &env{c: c, body: s.body, step: s, at: s.body.survived(s, s.passed), self: true, wrote: true}
		switch d.Kind {
		case When:
			for _, other := range d.also { // each has its own text and place
				c.condition(other, e, "when")
			}
			c.condition(d.Value, e, "when")
		case Switch:
			c.switchCases(d, e)
		}
		d.Hoist = readsState(d.Expr) || !d.Expr.Inline()
	}
}

func (c *checker) switchCases(d *Decision, e *env) {
	t := c.tag(d, c.expression(d.Value, nil, e))
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
	if len(d.Edge.Cases) == 0 && !e.body.loose {
		c.report(diag.Diagnostic{Code: diag.MissingCase, Span: d.Value.Text.Span, Message: "this switch has no cases", Help: "write them under `cases`, or write a plain edge"})
		return
	}
	seen := map[string]source.Span{}
	wrong := false
	for i := range d.Cases {
		k := &d.Cases[i]
		if k.Default {
			continue
		}
		k.Value.Type = t
		if lit, ok := k.Value.Value.(*ir.Scalar); ok {
			wrong = !c.switchCase(k, lit, d, t, seen) || wrong
		}
	}
	if !wrong {
		c.exhaustive(d, t, seen)
	}
}

// switchCase checks one case and files its value in seen.
func (c *checker) switchCase(k *Case, lit *ir.Scalar, d *Decision, t *schema.Type, seen map[string]source.Span) bool {
	k.Label = lit.Text.Value
	if t.Kind == schema.Bool && lit.Tag == "!!bool" {
		k.Label = strings.ToLower(k.Label)
	}
	switch values := possible(t); {
	case values != nil && !slices.Contains(values, k.Label):
		c.reportUnknown(diag.UnknownCase, fmt.Sprintf("%s is never %q", d.Expr, lit.Text.Value), lit.Source(), lit.Text.Value, values)
		return false
	case c.value(lit, t, &env{c: c}).Kind == schema.Invalid:
		return t.Kind == schema.Invalid
	}
	value := k.Label
	if t.Kind == schema.Int {
		value = constant(lit)
	}
	if first, dup := seen[value]; dup {
		c.report(diag.Diagnostic{Code: diag.DuplicateCase, Span: lit.Source(), Message: "the case " + lit.Text.Value + " appears twice",
			Help: "the first match is taken; remove one", Related: []diag.Related{{Span: first, Message: "first listed here"}}})
		return false
	}
	seen[value] = lit.Source()
	return true
}

// possible lists the values of a type that has few.
func possible(t *schema.Type) []string {
	switch t.Kind {
	case schema.Enum:
		return t.Values
	case schema.Bool:
		return []string{"true", "false"}
	}
	return nil
}

func (c *checker) exhaustive(d *Decision, t *schema.Type, seen map[string]source.Span) {
	values := possible(t)
	if values == nil {
		d.Open = d.Edge.Default == nil
		return
	}
	var missing []string
	out := ruledOut(d.Expr, values)
	for _, v := range values {
		if _, ok := seen[v]; !ok && !out(v) {
			missing = append(missing, v)
		}
	}
	switch {
	case d.Step.body.loose:
	case len(missing) > 0 && d.Edge.Default == nil:
		if len(missing) > 5 {
			missing = append(missing[:5], "...")
		}
		c.report(diag.Diagnostic{Code: diag.MissingCase, Span: d.Value.Text.Span,
			Message: fmt.Sprintf("%s can be %s, which has no case", d.Expr, strings.Join(missing, " or ")),
			Help:    "add the case, or `default: end`"})
	case len(missing) == 0 && len(seen) == len(values) && len(d.Edge.Default) > 0:
		c.warn(diag.Diagnostic{Code: diag.UselessDefault, Span: d.Edge.Default[0].Span, Message: "every value of " + d.Expr.String() + " has its case: default is never taken", Help: "remove it"})
	}
}

func exprText(v ir.Value) string {
	if e, ok := v.(*ir.Expr); ok {
		return e.Text.Value
	}
	return v.Source().Text()
}
