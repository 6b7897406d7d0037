package yamlgraph

import (
	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Interrupt runs a node that asks a user: what is asked goes into the field key, the answer into the field resume. What
// the field holds already is asked, and else the message. An empty key is not a field: every node asks its own question.
func (f *Flow) Interrupt(r *flow.Run, n *flow.Node, key, resume string, held, message dynamic.Field) error {
	if held.Value().IsNull() {
		held = message
	}
	for _, x := range f.notes {
		v := f.get(x.field)
		if x.field == key {
			v = held.Value()
		}
		f.write(x.as, v)
	}
	answer, err := flow.Ask[string](r, n, runtime.Question{Text: asked(held.Value()), Empty: true})
	if err != nil {
		return err
	}
	if key != "" {
		f.write(key, held.Value())
	}
	f.write(resume, value.String(answer))
	f.step(n)
	return nil
}

// A note is a field, and the field that stores its value at each interrupt.
type note struct{ field, as string }

// Note stores the value of a field in the field as at each Interrupt, for `interrupt_output_mapping` of the graph that runs this one.
func (f *Flow) Note(field, as string) { f.notes = append(f.notes, note{field, as}) }

// InterruptPrompt is Interrupt with a message that is made when nothing is held yet: what a model answers to the prompt or,
// without a model, the text of the prompt.
func (f *Flow) InterruptPrompt(r *flow.Run, n *flow.Node, key, resume string, held dynamic.Field, m *Model, p Prompt) error {
	if held.Value().IsNull() {
		v, err := made(r, n, m, p)
		if err != nil {
			return err
		}
		held = dynamic.Of(v)
	}
	return f.Interrupt(r, n, key, resume, held, held)
}

func made(r *flow.Run, n *flow.Node, m *Model, p Prompt) (value.Value, error) {
	if m != nil {
		return question(r, n, m, &Question{}, p)
	}
	text, err := p()
	if err != nil {
		return value.Null(), r.Fail(n, err)
	}
	return value.String(text.Text), nil
}

// asked is what a user reads: text as it is, and other values as JSON.
func asked(v value.Value) string {
	if v.Kind() == value.StringKind {
		return v.String()
	}
	text, err := v.MarshalJSON()
	if err != nil {
		return ""
	}
	return string(text)
}
