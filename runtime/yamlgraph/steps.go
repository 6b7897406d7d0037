package yamlgraph

import (
	"cmp"
	"slices"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/dynamic"
)

// To is a list of nodes that tokens go to.
func To(nodes ...*runtime.Node) []*runtime.Node { return nodes }

// Steps runs a graph whose nodes hand on tokens: the nodes of first, then those that they lead to, until there are none.
// The nodes of one step run side by side, each once, with do. They see the state as it was, and what they write is there
// when all of them have ended, in the order of the file. exits says which nodes come after one that has ended; it sees
// what that node has written, and not what those beside it have.
func (f *Flow) Steps(r *runtime.Run, first []*runtime.Node, do func(*runtime.Run, *Flow, *runtime.Node) error, exits func(*runtime.Node) []*runtime.Node) error {
	for now := first; len(now) > 0; {
		slices.SortFunc(now, func(a, b *runtime.Node) int { return cmp.Compare(a.Index, b.Index) })
		now = slices.Compact(now)
		if err := f.Step(r, now[0]); err != nil {
			return err
		}
		flows := make([]*Flow, len(now))
		branches := make([]func(*runtime.Run) error, len(now))
		for i, n := range now {
			flows[i] = f.Aside()
			branches[i] = func(r *runtime.Run) error { return do(r, flows[i], n) }
		}
		if err := side(r, branches); err != nil {
			return err
		}
		var next []*runtime.Node
		for i, n := range now {
			if flows[i].halted {
				continue
			}
			before := f.saved()
			f.Join(flows[i])
			next = append(next, exits(n)...)
			f.restore(before)
		}
		f.Join(flows...)
		now = next
	}
	return nil
}

func side(r *runtime.Run, branches []func(*runtime.Run) error) error {
	if len(branches) == 1 {
		return branches[0](r)
	}
	return runtime.Parallel(r, branches...)
}

// saved is the state as it is.
func (f *Flow) saved() []dynamic.Field {
	out := make([]dynamic.Field, len(f.slots))
	for i, s := range f.slots {
		out[i] = *s.Field
	}
	return out
}

func (f *Flow) restore(fields []dynamic.Field) {
	for i, s := range f.slots {
		*s.Field = fields[i]
	}
}
