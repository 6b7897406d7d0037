package openai

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/internal/leaks"
	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/llm/internal/wire"
)

const key = "sk-test-0123456789"

// service answers each request with the next of its answers and keeps what it was asked.
type service struct {
	*httptest.Server
	answers []string
	asked   []map[string]any
	auth    []string
}

func serve(t *testing.T, answers ...string) *service {
	t.Helper()
	s := &service{answers: answers}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var doc map[string]any
		if err := json.Unmarshal(body, &doc); err != nil || r.URL.Path != "/v1/chat/completions" {
			http.Error(w, fmt.Sprint(err, r.URL), 400)
			return
		}
		s.asked, s.auth = append(s.asked, doc), append(s.auth, r.Header.Get("Authorization"))
		if len(s.asked) > len(s.answers) {
			http.Error(w, "no more answers", 500)
			return
		}
		a := s.answers[len(s.asked)-1]
		w.Header().Set("Content-Type", "application/json")
		if strings.HasPrefix(a, "data: ") {
			w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		}
		_, _ = io.WriteString(w, a)
	}))
	t.Cleanup(s.Close)
	return s
}

var node = &flow.Node{ID: "n", Pos: "f.yaml:1:1"}

func start(t *testing.T) *flow.Run {
	t.Helper()
	rt, err := flow.New(&flow.Info{Name: "t"}, runtime.WithSecrets(func(string) (string, bool) { return key, true }))
	if err != nil {
		t.Fatal(err)
	}
	return rt.Start(t.Context())
}

func (s *service) model(o ...llm.ModelOption) *llm.Model {
	return llm.NewModel("openai:gpt-4o-mini", "gpt-4o-mini", At(s.URL+"/v1"), append(o, llm.Key("KEY"))...)
}

func TestText(t *testing.T) {
	s := serve(t, `{"model":"gpt-4o-mini-2024-07-18","choices":[{"message":{"role":"assistant","content":"Hi <b>!"},"finish_reason":"stop"}],
		"usage":{"prompt_tokens":1000,"completion_tokens":10,"prompt_tokens_details":{"cached_tokens":400}}}`)
	temperature := 0.0
	got, err := llm.Ask[string](start(t), node, s.model(llm.With(llm.Params{Temperature: &temperature, MaxTokens: new(int64(50))})),
		llm.Prompt{System: "Be <kind>.", Text: "Hello"}, llm.Format{})
	if err != nil || got != "Hi <b>!" {
		t.Fatalf("%q, %v", got, err)
	}
	want := map[string]any{"model": "gpt-4o-mini", "temperature": 0.0, "max_tokens": 50.0, "messages": []any{
		map[string]any{"role": "system", "content": "Be <kind>."}, map[string]any{"role": "user", "content": "Hello"}}}
	if diff := cmp.Diff(want, s.asked[0]); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
	if s.auth[0] != "Bearer "+key {
		t.Errorf("authorization %q", s.auth[0])
	}
}

func TestUsageAndCost(t *testing.T) {
	s := serve(t, `{"model":"m","choices":[{"message":{"content":"x"},"finish_reason":"stop"}],
		"usage":{"prompt_tokens":1000,"completion_tokens":10,"prompt_tokens_details":{"cached_tokens":400}}}`)
	c := &llm.Conversation{Messages: []llm.Message{{Role: llm.User, Text: "x"}}}
	reply, err := s.model().Complete(start(t), node, c)
	if err != nil {
		t.Fatal(err)
	}
	// 600 at 0.15, 400 at 0.075 and 10 at 0.60 dollars for a million
	if want := (llm.Usage{Input: 1000, Cached: 400, Output: 10}); reply.Usage != want || reply.CostUSD == nil || reply.CostUSD.String() != "0.000126" {
		t.Errorf("usage %+v, cost %v", reply.Usage, reply.CostUSD)
	}
}

