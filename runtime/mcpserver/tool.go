package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowgen-dev/flowgen/runtime/serve"
)

const instructions = "Each workflow is a tool. A call starts a recorded run and waits some time for its result. If the state is running, call run_result. " +
	"If it is waiting, a user must answer a question first: do not answer for them."

// workflowTool is the tool of a workflow.
type workflowTool struct {
	name     string // of the workflow
	tool     *mcp.Tool
	start    *mcp.Tool // begins a run and does not wait; nil: there is none
	manifest json.RawMessage
}

// names are those of its tools.
func (t *workflowTool) names() []string {
	if t.start == nil {
		return []string{t.tool.Name}
	}
	return []string{t.tool.Name, t.start.Name}
}

type object = map[string]any

// described is what package serve tells about a workflow.
type described struct {
	Description             string
	Input, Output, Manifest json.RawMessage
	Plan                    json.RawMessage
	Effects, People         []string
}

// toolOf makes the tool of a workflow.
func (m *Server) toolOf(name string) (*workflowTool, error) {
	var d described
	status, text := m.serve.Do(context.Background(), serve.Principal{}, http.MethodGet, "/v1/workflows/"+name, nil, nil)
	if status != http.StatusOK || json.Unmarshal(text, &d) != nil {
		return nil, errors.New("it cannot be described")
	}
	var in object
	if json.Unmarshal(d.Input, &in) != nil || in["type"] != "object" {
		return nil, errors.New("its input is not an object, as MCP requires of a tool")
	}
	out, err := outputSchema(d.Output)
	if err != nil {
		return nil, err
	}
	about := d.Description
	if about == "" {
		about = "Runs the workflow " + name + "."
	}
	if len(d.People) > 0 {
		about += "\n\nA user must answer before it continues: " + strings.Join(d.People, ", ") + "."
	}
	t := &workflowTool{name: name, manifest: d.Manifest,
		tool: &mcp.Tool{Name: toolName(name), Description: about, InputSchema: d.Input, OutputSchema: out, Annotations: annotations(&d)}}
	if m.o.Async || len(d.People) > 0 || long(d.Plan, m.o.Wait) {
		start := *t.tool
		start.Name = start.Name[:min(len(start.Name), 64-len(startSuffix))] + startSuffix
		start.Description = "Begins what " + t.tool.Name + " and returns at once; run_result waits for its result.\n\n" + about
		t.start = &start
	}
	return t, nil
}

// startSuffix ends the names of tools that do not wait.
const startSuffix = "_start"

// long reports whether runs of a workflow may well take longer than a call waits: they have a loop, or may take as much time.
func long(plan json.RawMessage, wait time.Duration) bool {
	var p struct {
		Parts  any `json:"parts"`
		Flows  any `json:"flows"`
		AtMost struct {
			MaxTime string `json:"max_time"`
		} `json:"at_most"`
	}
	if json.Unmarshal(plan, &p) != nil {
		return false
	}
	most, err := time.ParseDuration(p.AtMost.MaxTime)
	return err == nil && most > wait || repeats(p.Parts) || repeats(p.Flows)
}

// repeats looks for a loop in the parts of a plan.
func repeats(part any) bool {
	switch part := part.(type) {
	case []any:
		return slices.ContainsFunc(part, repeats)
	case object:
		return part["kind"] == "repeat" || part["max_iterations"] != nil || repeats(part["parts"])
	}
	return false
}

// toolName is the name of a workflow in the letters that tools may have.
func toolName(workflow string) string {
	name := strings.Map(func(c rune) rune {
		if c < 0x80 && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-') {
			return c
		}
		return '_'
	}, workflow)
	return name[:min(len(name), 64)] // the bound of common models
}

