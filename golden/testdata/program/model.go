package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// startModel starts a model on loopback that speaks OpenAI's format and makes all programs ask it. Its answers depend on
// the request alone: the prompt can say what is answered, also to the second question and so on, and which status is
// given back; else the answer is what was asked.
//
//	ANSWER: {"route": "fix"}
//	ANSWER 2: {"route": "fix"}
//	STATUS: 503
//	CALL 2: search {"q": "x"}
//
// The last is a call of a tool that the second answer asks for; CALLs of one number are asked for together. An answer that
// follows calls is counted like one that follows a question.
func startModel() (stop func()) {
	server := httptest.NewServer(http.HandlerFunc(complete))
	server.Config.SetKeepAlivesEnabled(false) // no goroutine is left
	if err := os.Setenv("OPENAI_BASE_URL", server.URL); err != nil {
		panic(err)
	}
	modelAddress = server.Listener.Addr().String()
	return server.Close
}

var modelAddress string

// withoutAddress takes the address of the model out of messages: it is another one every time.
func withoutAddress(text string) string { return strings.ReplaceAll(text, modelAddress, "model.test") }

var directive = regexp.MustCompile(`(?m)(ANSWER|STATUS|CALL)(?: (\d))?: (.*)$`)

func complete(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Model          string   `json:"model"`
		Temperature    *float64 `json:"temperature"`
		TopP           *float64 `json:"top_p"`
		MaxTokens      int64    `json:"max_tokens"`
		Seed           *int64   `json:"seed"`
		Stop           []string `json:"stop"`
		ResponseFormat *struct {
			JSONSchema struct {
				Name string `json:"name"`
			} `json:"json_schema"`
		} `json:"response_format"`
		Messages []struct {
			Role      string            `json:"role"`
			Content   json.RawMessage   `json:"content"`
			ToolCalls []json.RawMessage `json:"tool_calls"`
		} `json:"messages"`
	}
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if got := r.Header.Get("Authorization"); got != "Bearer value of OPENAI_API_KEY" {
		http.Error(w, `{"error":{"message":"no key"}}`, http.StatusUnauthorized)
		return
	}
	var said []string
	questions, first := 0, ""
	for _, m := range req.Messages {
		text := string(m.Content)
		_ = json.Unmarshal(m.Content, &text)
		if m.Role == "user" {
			if questions++; questions == 1 {
				first = text
			}
		}
		if m.Role == "assistant" && len(m.ToolCalls) > 0 {
			questions++
		}
		said = append(said, m.Role+": "+text)
	}
	var calls []any
	answer := fmt.Sprintf("%s %v %v %d %v %q heard %s", req.Model, valueOf(req.Temperature), valueOf(req.TopP), req.MaxTokens, valueOf(req.Seed), req.Stop, strings.Join(said, "; "))
	for _, m := range directive.FindAllStringSubmatch(first, -1) {
		switch {
		case m[1] == "STATUS":
			status, _ := strconv.Atoi(m[3])
			w.WriteHeader(status)
			_, _ = fmt.Fprint(w, `{"error":{"message":"as asked"}}`)
			return
		case m[1] == "CALL":
			if m[2] == strconv.Itoa(questions) {
				name, args, _ := strings.Cut(m[3], " ")
				calls = append(calls, map[string]any{"id": fmt.Sprint("call", questions, len(calls)), "type": "function",
					"function": map[string]any{"name": name, "arguments": args}})
			}
		case m[2] == "" || m[2] == strconv.Itoa(questions):
			answer = m[3]
		}
	}
	w.Header().Set("Content-Type", "application/json")
	message, reason := map[string]any{"role": "assistant", "content": answer}, "stop"
	if calls != nil {
		message, reason = map[string]any{"role": "assistant", "content": nil, "tool_calls": calls}, "tool_calls"
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"id": "x", "object": "chat.completion", "model": req.Model,
		"choices": []any{map[string]any{"index": 0, "finish_reason": reason, "message": message}},
		"usage":   map[string]any{"prompt_tokens": len(said), "completion_tokens": len(answer), "total_tokens": len(said) + len(answer)},
	})
}

func valueOf[T any](p *T) any {
	if p == nil {
		return "-"
	}
	return *p
}
