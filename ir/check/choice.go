package check

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// A Pick is what a tool_call node can call, and with what. The set is closed: a name that is not a Choice calls nothing.
type Pick struct {
	Choices []Choice
	Denied  []string     // names of tools that the file declares and that must not be called here
	Out     *schema.Type // what `out:` declares; nil: any
	Of      *ir.ToolChoice

	Name *Expected // a string or an enum
	Args *Expected // a map, a struct or any; nil: none
	ID   *Expected // nil: none
}

// A Choice is a tool with the one name that stands for it at run time: as `allow` spells it, or as its key does.
type Choice struct {
	Name string
	Tool *ir.Tool
	Span source.Span // of the name in `allow`, or of the node

	Of    *ir.AgentTool // of an agent's tool; nil: made by a dialect
	Fixed []*Argument   // of an agent's tool: arguments that its model neither sees nor chooses
}

// Tools are those that the step itself may call, each once.
func (s *Step) Tools() []*ir.Tool {
	if s.Tool != nil {
		return []*ir.Tool{s.Tool}
	}
	var out []*ir.Tool
	add := func(t *ir.Tool) {
		if !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	for _, u := range s.Uses {
		if t, ok := u.Of.(*ir.Tool); ok {
			add(t)
		}
	}
	if s.Pick != nil || s.Agent != nil {
		for _, x := range s.choices() {
			add(x.Tool)
		}
	}
	return out
}

// choices are the tools that data or a model chooses from.
func (s *Step) choices() []Choice {
	if s.Agent != nil {
		return s.Agent.Tools
	}
	return s.Pick.Choices
}

// choices are the tools that a node can call. Nothing is reported: it may be asked before anything else.
func (c *checker) choices(v *ir.ToolChoice) []Choice {
	var out []Choice
	if !v.Open {
		for _, id := range v.Allow {
			for _, t := range c.findTools(id.Name) {
				out = append(out, Choice{Name: id.Name, Tool: t, Span: id.Span})
			}
		}
		return out
	}
	for _, t := range c.wf.Tools {
		if t.File == c.wf.File && c.callable(t) {
			out = append(out, Choice{Name: t.Key.Name, Tool: t, Span: v.Tool.Source()})
		}
	}
	return out
}

// callable reports whether a tool can be called without being named: it is in use, and the policy allows it.
func (c *checker) callable(t *ir.Tool) bool {
	return t.State != "deprecated" && t.State != "blocked" && c.allowed(effectsOf(t)) && ungranted(c.wf.Policy, t) == ""
}

// pick resolves what a tool_call node can call.
func (c *checker) pick(v *ir.ToolChoice) *Pick {
	p := &Pick{Out: v.Out, Of: v}
	seen := map[string]source.Span{}
	if v.Open {
		p.Choices = c.choices(v)
	}
	for _, id := range v.Allow {
		if first, dup := seen[id.Name]; dup {
			c.report(diag.Diagnostic{Code: diag.DuplicateName, Span: id.Span, Message: fmt.Sprintf("tool %q appears twice in `allow`", id.Name), Help: "remove one",
				Related: related(first, "first listed here")})
			continue
		}
		seen[id.Name] = id.Span
		if t := c.resolveTool(id, v.Allow...); t != nil {
			p.Choices = append(p.Choices, Choice{Name: id.Name, Tool: t, Span: id.Span})
		}
	}
	for _, t := range c.wf.Tools {
		if t.File == c.wf.File && p.choice(t.Key.Name) == nil {
			p.Denied = append(p.Denied, t.Key.Name)
		}
	}
	return p
}

// openChoice warns about a choice that grows with the file.
func (c *checker) openChoice(v *ir.ToolChoice, p *Pick) {
	if c.wf.Public || len(p.Choices) == 0 || v.Tool == nil {
		return
	}
	allow := "[" + strings.Join(p.names(), ", ") + "]"
	d := diag.Diagnostic{Code: diag.OpenChoice, Span: v.Tool.Source(), Message: "this can be every tool of the file, also one that is added later", Help: "write `allow: " + allow + "`"}
	if at := v.AllowAt; !at.At.IsZero() && !strings.HasPrefix(at.Before, `"`) && !strings.Contains(allow, "@") {
		d.Fixes = []diag.Fix{{Title: d.Help, Edits: []diag.Edit{{Span: at.At, New: at.Before + allow + at.After}}}}
	}
	c.warn(d)
}

func (p *Pick) choice(name string) *ir.Tool {
	for _, x := range p.Choices {
		if x.Name == name {
			return x.Tool
		}
	}
	return nil
}

func (p *Pick) names() []string {
	var out []string
	for _, x := range p.Choices {
		out = append(out, x.Name)
	}
	return out
}

// toolChoice types a tool_call node. Its result is always there, with what failed as data.
func (c *checker) toolChoice(s *Step, v *ir.ToolChoice, e *env) {
	p := s.Pick
	before := c.sink.Errors()
	id := schema.AnyType // no id: null
	if v.Tool != nil {
		p.Name = &Expected{Value: v.Tool, Type: c.toolName(v.Tool, p, e)}
	}
	if v.Args != nil {
		p.Args = &Expected{Value: v.Args, Type: c.toolArgs(v.Args, e)}
	}
	if v.ID != nil {
		id = c.inferred(v.ID, e)
		p.ID = &Expected{Value: v.ID, Type: id}
	}
	for _, x := range p.Choices {
		c.used[x.Tool] = true
	}
	if v.Open && c.sink.Errors() == before {
		c.openChoice(v, p)
	}
	result := schema.AnyType
	if v.Out != nil && v.Out.Kind != schema.Any {
		c.choiceOut(p, v)
		result = schema.OptOf(v.Out, "the call may have failed")
	}
	if len(p.Choices) == 0 && c.sink.Errors() == before && (v.Open || len(v.Allow) == 0) {
		c.report(diag.Diagnostic{Code: diag.NotAllowed, Span: s.Node.ID.Span, Message: "this node has no tool to call",
			Help: "name tools in `allow`, or declare some in this file"})
	}
	s.Node.Result = &schema.Type{
		Kind: schema.Struct,
		Go:   &schema.Go{Path: schema.FlowPath, Name: "ToolResult", Args: []*schema.Type{id, result}},
		Fields: []*schema.Field{
			{Name: "task_id", GoName: "TaskID", Type: id},
			{Name: "tool", GoName: "Tool", Type: schema.StringType},
			{Name: "success", GoName: "Success", Type: schema.BoolType},
			{Name: "result", GoName: "Result", Type: result},
			{Name: "error", GoName: "Error", Type: schema.OptOf(schema.StringType, "the call may have succeeded")},
		},
	}
	if id.Kind == schema.Invalid || result.Kind == schema.Invalid {
		s.Node.Result = schema.InvalidType
	}
}

// toolName types the name of the tool. Of an enum every value must be a tool that can be called.
func (c *checker) toolName(v ir.Value, p *Pick, e *env) *schema.Type {
	at := v.Source()
	if lit, ok := v.(*ir.Scalar); ok {
		d := diag.Diagnostic{Code: diag.NotAllowed, Span: at, Message: fmt.Sprintf("%q is always the same tool, and `tool_call` is for one that is chosen at run time", lit.Text.Value),
			Help: "write `tool: " + lit.Text.Value + "` with its arguments under `with:`, or an expression with `$`"}
		c.report(d)
		return schema.InvalidType
	}
	t := c.value(v, nil, e)
	switch t.Kind {
	case schema.String, schema.Invalid:
	case schema.Enum:
		var wrong []string
		for _, name := range t.Values {
			if p.choice(name) == nil {
				wrong = append(wrong, strconv.Quote(name))
			}
		}
		if len(wrong) == 0 || len(p.Choices) == 0 {
			return t
		}
		d := diag.Diagnostic{Code: diag.NotAllowed, Span: at, Message: "this can be " + strings.Join(wrong, " or ") + ", which this node cannot call",
			Help: "add it to `allow`, or remove it from the enum; the tools here are " + quotedList(p.names())}
		if t.Decl != nil {
			d.Related = related(t.Decl.Span, t.Decl.Name+" is declared here")
		}
		c.report(d)
		return schema.InvalidType
	case schema.Opt:
		c.report(diag.Diagnostic{Code: diag.OptionalUse, Span: at, Message: "`tool_call` needs the name of a tool, and this may be absent: " + t.Why,
			Help: "give a default: `default(" + exprText(v) + ", \"\")`"})
		return schema.InvalidType
	default:
		c.report(diag.Diagnostic{Code: diag.TypeMismatch, Span: at, Message: fmt.Sprintf("`tool_call` needs the name of a tool, a string or an enum, and this is %s", t)})
		return schema.InvalidType
	}
	return t
}

// toolArgs types the arguments: by name, whatever they are.
func (c *checker) toolArgs(v ir.Value, e *env) *schema.Type {
	if _, ok := v.(*ir.Object); ok {
		return c.value(v, schema.AnyType, e)
	}
	t := c.value(v, nil, e)
	switch t.Kind {
	case schema.Any, schema.Map, schema.Struct, schema.Invalid:
		return t
	case schema.Opt:
		c.report(diag.Diagnostic{Code: diag.OptionalUse, Span: v.Source(), Message: "`with` needs the arguments by name, and this may be absent: " + t.Why,
			Help: "make the node depend on it, or read it where it is present"})
	default:
		c.report(diag.Diagnostic{Code: diag.TypeMismatch, Span: v.Source(), Message: fmt.Sprintf("`with` needs the arguments by name, a map, and this is %s", t),
			Help: "write `with: {name: value}`, or an expression of type `map<any>` or `any`"})
	}
	return schema.InvalidType
}

// choiceOut holds the results of the tools to what the node declares; a dynamic one is decoded at run time.
func (c *checker) choiceOut(p *Pick, v *ir.ToolChoice) {
	if v.Out.Kind == schema.Opt {
		c.report(diag.Diagnostic{Code: diag.TypeMismatch, Span: v.Tool.Source(), Message: fmt.Sprintf("`out` is the type of a result that is there, and this is %s", v.Out),
			Help: "write `" + v.Out.Elem.String() + "`: `result` is optional anyway"})
		return
	}
	for _, x := range p.Choices {
		if have := toolOut(x.Tool); have.Kind != schema.Any && !schema.Assignable(have, v.Out) {
			c.report(diag.Diagnostic{Code: diag.TypeMismatch, Span: x.Span, Message: fmt.Sprintf("the result of tool %q is %s, but `out` says %s", x.Name, have, v.Out),
				Help: "write `out: any`, or leave the tool out of `allow`", Related: related(x.Tool.Key.Span, "the tool is declared here")})
		}
	}
}

func quotedList(names []string) string {
	if len(names) > 8 {
		names = append(slices.Clone(names[:8]), "...")
	}
	return "`" + strings.Join(names, "`, `") + "`"
}
