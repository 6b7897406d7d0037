// Package check proves a workflow: every name is real, every value fits, every result is there where it is read, every
// router is exhaustive and every repetition bounded. What it cannot prove it reports; what it returns can be emitted.
//
// The passes run over one body at a time, the inside of a map or loop when its node's turn comes:
//
//	connect    edges, catch clauses or data references become arcs
//	sort       topological order, reachability, cycles
//	loops      back edges close natural loops with one header
//	activate   a formula for when each step runs
//	types      expressions, arguments, results, in topological order
//	state      no field is written in one branch and touched in another
//	plan       the structure of the Go to be written
//	marks      what of each step is read, and therefore needs a variable
//
// One mistake is one message. After a mistake in an expression its value has the poison type, which fits everywhere;
// after a mistake in the edges a body is loose: its nodes are still typed, but nothing is said about their order.
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

// A Program is a workflow without mistakes. Only Check makes one.
type Program struct {
	WF      *ir.Workflow
	Input   *schema.Type
	State   *schema.Type // nil when there is no state
	Output  *schema.Type
	Outputs []*Argument
	Body    *Body
	Texts   []*TextFunc // that the Block calls, those that are called first
	Flows   []*Program  // sub-workflows, each once, those that are called first
	Table   []*Step     // the node table: every step of this workflow and, after them, of its sub-workflows
	Names   *Names
	Sandbox map[*ir.Tool]string // how the tools in use run, as Step.Sandbox says it; of the workflow that Check was asked about
}

// Check proves wf, whose tools bind has resolved. It reports to sink everything it finds, and returns nil when any of
// that, or anything reported before, is an error.
func Check(wf *ir.Workflow, sink *diag.Sink) *Program { return Watch(wf, sink, nil) }

// Watch is Check that shows each expression of native workflows to look, with what its names mean where it stands, after it was
// checked.
func Watch(wf *ir.Workflow, sink *diag.Sink, look func(n *expr.Node, env expr.Env)) *Program {
	if !bounded(wf, sink) {
		return nil
	}
	flows := map[*ir.Workflow]*Program{}
	early := slices.DeleteFunc(sink.List(), func(d diag.Diagnostic) bool { return d.Severity != diag.Error })
	var order []*Program
	var visit func(wf *ir.Workflow) *Program
	visit = func(wf *ir.Workflow) *Program {
		if p, ok := flows[wf]; ok {
			return p
		}
		flows[wf] = nil // a recursion was reported by the parser
		for _, child := range wf.Flows {
			visit(child)
		}
		if settle := wf.Settle; settle != nil {
			wf.Settle = nil
			settle(sink)
		}
		c := &checker{wf: wf, sink: sink, flows: flows, early: early, look: look, limit: maxDiagram, used: map[*ir.Tool]bool{}, effects: map[*ir.Node]ir.Effects{}}
		p := c.workflow()
		flows[wf] = p
		order = append(order, p)
		return p
	}
	root := visit(wf)
	root.Flows = order[:len(order)-1]
	root.number()
	root.isolate(sink)
	root.Names = nameEverything(root, sink)
	if sink.HasErrors() {
		return nil
	}
	root.costs(sink)
	return root
}

// FlowOf is a sub-workflow of the program; nil: wf is none.
func (p *Program) FlowOf(wf *ir.Workflow) *Program {
	i := slices.IndexFunc(p.Flows, func(f *Program) bool { return f.WF == wf })
	if i < 0 {
		return nil
	}
	return p.Flows[i]
}

// number fills the node table.
func (p *Program) number() {
	var walk func(b *Body)
	walk = func(b *Body) {
		for _, s := range b.Steps {
			s.Table = len(p.Table)
			p.Table = append(p.Table, s)
			if s.Undo != nil {
				s.Undo.Table = len(p.Table)
				p.Table = append(p.Table, s.Undo)
			}
			if s.Body != nil {
				walk(s.Body)
			}
		}
	}
	walk(p.Body)
	for _, f := range p.Flows {
		walk(f.Body)
	}
}

// checker checks one workflow file.
type checker struct {
	wf    *ir.Workflow
	sink  *diag.Sink
	flows map[*ir.Workflow]*Program
	early []diag.Diagnostic                // errors that were reported before check began
	look  func(n *expr.Node, env expr.Env) // nil: nobody does
	limit int                              // of every diagram
	cases bool                             // these are test cases, whose values are JSON and hold integers of any size

	lost   bool // a node sets a field that the state does not have: which fields have no value is not known
	unsure bool // an edge, a switch or a condition is wrong: what runs when is not known

	tools     map[string][]*ir.Tool // by name without version
	used      map[*ir.Tool]bool
	idle      bool // the tool that is being checked is one of an included file, and nothing calls it
	state     map[string]*ir.State
	inputType *schema.Type
	stateType *schema.Type

	inputRead, stateRead, stateSet map[string]bool
	access                         map[*Step]*stateAccess
	agents                         bool               // a node runs an agent
	models                         map[*ir.Model]bool // that were checked: whether they are right
	direct                         []*ir.Model        // that nodes name as provider:name
	wrongPrompts                   map[*source.File]bool
	effects                        map[*ir.Node]ir.Effects
	texts                          []*TextFunc
	textOf                         map[*ir.TextFunc]*TextFunc // nil: it is being checked
}

