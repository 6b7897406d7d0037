package cli

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime/flow"
)

const samplePlan = `{"plan":1,"workflow":"w","source":"w.flowgen.yaml","parts":[
{"kind":"step","node":"a","verb":"tool","tool":"w.a@1","effects":"reads","sandbox":"none","attempt_timeout":"30s","attempts":3,"catch":[{"code":"any","to":"end"}]},
{"kind":"if","when":"a > 1","parts":[{"kind":"step","node":"b\u001b[31m","verb":"let","effects":"none"}]},
{"kind":"choose","when":"input.x","parts":[{"kind":"step","case":"one or two","node":"c","verb":"flow","flow":"sub","effects":"none","on_error":"skip"},{"kind":"sequence","case":"anything else","parts":[]}]},
{"kind":"parallel","parts":[{"kind":"step","node":"m","verb":"map","effects":"none","parallel":8,"max_items":null,"parts":[{"kind":"step","node":"n","verb":"tool","tool":"w.n@1","effects":"writes","sandbox":"native","timeout":"1s","on_error":"default"}]}]},
{"kind":"scheduled","parts":[{"kind":"step","node":"d","verb":"let","effects":"none"},{"kind":"step","node":"e","verb":"loop","effects":"none","max_iterations":1,"until":"e.n > 3","after":[0]}]},
{"kind":"step","node":"h","verb":"agent","tools":["w.a@1","w.n@1"],"model":"openai:gpt-4o-mini","effects":"external","max_iterations":null,"max_tool_calls":7,"max_cost_usd":"0.50","max_total_tokens":900},
{"kind":"step","node":"i","verb":"agent","model":"ollama:qwen3","effects":"external","max_iterations":10},
{"kind":"repeat","when":"x < 3","max_iterations":5,"parts":[{"kind":"step","node":"f","verb":"let","effects":"none"}]}],
"flows":[{"workflow":"sub","source":"sub.flowgen.yaml","parts":[{"kind":"step","node":"g","verb":"let","effects":"none"}]}],
"at_most":{"calls":[{"tool":"w.a@1","effects":"reads","at_most":3},{"tool":"w.n@1","effects":"writes","at_most":null}],"total":null,"time":null,"unbounded":["m has no bound on its items"],"cost":{"usd":"0.117","free":["ollama:qwen3"]}}}`

func TestPlanText(t *testing.T) {
	want := `plan of w (w.flowgen.yaml)

  a: tool w.a@1, reads, not isolated, up to 3 attempts, timeout 30s each, on any go to end
  if a > 1
    b: let
  by input.x
    one or two:
      c: flow sub, skipped on errors
    anything else:
      nothing
  in parallel
    m: map, any number of items, 8 at a time
      n: tool w.n@1, writes, timeout 1s, a default on errors
  each as soon as those it comes after have ended
    (1)
      d: let
    (2) after (1)
      e: loop, at most once, until e.n > 3
  h: agent openai:gpt-4o-mini, external, answers without bound, at most 7 calls of w.a@1, w.n@1, at most $0.50, at most 900 tokens
  i: agent ollama:qwen3, at most 10 answers
  repeat at most 5 times, again while x < 3
    f: let

flow sub (sub.flowgen.yaml)

  g: let

at most

  calls of w.a@1  3 (reads)
  calls of w.n@1  unbounded (writes)
  calls in all    unbounded
  time            unbounded
  cost            $0.117, without ollama:qwen3, asked without a key or a price

unbounded because

  m has no bound on its items
`
	got, err := PlanText(samplePlan)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	bounded, err := PlanText(strings.Replace(samplePlan, `"total":null,"time":null`, `"total":4,"time":"1m30s"`, 1))
	if err != nil || !strings.Contains(bounded, "calls in all    4\n") || !strings.Contains(bounded, "1m30s, and more if") {
		t.Error(bounded, err)
	}
	for cost, want := range map[string]string{
		`"usd":"2"`: "  cost            $2\n",
		`"usd":null,"unbounded":["m is unbounded"],"unknown":["the price of x:\u001b is not known"]`: "not known: the price of x:\\x1b is not known\n",
		`"usd":null,"unbounded":["m is unbounded","n too"]`:                                          "unbounded: m is unbounded; n too\n",
	} {
		got, err := PlanText(strings.Replace(samplePlan, `"usd":"0.117","free":["ollama:qwen3"]`, cost, 1))
		if err != nil || !strings.Contains(got, want) {
			t.Error(got, err)
		}
	}
}