func TestToolCalls(t *testing.T) {
	s := serve(t,
		`{"choices":[{"message":{"content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"acme_search","arguments":"{\"q\":1}"}},
			{"id":"b","type":"function","function":{"name":"made_up","arguments":"nonsense"}}]},"finish_reason":"tool_calls"}]}`,
		`{"choices":[{"message":{"content":"done"},"finish_reason":"stop"}]}`)
	c := &llm.Conversation{
		Tools:    []llm.Tool{{Name: "acme.search", Description: "finds", Schema: json.RawMessage(`{"type":"object","properties":{"q":{"type":"string"},"n":{"type":"integer"}},"required":["q"],"additionalProperties":false}`)}},
		Messages: []llm.Message{{Role: llm.User, Text: "go"}},
	}
	m, run := s.model(), start(t)
	reply, err := m.Complete(run, node, c)
	if err != nil {
		t.Fatal(err)
	}
	want := []llm.Call{{ID: "a", Name: "acme.search", Args: `{"q":1}`}, {ID: "b", Name: "made_up", Args: "nonsense"}}
	if diff := cmp.Diff(want, reply.Message.Calls); diff != "" || reply.Stop != llm.CallStop {
		t.Errorf("calls (-want +got), stop %s:\n%s", reply.Stop, diff)
	}
	c.Messages = append(c.Messages, llm.Message{Role: llm.Tools, Results: []llm.Result{{ID: "a", Name: "acme.search", Text: "[]"}, {ID: "b", Name: "made_up", Text: "POLICY_DENIED", Failed: true}}})
	if reply, err = m.Complete(run, node, c); err != nil || reply.Message.Text != "done" {
		t.Fatalf("%+v, %v", reply, err)
	}
	tools := []any{map[string]any{"type": "function", "function": map[string]any{"name": "acme_search", "description": "finds", "strict": true,
		"parameters": map[string]any{"type": "object", "additionalProperties": false, "required": []any{"q", "n"}, "properties": map[string]any{
			"q": map[string]any{"type": "string"}, "n": map[string]any{"anyOf": []any{map[string]any{"type": "integer"}, map[string]any{"type": "null"}}}}}}}}
	if diff := cmp.Diff(tools, s.asked[0]["tools"]); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	call := func(id, name, args string) any {
		return map[string]any{"id": id, "type": "function", "function": map[string]any{"name": name, "arguments": args}}
	}
	messages := []any{
		map[string]any{"role": "user", "content": "go"},
		map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{call("a", "acme_search", `{"q":1}`), call("b", "made_up", "nonsense")}},
		map[string]any{"role": "tool", "tool_call_id": "a", "content": "[]"},
		map[string]any{"role": "tool", "tool_call_id": "b", "content": "POLICY_DENIED"},
	}
	if diff := cmp.Diff(messages, s.asked[1]["messages"]); diff != "" {
		t.Errorf("second turn (-want +got):\n%s", diff)
	}
}

func TestStructured(t *testing.T) {
	type out struct {
		Route string `json:"route" flow:"enum=fix|skip"`
	}
	s := serve(t, `{"choices":[{"message":{"content":"{\"route\":\"maybe\"}"},"finish_reason":"stop"}]}`,
		"{\"choices\":[{\"message\":{\"content\":\"```json\\n{\\\"route\\\":\\\"fix\\\"}\\n```\"},\"finish_reason\":\"stop\"}]}")
	f := llm.Format{Schema: &llm.Schema{Name: "plan", JSON: json.RawMessage(`{"type":"object","properties":{"route":{"enum":["fix","skip"]}},"required":["route"]}`)}, Reask: 1}
	got, err := llm.Ask[out](start(t), node, s.model(), llm.Prompt{Text: "x"}, f)
	if err != nil || got.Route != "fix" {
		t.Fatalf("%+v, %v", got, err)
	}
	if format, ok := s.asked[0]["response_format"].(map[string]any); !ok || format["type"] != "json_schema" {
		t.Errorf("format %v", s.asked[0]["response_format"])
	}
	again := s.asked[1]["messages"].([]any)
	if text := again[len(again)-1].(map[string]any)["content"].(string); !strings.Contains(text, `route: "maybe" is not one of`) {
		t.Errorf("the model is told %q", text)
	}

	s = serve(t, `{"choices":[{"message":{"content":"no"},"finish_reason":"stop"}]}`)
	f.Reask = 0
	_, err = llm.Ask[out](start(t), node, s.model(), llm.Prompt{Text: "x"}, f)
	if err == nil || !strings.HasPrefix(err.Error(), "f.yaml:1:1: node n: VALIDATION_ERROR: the answer does not fit: ") {
		t.Errorf("got %v", err)
	}
}

