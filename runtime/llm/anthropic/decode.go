package anthropic

import (
	"encoding/json"
	"net/http"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/respjson"

	"github.com/flowgen-dev/flowgen/runtime/internal/plain"
	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/llm/internal/wire"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// block is one part of an answer. Its bytes grow as the parts of it arrive.
type block struct {
	kind      string
	id, name  string
	text      []byte // of text and of thinking
	args      []byte
	signature []byte
	data      string
}

// answer is what has arrived.
type answer struct {
	model  string
	blocks []block
	stop   string
	usage  sdk.Usage
}

// Whole reads an answer that came in one piece.
func (m *memo) Whole(host string, body []byte) (*llm.Reply, error) {
	var msg sdk.Message
	if err := wire.UnmarshalObject(host, body, &msg); err != nil {
		return nil, err
	}
	if msg.JSON.Content.Raw() == respjson.Omitted || msg.JSON.StopReason.Raw() == respjson.Omitted {
		if err := failure(host, body); err != nil {
			return nil, err
		}
		return nil, wire.Garbled(host, "it has no content")
	}
	if !wire.Sound(msg.JSON.Content, msg.JSON.Usage) || !wire.TextFields(msg.JSON.Model, msg.JSON.StopReason) || !soundUsage(&msg.Usage) {
		return nil, wire.Garbled(host, wire.WrongTypes)
	}
	a := answer{model: string(msg.Model), stop: string(msg.StopReason), usage: msg.Usage}
	for i := range msg.Content {
		b := &msg.Content[i]
		if !wire.TextFields(b.JSON.Type, b.JSON.Text, b.JSON.ID, b.JSON.Name, b.JSON.Thinking, b.JSON.Signature, b.JSON.Data) || b.Type == "" {
			return nil, wire.Garbled(host, wire.WrongTypes)
		}
		a.blocks = append(a.blocks, block{kind: b.Type, id: b.ID, name: b.Name, text: []byte(b.Text + b.Thinking),
			args: []byte(b.Input), signature: []byte(b.Signature), data: b.Data})
	}
	return m.reply(host, &a)
}

func soundUsage(u *sdk.Usage) bool {
	return wire.CountFields(u.JSON.InputTokens, u.JSON.OutputTokens, u.JSON.CacheReadInputTokens, u.JSON.CacheCreationInputTokens)
}

// Streamed puts an answer together that comes in pieces.
func (m *memo) Streamed(s *wire.Service, resp *http.Response, delta func(string)) (*llm.Reply, error) {
	host := resp.Request.URL.Host
	a, begun, done := &answer{}, false, false
	err := s.Events(resp, func(_, data string) (bool, error) {
		var e sdk.MessageStreamEventUnion
		if err := wire.UnmarshalObject(host, []byte(data), &e); err != nil {
			return false, err
		}
		if !wire.TextFields(e.JSON.Type) || !wire.CountFields(e.JSON.Index) || !wire.Sound(e.JSON.Delta, e.JSON.Message, e.JSON.ContentBlock, e.JSON.Usage) {
			return false, wire.Garbled(host, wire.WrongTypes)
		}
		switch e.Type {
		case "message_start":
			if begun {
				return false, wire.Garbled(host, "it starts twice")
			}
			begun = true
			a.model, a.usage = string(e.Message.Model), e.Message.Usage
			if !wire.TextFields(e.Message.JSON.Model) || !wire.Sound(e.Message.JSON.Usage) || !soundUsage(&a.usage) {
				return false, wire.Garbled(host, wire.WrongTypes)
			}
		case "message_stop":
			done = true
			return true, nil
		case "error":
			return false, orGarbled(failure(host, []byte(data)), host)
		default:
			if !begun && e.Type != "ping" {
				return false, wire.Garbled(host, "its first event is not the start event")
			}
			return false, a.event(host, &e, delta)
		}
		return false, nil
	})
	if err != nil {
		return nil, err
	}
	if !done {
		return nil, value.Errorf(value.NetworkError, "no answer from %s: the connection ended before the answer did", host)
	}
	return m.reply(host, a)
}

// event takes one piece. Kinds that are not known are left out, as the interface asks.
func (a *answer) event(host string, e *sdk.MessageStreamEventUnion, delta func(string)) error {
	switch e.Type {
	case "content_block_start":
		b := &e.ContentBlock
		if e.Index != int64(len(a.blocks)) || e.Index >= wire.MaxCalls {
			return wire.Garbled(host, "its parts are out of order")
		}
		if !wire.TextFields(b.JSON.Type, b.JSON.Text, b.JSON.ID, b.JSON.Name, b.JSON.Thinking, b.JSON.Signature, b.JSON.Data) {
			return wire.Garbled(host, wire.WrongTypes)
		}
		a.blocks = append(a.blocks, block{kind: b.Type, id: b.ID, name: b.Name, text: []byte(b.Text + b.Thinking), signature: []byte(b.Signature), data: b.Data})
		if b.Type == "text" && b.Text != "" && delta != nil {
			delta(b.Text)
		}
	case "content_block_delta":
		d := &e.Delta
		if e.Index < 0 || e.Index >= int64(len(a.blocks)) {
			return wire.Garbled(host, "it continues a part that has not started")
		}
		if !wire.TextFields(d.JSON.Type, d.JSON.Text, d.JSON.PartialJSON, d.JSON.Thinking, d.JSON.Signature) {
			return wire.Garbled(host, wire.WrongTypes)
		}
		b := &a.blocks[e.Index]
		b.text = append(append(b.text, d.Text...), d.Thinking...)
		b.args = append(b.args, d.PartialJSON...)
		b.signature = append(b.signature, d.Signature...)
		if d.Text != "" && delta != nil {
			delta(d.Text)
		}
	case "message_delta":
		u := &e.Usage
		if !wire.TextFields(e.Delta.JSON.StopReason) || !wire.CountFields(u.JSON.InputTokens, u.JSON.OutputTokens, u.JSON.CacheReadInputTokens, u.JSON.CacheCreationInputTokens) {
			return wire.Garbled(host, wire.WrongTypes)
		}
		a.stop = string(e.Delta.StopReason)
		// The counts are those of the whole message; what is not there has not changed.
		for _, c := range []struct {
			field    respjson.Field
			from, to *int64
		}{{u.JSON.OutputTokens, &u.OutputTokens, &a.usage.OutputTokens}, {u.JSON.InputTokens, &u.InputTokens, &a.usage.InputTokens},
			{u.JSON.CacheReadInputTokens, &u.CacheReadInputTokens, &a.usage.CacheReadInputTokens},
			{u.JSON.CacheCreationInputTokens, &u.CacheCreationInputTokens, &a.usage.CacheCreationInputTokens}} {
			if c.field.Valid() {
				*c.to = *c.from
			}
		}
	}
	return nil
}

// failures are the codes of errors that come in the middle of a stream, where there is no status any more.
var failures = map[string]value.Code{
	"invalid_request_error": value.ValidationError, "authentication_error": value.AuthRequired, "permission_error": value.AuthRequired,
	"rate_limit_error": value.RateLimit, "timeout_error": value.Timeout,
}

// failure is the error that a body reports, nil when it reports none.
func failure(host string, data []byte) error {
	var e struct {
		Error struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(data, &e) != nil || e.Error.Type == "" && e.Error.Message == "" {
		return nil
	}
	code, ok := failures[e.Error.Type]
	if !ok {
		code = value.ProviderError
	}
	return value.Errorf(code, "%s reports: %s", host, plain.Line(e.Error.Type+": "+e.Error.Message, 300))
}

func orGarbled(err error, host string) error {
	if err == nil {
		return wire.Garbled(host, "it reports an error and does not say which")
	}
	return err
}

// reply makes the answer of its blocks.
func (m *memo) reply(host string, a *answer) (*llm.Reply, error) {
	u := &a.usage
	r := &llm.Reply{Model: a.model, Message: llm.Message{Role: llm.Assistant}}
	if err := wire.Counts(host, u.InputTokens, u.CacheReadInputTokens, u.CacheCreationInputTokens); err != nil { // of which the sum may be a small one
		return nil, err
	}
	r.Usage = llm.Usage{Input: u.InputTokens + u.CacheReadInputTokens + u.CacheCreationInputTokens, Cached: u.CacheReadInputTokens, Output: u.OutputTokens}
	var text []byte
	answered, thought := "", false
	for i := range a.blocks {
		b := &a.blocks[i]
		switch b.kind {
		case "text":
			text = append(text, b.text...)
		case "tool_use":
			args := string(b.args)
			if args == "" {
				args = "{}"
			}
			if m.answer != nil && b.name == m.answer.name {
				answered = m.answer.text(args)
				continue
			}
			r.Message.Calls = append(r.Message.Calls, llm.Call{ID: b.id, Name: m.names.Real(b.name), Args: args})
		case "thinking", "redacted_thinking":
			thought = true
		}
	}
	r.Message.Text = string(text)
	switch a.stop {
	case "":
		return nil, wire.Garbled(host, "it does not say why it ended")
	case "max_tokens", "model_context_window_exceeded":
		r.Stop = llm.Length
	case "refusal":
		r.Stop = llm.Refusal
	default:
		r.Stop = llm.End
		if len(r.Message.Calls) > 0 {
			r.Stop = llm.CallStop
		}
	}
	switch {
	case answered != "" && r.Stop != llm.CallStop: // beside calls of tools an answer comes too early
		r.Message.Text = answered
	case thought && answered == "":
		r.Message.Opaque = wire.Seal(name, sealed(a.blocks))
	}
	return wire.Check(host, r)
}

// sealed is the content of an answer as its provider wants it back: thoughts are signed and stay in their places.
func sealed(blocks []block) json.RawMessage {
	list := []json.RawMessage{}
	for i := range blocks {
		var v any
		switch b := &blocks[i]; b.kind {
		case "text":
			if len(b.text) == 0 {
				continue
			}
			v = sdk.NewTextBlock(string(b.text))
		case "tool_use":
			v = sdk.NewToolUseBlock(b.id, wire.ArgsObject(string(b.args)), b.name)
		case "thinking":
			v = sdk.NewThinkingBlock(string(b.signature), string(b.text))
		case "redacted_thinking":
			v = sdk.NewRedactedThinkingBlock(b.data)
		default:
			continue
		}
		list = append(list, wire.Encode(v))
	}
	return wire.Encode(list)
}
