package check

import (
	"container/heap"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// connect builds the arcs of a body from its edges, its catch clauses and, where no edges are written, from the
// references between its nodes.
func (c *checker) connect(b *Body) {
	for _, s := range b.Steps {
		if len(s.Node.Catch) == 0 {
			continue
		}
		s.Catch = true
		s.outcome = &Decision{Step: s, Kind: Outcome, Cases: []Case{{Label: "ok"}}}
		for _, k := range s.Node.Catch {
			s.outcome.Cases = append(s.outcome.Cases, Case{Code: k.Code.Name, Label: "catch " + k.Code.Name})
			if to := c.target(b, k.Target); to != nil {
				b.link(&arc{from: s, to: to, decision: s.outcome, cases: len(s.outcome.Cases) - 1})
			}
		}
	}
	if b.IR.EdgesWritten {
		for _, e := range b.IR.Edges {
			c.connectEdge(b, e)
		}
		c.unconnected(b)
	} else {
		c.inferEdges(b)
	}
}

func (b *Body) link(a *arc) {
	b.arcs = append(b.arcs, a)
	a.from.out = append(a.from.out, a)
	a.to.in = append(a.to.in, a)
}

// target resolves the end of an edge; nil for `end` and after a mistake.
func (c *checker) target(b *Body, id ir.Ident) *Step {
	if id.Name == "end" || id.Name == "" {
		return nil
	}
	if s := b.byID[id.Name]; s != nil {
		return s
	}
	c.unknownNode(b, id)
	return nil
}

func (c *checker) unknownNode(b *Body, id ir.Ident) {
	names := make([]string, 0, len(b.Steps)+1)
	for _, s := range b.Steps {
		names = append(names, s.Node.ID.Name)
	}
	for o := b.outer; o != nil; o = o.outer {
		if s := o.byID[id.Name]; s != nil {
			c.report(diag.Diagnostic{
				Code: diag.UnknownName, Span: id.Span,
				Message: "node \"" + id.Name + "\" is outside this body",
				Help:    "edges stay within one body; put the edge where the node is",
				Related: []diag.Related{{Span: s.Node.ID.Span, Message: "it is defined here"}},
			})
			return
		}
	}
	c.reportUnknown(diag.UnknownName, "node \""+id.Name+"\" is not defined", id.Span, id.Name, append(names, "end"))
}

func (c *checker) connectEdge(b *Body, e *ir.Edge) {
	from := b.byID[e.From.Name]
	if from == nil {
		if e.From.Name == "end" {
			c.report(diag.Diagnostic{Code: diag.BadEdge, Span: e.From.Span, Message: "no edge can leave end", Help: "end is where the workflow stops"})
		} else if e.From.Name != "" {
			c.unknownNode(b, e.From)
		}
		for _, t := range slices.Concat(e.To, e.Default) {
			c.target(b, t)
		}
		return
	}
	switch {
	case e.Back:
		c.connectBack(b, e, from)
	case e.Switch != nil:
		d := &Decision{Step: from, Kind: Switch, Expr: e.Switch.Node, Value: e.Switch, Edge: e}
		for _, k := range e.Cases {
			d.Cases = append(d.Cases, Case{Value: &Expected{Value: k.Value}, Label: k.Value.Source().Text()})
			for _, t := range k.To {
				if to := c.target(b, t); to != nil {
					b.link(&arc{from: from, to: to, decision: d, cases: len(d.Cases) - 1, edge: e})
				}
			}
		}
		if e.Default != nil { // without one, a value that has no case ends the run: nothing comes after it
			d.Cases = append(d.Cases, Case{Default: true, Label: "default"})
		}
		for _, t := range e.Default {
			if to := c.target(b, t); to != nil {
				b.link(&arc{from: from, to: to, decision: d, cases: len(d.Cases) - 1, edge: e})
			}
		}
		from.after = append(from.after, d)
	default:
		d, k := b.condition(from, e)
		for _, t := range e.To {
			if to := c.target(b, t); to != nil {
				if to == from {
					c.selfEdge(e, t)
					continue
				}
				b.link(&arc{from: from, to: to, decision: d, cases: k, edge: e})
			}
		}
	}
}

func (c *checker) selfEdge(e *ir.Edge, t ir.Ident) {
	c.report(diag.Diagnostic{Code: diag.Cycle, Span: t.Span, Message: "node \"" + t.Name + "\" leads to itself",
		Help: "repeat with a `loop` node, or write the back edge with `max`"})
}

// condition finds or makes the decision of an edge's `when`, and which of its cases activates the edge. Two edges out
// of one node whose conditions negate each other share a decision, so that they are known to exclude each other.
func (b *Body) condition(from *Step, e *ir.Edge) (*Decision, int) {
	if e.When == nil {
		return nil, 0
	}
	key, positive := canonical(e.When.Node)
	for _, d := range from.after {
		if d.Kind == When && d.key == key {
			if d.positive == positive {
				return d, 0
			}
			return d, 1
		}
	}
	text := e.When.Node.String()
	d := &Decision{Step: from, Kind: When, Expr: e.When.Node, Value: e.When, Edge: e, key: key, positive: positive,
		Cases: []Case{{Label: text}, {Label: "!(" + text + ")"}}}
	from.after = append(from.after, d)
	return d, 0
}

// negated comparisons, by the operator they negate. Values are never NaN, so that !(a < b) is a >= b.
var negated = map[string]string{"!=": "==", ">=": "<", "<=": ">"}

// canonical is a condition without its negations, and whether it stands as it is (true) or negated.
func canonical(n *expr.Node) (key string, positive bool) {
	positive = true
	for n.Op == expr.Unary && n.Text == "!" {
		n, positive = n.Kids[0], !positive
	}
	if n.Op == expr.Binary && negated[n.Text] != "" {
		flipped := *n
		flipped.Text = negated[n.Text]
		return flipped.String(), !positive
	}
	return n.String(), positive
}

func (c *checker) connectBack(b *Body, e *ir.Edge, from *Step) {
	if len(e.To) != 1 {
		c.report(diag.Diagnostic{Code: diag.BadEdge, Span: e.Span, Message: "an edge with `max` leads back to exactly one node",
			Help: "write one edge for each loop"})
		return
	}
	header := c.target(b, e.To[0])
	back := &backEdge{edge: e, from: from, header: header}
	if e.Exhausted != nil {
		back.exhausted = c.target(b, *e.Exhausted)
	}
	d, k := b.condition(from, e)
	back.when, back.repeat = d, k
	if header == nil {
		return
	}
	b.loops = append(b.loops, back)
	if back.exhausted != nil {
		b.link(&arc{from: from, to: back.exhausted, decision: d, cases: k, edge: e})
	}
}

// unconnected reports nodes that no written edge mentions: they would start at once, beside everything else.
func (c *checker) unconnected(b *Body) {
	if len(b.Steps) < 2 {
		return
	}
	mentioned := map[string]bool{}
	for _, e := range b.IR.Edges {
		mentioned[e.From.Name] = true
		for _, t := range slices.Concat(e.To, e.Default) {
			mentioned[t.Name] = true
		}
		for _, k := range e.Cases {
			for _, t := range k.To {
				mentioned[t.Name] = true
			}
		}
		if e.Exhausted != nil {
			mentioned[e.Exhausted.Name] = true
		}
	}
	for _, s := range b.Steps {
		for _, k := range s.Node.Catch {
			mentioned[k.Target.Name] = true
		}
	}
	for _, s := range b.Steps {
		if !mentioned[s.Node.ID.Name] {
			c.report(diag.Diagnostic{Code: diag.Unconnected, Span: s.Node.ID.Span,
				Message: "node \"" + s.Node.ID.Name + "\" is on no edge",
				Help:    "either all edges are written or none: add it to `edges`, or remove it"})
		}
	}
}

// inferEdges orders a body without edges: a node comes after those whose results it reads, and nodes that write to the
// world keep the order of the file.
func (c *checker) inferEdges(b *Body) {
	linked := map[[2]*Step]bool{}
	for _, s := range b.Steps {
		for _, a := range s.in { // catch clauses
			linked[[2]*Step{a.from, s}] = true
		}
	}
	for _, s := range b.Steps {
		for _, ref := range c.references(s.Node) {
			t := b.byID[ref]
			if t != nil && t != s && !linked[[2]*Step{t, s}] {
				linked[[2]*Step{t, s}] = true
				b.link(&arc{from: t, to: s})
			}
		}
	}
	var last *Step
	for _, s := range b.Steps {
		if s.Effects() < ir.EffectsWrites {
			continue
		}
		if last != nil && !b.before(s, last) && !linked[[2]*Step{last, s}] {
			b.link(&arc{from: last, to: s, orderOnly: true})
		}
		last = s
	}
}

// before reports whether arcs lead from a to b; it is only used while arcs are being added.
func (b *Body) before(from, to *Step) bool {
	seen := map[*Step]bool{}
	stack := []*Step{from}
	for len(stack) > 0 {
		s := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, a := range s.out {
			if a.to == to {
				return true
			}
			if !seen[a.to] {
				seen[a.to] = true
				stack = append(stack, a.to)
			}
		}
	}
	return false
}

// sortSteps orders the steps topologically, ties by file order, and fills reach. It reports cycles and returns false
// when there is one.
func (c *checker) sortSteps(b *Body) bool {
	n := len(b.Steps)
	missing := make([]int, n)
	for _, a := range b.arcs {
		missing[a.to.index]++
	}
	ready := &stepHeap{}
	for _, s := range b.Steps {
		if missing[s.index] == 0 {
			heap.Push(ready, s.index)
		}
	}
	b.order = b.order[:0]
	for ready.Len() > 0 {
		s := b.Steps[heap.Pop(ready).(int)]
		b.order = append(b.order, s)
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
	b.reach = make([]bitset, n)
	for i := n - 1; i >= 0; i-- {
		s := b.order[i]
		r := newBitset(n)
		for _, a := range s.out {
			r.set(a.to.index)
			r.union(b.reach[a.to.index])
		}
		b.reach[s.index] = r
	}
	return true
}

// reportCycle names one shortest cycle.
func (c *checker) reportCycle(b *Body, missing []int) {
	var start *Step
	for _, s := range b.Steps {
		if missing[s.index] > 0 && b.before(s, s) {
			start = s
			break
		}
	}
	path := b.shortest(start, start)
	names := []string{start.Node.ID.Name}
	span := start.Node.ID.Span
	for _, a := range path {
		names = append(names, a.to.Node.ID.Name)
		if a.to == start {
			span = edgeSpan(a, span)
		}
	}
	d := diag.Diagnostic{Code: diag.Cycle, Span: span, Message: "these nodes wait for each other: " + strings.Join(names, " -> "),
		Help: "to repeat them use a `loop` node, or give the edge that leads back a `max`"}
	if !b.IR.EdgesWritten {
		d.Help = "each reads a result of the next; break the circle, or carry the value in `state` through a `loop`"
	}
	if span != start.Node.ID.Span {
		d.Related = []diag.Related{{Span: start.Node.ID.Span, Message: "the circle starts here"}}
	}
	c.report(d)
}

// edgeSpan is the place to blame for an arc: the target in the edge that made it.
func edgeSpan(a *arc, otherwise source.Span) source.Span {
	if a.edge == nil {
		return otherwise
	}
	for _, t := range slices.Concat(a.edge.To, a.edge.Default) {
		if t.Name == a.to.Node.ID.Name {
			return t.Span
		}
	}
	for _, k := range a.edge.Cases {
		for _, t := range k.To {
			if t.Name == a.to.Node.ID.Name {
				return t.Span
			}
		}
	}
	return a.edge.Span
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

// stepHeap hands out the step that stands first in the file.
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
