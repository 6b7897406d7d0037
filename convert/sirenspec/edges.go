package sirenspec

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/sirenspec"
)

// edges are those of the workflow, one for one, after those between the nodes that one has become.
func (s *siren) edges() {
	b := &s.Out.Body
	on := map[*sirenspec.Node]bool{}
	var routes []*dialect.Route
	for _, n := range s.tree.Nodes {
		routes = append(routes, n.Routes...)
		for _, l := range s.leads(n) {
			on[l.From], on[n] = true, true
		}
	}
	slices.SortStableFunc(routes, func(a, b *dialect.Route) int { return a.Span.Lo - b.Span.Lo })
	for _, n := range s.tree.Nodes {
		if s.failed[n] != nil {
			continue // nothing comes after it
		}
		if inner, made := s.inner(n); made {
			b.Edges = append(b.Edges, inner...)
		} else if !on[n] && len(s.tree.Nodes) > 1 {
			b.Edges = append(b.Edges, convert.Edge(s.IDs[n.ID.Name], source.Span{}, "end"))
		}
	}
	for _, n := range s.order {
		for _, from := range s.extra[n] {
			b.Edges = append(b.Edges, s.way(from, n, source.Span{})...)
		}
	}
	for _, r := range routes {
		from, to := s.nodes[r.From.Name], s.nodes[r.To.Name]
		if r.When == nil {
			b.Edges = append(b.Edges, s.way(from, to, r.Span)...)
			continue
		}
		if s.guardedSkip(from) {
			s.Refuse(r.Span, "take the condition to a node of its own", "the condition of an edge out of %s, which may be skipped, is not converted", from.ID.Name)
		}
		for _, target := range s.entrances(to) {
			b.Edges = append(b.Edges, convert.When(s.ends(from), target, s.test(r.When, from), r.Span))
		}
	}
}

// guardedSkip reports whether nodes look at the answer of an agent that may be skipped: they run only when there is one.
func (s *siren) guardedSkip(n *sirenspec.Node) bool {
	f := n.Failure
	return isAgent(n) && f != nil && (f.Action == "skip" || s.goesOn(n)) && len(s.guards(n, true)) > 0
}

// inner are the edges between the nodes that one has become; made is false for one that stays one.
func (s *siren) inner(n *sirenspec.Node) (out []*ir.Edge, made bool) {
	switch v := n.Verb.(type) {
	case *ir.LLM:
		list := s.around(n)
		return list, len(list) > 0
	case *sirenspec.Swarm:
		var all []*ir.Edge
		last := s.IDs[n.ID.Name]
		if v.Last() != nil {
			out, last = s.around(v.Last()), s.begins(v.Last())
		}
		for _, a := range v.Agents() {
			out = append(out, s.around(a)...)
			all = append(all, convert.Edge(s.said(a), source.Span{}, last))
		}
		return append(out, all...), true
	}
	return nil, false
}

// around are the edges between an agent and its guardrails.
func (s *siren) around(n *sirenspec.Node) (out []*ir.Edge) {
	var names []string
	id := s.id(n)
	for _, g := range s.guards(n, false) {
		names = append(names, g.id)
	}
	names = append(names, id)
	for i, g := range s.guards(n, true) {
		if i == 0 && s.guardedSkip(n) {
			out = append(chained(names), convert.When(id, g.id, id+" != null", source.Span{}))
			names = nil
		}
		names = append(names, g.id)
	}
	return append(out, chained(names)...)
}

// chained are edges from each of the nodes to the next.
func chained(names []string) (out []*ir.Edge) {
	for i := 1; i < len(names); i++ {
		out = append(out, convert.Edge(names[i-1], source.Span{}, names[i]))
	}
	return out
}

// entrances are the nodes that an edge to a node leads to.
func (s *siren) entrances(n *sirenspec.Node) (out []string) {
	v, ok := n.Verb.(*sirenspec.Swarm)
	if !ok {
		return []string{s.begins(n)}
	}
	for _, a := range v.Agents() {
		out = append(out, s.begins(a))
	}
	return out
}

// ends is the last node of those that a node becomes.
func (s *siren) ends(n *sirenspec.Node) string { return strings.TrimSuffix(s.said(n), ".said") }

// way are the edges from a node to another that nothing bars, the first of them with a place in the file.
func (s *siren) way(from, to *sirenspec.Node, at source.Span) (out []*ir.Edge) {
	if !s.guardedSkip(from) {
		return []*ir.Edge{convert.Edge(s.ends(from), at, s.entrances(to)...)}
	}
	id := s.IDs[from.ID.Name]
	for _, t := range s.entrances(to) {
		out = append(out, convert.Edge(s.ends(from), at, t), convert.When(id, t, id+" == null", source.Span{}))
		at = source.Span{}
	}
	return out
}

// test is a condition on what agents have said.
func (s *siren) test(p *dialect.Predicate, at *sirenspec.Node) string {
	c := convert.Condition{Converter: s.Converter, Help: "compare the text of an agent with a constant", Refusal: "this condition is not converted"}
	c.Place = func(r *dialect.Reference) (string, *schema.Type) {
		if text, ok := s.tested(r, at); ok {
			return text, schema.StringType
		}
		return "", nil
	}
	return c.Text(p)
}

// tested is the text of an agent that has certainly said something when an edge out of at is looked at.
func (s *siren) tested(r *dialect.Reference, at *sirenspec.Node) (string, bool) {
	list := s.producers(r)
	if len(list) != 1 || list[0].typ != schema.StringType || r.Filter != "" {
		return "", false
	}
	p := list[0]
	if p.own && s.unsaid(p.node) {
		return "", false
	}
	return p.place, p.node == at && !s.skipped(at) || s.flow.Left(p.node, at)
}
