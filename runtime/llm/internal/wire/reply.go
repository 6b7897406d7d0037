package wire

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/runtime/internal/plain"
	"github.com/flowgen-dev/flowgen/runtime/llm"
)

// MaxCalls bounds the tool calls of one answer.
const MaxCalls = 10_000

// Unmarshal reads JSON that came from host.
func Unmarshal(host string, data []byte, v any) error {
	if !utf8.Valid(data) {
		return Garbled(host, "it is not valid UTF-8")
	}
	if err := json.Unmarshal(data, v); err != nil {
		return Garbled(host, plain.Misfit(err).Error())
	}
	return nil
}

// MaxTokens is the most tokens that an answer may be said to have taken: sums of such counts, and what they cost, overflow in no
// run.
const MaxTokens = 1 << 32

// Counts returns an error unless numbers of tokens are such.
func Counts(host string, counts ...int64) error {
	for _, n := range counts {
		if n < 0 {
			return Garbled(host, "it counts a negative number of tokens")
		}
		if n > MaxTokens {
			return Garbled(host, "it counts more tokens than an answer can take")
		}
	}
	return nil
}

// Check returns r when it is what callers of a provider may rely on: calls have a name and an id of their own, and
// counts are counts.
func Check(host string, r *llm.Reply) (*llm.Reply, error) {
	if err := Counts(host, r.Usage.Input, r.Usage.Output, r.Usage.Cached); err != nil {
		return nil, err
	}
	if len(r.Message.Calls) > MaxCalls {
		return nil, Garbled(host, "it asks for more than 10000 tool calls")
	}
	seen := make(map[string]bool, len(r.Message.Calls))
	for _, c := range r.Message.Calls {
		if c.ID == "" || c.Name == "" {
			return nil, Garbled(host, "a tool call has no id or no name")
		}
		if seen[c.ID] {
			return nil, Garbled(host, "two tool calls have one id")
		}
		seen[c.ID] = true
	}
	return r, nil
}

// ArgsObject returns the arguments of a call as the JSON object that some interfaces ask for. What a model wrote may be
// anything: what is not an object is wrapped in one, so that the model is shown what it did.
func ArgsObject(args string) json.RawMessage {
	if strings.HasPrefix(strings.TrimLeft(args, " \t\r\n"), "{") && json.Valid([]byte(args)) {
		return json.RawMessage(args)
	}
	if strings.TrimSpace(args) == "" {
		return json.RawMessage("{}")
	}
	return Encode(map[string]string{"invalid_arguments": args})
}

// Seal wraps what a provider wants back as it was, so that another provider does not take it for its own.
func Seal(provider string, parts json.RawMessage) string {
	return string(Encode(map[string]json.RawMessage{provider: parts}))
}

// Unseal returns what Seal has wrapped for this provider: a JSON array, or nil.
func Unseal(provider, opaque string) json.RawMessage {
	if opaque == "" {
		return nil
	}
	var m map[string]json.RawMessage
	if json.Unmarshal([]byte(opaque), &m) != nil {
		return nil
	}
	if parts := m[provider]; len(parts) > 0 && parts[0] == '[' {
		return parts
	}
	return nil
}

// Body is a request's JSON object without its end. What is in it never changes: a conversation goes on by appending, so
// each message is encoded once, and a transport that still reads an earlier request reads what it was given.
type Body struct {
	bytes   []byte
	some    bool
	encoder *json.Encoder // appends to bytes
}

type appender struct{ *Body }

func (a appender) Write(p []byte) (int, error) {
	if n := len(a.bytes); cap(a.bytes)-n < len(p) { // twice as much, where append would take a quarter more
		a.bytes = slices.Grow(a.bytes, max(len(p), n, 1<<10))
	}
	a.bytes = append(a.bytes, p...)
	return len(p), nil
}

// NewBody begins a body with the fields of head, a JSON object, and a list of messages under key.
func NewBody(head []byte, key string) *Body {
	b := append([]byte(nil), head[:len(head)-1]...)
	if len(head) > 2 {
		b = append(b, ',')
	}
	body := &Body{bytes: append(b, `"`+key+`":[`...)}
	body.encoder = json.NewEncoder(appender{body})
	body.encoder.SetEscapeHTML(false)
	return body
}

// Append adds a message, which is of texts, numbers and valid raw JSON.
func (b *Body) Append(message any) {
	if b.some {
		b.bytes = append(b.bytes, ',')
	}
	b.some = true
	_ = b.encoder.Encode(message)                // see Encode
	b.bytes = bytes.TrimSuffix(b.bytes, newline) // nobody has been given it yet
}

// Parts are the bytes of the entire body, for Post.
func (b *Body) Parts() (begin, end []byte) { return b.bytes[:len(b.bytes):len(b.bytes)], ending }

var newline, ending = []byte("\n"), []byte("]}")
