package openai

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/flowgen-dev/flowgen/runtime/httptool"
	"github.com/flowgen-dev/flowgen/runtime/internal/plain"
	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/llm/internal/wire"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

type answer struct {
	Model   string   `json:"model"`
	Choices []choice `json:"choices"`
	Usage   *usage   `json:"usage"`
	Error   *struct {
		Message string `json:"message"`
		Code    any    `json:"code"`
	} `json:"error"` // some report a failure with status 200
}

type choice struct {
	Message      said   `json:"message"`
	Delta        said   `json:"delta"`
	FinishReason string `json:"finish_reason"`
}

type said struct {
	Content   string     `json:"content"`
	Refusal   string     `json:"refusal"`
	ToolCalls []toolCall `json:"tool_calls"`
}

type usage struct {
	PromptTokens        int64 `json:"prompt_tokens"`
	CompletionTokens    int64 `json:"completion_tokens"`
	PromptTokensDetails struct {
		CachedTokens int64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// Whole reads an answer that came in one piece.
func (m *memo) Whole(host string, body []byte) (*llm.Reply, error) {
	var a answer
	if err := wire.Unmarshal(host, body, &a); err != nil {
		return nil, err
	}
	if err := a.failure(host); err != nil {
		return nil, err
	}
	if len(a.Choices) == 0 {
		return nil, wire.Garbled(host, "it has no choices")
	}
	c := a.Choices[0]
	if c.FinishReason == "" {
		return nil, wire.Garbled(host, "it does not say why it ended")
	}
	return m.reply(host, &a, c.Message, c.FinishReason)
}

func (a *answer) failure(host string) error {
	if a.Error == nil {
		return nil
	}
	code := value.ProviderError
	if n, ok := a.Error.Code.(float64); ok && n >= 400 && n < 600 {
		code = httptool.StatusCode(int(n))
	}
	return value.Errorf(code, "%s reports: %s", host, plain.Line(a.Error.Message, 300))
}

// Streamed puts an answer together that comes in pieces.
func (m *memo) Streamed(s *wire.Service, resp *http.Response, delta func(string)) (*llm.Reply, error) {
	host := resp.Request.URL.Host
	var all answer
	var text, refusal []byte
	var calls pieces
	finish, done := "", false
	err := s.Events(resp, func(_, data string) (bool, error) {
		if data == "[DONE]" {
			done = true
			return true, nil
		}
		var a answer
		if err := wire.Unmarshal(host, []byte(data), &a); err != nil {
			return false, err
		}
		if err := a.failure(host); err != nil {
			return false, err
		}
		if a.Model != "" {
			all.Model = a.Model
		}
		if a.Usage != nil {
			all.Usage = a.Usage
		}
		if len(a.Choices) == 0 {
			return false, nil
		}
		c := a.Choices[0]
		if c.FinishReason != "" {
			finish = c.FinishReason
		}
		refusal = append(refusal, c.Delta.Refusal...)
		text = append(text, c.Delta.Content...)
		if delta != nil && c.Delta.Content != "" {
			delta(c.Delta.Content)
		}
		return false, calls.add(host, c.Delta.ToolCalls)
	})
	if err != nil {
		return nil, err
	}
	if finish == "" {
		if !done {
			return nil, value.Errorf(value.NetworkError, "no answer from %s: the connection ended before the answer did", host)
		}
		return nil, wire.Garbled(host, "it does not say why it ended")
	}
	return m.reply(host, &all, said{Content: string(text), Refusal: string(refusal), ToolCalls: calls.whole()}, finish)
}

// pieces are tool calls that come bit by bit: the first piece of a call has its id and name, all have a part of its
// arguments.
type pieces []struct {
	call toolCall
	args []byte
}

func (p *pieces) add(host string, list []toolCall) error {
	for _, c := range list {
		if c.Index < 0 || c.Index > len(*p) || c.Index >= wire.MaxCalls {
			return wire.Garbled(host, "a tool call has the index "+strconv.Itoa(c.Index))
		}
		if c.Index == len(*p) {
			*p = append(*p, struct {
				call toolCall
				args []byte
			}{call: c})
		}
		x := &(*p)[c.Index]
		if x.call.ID == "" {
			x.call.ID = c.ID
		}
		if x.call.Function.Name == "" {
			x.call.Function.Name = c.Function.Name
		}
		x.args = append(x.args, c.Function.Arguments...)
	}
	return nil
}

func (p pieces) whole() []toolCall {
	var list []toolCall
	for _, x := range p {
		x.call.Function.Arguments = string(x.args)
		list = append(list, x.call)
	}
	return list
}

// reply checks what was said.
func (m *memo) reply(host string, a *answer, s said, finish string) (*llm.Reply, error) {
	r := &llm.Reply{Model: a.Model, Message: llm.Message{Role: llm.Assistant, Text: s.Content}}
	if u := a.Usage; u != nil {
		r.Usage = llm.Usage{Input: u.PromptTokens, Cached: u.PromptTokensDetails.CachedTokens, Output: u.CompletionTokens}
	}
	answered := ""
	r.Message.Calls = slices.Grow(r.Message.Calls, len(s.ToolCalls))
	for _, c := range s.ToolCalls {
		if m.answer != "" && c.Function.Name == m.answer {
			answered = c.Function.Arguments
			continue
		}
		r.Message.Calls = append(r.Message.Calls, llm.Call{ID: c.ID, Name: m.names.Real(c.Function.Name), Args: c.Function.Arguments})
	}
	switch {
	case s.Refusal != "" || finish == "content_filter":
		r.Stop = llm.Refusal
		if r.Message.Text == "" {
			r.Message.Text = s.Refusal
		}
	case finish == "length":
		r.Stop = llm.Length
	case len(r.Message.Calls) > 0:
		r.Stop = llm.CallStop
	default:
		r.Stop = llm.End
		if answered != "" { // beside calls of tools an answer comes too early
			r.Message.Text = answered
		}
	}
	return wire.Check(host, r)
}
