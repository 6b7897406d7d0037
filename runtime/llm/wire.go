package llm

import (
	"encoding/json"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// sent is a turn on its way to another process: with the entire conversation, of which a record has only what is new.
type sent struct {
	Turn
	Own Params `json:"own"`
}

// ToWire encodes the turn for an engine that makes calls in other processes.
func (t *Turn) ToWire() ([]byte, error) {
	if t.conv.Fill != nil {
		return nil, value.Errorf(value.Unknown, "values that no record may hold are filled into this conversation: it cannot be sent to another process")
	}
	w := sent{*t, t.params}
	w.System, w.Tools, w.Schema, w.Messages, w.Params = t.conv.System, t.conv.Tools, t.conv.Schema, t.conv.Messages, nil
	return json.Marshal(&w)
}

// FromWire decodes such a turn for a call in r.
func (t *Turn) FromWire(r *flow.Run, b []byte) error {
	var w sent
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	*t = w.Turn
	t.params, t.run = w.Own, r
	t.conv = &Conversation{System: w.System, Tools: w.Tools, Schema: w.Schema, Messages: w.Messages}
	t.most = t.conv.weight.most(t.conv, t)
	return nil
}
