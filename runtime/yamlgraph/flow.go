// Package yamlgraph runs the nodes of YAMLGraph files: what they leave in the state, the results of tools that the state
// names, and maps. Generated code holds the order of the nodes, their conditions and what they are given.
//
// Everything goes through flow.Call and Map, so that runs can be recorded, replayed and resumed.
package yamlgraph

import (
	"cmp"
	"maps"

	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/dynamic/py"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// A Flow is one run: the state that its nodes write. It is used by one branch at a time; see Aside.
type Flow struct {
	slots []dynamic.Slot
	aside bool // writes wait for Join
	late  []value.Entry
	steps int
	limit int // of steps; 0: maxSteps

	name string          // of the step inside of a map; empty: the node's id
	sent []dynamic.Entry // what a node inside of a map sees besides the state

	wrong error // of a value that was calculated for the next node

	stops  bool // nothing comes after a map of an empty list
	halted bool // which there was

	rules Rules // of the node that runs next

	counts  map[string]int64 // how often nodes with a limit, and those that ask a model, have run
	limited bool             // one of them has reached its limit
	route   string           // what the last router has chosen

	notes []note
}

// End is where a graph ends.
const End string = ""

// New makes a Flow that writes to the slots. A slot that appends takes the items of lists, and begins with none.
func New(slots ...dynamic.Slot) *Flow {
	for _, s := range slots {
		if s.Merge == dynamic.Append && !s.Field.Present() {
			*s.Field = dynamic.List()
		}
	}
	return &Flow{slots: slots}
}

// Aside is the flow for a node that runs in parallel with others: what it writes waits for Join, so that none of them sees what
// another has written, and the state does not depend on which of them ends first.
func (f *Flow) Aside() *Flow {
	return &Flow{slots: f.slots, aside: true, counts: f.counts, limited: f.limited, route: f.route, stops: f.stops, notes: f.notes}
}

// StopAtEmpty lets nothing come after a map of an empty list, as in engines before 0.6.
func (f *Flow) StopAtEmpty() { f.stops = true }

// Halted reports whether nothing comes after the map that has run.
func (f *Flow) Halted() bool { return f.halted }

// Join writes what nodes that ran in parallel have written, in the order given.
func (f *Flow) Join(aside ...*Flow) {
	for _, a := range aside {
		for _, w := range a.late {
			f.write(w.Key, w.Value)
		}
		f.merge(a)
	}
}

// merge takes what a flow aside knows of nodes that ask a model.
func (f *Flow) merge(a *Flow) {
	if a.route != "" {
		f.route = a.route
	}
	f.limited = f.limited || a.limited
	if len(a.counts) == 0 {
		return
	}
	counts := maps.Clone(a.counts)
	for k, n := range f.counts {
		counts[k] = max(counts[k], n)
	}
	f.counts = counts
}

// write changes a field. What no slot holds is dropped, as the engine does.
func (f *Flow) write(key string, v value.Value) {
	if f.aside {
		f.late = append(f.late, value.Entry{Key: key, Value: v})
		return
	}
	for i := range f.slots {
		s := &f.slots[i]
		if s.Name != key {
			continue
		}
		switch s.Merge {
		case dynamic.Append:
			v = inOrder(joined(s.Field.Value(), v))
		case dynamic.Sum:
			if sum, err := py.Add(*s.Field, dynamic.Of(v)); err == nil {
				v = sum.Value()
			}
		}
		*s.Field = dynamic.Of(v)
		return
	}
}

// joined adds the items of a list to those of another. What is not a list is one item.
func joined(old, more value.Value) value.Value {
	var all []value.Value
	for _, v := range []value.Value{old, more} {
		switch v.Kind() {
		case value.NullKind:
		case value.ListKind:
			for i := range v.Len() {
				all = append(all, v.Index(i))
			}
		default:
			all = append(all, v)
		}
	}
	return value.List(all...)
}

func (f *Flow) step(n *flow.Node) {
	f.write("current_step", value.String(cmp.Or(f.name, n.ID)))
}

// maxSteps is how many steps a graph takes at most that does not say: engines take 25, 50 or 10,007, by their versions.
const maxSteps = 1000

// Bound says how many steps there are at most.
func (f *Flow) Bound(steps int) { f.limit = steps }

// Step counts a step of a graph with a cycle that has come to node n. The error says that there were too many.
func (f *Flow) Step(r *flow.Run, n *flow.Node) error {
	limit := cmp.Or(f.limit, maxSteps)
	if f.steps++; f.steps <= limit {
		return nil
	}
	return r.Fail(n, value.Errorf(value.PolicyDenied, "Recursion limit of %d reached without hitting a stop condition", limit))
}

// Set writes fields. One whose value is missing or null stays as it is.
func (f *Flow) Set(n *flow.Node, entries ...dynamic.Entry) {
	f.wrong = nil
	if f.reached(n, f.ruled().Limit) {
		return
	}
	for _, e := range entries {
		if v := e.Field().Value(); !v.IsNull() {
			f.write(e.Key(), v)
		}
	}
	f.step(n)
}
