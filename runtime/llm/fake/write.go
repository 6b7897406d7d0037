package fake

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/flowgen-dev/flowgen/runtime/llm"
)

type object = map[string]any

// created is the time at which all answers were made.
const created = 1_760_000_000

// whole is an answer in one piece.
func whole(req *Request, r *llm.Reply) []byte {
	var v any
	switch req.Dialect {
	case Responses:
		v = responsesAnswer(req, r)
	case Anthropic:
		v = object{"id": "msg_fake", "type": "message", "role": "assistant", "model": modelOf(req, r), "content": anthropicBlocks(r),
			"stop_reason": stops[Anthropic][r.Stop], "stop_sequence": nil, "usage": anthropicUsage(r)}
	case Gemini:
		v = object{"candidates": []any{object{"content": object{"role": "model", "parts": geminiParts(r)}, "finishReason": stops[Gemini][r.Stop], "index": 0}},
			"usageMetadata": geminiUsage(r), "modelVersion": modelOf(req, r), "responseId": "fake"}
	default:
		message := object{"role": "assistant", "content": r.Message.Text, "refusal": nil}
		if r.Message.Text == "" {
			message["content"] = nil
		}
		if len(r.Message.Calls) > 0 {
			message["tool_calls"] = openaiCalls(r)
		}
		v = object{"id": "chatcmpl-fake", "object": "chat.completion", "created": created, "model": modelOf(req, r),
			"choices": []any{object{"index": 0, "message": message, "logprobs": nil, "finish_reason": stops[OpenAI][r.Stop]}}, "usage": openaiUsage(r)}
	}
	return encode(v)
}

func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // of texts, numbers and valid raw JSON
	return bytes.TrimSpace(b.Bytes())
}

func modelOf(req *Request, r *llm.Reply) string {
	if r.Model != "" {
		return r.Model
	}
	return req.Model
}

// stops are the dialects' words for why an answer ended.
var stops = map[Dialect]map[llm.Stop]string{
	OpenAI:    {"": "stop", llm.End: "stop", llm.CallStop: "tool_calls", llm.Length: "length", llm.Refusal: "content_filter"},
	Anthropic: {"": "end_turn", llm.End: "end_turn", llm.CallStop: "tool_use", llm.Length: "max_tokens", llm.Refusal: "refusal"},
	Gemini:    {"": "STOP", llm.End: "STOP", llm.CallStop: "STOP", llm.Length: "MAX_TOKENS", llm.Refusal: "SAFETY"},
}

func openaiUsage(r *llm.Reply) object {
	return object{"prompt_tokens": r.Usage.Input, "completion_tokens": r.Usage.Output, "total_tokens": r.Usage.Input + r.Usage.Output,
		"prompt_tokens_details": object{"cached_tokens": r.Usage.Cached}}
}

func openaiCalls(r *llm.Reply) []any {
	var list []any
	for _, c := range r.Message.Calls {
		list = append(list, object{"id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": c.Args}})
	}
	return list
}

func anthropicUsage(r *llm.Reply) object {
	return object{"input_tokens": r.Usage.Input - r.Usage.Cached, "cache_read_input_tokens": r.Usage.Cached, "cache_creation_input_tokens": 0,
		"output_tokens": r.Usage.Output}
}

