package llm

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/flowgen-dev/flowgen/runtime/flow"
)

// sent is a turn on its way to another process: what is new in the conversation, as a record has it, and the parameters. The process
// that gets it asks for what was told before.
type sent struct {
	Turn
	Own  Params `json:"own"`
	Told int    `json:"told,omitempty"` // messages before it
	Fill string `json:"fill,omitempty"` // name of the filling
}

// told is a conversation up to a turn.
type told struct {
	System   string    `json:"system,omitempty"`
	Tools    []Tool    `json:"tools,omitempty"`
	Schema   *Schema   `json:"schema,omitempty"`
	Messages []Message `json:"messages"`
}

// ToWire encodes the turn for an engine that makes calls in other processes. continues says that they need Before as well.
func (t *Turn) ToWire() (b []byte, continues bool, err error) {
	w := sent{Turn: *t, Own: t.params, Told: t.told}
	w.Params = nil
	if t.conv.Fill != nil {
		w.Fill = t.conv.Fill.name
	}
	b, err = json.Marshal(&w)
	return b, t.told > 0, err
}

// Before encodes the conversation up to the turn.
func (t *Turn) Before() ([]byte, error) {
	return json.Marshal(&told{t.conv.System, t.conv.Tools, t.conv.Schema, t.conv.Messages[:t.told]})
}

// FromWire decodes a turn for a call in r. before is what was told before it.
func (t *Turn) FromWire(r *flow.Run, b, before []byte) error {
	var w sent
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	c := told{System: w.System, Tools: w.Tools, Schema: w.Schema}
	if w.Told > 0 {
		if err := json.Unmarshal(before, &c); err != nil {
			return fmt.Errorf("the conversation before it: %w", err)
		}
	}
	if len(c.Messages) != w.Told {
		return fmt.Errorf("the conversation before it has %d messages, and the turn follows %d", len(c.Messages), w.Told)
	}
	*t = w.Turn
	t.params, t.run = w.Own, r
	t.conv = &Conversation{System: c.System, Tools: c.Tools, Schema: c.Schema, Messages: append(c.Messages, w.Messages...)}
	if w.Fill != "" {
		f, ok := fillings.Load(w.Fill)
		if !ok {
			return fmt.Errorf("this program has no filling %q", w.Fill)
		}
		t.conv.Fill = f.(*Filling)
	}
	t.most = t.conv.weight.most(t.conv, t)
	return nil
}

// Filling makes what is sent of what is recorded: see Conversation.Fill.
type Filling struct {
	name string
	fill func(Conversation) (Conversation, error)
}

var fillings sync.Map // of *Filling, by name

// NewFilling returns the filling of a name, by which a process finds it that makes calls of others. It is for variables of packages:
// a name has one. fill must not change what it is given.
func NewFilling(name string, fill func(Conversation) (Conversation, error)) *Filling {
	f := &Filling{name, fill}
	if _, twice := fillings.LoadOrStore(name, f); twice {
		panic("llm: there is a filling " + name)
	}
	return f
}
