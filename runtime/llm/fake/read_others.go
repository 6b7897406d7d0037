package fake

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/flowgen-dev/flowgen/runtime/llm"
)

type anthropicRequest struct {
	Model       string          `json:"model"`
	MaxTokens   int64           `json:"max_tokens"`
	System      json.RawMessage `json:"system"`
	Temperature *float64        `json:"temperature"`
	TopP        *float64        `json:"top_p"`
	Stop        []string        `json:"stop_sequences"`
	Stream      bool            `json:"stream"`
	Tools       []struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Schema      json.RawMessage `json:"input_schema"`
	} `json:"tools"`
	ToolChoice *struct {
		Type string `json:"type"`
		Name string `json:"name"`
	} `json:"tool_choice"`
	OutputConfig *struct {
		Format struct {
			Type   string          `json:"type"`
			Schema json.RawMessage `json:"schema"`
		} `json:"format"`
	} `json:"output_config"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
}

type anthropicBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	IsError   bool            `json:"is_error"`
	Content   json.RawMessage `json:"content"`
	Title     string          `json:"title"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
	Source    struct {
		Type string `json:"type"`
		Kind string `json:"media_type"`
		Data string `json:"data"`
		URL  string `json:"url"`
	} `json:"source"`
}

func readAnthropic(r *Request) string {
	var q anthropicRequest
	if what := strictly(r.Body, &q); what != "" {
		return what
	}
	r.Model, r.Stream = q.Model, q.Stream
	if len(q.System) > 0 && json.Unmarshal(q.System, &r.System) != nil {
		return "system: Input should be a valid string"
	}
	if q.Model == "" || q.MaxTokens < 1 || len(q.Messages) == 0 {
		return "model, max_tokens and messages: Field required"
	}
	for i, t := range q.Tools {
		var schema map[string]any
		if !toolName.MatchString(t.Name) || json.Unmarshal(t.Schema, &schema) != nil || schema["type"] != "object" {
			return fmt.Sprintf("tools.%d: the name or the schema is not valid", i)
		}
		r.Tools = append(r.Tools, t.Name)
	}
	if q.OutputConfig != nil {
		r.Schema = q.OutputConfig.Format.Schema
	}
	var open []llm.Call
	for i := range q.Messages {
		var blocks []anthropicBlock
		if what := strictly(q.Messages[i].Content, &blocks); what != "" {
			return what
		}
		if len(blocks) == 0 {
			return fmt.Sprintf("messages.%d: all messages must have non-empty content", i)
		}
		var what string
		if open, what = r.blocks(q.Messages[i].Role, blocks, open); what != "" {
			return fmt.Sprintf("messages.%d: %s", i, what)
		}
	}
	if len(open) > 0 {
		return "`tool_use` ids were found without `tool_result` blocks immediately after"
	}
	return ""
}

// blocks adds a message. open are the calls whose results have to be in it.
func (r *Request) blocks(role string, blocks []anthropicBlock, open []llm.Call) ([]llm.Call, string) {
	m := llm.Message{Role: llm.User}
	if role == "assistant" {
		m.Role = llm.Assistant
	}
	var results []llm.Result
	for _, b := range blocks {
		switch b.Type {
		case "text":
			if b.Text == "" {
				return nil, "text content blocks must be non-empty"
			}
			m.Text += b.Text
		case "tool_use":
			var input map[string]any
			if json.Unmarshal(b.Input, &input) != nil {
				return nil, "tool_use.input: Input should be a valid dictionary"
			}
			m.Calls = append(m.Calls, llm.Call{ID: b.ID, Name: b.Name, Args: string(b.Input)})
		case "tool_result":
			k := indexOf(open, b.ToolUseID)
			if k < 0 {
				return nil, "unexpected `tool_use_id` found in `tool_result` blocks: " + b.ToolUseID
			}
			text, what := resultText(b.Content)
			if what != "" {
				return nil, what
			}
			results = append(results, llm.Result{ID: b.ToolUseID, Name: open[k].Name, Text: text, Failed: b.IsError})
		case "image", "document":
			m.Media = append(m.Media, anthropicMedia(&b))
		case "thinking", "redacted_thinking":
			if b.Type == "thinking" && b.Signature == "" {
				return nil, "thinking.signature: Field required"
			}
			m.Opaque += b.Signature + b.Data
		default:
			return nil, "Input tag '" + b.Type + "' found using 'type' does not match any of the expected tags"
		}
	}
	if len(results) != len(open) {
		return nil, "`tool_use` ids were found without `tool_result` blocks immediately after"
	}
	if len(results) > 0 {
		r.Messages = append(r.Messages, llm.Message{Role: llm.Tools, Results: results})
	}
	if len(results) == 0 || m.Text != "" {
		r.Messages = append(r.Messages, m)
	}
	return m.Calls, ""
}

