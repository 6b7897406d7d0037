package check

import (
	"fmt"
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// made checks the expression that makes a tool. It is at package level: it names nothing, changes nothing and cannot
// fail.
func (c *checker) made(t *ir.Tool, b *ir.Made) {
	s := &blockScope{c: c}
	switch {
	case b.New == nil || b.New.Node == nil:
		s.fault(t.Key.Span, "nothing makes tool %q", t.Key.Name)
	case b.Reach == nil:
		s.fault(t.Key.Span, "nobody says what tool %q reaches", t.Key.Name)
	}
	if b.Flow != nil && c.flows[b.Flow] == nil {
		return // what is wrong with it is reported
	}
	c.problems(b.New.Text, expr.CheckAt(b.New.Node, &madeScope{c: c, flow: c.flows[b.Flow]}, toolType(t), expr.Place{}))
}

// madeScope is what the expression that makes a tool can name: the workflow that the tool runs, if it runs one, and nothing
// else.
type madeScope struct {
	apart
	c    *checker
	flow *Program // nil: none
}

// TypeOf implements expr.CoreEnv.
func (s *madeScope) TypeOf(u *expr.Use) (*schema.Type, string) {
	switch {
	case u.Kind == expr.UseRun: // the runs that a Lambda is handed have this type
		return runType, "no run is in scope here"
	case s.flow == nil:
	case u.Kind == expr.UseProgram:
		return programType, ""
	case u.Kind == expr.UseFlow && u.Ref == s.flow.WF:
		return s.flow.Output, ""
	}
	return nil, fmt.Sprintf("a tool is not made of %q", u.Name)
}

// Input implements expr.CoreEnv.
func (s *madeScope) Input(*expr.Use) *schema.Type { return s.flow.Input }

// Do implements expr.CoreEnv.
func (s *madeScope) Do(*expr.Function, []*expr.Symbol, *schema.Signature) []expr.Problem {
	return []expr.Problem{{Message: expr.NoStatements, Fault: true}}
}

var programType = schema.PointerTo(schema.OpaqueOf(schema.FlowPath, "Info"))

// madeModel is the type of a model that a function makes.
func (c *checker) madeModel(m *ir.Model) *schema.Type {
	if m.New.Node.Type == nil {
		c.problems(m.New.Text, expr.CheckAt(m.New.Node, apart{}, nil, expr.Place{}))
	}
	return m.New.Node.Type
}

// agent notes a model with tools that a function lets work.
func (s *blockScope) agent(step *Step, a *ir.PerformAgent) {
	unbounded := int64(ir.Unbounded)
	step.Agent = &Agent{Model: s.c.usedModel(a.Model, step.Node.Span), name: step.Node.ID, Policy: &ir.Policy{MaxIterations: &a.Iterations, MaxToolCalls: &unbounded}}
	s.c.agents = true
	for _, id := range a.Tools {
		if t := s.c.resolveTool(id); t != nil {
			s.c.used[t] = true
			step.Agent.Tools = append(step.Agent.Tools, Choice{Name: id.Name, Tool: t, Span: id.Span})
		}
	}
	for _, f := range a.Fields {
		field := a.Type.Field(f.Key)
		if field == nil {
			s.fault(step.Node.Span, "%s has no field %q", a.Type, f.Key)
		}
		s.c.problems(source.Text{}, expr.CheckAt(f.Value, apart{}, field.Type, expr.Place{}))
	}
}

// works reports whether an agent is that of a step, or of a node that the step runs.
func (s *Step) works(a *ir.PerformAgent) bool {
	v, ok := s.Node.Verb.(*ir.Perform)
	return ok && (v.Agent == a || v.Inside != nil && slices.ContainsFunc(v.Inside.Nodes, func(n *ir.Node) bool {
		x, ok := n.Verb.(*ir.Perform)
		return ok && x.Agent == a
	}))
}

// loads checks the calls that the program makes before everything else.
func (c *checker) loads() {
	for _, call := range c.wf.Load {
		s := &blockScope{c: c}
		if call == nil || call.Node == nil || call.Node.Op != expr.Intrinsic || call.Node.Func.Const || call.Node.Func.Result != nil {
			s.fault(c.wf.Name.Span, "what a program loads is a call without a result")
		}
		c.problems(call.Text, expr.CheckAt(call.Node, apart{}, nil, expr.Place{Calls: true, Fails: true}))
	}
}

// filledType is the type of functions that fill in the input of a tool right before it is called.
var filledType = schema.FuncOf(&schema.Signature{Params: []*schema.Type{schema.AnyType}, Result: schema.AnyType, Fails: true})

// apart is what an expression at package level can name: nothing.
type apart struct{}

func (apart) Lookup(string) *expr.Symbol { return nil }
func (apart) Names() []string            { return nil }
func (apart) Covers([]*expr.Symbol) bool { return false }
func (apart) NameKind() string           { return "constant" }
