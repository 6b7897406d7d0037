package fake

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime/internal/leaks"
	"github.com/flowgen-dev/flowgen/runtime/llm"
)

func TestMain(m *testing.M) { leaks.Main(m) }

// post sends a body, closes its connection and returns status and answer.
func post(t *testing.T, s *Server, path, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Close = true
	req.Header = http.Header{"Content-Type": {"application/json"}, "Anthropic-Version": {"2023-06-01"}, "Authorization": {"Bearer k"}, "X-Api-Key": {"k"}, "X-Goog-Api-Key": {"k"}}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

const (
	openaiPath    = "/v1/chat/completions"
	anthropicPath = "/v1/messages"
	responsesPath = "/v1/responses"
	geminiPath    = "/v1beta/models/g:generateContent"
)

// The server takes what the real services take and refuses what they refuse: a client that passes its tests works.
func TestRefusals(t *testing.T) {
	s, err := Start("k", func(*Request) *Response { return Say("hi") })
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, tt := range []struct{ path, body, want string }{ // want is part of the answer; "": taken
		{openaiPath, `{"model":"m","messages":[{"role":"user","content":"x"}]}`, ""},
		{openaiPath, `{"model":"m","messages":[]}`, "you must provide"},
		{openaiPath, `{"model":"m","surprise":1,"messages":[{"role":"user","content":"x"}]}`, `unknown field`},
		{openaiPath, `{"model":"m","messages":[{"role":"robot","content":"x"}]}`, "Invalid value: 'robot'"},
		{openaiPath, `{"model":"m","messages":[{"role":"tool","tool_call_id":"a","content":"x"}]}`, "must be a response to a preceeding message"},
		{openaiPath, `{"model":"m","messages":[{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"user","content":"x"}]}`, "must be followed by tool messages"},
		{openaiPath, `{"model":"m","messages":[{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"x"}]}`, ""},
		{openaiPath, `{"model":"m","tools":[{"type":"function","function":{"name":"a.b"}}],"messages":[{"role":"user","content":"x"}]}`, "does not match pattern"},
		{openaiPath, `{"model":"m","response_format":{"type":"json_schema","json_schema":{"name":"o","strict":true,"schema":{"type":"object","properties":{"a":{}}}}},"messages":[{"role":"user","content":"x"}]}`, "additionalProperties"},
		{anthropicPath, `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"text","text":"x"}]}]}`, ""},
		{anthropicPath, `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"x"}]}]}`, "max_tokens"},
		{anthropicPath, `{"model":"m","max_tokens":1,"seed":1,"messages":[{"role":"user","content":[{"type":"text","text":"x"}]}]}`, "unknown field"},
		{anthropicPath, `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[]}]}`, "non-empty"},
		{anthropicPath, `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"text","text":""}]}]}`, "non-empty"},
		{anthropicPath, `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}]}`, "unexpected `tool_use_id`"},
		{anthropicPath, `{"model":"m","max_tokens":1,"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]}]}`, "without `tool_result`"},
		{anthropicPath, `{"model":"m","max_tokens":1,"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":"x"}]}]}`, "valid dictionary"},
		{anthropicPath, `{"model":"m","max_tokens":1,"messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"x"}]}]}`, "signature"},
		{anthropicPath, `{"model":"m","max_tokens":1,"tools":[{"name":"f","input_schema":{"type":"array"}}],"messages":[{"role":"user","content":[{"type":"text","text":"x"}]}]}`, "not valid"},
		{responsesPath, `{"model":"m","store":false,"input":[{"role":"user","content":"x"}]}`, ""},
		{responsesPath, `{"model":"m","input":[]}`, "Missing required parameter"},
		{responsesPath, `{"model":"m","seed":1,"input":[{"role":"user","content":"x"}]}`, "unknown field"},
		{responsesPath, `{"model":"m","max_output_tokens":5,"input":[{"role":"user","content":"x"}]}`, "integer below minimum value"},
		{responsesPath, `{"model":"m","input":[{"role":"robot","content":"x"}]}`, "Invalid value: 'robot'"},
		{responsesPath, `{"model":"m","input":[{"type":"function_call_output","call_id":"a","output":"x"}]}`, "No tool call found"},
		{responsesPath, `{"model":"m","input":[{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}]}`, "No tool output found"},
		{responsesPath, `{"model":"m","input":[{"type":"reasoning","id":"rs","summary":[]}]}`, "not persisted"},
		{responsesPath, `{"model":"m","tools":[{"type":"function","name":"f","parameters":{"type":"object","properties":{"a":{}}}}],"input":[{"role":"user","content":"x"}]}`, "additionalProperties"},
		{geminiPath, `{"contents":[{"role":"user","parts":[{"text":"x"}]}]}`, ""},
		{geminiPath, `{"contents":[]}`, "contents are required"},
		{geminiPath, `{"contents":[{"role":"user","parts":[]}]}`, "number of function response parts"},
		{geminiPath, `{"messages":[]}`, "unknown field"},
		{geminiPath, `{"contents":[{"role":"model","parts":[{"functionCall":{"name":"f"}}]},{"role":"user","parts":[{"text":"x"}]}]}`, "number of function response parts"},
		{geminiPath, `{"tools":[{"functionDeclarations":[{"name":"9"}]}],"contents":[{"role":"user","parts":[{"text":"x"}]}]}`, "Invalid function name"},
		{geminiPath, `{"generationConfig":{"responseJsonSchema":{}},"contents":[{"role":"user","parts":[{"text":"x"}]}]}`, "mime type"},
	} {
		status, got := post(t, s, tt.path, tt.body)
		want := http.StatusOK
		if tt.want != "" {
			want = http.StatusBadRequest
		}
		if status != want || !strings.Contains(strings.ReplaceAll(got, `\"`, `"`), tt.want) {
			t.Errorf("%s %s: %d %s, want %q", tt.path, tt.body, status, got, tt.want)
		}
	}
	if status, _ := post(t, s, "/v1/other", "{}"); status != http.StatusNotFound {
		t.Errorf("another path: %d", status)
	}
}

// Errors have the form that each service gives them.
func TestErrorBodies(t *testing.T) {
	for d, want := range map[Dialect]string{
		OpenAI:    `{"error":{"message":"m","type":"error","param":null,"code":null}}`,
		Anthropic: `{"type":"error","error":{"type":"overloaded_error","message":"m"},"request_id":"req_fake"}`,
		Gemini:    `{"error":{"code":529,"message":"m","status":""}}`,
	} {
		var got, w any
		if json.Unmarshal(errorBody(d, 529, "m"), &got) != nil || json.Unmarshal([]byte(want), &w) != nil {
			t.Fatal(d)
		}
		if diff := cmp.Diff(w, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", d, diff)
		}
	}
}

// A stream in any number of pieces is the same answer.
func TestPieces(t *testing.T) {
	r := &llm.Reply{Message: llm.Message{Text: "ä b c"}, Stop: llm.End}
	for _, d := range Dialects {
		req := &Request{Dialect: d, Model: "m"}
		for n, want := range map[int]int{1: 1, 2: 2, 5: 5, 100: 5} {
			b := stream(req, r, n)
			got := bytes.Count(b, []byte(`"content":"`)) + bytes.Count(b, []byte(`"text_delta"`)) + bytes.Count(b, []byte(`"parts":[{"text"`)) + bytes.Count(b, []byte(`"type":"response.output_text.delta"`))
			if d == OpenAI {
				got-- // the first has the role, and no text
			}
			if got != want {
				t.Errorf("%s in %d: %d pieces\n%s", d, n, got, b)
			}
		}
	}
}
