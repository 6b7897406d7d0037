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
func (v *Voice) ask(r *runtime.Run, f *Flow) (string, error) {
	text, err := v.Prompt.text()
	if err != nil {
		return "", r.Fail(v.Node, err)
	}
	c := llm.Conversation{Messages: []llm.Message{{Role: llm.User, Text: text}}}
	if v.Prompt.variables() {
		c.Fill = fillMessage
	}
	return f.question(r, v.Node, v.Model, c, v.Guards)
}

// question asks a model. Guardrails look at the message and then at the answer. What it takes is counted in f, which may
// be nil, without its cost, as in the engine.
func (f *Flow) question(r *runtime.Run, n *runtime.Node, m *llm.Model, c llm.Conversation, guards []Guard) (string, error) {
	var err error
	if c.Messages[0].Text, err = guarded(guards, c.Messages[0].Text, false); err != nil {
		return "", r.Fail(n, denied(err))
	}
	reply, err := m.Complete(r, n, &c)
	if err != nil {
		return "", err
	}
	answer, err := guarded(guards, reply.Message.Text, true)
	if err != nil {
		return "", r.Fail(n, denied(err))
	}
	f.count(reply)
	return answer, nil
}

// Voices are the agents of a swarm.
type Voices struct {
	Agents []Voice
	Side   int          // agents at a time; 0: all
	Keep   bool         // an agent that fails says nothing; else the swarm fails with it
	Flow   *Flow        // that counts what is spent; nil: nothing does
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
				said[i], err = v.Agents[i].ask(r, v.Flow)
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
		text, err := last.ask(inside, v.Flow)
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
