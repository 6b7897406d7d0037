package llm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/llm/fake"
)

var node = &flow.Node{ID: "n", Pos: "f.yaml:1:1"}

func run(t *testing.T) *flow.Run {
	t.Helper()
	rt, err := flow.New(&flow.Info{Name: "t"}, runtime.WithSecrets(func(string) (string, bool) { return key, true }))
	if err != nil {
		t.Fatal(err)
	}
	return rt.Start(t.Context())
}

// everywhere runs a test for every dialect.
func everywhere(t *testing.T, f func(t *testing.T, d fake.Dialect)) {
	for _, d := range fake.Dialects {
		t.Run(string(d), func(t *testing.T) { f(t, d) })
	}
}

func model(s *fake.Server, d fake.Dialect, o ...llm.ModelOption) *llm.Model {
	return llm.NewModel(string(d)+":m", "m", at[d](s.Base(d)), append(o, llm.Key("KEY"))...)
}

const toolSchema = `{"type":"object","properties":{"q":{"type":"string","minLength":1},"n":{"type":"integer"}},"required":["q"],"additionalProperties":false}`

// A conversation with tools comes to the other side as it was meant, whichever its wire format, in turns of which each
// one begins with the bytes of the one before.
func TestConversation(t *testing.T) {
	everywhere(t, func(t *testing.T, d fake.Dialect) {
		for _, streamed := range []bool{false, true} {
			t.Run(fmt.Sprint("stream=", streamed), func(t *testing.T) { conversation(t, d, streamed) })
		}
	})
}

func conversation(t *testing.T, d fake.Dialect, streamed bool) {
	asked := []llm.Call{{ID: "a", Name: "_9acme_search", Args: `{"q":"x \" <y>","n":9007199254740993}`}, {ID: "b", Name: "made_up", Args: `{"deep":[{"x":null}]}`},
		{ID: "c", Name: "_9acme_search_2", Args: `{}`}}
	s := start(t, func(r *fake.Request) *fake.Response {
		if r.Turn() == 0 {
			p := fake.Ask(asked...)
			p.Reply.Message.Text, p.Reply.Usage = "Let me look, <b>now</b>: ü.", llm.Usage{Input: 100, Cached: 40, Output: 7}
			return p
		}
		return fake.Say("Done.")
	})
	c := &llm.Conversation{System: "Be <kind> & brief.", Messages: []llm.Message{{Role: llm.User, Text: "Go & find <it>."}},
		Tools: []llm.Tool{{Name: "9acme.search", Description: "finds", Schema: json.RawMessage(toolSchema)}, {Name: "9acme_search", Schema: json.RawMessage(toolSchema)}}}
	p := at[d](s.Base(d))
	ask := func() *llm.Reply {
		t.Helper()
		var heard strings.Builder
		req := &llm.Request{Model: "m", Conv: c}
		if streamed {
			req.Delta = func(text string) { heard.WriteString(text) }
		}
		tool := complete(t, p, req)
		reply, err := flow.Call(run(t), node, tool, "")
		if err != nil {
			t.Fatal(err)
		}
		if streamed && heard.String() != reply.Message.Text {
			t.Errorf("heard %q of %q", heard.String(), reply.Message.Text)
		}
		c.Messages = append(c.Messages, reply.Message)
		return &reply
	}

	first := ask()
	calls := []llm.Call{{ID: "a", Name: "9acme.search", Args: asked[0].Args}, {ID: "b", Name: "made_up", Args: asked[1].Args}, {ID: "c", Name: "9acme_search", Args: "{}"}}
	want := &llm.Reply{Model: "m", Stop: llm.CallStop, Usage: llm.Usage{Input: 100, Cached: 40, Output: 7},
		Message: llm.Message{Role: llm.Assistant, Text: "Let me look, <b>now</b>: ü.", Calls: calls}}
	if diff := cmp.Diff(want, first); diff != "" {
		t.Errorf("reply (-want +got):\n%s", diff)
	}
	results := []llm.Result{{ID: "a", Name: "9acme.search", Text: `{"hits":[1,2]}`}, {ID: "b", Name: "made_up", Text: "POLICY_DENIED: no such tool", Failed: true}, {ID: "c", Name: "9acme_search"}}
	c.Messages = append(c.Messages, llm.Message{Role: llm.Tools, Results: results})
	if second := ask(); second.Message.Text != "Done." || second.Stop != llm.End {
		t.Errorf("second reply %+v", second)
	}

	requests := s.Requests()
	if len(requests) != 2 {
		t.Fatalf("%d requests", len(requests))
	}
	got := requests[1]
	sent := []llm.Message{
		{Role: llm.User, Text: "Go & find <it>."},
		{Role: llm.Assistant, Text: first.Message.Text, Calls: asked},
		{Role: llm.Tools, Results: []llm.Result{{ID: "a", Name: "_9acme_search", Text: `{"hits":[1,2]}`}, {ID: "b", Name: "made_up", Text: results[1].Text, Failed: true}, {ID: "c", Name: "_9acme_search_2"}}},
	}
	if d == fake.OpenAI || d == fake.Responses { // have no word for a failure
		sent[2].Results[1].Failed = false
	}
	sameJSON := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Args" }, cmp.Transformer("json", func(s string) any {
		var v any
		dec := json.NewDecoder(strings.NewReader(s))
		dec.UseNumber()
		if dec.Decode(&v) != nil {
			return s
		}
		return v
	}))
	if diff := cmp.Diff(sent, got.Messages, sameJSON); diff != "" {
		t.Errorf("what was sent (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"_9acme_search", "_9acme_search_2"}, got.Tools); diff != "" || got.System != c.System || got.Stream != streamed || got.Model != "m" {
		t.Errorf("system %q, model %q, stream %v, tools:\n%s", got.System, got.Model, got.Stream, diff)
	}
	if !bytes.HasPrefix(got.Body, bytes.TrimSuffix(requests[0].Body, []byte("]}"))) {
		t.Error("the second request does not begin with the first")
	}
}

