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
package check

import (
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
	Flows   []*Program // sub-workflows, each once, those that are called first
	Table   []*Step    // the node table: every step of this workflow and, after them, of its sub-workflows
	Names   *Names
}

// Check proves wf, whose tools bind has resolved. It reports to sink everything it finds, and returns nil when any of
// that, or anything reported before, is an error.
func Check(wf *ir.Workflow, sink *diag.Sink) *Program {
	flows := map[*ir.Workflow]*Program{}
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
		c := &checker{wf: wf, sink: sink, flows: flows}
		p := c.workflow()
		flows[wf] = p
		order = append(order, p)
		return p
	}
	root := visit(wf)
	root.Flows = order[:len(order)-1]
	root.number()
	root.Names = nameEverything(root, sink)
	if sink.HasErrors() {
		return nil
	}
	return root
}

// number fills the node table.
func (p *Program) number() {
	var walk func(b *Body)
	walk = func(b *Body) {
		for _, s := range b.Steps {
			s.Table = len(p.Table)
			p.Table = append(p.Table, s)
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

	tools     map[string][]*ir.Tool // by name without version
	used      map[*ir.Tool]bool
	state     map[string]*ir.State
	inputType *schema.Type
	stateType *schema.Type

	inputRead, stateRead, stateSet map[string]bool
	access                         map[*Step]*stateAccess
}

// workflow is the ordered list of passes.
func (c *checker) workflow() *Program {
	c.inputRead, c.stateRead, c.stateSet = map[string]bool{}, map[string]bool{}, map[string]bool{}
	c.access = map[*Step]*stateAccess{}
	c.used = map[*ir.Tool]bool{}
	p := &Program{WF: c.wf}

	c.declareTools()
	c.declareInput()
	c.declareState()
	c.checkTools()
	p.Body = c.body(&c.wf.Body, nil, nil, nil)
	c.outputs(p)
	c.policy(p.Body)
	c.unused(p)

	p.Input = c.inputType
	if len(c.wf.State) > 0 {
		p.State = c.stateType
	}
	return p
}

// body runs the passes over one body. enclosing is the step whose inside it is.
func (c *checker) body(b *ir.Body, enclosing *Step, outer *Body, vars []*Var) *Body {
	out := &Body{IR: b, parent: enclosing, outer: outer, vars: vars, byID: map[string]*Step{}}
	for i, n := range b.Nodes {
		s := &Step{Node: n, body: out, index: i, defaults: &c.wf.Defaults}
		out.Steps = append(out.Steps, s)
		if _, dup := out.byID[n.ID.Name]; !dup {
			out.byID[n.ID.Name] = s
		}
		if t, ok := n.Verb.(*ir.ToolCall); ok {
			s.Tool = c.resolveTool(t)
		}
	}
	c.connect(out)
	if !c.sortSteps(out) {
		c.unordered(out)
		return out
	}
	c.naturalLoops(out)
	out.activate()
	c.unreachable(out)
	for _, s := range out.order {
		c.step(s)
	}
	c.bodyResult(out)
	c.exclusiveExits(out)
	c.stateRaces(out)
	if !c.sink.HasErrors() {
		out.Plan = out.makePlan()
	}
	return out
}

// unordered checks what can be checked of a body whose steps have no order: one cycle is one message, and every result
// is poison.
func (c *checker) unordered(b *Body) {
	b.reach = nil
	b.diagram = newDiagram()
	for _, s := range b.Steps {
		s.act, s.ok = always, always
		s.Node.Result = schema.InvalidType
	}
	for _, s := range b.Steps {
		c.step(s)
	}
	c.bodyResult(b)
}

// bodyResult types what a loop or map body yields.
func (c *checker) bodyResult(b *Body) {
	switch {
	case b.parent == nil:
	case b.IR.Result != nil:
		b.Result = c.inferred(b.IR.Result, &env{c: c, body: b, at: always})
	case len(b.Steps) == 1 && b.Steps[0].Node.Inline:
		b.Steps[0].Read = true
		b.Result = b.Steps[0].Node.Result
	default:
		b.Result = schema.EmptyType
	}
}

// outputs types the workflow's result.
func (c *checker) outputs(p *Program) {
	p.Output = &schema.Type{Kind: schema.Struct}
	e := &env{c: c, body: p.Body, at: always}
	for _, o := range c.wf.Output {
		f := &schema.Field{Name: o.Name.Name, Description: o.Description, Span: o.Name.Span}
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

func (c *checker) report(d diag.Diagnostic) { c.sink.Report(d) }

func (c *checker) warn(d diag.Diagnostic) {
	d.Severity = diag.Warning
	c.sink.Report(d)
}

// reportUnknown reports a name with the nearest candidate as help and fix, or else the candidates.
func (c *checker) reportUnknown(code diag.Code, message string, at source.Span, name string, candidates []string) {
	d := diag.Diagnostic{Code: code, Message: message, Span: at}
	diag.Suggest(&d, name, candidates)
	c.report(d)
}

// references lists the node ids that a node's expressions read, each once, in order of appearance.
func (c *checker) references(n *ir.Node) []string {
	var out []string
	ir.Expressions(n, func(e *expr.Node) {
		for _, ref := range e.Refs() {
			if !slices.Contains(out, ref.Text) {
				out = append(out, ref.Text)
			}
		}
	})
	return out
}
