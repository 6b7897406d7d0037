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
func (c *checker) dynamic() *Program { return c.tokens() }

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
