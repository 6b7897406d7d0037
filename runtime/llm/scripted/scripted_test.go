package scripted

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/internal/leaks"
	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

func TestMain(m *testing.M) { leaks.Main(m) }

const script = `{"answers": [
	{"turn": 0, "user": "weather", "calls": [{"name": "look", "args": {"city": "Paris"}}, {"name": "look", "args": "{broken"}]},
	{"tool": "look", "result": "rain", "text": "It rains in Paris.", "usage": {"input_tokens": 7, "cached_input_tokens": 2, "output_tokens": 3}},
	{"user": "flaky", "error": {"code": "RATE_LIMIT", "retry_after_s": 2, "times": 2}, "json": {"ok": true}},
	{"user": "slow", "delay_ms": 60000, "text": "late"},
	{"user": "long", "text": "cut", "stop": "length"},
	{"model": "other", "text": "other"}
]}`

func ask(t *testing.T, p llm.Provider, c *llm.Conversation, delta func(string)) (*llm.Reply, error) {
	t.Helper()
	return p.Complete(t.Context(), &llm.Request{Model: "m", Conv: c, Delta: delta})
}

func user(text string) *llm.Conversation {
	return &llm.Conversation{Messages: []llm.Message{{Role: llm.User, Text: text}}}
}

func TestScript(t *testing.T) {
	p := MustParse([]byte(script)).Provider()
	c := user("the weather?")
	reply, err := ask(t, p, c, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := &llm.Reply{Model: "m", Stop: llm.CallStop, Usage: llm.Usage{Input: 3, Output: 8}, Message: llm.Message{Role: llm.Assistant, Calls: []llm.Call{
		{ID: "call_0_0", Name: "look", Args: `{"city": "Paris"}`}, {ID: "call_0_1", Name: "look", Args: "{broken"}}}}
	if diff := cmp.Diff(want, reply); diff != "" {
		t.Errorf("first (-want +got):\n%s", diff)
	}
	c.Messages = append(c.Messages, reply.Message, llm.Message{Role: llm.Tools, Results: []llm.Result{
		{ID: "call_0_0", Name: "look", Text: "rain"}, {ID: "call_0_1", Name: "look", Text: "VALIDATION_ERROR", Failed: true}}})
	var heard []string
	reply, err = ask(t, p, c, func(s string) { heard = append(heard, s) })
	if err != nil {
		t.Fatal(err)
	}
	want = &llm.Reply{Model: "m", Stop: llm.End, Usage: llm.Usage{Input: 7, Cached: 2, Output: 3}, Message: llm.Message{Role: llm.Assistant, Text: "It rains in Paris."}}
	if diff := cmp.Diff(want, reply); diff != "" {
		t.Errorf("second (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"It", " rains", " in", " Paris."}, heard); diff != "" {
		t.Errorf("pieces (-want +got):\n%s", diff)
	}
}

func TestErrors(t *testing.T) {
	p := MustParse([]byte(script)).Provider()
	c := user("flaky")
	for range 2 {
		_, err := ask(t, p, c, nil)
		var te *value.ToolError
		if !errors.As(err, &te) || te.Code != value.RateLimit || te.RetryAfterS == nil || *te.RetryAfterS != 2 {
			t.Fatalf("got %v", err)
		}
	}
	if reply, err := ask(t, p, c, nil); err != nil || reply.Message.Text != `{"ok": true}` {
		t.Errorf("got %+v, %v", reply, err)
	}
	if reply, err := ask(t, p, user("long"), nil); err != nil || reply.Stop != llm.Length {
		t.Errorf("got %+v, %v", reply, err)
	}
	var te *value.ToolError
	if _, err := ask(t, p, user("nobody knows"), nil); !errors.As(err, &te) || te.Code != value.ValidationError ||
		te.Message != `the script has no answer for turn 0 of m, after "nobody knows"` {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := p.Complete(ctx, &llm.Request{Conv: user("slow")}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`{"answers": [{"txt": "x"}]}`:                    `unknown field "txt"`,
		`{"answers": [{"text": "x", "json": 1}]}`:        "answer 0: text and json are both given",
		`{"answers": [{}, {"error": {"code": "OOPS"}}]}`: `answer 1: "OOPS" is none of the nine codes`,
		`{"answers": [{"stop": "because"}]}`:             `unknown stop reason "because"`,
		`{"answers": [{"calls": [{"args": {}}]}]}`:       "a call has no name",
		`{"answers": []} {}`:                             "something after the end",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

// A model with a script is a model like any other: its answers are decoded, and its tokens counted.
func TestAsk(t *testing.T) {
	type out struct {
		Route string `json:"route" flow:"enum=fix|skip"`
	}
	asked := 0
	m := llm.NewModel("scripted:demo", "demo", New(func(req *llm.Request) (*llm.Reply, error) {
		asked++
		if Turn(req.Conv) == 0 {
			return &llm.Reply{Message: llm.Message{Text: `{"route": "else"}`}}, nil
		}
		return &llm.Reply{Message: llm.Message{Text: `{"route": "fix"}`}}, nil
	}), llm.Priced(llm.Price{Input: "1", Output: "2"}))
	rt, err := flow.New(&flow.Info{Name: "t"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := llm.Ask[out](rt.Start(t.Context()), &flow.Node{ID: "n"}, m, llm.Prompt{Text: "go"},
		llm.Format{Schema: &llm.Schema{Name: "o", JSON: json.RawMessage(`{"type":"object"}`)}, Reask: 1})
	if err != nil || got.Route != "fix" || asked != 2 {
		t.Errorf("got %+v, %v after %d questions", got, err, asked)
	}
}

// next continues c with what p answers.
func next(t *testing.T, p llm.Provider, c *llm.Conversation) string {
	t.Helper()
	reply, err := ask(t, p, c, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Messages = append(c.Messages, reply.Message)
	text := reply.Message.Text
	for _, call := range reply.Message.Calls {
		text += call.Name + call.Args
		c.Messages = append(c.Messages, llm.Message{Role: llm.Tools, Results: []llm.Result{{ID: call.ID, Name: call.Name, Text: "found"}}})
	}
	return text
}

func TestInOrder(t *testing.T) {
	p := InOrder(
		Answer{Prompt: "title", Text: "first"},
		Answer{Prompt: "title", Text: "second"},
		Calling("find", struct {
			City string `json:"city"`
		}{"Paris"}),
		Answer{Text: "done"},
		Answer{User: "sorry", Text: "always"},
	)
	for range 2 { // it depends on the conversation alone
		c := user("look it up")
		if a, b := next(t, p, c), next(t, p, c); a != `find{"city":"Paris"}` || b != "done" {
			t.Errorf("got %q, %q", a, b)
		}
		if _, err := ask(t, p, c, nil); err == nil || !strings.Contains(err.Error(), "no answer for turn 2") {
			t.Errorf("got %v", err)
		}
		c.Messages = append(c.Messages, llm.Message{Role: llm.User, Text: "sorry"})
		if got := next(t, p, c); got != "always" {
			t.Errorf("got %q", got)
		}
		if c := user("a title"); next(t, p, c)+next(t, p, c) != "firstsecond" {
			t.Error("a conversation of another prompt has other answers")
		}
	}
	for _, bad := range []func(){
		func() { InOrder(Answer{Text: "a", JSON: json.RawMessage("1")}) },
		func() { Calling("f", func() {}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			bad()
		}()
	}
}
