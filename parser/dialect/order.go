package dialect

import (
	"maps"
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// An Order is a graph of nodes, by their places in the file.
type Order struct {
	Nodes []ir.Ident
	arcs  []orderArc
}

type orderArc struct {
	from, to int
	at       source.Span
}

// Link adds an arc; at is where it is written.
func (o *Order) Link(from, to int, at source.Span) {
	o.arcs = append(o.arcs, orderArc{from, to, at})
}

// Kahn is the order of a queue that begins with the nodes that nothing leads to and takes others when the last node before
// them has come: the order in which one node at a time runs. Only the nodes of in count. Nodes of a cycle are left out.
func (o *Order) Kahn(in map[int]bool) []int {
	missing := make([]int, len(o.Nodes))
	next := make([][]int, len(o.Nodes))
	for _, a := range o.arcs {
		if in[a.from] {
			missing[a.to]++
			next[a.from] = append(next[a.from], a.to)
		}
	}
	var queue []int
	for i := range o.Nodes {
		if in[i] && missing[i] == 0 {
			queue = append(queue, i)
		}
	}
	for i := 0; i < len(queue); i++ {
		for _, to := range next[queue[i]] {
			if missing[to]--; in[to] && missing[to] == 0 {
				queue = append(queue, to)
			}
		}
	}
	return queue
}

// Levels are the lengths of the longest ways to nodes, in an order that Kahn has made.
func (o *Order) Levels(order []int) map[int]int {
	before := make([][]int, len(o.Nodes))
	for _, a := range o.arcs {
		before[a.to] = append(before[a.to], a.from)
	}
	level := map[int]int{}
	for _, i := range order {
		level[i] = 0
		for _, from := range before[i] {
			if l, in := level[from]; in {
				level[i] = max(level[i], l+1)
			}
		}
	}
	return level
}

// Cyclic reports one cycle: the shortest through a node that is on one. It returns false when there is none.
func (r *Reader) Cyclic(o *Order) bool {
	all := map[int]bool{}
	for i := range o.Nodes {
		all[i] = true
	}
	sorted := o.Kahn(all)
	if len(sorted) == len(o.Nodes) {
		return false
	}
	for _, i := range sorted {
		delete(all, i)
	}
	path := o.cycle(all)
	first := slices.MinFunc(path, func(a, b orderArc) int { return a.to - b.to }).to // it receives from the node that is first in the file
	for path[0].from != first {
		path = append(path[1:], path[0])
	}
	names := []string{o.Nodes[first].Name}
	for _, a := range path {
		names = append(names, o.Nodes[a.to].Name)
	}
	d := diag.Circle(path[len(path)-1].at, o.Nodes[first].Span, names)
	if d.Help = "remove one of the edges"; len(path) == 1 {
		d.Help = "remove the edge"
	}
	r.Report(d)
	return true
}

// cycle is the shortest cycle through a node that is on one, among those that wait for each other.
func (o *Order) cycle(waiting map[int]bool) []orderArc {
	out := make([][]orderArc, len(o.Nodes))
	before := make([][]int, len(o.Nodes))
	for _, a := range o.arcs {
		out[a.from], before[a.to] = append(out[a.from], a), append(before[a.to], a.from)
	}
	at := slices.Min(slices.Collect(maps.Keys(waiting)))
	for seen := map[int]bool{}; !seen[at]; { // whoever waits has one before it that waits, too
		seen[at] = true
		at = before[at][slices.IndexFunc(before[at], func(i int) bool { return waiting[i] })]
	}
	via := map[int]orderArc{}
	for queue := []int{at}; ; queue = queue[1:] {
		for _, a := range out[queue[0]] {
			if _, done := via[a.to]; done {
				continue
			}
			via[a.to] = a
			if a.to == at {
				path := []orderArc{a}
				for path[0].from != at {
					path = append([]orderArc{via[path[0].from]}, path...)
				}
				return path
			}
			queue = append(queue, a.to)
		}
	}
}
