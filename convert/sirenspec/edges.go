package sirenspec

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/convert/doc"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/sirenspec"
)

// edges writes the edges, one for one, and those between the nodes that one has become.
func (s *siren) edges() *doc.List {
	l := &doc.List{}
	on := map[string]bool{}
	var routes []*dialect.Route
	for _, n := range s.tree.Nodes {
		routes = append(routes, n.Routes...)
		for _, ld := range s.leads(n) {
			on[ld.from.ID.Name], on[n.ID.Name] = true, true
		}
	}
	slices.SortStableFunc(routes, func(a, b *dialect.Route) int { return a.Span.Lo - b.Span.Lo })
	for _, n := range s.tree.Nodes {
		if inner := s.inner(n); inner != nil {
			for _, e := range inner {
				l.Add(e, source.Span{})
			}
		} else if !on[n.ID.Name] && len(s.tree.Nodes) > 1 {
			l.Add(doc.Scalar(s.IDs[n.ID.Name]+" -> end"), source.Span{})
		}
	}
	for _, n := range s.order {
		for _, from := range s.extra[n] {
			for _, e := range s.way(from, n) {
				l.Add(e, source.Span{})
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
				l.Add(e, at)
			}
			continue
		}
		if s.guardedSkip(from) {
			s.Refuse(r.Span, "take the condition to a node of its own", "the condition of an edge out of %s, which may be skipped, is not converted", from.ID.Name)
		}
		for _, target := range s.entrances(to) {
			l.Add(doc.Flow(doc.Pair("from", doc.Scalar(s.ends(from))), doc.Pair("to", doc.Scalar(target)), doc.Pair("when", doc.Scalar(convert.Condition(s.test(r.When, from))))), r.Span)
		}
	}
	return s.joined(l)
}

// joined writes edges that follow each other as one.
func (s *siren) joined(l *doc.List) *doc.List {
	out := &doc.List{}
	for _, e := range l.Items {
		text, plain := e.Value.(doc.Scalar)
		if n := len(out.Items); plain && n > 0 && e.From.IsZero() && out.Items[n-1].From.IsZero() {
			if before, ok := out.Items[n-1].Value.(doc.Scalar); ok {
				from, rest, _ := strings.Cut(string(text), " -> ")
				if strings.HasSuffix(string(before), "-> "+from) && !strings.Contains(string(before)+string(text), ",") {
					out.Items[n-1].Value = before + " -> " + doc.Scalar(rest)
					continue
				}
			}
		}
		out.Items = append(out.Items, e)
	}
	return out
}

// guardedSkip reports whether nodes look at the answer of an agent that may be skipped: they run only when there is one.
func (s *siren) guardedSkip(n *sirenspec.Node) bool {
	f := n.Failure
	return isAgent(n) && f != nil && f.Action == "skip" && len(s.guards(n, true)) > 0
}

// inner are the edges between the nodes that one has become; nil: it is one.
func (s *siren) inner(n *sirenspec.Node) []doc.Value {
	switch v := n.Verb.(type) {
	case *ir.LLM:
		return s.around(n, s.IDs[n.ID.Name])
	case *sirenspec.Swarm:
		var out []doc.Value
		id := s.IDs[n.ID.Name]
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
		return append(out, doc.Scalar(strings.Join(all, ", ")+" -> "+last))
	}
	return nil
}

// around are the edges between an agent and its guardrails.
func (s *siren) around(n *sirenspec.Node, id string) []doc.Value {
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
	var out []doc.Value
	if len(names) > 1 {
		out = append(out, doc.Scalar(strings.Join(names, " -> ")))
	}
	if len(after) > 0 {
		out = append(out, doc.Flow(doc.Pair("from", doc.Scalar(id)), doc.Pair("to", doc.Scalar(after[0])), doc.Pair("when", doc.Scalar(id+" != null"))))
		if len(after) > 1 {
			out = append(out, doc.Scalar(strings.Join(after, " -> ")))
		}
	}
	return out
}

// entrances are the nodes that an edge to a node leads to.
func (s *siren) entrances(n *sirenspec.Node) []string {
	v, ok := n.Verb.(*sirenspec.Swarm)
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
func (s *siren) ends(n *sirenspec.Node) string { return strings.TrimSuffix(s.said(n), ".said") }

// way are the edges from a node to another that nothing bars.
func (s *siren) way(from, to *sirenspec.Node) []doc.Value {
	targets := strings.Join(s.entrances(to), ", ")
	if !s.guardedSkip(from) {
		return []doc.Value{doc.Scalar(s.ends(from) + " -> " + targets)}
	}
	var out []doc.Value
	for _, t := range s.entrances(to) {
		id := s.IDs[from.ID.Name]
		out = append(out, doc.Scalar(s.ends(from)+" -> "+t), doc.Flow(doc.Pair("from", doc.Scalar(id)), doc.Pair("to", doc.Scalar(t)), doc.Pair("when", doc.Scalar(id+" == null"))))
	}
	return out
}

// test is a condition on what agents have said.
func (s *siren) test(p *dialect.Predicate, at *sirenspec.Node) string {
	switch p.Op {
	case "&&", "||":
		side := func(kid *dialect.Predicate) string {
			if kid.Op == "||" && p.Op == "&&" {
				return "(" + s.test(kid, at) + ")"
			}
			return s.test(kid, at)
		}
		return side(p.Kids[0]) + " " + p.Op + " " + side(p.Kids[1])
	case "==", "!=":
		if p.Kids[0].Op == "ref" && p.Kids[1].Op == "const" && p.Kids[1].Lit.Tag == "!!str" {
			if text, ok := s.tested(p.Kids[0].Ref, at); ok {
				return text + " " + p.Op + " " + doc.Escaped(p.Kids[1].Lit.Text.Value)
			}
		}
	case "const":
		if p.Lit.Tag == "!!bool" {
			return strings.ToLower(p.Lit.Text.Value)
		}
	}
	s.Refuse(p.Span, "compare the text of an agent with a constant", "this condition is not converted")
	return "true"
}

// tested is the text of an agent that has certainly said something when an edge out of at is looked at.
func (s *siren) tested(r *dialect.Reference, at *sirenspec.Node) (string, bool) {
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
