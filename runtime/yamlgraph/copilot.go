package yamlgraph

import (
	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Copilot runs a node that asks a program: its prompt is both texts, and resume the session that goes on. What the program
// answers goes into the field key. Rules that do not hold leave their errors, as those of nodes that ask a model do.
func (f *Flow) Copilot(r *flow.Run, n *flow.Node, t *flow.Tool[value.Value, value.Value], key string, resume dynamic.Field, p Prompt) error {
	x := f.ruled()
	u := update{}
	q := &Question{Key: key}
	if end := u.allowed(n, q, &x); !end {
		v, err := told(r, n, t, resume, p)
		if err != nil {
			return err
		}
		ask := func() (value.Value, error) { return told(r, n, t, resume, p) }
		if v, end, err = u.held(n, key, &x, v, ask); err != nil {
			return err
		}
		if !end {
			u.take(key, v)
		}
	}
	for _, e := range u.entries {
		f.write(e.Key, e.Value)
	}
	f.step(n)
	return nil
}

// told asks the program once.
func told(r *flow.Run, n *flow.Node, t *flow.Tool[value.Value, value.Value], resume dynamic.Field, p Prompt) (value.Value, error) {
	prompt, err := p()
	if err != nil {
		return value.Null(), r.Fail(n, err)
	}
	return flow.Call(r, n, t, dynamic.Object(dynamic.Put("prompt", dynamic.Text(both(prompt))), dynamic.Put("resume", resume.NonNull())).Value())
}

func both(p llm.Prompt) string {
	switch {
	case p.System == "":
		return "User: " + p.Text
	case p.Text == "":
		return "System: " + p.System
	}
	return "System: " + p.System + "\n\nUser: " + p.Text
}

// copilot is an answer of a model as that of a program.
func (m *Model) copilot(v value.Value) value.Value {
	text := asked(v)
	return value.Map(value.Entry{Key: "output", Value: value.String(text)}, value.Entry{Key: "exit_code", Value: value.Int(0)}, named("model", m.model),
		value.Entry{Key: "backend", Value: value.String("api")}, value.Entry{Key: "session_id", Value: value.Null()})
}
