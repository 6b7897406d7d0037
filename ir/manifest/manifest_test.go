package manifest_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/manifest"
	"github.com/flowgen-dev/flowgen/parser"
)

type files map[string]string

func (f files) ReadFile(name string) ([]byte, error) {
	if s, ok := f[name]; ok {
		return []byte(s), nil
	}
	return nil, errors.New("no such file")
}

func of(t *testing.T, fs files) *manifest.Manifest {
	t.Helper()
	sink := &diag.Sink{}
	w := parser.Parse(fs, "w.flowgen.yaml", sink)
	for _, tool := range w.Tools { // as bind does
		if g, ok := tool.Binding.(*ir.GoTool); ok {
			path, name, _ := strings.Cut(g.Func.Ref.Name, ".Fu")
			g.Func.Bind = &ir.GoBinding{Path: path, Func: "Fu" + name}
		}
	}
	p := check.Check(w, sink)
	if p == nil {
		t.Fatal(sink.List())
	}
	return manifest.Of(p)
}

func TestOf(t *testing.T) {
	got := of(t, files{
		"w.flowgen.yaml": `flowgen: 1
name: w
input: {id: string, port: int, who: string}
secrets: [KEY, UNUSED]
policy: {max_tool_calls: 25, max_cost_usd: "0.50", net: {allow: [loopback]}}
tools:
  item: {http: "GET https://API.example.com:8443/items/{id}?x=1", auth: {bearer: KEY}, in: {id: string}, out: string}
  local: {http: "GET http://127.0.0.1:{port}/", in: {port: int}, out: string}
  log: {command: [git, log], env: {LC_ALL: C}, out: lines, effects: reads}
  script: {shell: "echo hi", out: string, effects: none}
  any: {command: ["{{ who }}"], in: {who: string}, out: string, effects: writes}
  code: {go: example-com/t.Fu, out: string, effects: none}
  unused: {http: "POST https://never.example.com/", out: string, effects: writes}
nodes:
  a: {tool: item, with: {id: $input.id}}
  b: {tool: local, with: {port: $input.port}}
  c: {tool: log}
  d: {tool: script}
  e: {tool: any, with: {who: $input.who}}
  f: {tool: code}
  g: {flow: sub.flowgen.yaml}
`,
		"sub.flowgen.yaml": `flowgen: 1
name: sub
secrets: [DEEP]
tools: {x: {command: [tr], out: string, effects: none}}
nodes: {a: {tool: x}}
`,
	})
	calls := int64(25)
	want := &manifest.Manifest{
		Version: 1, Workflow: "w", Hosts: []string{"127.0.0.1:*", "api.example.com:8443"}, Networks: []string{"loopback"},
		Commands: []string{"*", "git", "sh", "tr"}, Env: []string{"HOME", "LANG", "LC_ALL", "PATH", "TMPDIR", "TZ"},
		Secrets: []string{"DEEP", "KEY", "UNUSED"}, GoPackages: []string{"example-com/t"}, Code: []string{}, Models: []string{},
		Unisolated: []string{"sub.x@1", "w.any@1", "w.log@1", "w.script@1"},
		Effects:    []string{"reads", "writes"}, Grants: []string{}, Caps: manifest.Caps{MaxToolCalls: &calls, MaxCostUSD: "0.50"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	again, err := manifest.Parse([]byte(got.JSON()))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, again); diff != "" {
		t.Errorf("written and read: %s", diff)
	}
	if more, less := manifest.Compare(again, got); len(more)+len(less) > 0 {
		t.Errorf("compared to itself: %v %v", more, less)
	}
}

func TestAgents(t *testing.T) {
	got := of(t, files{
		"w.flowgen.yaml": `flowgen: 1
name: w
secrets: [OPENAI_API_KEY]
models: {mini: {model: "openai:gpt-4o-mini", max_tokens: 500}, near: "ollama:qwen3"}
tools:
  b: {command: [tr], in: {text: string}, stdin: "{{ text }}", out: string, effects: none}
  a: {command: [tr], in: {text: string}, stdin: "{{ text }}", out: string, effects: none}
nodes:
  x: {agent: mini, prompt: x, tools: [b, a], policy: {max_cost_usd: "0.05", max_total_tokens: 90000}}
  y: {agent: near, prompt: y, policy: {max_iterations: unbounded}}
  z: {flow: sub.flowgen.yaml}
  q: {human: "Well?"}
output: {x: $x.response, y: $y.response, z: $z.x, q: $q}
`,
		"sub.flowgen.yaml": `flowgen: 1
name: sub
secrets: [OPENAI_API_KEY]
tools: {t: {command: [tr], in: {text: string}, stdin: "{{ text }}", out: string, effects: none}}
nodes: {x: {agent: "openai:gpt-4o-mini", prompt: x, tools: [t], policy: {max_iterations: 2, max_tool_calls: unbounded}}}
output: {x: $x.response}
`,
	})
	tokens, most, none := int64(90000), manifest.Bound{}, manifest.Bound{}
	most.N, none.Open = 10, true
	calls, two := most, most
	calls.N, two.N = 25, 2
	usd := "0.1080608" // a cap of 0.05, and two questions of 0.0290304
	want := []*manifest.Agent{
		{Node: "x", Model: "openai:gpt-4o-mini", Tools: []string{"w.a@1", "w.b@1"}, MaxIterations: most, MaxToolCalls: calls, MaxTokens: &tokens, MaxCostUSD: "0.05"},
		{Node: "y", Model: "ollama:qwen3", Tools: []string{}, MaxIterations: none},
		{Node: "sub/x", Model: "openai:gpt-4o-mini", Tools: []string{"sub.t@1"}, MaxIterations: two, MaxToolCalls: none},
	}
	if diff := cmp.Diff(want, got.Agents); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(&manifest.Worst{ModelCalls: none, ToolCalls: none, CostUSD: &usd}, got.AtMost); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"ollama:qwen3 at localhost:11434", "openai:gpt-4o-mini at api.openai.com"}, got.Asked); diff != "" {
		t.Error(diff)
	}
	again, err := manifest.Parse([]byte(got.JSON()))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, again); diff != "" {
		t.Errorf("written and read: %s", diff)
	}
	if more, less := manifest.Compare(again, got); len(more)+len(less) > 0 {
		t.Errorf("compared to itself: %v %v", more, less)
	}
}