// annotations say what a workflow does to the world. A client is told the worst: writes may destroy, and are made again by
// another call.
func annotations(d *described) *mcp.ToolAnnotations {
	writes := slices.Contains(d.Effects, "writes") || slices.Contains(d.Effects, "external")
	var reach map[string]json.RawMessage
	_ = json.Unmarshal(d.Manifest, &reach) // without one the world is open
	open := reach == nil || slices.Contains(d.Effects, "external")
	for _, what := range []string{"hosts", "networks", "commands", "servers", "code", "go_packages", "models"} {
		open = open || len(reach[what]) > 0 && string(reach[what]) != "[]"
	}
	return &mcp.ToolAnnotations{ReadOnlyHint: !writes, DestructiveHint: &writes, IdempotentHint: !writes, OpenWorldHint: &open}
}

// runSchema are the fields of what calls return, but for the output.
func runSchema() object {
	text := object{"type": "string"}
	return object{
		"run":   text,
		"state": object{"type": "string", "enum": []string{"running", "waiting", "succeeded", "failed", "cancelled", "in_doubt", "stopped"}},
		"error": object{"type": "object", "properties": object{"code": text, "message": text, "key": text}, "required": []string{"code", "message"}},
		"questions": object{"type": "array", "items": object{"type": "object", "properties": object{"key": text, "question": text, "type": text,
			"choices": object{"type": "array", "items": text}, "until": text}, "required": []string{"key", "question", "type"}}},
		"reason": object{"type": "string", "description": "why the run does not continue"},
		"next":   object{"type": "string", "description": "what to do next"},
	}
}

// outputSchema is the schema of what a call of a workflow's tool returns.
func outputSchema(output json.RawMessage) (object, error) {
	var out object
	if err := json.Unmarshal(output, &out); err != nil {
		return nil, err
	}
	fields := runSchema()
	root := object{"type": "object", "properties": fields, "required": []string{"run", "state"}}
	if defs, ok := out["$defs"]; ok {
		root["$defs"] = defs // references begin at the root
	}
	delete(out, "$defs")
	delete(out, "$schema")
	out["description"] = "the output of the workflow, if it succeeded"
	fields["output"] = out
	return root, nil
}

// ownTools are the tools for runs of all workflows.
var ownTools = []string{"run_result", "run_list", "run_cancel", "run_answer"}

// runTools adds them.
func (c *client) runTools(s *mcp.Server) {
	yes, no := true, false
	reads := &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: &no, OpenWorldHint: &no}
	text := object{"type": "string"}
	run := object{"type": "string", "description": "the run, as a call has returned it"}
	input := func(properties object, required ...string) object {
		o := object{"type": "object", "properties": properties, "additionalProperties": false}
		if len(required) > 0 {
			o["required"] = required
		}
		return o
	}
	one := runSchema()
	one["output"] = object{"description": "the output of the workflow, if it succeeded"}
	output := object{"type": "object", "properties": one, "required": []string{"run", "state"}}
	s.AddTool(&mcp.Tool{Name: "run_result", Description: "Wait some time for a run to finish, and return its state.", Annotations: reads,
		InputSchema: input(object{"run": run}, "run"), OutputSchema: output}, c.runResult)
	s.AddTool(&mcp.Tool{Name: "run_list", Description: "List runs, newest first.", Annotations: reads,
		InputSchema: input(object{"workflow": text, "state": object{"type": "string", "enum": one["state"].(object)["enum"]}, "before": object{"type": "string", "description": "next of the previous page"},
			"limit": object{"type": "integer", "minimum": 1, "maximum": 500}})}, c.runList)
	s.AddTool(&mcp.Tool{Name: "run_cancel", Description: "Cancel a run.", Annotations: &mcp.ToolAnnotations{DestructiveHint: &yes, IdempotentHint: true, OpenWorldHint: &no},
		InputSchema: input(object{"run": run}, "run"), OutputSchema: output}, c.runCancel)
	if c.m.o.ModelMayAnswer {
		s.AddTool(&mcp.Tool{Name: "run_answer", Description: "Answer the question of a run and continue it.", Annotations: &mcp.ToolAnnotations{DestructiveHint: &yes, OpenWorldHint: &yes},
			InputSchema:  input(object{"run": run, "key": object{"type": "string", "description": "key of the question; optional if there is only one"}, "answer": object{"type": []string{"string", "number", "boolean"}}}, "run", "answer"),
			OutputSchema: output}, c.runAnswer)
	}
}