// workflow is the ordered list of passes.
func (c *checker) workflow() *Program {
	c.inputRead, c.stateRead, c.stateSet = map[string]bool{}, map[string]bool{}, map[string]bool{}
	c.access = map[*Step]*stateAccess{}
	p := &Program{WF: c.wf}

	c.declareTools()
	c.declareInput()
	c.declareState()
	c.checkDefaults()
	p.Body = c.body(&c.wf.Body, nil, nil, nil)
	c.outputs(p)
	c.returns(p)
	c.loads()
	c.checkTools()
	c.policy(p.Body)
	if !c.sink.HasErrors() {
		c.marks(p)
		c.unused(p)
	}

	p.Input, p.Texts = c.inputType, c.texts
	if len(c.wf.State) > 0 || c.wf.Body.Block != nil {
		p.State = c.stateType
	}
	return p
}

// maxSteps bounds one body: what is known about the order of n nodes takes n*n/8 bytes.
const maxSteps = 20_000

// body runs the passes over one body. enclosing is the step whose inside it is.
func (c *checker) body(b *ir.Body, enclosing *Step, outer *Body, vars []*Var) *Body {
	if b.Block != nil {
		return c.blockBody(b)
	}
	out := &Body{IR: b, parent: enclosing, outer: outer, vars: vars, byID: map[string]*Step{}, limit: c.limit}
	nodes := b.Nodes
	if len(nodes) > maxSteps {
		c.report(diag.Diagnostic{Code: diag.YAMLLimit, Span: nodes[maxSteps].ID.Span, Message: fmt.Sprintf("the workflow has more than %d nodes", maxSteps),
			Help: "split it into workflows and run them with `flow`"})
		out.loose, nodes = true, nodes[:maxSteps]
	}
	for i, n := range nodes {
		c.defaults(n)
		s := &Step{Node: n, body: out, index: i, defaults: &c.wf.Defaults, effects: c.nodeEffects(n)}
		out.Steps = append(out.Steps, s)
		if _, dup := out.byID[n.ID.Name]; !dup {
			out.byID[n.ID.Name] = s
		}
		c.undoStep(s)
		switch v := n.Verb.(type) {
		case *ir.ToolCall:
			s.Tool = c.resolveTool(v.Name)
		case *ir.ToolChoice:
			s.Pick = c.pick(v)
		case *ir.Agent:
			s.Agent = c.agent(v)
		}
	}
	if !c.order(out) {
		c.unordered(out)
		return out
	}
	if out.start != nil {
		c.decisionsAfter(out.start)
		out.addProofs(out.start)
	}
	for _, s := range out.order {
		out.addRound(s)
		c.step(s)
	}
	c.bodyResult(out)
	c.exclusiveExits(out)
	c.stateRaces(out)
	if !c.sink.HasErrors() {
		out.Plan = out.makePlan()
		c.lateReads(out)
	}
	return out
}

// order runs the passes that say when each step runs. It returns false when a mistake keeps the steps from having an
// order.
func (c *checker) order(b *Body) bool {
	c.connect(b)
	if !c.sortSteps(b) || b.loose {
		return false
	}
	c.naturalLoops(b)
	b.activate()
	c.unreachable(b)
	return true
}

// defaults gives a call that does not say what a failure does the workflow's answer.
func (c *checker) defaults(n *ir.Node) {
	all := c.wf.Defaults.OnError
	call := false
	switch n.Verb.(type) {
	case *ir.ToolCall, *ir.LLM, *ir.Agent:
		call = true
	}
	if call && n.OnError == nil && all != nil && all.Kind != ir.OnErrorDefault {
		n.OnError = all
	}
}

// checkDefaults refuses a default value for all nodes: their results have different types.
func (c *checker) checkDefaults() {
	if all := c.wf.Defaults.OnError; all != nil && all.Kind == ir.OnErrorDefault {
		c.report(diag.Diagnostic{Code: diag.Misplaced, Span: all.Span, Message: "a default value cannot apply to all nodes",
			Help: "write it on the nodes it fits, or `on_error: skip` here"})
	}
}