func TestStream(t *testing.T) {
	s := serve(t, `data: {"model":"m","choices":[{"delta":{"role":"assistant","content":"Hel"}}]}

: a comment

data: {"choices":[{"delta":{"content":"lo"}}]}

data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}}]}}]}

data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]},"finish_reason":"tool_calls"}]}

data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}

data: [DONE]

`)
	var heard []string
	c := &llm.Conversation{Messages: []llm.Message{{Role: llm.User, Text: "x"}}}
	p := At(s.URL + "/v1")
	reply, err := p.Complete(t.Context(), &llm.Request{Model: "m", Conv: c, Delta: func(text string) { heard = append(heard, text) }})
	if err != nil {
		t.Fatal(err)
	}
	want := &llm.Reply{Model: "m", Message: llm.Message{Role: llm.Assistant, Text: "Hello", Calls: []llm.Call{{ID: "a", Name: "f", Args: `{"x":1}`}}},
		Stop: llm.CallStop, Usage: llm.Usage{Input: 3, Output: 2}}
	if diff := cmp.Diff(want, reply); diff != "" {
		t.Errorf("reply (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Hel", "lo"}, heard); diff != "" {
		t.Errorf("pieces (-want +got):\n%s", diff)
	}
}

// Each message is encoded once: what a later request says begins with what the earlier one said.
func TestEncodedOnce(t *testing.T) {
	c := &llm.Conversation{System: "s", Messages: []llm.Message{{Role: llm.User, Text: strings.Repeat("x", 1000)}}}
	m := newMemo(&provider{wire.Host{Base: "http://h"}}, &llm.Request{Model: "m", Conv: c})
	m.add(c.Messages)
	first, _ := m.body.Parts()
	for range 50 {
		c.Messages = append(c.Messages, llm.Message{Role: llm.Assistant, Text: "a"}, llm.Message{Role: llm.User, Text: "b"})
		before, _ := m.body.Parts()
		m.add(c.Messages)
		if after, _ := m.body.Parts(); len(after)-len(before) > 100 {
			t.Fatalf("a turn added %d bytes", len(after)-len(before))
		}
	}
	all, end := m.body.Parts()
	if !strings.HasPrefix(string(all), string(first)) {
		t.Error("what was encoded has changed")
	}
	if !json.Valid(append(all, end...)) {
		t.Error("the body is no JSON")
	}
}

func TestMain(m *testing.M) { leaks.Main(m) }

func TestParametersAndMedia(t *testing.T) {
	s := serve(t, `{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}`)
	p := llm.Params{TopP: new(0.5), MaxTokens: new(int64(9)), Seed: new(int64(3)), Stop: []string{"END"}}
	media := []llm.Media{{Type: "image/png", Data: []byte("p")}, {Type: "image/png", URL: "https://h.test/x.png"}, {Type: "application/pdf", Name: "a.pdf", Data: []byte("%")}}
	if _, err := llm.Ask[string](start(t), node, s.model(llm.With(p)), llm.Prompt{Text: "What?", Media: media}, llm.Format{}); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"model": "gpt-4o-mini", "top_p": 0.5, "max_tokens": 9.0, "seed": 3.0, "stop": []any{"END"}, "messages": []any{
		map[string]any{"role": "user", "content": []any{
			map[string]any{"type": "text", "text": "What?"},
			map[string]any{"type": "image_url", "image_url": map[string]any{"url": "data:image/png;base64,cA=="}},
			map[string]any{"type": "image_url", "image_url": map[string]any{"url": "https://h.test/x.png"}},
			map[string]any{"type": "file", "file": map[string]any{"filename": "a.pdf", "file_data": "data:application/pdf;base64,JQ=="}},
		}}}}
	if diff := cmp.Diff(want, s.asked[0]); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

// OpenAI itself wants max_completion_tokens, and a stream's usage is asked for.
func TestOfficial(t *testing.T) {
	p := &provider{wire.Host{Base: DefaultBaseURL}}
	m := newMemo(p, &llm.Request{Model: "m", Params: llm.Params{MaxTokens: new(int64(9))}, Conv: &llm.Conversation{}, Delta: func(string) {}})
	begin, end := m.body.Parts()
	if got, want := string(begin)+string(end), `{"model":"m","max_completion_tokens":9,"stream":true,"stream_options":{"include_usage":true},"messages":[]}`; got != want {
		t.Errorf("got %s", got)
	}
}