// complete is a call of a provider as a tool, through which it gets its key.
func complete(t *testing.T, p llm.Provider, req *llm.Request) *flow.Tool[string, llm.Reply] {
	return flow.Bind("p@1", flow.External, func(ctx context.Context, _ string) (llm.Reply, error) {
		req.Key = "KEY"
		reply, err := p.Complete(ctx, req)
		if err != nil {
			return llm.Reply{}, err
		}
		return *reply, nil
	}, flow.Secrets("KEY"))
}

func TestMedia(t *testing.T) {
	everywhere(t, func(t *testing.T, d fake.Dialect) {
		s := start(t, func(*fake.Request) *fake.Response { return fake.Say("seen") })
		media := []llm.Media{{Type: "image/png", Data: []byte("\x89PNG\x00")}, {Type: "application/pdf", Name: "a.pdf", Data: []byte("%PDF")}, {Type: "image/jpeg", URL: "https://h.test/x.jpg"}}
		got, err := llm.Ask[string](run(t), node, model(s, d), llm.Prompt{Text: "What is it?", Media: media}, llm.Format{})
		if err != nil || got != "seen" {
			t.Fatalf("%q, %v", got, err)
		}
		want := []llm.Message{{Role: llm.User, Text: "What is it?", Media: media}}
		ignore := cmpopts.IgnoreFields(llm.Media{}, "Name") // Gemini has none
		kindless := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Type" }, cmp.Comparer(func(a, b string) bool { return a == b || a == "" || b == "" }))
		if diff := cmp.Diff(want, s.Requests()[0].Messages, ignore, kindless); diff != "" {
			t.Errorf("what was sent (-want +got):\n%s", diff)
		}
	})
}

type plan struct {
	Route string   `json:"route" flow:"enum=fix|skip"`
	Tasks []string `json:"tasks"`
}

