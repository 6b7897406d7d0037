package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const switching = `flowgen: 1
name: w
input: {q: string}
secrets: [OPENAI_API_KEY]
models: {fast: {model: "openai:gpt-4o-mini", max_tokens: 100}}
tools:
  search: {command: [echo, hit], in: {q: string}, out: string, effects: reads, description: finds lines}
  blame: {command: [echo, ada], in: {q: string}, out: string, effects: reads, description: says who}
  count: {command: [echo, one], in: {q: string}, out: string, effects: reads, description: counts}
AGENTS
nodes:
  help:
    agent: AGENT
    prompt: "{{ input.q }}" # kept as it is
TOOLS
    policy: {max_iterations: 3, max_tool_calls: 4, max_cost_usd: "0.10"}
output: {text: $help.response}
`

// TestSwitchTool: a tool of an agent is added and taken out as the smallest edit, wherever the list is and however it is
// written; what cannot be done is refused with a reason, and nothing is written.
func TestSwitchTool(t *testing.T) {
	versions := "    tools: [search, blame@1] # two"
	flow, block := "    tools: [search, blame] # two", "    tools:\n      - search # first\n      - blame # second"
	tests := []struct{ name, list, tool, was, now, refused string }{
		{"on", flow, "count", "[search, blame]", "[search, blame, count]", ""},
		{"off, the first", flow, "search", "[search, blame]", "[blame]", ""},
		{"off, the last", flow, "blame", "[search, blame]", "[search]", ""},
		{"on, with dashes", block, "count", "- blame # second\n", "- blame # second\n      - count\n", ""},
		{"off, with dashes", block, "search", "      - search # first\n", "", ""},
		{"the only one", "    tools: [search]", "search", "", "", "only tool"},
		{"on, and it is", flow, "search", "", "", "already"},
		{"off, and it is", flow, "count", "", "", "has no tool"},
		{"version", versions, "blame@2", "blame@1]", "blame@2]", ""},
		{"version, and it is", versions, "blame@1", "", "", "already"},
		{"version of none", flow, "count", "", "", "no other version"},
		{"unknown", flow, "nothing", "", "", "no tool nothing"},
		{"with arguments", `    tools: [search, {tool: blame, as: who}]`, "blame", "", "", "by hand"},
	}
	for _, tt := range tests {
		for _, shared := range []bool{false, true} {
			t.Run(tt.name, func(t *testing.T) {
				t.Chdir(t.TempDir())
				agents, agent, tools := "", "fast", tt.list
				if shared {
					agents, agent, tools = "agents:\n  helper:\n    model: fast\n"+tt.list, "helper", ""
				}
				text := strings.NewReplacer("AGENTS\n", agents+"\n", "AGENT", agent, "TOOLS\n", tools+"\n").Replace(switching)
				how := toolOff
				if strings.HasPrefix(tt.name, "on") || tt.name == "unknown" {
					how = toolOn
				}
				if strings.HasPrefix(tt.name, "version") {
					how = toolVersion
				}
				if strings.Contains(tt.list, "blame@1") {
					text = strings.Replace(text, "  blame: {", "  blame@1: {command: [echo, eve], in: {q: string}, out: string, effects: reads, description: said who}\n  blame@2: {", 1)
				}
				if err := os.WriteFile("w.flowgen.yaml", []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				var out, errs bytes.Buffer
				err := (&app{stdout: &out, stderr: &errs}).switchTool("w.flowgen.yaml", "help", tt.tool, how, false)
				got, readErr := os.ReadFile(filepath.Join(".", "w.flowgen.yaml"))
				if readErr != nil {
					t.Fatal(readErr)
				}
				want := strings.Replace(text, tt.was, tt.now, 1)
				if tt.refused != "" {
					want = text
					if err == nil || !strings.Contains(err.Error(), tt.refused) {
						t.Errorf("it is refused with %v", err)
					}
				} else if err != nil {
					t.Errorf("%v %s", err, errs.String())
				}
				if string(got) != want {
					t.Errorf("the file is\n%s", got)
				}
			})
		}
	}
}

// TestSwitchToolCases: test cases that name a tool do not keep it on; they are said with the edit.
func TestSwitchToolCases(t *testing.T) {
	t.Chdir(t.TempDir())
	text := strings.NewReplacer("AGENTS\n", "", "AGENT", "fast", "TOOLS\n", "    tools: [search, blame]\n").Replace(switching)
	cases := "flowgen: 1\ncases:\n  one:\n    input: {q: a}\n    want:\n      calls:\n        \"help[0]/search\": {times: 1}\n        \"help[0]/nothing\": {times: 1}\n"
	for name, text := range map[string]string{"w.flowgen.yaml": text, "w.test.yaml": cases} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out, errs bytes.Buffer
	if err := (&app{stdout: &out, stderr: &errs}).switchTool("w.flowgen.yaml", "help", "search", toolOff, true); err != nil {
		t.Fatal(err)
	}
	if said := errs.String(); !strings.Contains(said, `no tool "search"`) || strings.Contains(said, "nothing") || !strings.Contains(out.String(), "tools: [blame]") {
		t.Errorf("it says\n%s\n%s", out.String(), said)
	}
}