func TestCompare(t *testing.T) {
	parse := func(fields string) *manifest.Manifest {
		m, err := manifest.Parse([]byte(`{"manifest":1,` + fields + `}`))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	const agent = `{"node":"a","model":"x:y","tools":["t@1"],"max_iterations":4,"max_tool_calls":6,"max_cost_usd":"0.5"}`
	tests := []struct{ name, old, now, more, less string }{
		{"nothing", `"workflow":"a"`, `"workflow":"b"`, "", ""},
		{"host", `"hosts":["a"]`, `"hosts":["a","b"]`, "new host b", ""},
		{"any host", `"hosts":["*"]`, `"hosts":["a"]`, "", "host * is no longer used"},
		{"any command is not any host", `"commands":["*"]`, `"commands":["git"]`, "new command git", "command * is no longer used"},
		{"each list", `"env":[]`, `"networks":["n"],"commands":["c"],"env":["e"],"secrets":["s"],"go_packages":["g"],"code":["x"],"models":["m"],"effects":["f"],"grants":["p"]`,
			"new network n; new command c; new variable e; new secret s; new Go package g; new code x; new model m; new effect f; new grant p", ""},
		{"less", `"secrets":["s","t"]`, `"secrets":["t"]`, "", "secret s is no longer used"},
		{"cap raised", `"caps":{"max_tool_calls":5,"max_total_tokens":5,"max_iterations":5}`, `"caps":{"max_tool_calls":6,"max_total_tokens":5,"max_iterations":4}`,
			"cap max_tool_calls is 6; it was 5", "cap max_iterations is 4; it was 5"},
		{"cap gone", `"caps":{"max_tool_calls":5}`, `"caps":{}`, "no cap max_tool_calls any more; it was 5", ""},
		{"cap new", `"caps":{}`, `"caps":{"max_tool_calls":5}`, "", "cap max_tool_calls is 5; there was none"},
		{"dollars", `"caps":{"max_cost_usd":"0.9"}`, `"caps":{"max_cost_usd":"10"}`, "cap max_cost_usd is 10; it was 0.9", ""},
		{"fewer dollars", `"caps":{"max_cost_usd":"10"}`, `"caps":{"max_cost_usd":"9.99"}`, "", "cap max_cost_usd is 9.99; it was 10"},
		{"the same dollars", `"caps":{"max_cost_usd":"0.5"}`, `"caps":{"max_cost_usd":"00.50"}`, "", ""},
		{"no dollars", `"caps":{"max_cost_usd":"0.5"}`, `"caps":{}`, "no cap max_cost_usd any more; it was 0.5", ""},
		{"weaker sandbox", `"caps":{"sandbox":"container"}`, `"caps":{"sandbox":"process"}`, "cap sandbox is process; it was container", ""},
		{"no sandbox", `"caps":{"sandbox":"process"}`, `"caps":{}`, "no cap sandbox any more; it was process", ""},
		{"a new agent", `"agents":[]`, `"agents":[` + agent + `]`, "new agent a", ""},
		{"no agent", `"agents":[` + agent + `]`, `"agents":[]`, "", "agent a is no longer used"},
		{"the same agent", `"agents":[` + agent + `]`, `"agents":[` + agent + `]`, "", ""},
		{"an agent that can do more", `"agents":[` + agent + `]`, `"agents":[{"node":"a","model":"y:z","tools":["t@1","u@1"],"max_iterations":null,"max_tool_calls":7,"max_total_tokens":10,"max_cost_usd":"0.6"}]`,
			"agent a asks y:z; it asked x:y; agent a can call u@1; no cap max_iterations of agent a any more; it was 4; cap max_tool_calls of agent a is 7; it was 6; cap max_cost_usd of agent a is 0.6; it was 0.5",
			"cap max_total_tokens of agent a is 10; there was none"},
		{"an agent that can do less", `"agents":[{"node":"a","model":"x:y","tools":["t@1","u@1"],"max_iterations":null,"max_tool_calls":null}]`, `"agents":[` + agent + `]`, "",
			"agent a can no longer call u@1; cap max_iterations of agent a is 4; there was none; cap max_tool_calls of agent a is 6; there was none; cap max_cost_usd of agent a is 0.5; there was none"},
		{"more at most", `"at_most":{"model_calls":4,"tool_calls":5,"cost_usd":"0.5"}`, `"at_most":{"model_calls":null,"tool_calls":6,"cost_usd":"0.51"}`,
			"questions to models: at most unbounded or not known; it was 4; calls of tools: at most 6; it was 5; dollars: at most 0.51; it was 0.5", ""},
		{"less at most", `"at_most":{"model_calls":null,"tool_calls":5,"cost_usd":null}`, `"at_most":{"model_calls":4,"tool_calls":5,"cost_usd":"0.5"}`,
			"", "questions to models: at most 4; it was unbounded or not known; dollars: at most 0.5; it was unbounded or not known"},
		{"nothing was said of the most", `"models":["x:y"]`, `"models":["x:y"],"at_most":{"model_calls":4,"tool_calls":5,"cost_usd":"0.5"}`, "", ""},
		{"another place", `"asked":["x:y at a"]`, `"asked":["x:y at b"]`, "new place where a model is asked: x:y at b", "place where a model is asked: x:y at a is no longer used"},
		{"stronger sandbox", `"caps":{}`, `"caps":{"sandbox":"gvisor"}`, "", "cap sandbox is gvisor; there was none"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			more, less := manifest.Compare(parse(tt.old), parse(tt.now))
			if strings.Join(more, "; ") != tt.more || strings.Join(less, "; ") != tt.less {
				t.Errorf("more: %q\nless: %q", more, less)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{
		``, `null`, `[]`, `{}`, `{"manifest":2}`, `{"manifest":1}{}`, `{"manifest":1} x`, `{"manifest":1,"hosts":"a"}`, `{"manifest":1,"host":[]}`,
		`{"manifest":1,"caps":{"max_cost_usd":"1e9"}}`, `{"manifest":1,"caps":{"max_cost_usd":"1."}}`, `{"manifest":1,"caps":{"sandbox":"strong"}}`, `{"manifest":"1"}`,
		`{"manifest":1,"agents":[null]}`, `{"manifest":1,"agents":[{"max_iterations":-1}]}`, `{"manifest":1,"agents":[{"max_tool_calls":"9"}]}`,
		`{"manifest":1,"agents":[{"max_cost_usd":"1e9"}]}`, `{"manifest":1,"at_most":{"cost_usd":"-1"}}`, `{"manifest":1,"at_most":{"model_calls":1.5}}`,
	} {
		if m, err := manifest.Parse([]byte(text)); err == nil {
			t.Errorf("%s: %+v", text, m)
		}
	}
}
