package responses

import (
	"encoding/json"
	"net/http"

	sdk "github.com/openai/openai-go/v3/responses"

	"github.com/flowgen-dev/flowgen/runtime/internal/plain"
	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/llm/internal/wire"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Whole reads an answer that came in one piece.
func (m *memo) Whole(host string, body []byte) (*llm.Reply, error) {
	var a sdk.Response
	if err := wire.UnmarshalObject(host, body, &a); err != nil {
		return nil, err
	}
	return m.reply(host, &a)
}

// Streamed hands on pieces of text; the last event has the answer as a whole.
func (m *memo) Streamed(s *wire.Service, resp *http.Response, delta func(string)) (*llm.Reply, error) {
	host := resp.Request.URL.Host
	var reply *llm.Reply
	err := s.Events(resp, func(_, data string) (bool, error) {
		if data == "[DONE]" { // of services that end all their streams so
			return true, nil
		}
		var e sdk.ResponseStreamEventUnion
		if err := wire.UnmarshalObject(host, []byte(data), &e); err != nil {
			return false, err
		}
		if !wire.TextFields(e.JSON.Type) {
			return false, wire.Garbled(host, wire.WrongTypes)
		}
		switch e.Type { // others are left out, as the interface asks
		case "response.output_text.delta":
			if !wire.TextFields(e.JSON.Delta) {
				return false, wire.Garbled(host, wire.WrongTypes)
			}
			if delta != nil && e.Delta != "" {
				delta(e.Delta)
			}
		case "error":
			return false, failure(host, e.Code, e.Message)
		case "response.completed", "response.incomplete", "response.failed":
			if !wire.Sound(e.JSON.Response) {
				return false, wire.Garbled(host, wire.WrongTypes)
			}
			var err error
			reply, err = m.reply(host, &e.Response)
			return true, err
		}
		return false, nil
	})
	if err != nil {
		return nil, err
	}
	if reply == nil {
		return nil, value.Errorf(value.NetworkError, "no answer from %s: the connection ended before the answer did", host)
	}
	return reply, nil
}

// failures are the codes of answers that report an error with status 200; others are the provider's.
var failures = map[string]value.Code{"rate_limit_exceeded": value.RateLimit, "invalid_prompt": value.ValidationError}

func failure(host, code, message string) error {
	as, ok := failures[code]
	if !ok {
		as = value.ProviderError
	}
	return value.Errorf(as, "%s reports: %s", host, plain.Line(message, 300))
}

// sound reports whether the fields that are read have the types that they should have.
func sound(a *sdk.Response) bool {
	u := &a.Usage
	if !wire.Sound(a.JSON.Output, a.JSON.Usage, a.JSON.Error, a.JSON.IncompleteDetails, u.JSON.InputTokensDetails) ||
		!wire.TextFields(a.JSON.Model, a.JSON.Status, a.IncompleteDetails.JSON.Reason, a.Error.JSON.Code, a.Error.JSON.Message) ||
		!wire.CountFields(u.JSON.InputTokens, u.JSON.OutputTokens, u.InputTokensDetails.JSON.CachedTokens) {
		return false
	}
	for i := range a.Output {
		item := &a.Output[i]
		if !wire.TextFields(item.JSON.Type, item.JSON.CallID, item.JSON.Name, item.JSON.EncryptedContent) || item.Type == "" || !wire.Sound(item.JSON.Content) ||
			item.Type == "function_call" && !wire.TextFields(item.JSON.Arguments) {
			return false
		}
		for j := range item.Content {
			c := &item.Content[j]
			if !wire.TextFields(c.JSON.Type, c.JSON.Text, c.JSON.Refusal) || c.Type == "" {
				return false
			}
		}
	}
	return true
}

// reply makes the answer of its items.
func (m *memo) reply(host string, a *sdk.Response) (*llm.Reply, error) {
	switch {
	case !sound(a):
		return nil, wire.Garbled(host, wire.WrongTypes)
	case a.Error.Message != "" || a.Status == "failed":
		return nil, failure(host, string(a.Error.Code), a.Error.Message)
	case a.JSON.Output.Raw() == "":
		return nil, wire.Garbled(host, "it has no output")
	case a.Status != "completed" && a.Status != "incomplete":
		return nil, wire.Garbled(host, "it does not say why it ended")
	}
	u := &a.Usage
	r := &llm.Reply{Model: a.Model, Message: llm.Message{Role: llm.Assistant},
		Usage: llm.Usage{Input: u.InputTokens, Cached: u.InputTokensDetails.CachedTokens, Output: u.OutputTokens}}
	var text []byte
	refusal, answered := "", ""
	for i := range a.Output {
		switch item := &a.Output[i]; item.Type {
		case "message":
			for _, c := range item.Content {
				text = append(text, c.Text...)
				refusal += c.Refusal
			}
		case "function_call":
			if m.answer != "" && item.Name == m.answer {
				answered = item.Arguments.OfString
				continue
			}
			r.Message.Calls = append(r.Message.Calls, llm.Call{ID: item.CallID, Name: m.names.Real(item.Name), Args: item.Arguments.OfString})
		}
	}
	r.Message.Text = string(text)
	switch reason := a.IncompleteDetails.Reason; {
	case refusal != "" || reason == "content_filter":
		r.Stop = llm.Refusal
		if r.Message.Text == "" {
			r.Message.Text = refusal
		}
	case a.Status == "incomplete" || reason != "":
		r.Stop = llm.Length
	case len(r.Message.Calls) > 0:
		r.Stop = llm.CallStop
	default:
		r.Stop = llm.End
	}
	if answered != "" && r.Stop == llm.End { // beside calls of tools an answer comes too early
		r.Message.Text = answered
	} else if answered == "" {
		r.Message.Opaque = sealed(a.Output)
	}
	return wire.Check(host, r)
}

// sealed is what the model wants back as it was: all items of an answer that it has reasoned about. Reasoning that is not
// encrypted stays at its provider, which has been asked to forget it.
func sealed(items []sdk.ResponseOutputItemUnion) string {
	var list []json.RawMessage
	reasoned := false
	for i := range items {
		switch item := &items[i]; item.Type {
		case "reasoning":
			if item.EncryptedContent == "" {
				return ""
			}
			reasoned = true
		case "message", "function_call":
		default:
			continue
		}
		list = append(list, json.RawMessage(items[i].RawJSON()))
	}
	if !reasoned {
		return ""
	}
	return wire.Seal(name, wire.Encode(list))
}
