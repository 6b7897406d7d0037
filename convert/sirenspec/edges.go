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
			b.Edges = append(b.Edges, s.way(from, n, source.Span{}, true)...)
		}
	}
	for _, r := range routes {
		from, to := s.nodes[r.From.Name], s.nodes[r.To.Name]
		if s.late[to] != nil {
			b.Edges = append(b.Edges, s.delayed(r, from, to)...)
			continue
		}
		if r.When == nil {
			b.Edges = append(b.Edges, s.way(from, to, r.Span, false)...)
			continue
		}
		if !s.typed(r.When, from) {
			s.question(r, from, to)
			continue
		}
		when, alone := s.test(r.When, from)
		if s.goesOn(from) {
			alone = alone || s.guardedSkip(from)
			when = s.withResult(from, when)
		}
		for i, target := range s.entrances(to) {
			at := r.Span
			if i > 0 {
				at = source.Span{}
			}
			b.Edges = append(b.Edges, convert.When(s.ends(from), target, when, at))
			if id := s.id(from); s.guardedSkip(from) && !alone {
				b.Edges = append(b.Edges, convert.When(id, target, id+" == null && ("+when+")", source.Span{}))
			}
		}
	}
}

// question writes an edge whose condition looks at values whose types only a run knows.
func (s *siren) question(r *dialect.Route, from, to *sirenspec.Node) {
	q := &question{siren: s, at: from, name: s.IDs[to.ID.Name] + "_when"}
	when := q.holds(r.When, false)
	if when == "" || s.skipped(from) || from.Skips {
		s.Refuse(r.When.Span, "compare one value with a constant or another value in each part, or compute the rest in a node before it", "this condition is not converted")
		return
	}
	if when == "true" || when == "false" {
		for _, n := range q.nodes {
			delete(s.asks, n.ID.Name)
		}
		q.nodes = nil
	}
	at := r.Span
	for i, target := range s.entrances(to) {
		if i == 0 {
			q.put(target)
		}
		last := s.ends(from)
		if n := len(q.nodes); n > 0 {
			last = q.nodes[n-1].ID.Name
		}
		s.Out.Body.Edges = append(s.Out.Body.Edges, convert.When(last, target, when, at))
		at = source.Span{}
	}
}

// delayed are the edges of a route that begin at a later node than its own.
func (s *siren) delayed(r *dialect.Route, from, to *sirenspec.Node) (out []*ir.Edge) {
	var parts []string
	if s.skipped(from) && (s.goesOn(from) || s.fallback(from) != nil || r.When != nil) {
		parts = append(parts, s.said(from)+" != null")
	}
	if r.When != nil && !s.typed(r.When, from) {
		s.Refuse(r.When.Span, "let no other agent speak between "+from.ID.Name+" and "+to.ID.Name, "this condition is not converted, as what %s receives depends on the order of the engine", to.ID.Name)
	} else if r.When != nil {
		when, _ := s.test(r.When, from)
		if r.When.Op == "||" {
			when = "(" + when + ")"
		}
		parts = append(parts, when)
	}
	for i, t := range s.entrances(to) {
		at := r.Span
		if i > 0 {
			at = source.Span{}
		}
		late, when := s.late[to], strings.Join(parts, " && ")
		out = append(out, convert.When(s.ends(late), t, when, at))
		if id := s.id(late); s.guardedSkip(late) {
			out = append(out, convert.When(id, t, id+" == null && "+when, source.Span{}))
		}
	}
	return out
}

// withResult is a condition of an edge that a node which fails does not lead on by.
func (s *siren) withResult(n *sirenspec.Node, when string) string {
	if s.guardedSkip(n) || strings.HasPrefix(when, s.id(n)+" != null && ") {
		return when // what looks at its answer runs only when there is one
	}
	return s.id(n) + " != null && (" + when + ")"
}

// guardedSkip reports whether nodes look at the answer of an agent that may be skipped: they run only when there is one.
func (s *siren) guardedSkip(n *sirenspec.Node) bool {
	f := n.Failure
	return isAgent(n) && f != nil && (f.Action == "skip" || s.goesOn(n)) && len(s.guards(n, true)) > 0 && !s.rechecked(n)
}

// inner are the edges between the nodes that one has become; made is false for one that stays one.
func (s *siren) inner(n *sirenspec.Node) (out []*ir.Edge, made bool) {
	out, made = s.parted(n)
	if s.remembers(n) {
		return append(out, convert.Edge(s.speaks(n), source.Span{}, s.remembered(n))), true
	}
	return out, made
}

