package llm_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/usage"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// talker answers with its texts, one after the other, and says them word by word.
type talker struct {
	texts []string
	heard []llm.Message
	asked int
	delta int // requests that wanted pieces
}

func (k *talker) Complete(_ context.Context, req *llm.Request) (*llm.Reply, error) {
	k.heard = req.Conv.Messages
	text := k.texts[k.asked]
	k.asked++
	if req.Delta != nil {
		k.delta++
		for _, w := range strings.SplitAfter(text, " ") {
			req.Delta(w)
		}
	}
	return &llm.Reply{Model: req.Model, Message: llm.Message{Role: llm.Assistant, Text: text}, Stop: llm.End, Usage: llm.Usage{Input: 10, Output: 2}}, nil
}

type verdict struct {
	Value string `json:"value" flow:"enum=yes|no"`
}

var (
	askNode = &flow.Node{ID: "ask", Pos: "w.flowgen.yaml:3:3", Index: -1}
	schema  = &llm.Schema{Name: "ask", JSON: []byte(`{"type":"object"}`)}
)

func began(t *testing.T, opts ...runtime.Option) *flow.Run {
	t.Helper()
	rt, err := flow.New(&flow.Info{Name: "w"}, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return rt.Start(t.Context())
}

func verdictOf(v verdict) string { return v.Value }

func TestAskAs(t *testing.T) {
	tests := []struct {
		name  string
		texts []string
		reask int
		want  string
		err   string
	}{
		{"at once", []string{`{"value": "yes"}`}, 0, "yes", ""},
		{"in a fence", []string{"```json\n{\"value\": \"no\"}\n```"}, 0, "no", ""},
		{"the second time", []string{`{"value": "perhaps"}`, `{"value": "no"}`}, 1, "no", ""},
		{"never", []string{"yes", `{"value": 1}`, `{"value": "yes", "why": ""}`}, 2, "", `unknown field "why"`},
		{"not asked again", []string{"yes"}, 0, "", "does not fit"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			k := &talker{texts: tt.texts}
			m := llm.NewModel("test:m", "m", k)
			got, err := llm.AskAs(began(t), askNode, m, llm.Prompt{Text: "Well?"}, llm.Format{Schema: schema, Reask: tt.reask}, verdictOf)
			if got != tt.want || k.asked != len(tt.texts) || len(k.heard) != 2*k.asked-1 {
				t.Errorf("%q, asked %d times, heard %d messages", got, k.asked, len(k.heard))
			}
			if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err) || !strings.Contains(err.Error(), "VALIDATION_ERROR")) {
				t.Error(err)
			}
			if k.delta != 0 {
				t.Error("nobody watches, and the model was asked for pieces")
			}
		})
	}
}

// Those who watch see the answer as it comes, and what each question took.
func TestAskWatched(t *testing.T) {
	k := &talker{texts: []string{"maybe so", `{"value": "yes"}`}}
	m := llm.NewModel("test:m", "m", k, llm.Priced(llm.Price{Input: "2", Output: "5"}))
	var said []string
	var took []*usage.Usage
	r := began(t, runtime.WithObserver(runtime.ObserverFunc(func(e runtime.Event) {
		switch e.Kind {
		case runtime.Output:
			said = append(said, e.Key+": "+e.Text)
		case runtime.NodeEnd:
			took = append(took, e.Usage)
		}
	})))
	if _, err := llm.AskAs(r, askNode, m, llm.Prompt{Text: "Well?"}, llm.Format{Schema: schema, Reask: 1}, verdictOf); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"ask: maybe ", "ask: so", `ask#2: {"value": `, `ask#2: "yes"}`}, said); diff != "" {
		t.Error(diff)
	}
	one := &usage.Usage{InputTokens: 10, OutputTokens: 2, CostUSD: flow.Ptr(usage.USD(30_000))}
	if diff := cmp.Diff([]*usage.Usage{one, one}, took); diff != "" {
		t.Error(diff)
	}
}

// Images and files come from outside.
func TestAskMedia(t *testing.T) {
	png := llm.Media{Type: "image/png", Data: []byte{1}}
	tests := []struct {
		media llm.Media
		err   string
	}{
		{png, ""},
		{llm.Media{Type: "application/pdf", URL: "https://example.com/a.pdf"}, ""},
		{llm.Media{Type: "image/png"}, "neither data nor url"},
		{llm.Media{Type: "image/png", Data: []byte{1}, URL: "https://example.com/a.png"}, "both data and url"},
		{llm.Media{Type: "png", Data: []byte{1}}, "its type is not one"},
		{llm.Media{Type: "image/png;base64,AAAA", Data: []byte{1}}, "its type is not one"},
		{llm.Media{Type: "image/png", URL: "file:///etc/passwd"}, "does not start with https"},
		{llm.Media{Type: "image/png", URL: "https:"}, "does not start with https"},
	}
	for _, tt := range tests {
		k := &talker{texts: []string{"a cat"}}
		got, err := llm.Ask[string](began(t), askNode, llm.NewModel("test:m", "m", k), llm.Prompt{Text: "What?", Media: []llm.Media{png, tt.media}}, llm.Format{})
		var te *value.ToolError
		switch {
		case tt.err == "" && (err != nil || got != "a cat"):
			t.Errorf("%+v: %q %v", tt.media, got, err)
		case tt.err != "" && (!errors.As(err, &te) || te.Code != value.ValidationError || !strings.Contains(te.Message, "media[1]") || !strings.Contains(te.Message, tt.err) || k.asked != 0):
			t.Errorf("%+v: %v, asked %d times", tt.media, err, k.asked)
		}
	}
}
