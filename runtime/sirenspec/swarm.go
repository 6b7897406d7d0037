package sirenspec

import (
	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/llm"
)

// A Voice is one question of a swarm to a model. There is no system: the prompt is all that the model is told.
type Voice struct {
	ID     string // of the agent; a synthesis has none
	Node   *runtime.Node
	Model  *llm.Model
	Prompt Template
	Guards []Guard
}

// ask asks the model.
func (v *Voice) ask(r *runtime.Run) (string, error) {
	text, err := v.Prompt.text()
	if err != nil {
		return "", r.Fail(v.Node, err)
	}
	return guarded(r, v.Node, v.Model, llm.Prompt{Text: text}, v.Guards)
}

// guarded asks a model. Guardrails look at the text and then at the answer, in their order.
func guarded(r *runtime.Run, n *runtime.Node, m *llm.Model, p llm.Prompt, guards []Guard) (answer string, err error) {
	for _, g := range guards {
		if p.Text, err = g(p.Text, false); err != nil {
			return "", r.Fail(n, err)
		}
	}
	if answer, err = llm.Ask[string](r, n, m, p, llm.Format{}); err != nil {
		return "", err
	}
	for _, g := range guards {
		if answer, err = g(answer, true); err != nil {
			return "", r.Fail(n, err)
		}
	}
	return answer, nil
}

// Voices are the agents of a swarm.
type Voices struct {
	Agents []Voice
	Side   int          // agents at a time; 0: all
	Keep   bool         // an agent that fails says nothing; else the swarm fails with it
	Last   func() Voice // the synthesis, made when the agents have answered; nil: none
}

// Swarm asks agents side by side, in the scope of node n, and puts what each says below own: agents.<id>.output. It gives
// what the synthesis says, or without one the list of all answers, and puts that below own, too. The error is that of the
// first agent, in the order of the file, that failed.
func Swarm(r *runtime.Run, n *runtime.Node, own *dynamic.Field, v Voices) (dynamic.Field, error) {
	inside := r.In(n)
	said := make([]string, len(v.Agents))
	side := v.Side
	if side <= 0 {
		side = len(said)
	}
	for from := 0; from < len(said); from += side {
		var branches []func(*runtime.Run) error
		for i := from; i < min(from+side, len(said)); i++ {
			branches = append(branches, func(r *runtime.Run) (err error) {
				said[i], err = v.Agents[i].ask(r)
				if err != nil && v.Keep {
					return runtime.Skipped(err)
				}
				return err
			})
		}
		if err := runtime.Parallel(inside, branches...); err != nil {
			return dynamic.Field{}, err
		}
	}
	var entries []dynamic.Entry
	var all []dynamic.Field
	for i, s := range said {
		all = append(all, dynamic.Text(s))
		entries = append(entries, dynamic.Put(v.Agents[i].ID, dynamic.Object(dynamic.Put("output", all[i]))))
	}
	Set(own, dynamic.Object(entries...), "agents")
	out := dynamic.List(all...)
	if v.Last != nil {
		last := v.Last()
		text, err := last.ask(inside)
		if err != nil {
			return dynamic.Field{}, err
		}
		out = dynamic.Text(text)
	}
	Set(own, out, "output")
	return out, nil
}

// Gave puts the result of a node at a place of the context, which is what the next agent is told.
func (f *Flow) Gave(field *dynamic.Field, v dynamic.Field, path ...string) {
	Set(field, v, path...)
	f.last, f.path = field, path
}
