package check

import (
	"container/heap"
	"slices"

	"github.com/flowgen-dev/flowgen/ir/diag"
)

// sortSteps orders the steps topologically, ties by file order, and fills reach. It reports cycles and returns false
// when there is one.
func (c *checker) sortSteps(b *Body) bool {
	n := len(b.Steps)
	missing := make([]int, n)
	for _, a := range b.arcs {
		if a.from != b.start {
			missing[a.to.index]++
		}
	}
	ready := &stepHeap{}
	for _, s := range b.Steps {
		if missing[s.index] == 0 {
			heap.Push(ready, s.index)
		}
	}
	b.order, b.failing = b.order[:0], nil
	for ready.Len() > 0 {
		s := b.Steps[heap.Pop(ready).(int)]
		s.pos = len(b.order)
		b.order = append(b.order, s)
		if s.fails() {
			b.failing = append(b.failing, s)
		}
		for _, a := range s.out {
			if missing[a.to.index]--; missing[a.to.index] == 0 {
				heap.Push(ready, a.to.index)
			}
		}
	}
	if len(b.order) < n {
		c.reportCycle(b, missing)
		return false
	}
	if b.loose {
		return true
	}
	b.reach = make([]bitset, n)
	for _, s := range slices.Backward(b.order) {
		r := newBitset(n)
		for _, a := range s.out {
			r.set(a.to.pos)
			r.union(b.reach[a.to.index])
		}
		b.reach[s.index] = r
	}
	return true
}

// reportCycle names one cycle: the shortest through a node that is on one.
func (c *checker) reportCycle(b *Body, missing []int) {
	start := b.onCycle(missing)
	path := b.shortest(start, start)
	first := path[0].from
	for _, a := range path { // it receives from the node that is first in the file
		if a.to.index < first.index {
			first = a.to
		}
	}
	for path[0].from != first {
		path = append(path[1:], path[0])
	}
	names := []string{first.Node.ID.Name}
	for _, a := range path {
		names = append(names, a.to.Node.ID.Name)
	}
	last := path[len(path)-1]
	d := diag.Circle(last.at, first.Node.ID.Span, names)
	switch {
	case len(path) == 1:
		d.Help = "repeat with a `loop` node, or give the edge a `max`"
	case last.at.IsZero() && !b.IR.EdgesWritten:
		d.Help = "each reads a result of the one before; break the cycle, or carry the value in `state` through a `loop`"
	default:
		d.Help = "to repeat them use a `loop` node, or give the edge that leads back a `max`"
	}
	c.report(d)
}

// onCycle finds a node on a cycle among those that wait for others: whoever waits has one before it that waits, too.
func (b *Body) onCycle(missing []int) *Step {
	var s *Step
	for _, t := range b.Steps {
		if missing[t.index] > 0 {
			s = t
			break
		}
	}
	for seen := map[*Step]bool{}; !seen[s]; {
		seen[s] = true
		for _, a := range s.in {
			if a.from != b.start && missing[a.from.index] > 0 {
				s = a.from
				break
			}
		}
	}
	return s
}

// shortest is the shortest path of arcs from one step to another, by breadth first.
func (b *Body) shortest(from, to *Step) []*arc {
	via := map[*Step]*arc{}
	queue := []*Step{from}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		for _, a := range s.out {
			if via[a.to] != nil {
				continue
			}
			via[a.to] = a
			if a.to == to {
				var path []*arc
				for at := to; ; at = via[at].from {
					path = append(path, via[at])
					if via[at].from == from {
						slices.Reverse(path)
						return path
					}
				}
			}
			queue = append(queue, a.to)
		}
	}
	return nil
}

// stepHeap hands out the step that is first in the file.
type stepHeap []int

func (h stepHeap) Len() int           { return len(h) }
func (h stepHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h stepHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *stepHeap) Push(x any)        { *h = append(*h, x.(int)) }
func (h *stepHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}
