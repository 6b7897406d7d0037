package fake

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/runtime/llm"
)

// readers read a request's body into the rest of it, and say what the real service would not take.
var readers = map[Dialect]func(*Request) string{OpenAI: readOpenAI, Anthropic: readAnthropic, Gemini: readGemini, Responses: readResponses}

// toolName is what OpenAI and Anthropic take.
var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

func strictly(data []byte, v any) string {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return "Invalid request: " + err.Error()
	}
	return ""
}

type openaiRequest struct {
	Model               string   `json:"model"`
	Temperature         *float64 `json:"temperature"`
	TopP                *float64 `json:"top_p"`
	MaxTokens           *int64   `json:"max_tokens"`
	MaxCompletionTokens *int64   `json:"max_completion_tokens"`
	Seed                *int64   `json:"seed"`
	Stop                []string `json:"stop"`
	Stream              bool     `json:"stream"`
	StreamOptions       *struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	Tools []struct {
		Type     string `json:"type"`
		Function struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
			Strict      bool            `json:"strict"`
		} `json:"function"`
	} `json:"tools"`
	ToolChoice     json.RawMessage `json:"tool_choice"`
	ResponseFormat *struct {
		Type       string `json:"type"`
		JSONSchema struct {
			Name   string          `json:"name"`
			Schema json.RawMessage `json:"schema"`
			Strict bool            `json:"strict"`
		} `json:"json_schema"`
	} `json:"response_format"`
	Messages []openaiMessage `json:"messages"`
}

type openaiMessage struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	ToolCallID string          `json:"tool_call_id"`
	ToolCalls  []struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

type openaiPart struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	ImageURL struct {
		URL string `json:"url"`
	} `json:"image_url"`
	File struct {
		Name string `json:"filename"`
		Data string `json:"file_data"`
	} `json:"file"`
}

func readOpenAI(r *Request) string {
	var q openaiRequest
	if what := strictly(r.Body, &q); what != "" {
		return what
	}
	r.Model, r.Stream = q.Model, q.Stream
	for _, t := range q.Tools {
		if utf8.RuneCountInString(t.Function.Description) > 1024 {
			return "Invalid 'tools[0].function.description': string too long. Expected a string with maximum length 1024"
		}
		if !toolName.MatchString(t.Function.Name) || t.Type != "function" {
			return "Invalid 'tools[0].function.name': string does not match pattern"
		}
		r.Tools = append(r.Tools, t.Function.Name)
	}
	if f := q.ResponseFormat; f != nil {
		r.Schema = f.JSONSchema.Schema
		if f.JSONSchema.Strict && !allClosed(f.JSONSchema.Schema) {
			return "Invalid schema for response_format: 'additionalProperties' is required to be supplied and to be false"
		}
	}
	var open []llm.Call // calls whose results have to follow
	for i := range q.Messages {
		m := &q.Messages[i]
		if m.Role != "tool" && len(open) > 0 {
			return "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'"
		}
		text, media, what := openaiContent(m.Content)
		if what != "" {
			return what
		}
		switch m.Role {
		case "system", "developer":
			r.System += text
		case "user":
			r.Messages = append(r.Messages, llm.Message{Role: llm.User, Text: text, Media: media})
		case "assistant":
			msg := llm.Message{Role: llm.Assistant, Text: text}
			for _, c := range m.ToolCalls {
				msg.Calls = append(msg.Calls, llm.Call{ID: c.ID, Name: c.Function.Name, Args: c.Function.Arguments})
			}
			open = msg.Calls
			r.Messages = append(r.Messages, msg)
		case "tool":
			k := indexOf(open, m.ToolCallID)
			if k < 0 {
				return "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'"
			}
			r.result(llm.Result{ID: m.ToolCallID, Name: open[k].Name, Text: text})
			open = append(append([]llm.Call(nil), open[:k]...), open[k+1:]...)
		default:
			return fmt.Sprintf("Invalid value: '%s'", m.Role)
		}
	}
	if q.Model == "" || len(q.Messages) == 0 || len(open) > 0 {
		return "you must provide a model parameter and messages"
	}
	return ""
}

// result adds a result to the message of results that is open, or to a new one.
func (r *Request) result(x llm.Result) {
	if n := len(r.Messages); n > 0 && r.Messages[n-1].Role == llm.Tools {
		r.Messages[n-1].Results = append(r.Messages[n-1].Results, x)
		return
	}
	r.Messages = append(r.Messages, llm.Message{Role: llm.Tools, Results: []llm.Result{x}})
}

func indexOf(calls []llm.Call, id string) int {
	for i := range calls {
		if calls[i].ID == id {
			return i
		}
	}
	return -1
}

func openaiContent(data json.RawMessage) (text string, media []llm.Media, what string) {
	if len(data) == 0 || json.Unmarshal(data, &text) == nil {
		return text, nil, ""
	}
	var parts []openaiPart
	if what = strictly(data, &parts); what != "" {
		return "", nil, what
	}
	for _, p := range parts {
		switch p.Type {
		case "text":
			text += p.Text
		case "image_url":
			media = append(media, mediaOf(p.ImageURL.URL, ""))
		case "file":
			media = append(media, mediaOf(p.File.Data, p.File.Name))
		default:
			return "", nil, "Invalid value: '" + p.Type + "'"
		}
	}
	return text, media, ""
}

// mediaOf reads a data URL, or keeps another one.
func mediaOf(address, name string) llm.Media {
	rest, ok := strings.CutPrefix(address, "data:")
	kind, data, cut := strings.Cut(rest, ";base64,")
	if !ok || !cut {
		return llm.Media{Name: name, URL: address}
	}
	b, _ := base64.StdEncoding.DecodeString(data) // what is wrong shows as missing
	return llm.Media{Type: kind, Name: name, Data: b}
}

// allClosed reports whether every object of a schema refuses other properties and requires its own.
func allClosed(schema json.RawMessage) bool {
	var v any
	return json.Unmarshal(schema, &v) == nil && closed(v)
}

func closed(v any) bool {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			if !closed(x) {
				return false
			}
		}
	case map[string]any:
		if properties, ok := v["properties"].(map[string]any); ok {
			required, _ := v["required"].([]any)
			if v["additionalProperties"] != false || len(required) != len(properties) {
				return false
			}
		}
		for _, x := range v {
			if !closed(x) {
				return false
			}
		}
	}
	return true
}
