package llm

import (
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/llm/catalog"
	"github.com/flowgen-dev/flowgen/runtime/usage"
)

// AnswerBound is the most tokens of an answer under a cap of cost or tokens, for a model without max_tokens. Without it
// nobody could say what a call costs at most.
const AnswerBound = catalog.AnswerBound

// bounded are the parameters of a call in r: under a cap every answer has a bound.
func (m *Model) bounded(r *flow.Run) Params {
	p := m.params
	if p.MaxTokens == nil && r.Capped() {
		p.MaxTokens = flow.Ptr(int64(AnswerBound))
	}
	return p
}

// weight is how many tokens a conversation can be at most. A token is at least a byte of its text.
type weight struct {
	tokens int64
	told   int // messages that are in tokens
	begun  bool
}

const (
	perMessage = 16   // tokens that a provider puts around a message or tool
	perImage   = 5000 // tokens of an image
)

func (w *weight) most(c *Conversation, t *Turn) Usage {
	if !w.begun {
		w.begun = true
		w.tokens = perMessage + int64(len(c.System))
		for _, t := range c.Tools {
			w.tokens += perMessage + int64(len(t.Name)+len(t.Description)+len(t.Schema))
		}
		if c.Schema != nil {
			w.tokens += perMessage + int64(len(c.Schema.Name)+len(c.Schema.JSON))
		}
	}
	for _, m := range c.Messages[w.told:] {
		w.tokens += m.weight()
	}
	w.told = len(c.Messages)
	most := Usage{Input: w.tokens, Output: AnswerBound}
	if n := t.params.MaxTokens; n != nil {
		most.Output = max(*n, 0)
	}
	return most
}

func (m *Message) weight() int64 {
	n := perMessage + len(m.Text) + len(m.Opaque)
	for _, x := range m.Media {
		n += perImage + len(x.URL)
		if len(x.Type) < 6 || x.Type[:6] != "image/" {
			n += len(x.Data)
		}
	}
	for _, x := range m.Calls {
		n += perMessage + len(x.ID) + len(x.Name) + len(x.Args)
	}
	for _, x := range m.Results {
		n += perMessage + len(x.ID) + len(x.Name) + len(x.Text)
	}
	return int64(n)
}

// most is what a call can take.
func (m *Model) most(t *Turn) usage.Spend { return m.spend(t.most) }

// took is what a call has taken. A server that does not say what was used is taken to have used what the texts can be.
func (m *Model) took(t *Turn, reply *Reply) usage.Spend {
	u := reply.Usage
	if u.Input <= 0 { // every question has tokens
		u.Input = t.most.Input
	}
	if u.Output <= 0 {
		u.Output = min(reply.Message.weight(), t.most.Output)
	}
	return m.spend(u)
}

func (m *Model) spend(u Usage) usage.Spend {
	s := usage.Spend{Tokens: u.Input + u.Output}
	if m.price != nil {
		s.Cost = m.price.Of(u)
	}
	return s
}
