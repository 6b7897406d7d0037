package yamlgraph

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/flow"
)

// To is a list of nodes that tokens go to.
func To(nodes ...*flow.Node) []*flow.Node { return nodes }

// Steps runs a graph whose nodes hand on tokens: the nodes of first, then those that they lead to, until there are none.
// The nodes of one step run in parallel, each once, with do. They see the state as it was, and what they write is there
// when all of them have ended, in the order of their names. exits says which nodes come after one that has ended; it sees
// what that node has written, and not what those next to it have.
func (f *Flow) Steps(r *flow.Run, first []*flow.Node, do func(*flow.Run, *Flow, *flow.Node) error, exits func(*flow.Node) []*flow.Node) error {
	for now := first; len(now) > 0; {
		slices.SortFunc(now, func(a, b *flow.Node) int { return strings.Compare(a.ID, b.ID) })
		now = slices.Compact(now)
		if err := f.Step(r, now[0]); err != nil {
			return err
		}
		flows := make([]*Flow, len(now))
		branches := make([]func(*flow.Run) error, len(now))
		for i, n := range now {
			flows[i] = f.Aside()
			branches[i] = func(r *flow.Run) error { return do(r, flows[i], n) }
		}
		if err := side(r, branches); err != nil {
			return err
		}
		var next []*flow.Node
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

func side(r *flow.Run, branches []func(*flow.Run) error) error {
	if len(branches) == 1 {
		return branches[0](r)
	}
	return flow.Parallel(r, branches...)
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