// A schema that cannot be strict goes as it is; of one that can, what the mode does not know is told in words.
func TestSchemas(t *testing.T) {
	ask := func(schema string) *format {
		m := &llm.Request{Model: "m", Conv: &llm.Conversation{Schema: &llm.Schema{Name: "my plan", JSON: json.RawMessage(schema)}}}
		var doc struct {
			Format *format `json:"response_format"`
		}
		begin, end := newMemo(&provider{}, m).body.Parts()
		if err := json.Unmarshal(append(begin, end...), &doc); err != nil {
			t.Fatal(err)
		}
		return doc.Format
	}
	for _, tt := range []struct {
		in, want string
		strict   bool
	}{
		{`{"type":"object","properties":{"z":{"type":"string","minLength":2},"a":{"type":"integer"}},"required":["z"]}`,
			`{"type":"object","properties":{"z":{"type":"string","description":"(minLength: 2)"},"a":{"anyOf":[{"type":"integer"},{"type":"null"}]}},"required":["z","a"],"additionalProperties":false}`, true},
		{`{"type":"object","additionalProperties":{"type":"integer"}}`, `{"type":"object","additionalProperties":{"type":"integer"}}`, false},
		{`{"type":"object","properties":{"a":{"type":"integer","default":1}}}`, `{"type":"object","properties":{"a":{"type":"integer","default":1}}}`, false},
		{`{"type":"object","properties":{"default":{"type":"integer"}}}`,
			`{"type":"object","properties":{"default":{"anyOf":[{"type":"integer"},{"type":"null"}]}},"additionalProperties":false,"required":["default"]}`, true},
		{`{"type":"array","items":{"type":"string"}}`, `{"type":"array","items":{"type":"string"}}`, false},
	} {
		f := ask(tt.in)
		if f.JSONSchema.Name != "my_plan" || f.JSONSchema.Strict != tt.strict || string(f.JSONSchema.Schema) != tt.want {
			t.Errorf("%s: strict %v, %s", tt.in, f.JSONSchema.Strict, f.JSONSchema.Schema)
		}
	}
}

// An answer that is asked for as the arguments of a tool is what the model gives to the tool, of whatever shape.
func TestAnswerTool(t *testing.T) {
	const args = `{\"ideas\":[{\"title\":\"x\"}]}`
	s := serve(t, `{"choices":[{"message":{"tool_calls":[{"id":"a","type":"function","function":{"name":"structured_output","arguments":"`+args+`"}}]},"finish_reason":"tool_calls"}]}`,
		`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"structured_output","arguments":"`+args+`"}}]}}]}

data: {"choices":[{"delta":{},"finish_reason":"stop"}]}

data: [DONE]

`, `{"choices":[{"message":{"content":"as text"},"finish_reason":"stop"}]}`)
	schema := &llm.Schema{Name: "out", Tool: "structured_output", JSON: json.RawMessage(`{"type":"object","properties":{"ideas":{"type":"array","items":{"type":"object"}}}}`)}
	p := At(s.URL + "/v1")
	for i, want := range []string{`{"ideas":[{"title":"x"}]}`, `{"ideas":[{"title":"x"}]}`, "as text"} {
		req := &llm.Request{Model: "gpt-4o", Conv: &llm.Conversation{Schema: schema, Messages: []llm.Message{{Role: llm.User, Text: "ideas"}}}}
		if i == 1 {
			req.Delta = func(string) {}
		}
		reply, err := p.Complete(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if reply.Message.Text != want || len(reply.Message.Calls) > 0 || reply.Stop != llm.End {
			t.Errorf("%d: %+v", i, reply)
		}
		if diff := cmp.Diff(any(map[string]any{"type": "function", "function": map[string]any{"name": "structured_output"}}), s.asked[i]["tool_choice"]); diff != "" {
			t.Errorf("choice (-want +got):\n%s", diff)
		}
		if tools, ok := s.asked[i]["tools"].([]any); !ok || len(tools) != 1 || s.asked[i]["response_format"] != nil {
			t.Errorf("asked %v", s.asked[i])
		}
	}
}
