package engine

import (
	"fmt"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/agent"
	"github.com/flowgen-dev/flowgen/runtime/dynamic"
)

// To are nodes.
func To(nodes ...*runtime.Node) []*runtime.Node { return nodes }

// Walk runs nodes one after the other: do runs one, and next says which come after it.
func (f *Flow) Walk(r *runtime.Run, first []*runtime.Node, do func(run *runtime.Run, flow *Flow, at *runtime.Node) error, next func(at *runtime.Node) []*runtime.Node) error {
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
func (f *Flow) Consult(r *runtime.Run, n *runtime.Node, m, instead *Model) (Ended, error) {
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
func (f *Flow) Work(r *runtime.Run, n *runtime.Node, w *Worker) (Ended, error) {
	return Ended{true, dynamic.Text(fmt.Sprintf("%s %s with %d tools, %d times", w.Title, w.Model.name, len(w.Tools), w.Most))}, nil
}
