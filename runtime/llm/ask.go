package llm

import (
	"fmt"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Prompt is what a node asks.
type Prompt struct {
	System   string
	Messages []Said // that came before; with some, Text may be empty: then the last of them is asked
	Text     string
	Media    []Media
}

// Said is a message as workflows have it: `Message`.
type Said struct {
	Role string `json:"role" flow:"enum=user|assistant"`
	Text string `json:"text"`
}

// Conversation is the one that p begins. The error is that of a conversation that a model cannot answer.
func (p *Prompt) Conversation() (*Conversation, *value.ToolError) {
	if te := checkMedia(p.Media); te != nil {
		return nil, te
	}
	c := &Conversation{System: p.System}
	for i, m := range p.Messages {
		role := Role(m.Role)
		if role != User && role != Assistant {
			return nil, value.Invalid("messages[%d]: the role is user or assistant, not %q", i, m.Role)
		}
		c.Messages = append(c.Messages, Message{Role: role, Text: m.Text})
	}
	if p.Text != "" || len(p.Media) > 0 || p.Messages == nil {
		c.Messages = append(c.Messages, Message{Role: User, Text: p.Text, Media: p.Media})
	}
	if n := len(c.Messages); n == 0 || c.Messages[n-1].Role != User {
		return nil, value.Invalid("there is nothing to answer: the last message is that of a user, or there is a prompt")
	}
	return c, nil
}

// Told returns the conversation of p with the answer appended, for the next prompt.
func (p *Prompt) Told(answer string) []Said {
	out := append(make([]Said, 0, len(p.Messages)+2), p.Messages...)
	if p.Text != "" || p.Messages == nil {
		out = append(out, Said{string(User), p.Text})
	}
	return append(out, Said{string(Assistant), answer})
}

// Format is how an answer becomes a value.
type Format struct {
	Schema *Schema // nil: the answer's text
	Reask  int     // how often a model is called again with the errors of its answer
}

// longestAnswer bounds what is shown of an answer that does not fit.
const longestAnswer = 200

// Ask calls model m for node n. For an Out of string and no schema the result is the answer's text; for anything else it
// is decoded strictly from JSON. An answer that does not fit is asked for again, f.Reask times, with what was wrong; then
// words of enums may be in other case, or have a full stop, and else the error is VALIDATION_ERROR. Each question is a call of its own with a record of its own. The error is a
// *runtime.NodeError.
func Ask[Out any](r *flow.Run, n *flow.Node, m *Model, p Prompt, f Format) (Out, error) {
	var out Out
	c, te := p.Conversation()
	if te != nil {
		return out, r.Fail(n, te)
	}
	c.Schema = f.Schema
	if f.Reask > 0 {
		r = r.Within(n)
	}
	for asked := 0; ; asked++ {
		reply, err := m.Complete(r, n, c)
		if err != nil {
			return out, err
		}
		te := Decode(reply, f.Schema, &out)
		if te == nil {
			return out, nil
		}
		if asked >= f.Reask || te.Code != value.ValidationError {
			if said, ok := words(unfence(reply.Message.Text), f.Schema); ok && te.Code == value.ValidationError && value.Decode([]byte(said), &out) == nil {
				return out, nil
			}
			return out, r.Fail(n, te)
		}
		c.Again(te)
	}
}

// Again asks once more for an answer that did not fit.
func (c *Conversation) Again(te *value.ToolError) {
	c.Messages = append(c.Messages, Message{Role: User,
		Text: "That answer cannot be used: " + te.Message + ". Answer again, with JSON of the schema and nothing else."})
}

// Decode makes a value of a reply: of an Out of string and no schema its text, of anything else the value of its JSON.
func Decode[Out any](reply *Reply, schema *Schema, out *Out) *value.ToolError {
	switch reply.Stop {
	case Length:
		return value.Errorf(value.ProviderError, "%s reached its token limit before the end of the answer", reply.Model)
	case Refusal:
		return value.Errorf(value.ProviderError, "%s refused to answer", reply.Model)
	}
	if text, ok := any(out).(*string); ok && schema == nil {
		*text = reply.Message.Text
		return nil
	}
	text := unfence(reply.Message.Text)
	err := value.Decode([]byte(text), out)
	if err == nil {
		return nil
	}
	message := err.Error()
	if te, ok := err.(*value.ToolError); ok {
		message = te.Message
	}
	e := value.Invalid("the answer does not fit: %s", message)
	e.Details = value.Map(value.Entry{Key: "answer", Value: value.String(shorten(text))})
	return e
}

// unfence takes the text out of a Markdown fence, in which models without a JSON mode like to put JSON.
func unfence(text string) string {
	text = strings.TrimSpace(text)
	inner, ok := strings.CutPrefix(text, "```")
	if !ok {
		return text
	}
	_, inner, ok = strings.Cut(inner, "\n")
	if !ok {
		return text
	}
	if inner, ok = strings.CutSuffix(inner, "```"); !ok {
		return text
	}
	return strings.TrimSpace(inner)
}

func shorten(text string) string {
	if r := []rune(text); len(r) > longestAnswer {
		return fmt.Sprintf("%s... (%d characters)", string(r[:longestAnswer]), len(r))
	}
	return text
}