func anthropicBlocks(r *llm.Reply) []any {
	blocks := []any{}
	if r.Message.Text != "" {
		blocks = append(blocks, object{"type": "text", "text": r.Message.Text, "citations": nil})
	}
	for _, c := range r.Message.Calls {
		blocks = append(blocks, object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": raw(c.Args)})
	}
	return blocks
}

func geminiUsage(r *llm.Reply) object {
	return object{"promptTokenCount": r.Usage.Input, "cachedContentTokenCount": r.Usage.Cached, "candidatesTokenCount": r.Usage.Output,
		"totalTokenCount": r.Usage.Input + r.Usage.Output}
}

func geminiParts(r *llm.Reply) []any {
	parts := []any{}
	if r.Message.Text != "" {
		parts = append(parts, object{"text": r.Message.Text})
	}
	for _, c := range r.Message.Calls {
		f := object{"name": c.Name, "args": raw(c.Args)}
		if c.ID != "" {
			f["id"] = c.ID
		}
		parts = append(parts, object{"functionCall": f})
	}
	return parts
}

// raw is JSON as it is, and other text as the empty object.
func raw(text string) json.RawMessage {
	if !json.Valid([]byte(text)) {
		return json.RawMessage("{}")
	}
	return json.RawMessage(text)
}

// stream is an answer in pieces, as server-sent events.
func stream(req *Request, r *llm.Reply, pieces int) []byte {
	if pieces <= 0 {
		pieces = 3
	}
	var b bytes.Buffer
	switch req.Dialect {
	case Responses:
		responsesStream(&b, req, r, pieces)
	case Anthropic:
		anthropicStream(&b, req, r, pieces)
	case Gemini:
		geminiStream(&b, req, r, pieces)
	default:
		openaiStream(&b, req, r, pieces)
	}
	return b.Bytes()
}

func openaiStream(b *bytes.Buffer, req *Request, r *llm.Reply, pieces int) {
	event := func(choices []any, usage any) {
		fmt.Fprintf(b, "data: %s\n\n", encode(object{"id": "chatcmpl-fake", "object": "chat.completion.chunk", "created": created, "model": modelOf(req, r),
			"choices": choices, "usage": usage}))
	}
	delta := func(d object, finish any) {
		event([]any{object{"index": 0, "delta": d, "logprobs": nil, "finish_reason": finish}}, nil)
	}
	delta(object{"role": "assistant", "content": "", "refusal": nil}, nil)
	for _, s := range cut(r.Message.Text, pieces) {
		delta(object{"content": s}, nil)
	}
	for i, c := range r.Message.Calls {
		delta(object{"tool_calls": []any{object{"index": i, "id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": ""}}}}, nil)
		for _, s := range cut(c.Args, pieces) {
			delta(object{"tool_calls": []any{object{"index": i, "function": object{"arguments": s}}}}, nil)
		}
	}
	delta(object{}, stops[OpenAI][r.Stop])
	event([]any{}, openaiUsage(r))
	b.WriteString("data: [DONE]\n\n")
}

func anthropicStream(b *bytes.Buffer, req *Request, r *llm.Reply, pieces int) {
	event := func(kind string, v object) {
		v["type"] = kind
		fmt.Fprintf(b, "event: %s\ndata: %s\n\n", kind, encode(v))
	}
	usage := anthropicUsage(r)
	usage["output_tokens"] = 1
	event("message_start", object{"message": object{"id": "msg_fake", "type": "message", "role": "assistant", "model": modelOf(req, r), "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": usage}})
	event("ping", object{})
	index := 0
	block := func(start object, kind, field, text string) {
		event("content_block_start", object{"index": index, "content_block": start})
		for _, s := range cut(text, pieces) {
			event("content_block_delta", object{"index": index, "delta": object{"type": kind, field: s}})
		}
		event("content_block_stop", object{"index": index})
		index++
	}
	if r.Message.Text != "" {
		block(object{"type": "text", "text": ""}, "text_delta", "text", r.Message.Text)
	}
	for _, c := range r.Message.Calls {
		block(object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": object{}}, "input_json_delta", "partial_json", c.Args)
	}
	event("message_delta", object{"delta": object{"stop_reason": stops[Anthropic][r.Stop], "stop_sequence": nil}, "usage": object{"output_tokens": r.Usage.Output}})
	event("message_stop", object{})
}

func geminiStream(b *bytes.Buffer, req *Request, r *llm.Reply, pieces int) {
	var chunks [][]any
	for _, s := range cut(r.Message.Text, pieces) {
		chunks = append(chunks, []any{object{"text": s}})
	}
	if calls := (&llm.Reply{Message: llm.Message{Calls: r.Message.Calls}}); len(calls.Message.Calls) > 0 {
		for _, p := range geminiParts(calls) { // a call comes in one piece
			chunks = append(chunks, []any{p})
		}
	}
	if len(chunks) == 0 {
		chunks = [][]any{{}}
	}
	for i, parts := range chunks {
		c := object{"content": object{"role": "model", "parts": parts}, "index": 0}
		v := object{"candidates": []any{c}, "modelVersion": modelOf(req, r), "responseId": "fake"}
		if i == len(chunks)-1 {
			c["finishReason"] = stops[Gemini][r.Stop]
			v["usageMetadata"] = geminiUsage(r)
		}
		fmt.Fprintf(b, "data: %s\r\n\r\n", encode(v))
	}
}

// cut divides text into at most n pieces, between characters.
func cut(text string, n int) []string {
	runes := []rune(text)
	var list []string
	for size := max((len(runes)+n-1)/n, 1); len(runes) > 0; {
		k := min(size, len(runes))
		list = append(list, string(runes[:k]))
		runes = runes[k:]
	}
	return list
}
