package main

import (
	"encoding/json"
	"fmt"
	"path"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// standIns are JSON Schemas of what the nodes of a public dialect are given by tools that say nothing of it themselves, by
// the places of the nodes in the program (runtime.Node.Pos): without them a stand-in gives what no such node can go on with.
func standIns(w *ir.Workflow) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	gather(w, out)
	return out
}

func gather(w *ir.Workflow, out map[string]json.RawMessage) {
	if w.Dynamic != nil {
		state := map[string]*schema.Type{}
		for _, s := range w.State {
			state[s.Name.Name] = s.Type
		}
		for _, n := range w.Body.Nodes {
			if text := given(w, n, state); text != "" {
				at := n.ID.Span.Start()
				out[fmt.Sprintf("%s:%d:%d", path.Base(n.ID.Span.File.Name), at.Line, at.Col)] = json.RawMessage(text)
			}
		}
	}
	for _, f := range w.Flows {
		gather(f, out)
	}
}

// given is the schema of what a node is given; empty when any value, or what the type of its tool says, will do.
func given(w *ir.Workflow, n *ir.Node, state map[string]*schema.Type) string {
	call, ok := n.Verb.(*ir.ToolCall)
	if !ok || call.Tool == nil || n.Dynamic == nil {
		return ""
	}
	switch b := call.Tool.Binding.(type) {
	case *ir.JSTool: // of OpenExpertise: the contract of its modules
		if w.Dynamic.Dialect != "openexpertise" {
			return ""
		}
		return schema.JSONSchema(&schema.Type{Kind: schema.Struct, Fields: []*schema.Field{
			{Name: "state_delta", Type: fields(n.Dynamic.Writes, state)}, {Name: "edge_output", Type: schema.OptOf(schema.AnyType, "")}}})
	case *ir.DatasetTool:
		return schema.JSONSchema(schema.ListOf(schema.MapOf(schema.AnyType)))
	case *ir.CommandTool: // a cli-agent
		if n.Dynamic.JSON && n.Dynamic.Schema != "" {
			return n.Dynamic.Schema
		}
		if n.Dynamic.JSON {
			return schema.JSONSchema(fields(n.Dynamic.Writes, state))
		}
	case *ir.ShellTool:
		if b.Parse == "json" {
			return schema.JSONSchema(schema.MapOf(schema.AnyType))
		}
	case *ir.PythonTool: // of YAMLGraph: what it returns goes into a field
		if t := n.Dynamic.Token; t != nil && call.Tool.Out.Kind == schema.Any {
			if s := state[t.Key.Name]; s != nil && s.Kind != schema.Any {
				return schema.JSONSchema(s)
			}
		}
	}
	return ""
}

// fields is an object with the named state fields.
func fields(names []ir.Ident, state map[string]*schema.Type) *schema.Type {
	t := &schema.Type{Kind: schema.Struct}
	for _, id := range names {
		if s := state[id.Name]; s != nil {
			t.Fields = append(t.Fields, &schema.Field{Name: id.Name, Type: s})
		}
	}
	return t
}
