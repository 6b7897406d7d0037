package check

import (
	"fmt"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// A DynamicPhase is a part of a workflow with dynamic data, with its steps in the order in which they run: those of a wave
// side by side, the waves one after the other.
type DynamicPhase struct {
	IR    *ir.Phase
	Waves [][]*Step
}

// DynamicPath is the package of the state's fields.
const DynamicPath = schema.RuntimePath + "/dynamic"

// dynamic checks a workflow of a dialect whose data is dynamic: that names are real, that nodes have an order, and that
// what they read and write is declared. What its values are is known when it runs.
func (c *checker) dynamic() *Program {
	if c.wf.Dynamic.Tokens != nil {
		return c.tokens()
	}
	if c.wf.Dynamic.Dialect == "sirenspec" {
		return c.sirenspec()
	}
	p := &Program{WF: c.wf, Input: &schema.Type{Kind: schema.Struct}}
	c.declareTools()
	p.State = c.dynamicState()
	p.Output = &schema.Type{Kind: schema.Struct, Fields: []*schema.Field{
		{Name: "status", Type: &schema.Type{Kind: schema.Enum, Values: []string{"success", "partial", "failed"}}},
		{Name: "finalState", Type: p.State},
	}}
	p.Body = c.dynamicBody(p)
	c.checkTools()
	c.neverSet()
	return p
}

// dynamicState is the state as a struct of fields that may be absent, each in the type of the package dynamic.
func (c *checker) dynamicState() *schema.Type {
	c.state = map[string]*ir.State{}
	t := &schema.Type{Kind: schema.Struct}
	for _, s := range c.wf.State {
		c.state[s.Name.Name] = s
		typ := *s.Type
		typ.Go = &schema.Go{Path: DynamicPath, Name: "Field"}
		t.Fields = append(t.Fields, &schema.Field{Name: s.Name.Name, Type: &typ, Span: s.Name.Span, Omit: true})
	}
	return t
}

// dynamicBody makes steps of the nodes and arcs of their routes, and puts them in order.
func (c *checker) dynamicBody(p *Program) *Body {
	b := &Body{IR: &c.wf.Body, byID: map[string]*Step{}, limit: c.limit}
	for i, n := range c.wf.Body.Nodes {
		s := &Step{Node: n, body: b, index: i, defaults: &ir.Defaults{}, effects: c.nodeEffects(n)}
		n.Result = schema.InvalidType
		b.Steps = append(b.Steps, s)
		if _, dup := b.byID[n.ID.Name]; !dup {
			b.byID[n.ID.Name] = s
		}
		switch v := n.Verb.(type) {
		case *ir.ToolCall:
			s.Tool = c.resolveTool(v.Name)
			v.Tool = s.Tool
			c.used[s.Tool] = true
		case *ir.Flow:
			s.Flow = c.flows[v.Flow]
		case *ir.LLM:
			s.Ask = &Ask{Model: c.model(v.Model), Prompt: &Prompt{}}
		}
	}
	for _, s := range b.Steps {
		c.dynamicRoutes(b, s)
		c.dynamicNames(s.Node)
	}
	if !c.sortSteps(b) {
		return b
	}
	b.Plan = &Plan{Kind: Seq}
	for _, ph := range c.wf.Dynamic.Phases {
		phase := &DynamicPhase{IR: ph, Waves: b.waves(ph, c.wf.Dynamic.Concurrency)}
		p.Phases = append(p.Phases, phase)
		for _, w := range phase.Waves {
			b.Plan.Kids = append(b.Plan.Kids, wavePlan(w))
		}
		if c.dynamicReference(ph.Over); ph.Over != nil {
			c.listField(ph.Over)
		}
		ph.Until.Refs(c.dynamicReference)
	}
	return b
}

// dynamicRoutes makes arcs of the routes that lead to a step.
func (c *checker) dynamicRoutes(b *Body, s *Step) {
	for _, r := range s.Node.Dynamic.Routes {
		from := b.byID[r.From.Name]
		if from == nil {
			continue // reported by the parser, which knows what the dialect calls it
		}
		a := &arc{from: from, to: s, at: r.To.Span}
		if r.When != nil {
			a.decision = &Decision{Step: from, Kind: When, Cases: []Case{{Label: r.When.String()}, {Label: "else"}}}
			r.When.Refs(c.dynamicReference)
		}
		from.out, s.in, b.arcs = append(from.out, a), append(s.in, a), append(b.arcs, a)
	}
}

// dynamicNames holds the names that a node reads and writes to those that the state declares.
func (c *checker) dynamicNames(n *ir.Node) {
	d := n.Dynamic
	for _, id := range d.Reads {
		c.stateName(id, fmt.Sprintf("node %q reads undeclared state field %q", n.ID.Name, id.Name))
	}
	for _, id := range d.Writes {
		c.stateName(id, fmt.Sprintf("node %q writes undeclared state field %q", n.ID.Name, id.Name))
	}
	for _, p := range d.Whens {
		p.Refs(c.dynamicReference)
	}
	if d.Args != nil {
		ir.ValueReferences(d.Args, c.dynamicReference)
	}
	if d.Prompt != nil {
		ir.ValueReferences(d.Prompt, c.dynamicReference)
	}
	if d.Each != nil {
		c.dynamicReference(d.Each.Over)
		c.listField(d.Each.Over)
	}
}

func (c *checker) stateName(id ir.Ident, message string) {
	if c.state[id.Name] == nil {
		c.reportUnknown(diag.UnknownName, message, id.Span, id.Name, c.stateNames())
	}
}

func (c *checker) stateNames() []string {
	var names []string
	for _, s := range c.wf.State {
		names = append(names, s.Name.Name)
	}
	return names
}

// dynamicReference warns about a reference to a field that the state does not have: engines take it for a value that is
// missing, so that nobody hears of the mistake.
func (c *checker) dynamicReference(r *ir.Reference) {
	if r == nil || r.Root != "state" || len(r.Path) == 0 || c.state[r.Path[0]] != nil {
		return
	}
	d := diag.Diagnostic{Severity: diag.Warning, Code: diag.UnknownName, Span: r.Text.Span,
		Message: fmt.Sprintf("the state has no field %q: the value is always missing", r.Path[0])}
	if c.suggesting() {
		diag.Suggest(&d, r.Path[0], c.stateNames())
		d.Fixes = nil // the reference is more than the name
	}
	c.report(d)
}

// listField reports a list that cannot be one.
func (c *checker) listField(r *ir.Reference) {
	if r.Root != "state" || len(r.Path) != 1 || c.state[r.Path[0]] == nil {
		return
	}
	if t := c.state[r.Path[0]].Type; t.Kind != schema.List && t.Kind != schema.Any {
		c.report(diag.Diagnostic{Code: diag.TypeMismatch, Span: r.Text.Span, Message: fmt.Sprintf("this takes a list, and the state field %s is not declared as one", r.Path[0]),
			Related: related(c.state[r.Path[0]].Name.Span, "it is declared here")})
	}
}

// waves are the steps of a phase in order: with a concurrency of one each alone, in the order of Kahn's algorithm over the
// order of the file, else as soon as all steps that lead to them have ended, so many at a time.
func (b *Body) waves(ph *ir.Phase, concurrency int) [][]*Step {
	in := map[*Step]bool{}
	var steps []*Step
	for _, n := range ph.Nodes {
		if s := b.byID[n.ID.Name]; s != nil && (ph.Kind != ir.PhaseGraph || !in[s]) { // a round may run a node twice
			in[s] = true
			steps = append(steps, s)
		}
	}
	var out [][]*Step
	if ph.Kind != ir.PhaseGraph {
		for _, s := range steps {
			out = append(out, []*Step{s})
		}
		return out
	}
	level := map[*Step]int{}
	var levels [][]*Step
	for _, s := range b.kahn(in) {
		for _, a := range s.in {
			if in[a.from] {
				level[s] = max(level[s], level[a.from]+1)
			}
		}
		if concurrency <= 1 {
			out = append(out, []*Step{s})
			continue
		}
		for len(levels) <= level[s] {
			levels = append(levels, nil)
		}
		levels[level[s]] = append(levels[level[s]], s)
	}
	for _, wave := range levels {
		for len(wave) > 0 {
			n := min(concurrency, len(wave))
			out, wave = append(out, wave[:n]), wave[n:]
		}
	}
	return out
}

// kahn is the order of a queue that begins with the steps that nothing leads to and takes others when the last step
// before them has come: the order in which one node at a time runs.
func (b *Body) kahn(in map[*Step]bool) []*Step {
	missing := map[*Step]int{}
	var queue []*Step
	for _, s := range b.Steps {
		if !in[s] {
			continue
		}
		for _, a := range s.in {
			if in[a.from] {
				missing[s]++
			}
		}
		if missing[s] == 0 {
			queue = append(queue, s)
		}
	}
	for i := 0; i < len(queue); i++ {
		for _, a := range queue[i].out {
			if missing[a.to]--; in[a.to] && missing[a.to] == 0 {
				queue = append(queue, a.to)
			}
		}
	}
	return queue
}

// wavePlan is the plan of steps that run side by side, each under its conditions.
func wavePlan(wave []*Step) *Plan {
	var kids []*Plan
	for _, s := range wave {
		leaf := &Plan{Kind: Leaf, Step: s}
		cond := &Cond{All: true}
		for _, a := range s.in {
			t := Term{Ran: a.from}
			if a.decision != nil {
				t.Decision, t.Cases = a.decision, []int{0}
			}
			cond.Any = append(cond.Any, t)
		}
		if len(cond.Any) > 0 {
			leaf = &Plan{Kind: If, Cond: cond, Kids: []*Plan{leaf}}
		}
		kids = append(kids, leaf)
	}
	if len(kids) == 1 {
		return kids[0]
	}
	return &Plan{Kind: Par, Kids: kids}
}

// Routes are the steps that lead to s, with the route of each, in the order of the file.
func (s *Step) Routes(f func(from *Step, r *ir.Route)) {
	for _, r := range s.Node.Dynamic.Routes {
		if from := s.body.byID[r.From.Name]; from != nil {
			f(from, r)
		}
	}
}
