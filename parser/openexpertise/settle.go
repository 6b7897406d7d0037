package openexpertise

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// settle checks the experience and translates it, when the sources of its tools are known: that nodes have an order, and that
// what they read and write is declared. What its values are is known when it runs.
func (p *parser) settle(sink *diag.Sink) {
	p.Sink = sink
	p.counts()
	for _, n := range p.tree.Nodes {
		for _, r := range n.Routes {
			r.When.Refs(p.stateReference)
		}
		p.names(n)
	}
	o := p.order()
	sorted := !p.Cyclic(o)
	if sorted {
		for _, ph := range p.tree.Phases {
			if ph.Over != nil {
				p.stateReference(ph.Over)
				p.listField(ph.Over)
			}
			ph.Until.Refs(p.stateReference)
		}
		p.neverSet()
	}
	p.lower(o, sorted)
}

// order is the graph of the nodes.
func (p *parser) order() *dialect.Order {
	o := &dialect.Order{}
	at := map[string]int{}
	for i, n := range p.tree.Nodes {
		o.Nodes = append(o.Nodes, n.ID)
		at[n.ID.Name] = i
	}
	for i, n := range p.tree.Nodes {
		n.Routes = slices.DeleteFunc(n.Routes, func(r *dialect.Route) bool {
			_, known := at[r.From.Name]
			return !known // it was refused
		})
		for _, r := range n.Routes {
			o.Link(at[r.From.Name], i, r.To.Span)
		}
	}
	return o
}

// waves are the nodes of a phase in order: with a concurrency of one each alone, in the order of Kahn's algorithm over the
// order of the file, else as soon as all nodes that lead to them have ended, so many at a time in the order of the file.
func (p *parser) waves(ph *Phase, o *dialect.Order) [][]*Node {
	var out [][]*Node
	if ph.Kind != PhaseGraph {
		for _, n := range ph.Nodes {
			if slices.Contains(p.tree.Nodes, n) {
				out = append(out, []*Node{n})
			}
		}
		return out
	}
	in := map[int]bool{}
	for i, n := range p.tree.Nodes {
		in[i] = slices.Contains(ph.Nodes, n)
	}
	sorted := o.Kahn(in)
	level := o.Levels(sorted)
	var levels [][]*Node
	for _, i := range sorted {
		if p.tree.Concurrency <= 1 {
			out = append(out, []*Node{p.tree.Nodes[i]})
			continue
		}
		for len(levels) <= level[i] {
			levels = append(levels, nil)
		}
		levels[level[i]] = append(levels[level[i]], p.tree.Nodes[i])
	}
	at := func(n *Node) int { return slices.Index(p.tree.Nodes, n) }
	for _, wave := range levels {
		slices.SortFunc(wave, func(a, b *Node) int { return at(a) - at(b) })
		out = slices.AppendSeq(out, slices.Chunk(wave, p.tree.Concurrency))
	}
	return out
}

// names holds the names that a node reads and writes to those that the state declares.
func (p *parser) names(n *Node) {
	for _, id := range n.Reads {
		p.stateName(id, fmt.Sprintf("node %q reads undeclared state field %q", n.ID.Name, id.Name))
	}
	for _, id := range n.Writes {
		p.stateName(id, fmt.Sprintf("node %q writes undeclared state field %q", n.ID.Name, id.Name))
	}
	for _, w := range n.Whens {
		w.Refs(p.stateReference)
	}
	if n.Args != nil {
		dialect.ValueReferences(n.Args, p.stateReference)
	}
	if n.Prompt != nil {
		dialect.ValueReferences(n.Prompt, p.stateReference)
	}
	if n.Each != nil {
		p.stateReference(n.Each.Over)
		p.listField(n.Each.Over)
	}
}

func (p *parser) stateName(id ir.Ident, message string) {
	if p.field(id.Name) == nil {
		d := diag.Diagnostic{Code: diag.UnknownName, Span: id.Span, Message: message}
		p.suggest(&d, id.Name)
		p.Report(d)
	}
}

// suggest says which field of the state is meant, as long as somebody reads it.
func (p *parser) suggest(d *diag.Diagnostic, name string) {
	if p.Sink.Errors() > 100 {
		return
	}
	var names []string
	for _, s := range p.wf.State {
		names = append(names, s.Name.Name)
	}
	diag.Suggest(d, name, names)
}

// stateReference warns about a reference to a field that the state does not have: the engine takes it for a value that is
// missing, so that nobody hears of the mistake.
func (p *parser) stateReference(r *dialect.Reference) {
	if r.Root != "state" || len(r.Path) == 0 || p.field(r.Path[0]) != nil {
		return
	}
	d := dialect.NoField(r.Text.Span, r.Path[0])
	p.suggest(&d, r.Path[0])
	d.Fixes = nil // the reference is more than the name
	p.Report(d)
}

// listField reports a list that cannot be one.
func (p *parser) listField(r *dialect.Reference) {
	s := p.field(strings.Join(r.Path, "."))
	if r.Root != "state" || s == nil || s.Type.Kind == schema.List || s.Type.Kind == schema.Any {
		return
	}
	p.Report(dialect.NoList(diag.Error, r.Text.Span, s))
}
