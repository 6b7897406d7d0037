package sirenspec

import (
	"fmt"
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// maxSuggested is up to how many mistakes somebody reads which spelling is meant.
const maxSuggested = 100

// settle checks the workflow and translates it: that nodes have an order, and that what placeholders and conditions name is
// there by then. What its values are is known when it runs.
func (p *parser) settle(sink *diag.Sink) {
	p.Sink = sink
	g := p.graph()
	tree := *p.wf
	p.tree.Workflow = &tree
	o := &dialect.Order{}
	for _, n := range p.tree.Nodes {
		o.Nodes = append(o.Nodes, n.ID)
	}
	all := map[int]bool{}
	for i := range g.points {
		all[i] = true
	}
	for _, l := range g.links {
		o.Link(l.from.index, l.to.index, l.at)
	}
	var order []*point
	if !p.Cyclic(o) {
		for _, i := range o.Kahn(all) {
			order = append(order, g.points[i])
		}
		p.placeholders(g, order)
	}
	if sink.HasErrors() { // what is left to check are models and tools
		p.wf.Tools = slices.DeleteFunc(slices.Clone(p.wf.Tools), func(t *ir.Tool) bool {
			_, made := t.Binding.(*ir.Made) // not yet
			return made
		})
		p.wf.State, p.wf.Body = nil, ir.Body{Span: p.wf.Body.Span, Block: ir.Block{}}
		return
	}
	p.lower(order)
}

// A graph is the nodes of a workflow with what leads from one to another.
type graph struct {
	points []*point
	byID   map[string]*point
	links  []*link
}

// A point is a node in a graph.
type point struct {
	node    *Node
	index   int // in the file
	in, out []*link
	graph   *graph
}

// A link is an edge, or what leads to a fallback.
type link struct {
	from, to *point
	route    *dialect.Route // nil: to a fallback
	at       source.Span
}

// graph makes links of the edges, in the order of the file, which the order of the nodes depends on.
func (p *parser) graph() *graph {
	g := &graph{byID: map[string]*point{}}
	var routes []*dialect.Route
	for i, n := range p.tree.Nodes {
		x := &point{node: n, index: i, graph: g}
		g.points = append(g.points, x)
		g.byID[n.ID.Name] = x
		routes = append(routes, n.Routes...)
	}
	slices.SortStableFunc(routes, func(x, y *dialect.Route) int { return x.Span.Lo - y.Span.Lo })
	for _, r := range routes {
		from, to := g.byID[r.From.Name], g.byID[r.To.Name]
		if from == nil || to == nil {
			continue // it was refused
		}
		g.link(&link{from: from, to: to, route: r, at: r.To.Span})
		r.When.Refs(p.contextPlace)
	}
	p.rescues(g)
	return g
}

func (g *graph) link(l *link) {
	l.from.out, l.to.in, g.links = append(l.from.out, l), append(l.to.in, l), append(g.links, l)
}

// fallback is the step that runs instead of an agent of SirenSpec that fails; nil when none does.
func (s *point) fallback() *point {
	f := s.node.Failure
	if f == nil || f.Action != "fallback" {
		return nil
	}
	return s.graph.byID[f.Node.Name]
}

// rescues reports whether a step is the fallback of another.
func (s *point) rescues() bool {
	for _, other := range s.graph.points {
		if other.fallback() == s {
			return true
		}
	}
	return false
}

// rescues puts fallbacks after the nodes that they stand in for. The engine does not, so that one which comes earlier in
// its order never runs, and one that no edge leads to always does.
func (p *parser) rescues(b *graph) {
	for _, s := range b.points {
		to := s.fallback()
		if to == nil {
			continue
		}
		at := s.node.Failure.Node.Span
		if to == s || b.leads(to, s, map[*point]bool{}) {
			p.Report(diag.Diagnostic{Severity: diag.Warning, Code: diag.UnknownName, Span: at,
				Message: fmt.Sprintf("%q runs before %q: it cannot run instead of it", to.node.ID.Name, s.node.ID.Name)})
			continue
		}
		if p.tree.Upstream {
			if len(to.in) == 0 {
				p.Report(diag.Diagnostic{Severity: diag.Note, Code: diag.DialectDiffers, Span: at,
					Message: fmt.Sprintf("no edge leads to %q, so that it always runs in the engine; by the pages it runs when %q fails", to.node.ID.Name, s.node.ID.Name)})
			}
			continue
		}
		if len(to.in) == 0 {
			p.Report(diag.Diagnostic{Severity: diag.Note, Code: diag.DialectDiffers, Span: at,
				Message: fmt.Sprintf("%q runs when %q fails; in the engine it always runs, as no edge leads to it", to.node.ID.Name, s.node.ID.Name)})
		}
		b.link(&link{from: s, to: to, at: at})
	}
}

// leads reports whether one step comes after another.
func (b *graph) leads(from, to *point, seen map[*point]bool) bool {
	if from == to {
		return true
	}
	seen[from] = true
	for _, a := range from.out {
		if !seen[a.to] && b.leads(a.to, to, seen) {
			return true
		}
	}
	return false
}

// always reports whether a step of a SirenSpec workflow runs whatever its conditions say: nothing leads to it, or something
// that always runs and always goes on does without a condition.
func (s *point) always() bool {
	if len(s.in) == 0 {
		return true
	}
	for _, a := range s.in {
		if a.route != nil && a.route.When == nil && a.from.goesOn() && a.from.always() {
			return true
		}
	}
	return false
}

// goesOn reports whether the edges of a step are looked at when it fails and the run does not end.
func (s *point) goesOn() bool {
	f := s.node.Failure
	return f == nil || f.Action != "fallback"
}
