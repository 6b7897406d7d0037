package openai

import (
	"encoding/base64"
	"encoding/json"
	"slices"

	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/llm/internal/strict"
	"github.com/flowgen-dev/flowgen/runtime/llm/internal/wire"
)

// memo is a conversation as it has been encoded so far.
type memo struct {
	body   *wire.Body
	told   int // messages in body
	model  string
	stream bool
	names  wire.Names
	answer string // the tool that takes the answer; empty: answers are text
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict,omitempty"`
}

type toolParam struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type format struct {
	Type       string `json:"type"`
	JSONSchema struct {
		Name   string          `json:"name"`
		Schema json.RawMessage `json:"schema"`
		Strict bool            `json:"strict,omitempty"`
	} `json:"json_schema"`
}

type options struct {
	Model               string      `json:"model"`
	Temperature         *float64    `json:"temperature,omitempty"`
	TopP                *float64    `json:"top_p,omitempty"`
	MaxTokens           *int64      `json:"max_tokens,omitempty"`
	MaxCompletionTokens *int64      `json:"max_completion_tokens,omitempty"`
	Seed                *int64      `json:"seed,omitempty"`
	Stop                []string    `json:"stop,omitempty"`
	Tools               []toolParam `json:"tools,omitempty"`
	ToolChoice          any         `json:"tool_choice,omitempty"`
	ResponseFormat      *format     `json:"response_format,omitempty"`
	Stream              bool        `json:"stream,omitempty"`
	StreamOptions       *struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options,omitempty"`
}

func newMemo(p *provider, req *llm.Request) *memo {
	m := &memo{model: req.Model, stream: req.Delta != nil}
	o := options{Model: req.Model, Temperature: req.Params.Temperature, TopP: req.Params.TopP, Seed: req.Params.Seed, Stop: req.Params.Stop, Stream: m.stream}
	if p.official() {
		o.MaxCompletionTokens = req.Params.MaxTokens
	} else {
		o.MaxTokens = req.Params.MaxTokens
	}
	for _, t := range req.Conv.Tools {
		f := function{Name: m.names.Safe(t.Name), Description: strict.Description(t.Description)}
		f.Parameters, f.Strict = strict.Schema(t.Schema)
		o.Tools = append(o.Tools, toolParam{"function", f})
	}
	switch s := req.Conv.Schema; {
	case s != nil && s.Tool != "":
		m.answer = m.names.Own(s.Tool)
		f := function{Name: m.answer, Description: "Gives the final answer. Call it once, when you have all that the answer needs."}
		f.Parameters, f.Strict = strict.Schema(s.JSON)
		o.Tools = append(o.Tools, toolParam{"function", f})
		o.ToolChoice = toolChoice(m.answer, len(req.Conv.Tools) > 0)
	case s != nil:
		f := &format{Type: "json_schema"}
		f.JSONSchema.Name = new(wire.Names).Safe(s.Name)
		f.JSONSchema.Schema, f.JSONSchema.Strict = strict.Schema(s.JSON)
		o.ResponseFormat = f
	}
	if m.stream {
		o.StreamOptions = &struct {
			IncludeUsage bool `json:"include_usage"`
		}{true}
	}
	m.body = wire.NewBody(wire.Encode(o), "messages")
	if req.Conv.System != "" {
		m.append(message{Role: "system", Content: req.Conv.System})
	}
	return m
}

// toolChoice has the model call a tool: that one, or any where there are others.
func toolChoice(name string, others bool) any {
	if others {
		return "required"
	}
	return map[string]any{"type": "function", "function": map[string]string{"name": name}}
}

type message struct {
	Role       string     `json:"role"`
	Content    any        `json:"content"` // text, parts, or null
	ToolCalls  []toolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type part struct {
	Type     string    `json:"type"`
	Text     string    `json:"text,omitempty"`
	ImageURL *imageURL `json:"image_url,omitempty"`
	File     *file     `json:"file,omitempty"`
}

type imageURL struct {
	URL string `json:"url"`
}

type file struct {
	Name string `json:"filename"`
	Data string `json:"file_data"`
}

type toolCall struct {
	Index    int    `json:"index,omitempty"` // in streams
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// add appends the messages that are not there yet.
func (m *memo) add(all []llm.Message) {
	for _, msg := range all[m.told:] {
		switch msg.Role {
		case llm.Assistant:
			out := message{Role: "assistant"}
			if msg.Text != "" || len(msg.Calls) == 0 {
				out.Content = msg.Text
			}
			out.ToolCalls = slices.Grow(out.ToolCalls, len(msg.Calls))
			for _, c := range msg.Calls {
				t := toolCall{ID: c.ID, Type: "function"}
				t.Function.Name, t.Function.Arguments = m.names.Safe(c.Name), c.Args
				out.ToolCalls = append(out.ToolCalls, t)
			}
			m.append(out)
		case llm.Tools:
			for _, r := range msg.Results {
				m.append(message{Role: "tool", Content: r.Text, ToolCallID: r.ID})
			}
		default:
			m.append(message{Role: "user", Content: content(msg)})
		}
	}
	m.told = len(all)
}

// content is text, or a list of parts when there is more than text.
func content(msg llm.Message) any {
	if len(msg.Media) == 0 {
		return msg.Text
	}
	var parts []part
	if msg.Text != "" {
		parts = append(parts, part{Type: "text", Text: msg.Text})
	}
	for _, x := range msg.Media {
		address := x.URL
		if address == "" {
			address = "data:" + x.Type + ";base64," + base64.StdEncoding.EncodeToString(x.Data)
		}
		if isImage(x.Type) {
			parts = append(parts, part{Type: "image_url", ImageURL: &imageURL{address}})
		} else {
			parts = append(parts, part{Type: "file", File: &file{x.Name, address}})
		}
	}
	return parts
}

func isImage(kind string) bool { return len(kind) > 6 && kind[:6] == "image/" }

func (m *memo) append(msg message) { m.body.Append(&msg) }
