package yamlgraph

import (
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

var stateTypes = map[string]*schema.Type{
	"str": schema.StringType, "string": schema.StringType, "int": schema.IntType, "integer": schema.IntType, "float": schema.FloatType,
	"bool": schema.BoolType, "boolean": schema.BoolType, "list": schema.ListOf(schema.AnyType), "dict": schema.MapOf(schema.AnyType), "any": schema.AnyType,
}

var fieldShape = &dialect.Shape{What: "a state field", Open: true, Keys: []dialect.Key{
	{Name: "type", Doc: "the type of its values"},
	{Name: "reducer", Doc: "what a write does to it: add, last_value or sorted_add"},
	{Name: "description", Doc: "what it is for"},
}}

// state reads the declared fields. A type that the engine does not know is any.
func (p *parser) state(n *yamlnode.Node) {
	switch {
	case n == nil:
		return
	case !p.IsMapping(n, "`state`"):
		return
	}
	for _, e := range n.Entries {
		id := ir.Ident{Name: e.Key.Text.Value, Span: e.Key.Span}
		switch v := e.Value; v.Kind {
		case yamlnode.Mapping:
			p.reduced(id, v)
		case yamlnode.Sequence:
			p.WrongShape(v, "the type of a state field is a word")
		default:
			p.field(id, stateType(v))
		}
	}
}

func stateType(n *yamlnode.Node) *schema.Type {
	if n != nil && n.Kind == yamlnode.Scalar {
		if known := stateTypes[strings.ToLower(strings.TrimSpace(n.Text.Value))]; known != nil {
			return known
		}
	}
	return schema.AnyType
}

// reduced reads a field that says what writes do to it.
func (p *parser) reduced(id ir.Ident, n *yamlnode.Node) {
	m, ok := p.Mapping(n, fieldShape)
	if !ok {
		return
	}
	s := p.field(id, stateType(m.Get("type")))
	r := m.Get("reducer")
	if r == nil {
		return
	}
	switch p.Word(r, "the reducer of a state field", "add", "last_value", "sorted_add") {
	case "add", "sorted_add":
		s.Merge = ir.Merge{Kind: ir.MergeAppend, Span: r.Span}
	}
}

// field adds a field to the state; one that is there already stays as it is.
func (p *parser) field(id ir.Ident, typ *schema.Type) *ir.State {
	if s := p.fields[id.Name]; s != nil {
		return s
	}
	if !idForm.MatchString(id.Name) {
		p.BadField(id.Span)
	}
	s := &ir.State{Name: id, Type: typ, Span: id.Span, Merge: grows(id.Name)}
	p.fields[id.Name] = s
	p.wf.State = append(p.wf.State, s)
	return s
}

// grows is the rule of a field that every state has.
func grows(name string) ir.Merge {
	if name == "errors" || name == "messages" {
		return ir.Merge{Kind: ir.MergeAppend}
	}
	return ir.Merge{}
}

// always are the fields that every state has; one of them is in the Go when the file names it, or a function that is
// given the state.
var always = map[string]*schema.Type{
	"thread_id": schema.StringType, "current_step": schema.StringType, "error": schema.AnyType, "errors": schema.ListOf(schema.AnyType), "messages": schema.ListOf(schema.AnyType),
	"started_at": schema.AnyType, "completed_at": schema.AnyType, "input": schema.StringType, "topic": schema.StringType, "style": schema.StringType,
	"word_count": schema.IntType, "message": schema.StringType,
	"_loop_counts": schema.AnyType, "_loop_limit_reached": schema.BoolType, "_agent_iterations": schema.IntType, "_agent_limit_reached": schema.BoolType,
	"_route": schema.StringType, "_race_winner": schema.AnyType, "_tool_results": schema.ListOf(schema.AnyType),
}

// alwaysOrder is always in the order of the engine.
var alwaysOrder = []string{"thread_id", "current_step", "error", "errors", "messages", "started_at", "completed_at", "input", "topic", "style", "word_count", "message"}

// common leaves the fields that every state has to the checks, which know what functions name.
func (p *parser) common() {
	for _, name := range alwaysOrder {
		if p.fields[name] == nil {
			at := p.wf.Name.Span
			p.tree.Common = append(p.tree.Common, &ir.State{Name: ir.Ident{Name: name, Span: at}, Type: always[name], Span: at, Merge: grows(name)})
		}
	}
}
