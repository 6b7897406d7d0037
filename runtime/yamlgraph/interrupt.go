package yamlgraph

import (
	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/dynamic"
)

// Interrupt runs a node that asks a person: what is asked goes into the field key, the answer into the field resume. What
// the field holds already is asked, and else the message.
func (f *Flow) Interrupt(r *runtime.Run, n *runtime.Node, key, resume string, held, message dynamic.Field) error {
	if held.Value().IsNull() {
		held = message
	}
	answer, err := runtime.Ask[string](r, n, runtime.Question{Text: asked(held.Value())})
	if err != nil {
		return err
	}
	f.write(key, held.Value())
	f.write(resume, runtime.StringValue(answer))
	f.step(n)
	return nil
}

// asked is what a person reads: text as it is, and other values as JSON.
func asked(v runtime.Value) string {
	if v.Kind() == runtime.StringKind {
		return v.String()
	}
	text, err := v.MarshalJSON()
	if err != nil {
		return ""
	}
	return string(text)
}
