package engines_test

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A model answers both sides on loopback, in the wire format of OpenAI. Its answers depend on the request alone, so that both
// sides are told the same whatever the order of their requests:
//
//	answer: TEXT            in the first message: TEXT
//	call: NAME {ARGS}       a line of the last message, when the tool is offered and nothing was called since: a call
//	fails: N times STATUS   the first N requests with this body fail, with STATUS 0 by a connection that is closed
//	a JSON Schema           a value of it, made of a hash of the messages
//	else                    the system message, `|`, and the first message
type model struct {
	mu       sync.Mutex
	requests map[string][]request // by the first element of the path
	seen     map[string]int       // requests by body
	url      string
}

// A request is what of a body both sides have to agree on.
type request struct {
	Model       string    `json:"model"`
	Messages    []message `json:"messages"`
	Temperature *float64  `json:"temperature,omitempty"`
	MaxTokens   *int      `json:"max_tokens,omitempty"`
	Tools       []string  `json:"tools,omitempty"`
	Schema      bool      `json:"schema,omitempty"` // the answer has to fit one
}

type message struct {
	Role    string   `json:"role"`
	Content string   `json:"content"`
	Calls   []string `json:"calls,omitempty"`
}

// body is what the server reads of a request.
type body struct {
	Model       string
	Messages    []wireMessage
	Temperature *float64
	MaxTokens   *int `json:"max_tokens"`
	MaxTokens2  *int `json:"max_completion_tokens"`
	Stream      bool
	Tools       []wireTool
	ToolChoice  json.RawMessage `json:"tool_choice"`
	Format      struct {
		Schema *struct{ Schema map[string]any } `json:"json_schema"`
	} `json:"response_format"`
}

type wireMessage struct {
	Role    string
	Content json.RawMessage
	Calls   []struct {
		Function struct{ Name, Arguments string }
	} `json:"tool_calls"`
}

type wireTool struct {
	Function struct {
		Name       string
		Parameters map[string]any
	}
}

// text is a content that is text, or a list of parts.
func (m *wireMessage) text() string {
	var text string
	if json.Unmarshal(m.Content, &text) == nil {
		return text
	}
	var parts []struct{ Text string }
	_ = json.Unmarshal(m.Content, &parts)
	for _, p := range parts {
		text += p.Text
	}
	return text
}

func startModel(t *testing.T) *model {
	m := &model{requests: map[string][]request{}, seen: map[string]int{}}
	s := httptest.NewServer(m)
	t.Cleanup(s.Close)
	m.url = s.URL
	return m
}

// take returns the requests of a run, and forgets them.
func (m *model) take(run string) []request {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := m.requests[run]
	delete(m.requests, run)
	return list
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	run, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	text, err := io.ReadAll(io.LimitReader(r.Body, 10<<20))
	if err != nil || !strings.HasSuffix(rest, "chat/completions") {
		w.Header().Set("Content-Type", "text/plain")
		fmt.Fprintf(w, "%s /%s %s", r.Method, rest, text) // what http tools ask
		return
	}
	var b body
	if err := json.Unmarshal(text, &b); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	req := b.request()
	key, _ := json.Marshal(req)
	m.mu.Lock()
	m.requests[run] = append(m.requests[run], req)
	m.seen[run+string(key)]++
	times := m.seen[run+string(key)]
	m.mu.Unlock()
	if _, fails, ok := strings.Cut(b.first(), "fails: "); ok {
		var n, status int
		if _, err := fmt.Sscanf(fails, "%d times %d", &n, &status); err == nil && times <= n {
			if status == 0 {
				panic(http.ErrAbortHandler)
			}
			http.Error(w, `{"error": {"message": "scripted"}}`, status)
			return
		}
	}
	b.reply(w)
}

func (b *body) request() request {
	r := request{Model: b.Model, Temperature: b.Temperature, MaxTokens: b.MaxTokens, Schema: b.schema() != nil}
	if r.MaxTokens == nil {
		r.MaxTokens = b.MaxTokens2
	}
	for i := range b.Messages {
		m := message{Role: b.Messages[i].Role, Content: b.Messages[i].text()}
		for _, c := range b.Messages[i].Calls {
			var args any
			_ = json.Unmarshal([]byte(c.Function.Arguments), &args)
			canonical, _ := json.Marshal(args)
			m.Calls = append(m.Calls, c.Function.Name+" "+string(canonical))
		}
		r.Messages = append(r.Messages, m)
	}
	for _, t := range b.Tools {
		if b.forced() == "" {
			r.Tools = append(r.Tools, t.Function.Name)
		}
	}
	slices.Sort(r.Tools)
	return r
}

// forced is the tool that the answer has to be a call of: how some clients ask for a schema.
func (b *body) forced() string {
	var choice struct{ Function struct{ Name string } }
	_ = json.Unmarshal(b.ToolChoice, &choice)
	return choice.Function.Name
}

func (b *body) schema() map[string]any {
	if b.Format.Schema != nil {
		return b.Format.Schema.Schema
	}
	for _, t := range b.Tools {
		if name := b.forced(); name != "" && name == t.Function.Name {
			return t.Function.Parameters
		}
	}
	return nil
}