// unordered checks what can be checked of a body whose steps have no order that could be relied on: the mistake in the
// edges was reported, and nothing more is said about them.
func (c *checker) unordered(b *Body) {
	b.loose, b.reach, b.loops, c.unsure = true, nil, nil, true
	b.diagram = newDiagram(b.limit)
	order := b.order
	if len(order) < len(b.Steps) {
		order = b.Steps
	}
	for _, s := range b.Steps {
		s.gate, s.act, s.ok, s.passed = always, always, always, always
		s.Node.Result = schema.InvalidType
	}
	if b.start != nil {
		c.decisionsAfter(b.start)
	}
	for _, s := range order {
		c.step(s)
	}
	c.bodyResult(b)
}

// bodyResult types what a loop or map body yields.
func (c *checker) bodyResult(b *Body) {
	switch {
	case b.parent == nil:
	case b.IR.Result != nil:
		b.Result = c.inferred(b.IR.Result, &env{c: c, body: b, at: b.survived(nil, always)})
	case len(b.Steps) == 1 && b.Steps[0].Node.Inline:
		s := b.Steps[0]
		b.Result = s.Node.Result
		if s.Catch {
			b.Result = schema.OptOf(b.Result, s.Node.ID.Name+" may have failed")
		}
		if s.when != nil {
			s.Maybe = true
			b.Result = schema.OptOf(b.Result, s.Node.ID.Name+" runs only when "+s.when.describe(0))
		}
	default:
		b.Result = schema.EmptyType
	}
}

// outputs types the workflow's result.
func (c *checker) outputs(p *Program) {
	p.Output = &schema.Type{Kind: schema.Struct}
	e := &env{c: c, body: p.Body, at: p.Body.survived(nil, always), scope: p.Body.scope}
	for _, o := range c.wf.Output {
		f := &schema.Field{Name: o.Name.Name, Description: o.Description, Omit: o.Omit, Span: o.Name.Span}
		if o.Type != nil {
			f.Type = o.Type
			c.value(o.Value, o.Type, e)
		} else {
			f.Type = c.inferred(o.Value, e)
		}
		p.Output.Fields = append(p.Output.Fields, f)
		p.Outputs = append(p.Outputs, &Argument{Field: f, Value: &Expected{Value: o.Value, Type: f.Type}})
	}
}

func (c *checker) report(d diag.Diagnostic) {
	if c.sink.Errors()-len(c.early) < maxErrors && (!c.unsure || !follows[d.Code]) {
		c.sink.Report(d)
	}
}

// maxErrors is how many mistakes of one workflow are reported, as in the parser: nobody reads more, and a hostile file
// could make millions.
const maxErrors = 500

// suggesting reports whether there is still somebody to read which spelling is meant. Looking for it takes time.
func (c *checker) suggesting() bool { return c.sink.Errors() <= maxSuggested }

func (c *checker) warn(d diag.Diagnostic) {
	d.Severity = diag.Warning
	c.report(d)
}

// follows are the mistakes that a wrong edge, switch or condition can be the cause of: they are about what is known of
// when nodes run. Whoever has mended the cause is told of those that are left.
var follows = map[diag.Code]bool{
	diag.NeverAbsent: true, diag.OptionalUse: true, diag.UnionUse: true, diag.NeverRan: true, diag.BackAndExit: true, diag.StateRace: true,
}

// reportUnknown reports a name with the nearest candidate as help and fix, or else the candidates.
func (c *checker) reportUnknown(code diag.Code, message string, at source.Span, name string, candidates []string) {
	d := diag.Diagnostic{Code: code, Message: message, Span: at}
	if c.suggesting() {
		diag.Suggest(&d, name, candidates)
	}
	c.report(d)
}

// undeclared reports the name of what a file has to declare.
func (c *checker) undeclared(what string, id ir.Ident, declared []string) {
	c.reportUnknown(diag.UnknownName, fmt.Sprintf("%s %q is not declared", what, id.Name), id.Span, id.Name, declared)
}

// noField reports a field that what it is written for does not have.
func (c *checker) noField(what string, id ir.Ident, fields []string) {
	c.reportUnknown(diag.UnknownField, fmt.Sprintf("%s has no field %q", what, id.Name), id.Span, id.Name, fields)
}

// references lists the names that a node's expressions read, each once, in order of appearance.
func (c *checker) references(n *ir.Node) []string {
	var out []string
	seen := map[string]bool{}
	ir.Expressions(n, func(e *expr.Node) {
		for _, ref := range e.Refs() {
			if !seen[ref.Text] {
				seen[ref.Text] = true
				out = append(out, ref.Text)
			}
		}
	})
	return out
}
