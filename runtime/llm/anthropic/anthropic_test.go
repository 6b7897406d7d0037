package anthropic

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime/internal/leaks"
	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/llm/fake"
)

func TestMain(m *testing.M) { leaks.Main(m) }

func serve(t *testing.T, answer func(*fake.Request) *fake.Response) *fake.Server {
	t.Helper()
	s, err := fake.Start("", answer)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
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
	var doc map[string]any
	if err := json.Unmarshal(append(begin, end...), &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

func want(t *testing.T, text string) (doc map[string]any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestRequest(t *testing.T) {
	req := &llm.Request{Model: "claude-sonnet-4-5", Delta: func(string) {},
		Params: llm.Params{Temperature: new(0.0), TopP: new(0.5), MaxTokens: new(int64(50)), Stop: []string{"END"}},
		Conv: &llm.Conversation{System: "Be <kind>.", Tools: []llm.Tool{{Name: "acme.search", Description: "finds", Schema: json.RawMessage(`{"type":"object","properties":{"q":{"type":"string","minLength":1}}}`)}},
			Messages: []llm.Message{
				{Role: llm.User, Text: "What?", Media: []llm.Media{{Type: "image/png", Data: []byte("p")}, {Type: "image/png", URL: "https://h.test/x.png"},
					{Type: "application/pdf", Name: "a.pdf", Data: []byte("%")}, {Type: "text/plain", Data: []byte("t")}, {Type: "application/pdf", URL: "https://h.test/x.pdf"}}},
				{Role: llm.Assistant, Calls: []llm.Call{{ID: "a", Name: "acme.search", Args: `{"q":"<x>"}`}, {ID: "b", Name: "acme.search", Args: "broken{"}}},
				{Role: llm.Tools, Results: []llm.Result{{ID: "a", Text: "yes"}, {ID: "b", Text: "no", Failed: true}, {ID: "c"}}},
				{Role: llm.Assistant},
				{Role: llm.User, Text: "And?"},
			}}}
	w := want(t, `{"model":"claude-sonnet-4-5","max_tokens":50,"system":"Be <kind>.","temperature":0,"top_p":0.5,"stop_sequences":["END"],"stream":true,
		"tools":[{"name":"acme_search","description":"finds","input_schema":{"type":"object","properties":{"q":{"type":"string","minLength":1}}}}],
		"messages":[
			{"role":"user","content":[
				{"type":"image","source":{"type":"base64","media_type":"image/png","data":"cA=="}},
				{"type":"image","source":{"type":"url","url":"https://h.test/x.png"}},
				{"type":"document","title":"a.pdf","source":{"type":"base64","media_type":"application/pdf","data":"JQ=="}},
				{"type":"document","source":{"type":"text","media_type":"text/plain","data":"t"}},
				{"type":"document","source":{"type":"url","url":"https://h.test/x.pdf"}},
				{"type":"text","text":"What?"}]},
			{"role":"assistant","content":[
				{"type":"tool_use","id":"a","name":"acme_search","input":{"q":"<x>"}},
				{"type":"tool_use","id":"b","name":"acme_search","input":{"invalid_arguments":"broken{"}}]},
			{"role":"user","content":[
				{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"yes"}]},
				{"type":"tool_result","tool_use_id":"b","is_error":true,"content":[{"type":"text","text":"no"}]},
				{"type":"tool_result","tool_use_id":"c"}]},
			{"role":"user","content":[{"type":"text","text":"And?"}]}]}`)
	if diff := cmp.Diff(w, body(t, req)); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

func TestMaxTokens(t *testing.T) {
	for model, want := range map[string]float64{"claude-sonnet-4-5": 8192, "claude-3-5-haiku-latest": 8192, "claude-3-opus-20240229": 4096} {
		got := body(t, &llm.Request{Model: model, Conv: &llm.Conversation{}})["max_tokens"]
		if got != want {
			t.Errorf("%s: %v", model, got)
		}
	}
}

func TestSeedIsRefused(t *testing.T) {
	_, err := newMemo(&llm.Request{Model: "m", Params: llm.Params{Seed: new(int64(1))}, Conv: &llm.Conversation{}})
	if err == nil || err.Error() != "VALIDATION_ERROR: Anthropic's models take no seed: take it out of the model's parameters" {
		t.Errorf("got %v", err)
	}
}

func TestFilesThatNobodyTakes(t *testing.T) {
	for _, x := range []llm.Media{{Type: "application/zip", Data: []byte("x")}, {Type: "text/plain", URL: "https://h.test/x.txt"}, {Type: "audio/wav", Data: []byte("x")}} {
		_, err := At("http://127.0.0.1:1").Complete(t.Context(), &llm.Request{Model: "m", Conv: &llm.Conversation{Messages: []llm.Message{{Role: llm.User, Media: []llm.Media{x}}}}})
		if want := "VALIDATION_ERROR: Anthropic's models take images, PDF files and the data of texts, not " + x.Type; err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestStructuredOutput(t *testing.T) {
	object := `{"$schema":"x","type":"object","properties":{"b":{"type":"string","minLength":2,"description":"Text."},"a":{"type":"array","minItems":2,"items":{"type":"integer","minimum":0}},
		"e":{"const":"x"},"f":{"type":"string","format":"date"},"g":{"type":"string","format":"own"}},"required":["b"]}`
	closed := `{"format":{"type":"json_schema","schema":{"type":"object","properties":{"b":{"type":"string","description":"Text. (minLength: 2)"},
		"a":{"type":"array","items":{"type":"integer","description":"(minimum: 0)"},"description":"(minItems: 2)"},"e":{"const":"x"},
		"f":{"type":"string","format":"date"},"g":{"type":"string","description":"(format: \"own\")"}},"required":["b"],"additionalProperties":false}}}`
	ask := func(model, schema string, tools ...llm.Tool) map[string]any {
		return body(t, &llm.Request{Model: model, Conv: &llm.Conversation{Schema: &llm.Schema{Name: "out", JSON: json.RawMessage(schema)}, Tools: tools}})
	}
	got := ask("claude-sonnet-4-5-20250929", object)
	if diff := cmp.Diff(want(t, closed), got["output_config"]); diff != "" || got["tools"] != nil {
		t.Errorf("output_config (-want +got), tools %v:\n%s", got["tools"], diff)
	}

	// Older models, maps and other values than objects: a tool takes the answer.
	about := "Gives the final answer. Call it once, when you have all that the answer needs."
	tool := func(schema string) []any {
		return []any{map[string]any{"name": "answer", "description": about, "input_schema": want(t, schema)}}
	}
	for _, tt := range []struct{ model, schema, tool string }{
		{"claude-3-5-haiku-latest", object, object},
		{"claude-sonnet-4-20250514", object, object},
		{"claude-sonnet-4", object, object},
		{"claude-sonnet-4-5", `{"type":"object","additionalProperties":{"type":"integer"}}`, `{"type":"object","additionalProperties":{"type":"integer"}}`},
		{"claude-sonnet-4-5", `{"type":"object","properties":{"a":{"type":"array","items":{"type":"object"}}}}`, `{"type":"object","properties":{"a":{"type":"array","items":{"type":"object"}}}}`},
		{"claude-sonnet-4-5", `{"type":"array","items":{"$ref":"#/$defs/T"},"$defs":{"T":{"type":"string"}}}`,
			`{"type":"object","properties":{"answer":{"type":"array","items":{"$ref":"#/$defs/T"}}},"required":["answer"],"$defs":{"T":{"type":"string"}}}`},
	} {
		got := ask(tt.model, tt.schema)
		if diff := cmp.Diff(tool(tt.tool), got["tools"]); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", tt.model, tt.schema, diff)
		}
		if diff := cmp.Diff(any(want(t, `{"type":"tool","name":"answer"}`)), got["tool_choice"]); diff != "" {
			t.Errorf("%s: choice (-want +got):\n%s", tt.model, diff)
		}
	}
	got = ask("claude-3-5-haiku-latest", object, llm.Tool{Name: "answer", Schema: json.RawMessage(`{"type":"object"}`)})
	if diff := cmp.Diff(any(want(t, `{"type":"any"}`)), got["tool_choice"]); diff != "" {
		t.Errorf("choice beside tools (-want +got):\n%s", diff)
	}
	if tools := got["tools"].([]any); len(tools) != 2 || tools[0].(map[string]any)["name"] != "answer" || tools[1].(map[string]any)["name"] != "answer_2" {
		t.Errorf("tools %v", tools)
	}
}

// What the model gives to the tool for answers is the answer, and the conversation can go on after it.
func TestAnswerTool(t *testing.T) {
	for _, streamed := range []bool{false, true} {
		s := serve(t, func(r *fake.Request) *fake.Response {
			if r.Turn() == 0 {
				return fake.Ask(llm.Call{ID: "a", Name: "answer", Args: `{"answer":[1,2]}`})
			}
			return fake.Say("as text")
		})
		c := &llm.Conversation{Schema: &llm.Schema{Name: "out", JSON: json.RawMessage(`{"type":"array","items":{"type":"integer"}}`)},
			Messages: []llm.Message{{Role: llm.User, Text: "count"}}}
		req := &llm.Request{Model: "claude-sonnet-4-5", Conv: c}
		if streamed {
			req.Delta = func(string) {}
		}
		p := At(s.URL)
		reply, err := p.Complete(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		w := &llm.Reply{Model: "claude-sonnet-4-5", Message: llm.Message{Role: llm.Assistant, Text: "[1,2]"}, Stop: llm.End, Usage: llm.Usage{Input: 10, Output: 8}}
		if diff := cmp.Diff(w, reply); diff != "" {
			t.Errorf("stream=%v (-want +got):\n%s", streamed, diff)
		}
		c.Messages = append(c.Messages, reply.Message, llm.Message{Role: llm.User, Text: "again"})
		if reply, err = p.Complete(t.Context(), req); err != nil || reply.Message.Text != "as text" {
			t.Errorf("got %+v, %v", reply, err)
		}
	}
}

const thoughts = `[{"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"redacted_thinking","data":"xyz"},{"type":"text","text":"I look."},{"type":"tool_use","id":"a","name":"f","input":{"x":1}}]`

// Thoughts are signed: they go back as they came, and in their places.
func TestThoughts(t *testing.T) {
	whole := `{"id":"m","type":"message","role":"assistant","model":"m","content":` + thoughts + `,"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":2}}`
	stream := `event: message_start
data: {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":1,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"xyz"}}

event: content_block_start
data: {"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"I look."}}

event: content_block_start
data: {"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"a","name":"f","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"x\":1}"}}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":2}}

event: message_stop
data: {"type":"message_stop"}

`
	for _, streamed := range []bool{false, true} {
		s := serve(t, func(r *fake.Request) *fake.Response {
			if r.Turn() > 0 {
				return fake.Say("done")
			}
			return &fake.Response{Fault: fake.Fault{Edit: func(fake.Dialect, []byte) []byte {
				if r.Stream {
					return []byte(stream)
				}
				return []byte(whole)
			}}}
		})
		c := &llm.Conversation{Messages: []llm.Message{{Role: llm.User, Text: "x"}}}
		req := &llm.Request{Model: "m", Conv: c}
		if streamed {
			req.Delta = func(string) {}
		}
		p := At(s.URL)
		reply, err := p.Complete(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		w := &llm.Reply{Model: "m", Stop: llm.CallStop, Usage: llm.Usage{Input: 1, Output: 2}, Message: llm.Message{Role: llm.Assistant, Text: "I look.",
			Calls: []llm.Call{{ID: "a", Name: "f", Args: `{"x":1}`}}, Opaque: reply.Message.Opaque}}
		if diff := cmp.Diff(w, reply); diff != "" {
			t.Errorf("stream=%v (-want +got):\n%s", streamed, diff)
		}
		c.Messages = append(c.Messages, reply.Message, llm.Message{Role: llm.Tools, Results: []llm.Result{{ID: "a", Name: "f", Text: "1"}}})
		if _, err := p.Complete(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		var sent struct {
			Messages []struct{ Content any }
		}
		if err := json.Unmarshal(s.Requests()[1].Body, &sent); err != nil {
			t.Fatal(err)
		}
		var w2 any
		_ = json.Unmarshal([]byte(thoughts), &w2)
		if diff := cmp.Diff(w2, sent.Messages[1].Content); diff != "" {
			t.Errorf("stream=%v: what goes back (-want +got):\n%s", streamed, diff)
		}
	}
}

// The official client understands the fake server, and the server the client: so what the other tests prove against the
// server holds for the real wire format.
func TestFakeSpeaksToTheOfficialClient(t *testing.T) {
	s := serve(t, func(r *fake.Request) *fake.Response {
		p := fake.Ask(llm.Call{ID: "a", Name: "f", Args: `{"x":1}`})
		p.Reply.Message.Text, p.Reply.Usage = "Hello, world.", llm.Usage{Input: 12, Cached: 4, Output: 5}
		return p
	})
	client := sdk.NewClient(option.WithoutEnvironmentDefaults(), option.WithBaseURL(s.URL), option.WithAPIKey("k"), option.WithMaxRetries(0))
	params := sdk.MessageNewParams{Model: "m", MaxTokens: 9, Messages: []sdk.MessageParam{sdk.NewUserMessage(sdk.NewTextBlock("Hi"))}}
	whole, err := client.Messages.New(context.Background(), params)
	if err != nil {
		t.Fatal(err)
	}
	var streamed sdk.Message
	stream := client.Messages.NewStreaming(context.Background(), params)
	for stream.Next() {
		if err := streamed.Accumulate(stream.Current()); err != nil {
			t.Fatal(err)
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	_ = stream.Close()
	for _, m := range []*sdk.Message{whole, &streamed} {
		if len(m.Content) != 2 || m.Content[0].Text != "Hello, world." || m.Content[1].Name != "f" || strings.Join(strings.Fields(string(m.Content[1].Input)), "") != `{"x":1}` ||
			m.StopReason != sdk.StopReasonToolUse || m.Usage.InputTokens != 8 || m.Usage.CacheReadInputTokens != 4 || m.Usage.OutputTokens != 5 {
			t.Errorf("the client reads %+v", m)
		}
	}
	if r := s.Requests(); len(r) != 2 || r[0].Messages[0].Text != "Hi" || r[0].Stream || !r[1].Stream {
		t.Errorf("the server reads %+v", r)
	}
}
