package main

import (
	"encoding/json"
	"fmt"

	"github.com/flowgen-dev/flowgen/ir"
)

// standIns are JSON Schemas of what the nodes of a public dialect need of tools that do not declare it themselves, by the
// places of the nodes in the program (flow.Node.Pos): a stand-in that answers otherwise fails its node.
func standIns(w *ir.Workflow) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	gather(w, out)
	return out
}

func gather(w *ir.Workflow, out map[string]json.RawMessage) {
	for _, n := range w.Body.Nodes {
		if v, ok := n.Verb.(*ir.Perform); ok {
			give(n, v.Gives, out)
		}
	}
	for _, f := range w.Flows {
		gather(f, out)
	}
}

// give enters the JSON Schema of a node, if there is one.
func give(n *ir.Node, text string, out map[string]json.RawMessage) {
	if text != "" {
		at := n.ID.Span.Start()
		out[fmt.Sprintf("%s:%d:%d", n.ID.Span.File.Short(), at.Line, at.Col)] = json.RawMessage(text)
	}
}