func (b *body) system() string {
	for i := range b.Messages {
		if b.Messages[i].Role == "system" {
			return b.Messages[i].text()
		}
	}
	return ""
}

func (b *body) first() string {
	for i := range b.Messages {
		if b.Messages[i].Role != "system" {
			return b.Messages[i].text()
		}
	}
	return ""
}

// reply writes the answer, as one body or as a stream.
func (b *body) reply(w http.ResponseWriter) {
	answer := map[string]any{"role": "assistant"}
	reason := "stop"
	switch calls := b.calls(); {
	case calls != nil:
		answer["content"], answer["tool_calls"], reason = nil, calls, "tool_calls"
	case b.forced() != "":
		answer["content"], answer["tool_calls"] = nil, []any{call(0, b.forced(), b.text())}
	default:
		answer["content"] = b.text()
	}
	usage := map[string]any{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
	if !b.Stream {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"id": "1", "object": "chat.completion", "created": 1, "model": b.Model, "usage": usage,
			"choices": []any{map[string]any{"index": 0, "message": answer, "finish_reason": reason}}})
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(choices []any, usage any) {
		chunk, _ := json.Marshal(map[string]any{"id": "1", "object": "chat.completion.chunk", "created": 1, "model": b.Model, "choices": choices, "usage": usage})
		fmt.Fprintf(w, "data: %s\n\n", chunk)
	}
	send([]any{map[string]any{"index": 0, "delta": answer, "finish_reason": nil}}, nil)
	send([]any{map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": reason}}, nil)
	send([]any{}, usage)
	io.WriteString(w, "data: [DONE]\n\n")
}

func call(i int, name, args string) map[string]any {
	return map[string]any{"index": i, "id": fmt.Sprintf("c%d", i+1), "type": "function", "function": map[string]any{"name": name, "arguments": args}}
}

// calls are what the last message asks for of the tools that are offered.
func (b *body) calls() []any {
	if b.forced() != "" || len(b.Tools) == 0 || b.Messages[len(b.Messages)-1].Role != "user" {
		return nil
	}
	var calls []any
	for line := range strings.Lines(b.Messages[len(b.Messages)-1].text()) {
		_, rest, ok := strings.Cut(strings.TrimSpace(line), "call: ")
		name, args, _ := strings.Cut(rest, " ")
		if ok && slices.ContainsFunc(b.Tools, func(t wireTool) bool { return t.Function.Name == name }) && json.Valid([]byte(args)) {
			calls = append(calls, call(len(calls), name, args))
		}
	}
	return calls
}

func (b *body) text() string {
	_, answer, scripted := strings.Cut(b.first(), "answer: ")
	schema := b.schema()
	if schema != nil { // more may follow
		var first json.RawMessage
		if json.NewDecoder(strings.NewReader(answer)).Decode(&first) == nil {
			answer = string(first)
		}
	}
	switch last := &b.Messages[len(b.Messages)-1]; {
	case schema != nil && !(scripted && json.Valid([]byte(answer))):
		text, _ := json.Marshal(b.value(schema, schema, "$"))
		return string(text)
	case scripted:
		return strings.TrimSpace(answer)
	case last.Role == "tool":
		return "told " + last.text()
	}
	return b.system() + "|" + b.first()
}

// value is a value of a schema.
func (b *body) value(schema, root map[string]any, at string) any {
	h := fnv.New32a()
	io.WriteString(h, at+b.system()+b.first())
	n := int(h.Sum32() % 1000)
	if ref, ok := schema["$ref"].(string); ok {
		target := root
		for part := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
			target, _ = target[part].(map[string]any)
		}
		return b.value(target, root, at)
	}
	if all, ok := schema["enum"].([]any); ok && len(all) > 0 {
		return all[n%len(all)]
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		if all, ok := schema[key].([]any); ok && len(all) > 0 {
			first, _ := all[0].(map[string]any)
			return b.value(first, root, at)
		}
	}
	kind, _ := schema["type"].(string)
	if kinds, ok := schema["type"].([]any); ok {
		kind, _ = kinds[0].(string)
	}
	switch kind {
	case "object":
		out := map[string]any{}
		properties, _ := schema["properties"].(map[string]any)
		for name, p := range properties {
			p, _ := p.(map[string]any)
			out[name] = b.value(p, root, at+"."+name)
		}
		return out
	case "array":
		items, _ := schema["items"].(map[string]any)
		return []any{b.value(items, root, at+"[0]"), b.value(items, root, at+"[1]")}
	case "integer", "number":
		v := float64(n % 10)
		if kind == "number" {
			v = float64(n%100) / 100
		}
		if least, ok := schema["minimum"].(float64); ok {
			v = math.Max(v, least)
		}
		if most, ok := schema["maximum"].(float64); ok {
			v = math.Min(v, most)
		}
		return v
	case "boolean":
		return n%2 == 0
	case "null":
		return nil
	}
	return fmt.Sprintf("text %d", n)
}
