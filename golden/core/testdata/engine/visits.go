package engine

import (
	"fmt"

	"github.com/flowgen-dev/flowgen/runtime/agent"
	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/flow"
)

// To are nodes.
func To(nodes ...*flow.Node) []*flow.Node { return nodes }

// Walk runs nodes one after the other: do runs one, and next says which come after it.
func (f *Flow) Walk(r *flow.Run, first []*flow.Node, do func(run *flow.Run, w *Flow, at *flow.Node) error, next func(at *flow.Node) []*flow.Node) error {
	for len(first) > 0 {
		if err := do(r, f, first[0]); err != nil {
			return err
		}
		first = append(first[1:], next(first[0])...)
	}
	return nil
}

// A Model is a model that the engine makes.
type Model struct{ name string }

// NewModel makes a model, half of which need not be said.
func NewModel(name string, heat *float64) *Model { return &Model{name} }

// Consult names the models that it has.
func (f *Flow) Consult(r *flow.Run, n *flow.Node, m, instead *Model) (Ended, error) {
	if instead != nil {
		return Ended{true, dynamic.Text(m.name + " or " + instead.name)}, nil
	}
	return Ended{true, dynamic.Text(m.name)}, nil
}

// A Worker is a model with tools.
type Worker struct {
	Model *Model
	Tools []agent.Tool
	Most  int
	Title string
}

// Work says what a worker has.
func (f *Flow) Work(r *flow.Run, n *flow.Node, w *Worker) (Ended, error) {
	return Ended{true, dynamic.Text(fmt.Sprintf("%s %s with %d tools, %d times", w.Title, w.Model.name, len(w.Tools), w.Most))}, nil
}
