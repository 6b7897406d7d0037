package openexpertise

import (
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// Language is OpenExpertise.
var Language = dialect.Language{
	Name: Name, Root: "experience.yaml", Needs: "node",
	Is: Is, Parse: Parse, Schema: Schema, Functions: functions, Modules: []string{"openexpertise/sqlite"}, Provided: &provided,
	Eras:        []dialect.Era{{Name: "repository", Engine: "the engine of its repository (0.1.4)", Upstream: true}},
	Codes:       []diag.Code{diag.DialectDiffers, diag.NotSupported, diag.IgnoredKey},
	Differences: Differences,
	Examples:    examples,
}

// gives is the contract of modules and of agents that are commands, as a JSON Schema: the fields of the state that the node
// writes. Empty: anything will do.
func (p *parser) gives(n *Node) string {
	call, ok := n.Verb.(*ir.ToolCall)
	if !ok {
		return ""
	}
	switch call.Tool.Binding.(type) {
	case *ir.JSTool:
		return schema.JSONSchema(&schema.Type{Kind: schema.Struct, Fields: []*schema.Field{
			{Name: "state_delta", Type: p.takenFrom(n)}, {Name: "edge_output", Type: schema.OptOf(schema.AnyType, "")}}})
	case *ir.Made:
		return schema.JSONSchema(schema.ListOf(schema.MapOf(schema.AnyType)))
	case *ir.CommandTool: // a cli-agent
		if n.JSON && n.Schema != "" {
			return n.Schema
		}
		if n.JSON {
			return schema.JSONSchema(p.takenFrom(n))
		}
	}
	return ""
}

// takenFrom is an object of the state fields that a node writes.
func (p *parser) takenFrom(n *Node) *schema.Type {
	t := &schema.Type{Kind: schema.Struct}
	for _, id := range n.Writes {
		if s := p.field(id.Name); s != nil {
			t.Fields = append(t.Fields, &schema.Field{Name: id.Name, Type: s.Type})
		}
	}
	return t
}
