// Package scripted is a provider that answers from a script, for tests and for demonstrations without a network. What it
// says depends on the conversation alone, so that runs, their replays and their resumptions are the same.
package scripted

import (
	"context"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// New returns a provider that answers with f, which is called by any number of goroutines. A reply without a role, a
// reason to stop, ids of calls or usage gets them.
func New(f func(*llm.Request) (*llm.Reply, error)) llm.Provider { return provider(f) }

type provider func(*llm.Request) (*llm.Reply, error)

// Complete implements llm.Provider.
func (p provider) Complete(ctx context.Context, req *llm.Request) (*llm.Reply, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	reply, err := p(req)
	if err != nil {
		return nil, err
	}
	if reply == nil {
		return nil, value.Errorf(value.ProviderError, "the script returns no answer")
	}
	r := *reply
	complete(req, &r)
	say(&r, req.Delta)
	return &r, nil
}

// complete sets what an author may leave out.
func complete(req *llm.Request, r *llm.Reply) {
	if r.Model == "" {
		r.Model = req.Model
	}
	r.Message.Role = llm.Assistant
	calls := append([]llm.Call(nil), r.Message.Calls...)
	for i := range calls {
		if calls[i].ID == "" {
			calls[i].ID = "call_" + strconv.Itoa(Turn(req.Conv)) + "_" + strconv.Itoa(i)
		}
		if calls[i].Args == "" {
			calls[i].Args = "{}"
		}
	}
	r.Message.Calls = calls
	if r.Stop == "" {
		r.Stop = llm.End
		if len(calls) > 0 {
			r.Stop = llm.CallStop
		}
	}
	if r.Usage == (llm.Usage{}) {
		r.Usage = estimate(req.Conv, r)
	}
}

// Turn returns how many answers a conversation has had.
func Turn(c *llm.Conversation) int {
	n := 0
	for i := range c.Messages {
		if c.Messages[i].Role == llm.Assistant {
			n++
		}
	}
	return n
}

// bytesPerToken is what English text has, about.
const bytesPerToken = 4

func estimate(c *llm.Conversation, r *llm.Reply) llm.Usage {
	in := len(c.System)
	for _, t := range c.Tools {
		in += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	for i := range c.Messages {
		in += size(&c.Messages[i])
	}
	return llm.Usage{Input: tokens(in), Output: tokens(size(&r.Message))}
}

func size(m *llm.Message) int {
	n := len(m.Text)
	for _, c := range m.Calls {
		n += len(c.Name) + len(c.Args)
	}
	for _, r := range m.Results {
		n += len(r.Text)
	}
	for _, x := range m.Media {
		n += len(x.Data)
	}
	return n
}

func tokens(bytes int) int64 { return int64(bytes+bytesPerToken-1) / bytesPerToken }

// say streams the text word by word, like a model.
func say(r *llm.Reply, delta func(string)) {
	if delta == nil {
		return
	}
	text := r.Message.Text
	for text != "" {
		n := strings.IndexByte(text[1:], ' ') + 1
		if n == 0 {
			n = len(text)
		}
		delta(text[:n])
		text = text[n:]
	}
}

// sleep waits, or returns the error of a context that ends before.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// lastUser is the last text of a user, lastResult that of the last tool result if it is what the model is to go on from.
func lastUser(c *llm.Conversation) string {
	for i := len(c.Messages) - 1; i >= 0; i-- {
		if c.Messages[i].Role == llm.User {
			return c.Messages[i].Text
		}
	}
	return ""
}

func firstUser(c *llm.Conversation) string {
	for i := range c.Messages {
		if c.Messages[i].Role == llm.User {
			return c.Messages[i].Text
		}
	}
	return ""
}

func lastResults(c *llm.Conversation) []llm.Result {
	if n := len(c.Messages); n > 0 && c.Messages[n-1].Role == llm.Tools {
		return c.Messages[n-1].Results
	}
	return nil
}

// short bounds text in a message.
func short(text string) string {
	if utf8.RuneCountInString(text) > 80 {
		return string([]rune(text)[:80]) + "..."
	}
	return text
}
