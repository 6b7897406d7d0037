package engine

import (
	"errors"

	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Begin begins a run whose nodes write to nothing.
func Begin() *Flow { return &Flow{} }

// Load reads what programs need.
func Load(name string) error { return nil }

// Kept runs another workflow in the scope of a node and keeps its failure: what it has given until then is the value.
func (f *Flow) Kept(r *flow.Run, n *flow.Node, child func(run *flow.Run) (dynamic.Field, error)) (Ended, error) {
	f.steps++
	out, err := child(r.In(n))
	return Ended{err == nil, out}, nil
}

// Failure is what a run that has failed says.
func Failure(err error) string {
	if err == nil {
		return ""
	}
	return "failed"
}

// Steps are those that the run has counted.
func (f *Flow) Steps() int64 { return int64(f.steps) }

// A Voice is a question of a node that a function runs.
type Voice struct {
	Node  *flow.Node
	Model *llm.Model
	Text  string
}

// Panel asks voices in parallel, and one more after them.
func (f *Flow) Panel(r *flow.Run, n *flow.Node, voices []Voice, last func() Voice) (Ended, error) {
	inside := r.In(n)
	said, err := flow.Map(inside, n, voices, func(_ *flow.Run, v Voice) (dynamic.Field, error) {
		e, err := f.Say(inside, v)
		return e.Value, err
	})
	if err != nil {
		return Ended{}, err
	}
	e, err := f.Say(inside, last())
	return Ended{err == nil, dynamic.List(append(said, e.Value)...)}, err
}

// Say asks one voice.
func (f *Flow) Say(r *flow.Run, v Voice) (Ended, error) { return f.Ask(r, v.Node, v.Model, v.Text) }

// Pick calls the tool of a name.
func (f *Flow) Pick(r *flow.Run, n *flow.Node, call func(*flow.Run, string, *value.Args) (value.Value, error), name string, args dynamic.Field) (Ended, error) {
	given := value.ValueArgs(args.Value())
	out, err := call(r, name, &given)
	return Ended{err == nil, dynamic.Of(out)}, err
}

// Need gives a text, and fails without one.
func Need(text string) (string, error) {
	if text == "" {
		return "", errors.New("there is no text")
	}
	return text, nil
}
