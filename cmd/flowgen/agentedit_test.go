package main

import (
	"os"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/studio"
)

const pinnedFlow = `flowgen: 1
name: scout
models: {m: "scripted:answers.yaml"}
tools:
  search: {command: [echo, hit], in: {q: string}, out: string, effects: reads, sandbox: none, description: finds lines}
  blame: {command: [echo, ada], in: {q: string}, out: string, effects: reads, sandbox: none, description: says who}
agents:
  helper: # shared
    model: m
    tools: [search, blame]
    policy: {max_iterations: 3, max_tool_calls: 4} # enough
    pins:
      # the one that matters
      found: {tool: search} # read below
      spare: {tool: blame, strategy: first_success}
nodes:
  help: {agent: helper, prompt: "Who wrote found?"}
  again: {agent: helper, prompt: "Once more", policy: {max_iterations: 2}}
  tell: {let: {text: "{{ default(help.found, \"found nothing\") }}", other: "$default(again.found, \"\")", found: "1"}}
edges: [help -> again -> tell -> end]
output: {text: $tell.text, found: $tell.found}
`

// TestEditAgent: pins and limits of agents are edited where they are written, with what reads them, and nothing else changes. What would
// leave a reader without its pin, or a mistake, is refused and not written.
func TestEditAgent(t *testing.T) {
	t.Chdir(t.TempDir())
	const file = "scout.flowgen.yaml"
	const cases = "flowgen: 1\ncases:\n  one:\n    want:\n      calls:\n        \"help[0]/nothing\": {times: 1}\n" // its mistake holds nothing back
	for name, text := range map[string]string{file: pinnedFlow, "answers.yaml": "answers: [{text: Ada}]\n", "scout.test.yaml": cases} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := newStudioProject("")
	for _, tc := range []struct {
		op      studio.Operation
		changes []string // what is written in place of what
		refused string
	}{
		{studio.Operation{Kind: pinSet, Node: "help", Pin: "found", Strategy: "first_success", Missing: "skip"}, []string{"found: {tool: search}", "found: {tool: search, strategy: first_success}"}, ""},
		{studio.Operation{Kind: pinSet, Node: "help", Pin: "spare", Strategy: "latest", Missing: "fail"}, []string{"strategy: first_success}", "strategy: latest, on_missing: fail}"}, ""},
		{studio.Operation{Kind: pinSet, Node: "help", Pin: "spare", Strategy: "first_success", Missing: "skip"}, nil, "the edit changes nothing"},
		{studio.Operation{Kind: pinSet, Node: "help", Pin: "spare", Strategy: "newest"}, nil, "cannot become newest"},
		{studio.Operation{Kind: pinSet, Node: "help", Pin: "none", Strategy: "latest"}, nil, "has no pin none; it has found, spare"},
		{studio.Operation{Kind: pinRename, Node: "help", Pin: "found", Name: "hit"}, []string{"      found: {", "      hit: {", "help.found", "help.hit", "again.found", "again.hit"}, ""},
		{studio.Operation{Kind: pinRename, Node: "again", Pin: "found", Name: "hit"}, []string{"      found: {", "      hit: {", "help.found", "help.hit", "again.found", "again.hit"}, ""},
		{studio.Operation{Kind: pinRename, Node: "help", Pin: "found", Name: "spare"}, nil, "has a pin spare already"},
		{studio.Operation{Kind: pinRename, Node: "help", Pin: "found", Name: "Hit it"}, nil, "is not a valid pin name"},
		{studio.Operation{Kind: pinRename, Node: "help", Pin: "found", Name: "response"}, nil, "response"},
		{studio.Operation{Kind: pinRemove, Node: "help", Pin: "spare"}, []string{"      spare: {tool: blame, strategy: first_success}\n", ""}, ""},
		{studio.Operation{Kind: pinRemove, Node: "help", Pin: "found"}, nil, "is read at " + file + ":19:"},
		{studio.Operation{Kind: policyEdit, Node: "help", Name: "max_tool_calls", Value: "8"}, []string{"max_tool_calls: 4", "max_tool_calls: 8"}, ""},
		{studio.Operation{Kind: policyEdit, Node: "help", Name: "max_cost_usd", Value: "0.25"}, []string{"max_tool_calls: 4}", `max_tool_calls: 4, max_cost_usd: "0.25"}`}, ""},
		{studio.Operation{Kind: policyEdit, Node: "help", Name: "effects", Value: "none, reads"}, []string{"max_tool_calls: 4}", `max_tool_calls: 4, effects: [none, reads]}`}, ""},
		{studio.Operation{Kind: policyEdit, Node: "help", Name: "max_tool_calls"}, []string{", max_tool_calls: 4", ""}, ""},
		{studio.Operation{Kind: policyEdit, Node: "again", Name: "max_iterations", Value: "unbounded"}, []string{"max_iterations: 2", "max_iterations: unbounded"}, ""},
		{studio.Operation{Kind: policyEdit, Node: "again", Name: "max_iterations"}, []string{", policy: {max_iterations: 2}", ""}, ""},
		{studio.Operation{Kind: policyEdit, Node: "help", Name: "max_iterations", Value: "-1"}, nil, "max_iterations"},
		{studio.Operation{Kind: policyEdit, Node: "help", Name: "effects", Value: "none"}, nil, "effects"},
		{studio.Operation{Kind: policyEdit, Node: "help", Name: "max_tool_calls", Value: "8}, pins: {x: {tool: search}"}, nil, "not a one-line"},
		{studio.Operation{Kind: policyEdit, Node: "help", Name: "sandbox", Value: "none"}, nil, "no \"sandbox\" to edit"},
	} {
		tc.op.File = file
		want := strings.NewReplacer(tc.changes...).Replace(pinnedFlow)
		edit, err := p.Propose(tc.op)
		if now, _ := os.ReadFile(file); string(now) != pinnedFlow {
			t.Fatalf("%+v: the file was written", tc.op)
		}
		if tc.refused != "" {
			if err == nil || !strings.Contains(err.Error(), tc.refused) {
				t.Errorf("%+v: refused with %v", tc.op, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%+v: %v", tc.op, err)
			continue
		}
		if _, err := p.Apply(tc.op, edit.Diff); err != nil {
			t.Errorf("%+v: %v", tc.op, err)
		}
		if now, _ := os.ReadFile(file); string(now) != want {
			t.Errorf("%+v: the file is\n%s", tc.op, now)
		}
		if err := os.WriteFile(file, []byte(pinnedFlow), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w, err := p.Workflow(file)
	if err != nil || len(w.Agents) != 2 {
		t.Fatalf("%+v %v", w, err)
	}
	pin, limits := w.Agents[0].Pins[0], w.Agents[1].Limits
	if pin.OnMissing != "skip" || len(pin.Readers) != 2 || !strings.HasPrefix(pin.Readers[0], file+":19:") {
		t.Errorf("the pin is %+v", pin)
	}
	if limits[0] != (studio.Limit{Name: "max_iterations", Value: "2"}) || limits[1].Value != "" {
		t.Errorf("the limits are %+v", limits)
	}
}
