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
	Is: Is, Parse: Parse, Schema: Schema, Gives: gives,
	Codes:       []diag.Code{diag.DialectDiffers, diag.NotSupported, diag.IgnoredKey},
	Differences: Differences,
}

// gives is the contract of modules and of agents that are commands: the fields of the state that the node writes.
func gives(w *ir.Workflow, n *ir.Node) string {
	call, ok := n.Verb.(*ir.ToolCall)
	if !ok || call.Tool == nil {
		return ""
	}
	switch call.Tool.Binding.(type) {
	case *ir.JSTool:
		return schema.JSONSchema(&schema.Type{Kind: schema.Struct, Fields: []*schema.Field{
			{Name: "state_delta", Type: written(w, n)}, {Name: "edge_output", Type: schema.OptOf(schema.AnyType, "")}}})
	case *ir.DatasetTool:
		return schema.JSONSchema(schema.ListOf(schema.MapOf(schema.AnyType)))
	case *ir.CommandTool: // a cli-agent
		if n.Dynamic.JSON && n.Dynamic.Schema != "" {
			return n.Dynamic.Schema
		}
		if n.Dynamic.JSON {
			return schema.JSONSchema(written(w, n))
		}
	}
	return ""
}

// written is an object of the state fields that a node writes.
func written(w *ir.Workflow, n *ir.Node) *schema.Type {
	t := &schema.Type{Kind: schema.Struct}
	for _, id := range n.Dynamic.Writes {
		if s := w.StateField(id.Name); s != nil {
			t.Fields = append(t.Fields, &schema.Field{Name: id.Name, Type: s.Type})
		}
	}
	return t
}
