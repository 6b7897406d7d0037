package fork

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// asked is the record of a question to a model with a schema.
func asked(key, answer string) journal.Record {
	return journal.Record{Key: key, Attempt: 1, Tool: "openai:gpt-4o-mini@1", Effects: "external", Done: true,
		Input: []byte(`{"messages":[{"role":"user","text":"?"}],"model":"openai:gpt-4o-mini","schema":{"json":{"type":"object"}}}`),
		Output: []byte(`{"model":"gpt-4o-mini","message":{"role":"assistant","text":` + quoted(answer) +
			`},"stop":"end","usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1},"cost_usd":null}`)}
}

func quoted(text string) string {
	b, _ := value.String(text).MarshalJSON()
	return string(b)
}

const planSchema = `{"type":"object","properties":{"route":{"enum":["fix","skip"]},"score":{"type":"number"},"steps":{"type":"array","items":{"type":"object","properties":{"n":{"type":"integer"}}}}}}`

// Results of nodes are set as the workflow sees them: what a model has answered stands in the text of its answer.
func TestSet(t *testing.T) {
	plan := asked("plan", `{"route":"nope"}`)
	again := asked("plan#2", `{"route":"fix","score":0.5,"steps":[{"n":1},{"n":2}]}`)
	again.Input = []byte(strings.Replace(string(again.Input), `{"type":"object"}`, planSchema, 1))
	names := asked("names", `{"value":["a","b"]}`)
	text := asked("text", "hello")
	text.Input = []byte(`{"messages":[{"role":"user","text":"?"}],"model":"openai:gpt-4o-mini"}`)
	for _, tt := range []struct {
		path, text, key, want, wrong string
	}{
		{"plan.route", "skip", "plan#2", `{"route":"skip","score":0.5,"steps":[{"n":1},{"n":2}]}`, ""},
		{"plan.score", "2", "plan#2", `{"route":"fix","score":2,"steps":[{"n":1},{"n":2}]}`, ""},
		{"plan.steps.1.n", "7", "plan#2", `{"route":"fix","score":0.5,"steps":[{"n":1},{"n":7}]}`, ""},
		{"plan.steps", "[]", "plan#2", `{"route":"fix","score":0.5,"steps":[]}`, ""},
		{"names.1", "c", "names", `{"value":["a","c"]}`, ""},
		{"names", `["x"]`, "names", `{"value":["x"]}`, ""},
		{"text", "bye", "text", "bye", ""},
		{"ask", "no", "ask", `"no"`, ""},
		{"count.n", "4", "count", `{"n":4,"deep":{"x":null}}`, ""},
		{"review[0]/find", "z", "review[0]/find", `"z"`, ""},

		{"plan.route", "perhaps", "", "", "perhaps is none of fix, skip"},
		{"plan.score", "high", "", "", "float is needed here, high is a string"},
		{"plan.steps.1.n", "1.5", "", "", "int is needed here, 1.5 is a float"},
		{"plan.steps.2.n", "7", "", "", "the list has no place 2: it has 2"},
		{"plan.rout", "fix", "", "", "unknown field rout; did you mean route?"},
		{"text.body", "bye", "", "", "unknown field body: the answer is text"},
		{"ask", "perhaps", "", "", `"perhaps" is none of yes, no`},
		{"review", "x", "", "", "review makes calls of its own; set the result of one of them by its key, such as review[0]/find"},
		{"cuont", "x", "", "", "the run has no result of a node cuont; did you mean count?"},
		{"later", "x", "", "", "the run has no result of a node later that is kept"},
	} {
		t.Run(tt.path+"="+tt.text, func(t *testing.T) {
			j := journal.New(journal.Header{})
			for _, r := range []journal.Record{
				plan, again, names, text,
				{Key: "ask", Attempt: 1, Tool: engine.HumanTool, Effects: "reads", Done: true, Input: []byte(`{"choices":["yes","no"],"question":"?","type":"string"}`), Output: []byte(`"yes"`)},
				{Key: "count", Attempt: 1, Tool: "w.count@1", Effects: "reads", Done: true, Input: []byte(`{}`), Output: []byte(`{"n":3,"deep":{"x":null}}`)},
				{Key: "review[0]/find", Attempt: 1, Tool: "w.find@1", Effects: "reads", Done: true, Input: []byte(`{}`), Output: []byte(`"y"`)},
			} {
				j.Put(r)
			}
			info := &flow.Info{Nodes: []*flow.Node{{ID: "plan"}, {ID: "count"}, {ID: "later"}, {ID: "review"}}}
			input, err := Set(info, j, []byte(`{"pr":7}`), tt.path, tt.text)
			if tt.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), tt.wrong) {
					t.Fatalf("%v, want %q", err, tt.wrong)
				}
				return
			}
			if err != nil || string(input) != `{"pr":7}` {
				t.Fatal(string(input), err)
			}
			r, _ := j.Lookup(tt.key, 1)
			got := string(r.Output)
			if asksModel(&r) {
				v, _ := value.Parse(r.Output)
				m, _ := v.Get("message")
				text, _ := m.Get("text")
				got = text.String()
				if usage, ok := v.Get("usage"); !ok || usage.Len() != 3 {
					t.Errorf("the rest of the answer is lost: %s", r.Output)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || !r.Given {
				t.Error(r.Given, diff)
			}
		})
	}
}