func TestManifestText(t *testing.T) {
	got, err := ManifestText(`{"manifest":1,"workflow":"w","hosts":["a.example.com","*"],"networks":[],"commands":["git\u001b"],"env":["PATH"],"secrets":["KEY"],
"go_packages":["example.com/t"],"code":[],"models":[],"effects":["reads"],"grants":[],"caps":{"max_tool_calls":25,"max_total_tokens":1000,"max_cost_usd":"0.50","sandbox":"process"}}`)
	if err != nil {
		t.Fatal(err)
	}
	want := `w can touch

  hosts        a.example.com, *
  networks     none
  commands     git\x1b
  environment  PATH
  secrets      KEY
  Go packages  example.com/t
  other code   none
  models       none
  effects      reads
  grants       none
  permissions  none
  caps         25 tool calls, 1000 tokens, $0.50, sandbox process
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestManifestOfAgents(t *testing.T) {
	got, err := ManifestText(`{"manifest":1,"workflow":"w","models":["ollama:qwen3","openai:gpt-4o-mini","scripted:x"],"asked":["ollama:qwen3 at localhost:11434","openai:gpt-4o-mini at api.openai.com"],"agents":[
{"node":"review","model":"openai:gpt-4o-mini","tools":["w.a@1","w.b@2"],"max_iterations":4,"max_tool_calls":1,"max_total_tokens":900,"max_cost_usd":"0.50"},
{"node":"sub/a\u001b","model":"ollama:qwen3","tools":[],"max_iterations":null,"max_tool_calls":0}],"at_most":{"model_calls":null,"tool_calls":6,"cost_usd":"0.7"}}`)
	if err != nil {
		t.Fatal(err)
	}
	want := `  models        ollama:qwen3 at localhost:11434, openai:gpt-4o-mini at api.openai.com, scripted:x
  effects       none
  grants        none
  permissions   none
  caps          none
  agent review  openai:gpt-4o-mini, at most 4 answers, at most 1 call of w.a@1, w.b@2, at most 900 tokens, at most $0.50
  agent sub/a\x1b  ollama:qwen3, answers without bound
  at most       unbounded questions to models, 6 calls of tools, cost $0.7
`
	if _, got, _ = strings.Cut(got, "other code"); !strings.Contains(strings.ReplaceAll(got, " ", ""), strings.ReplaceAll(want, " ", "")) {
		t.Error(got)
	}
	unknown, err := ManifestText(`{"manifest":1,"workflow":"w","at_most":{"model_calls":2,"tool_calls":0,"cost_usd":null}}`)
	if err != nil || !strings.Contains(unknown, "2 questions to models, 0 calls of tools, cost unbounded or not known\n") {
		t.Error(unknown, err)
	}
}

func TestDescribe(t *testing.T) {
	info := &flow.Info{Name: "w", Facts: flow.NewFacts(`{"plan":` + samplePlan + `,"manifest":{"manifest":1,"workflow":"w"}}`)}
	tests := []struct {
		args        []string
		info        *flow.Info
		code        int
		out, errors string
	}{
		{[]string{"plan"}, info, ExitOK, "plan of w (w.flowgen.yaml)\n", ""},
		{[]string{"plan", "--format", "json"}, info, ExitOK, "{\n  \"plan\": 1,\n  \"workflow\": \"w\",\n", ""},
		{[]string{"manifest"}, info, ExitOK, "w can touch\n", ""},
		{[]string{"manifest", "--format=json"}, info, ExitOK, "{\n  \"manifest\": 1,\n  \"workflow\": \"w\"\n}\n", ""},
		{[]string{"manifest", "--format", "xml"}, info, ExitUsage, "", "unknown format xml"},
		{[]string{"plan", "it"}, info, ExitUsage, "", "unexpected argument it"},
		{[]string{"plan", "--fromat"}, info, ExitUsage, "", "did you mean --format?"},
		{[]string{"plan"}, &flow.Info{Name: "old"}, ExitFault, "", "does not carry its plan\nhelp: generate its code again"},
		{[]string{"manifest"}, &flow.Info{Facts: flow.NewFacts(`{"manifest":5}`)}, ExitFault, "", "not a manifest"},
		{[]string{"plan", "--format", "json"}, &flow.Info{Facts: flow.NewFacts("{")}, ExitFault, "", "does not carry its plan"},
		{[]string{"plan"}, &flow.Info{Facts: flow.NewFacts(`{"plan":{"parts":5}}`)}, ExitFault, "", "not a plan"},
	}
	for _, tt := range tests {
		c := newConsole(tt.args...)
		code := run(&c.system, &workflow{info: tt.info})
		if code != tt.code || !strings.HasPrefix(c.out.String(), tt.out) || tt.out == "" && c.out.Len() > 0 || !strings.Contains(c.err.String(), tt.errors) {
			t.Errorf("%v: exit code %d, stdout:\n%s\nstderr:\n%s", tt.args, code, c.out.String(), c.err.String())
		}
	}
}