func resultText(content json.RawMessage) (text, what string) {
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if len(content) == 0 || json.Unmarshal(content, &text) == nil {
		return text, ""
	}
	if what = strictly(content, &parts); what != "" {
		return "", what
	}
	for _, p := range parts {
		if p.Text == "" {
			return "", "text content blocks must be non-empty"
		}
		text += p.Text
	}
	return text, ""
}

func anthropicMedia(b *anthropicBlock) llm.Media {
	x := llm.Media{Type: b.Source.Kind, Name: b.Title, URL: b.Source.URL}
	if b.Source.Type == "base64" {
		x.Data, _ = base64.StdEncoding.DecodeString(b.Source.Data) // what is wrong shows as missing
	} else if b.Source.Data != "" {
		x.Data = []byte(b.Source.Data)
	}
	return x
}

type geminiRequest struct {
	System   *geminiContent  `json:"systemInstruction"`
	Contents []geminiContent `json:"contents"`
	Tools    []struct {
		Functions []struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Schema      json.RawMessage `json:"parametersJsonSchema"`
		} `json:"functionDeclarations"`
	} `json:"tools"`
	Config *struct {
		Temperature *float64        `json:"temperature"`
		TopP        *float64        `json:"topP"`
		MaxTokens   *int32          `json:"maxOutputTokens"`
		Seed        *int32          `json:"seed"`
		Stop        []string        `json:"stopSequences"`
		Kind        string          `json:"responseMimeType"`
		Schema      json.RawMessage `json:"responseJsonSchema"`
		Candidates  int             `json:"candidateCount"`
	} `json:"generationConfig"`
}

type geminiContent struct {
	Role  string `json:"role"`
	Parts []struct {
		Text      string `json:"text"`
		Thought   bool   `json:"thought"`
		Signature string `json:"thoughtSignature"`
		Inline    *struct {
			Kind string `json:"mimeType"`
			Data []byte `json:"data"`
		} `json:"inlineData"`
		File *struct {
			Kind string `json:"mimeType"`
			URI  string `json:"fileUri"`
		} `json:"fileData"`
		Call *struct {
			ID   string          `json:"id"`
			Name string          `json:"name"`
			Args json.RawMessage `json:"args"`
		} `json:"functionCall"`
		Response *struct {
			ID       string                     `json:"id"`
			Name     string                     `json:"name"`
			Response map[string]json.RawMessage `json:"response"`
		} `json:"functionResponse"`
	} `json:"parts"`
}

// functionName is what Gemini takes.
var functionName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$`)

func readGemini(r *Request) string {
	var q geminiRequest
	if what := strictly(r.Body, &q); what != "" {
		return what
	}
	if q.System != nil {
		for _, p := range q.System.Parts {
			r.System += p.Text
		}
	}
	for _, t := range q.Tools {
		for _, f := range t.Functions {
			if !functionName.MatchString(f.Name) {
				return "Invalid function name " + f.Name
			}
			r.Tools = append(r.Tools, f.Name)
		}
	}
	if c := q.Config; c != nil && c.Schema != nil {
		if c.Kind != "application/json" {
			return "response_schema needs the response mime type application/json"
		}
		r.Schema = c.Schema
	}
	if len(q.Contents) == 0 {
		return "contents are required"
	}
	calls := 0
	for i := range q.Contents {
		m := r.parts(&q.Contents[i])
		if len(q.Contents[i].Parts) == 0 || m.Role == llm.Tools && len(m.Results) != calls || m.Role != llm.Tools && calls > 0 {
			return "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn"
		}
		calls = len(m.Calls)
		r.Messages = append(r.Messages, m)
	}
	return ""
}

func (r *Request) parts(c *geminiContent) llm.Message {
	m := llm.Message{Role: llm.User}
	if c.Role == "model" {
		m.Role = llm.Assistant
	}
	for _, p := range c.Parts {
		m.Text += p.Text
		m.Opaque += p.Signature
		switch {
		case p.Call != nil:
			args := string(p.Call.Args)
			if args == "" {
				args = "{}" // an object without fields may be left out
			}
			m.Calls = append(m.Calls, llm.Call{ID: p.Call.ID, Name: p.Call.Name, Args: args})
		case p.Response != nil:
			m.Role = llm.Tools
			x := llm.Result{ID: p.Response.ID, Name: p.Response.Name}
			said, ok := p.Response.Response["output"]
			if !ok {
				said, x.Failed = p.Response.Response["error"], true
			}
			if json.Unmarshal(said, &x.Text) != nil {
				x.Text = string(said)
			}
			m.Results = append(m.Results, x)
		case p.Inline != nil:
			m.Media = append(m.Media, llm.Media{Type: p.Inline.Kind, Data: p.Inline.Data})
		case p.File != nil:
			m.Media = append(m.Media, llm.Media{Type: p.File.Kind, URL: p.File.URI})
		}
	}
	return m
}
