// Package engine is the runtime of the test language: what a dialect's runtime package is, in small.
package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// A Flow is a run of a workflow.
type Flow struct {
	slots []dynamic.Slot
	steps int
}

// New begins a run whose nodes write to these fields.
func New(slots ...dynamic.Slot) *Flow { return &Flow{slots: slots} }

// Aside is the same run for nodes in parallel, which write nothing.
func (f *Flow) Aside() *Flow { return &Flow{} }

// Ended is how a node ended; the zero value is one that has not run.
type Ended struct {
	ok    bool
	Value dynamic.Field
}

// OK reports whether the node has run and has not failed.
func (e Ended) OK() bool { return e.ok }

// And is how a node ended that ran again.
func (e Ended) And(next Ended) Ended { return Ended{e.ok || next.ok, next.Value} }

// Tool calls a tool and writes the fields of its answer to the state. A failure is kept when it may be.
func (f *Flow) Tool(r *flow.Run, n *flow.Node, t *flow.Tool[value.Value, value.Value], p Policy, args dynamic.Field) (Ended, error) {
	out, err := flow.Call(r, n, t, args.Value())
	var failed *runtime.NodeError
	if p.keep && errors.As(err, &failed) {
		return Ended{}, nil
	}
	if err != nil {
		return Ended{}, err
	}
	if f.slots == nil {
		return Ended{true, dynamic.Of(out)}, nil
	}
	delta := make([]value.Entry, out.Len())
	for i := range delta {
		delta[i] = value.Entry{Key: out.Key(i), Value: out.Index(i)}
	}
	if err := dynamic.Write(f.slots, delta, false); err != nil {
		return Ended{}, r.Fail(n, err)
	}
	return Ended{true, dynamic.Of(out)}, nil
}

// A Policy says what becomes of a failure.
type Policy struct{ keep bool }

// The policies: a failure ends the run, or is kept.
var (
	Fail = Policy{}
	Keep = Policy{keep: true}
)

// Each runs a function for every item of a list, in parallel.
func (f *Flow) Each(r *flow.Run, n *flow.Node, list dynamic.Field, body func(run *flow.Run, w *Flow, item dynamic.Field, index int64) (Ended, error)) (Ended, error) {
	items, _ := list.Items()
	inner := f.Aside()
	all, err := flow.Map(r, n, flow.Enumerate(items), func(r *flow.Run, item flow.Indexed[value.Value]) (Ended, error) {
		return body(r, inner, dynamic.Of(item.Value), item.Index)
	})
	out := Ended{ok: err == nil}
	var values []dynamic.Field
	for _, e := range all {
		values = append(values, e.Value)
	}
	out.Value = dynamic.List(values...)
	return out, err
}

// Items are those of a list.
func (f *Flow) Items(list dynamic.Field) ([]value.Value, error) {
	items, ok := list.Items()
	if !ok {
		return nil, errors.New("there is no list")
	}
	return items, nil
}

// Ask asks a model.
func (f *Flow) Ask(r *flow.Run, n *flow.Node, m *llm.Model, prompt string) (Ended, error) {
	answer, err := llm.Ask[string](r, n, m, llm.Prompt{Text: prompt}, llm.Format{})
	return Ended{err == nil, dynamic.Text(answer)}, err
}

// Judge asks a model for an answer that fits a schema.
func (f *Flow) Judge(r *flow.Run, n *flow.Node, m *llm.Model, s *llm.Schema, prompt string) (Ended, error) {
	answer, err := llm.Ask[value.Value](r, n, m, llm.Prompt{Text: prompt}, llm.Format{Schema: s})
	return Ended{err == nil, dynamic.Of(answer)}, err
}

// Bounded says what a schema and a wait are.
func Bounded(schema []byte, wait time.Duration) string {
	return fmt.Sprintf("%d bytes in %s", len(schema), wait)
}

// Child runs another workflow.
func (f *Flow) Child(child func() (dynamic.Field, error)) (Ended, error) {
	out, err := child()
	return Ended{err == nil, out}, err
}

// Join ends what ran in parallel.
func (f *Flow) Join(nodes ...*Ended) error { return nil }

// Step counts, and refuses the eleventh.
func (f *Flow) Step(r *flow.Run, n *flow.Node) error {
	if f.steps++; f.steps > 10 {
		return r.Fail(n, errors.New("there are more than 10 steps"))
	}
	return nil
}

// Route is where to go next.
func (f *Flow) Route(v dynamic.Field, to ...string) string {
	if n, ok := number(v); ok && int(n) < len(to) {
		return to[int(n)]
	}
	return ""
}

// Put writes a field.
func Put(to *dynamic.Field, v dynamic.Field) { *to = v }

// Status is how a run ended.
func Status(nodes ...Ended) string {
	for _, e := range nodes {
		if !e.ok {
			return "partial"
		}
	}
	return "done"
}

// Less compares numbers; what is no number is less than nothing.
func Less(a, b dynamic.Field) bool {
	x, ok := number(a)
	y, also := number(b)
	return ok && also && x < y
}

func number(f dynamic.Field) (float64, bool) {
	switch v := f.Value(); v.Kind() {
	case value.IntKind:
		return float64(v.Int()), true
	case value.FloatKind:
		return v.Float(), true
	}
	return 0, false
}

// Show is a value as text.
func Show(f dynamic.Field) string {
	if !f.Present() {
		return "nothing"
	}
	return value.JSON(f.Value())
}

// Apply calls a function.
func Apply(f func(text string) (string, error), text string) (string, error) { return f(text) }

// Shout is text in capitals.
func Shout(text string) (string, error) { return strings.ToUpper(text), nil }

// Options are what a function takes besides.
type Options struct {
	Name string
	Deep dynamic.Field
}

// Describe says what options are.
func Describe(o Options) string { return o.Name + " " + Show(o.Deep) }

// Bind makes the tool of a name.
func Bind(name string) *flow.Tool[value.Value, value.Value] {
	return flow.Bind(name, flow.Reads, Echo)
}

// Echo is a tool that gives the fields under "give", or fails.
func Echo(ctx context.Context, in value.Value) (value.Value, error) {
	args := dynamic.Of(in)
	if f := args.At("fail"); f.Present() {
		return value.Null(), fmt.Errorf("told to fail: %s", Show(f))
	}
	if give := args.At("give"); give.Present() {
		return give.Value(), nil
	}
	return value.Map(), nil
}
