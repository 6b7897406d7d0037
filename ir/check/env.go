package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// What symbols refer to, besides *Step and *Var.
type (
	// Root is one of the names every expression knows: input and state.
	Root struct{ Name string }
	// ErrorOf is `node.error`.
	ErrorOf struct{ Step *Step }
	// FailuresOf is `map.failures` of a map with on_item_error: skip.
	FailuresOf struct{ Step *Step }
	// ReceiptOf is an output that an agent has although it failed, or a pin of it.
	ReceiptOf struct {
		Step  *Step
		Field *schema.Field
	}
	// Param is a field of a tool's input, inside the tool's own templates.
	Param struct{ Field *schema.Field }
)

// env is what an expression can see from where it stands.
type env struct {
	c    *checker
	body *Body // nil inside a tool's templates
	step *Step // the reader; nil at the end of the body
	at   formula
	gate bool // the reader's own `when`
	self bool // the reader's own result is there: set, until, conditions after it

	params *schema.Type // a tool's input, instead of everything else
	called string       // what params are called in messages; empty: input
	done   bool         // after success: an own result that on_error: skip makes optional is there
	wrote  bool         // after the step's own `set:`

	scope *blockScope // the end of a Block, instead of everything else

	assumed map[*Body]formula // what the expression itself has tested
}

func (e *env) Lookup(name string) *expr.Symbol {
	if e.scope != nil {
		if name == "error" && e.c.wf.Outcome.Always {
			return &expr.Symbol{Name: name, Type: errorType, Ref: &Root{name}}
		}
		return e.scope.Lookup(name)
	}
	if e.params != nil {
		if f := e.params.Field(name); f != nil {
			return &expr.Symbol{Name: name, Type: f.Type, Ref: &Param{f}}
		}
		if e.params.Kind == schema.Invalid {
			return &expr.Symbol{Name: name, Type: schema.InvalidType}
		}
		if e.called != "" && (name == "input" || name == "state") {
			return &expr.Symbol{Name: name, Type: schema.InvalidType, Problem: &expr.Problem{Code: diag.UnknownName,
				Message: "a prompt file does not see `" + name + "`", Help: "give the value to the file with `with`, and write its name here"}}
		}
		return e.c.secretSymbol(name)
	}
	switch name {
	case "input":
		return &expr.Symbol{Name: name, Type: e.c.inputType, Ref: &Root{name}}
	case "state":
		return e.stateRoot()
	case "now":
		return &expr.Symbol{Name: name, Type: schema.TimeType, Ref: &Root{name}}
	}
	if sym := e.find(name, false); sym != nil {
		return sym
	}
	if sym := e.find(name, true); sym != nil { // the single node of a `do:` gives way to all others
		return sym
	}
	if sym := e.hidden(name); sym != nil {
		return sym
	}
	if name == "error" {
		if sym := e.handled(); sym != nil {
			return sym
		}
	}
	return e.c.secretSymbol(name)
}

// find looks for a node or variable, from the inside out.
func (e *env) find(name string, inline bool) *expr.Symbol {
	at := *e
	for b := e.body; b != nil; b = b.outer {
		if s := b.byID[name]; s != nil && s.Node.Inline == inline {
			at.body = b
			return at.node(s)
		}
		for _, v := range b.vars {
			if v.Name == name {
				return &expr.Symbol{Name: name, Type: v.Type, Ref: v, Item: v.Over != nil && !e.c.wf.Public}
			}
		}
		if b.outer != nil { // from inside, the outer body is seen as the enclosing step sees it
			at.step, at.at, at.self, at.done = b.parent, e.around(b), false, false
		}
	}
	return nil
}

