package convert

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// edges writes the edges, one for one, and those between the nodes that one has become.
func (s *siren) edges() *list {
	l := &list{}
	on := map[string]bool{}
	var routes []*ir.Route
	for _, n := range s.wf.Body.Nodes {
		routes = append(routes, n.Dynamic.Routes...)
		for _, ld := range s.leads(n) {
			on[ld.from.ID.Name], on[n.ID.Name] = true, true
		}
	}
	slices.SortStableFunc(routes, func(a, b *ir.Route) int { return a.Span.Lo - b.Span.Lo })
	for _, n := range s.wf.Body.Nodes {
		if inner := s.inner(n); inner != nil {
			for _, e := range inner {
				l.add(e, source.Span{})
			}
		} else if !on[n.ID.Name] && len(s.wf.Body.Nodes) > 1 {
			l.add(scalar(s.ids[n.ID.Name]+" -> end"), source.Span{})
		}
	}
	for _, n := range s.order {
		for _, from := range s.extra[n] {
			for _, e := range s.way(from, n) {
				l.add(e, source.Span{})
			}
		}
	}
	for _, r := range routes {
		from, to := s.nodes[r.From.Name], s.nodes[r.To.Name]
		if r.When == nil {
			for i, e := range s.way(from, to) {
				at := r.Span
				if i > 0 {
					at = source.Span{}
				}
				l.add(e, at)
			}
			continue
		}
		if s.guardedSkip(from) {
			s.refuse(r.Span, "take the condition to a node of its own", "the condition of an edge out of %s, which may be skipped, is not converted", from.ID.Name)
		}
		for _, target := range s.entrances(to) {
			l.add(flow(pair("from", scalar(s.ends(from))), pair("to", scalar(target)), pair("when", scalar(condition(s.test(r.When, from))))), r.Span)
		}
	}
	return s.joined(l)
}

// joined writes edges that follow each other as one.
func (s *siren) joined(l *list) *list {
	out := &list{}
	for _, e := range l.items {
		text, plain := e.value.(scalar)
		if n := len(out.items); plain && n > 0 && e.from.IsZero() && out.items[n-1].from.IsZero() {
			if before, ok := out.items[n-1].value.(scalar); ok {
				from, rest, _ := strings.Cut(string(text), " -> ")
				if strings.HasSuffix(string(before), "-> "+from) && !strings.Contains(string(before)+string(text), ",") {
					out.items[n-1].value = before + " -> " + scalar(rest)
					continue
				}
			}
		}
		out.items = append(out.items, e)
	}
	return out
}

// guardedSkip reports whether nodes look at the answer of an agent that may be skipped: they run only when there is one.
func (s *siren) guardedSkip(n *ir.Node) bool {
	f := n.Dynamic.Context.Failure
	return isAgent(n) && f != nil && f.Action == "skip" && len(s.guards(n, true)) > 0
}

// inner are the edges between the nodes that one has become; nil: it is one.
func (s *siren) inner(n *ir.Node) []value {
	switch v := n.Verb.(type) {
	case *ir.LLM:
		return s.around(n, s.ids[n.ID.Name])
	case *ir.Swarm:
		var out []value
		id := s.ids[n.ID.Name]
		last := id
		if v.Last() != nil {
			out = append(out, s.around(v.Last(), id)...)
			if g := s.guards(v.Last(), false); len(g) > 0 {
				last = g[0].id
			}
		}
		var all []string
		for _, a := range v.Agents() {
			out = append(out, s.around(a, s.voiceID(n, a))...)
			all = append(all, s.said(a))
		}
		return append(out, scalar(strings.Join(all, ", ")+" -> "+last))
	}
	return nil
}

// around are the edges between an agent and its guardrails.
func (s *siren) around(n *ir.Node, id string) []value {
	var names []string
	for _, g := range s.guards(n, false) {
		names = append(names, g.id)
	}
	names = append(names, id)
	var after []string
	for _, g := range s.guards(n, true) {
		after = append(after, g.id)
	}
	if !s.guardedSkip(n) {
		names, after = append(names, after...), nil
	}
	var out []value
	if len(names) > 1 {
		out = append(out, scalar(strings.Join(names, " -> ")))
	}
	if len(after) > 0 {
		out = append(out, flow(pair("from", scalar(id)), pair("to", scalar(after[0])), pair("when", scalar(id+" != null"))))
		if len(after) > 1 {
			out = append(out, scalar(strings.Join(after, " -> ")))
		}
	}
	return out
}

// entrances are the nodes that an edge to a node leads to.
func (s *siren) entrances(n *ir.Node) []string {
	v, ok := n.Verb.(*ir.Swarm)
	if !ok {
		return []string{s.begins(n)}
	}
	var out []string
	for _, a := range v.Agents() {
		if g := s.guards(a, false); len(g) > 0 {
			out = append(out, g[0].id)
		} else {
			out = append(out, s.voiceID(n, a))
		}
	}
	return out
}

// ends is the last node of those that a node becomes.
func (s *siren) ends(n *ir.Node) string { return strings.TrimSuffix(s.said(n), ".said") }

// way are the edges from a node to another that nothing bars.
func (s *siren) way(from, to *ir.Node) []value {
	targets := strings.Join(s.entrances(to), ", ")
	if !s.guardedSkip(from) {
		return []value{scalar(s.ends(from) + " -> " + targets)}
	}
	var out []value
	for _, t := range s.entrances(to) {
		id := s.ids[from.ID.Name]
		out = append(out, scalar(s.ends(from)+" -> "+t), flow(pair("from", scalar(id)), pair("to", scalar(t)), pair("when", scalar(id+" == null"))))
	}
	return out
}

// test is a condition on what agents have said.
func (s *siren) test(p *ir.Predicate, at *ir.Node) string {
	switch p.Op {
	case "&&", "||":
		side := func(kid *ir.Predicate) string {
			if kid.Op == "||" && p.Op == "&&" {
				return "(" + s.test(kid, at) + ")"
			}
			return s.test(kid, at)
		}
		return side(p.Kids[0]) + " " + p.Op + " " + side(p.Kids[1])
	case "==", "!=":
		if p.Kids[0].Op == "ref" && p.Kids[1].Op == "const" && p.Kids[1].Lit.Tag == "!!str" {
			if text, ok := s.tested(p.Kids[0].Ref, at); ok {
				return text + " " + p.Op + " " + escaped(p.Kids[1].Lit.Text.Value)
			}
		}
	case "const":
		if p.Lit.Tag == "!!bool" {
			return strings.ToLower(p.Lit.Text.Value)
		}
	}
	s.refuse(p.Span, "compare the text of an agent with a constant", "this condition is not converted")
	return "true"
}

// tested is the text of an agent that has certainly said something when an edge out of at is looked at.
func (s *siren) tested(r *ir.Reference, at *ir.Node) (string, bool) {
	list := s.producers(r)
	if len(list) != 1 || list[0].what != holdsText || r.Filter != "" {
		return "", false
	}
	p := list[0]
	if p.own && s.unsaid(p.node) {
		return "", false
	}
	return p.place, p.node == at && !s.skipped(at) || s.dominates(p.node, at)
}
