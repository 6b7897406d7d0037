package responses

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/openai/openai-go/v3/responses"

	"github.com/flowgen-dev/flowgen/runtime/internal/leaks"
	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/llm/fake"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

func TestMain(m *testing.M) { leaks.Main(m) }

func serve(t *testing.T, answer func(*fake.Request) *fake.Response) llm.Provider {
	t.Helper()
	s, err := fake.Start("", answer)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return At(s.Base(fake.Responses))
}

// body is what is sent for a request.
func body(t *testing.T, req *llm.Request) map[string]any {
	t.Helper()
	m, err := newMemo(req)
	if err != nil {
		t.Fatal(err)
	}
	m.add(req.Conv.Messages)
	begin, end := m.body.Parts()
	whole := append(begin, end...)
	var params sdk.ResponseNewParams
	if err := json.Unmarshal(whole, &params); err != nil {
		t.Errorf("the library cannot read %s: %v", whole, err)
	}
	return want(t, string(whole))
}

func want(t *testing.T, text string) (doc map[string]any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestRequest(t *testing.T) {
	req := &llm.Request{Model: "gpt-4o", Delta: func(string) {},
		Params: llm.Params{Temperature: new(0.0), TopP: new(0.5), MaxTokens: new(int64(50))},
		Conv: &llm.Conversation{System: "Be <kind>.", Tools: []llm.Tool{{Name: "acme.search", Description: "finds", Schema: json.RawMessage(`{"type":"object","properties":{"q":{"type":"string"}}}`)},
			{Name: "map", Schema: json.RawMessage(`{"type":"object","additionalProperties":{"type":"integer"}}`)}},
			Messages: []llm.Message{
				{Role: llm.User, Text: "What?", Media: []llm.Media{{Type: "image/png", Data: []byte("p")}, {Type: "image/png", URL: "https://h.test/x.png"},
					{Type: "application/pdf", Name: "a.pdf", Data: []byte("%")}, {Type: "application/pdf", Name: "b.pdf", URL: "https://h.test/x.pdf"}}},
				{Role: llm.Assistant, Text: "I look.", Calls: []llm.Call{{ID: "a", Name: "acme.search", Args: `{"q":"<x>"}`}, {ID: "b", Name: "map", Args: "broken{"}}},
				{Role: llm.Tools, Results: []llm.Result{{ID: "a", Text: "yes"}, {ID: "b", Text: "no", Failed: true}}},
				{Role: llm.Assistant, Text: "So."},
				{Role: llm.User, Text: "And?"},
			}}}
	w := want(t, `{"model":"gpt-4o","instructions":"Be <kind>.","temperature":0,"top_p":0.5,"max_output_tokens":50,"store":false,"stream":true,
		"tools":[{"type":"function","name":"acme_search","description":"finds","strict":true,"parameters":{"type":"object",
			"properties":{"q":{"anyOf":[{"type":"string"},{"type":"null"}]}},"required":["q"],"additionalProperties":false}},
			{"type":"function","name":"map","strict":false,"parameters":{"type":"object","additionalProperties":{"type":"integer"}}}],
		"input":[
			{"role":"user","content":[{"type":"input_text","text":"What?"},
				{"type":"input_image","detail":"auto","image_url":"data:image/png;base64,cA=="},
				{"type":"input_image","detail":"auto","image_url":"https://h.test/x.png"},
				{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,JQ=="},
				{"type":"input_file","file_url":"https://h.test/x.pdf"}]},
			{"role":"assistant","content":"I look."},
			{"type":"function_call","call_id":"a","name":"acme_search","arguments":"{\"q\":\"<x>\"}"},
			{"type":"function_call","call_id":"b","name":"map","arguments":"broken{"},
			{"type":"function_call_output","call_id":"a","output":"yes"},
			{"type":"function_call_output","call_id":"b","output":"no"},
			{"role":"assistant","content":"So."},
			{"role":"user","content":"And?"}]}`)
	if diff := cmp.Diff(w, body(t, req)); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

// Models that do not reason refuse to be asked for encrypted reasoning.
func TestIncludes(t *testing.T) {
	for model, included := range map[string]bool{"gpt-5": true, "gpt-5.1-mini": true, "o3": true, "o4-mini-2025-04-16": true, "gpt-10": true, "codex-mini-latest": true,
		"gpt-4o": false, "gpt-4.1": false, "gpt-5-chat-latest": false, "ft:gpt-4o:me": false, "chatgpt-4o-latest": false, "own": false} {
		got, given := body(t, &llm.Request{Model: model, Conv: &llm.Conversation{}})["include"]
		if given != included || given && !cmp.Equal(got, []any{"reasoning.encrypted_content"}) {
			t.Errorf("%s: %v", model, got)
		}
	}
}

func TestParametersThatNobodyTakes(t *testing.T) {
	for message, p := range map[string]llm.Params{
		"takes no seed":             {Seed: new(int64(1))},
		"takes no texts to stop at": {Stop: []string{"x"}},
	} {
		if _, err := newMemo(&llm.Request{Model: "m", Params: p, Conv: &llm.Conversation{}}); err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("got %v, want %s", err, message)
		}
	}
}

func TestStructuredOutput(t *testing.T) {
	schema := `{"type":"object","properties":{"b":{"type":"string","minLength":2}},"required":["b"]}`
	ask := func(s llm.Schema, tools ...llm.Tool) map[string]any {
		s.Name, s.JSON = "my out", json.RawMessage(schema)
		return body(t, &llm.Request{Model: "m", Conv: &llm.Conversation{Schema: &s, Tools: tools}})
	}
	w := want(t, `{"format":{"type":"json_schema","name":"my_out","strict":true,"schema":{"type":"object",
		"properties":{"b":{"type":"string","description":"(minLength: 2)"}},"required":["b"],"additionalProperties":false}}}`)
	if diff := cmp.Diff(any(w), ask(llm.Schema{})["text"]); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	got := ask(llm.Schema{Tool: "final"})
	if diff := cmp.Diff(any(want(t, `{"type":"function","name":"final"}`)), got["tool_choice"]); diff != "" || got["text"] != nil {
		t.Errorf("tool_choice (-want +got), text %v:\n%s", got["text"], diff)
	}
	got = ask(llm.Schema{Tool: "final"}, llm.Tool{Name: "final", Schema: json.RawMessage(`{"type":"object"}`)})
	if names := fmt.Sprint(got["tools"].([]any)[1].(map[string]any)["name"]); got["tool_choice"] != "required" || names != "final_2" {
		t.Errorf("tool_choice %v, name %s", got["tool_choice"], names)
	}
}

// What the model gives to the tool for answers is the answer, and the conversation can go on after it.
func TestAnswerTool(t *testing.T) {
	for _, streamed := range []bool{false, true} {
		p := serve(t, func(r *fake.Request) *fake.Response {
			if r.Turn() == 0 {
				return fake.Ask(llm.Call{ID: "a", Name: "final", Args: `{"n":1}`})
			}
			return fake.Say("as text")
		})
		c := &llm.Conversation{Schema: &llm.Schema{Name: "out", Tool: "final", JSON: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)},
			Messages: []llm.Message{{Role: llm.User, Text: "count"}}}
		req := &llm.Request{Model: "gpt-5", Conv: c}
		if streamed {
			req.Delta = func(string) {}
		}
		reply, err := p.Complete(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		w := &llm.Reply{Model: "gpt-5", Message: llm.Message{Role: llm.Assistant, Text: `{"n":1}`}, Stop: llm.End, Usage: llm.Usage{Input: 10, Output: 8}}
		if diff := cmp.Diff(w, reply); diff != "" {
			t.Errorf("stream=%v (-want +got):\n%s", streamed, diff)
		}
		c.Messages = append(c.Messages, reply.Message, llm.Message{Role: llm.User, Text: "again"})
		if reply, err = p.Complete(t.Context(), req); err != nil || reply.Message.Text != "as text" {
			t.Errorf("got %+v, %v", reply, err)
		}
	}
}

const items = `[{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"c2Vh<bGVk"},` +
	`{"type":"message","id":"msg_1","status":"completed","role":"assistant","content":[{"type":"output_text","text":"I look.","annotations":[],"logprobs":[]}]},` +
	`{"type":"web_search_call","id":"ws_1","status":"completed"},` +
	`{"type":"function_call","id":"fc_1","status":"completed","call_id":"a","name":"f","arguments":"{\"x\":1}"}]`

// answers returns what a server says with output, in both ways.
func answers(output string) *fake.Response {
	whole := `{"id":"resp_1","object":"response","status":"completed","error":null,"incomplete_details":null,"model":"gpt-5","output":` + output +
		`,"usage":{"input_tokens":1,"input_tokens_details":{"cached_tokens":0},"output_tokens":2,"output_tokens_details":{"reasoning_tokens":1},"total_tokens":3}}`
	return edited(whole, "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":"+whole+"}\n\n")
}

// edited is a response with these bodies.
func edited(whole, stream string) *fake.Response {
	return &fake.Response{Fault: fake.Fault{Edit: func(_ fake.Dialect, b []byte) []byte {
		if strings.HasPrefix(string(b), "event:") {
			return []byte(stream)
		}
		return []byte(whole)
	}}}
}

// Reasoning is encrypted: it goes back as it came, and in its place, and nothing is kept at the provider.
func TestReasoning(t *testing.T) {
	for _, streamed := range []bool{false, true} {
		var second []byte
		p := serve(t, func(r *fake.Request) *fake.Response {
			if r.Turn() > 0 {
				second = r.Body
				return fake.Say("done")
			}
			return answers(items)
		})
		c := &llm.Conversation{Messages: []llm.Message{{Role: llm.User, Text: "x"}}}
		req := &llm.Request{Model: "gpt-5", Conv: c}
		if streamed {
			req.Delta = func(string) {}
		}
		reply, err := p.Complete(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		w := &llm.Reply{Model: "gpt-5", Stop: llm.CallStop, Usage: llm.Usage{Input: 1, Output: 2}, Message: llm.Message{Role: llm.Assistant, Text: "I look.",
			Calls: []llm.Call{{ID: "a", Name: "f", Args: `{"x":1}`}}, Opaque: reply.Message.Opaque}}
		if diff := cmp.Diff(w, reply); diff != "" {
			t.Errorf("stream=%v (-want +got):\n%s", streamed, diff)
		}
		c.Messages = append(c.Messages, reply.Message, llm.Message{Role: llm.Tools, Results: []llm.Result{{ID: "a", Name: "f", Text: "1"}}})
		if _, err := p.Complete(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		var sent struct {
			Input []json.RawMessage `json:"input"`
		}
		var came []json.RawMessage
		if json.Unmarshal(second, &sent) != nil || json.Unmarshal([]byte(items), &came) != nil || len(sent.Input) != 5 {
			t.Fatalf("sent %s", second)
		}
		for i, item := range []json.RawMessage{came[0], came[1], came[3]} {
			if string(sent.Input[i+1]) != string(item) {
				t.Errorf("stream=%v: sent %s, which came as %s", streamed, sent.Input[i+1], item)
			}
		}
	}
}

// Reasoning that is not encrypted cannot be sent back: the provider was asked not to keep it.
func TestReasoningThatIsNotKept(t *testing.T) {
	p := serve(t, func(r *fake.Request) *fake.Response {
		if r.Turn() > 0 {
			return fake.Say("done")
		}
		return answers(strings.Replace(items, `,"encrypted_content":"c2Vh<bGVk"`, "", 1))
	})
	c := &llm.Conversation{Messages: []llm.Message{{Role: llm.User, Text: "x"}}}
	reply, err := p.Complete(t.Context(), &llm.Request{Model: "gpt-5", Conv: c})
	if err != nil || reply.Message.Opaque != "" {
		t.Fatalf("%+v, %v", reply, err)
	}
	c.Messages = append(c.Messages, reply.Message, llm.Message{Role: llm.Tools, Results: []llm.Result{{ID: "a", Name: "f", Text: "1"}}})
	if _, err := p.Complete(t.Context(), &llm.Request{Model: "gpt-5", Conv: c}); err != nil {
		t.Error(err)
	}
}

// Failures and refusals that come with status 200.
func TestReports(t *testing.T) {
	failed := func(code string) string {
		return `{"status":"failed","model":"m","output":[],"error":{"code":"` + code + `","message":"it went wrong"},"incomplete_details":null,"usage":null}`
	}
	for code, want := range map[string]value.Code{"rate_limit_exceeded": value.RateLimit, "invalid_prompt": value.ValidationError, "server_error": value.ProviderError, "new": value.ProviderError} {
		for _, streamed := range []bool{false, true} {
			p := serve(t, func(*fake.Request) *fake.Response {
				return edited(failed(code), "event: response.failed\ndata: {\"type\":\"response.failed\",\"response\":"+failed(code)+"}\n\n")
			})
			req := &llm.Request{Model: "m", Conv: &llm.Conversation{Messages: []llm.Message{{Role: llm.User, Text: "x"}}}}
			if streamed {
				req.Delta = func(string) {}
			}
			_, err := p.Complete(t.Context(), req)
			var te *value.ToolError
			if !errors.As(err, &te) || te.Code != want || !strings.HasSuffix(te.Message, "reports: it went wrong") {
				t.Errorf("%s, stream=%v: %v", code, streamed, err)
			}
		}
	}
	p := serve(t, func(*fake.Request) *fake.Response {
		return answers(`[{"type":"message","id":"m","role":"assistant","status":"completed","content":[{"type":"refusal","refusal":"I cannot."}]}]`)
	})
	reply, err := p.Complete(t.Context(), &llm.Request{Model: "m", Conv: &llm.Conversation{Messages: []llm.Message{{Role: llm.User, Text: "x"}}}})
	if err != nil || reply.Stop != llm.Refusal || reply.Message.Text != "I cannot." {
		t.Errorf("%+v, %v", reply, err)
	}
}
