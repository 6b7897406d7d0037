package main

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/flowgen-dev/flowgen/runtime/llm"
)

// What models are told in plain runs goes into the file that ASKED names: a line of JSON for each question, sorted, as nodes run in
// parallel, and once, as attempts repeat it.
var (
	listening atomic.Bool
	lock      sync.Mutex
	asked     [][]byte
)

// hear notes a question.
func hear(c llm.Conversation) {
	if !listening.Load() {
		return
	}
	type message struct {
		Role    llm.Role `json:"role"`
		Text    string   `json:"text,omitempty"`
		Results []string `json:"results,omitempty"`
	}
	type known struct {
		Name        string `json:"name"`
		Description string `json:"description,omitempty"`
	}
	var told struct {
		System   string    `json:"system,omitempty"`
		Messages []message `json:"messages"`
		Tools    []known   `json:"tools,omitempty"`
	}
	told.System = c.System
	for _, t := range c.Tools {
		told.Tools = append(told.Tools, known{t.Name, t.Description})
	}
	for _, m := range c.Messages {
		one := message{Role: m.Role, Text: m.Text}
		for _, r := range m.Results {
			one.Results = append(one.Results, r.Text)
		}
		told.Messages = append(told.Messages, one)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(told); err != nil {
		fail(err.Error())
	}
	lock.Lock()
	defer lock.Unlock()
	asked = append(asked, bytes.ReplaceAll(b.Bytes(), []byte(base), []byte("http://server")))
}

// tell writes the questions.
func tell() {
	if name := os.Getenv("ASKED"); name != "" && len(asked) > 0 {
		slices.SortFunc(asked, bytes.Compare)
		if err := os.WriteFile(name, bytes.Join(slices.CompactFunc(asked, bytes.Equal), nil), 0o600); err != nil {
			fail(err.Error())
		}
	}
}
