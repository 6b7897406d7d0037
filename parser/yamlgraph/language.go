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
	Eras:        []dialect.Era{{Name: "0.6", Engine: "yamlgraph 0.6.5"}, {Name: "0.4", Engine: "yamlgraph 0.4.3", Upstream: true}},
	Codes:       []diag.Code{diag.DialectDiffers, diag.NotSupported, diag.IgnoredKey},
	Differences: Differences,
	Provided:    &provided,
	Examples:    examples,
}

// gives is an object for commands whose output is read as JSON, and the type of the field that a Python function fills.
func (l *lowering) gives(n *Node) string {
	call, ok := n.Verb.(*ir.ToolCall)
	if !ok || call.Tool == nil {
		return ""
	}
	if l.kindOf(call.Tool) == "shell" && l.parsed[call.Tool.Key.Name] {
		return schema.JSONSchema(schema.MapOf(schema.AnyType))
	}
	if _, python := call.Tool.Binding.(*ir.PythonTool); python {
		if t := n.Token; t != nil && call.Tool.Out.Kind == schema.Any {
			if s := l.tree.StateField(t.Key.Name); s != nil && s.Type.Kind != schema.Any {
				return schema.JSONSchema(s.Type)
			}
		}
	}
	return ""
}
