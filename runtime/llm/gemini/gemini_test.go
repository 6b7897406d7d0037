package gemini

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"google.golang.org/genai"

	"github.com/flowgen-dev/flowgen/runtime/internal/leaks"
	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/llm/fake"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

func TestMain(m *testing.M) {
	// The library starts a goroutine when a program starts that links it, and never ends it.
	leaks.Main(m, goleak.IgnoreTopFunction("go.opencensus.io/stats/view.(*worker).start"))
}

func serve(t *testing.T, answer func(*fake.Request) *fake.Response) *fake.Server {
	t.Helper()
	s, err := fake.Start("", answer)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func body(t *testing.T, req *llm.Request) map[string]any {
	t.Helper()
	m, err := newMemo(req)
	if err != nil {
		t.Fatal(err)
	}
	m.add(req.Conv.Messages)
	begin, end := m.body.Parts()
	return want(t, string(append(begin, end...)))
}

func want(t *testing.T, text string) (doc map[string]any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestRequest(t *testing.T) {
	req := &llm.Request{Model: "gemini-2.5-flash", Params: llm.Params{Temperature: new(0.1), TopP: new(0.5), MaxTokens: new(int64(50)), Seed: new(int64(7)), Stop: []string{"END"}},
		Conv: &llm.Conversation{System: "Be <kind>.",
			Tools: []llm.Tool{{Name: "acme.search", Description: "finds", Schema: json.RawMessage(`{"type":"object","properties":{"q":{"const":"x","minLength":1}},"additionalProperties":false}`)}},
			Messages: []llm.Message{
				{Role: llm.User, Text: "What?", Media: []llm.Media{{Type: "image/png", Data: []byte("p")}, {Type: "image/png", URL: "https://h.test/x.png"}}},
				{Role: llm.Assistant, Text: "Well.", Calls: []llm.Call{{ID: "a", Name: "acme.search", Args: `{"q":"<x>"}`}, {ID: ownID + "1_1", Name: "acme.search", Args: "broken{"}}},
				{Role: llm.Tools, Results: []llm.Result{{ID: "a", Name: "acme.search", Text: `{"n":1}`}, {ID: ownID + "1_1", Name: "acme.search", Text: "no", Failed: true}}},
				{Role: llm.Assistant},
				{Role: llm.User, Text: "And?"},
			}}}
	w := want(t, `{"systemInstruction":{"parts":[{"text":"Be <kind>."}]},
		"tools":[{"functionDeclarations":[{"name":"acme_search","description":"finds","parametersJsonSchema":
			{"type":"object","properties":{"q":{"enum":["x"],"description":"(minLength: 1)"}},"additionalProperties":false}}]}],
		"generationConfig":{"temperature":0.1,"topP":0.5,"maxOutputTokens":50,"seed":7,"stopSequences":["END"]},
		"contents":[
			{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"cA=="}},{"fileData":{"mimeType":"image/png","fileUri":"https://h.test/x.png"}},{"text":"What?"}]},
			{"role":"model","parts":[{"text":"Well."},{"functionCall":{"id":"a","name":"acme_search","args":{"q":"<x>"}}},
				{"functionCall":{"name":"acme_search","args":{"invalid_arguments":"broken{"}}}]},
			{"role":"user","parts":[{"functionResponse":{"id":"a","name":"acme_search","response":{"output":{"n":1}}}},
				{"functionResponse":{"name":"acme_search","response":{"error":"no"}}}]},
			{"role":"user","parts":[{"text":"And?"}]}]}`)
	if diff := cmp.Diff(w, body(t, req)); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

func TestStructuredOutput(t *testing.T) {
	schema := &llm.Schema{Name: "out", JSON: json.RawMessage(`{"type":"object","properties":{"b":{"type":"string","pattern":"^x"},"a":{"type":"integer","minimum":1}},"required":["b"]}`)}
	limited := `{"type":"object","properties":{"b":{"type":"string","description":"(pattern: \"^x\")"},"a":{"type":"integer","minimum":1}},"required":["b"]}`
	tools := []llm.Tool{{Name: "f", Schema: json.RawMessage(`{"type":"object"}`)}}
	config := want(t, `{"responseMimeType":"application/json","responseJsonSchema":`+limited+`}`)
	for _, model := range []string{"gemini-2.5-pro", "gemini-3-pro", "models/gemini-2.5-pro"} {
		if diff := cmp.Diff(any(config), body(t, &llm.Request{Model: model, Conv: &llm.Conversation{Schema: schema}})["generationConfig"]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", model, diff)
		}
	}
	if diff := cmp.Diff(any(config), body(t, &llm.Request{Model: "gemini-3-pro", Conv: &llm.Conversation{Schema: schema, Tools: tools}})["generationConfig"]); diff != "" {
		t.Errorf("beside tools (-want +got):\n%s", diff)
	}
	for _, model := range []string{"gemini-2.5-pro", "gemini-1.5-pro", "models/gemini-2.0-flash"} { // these refuse a schema beside tools
		got := body(t, &llm.Request{Model: model, Conv: &llm.Conversation{System: "Be kind.", Schema: schema, Tools: tools}})
		system := want(t, `{"parts":[{"text":""}]}`)
		system["parts"].([]any)[0].(map[string]any)["text"] = "Be kind.\n\nYour final answer is JSON of this schema and nothing else:\n" + limited
		if diff := cmp.Diff(any(system), got["systemInstruction"]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", model, diff)
		}
		if diff := cmp.Diff(any(map[string]any{}), got["generationConfig"]); diff != "" {
			t.Errorf("%s: config (-want +got):\n%s", model, diff)
		}
	}
}

func TestParametersOutOfRange(t *testing.T) {
	for _, p := range []llm.Params{{Seed: new(int64(1 << 40))}, {MaxTokens: new(int64(0))}, {MaxTokens: new(int64(1 << 40))}} {
		_, err := newMemo(&llm.Request{Params: p, Conv: &llm.Conversation{}})
		var te *value.ToolError
		if !errors.As(err, &te) || te.Code != value.ValidationError {
			t.Errorf("%+v: %v", p, err)
		}
	}
}

// answering serves bodies, whole ones or events, one after the other.
func answering(t *testing.T, bodies ...string) *fake.Server {
	return serve(t, func(r *fake.Request) *fake.Response {
		i := min(r.Turn(), len(bodies)-1)
		return &fake.Response{Fault: fake.Fault{Edit: func(fake.Dialect, []byte) []byte {
			if r.Stream {
				return []byte("data: " + bodies[i] + "\n\n")
			}
			return []byte(bodies[i])
		}}}
	})
}

// Parts with signatures go back as they came, with what stood between them.
func TestThoughts(t *testing.T) {
	parts := `[{"text":"thinking about it","thought":true},{"text":"I "},{"text":"look."},{"functionCall":{"name":"f","args":{"x":12345678901234567890}},"thoughtSignature":"c2ln"},{"functionCall":{"name":"f","args":{}}}]`
	sent := `[{"text":"thinking about it","thought":true},{"text":"I look."},{"functionCall":{"name":"f","args":{"x":12345678901234567890}},"thoughtSignature":"c2ln"},{"functionCall":{"name":"f","args":{}}}]`
	for _, streamed := range []bool{false, true} {
		s := answering(t, `{"candidates":[{"content":{"role":"model","parts":`+parts+`},"finishReason":"STOP"}],"modelVersion":"g-001",`+
			`"usageMetadata":{"promptTokenCount":5,"toolUsePromptTokenCount":1,"candidatesTokenCount":2,"thoughtsTokenCount":30,"cachedContentTokenCount":3}}`,
			`{"candidates":[{"content":{"parts":[{"text":"done"}]},"finishReason":"STOP"}]}`)
		c := &llm.Conversation{Messages: []llm.Message{{Role: llm.User, Text: "x"}}}
		req := &llm.Request{Model: "g", Conv: c}
		heard := ""
		if streamed {
			req.Delta = func(text string) { heard += text }
		}
		p := At(s.URL)
		reply, err := p.Complete(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		w := &llm.Reply{Model: "g-001", Stop: llm.CallStop, Usage: llm.Usage{Input: 6, Cached: 3, Output: 32}, Message: llm.Message{Role: llm.Assistant, Text: "I look.",
			Calls: []llm.Call{{ID: "gemini_call_1_0", Name: "f", Args: `{"x":12345678901234567890}`}, {ID: "gemini_call_1_1", Name: "f", Args: "{}"}}, Opaque: `{"gemini":` + sent + `}`}}
		if diff := cmp.Diff(w, reply); diff != "" || streamed && heard != "I look." {
			t.Errorf("stream=%v, heard %q (-want +got):\n%s", streamed, heard, diff)
		}
		c.Messages = append(c.Messages, reply.Message, llm.Message{Role: llm.Tools, Results: []llm.Result{{ID: "gemini_call_1_0", Name: "f", Text: "1"}, {ID: "gemini_call_1_1", Name: "f", Text: "2"}}})
		if _, err := p.Complete(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		var got struct {
			Contents []struct{ Parts json.RawMessage }
		}
		if err := json.Unmarshal(s.Requests()[1].Body, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(sent, string(got.Contents[1].Parts)); diff != "" {
			t.Errorf("stream=%v: what goes back (-want +got):\n%s", streamed, diff)
		}
	}
}

func TestReasons(t *testing.T) {
	for reason, want := range map[string]llm.Stop{"STOP": llm.End, "MAX_TOKENS": llm.Length, "SAFETY": llm.Refusal, "RECITATION": llm.Refusal, "PROHIBITED_CONTENT": llm.Refusal,
		"MALFORMED_FUNCTION_CALL": "", "OTHER": ""} {
		s := answering(t, `{"candidates":[{"finishReason":"`+reason+`","finishMessage":"why"}]}`)
		reply, err := At(s.URL).Complete(t.Context(), &llm.Request{Model: "g", Conv: &llm.Conversation{Messages: []llm.Message{{Role: llm.User, Text: "x"}}}})
		if want == "" {
			var te *value.ToolError
			if !errors.As(err, &te) || te.Code != value.ProviderError {
				t.Errorf("%s: %v", reason, err)
			}
		} else if err != nil || reply.Stop != want {
			t.Errorf("%s: %+v, %v", reason, reply, err)
		}
	}
	for _, stream := range []bool{false, true} {
		s := answering(t, `{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":3}}`)
		req := &llm.Request{Model: "g", Conv: &llm.Conversation{Messages: []llm.Message{{Role: llm.User, Text: "x"}}}}
		if stream {
			req.Delta = func(string) {}
		}
		if reply, err := At(s.URL).Complete(t.Context(), req); err != nil || reply.Stop != llm.Refusal || reply.Usage.Input != 3 {
			t.Errorf("blocked, stream=%v: %+v, %v", stream, reply, err)
		}
	}
}

// How long to wait stands in the details of errors.
func TestRetryDelay(t *testing.T) {
	s := serve(t, func(*fake.Request) *fake.Response {
		return &fake.Response{Fault: fake.Fault{Status: 429, Edit: func(fake.Dialect, []byte) []byte {
			return []byte(`{"error":{"code":429,"message":"Quota exceeded","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.5s"}]}}`)
		}}}
	})
	_, err := At(s.URL).Complete(t.Context(), &llm.Request{Model: "g", Conv: &llm.Conversation{Messages: []llm.Message{{Role: llm.User, Text: "x"}}}})
	var te *value.ToolError
	if !errors.As(err, &te) || te.Code != value.RateLimit || te.RetryAfterS == nil || *te.RetryAfterS != 34.5 {
		t.Errorf("got %v", err)
	}
}

// The official client understands the fake server, and the server the client: so what the other tests prove against the
// server holds for the real wire format.
func TestFakeSpeaksToTheOfficialClient(t *testing.T) {
	s := serve(t, func(*fake.Request) *fake.Response {
		p := fake.Ask(llm.Call{ID: "a", Name: "f", Args: `{"x":1}`})
		p.Reply.Message.Text, p.Reply.Usage = "Hello, world.", llm.Usage{Input: 12, Cached: 4, Output: 5}
		return p
	})
	client, err := genai.NewClient(context.Background(), &genai.ClientConfig{APIKey: "k", Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: s.URL}})
	if err != nil {
		t.Fatal(err)
	}
	whole, err := client.Models.GenerateContent(context.Background(), "g", genai.Text("Hi"), nil)
	if err != nil {
		t.Fatal(err)
	}
	text, calls, last := "", 0, (*genai.GenerateContentResponse)(nil)
	for r, err := range client.Models.GenerateContentStream(context.Background(), "g", genai.Text("Hi"), nil) {
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range r.Candidates[0].Content.Parts {
			text += p.Text
		}
		calls += len(r.FunctionCalls())
		last = r
	}
	if whole.Candidates[0].Content.Parts[0].Text != "Hello, world." || len(whole.FunctionCalls()) != 1 || text != "Hello, world." || calls != 1 {
		t.Errorf("the client reads %q and %d calls of a stream, and %+v", text, calls, whole)
	}
	for _, r := range []*genai.GenerateContentResponse{whole, last} {
		if u := r.UsageMetadata; u == nil || u.PromptTokenCount != 12 || u.CachedContentTokenCount != 4 || u.CandidatesTokenCount != 5 || r.Candidates[0].FinishReason != genai.FinishReasonStop {
			t.Errorf("the client reads %+v", r)
		}
	}
	if r := s.Requests(); len(r) != 2 || r[0].Messages[0].Text != "Hi" || r[0].Stream || !r[1].Stream || r[0].Model != "g" {
		t.Errorf("the server reads %+v", r)
	}
}
