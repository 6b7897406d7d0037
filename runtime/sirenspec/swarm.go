package sirenspec

import (
	"errors"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// A Voice is one question of a swarm to a model. There is no system: the prompt is all that the model receives.
type Voice struct {
	ID     string // of the agent; a synthesis has none
	Node   *flow.Node
	Model  *llm.Model
	Prompt Template
	Guards []Guard
}

// ask asks the model. late is when the answer has to be there at the latest; the zero time: whenever.
func (v *Voice) ask(r *flow.Run, f *Flow, late time.Time) (string, error) {
	text, err := v.Prompt.text()
	if err != nil {
		return "", r.Fail(v.Node, err)
	}
	c := llm.Conversation{Messages: []llm.Message{{Role: llm.User, Text: text}}}
	if strings.Contains(text, mark) {
		c.Fill = fillAll
	}
	n := v.Node
	if !late.IsZero() {
		own := *n
		own.Timeout = max(time.Until(late), 1) // the call is made all the same, so that a replay makes the same ones
		n = &own
	}
	name := v.ID
	if name == "" {
		name = "synthesis"
	}
	return f.question(r, n, v.Model, c, v.Guards, name)
}

// question asks a model, once. Guardrails look at the message and then at the answer. What it takes is counted in f, which
// may be nil, without its cost, as in the engine. name is who is asked, in errors.
func (f *Flow) question(r *flow.Run, n *flow.Node, m *llm.Model, c llm.Conversation, guards []Guard, name string) (string, error) {
	var err error
	if c.Messages[0].Text, err = guarded(guards, c.Messages[0].Text, false); err != nil {
		return "", r.Fail(n, plainly(err))
	}
	reply, err := m.Complete(r, n, &c)
	if err != nil {
		return "", worded(err, func(s string) string { return "Node '" + name + "' failed after 1 attempt(s): " + s })
	}
	answer, err := guarded(guards, reply.Message.Text, true)
	if err != nil {
		return "", r.Fail(n, plainly(err))
	}
	f.count(reply)
	return answer, nil
}

// plainly is the error of a text that a guardrail refuses, with nothing but the reason.
func plainly(err error) error {
	var x *refusal
	if !errors.As(err, &x) {
		return err
	}
	return value.Errorf(value.PolicyDenied, "%s", x.reason)
}

// worded is an error of a node in other words. What was recorded stays as it is, and an error of the run, too.
func worded(err error, words func(string) string) error {
	if flow.Skipped(err) != nil {
		return err
	}
	return explained(err, func(e *value.ToolError) { e.Message = words(e.Message) })
}

// Voices are the agents of a swarm.
type Voices struct {
	Agents []Voice
	Side   int          // agents at a time; 0: all
	Keep   bool         // an agent that fails says nothing; else the swarm fails with it
	Flow   *Flow        // that counts what is spent; nil: nothing does
	Last   func() Voice // the synthesis, made when the agents have answered; nil: none

	late time.Time // when all has to be said; the zero time: whenever
}

// Swarm asks agents in parallel, in the scope of node n, and puts what each says below own: agents.<id>.output. It gives
// what the synthesis says, or without one, or when that fails, the list of all answers, and puts that below own, too. All
// agents are asked, also when one fails; the error is that of the first, in the order of the file.
func Swarm(r *flow.Run, n *flow.Node, own *dynamic.Field, v Voices) (dynamic.Field, error) {
	out, _, err := v.run(r, n, own)
	return out, err
}

// run is Swarm; failed is the error of the synthesis, which is one of an instance of a factory and of no swrm node.
func (v *Voices) run(r *flow.Run, n *flow.Node, own *dynamic.Field) (out dynamic.Field, failed, err error) {
	inside := r.In(n)
	all, err := v.asked(inside, own)
	if err != nil {
		return dynamic.Field{}, nil, err
	}
	out = dynamic.List(all...)
	if v.Last != nil {
		last := v.Last()
		text, err := last.ask(inside, v.Flow, v.late)
		if stop := flow.Skipped(err); stop != nil {
			return dynamic.Field{}, nil, stop
		}
		if failed = err; err == nil {
			out = dynamic.Text(text)
		}
	}
	Set(own, out, "output")
	return out, failed, nil
}

// asked are the answers of all agents, empty for those that failed.
func (v *Voices) asked(inside *flow.Run, own *dynamic.Field) ([]dynamic.Field, error) {
	said := make([]string, len(v.Agents))
	failed := make([]error, len(said))
	branches := make([]func(*flow.Run) error, len(said))
	for i := range branches {
		branches[i] = func(r *flow.Run) error {
			var err error
			if said[i], err = v.Agents[i].ask(r, v.Flow, v.late); err != nil {
				failed[i] = worded(err, func(s string) string { return "swrm agent '" + v.Agents[i].ID + "' failed: " + s })
			}
			return flow.Skipped(err)
		}
	}
	side := v.Side
	if side <= 0 {
		side = len(said)
	}
	if err := flow.ParallelLimit(inside, side, branches...); err != nil {
		return nil, err
	}
	var entries []dynamic.Entry
	var all []dynamic.Field
	for i, s := range said {
		if failed[i] != nil && !v.Keep {
			return nil, failed[i]
		}
		all = append(all, dynamic.Text(s))
		if failed[i] == nil {
			entries = append(entries, dynamic.Put(v.Agents[i].ID, dynamic.Object(dynamic.Put("output", all[i]))))
		}
	}
	if len(entries) > 0 {
		Set(own, dynamic.Object(entries...), "agents")
	}
	return all, nil
}

// Gave puts the result of a node at a place of the context, which is what the next agent receives.
func (f *Flow) Gave(field *dynamic.Field, v dynamic.Field, path ...string) {
	Set(field, v, path...)
	f.last, f.path = field, path
}
