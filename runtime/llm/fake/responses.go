package fake

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/runtime/llm"
)

type responsesRequest struct {
	Model           string   `json:"model"`
	Instructions    string   `json:"instructions"`
	Temperature     *float64 `json:"temperature"`
	TopP            *float64 `json:"top_p"`
	MaxOutputTokens *int64   `json:"max_output_tokens"`
	Store           *bool    `json:"store"`
	Include         []string `json:"include"`
	Stream          bool     `json:"stream"`
	Tools           []struct {
		Type        string          `json:"type"`
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
		Strict      *bool           `json:"strict"`
	} `json:"tools"`
	ToolChoice json.RawMessage `json:"tool_choice"`
	Text       *struct {
		Format struct {
			Type   string          `json:"type"`
			Name   string          `json:"name"`
			Schema json.RawMessage `json:"schema"`
			Strict bool            `json:"strict"`
		} `json:"format"`
	} `json:"text"`
	Input []json.RawMessage `json:"input"`
}

type responsesItem struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Status    string          `json:"status"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments string          `json:"arguments"`
	Output    string          `json:"output"`
	Summary   json.RawMessage `json:"summary"`
	Encrypted string          `json:"encrypted_content"`
}

type responsesPart struct {
	Type        string          `json:"type"`
	Text        string          `json:"text"`
	Annotations json.RawMessage `json:"annotations"`
	Logprobs    json.RawMessage `json:"logprobs"`
	Detail      string          `json:"detail"`
	ImageURL    string          `json:"image_url"`
	Filename    string          `json:"filename"`
	FileData    string          `json:"file_data"`
	FileURL     string          `json:"file_url"`
}

func readResponses(r *Request) string {
	var q responsesRequest
	if what := strictly(r.Body, &q); what != "" {
		return what
	}
	r.Model, r.Stream, r.System = q.Model, q.Stream, q.Instructions
	if q.MaxOutputTokens != nil && *q.MaxOutputTokens < 16 {
		return "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16"
	}
	for i, t := range q.Tools {
		switch {
		case t.Type != "function" || !toolName.MatchString(t.Name):
			return fmt.Sprintf("Invalid 'tools[%d].name': string does not match pattern", i)
		case utf8.RuneCountInString(t.Description) > 1024:
			return fmt.Sprintf("Invalid 'tools[%d].description': string too long. Expected a string with maximum length 1024", i)
		case (t.Strict == nil || *t.Strict) && !allClosed(t.Parameters): // tools are strict unless they say otherwise
			return fmt.Sprintf("Invalid schema for function '%s': 'additionalProperties' is required to be supplied and to be false", t.Name)
		}
		r.Tools = append(r.Tools, t.Name)
	}
	if q.Text != nil {
		f := &q.Text.Format
		if r.Schema = f.Schema; f.Strict && !allClosed(f.Schema) {
			return "Invalid schema for response_format: 'additionalProperties' is required to be supplied and to be false"
		}
	}
	var open []llm.Call // calls whose results have to follow
	for i, raw := range q.Input {
		var item responsesItem
		what := strictly(raw, &item)
		if what == "" {
			open, what = r.item(&item, open)
		}
		if what != "" {
			return fmt.Sprintf("input[%d]: %s", i, what)
		}
	}
	switch {
	case q.Model == "" || len(q.Input) == 0:
		return "Missing required parameter: 'model' and 'input'"
	case len(open) > 0:
		return "No tool output found for function call " + open[0].ID
	}
	return ""
}

// item adds one to the messages. open are the calls that have no result yet.
func (r *Request) item(item *responsesItem, open []llm.Call) ([]llm.Call, string) {
	switch item.Type {
	case "", "message":
		text, media, what := responsesContent(item.Content)
		switch item.Role {
		case "user":
			r.Messages = append(r.Messages, llm.Message{Role: llm.User, Text: text, Media: media})
		case "assistant":
			r.assistant(item.ID != "").Text += text
		default:
			what = fmt.Sprintf("Invalid value: '%s'", item.Role)
		}
		return open, what
	case "function_call":
		c := llm.Call{ID: item.CallID, Name: item.Name, Args: item.Arguments}
		m := r.assistant(true)
		m.Calls = append(m.Calls, c)
		return append(open, c), ""
	case "function_call_output":
		k := indexOf(open, item.CallID)
		if k < 0 {
			return open, "No tool call found for function call output with call_id " + item.CallID
		}
		r.result(llm.Result{ID: item.CallID, Name: open[k].Name, Text: item.Output})
		return append(append([]llm.Call(nil), open[:k]...), open[k+1:]...), ""
	case "reasoning":
		if item.Encrypted == "" || item.ID == "" || item.Summary == nil {
			return open, "Item with id '" + item.ID + "' not found. Items are not persisted when `store` is set to false"
		}
		r.assistant(false).Opaque += item.Encrypted
		return open, ""
	}
	return open, "Invalid value: '" + item.Type + "'"
}

// assistant is the message that items of an answer belong to: the one that is open, if it goes on.
func (r *Request) assistant(goesOn bool) *llm.Message {
	n := len(r.Messages)
	if !goesOn || n == 0 || r.Messages[n-1].Role != llm.Assistant {
		r.Messages = append(r.Messages, llm.Message{Role: llm.Assistant})
	}
	return &r.Messages[len(r.Messages)-1]
}

func responsesContent(data json.RawMessage) (text string, media []llm.Media, what string) {
	if json.Unmarshal(data, &text) == nil {
		return text, nil, ""
	}
	var parts []responsesPart
	if what = strictly(data, &parts); what != "" {
		return "", nil, what
	}
	for _, p := range parts {
		switch p.Type {
		case "input_text", "output_text":
			text += p.Text
		case "input_image":
			media = append(media, mediaOf(p.ImageURL, ""))
		case "input_file":
			media = append(media, mediaOf(p.FileData+p.FileURL, p.Filename))
		default:
			return "", nil, "Invalid value: '" + p.Type + "'"
		}
	}
	return text, media, ""
}

// responsesAnswer is the response as a whole.
func responsesAnswer(req *Request, r *llm.Reply) object {
	status, incomplete := "completed", any(nil)
	switch r.Stop {
	case llm.Length:
		status, incomplete = "incomplete", object{"reason": "max_output_tokens"}
	case llm.Refusal:
		status, incomplete = "incomplete", object{"reason": "content_filter"}
	}
	return object{"id": "resp_fake", "object": "response", "created_at": created, "status": status, "error": nil, "incomplete_details": incomplete,
		"model": modelOf(req, r), "output": responsesItems(r), "usage": object{"input_tokens": r.Usage.Input,
			"input_tokens_details": object{"cached_tokens": r.Usage.Cached}, "output_tokens": r.Usage.Output,
			"output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": r.Usage.Input + r.Usage.Output}}
}

func responsesItems(r *llm.Reply) []any {
	items := []any{}
	if r.Message.Text != "" {
		items = append(items, object{"type": "message", "id": "msg_fake", "status": "completed", "role": "assistant",
			"content": []any{object{"type": "output_text", "text": r.Message.Text, "annotations": []any{}, "logprobs": []any{}}}})
	}
	for i, c := range r.Message.Calls {
		items = append(items, object{"type": "function_call", "id": fmt.Sprint("fc_", i), "status": "completed", "call_id": c.ID, "name": c.Name, "arguments": c.Args})
	}
	return items
}

func responsesStream(b *bytes.Buffer, req *Request, r *llm.Reply, pieces int) {
	sequence := 0
	event := func(kind string, v object) {
		v["type"], v["sequence_number"] = kind, sequence
		sequence++
		fmt.Fprintf(b, "event: %s\ndata: %s\n\n", kind, encode(v))
	}
	began := object{"id": "resp_fake", "object": "response", "created_at": created, "status": "in_progress", "error": nil, "incomplete_details": nil,
		"model": modelOf(req, r), "output": []any{}, "usage": nil}
	event("response.created", object{"response": began})
	event("response.in_progress", object{"response": began})
	for i, item := range responsesItems(r) {
		item := item.(object)
		in := func(v object) object { v["item_id"], v["output_index"] = item["id"], i; return v }
		event("response.output_item.added", object{"output_index": i, "item": object{"type": item["type"], "id": item["id"], "status": "in_progress"}})
		if item["type"] == "message" {
			for _, s := range cut(r.Message.Text, pieces) {
				event("response.output_text.delta", in(object{"content_index": 0, "delta": s, "logprobs": []any{}}))
			}
			event("response.output_text.done", in(object{"content_index": 0, "text": r.Message.Text, "logprobs": []any{}}))
		} else {
			args := item["arguments"].(string)
			for _, s := range cut(args, pieces) {
				event("response.function_call_arguments.delta", in(object{"delta": s}))
			}
			event("response.function_call_arguments.done", in(object{"arguments": args}))
		}
		event("response.output_item.done", object{"output_index": i, "item": item})
	}
	whole := responsesAnswer(req, r)
	event("response."+whole["status"].(string), object{"response": whole})
}