// parted is inner without what writes to the memory.
func (s *siren) parted(n *sirenspec.Node) (out []*ir.Edge, made bool) {
	switch v := n.Verb.(type) {
	case *ir.LLM:
		list := s.around(n)
		return list, len(list) > 0
	case *ir.Flow:
		return chained([]string{s.id(n), s.said(n)}), true
	case *ir.ToolChoice:
		return chained([]string{s.id(n), s.said(n)}), open(v)
	case *sirenspec.Factory:
		names := []string{s.each(n), s.IDs[n.ID.Name]}
		if id, ok := s.lists[n]; ok {
			names = append([]string{id}, names...)
		}
		return chained(names), true
	case *sirenspec.Swarm:
		var all []*ir.Edge
		last := s.IDs[n.ID.Name]
		if v.Last() != nil {
			out = append(s.around(v.Last()), convert.Edge(s.said(v.Last()), source.Span{}, last))
			last = s.begins(v.Last())
		}
		for _, a := range v.Agents() {
			if !s.silent(a) {
				out = append(out, s.around(a)...)
				all = append(all, convert.Edge(s.said(a), source.Span{}, last))
			}
		}
		return append(all, out...), true
	}
	return nil, false
}

// around are the edges between an agent and its guardrails.
func (s *siren) around(n *sirenspec.Node) (out []*ir.Edge) {
	if s.wrapped(n) {
		return nil // it is a node of its own
	}
	return s.guarded(n)
}

// guarded is around without regard to what is a node of its own.
func (s *siren) guarded(n *sirenspec.Node) (out []*ir.Edge) {
	var names []string
	id := s.id(n)
	for _, g := range s.guards(n, false) {
		names = append(names, g.id)
	}
	names = append(names, id)
	answer := s.guards(n, true)
	if s.rechecked(n) {
		answer = nil
	}
	for i, g := range answer {
		if i == 0 && s.guardedSkip(n) {
			out = append(chained(names), convert.When(id, g.id, id+" != null", source.Span{}))
			names = nil
		}
		names = append(names, g.id)
	}
	if collides(n) {
		names = append(names, s.kept(n))
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
		if !s.silent(a) {
			out = append(out, s.begins(a))
		}
	}
	return out
}

// ends is the last node of those that a node becomes.
func (s *siren) ends(n *sirenspec.Node) string {
	if s.remembers(n) {
		return s.remembered(n)
	}
	return s.speaks(n)
}

// speaks is the last node of those, before what it says is written to the memory.
func (s *siren) speaks(n *sirenspec.Node) string {
	if collides(n) {
		return s.kept(n)
	}
	return strings.TrimSuffix(s.said(n), ".said")
}

// way are the edges from a node to another that nothing bars, the first of them with a place in the file. ordered: they only
// say which comes first.
func (s *siren) way(from, to *sirenspec.Node, at source.Span, ordered bool) (out []*ir.Edge) {
	id := s.id(from)
	switch stops := !ordered && s.goesOn(from); {
	case stops && !s.guardedSkip(from):
		for _, t := range s.entrances(to) {
			out = append(out, convert.When(id, t, id+" != null", at))
			at = source.Span{}
		}
		return out
	case stops || !s.guardedSkip(from):
		return []*ir.Edge{convert.Edge(s.ends(from), at, s.entrances(to)...)}
	}
	for _, t := range s.entrances(to) {
		out = append(out, convert.Edge(s.ends(from), at, t), convert.When(id, t, id+" == null", source.Span{}))
		at = source.Span{}
	}
	return out
}

// test is a condition on what agents have said. alone: it does not hold when the node that the edge leads from has left nothing.
func (s *siren) test(p *dialect.Predicate, at *sirenspec.Node) (when string, alone bool) {
	c := convert.Condition{Converter: s.Converter, Help: "compare the text of an agent with a constant", Refusal: "this condition is not converted"}
	certain := asked(p, map[*dialect.Reference]bool{})
	var needs []string
	c.Place = func(r *dialect.Reference) (string, *schema.Type) {
		text, sure, ok := s.tested(r, at)
		if !ok || !sure && !certain[r] {
			return "", nil
		}
		if !sure {
			if p := s.producers(r)[0]; p.node == at && s.guardedSkip(at) {
				alone = true // the edge leads from a node that runs only when there is an answer
			} else if need := text + " != null"; !slices.Contains(needs, need) {
				needs = append(needs, need)
			}
		}
		return text, schema.StringType
	}
	when = c.Text(p)
	if len(needs) > 0 {
		if p.Op == "||" {
			when = "(" + when + ")"
		}
		when = strings.Join(append(needs, when), " && ")
	}
	return when, alone
}

// asked adds the references that a condition looks at whatever the others are, and without which it does not hold.
func asked(p *dialect.Predicate, to map[*dialect.Reference]bool) map[*dialect.Reference]bool {
	switch p.Op {
	case "ref":
		to[p.Ref] = true
	case "&&", "||":
		asked(p.Kids[0], to)
	case "==", "!=", "<", "<=", ">", ">=", "not", "call len":
		for _, k := range p.Kids {
			asked(k, to)
		}
	}
	return to
}

// tested is the text of an agent. sure: it has certainly said something when an edge out of at is looked at.
func (s *siren) tested(r *dialect.Reference, at *sirenspec.Node) (place string, sure, ok bool) {
	list := s.producers(r)
	if len(list) != 1 || list[0].typ != schema.StringType || r.Filter != "" {
		return "", false, false
	}
	p := list[0]
	if p.own && s.unsaid(p.node) || p.node != at && !s.flow.Before(p.node, at) {
		return "", false, false
	}
	return p.place, p.node == at && !s.skipped(at) || s.flow.Left(p.node, at), true
}
