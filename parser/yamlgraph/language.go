package yamlgraph

import (
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// Language is YAMLGraph.
var Language = dialect.Language{
	Name: Name, Root: "graph.yaml", Needs: "python3", Merges: true,
	Is: Is, Parse: Parse, Schema: Schema, Functions: functions,
	Codes:       []diag.Code{diag.DialectDiffers, diag.NotSupported, diag.IgnoredKey},
	Differences: Differences,
	Examples:    examples,
}

// gives is an object for commands whose output is read as JSON, and the type of the field that a Python function fills.
func gives(w *ir.Workflow, n *ir.Node) string {
	call, ok := n.Verb.(*ir.ToolCall)
	if !ok || call.Tool == nil {
		return ""
	}
	switch b := call.Tool.Binding.(type) {
	case *ir.ShellTool:
		if b.Parse == "json" {
			return schema.JSONSchema(schema.MapOf(schema.AnyType))
		}
	case *ir.PythonTool:
		if t := n.Dynamic.Token; t != nil && call.Tool.Out.Kind == schema.Any {
			if s := w.StateField(t.Key.Name); s != nil && s.Type.Kind != schema.Any {
				return schema.JSONSchema(s.Type)
			}
		}
	}
	return ""
}
