package workload

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/flowgen-dev/flowgen/bench/tool"
)

type chatCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type chatMessage struct {
	Role       string     `json:"role"`
	Content    string     `json:"content"`
	ToolCalls  []chatCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type chatRequest struct {
	Model    string          `json:"model"`
	Tools    json.RawMessage `json:"tools"`
	Messages []chatMessage   `json:"messages"`
}

type chatResponse struct {
	Choices []struct {
		Message chatMessage `json:"message"`
	} `json:"choices"`
}

// receipt is what a careful person keeps of a call.
type receipt struct {
	id, name   string
	in         tool.Numbers
	out        tool.Sum
	err        error
	start, end time.Time
}

var chatTools = json.RawMessage(`[{"type":"function","function":{"name":"add","description":"adds two numbers","parameters":` +
	`{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"],"additionalProperties":false}}}]`)

// agentByHand is the loop as a careful person writes it: a client with a timeout and a cap, a switch over the tools, typed
// arguments, calls at the same time, results in the order of the request, bounds, and receipts.
type agentByHand struct {
	client *http.Client
	url    string
}

const (
	handTurns = 1000
	handCalls = 3000
)

// ask is called with the encoded request.
func (h *agentByHand) ask(ctx context.Context, body []byte) (chatMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url, bytes.NewReader(body))
	if err != nil {
		return chatMessage{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := h.client.Do(req)
	if err != nil {
		return chatMessage{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(io.LimitReader(resp.Body, 32<<20))
	if err != nil {
		return chatMessage{}, err
	}
	if resp.StatusCode/100 != 2 {
		return chatMessage{}, fmt.Errorf("HTTP %s from the model: %.200s", resp.Status, data)
	}
	var r chatResponse
	if err := json.Unmarshal(data, &r); err != nil {
		return chatMessage{}, err
	}
	if len(r.Choices) == 0 {
		return chatMessage{}, errors.New("the model gives no answer")
	}
	return r.Choices[0].Message, nil
}

// run has the whole conversation encoded in every turn, as most do.
func (h *agentByHand) run(ctx context.Context, prompt string) (string, []receipt, error) {
	messages := []chatMessage{{Role: "user", Content: prompt}}
	return h.loop(func(last *chatMessage, results []chatMessage) (chatMessage, error) {
		if last != nil {
			messages = append(append(messages, *last), results...)
		}
		body, err := json.Marshal(chatRequest{"fake", chatTools, messages})
		if err != nil {
			return chatMessage{}, err
		}
		return h.ask(ctx, body)
	}, func(c *chatCall) receipt { return call(ctx, c) })
}

// incremental has each message encoded once.
func (h *agentByHand) incremental(ctx context.Context, prompt string) (string, []receipt, error) {
	body := append(append([]byte(`{"model":"fake","tools":`), chatTools...), `,"messages":[`...)
	add := func(m *chatMessage) error {
		b, err := json.Marshal(m)
		if body[len(body)-1] == '}' {
			body = append(body, ',')
		}
		body = append(body, b...)
		return err
	}
	err := add(&chatMessage{Role: "user", Content: prompt})
	return h.loop(func(last *chatMessage, results []chatMessage) (chatMessage, error) {
		if last != nil {
			err = errors.Join(err, add(last))
			for i := range results {
				err = errors.Join(err, add(&results[i]))
			}
		}
		if err != nil {
			return chatMessage{}, err
		}
		n := len(body)
		m, err := h.ask(ctx, append(body, "]}"...))
		body = body[:n]
		return m, err
	}, func(c *chatCall) receipt { return call(ctx, c) })
}

// loop asks and calls until there is an answer.
func (h *agentByHand) loop(ask func(*chatMessage, []chatMessage) (chatMessage, error), do func(*chatCall) receipt) (string, []receipt, error) {
	var last *chatMessage
	var results []chatMessage
	var all []receipt
	for range handTurns {
		m, err := ask(last, results)
		if err != nil {
			return "", nil, err
		}
		if len(m.ToolCalls) == 0 {
			return m.Content, all, nil
		}
		n := len(all)
		all = append(all, make([]receipt, len(m.ToolCalls))...)
		results = make([]chatMessage, len(m.ToolCalls))
		var wg sync.WaitGroup
		for i := range m.ToolCalls {
			if n+i >= handCalls {
				return "", nil, errors.New("too many calls")
			}
			wg.Go(func() {
				r := do(&m.ToolCalls[i])
				all[n+i] = r
				results[i] = chatMessage{Role: "tool", Content: r.text(), ToolCallID: r.id}
			})
		}
		wg.Wait()
		last = &m
	}
	return "", nil, errors.New("too many turns")
}

// call is the switch over the tools.
func call(ctx context.Context, c *chatCall) (r receipt) {
	r.id, r.name, r.start = c.ID, c.Function.Name, time.Now()
	switch c.Function.Name {
	case "add":
		if r.err = json.Unmarshal([]byte(c.Function.Arguments), &r.in); r.err == nil {
			r.out, r.err = tool.Add(ctx, r.in)
		}
	default:
		r.err = fmt.Errorf("unknown tool %q", c.Function.Name)
	}
	r.end = time.Now()
	return r
}

func (r *receipt) text() string {
	if r.err != nil {
		return r.err.Error()
	}
	b, err := json.Marshal(&r.out)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// bare sends the requests of a whole run, which somebody has encoded before, and looks at nothing.
func (h *agentByHand) bare(ctx context.Context, bodies [][]byte) error {
	for _, b := range bodies {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url, bytes.NewReader(b))
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := h.client.Do(req)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if err != nil {
			return err
		}
	}
	return nil
}