// hidden is the symbol of a node inside a map or loop, seen from outside; nil when there is none of that name.
func (e *env) hidden(name string) *expr.Symbol {
	for b := e.body; b != nil && e.c.suggesting(); b = b.outer {
		for _, s := range b.Steps {
			n := s.inside(name)
			if n == nil {
				continue
			}
			id := s.Node.ID.Name
			d := insideOf(n, s)
			return &expr.Symbol{Name: name, Type: schema.InvalidType, Problem: &expr.Problem{
				Code: d.Code, Message: d.Message, Related: d.Related,
				Help: "from outside only the result can be read: `" + id + "`; name what it holds in `result` of its `do`",
			}}
		}
	}
	return nil
}

// NameKind says what names are in messages.
func (e *env) NameKind() string {
	switch {
	case e.called != "":
		return e.called
	case e.params != nil:
		return "input"
	}
	return "node"
}

// maxSuggested is the number of errors after which no more spellings are suggested: looking for them takes time.
const maxSuggested = 100

func (e *env) Names() []string {
	if e.c.sink.Errors() > maxSuggested {
		return nil
	}
	switch {
	case e.params != nil:
		return e.params.FieldNames()
	case e.scope != nil:
		return e.scope.Names()
	}
	names := []string{}
	for b := e.body; b != nil; b = b.outer {
		for _, v := range b.vars {
			names = append(names, v.Name)
		}
		for _, s := range b.Steps {
			if (s != e.step || e.self) && !s.Node.Inline {
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
	fail := func(code diag.Code, message, help string, related ...diag.Related) *expr.Symbol {
		sym.Type = schema.InvalidType
		sym.Problem = &expr.Problem{Code: code, Message: message, Help: help, Related: related}
		return sym
	}
	id, here := s.Node.ID.Name, diag.Related{Span: s.Node.ID.Span, Message: "it is defined here"}
	switch {
	case s == e.step && !e.self:
		return fail(diag.NotBefore, fmt.Sprintf("node %q reads its own result", id), "carry it from one run to the next in `state`")
	case s.fails():
		return fail(diag.NeverRan, fmt.Sprintf("%s fails the run, and has no result", id), "read another node", here)
	case s.waits():
		return fail(diag.NeverRan, fmt.Sprintf("%s waits, and has no result", id), "read another node", here)
	case e.body.loose:
		e.addMembers(sym, s)
		return sym
	case s.act == never: // that is the mistake, and it was reported
		sym.Type = schema.InvalidType
		return sym
	case s != e.step && !e.precedes(s):
		if e.body.before(e.step, s) {
			return fail(diag.NotBefore, fmt.Sprintf("%s runs after %s", id, e.step.Node.ID.Name), "only results of nodes that come before can be read", here)
		}
		return fail(diag.NotBefore, fmt.Sprintf("%s does not come before this: no edges lead from it to here", id), "add an edge from `"+id+"`, or read another node", here)
	}
	e.addMembers(sym, s)
	how := e.body.seen(s, e.step, e.at)
	if how == absent {
		help := "read it where it ran"
		if e.body.caught(s, e.step, e.at) {
			help = "read `" + id + ".error`"
			if s.Agent != nil {
				help += ", or its receipts: `" + id + ".tool_order`, `" + id + ".tools_by_id`, `" + id + ".last_tool`"
			}
		}
		return fail(diag.NeverRan, fmt.Sprintf("%s has no result here: %s", id, e.never(s)), help, here)
	}
	if e.done && s == e.step && !s.optional() {
		sym.Type = sym.Type.Present()
	}
	if how == perhaps {
		sym.Absent = sym.Type.Kind != schema.Opt // else it can be absent although it ran
		sym.Type = schema.OptOf(sym.Type, e.why(s))
	}
	if sym.Type.Kind == schema.Opt {
		sym.Advice = e.advice(s, sym.Absent)
	}
	return sym
}

// optional reports whether the step may succeed without a result.
func (s *Step) optional() bool {
	switch v := s.Node.Verb.(type) {
	case *ir.ToolCall:
		return s.Tool != nil && s.Tool.Out != nil && s.Tool.Out.Kind == schema.Opt
	case *ir.Parse:
		return v.Out != nil && v.Out.Kind == schema.Opt
	case *ir.Loop:
		return s.Body != nil && s.Body.Result != nil && s.Body.Result.Kind == schema.Opt
	}
	return false
}

// precedes reports whether s has ended whenever the reader runs.
func (e *env) precedes(s *Step) bool {
	return e.step == nil || e.body.reach == nil || e.body.before(s, e.step)
}

// addMembers gives a step's symbol its pseudo-fields.
func (e *env) addMembers(sym *expr.Symbol, s *Step) {
	add := func(name string, m *expr.Symbol) {
		if sym.Members == nil {
			sym.Members = map[string]*expr.Symbol{}
		}
		sym.Members[name] = m
	}
	notCaught := func(message, help string) {
		add("error", &expr.Symbol{Name: "error", Type: schema.InvalidType, Problem: &expr.Problem{Code: diag.NotCaught, Message: message, Help: help}})
	}
	switch {
	case len(s.Node.Catch) > 0 && !s.Catch: // it cannot have one, which was reported
		add("error", &expr.Symbol{Name: "error", Type: schema.InvalidType})
	case s.Catch && (e.body.loose || e.body.caught(s, e.step, e.at)):
		add("error", &expr.Symbol{Name: "error", Type: schema.ErrorType, Ref: &ErrorOf{s}})
		if !e.body.loose {
			for _, f := range s.receipts() {
				add(f.Name, &expr.Symbol{Name: f.Name, Type: f.Type, Ref: &ReceiptOf{s, f}})
			}
		}
	case s.Catch:
		notCaught(sym.Name+".error can be read only behind its catch", "read it in the node that `catch` names, or in nodes after that one alone")
	case !hasError(sym.Type.Present()):
		notCaught(sym.Name+" has no catch, so that nothing runs after it fails", "add `catch: {any: NODE}` to "+sym.Name)
	}
	if m, ok := s.Node.Verb.(*ir.Map); ok && m.OnItemError == ir.ItemDrop {
		add("failures", &expr.Symbol{Name: "failures", Type: schema.ListOf(schema.FailureType), Ref: &FailuresOf{s}})
	}
}

// hasError reports whether values of a type have, or may have, a field `error` of their own.
func hasError(t *schema.Type) bool {
	return t.Kind == schema.Invalid || t.Kind == schema.Map || t.Kind == schema.Any || t.Field("error") != nil
}

// never says why a step has no result where it is read.
func (e *env) never(s *Step) string {
	if e.body.caught(s, e.step, e.at) {
		return "it failed, and its error was caught"
	}
	_, cond := e.when(s)
	return "it runs only when " + cond
}

// why says why the result of a step may be absent: "post may not have run here: only when plan.route is fix (12:5)".
func (e *env) why(s *Step) string {
	id := s.Node.ID.Name
	if s.Catch && (s.act == always || !e.body.weak && e.body.diagram.implies(e.at, s.act)) {
		return id + " may have failed here: its errors are caught"
	}
	cause, cond := e.when(s)
	return id + " may not have run here: " + cause + "only when " + cond
}

// advice says how to read a step that may have no result: absent tells that this is because it may not have run.
func (e *env) advice(s *Step, absent bool) string {
	if e.c.wf.Public {
		return "" // nodes of dialects have no `when`
	}
	id := s.Node.ID.Name
	test := "test it first: `" + id + " != null && ...`"
	if e.step != nil && !e.self && !e.gate && e.step.Node.When == nil {
		test = "add `when: " + id + " != null` to this node"
	}
	switch {
	case s.Skips():
		return "write `on_error: {default: ...}` on " + id + ", or " + test
	case !absent:
		return ""
	case s.Catch && (s.act == always || !e.body.weak && e.body.diagram.implies(e.at, s.act)):
		return "read it where no handler leads, or " + test
	}
	return test
}

// when describes the nearest decisions on the way to a step that are not certain where e stands, and before that, which edges or
// which `when` they belong to: nothing for a node that handles errors.
func (e *env) when(s *Step) (cause, cond string) {
	d := e.body.diagram
	if s.when != nil && (e.body.weak || !d.implies(e.at, e.body.takes(s.when, 0))) {
		return "its `when` is true ", s.when.describe(0)
	}
	for at := s; ; {
		var ways, edges []string
		var up *Step
		for _, a := range at.in {
			if a.orderOnly || at.Node.Join == ir.JoinAll && !e.body.weak && d.implies(e.at, e.body.active(a)) {
				continue
			}
			if up == nil {
				up = a.from
			}
			switch o := a.from.outcome; {
			case a.decision != nil && (e.body.weak || !d.implies(e.at, e.body.active(a))):
				ways = append(ways, a.decision.describe(a.cases))
				if a.decision.Kind != Outcome {
					edges = append(edges, "the edge `"+a.from.Node.ID.Name+" -> "+a.to.Node.ID.Name+"`")
				}
			case a.decision == nil && o != nil && !e.body.weak && !d.implies(e.at, e.body.active(a)):
				ways = append(ways, o.describe(0))
				edges = append(edges, "the edge `"+a.from.Node.ID.Name+" -> "+a.to.Node.ID.Name+"`")
			}
		}
		if len(ways) == 0 && up != nil {
			at = up
			continue
		}
		switch {
		case len(ways) == 0:
			return "", "it succeeds"
		case len(ways) > 3:
			ways = append(ways[:3], "...")
		}
		if len(ways) == 1 && len(edges) == 1 {
			cause = edges[0] + " is active "
		}
		return cause, strings.Join(ways, " or ")
	}
}

// describe says one case of a decision: "plan.route is fix (12:5)".
func (d *Decision) describe(k int) string {
	switch d.Kind {
	case Switch:
		what := "is " + d.Cases[k].Label
		if d.Cases[k].Default {
			what = "is none of its cases"
		}
		return d.Expr.String() + " " + what + place(d.Value.Text.Span)
	case When:
		if k == 1 {
			return "!(" + d.Expr.String() + ")" + place(d.Value.Text.Span)
		}
		return d.Expr.String() + place(d.Value.Text.Span)
	}
	if k == 0 {
		return d.Step.Node.ID.Name + " succeeds" + place(d.Step.Node.ID.Span)
	}
	code := d.Cases[k].Code
	if code == "any" {
		code = "an error"
	}
	return d.Step.Node.ID.Name + " fails with " + code + place(d.Step.Node.Catch[k-1].Code.Span)
}

// place is a position in parentheses.
func place(s source.Span) string {
	p := s.Start()
	return fmt.Sprintf(" (%d:%d)", p.Line, p.Col)
}

// Covers reports whether, where the expression stands, at least one of the steps certainly has a result.
func (e *env) Covers(syms []*expr.Symbol) bool {
	at := e.at
	for b := e.body; b != nil; b = b.outer {
		var some []formula
		for _, sym := range syms {
			if s, ok := sym.Ref.(*Step); ok && s.body == b {
				some = append(some, s.ok)
			}
		}
		if len(some) > 0 && b.refuted(b.diagram.without(at, b.diagram.anyOf(some))) {
			return true
		}
		if b.outer != nil {
			at = e.around(b)
		}
	}
	return false
}

// facts are the paths known to be present because of the conditions that led here, of those that the expressions name.
// Conditions over state say nothing: state may have changed since.
func (e *env) facts(list ...*expr.Node) expr.Facts {
	if e.params != nil {
		return nil
	}
	var facts expr.Facts
	var names []string
	for _, n := range list {
		for _, ref := range n.Refs() {
			if !slices.Contains(names, ref.Text) {
				names = append(names, ref.Text)
			}
		}
	}
	at, step := e.at, e.step
	for b := e.body; b != nil; b = b.outer {
		for _, name := range names {
			facts = b.untilFacts(name, step, at, b.proved(name, at, facts))
		}
		facts = bothFacts(facts, b.roundFacts(step))
		for _, v := range b.vars {
			if v.Over != nil && slices.Contains(names, v.Name) {
				facts = bothFacts(facts, expr.ItemFacts(v.Name, v.Over))
			}
		}
		if b.outer != nil {
			at, step = e.around(b), b.parent
		}
	}
	return facts
}

// A proof is what is present when a decision has taken a case.
type proof struct {
	decision *Decision
	kase     int
	facts    expr.Facts
}

// maxProofs bounds how many conditions about one name are looked at; the latest come first.
const maxProofs = 100

// proved adds to facts what is known about a name where at holds.
func (b *Body) proved(name string, at formula, facts expr.Facts) expr.Facts {
	if b.weak || b.loose {
		return facts
	}
	tries := 0
	for _, p := range slices.Backward(b.proofs[name]) {
		if tries++; tries > maxProofs {
			break
		}
		if b.diagram.implies(at, b.takes(p.decision, p.kase)) {
			facts = bothFacts(facts, p.facts)
		}
	}
	return facts
}

// addProofs files what the conditions after a step prove, once they are typed.
func (b *Body) addProofs(s *Step) {
	for _, d := range s.after {
		b.addProof(d)
	}
}

func (b *Body) addProof(d *Decision) {
	if d.Kind == Outcome || d.ended {
		return
	}
	for k := range d.Cases {
		byName := map[string]expr.Facts{}
		for path := range d.proves(k) {
			name, _, _ := strings.Cut(path, ".")
			if byName[name] == nil {
				byName[name] = expr.Facts{}
			}
			byName[name][path] = true
		}
		for name, facts := range byName {
			if b.proofs == nil {
				b.proofs = map[string][]proof{}
			}
			b.proofs[name] = append(b.proofs[name], proof{d, k, facts})
		}
	}
}

func bothFacts(x, y expr.Facts) expr.Facts {
	switch {
	case len(x) == 0:
		return y
	case len(y) == 0:
		return x
	}
	out := maps.Clone(x)
	maps.Copy(out, y)
	return out
}

// roundFacts is what a step, or with nil the end of the body, knows because loops have ended: the condition that would
// have repeated them does not hold.
func (b *Body) roundFacts(s *Step) expr.Facts {
	switch {
	case b.weak || b.loose || len(b.loops) == 0:
		return nil
	case s != nil:
		return b.rounds[s]
	}
	var facts expr.Facts
	for _, l := range b.loops {
		if l.from.passed == always {
			facts = bothFacts(facts, l.proves())
		}
	}
	return facts
}

// addRound computes roundFacts of a step from those before it.
func (b *Body) addRound(s *Step) {
	if b.weak || len(b.loops) == 0 || b.starts(s) {
		return
	}
	var facts expr.Facts
	first := true
	for _, a := range s.in {
		if a.orderOnly {
			continue
		}
		here := b.rounds[a.from]
		for _, l := range a.from.back {
			if a.decision == nil || a.decision.Kind != Outcome {
				here = bothFacts(here, l.proves())
			}
		}
		switch {
		case first:
			facts = here
		case s.joinsAll():
			facts = bothFacts(facts, here)
		default:
			facts = maps.Clone(facts)
			maps.DeleteFunc(facts, func(p string, _ bool) bool { return !here[p] })
		}
		first = false
	}
	if len(facts) > 0 {
		if b.rounds == nil {
			b.rounds = map[*Step]expr.Facts{}
		}
		b.rounds[s] = facts
	}
}

// proves is what is known after the loop has ended and its last node has run.
func (l *backEdge) proves() expr.Facts {
	if l.when == nil || !l.when.ended {
		return nil
	}
	return l.when.proves(1 - l.repeat)
}

// proves gives the paths that are present when a decision has taken its case k.
func (d *Decision) proves(k int) expr.Facts {
	if readsState(d.Expr) {
		return nil
	}
	if d.Kind != When {
		return d.tells(k)
	}
	return expr.FactsOf(d.Expr, k == 0)
}