var planFormat = llm.Format{Reask: 1, Schema: &llm.Schema{Name: "plan", JSON: json.RawMessage(
	`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"tasks":{"type":"array","items":{"type":"string","minLength":2},"maxItems":9},` +
		`"route":{"type":"string","enum":["fix","skip"]}},"required":["tasks","route"],"additionalProperties":false}`)}}

// An answer that does not fit is asked for again, with what is wrong; the schema keeps the order of its properties.
func TestStructuredReask(t *testing.T) {
	everywhere(t, func(t *testing.T, d fake.Dialect) {
		s := start(t, func(r *fake.Request) *fake.Response {
			if r.Turn() == 0 {
				return fake.Say(`{"route":"other","tasks":[]}`)
			}
			return fake.Say(`{"route":"skip","tasks":["ab"]}`)
		})
		got, err := llm.Ask[plan](run(t), node, model(s, d), llm.Prompt{Text: "Plan."}, planFormat)
		if diff := cmp.Diff(plan{"skip", []string{"ab"}}, got); diff != "" || err != nil {
			t.Fatalf("%v\n%s", err, diff)
		}
		r := s.Requests()[1]
		if last := r.Last().Text; len(r.Messages) != 3 || !strings.Contains(last, `route: "other" is not one of`) {
			t.Errorf("the model is told %q", last)
		}
		if i, j := bytes.Index(r.Schema, []byte(`"tasks":{`)), bytes.Index(r.Schema, []byte(`"route":{`)); i < 0 || j < i {
			t.Errorf("schema %s", r.Schema)
		}
		if !bytes.Contains(r.Schema, []byte(`(minLength: 2`)) {
			t.Errorf("the bound is not told in %s", r.Schema)
		}
	})
}

func TestAnswersThatAreNone(t *testing.T) {
	everywhere(t, func(t *testing.T, d fake.Dialect) {
		for stop, want := range map[llm.Stop]string{
			llm.Length:  "f.yaml:1:1: node n: PROVIDER_ERROR: m reached its token limit before the end of the answer",
			llm.Refusal: "f.yaml:1:1: node n: PROVIDER_ERROR: m refused to answer",
		} {
			s := start(t, func(*fake.Request) *fake.Response {
				p := fake.Say(`{"route":"fix","tasks":[]}`) // would fit
				p.Reply.Stop = stop
				return p
			})
			if _, err := llm.Ask[plan](run(t), node, model(s, d), llm.Prompt{Text: "x"}, planFormat); err == nil || err.Error() != want {
				t.Errorf("%s: got %v", stop, err)
			}
			if n := len(s.Requests()); n != 1 {
				t.Errorf("%s: asked %d times", stop, n)
			}
		}
	})
}

// After the questions that are allowed the error says what the last answer was.
func TestReaskEnds(t *testing.T) {
	everywhere(t, func(t *testing.T, d fake.Dialect) {
		s := start(t, func(*fake.Request) *fake.Response { return fake.Say("I would rather not use JSON") })
		_, err := llm.Ask[plan](run(t), node, model(s, d), llm.Prompt{Text: "x"}, planFormat)
		if err == nil || !strings.HasPrefix(err.Error(), "f.yaml:1:1: node n: VALIDATION_ERROR: the answer does not fit: ") {
			t.Errorf("got %v", err)
		}
		if n := len(s.Requests()); n != 2 {
			t.Errorf("asked %d times", n)
		}
	})
}

func TestWrongKey(t *testing.T) {
	everywhere(t, func(t *testing.T, d fake.Dialect) {
		s, err := fake.Start("another", func(*fake.Request) *fake.Response { return fake.Say("x") })
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		_, err = llm.Ask[string](run(t), node, model(s, d), llm.Prompt{Text: "x"}, llm.Format{})
		if err == nil || !strings.Contains(err.Error(), "AUTH_REQUIRED") || strings.Contains(err.Error(), key) {
			t.Errorf("got %v", err)
		}
	})
}
