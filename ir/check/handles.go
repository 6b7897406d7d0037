package check

import (
	"fmt"
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// A Use is a tool that a Perform calls, a model that it asks, or a workflow that it runs.
type Use struct {
	Of     any   // *ir.Tool, *ir.Model, *ir.Workflow or *ir.ToolChoice
	AtMost int64 // in one attempt, or for one item; 0: nothing bounds it
	Item   bool  // it is used for the items of a list
}

// The types of Handles.
var (
	runType   = schema.PointerTo(schema.OpaqueOf(schema.FlowPath, "Run"))
	nodeType  = schema.PointerTo(schema.OpaqueOf(schema.FlowPath, "Node"))
	modelType = schema.PointerTo(schema.OpaqueOf(schema.ModelPath, "Model"))
	slotType  = schema.OpaqueOf(schema.DynamicPath, "Slot")

	choiceType = schema.FuncOf(&schema.Signature{Params: []*schema.Type{runType, schema.StringType, schema.PointerTo(schema.OpaqueOf(schema.ValuePath, "Args"))}, Result: schema.AnyType, Fails: true})

	answerType = schema.PointerTo(schema.OpaqueOf(schema.ModelPath, "Schema", &schema.Field{Name: "json", GoName: "JSON", Type: schema.BytesType}))
)

// TypeOf implements expr.CoreEnv.
func (s *blockScope) TypeOf(u *expr.Use) (*schema.Type, string) {
	if u.Kind == expr.UseText {
		return s.textType(u)
	}
	if s.body.text != nil {
		return nil, fmt.Sprintf("the text function %q uses what only a body has", s.body.text.Name.Name)
	}
	switch u.Kind {
	case expr.UseRun:
		return runType, ""
	case expr.UseNode:
		return nodeType, s.wrongNode(u)
	case expr.UseSlots:
		return slotType, s.wrongSlots()
	case expr.UseAnswer:
		if a, ok := u.Ref.(*ir.Answer); !ok || s.step == nil || a.JSON == "" {
			return nil, fmt.Sprintf("%q is not an answer that a node asks for", u.Name)
		}
		return answerType, ""
	case expr.UseTool:
		t, _ := u.Ref.(*ir.Tool)
		if !slices.Contains(s.c.wf.Tools, t) {
			return nil, fmt.Sprintf("%q is not a tool of the workflow", u.Name)
		}
		return toolType(t), s.wrongUse()
	case expr.UseChoice:
		if x, ok := u.Ref.(*ir.ToolChoice); ok && (x.Open || x.Allow != nil) { // an empty list: of a file that has only tools which it cannot be
			return choiceType, s.wrongUse()
		}
		return nil, fmt.Sprintf("%q is not a choice of tools", u.Name)
	case expr.UseAgent:
		a, ok := u.Ref.(*ir.PerformAgent)
		if !ok || s.step == nil || !s.step.works(a) {
			return nil, fmt.Sprintf("%q is not an agent of the node", u.Name)
		}
		return a.Type, ""
	case expr.UseModel:
		if m, ok := u.Ref.(*ir.Model); ok && slices.Contains(s.c.wf.Models, m) {
			if m.New != nil {
				return s.c.madeModel(m), s.wrongUse()
			}
			return modelType, s.wrongUse()
		}
		return nil, fmt.Sprintf("%q is not a model of the workflow", u.Name)
	case expr.UseFlow:
		wf, _ := u.Ref.(*ir.Workflow)
		if p := s.c.flows[wf]; p != nil {
			return p.Output, s.wrongUse()
		}
		return nil, fmt.Sprintf("%q is not a workflow that this one runs", u.Name)
	}
	return nil, fmt.Sprintf("%q is not a handle", u.Name)
}

// Answers are what the answers that a Perform asks for have to fit.
func (s *Step) Answers() []*ir.Answer {
	var out []*ir.Answer
	v, ok := s.Node.Verb.(*ir.Perform)
	if !ok || v.Call == nil {
		return nil
	}
	v.Call.Node.Walk(func(n *expr.Node) bool {
		if n.Op == expr.Handle && n.Use.Kind == expr.UseAnswer {
			if a, ok := n.Use.Ref.(*ir.Answer); ok && !slices.Contains(out, a) {
				out = append(out, a)
			}
		}
		return true
	})
	return out
}

// Input implements expr.CoreEnv.
func (s *blockScope) Input(u *expr.Use) *schema.Type {
	if wf, ok := u.Ref.(*ir.Workflow); ok && s.c.flows[wf] != nil {
		return s.c.flows[wf].Input
	}
	return schema.EmptyType
}

// toolType is the type of a tool's variable.
func toolType(t *ir.Tool) *schema.Type {
	typ := schema.PointerTo(schema.OpaqueOf(schema.FlowPath, "Tool"))
	typ.Go.Args = []*schema.Type{toolIn(t), toolOut(t)}
	return typ
}

// wrongNode says what is wrong with the Handle of a node: one that nothing names is that of the Perform.
func (s *blockScope) wrongNode(u *expr.Use) string {
	switch ref := u.Ref.(type) {
	case nil:
		if s.step == nil {
			return "no node is in scope here"
		}
	case *ir.Node:
		if !slices.Contains(s.body.IR.Nodes, ref) && !s.step.within(ref) {
			return fmt.Sprintf("%q is not a node of the body", u.Name)
		}
	case *ir.Scope:
		if !s.body.scoped(ref) {
			return fmt.Sprintf("no loop has the scope %q", u.Name)
		}
	default:
		return fmt.Sprintf("%q is not a node", u.Name)
	}
	return ""
}

// wrongUse says that what is outside of a Perform calls, asks and runs nothing: plans would not know of it.
func (s *blockScope) wrongUse() string {
	if s.step == nil {
		return "only a perform uses tools, models and workflows"
	}
	return ""
}

func (s *blockScope) wrongSlots() string {
	if len(s.c.wf.Groups) > 0 {
		return "the state has groups, which have no slots"
	}
	for _, f := range s.c.wf.State {
		if !f.Open {
			return fmt.Sprintf("the state field %q is not open", f.Name.Name)
		}
	}
	return ""
}

// Scopes are the scopes of the loops in the body's Block, in order.
func (b *Body) Scopes() []*ir.Scope {
	var out []*ir.Scope
	b.IR.Block.All(func(s ir.Stmt) {
		var at *ir.Scope
		switch s := s.(type) {
		case *ir.WhileStmt:
			at = s.Scope
		case *ir.RangeStmt:
			at = s.Scope
		}
		if at != nil {
			out = append(out, at)
		}
	})
	return out
}

func (b *Body) scoped(at *ir.Scope) bool { return slices.Contains(b.Scopes(), at) }
