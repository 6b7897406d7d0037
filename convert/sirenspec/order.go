package sirenspec

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/sirenspec"
)

// leads are what makes a node run: an edge, the failure of a node that it stands in for, or its place in the file.
func (s *siren) leads(n *sirenspec.Node) (list []convert.Lead[*sirenspec.Node]) {
	add := func(from *sirenspec.Node, sure, route, fail bool) {
		list = append(list, convert.Lead[*sirenspec.Node]{From: from, Sure: sure && s.fallback(from) == nil && !(route && s.goesOn(from)), Fail: fail})
	}
	for _, r := range n.Routes {
		if from := s.nodes[r.From.Name]; from != nil {
			add(from, r.When == nil, true, false)
		}
	}
	for _, from := range s.order {
		if s.fallback(from) == n {
			add(from, false, false, true)
		}
	}
	for _, from := range s.extra[n] {
		add(from, true, false, false)
	}
	if w := s.late[n]; w != nil {
		list = append(list, convert.Lead[*sirenspec.Node]{From: w, Late: true})
	}
	return list
}

// fallback is the node that runs instead of one that fails; nil when none does.
func (s *siren) fallback(n *sirenspec.Node) *sirenspec.Node {
	f := n.Failure
	if f == nil || f.Action != "fallback" || s.tree.Upstream {
		return nil
	}
	if to := s.nodes[f.Node.Name]; to != nil && s.at(to) > s.at(n) {
		return to
	}
	return nil
}

// skipped reports whether a node that fails leaves nothing, and the run goes on.
func (s *siren) skipped(n *sirenspec.Node) bool {
	if f := n.Failure; f != nil && (f.Action == "skip" || f.Action == "fallback") {
		return true
	}
	h, ok := n.Verb.(*ir.Human)
	return ok && h.OnTimeout != nil && h.OnTimeout.Kind == ir.OnErrorSkip
}

// chain puts nodes that no edge leads to after those whose words they receive, as the engine's order does.
func (s *siren) chain() {
	for _, n := range s.tree.Nodes {
		texts(n, func(r *dialect.Reference) {
			for _, p := range s.producers(r) {
				s.read[p.node] = true
			}
		})
		for _, r := range n.Routes {
			s.reads(r.When)
		}
	}
	if !slices.ContainsFunc(s.tree.Nodes, func(n *sirenspec.Node) bool { return len(n.Routes) > 0 }) && len(s.order) > 1 {
		for i, n := range s.order[1:] { // without edges one runs after the other
			if len(s.leads(n)) == 0 {
				s.extra[n] = append(s.extra[n], s.before(i+1))
			}
		}
		return
	}
	for i, n := range s.order {
		if len(s.leads(n)) > 0 && !s.flow.Always(n) {
			s.delay(n) // a further edge would make it run
			continue
		}
		needs := s.needs(n)
		for j := i - 1; j >= 0; j-- {
			if m := s.order[j]; s.flow.Always(m) && slices.Contains(needs, m) && !s.flow.Before(m, n) {
				s.extra[n] = append(s.extra[n], m)
			}
		}
	}
}

// reads notes the tools whose results a condition looks at.
func (s *siren) reads(p *dialect.Predicate) {
	if p == nil {
		return
	}
	if p.Op == "ref" {
		for _, of := range s.producers(p.Ref) {
			s.read[of.node] = true
		}
	}
	for _, k := range p.Kids {
		s.reads(k)
	}
}

// delay lets the edges to a node that may not run begin at one that always does and speaks before it in the engine's order. Their
// conditions mean the same there: what they are about has run.
func (s *siren) delay(n *sirenspec.Node) {
	needs := s.needs(n)
	for i := s.at(n) - 1; i >= 0; i-- {
		w := s.order[i]
		if !slices.Contains(needs, w) || s.flow.Before(w, n) {
			continue
		}
		if s.flow.Always(w) && !slices.ContainsFunc(s.leads(n), func(l convert.Lead[*sirenspec.Node]) bool {
			return l.Fail || !s.flow.Always(l.From) || !s.flow.Before(l.From, w)
		}) {
			s.late[n] = w
		}
		return
	}
}

// before is the node that runs before the one at a place of the order and always does.
func (s *siren) before(i int) *sirenspec.Node {
	for i--; i > 0 && (!s.flow.Always(s.order[i]) || s.fallback(s.order[i]) != nil); i-- {
	}
	return s.order[i]
}

// needs are the nodes whose results a node reads, and the one that speaks last before it.
func (s *siren) needs(n *sirenspec.Node) []*sirenspec.Node {
	var out []*sirenspec.Node
	if isAgent(n) {
		for i := s.at(n) - 1; i >= 0; i-- {
			if m := s.order[i]; speaks(m) && !s.never(m) {
				out = append(out, m)
				if s.flow.Always(m) && !s.skipped(m) {
					break
				}
			}
		}
	}
	if s.memory != nil && n != s.memory.node && len(n.Routes) == 0 {
		out = append(out, s.memory.node)
	}
	if s.usesMemory(n) {
		for _, m := range s.order[:s.at(n)] {
			if s.usesMemory(m) && (s.remembers(m) || s.remembers(n)) {
				out = append(out, m)
			}
		}
	}
	texts(n, func(r *dialect.Reference) {
		for _, m := range s.tree.Nodes {
			if _, ok := s.gives(m, r.Root, r.Path); ok && m != n {
				out = append(out, m)
			}
		}
	})
	return out
}

// texts calls f for the references of what a node is told and called with.
func texts(n *sirenspec.Node, f func(*dialect.Reference)) {
	list := []*dialect.Mixed{n.System, n.Prompt}
	if n.Request != nil {
		list = append(list, n.Request.URL, n.Request.Body)
		for _, h := range n.Request.Headers {
			list = append(list, h.Value)
		}
	}
	for _, t := range list {
		if t != nil {
			dialect.ValueReferences(t, f)
		}
	}
	if n.Args != nil {
		dialect.ValueReferences(n.Args, f)
	}
	switch v := n.Verb.(type) {
	case *sirenspec.Swarm:
		for _, a := range v.Nodes {
			texts(a, f)
		}
	case *sirenspec.Factory:
		dialect.ValueReferences(v.Over, f)
		texts(v.Do, f)
	}
}

func isAgent(n *sirenspec.Node) bool {
	_, is := n.Verb.(*ir.LLM)
	return is
}

// speaks reports whether the next agent receives what a node returns.
func speaks(n *sirenspec.Node) bool {
	switch n.Verb.(type) {
	case *ir.LLM, *ir.Human, *sirenspec.Swarm, *sirenspec.Factory, *ir.Flow:
		return len(n.Writes) > 0
	}
	return false
}

// told is what an agent receives: the text of the node that has spoken last, or else the message.
func (s *siren) told(n *sirenspec.Node) string {
	var last []*sirenspec.Node // the latest first
	sure := false
	for i := s.at(n) - 1; i >= 0 && !sure; i-- {
		m := s.order[i]
		if !speaks(m) || s.exclusive(m, n) || s.fallback(m) == n || s.never(m) {
			continue
		}
		if !s.flow.Before(m, n) {
			s.Refuse(n.ID.Span, "add an edge from "+m.ID.Name+" to "+n.ID.Name, "which agent speaks last before %s depends on the order of the engine: no edge leads there from %s", n.ID.Name, m.ID.Name)
			return "input.message"
		}
		last = append(last, m)
		sure = s.flow.Left(m, n)
	}
	if k := len(s.leads(n)); !sure && k > 1 || len(last) > k && k > 1 {
		if latest := last[:min(k, len(last))]; s.cover(latest) && s.covers(latest, n) {
			last, sure = slices.Clone(latest), true
			slices.Reverse(last)
		}
	}
	var parts []string
	for _, m := range last {
		switch m.Verb.(type) {
		case *sirenspec.Swarm, *sirenspec.Factory, *ir.Flow: // a list or a dict as Python writes it
			shown := s.Shown(s.said(m), schema.AnyType)
			parts = append(parts, strings.TrimSuffix(strings.TrimPrefix(shown, "{{ "), " }}"))
			continue
		}
		if collides(m) {
			parts = append(parts, s.kept(m))
			continue
		}
		parts = append(parts, s.said(m))
	}
	switch {
	case len(parts) == 0:
		return "input.message"
	case len(parts) == 1 && sure:
		return parts[0]
	case !sure:
		parts = append(parts, "input.message")
	}
	return "first(" + strings.Join(parts, ", ") + ")"
}

// cover reports whether nodes exclude each other.
func (s *siren) cover(list []*sirenspec.Node) bool {
	for i, m := range list {
		for _, other := range list[i+1:] {
			if !s.exclusive(m, other) && s.fallback(m) != other && s.fallback(other) != m {
				return false
			}
		}
	}
	return len(list) > 1
}

// covers reports whether one of the nodes has spoken whenever n runs: all that leads to n comes from them.
func (s *siren) covers(list []*sirenspec.Node, n *sirenspec.Node) bool {
	leads := s.leads(n)
	return len(leads) > 0 && !slices.ContainsFunc(n.Routes, func(r *dialect.Route) bool { return r.When != nil }) &&
		!slices.ContainsFunc(leads, func(l convert.Lead[*sirenspec.Node]) bool {
			return !slices.Contains(list, l.From) || s.skipped(l.From) && s.fallback(l.From) == nil
		})
}

// cases are the comparisons with constants that hold whenever a node runs, by the place that is compared.
func (s *siren) cases(n *sirenspec.Node) map[string][]string {
	out := map[string][]string{}
	for len(n.Routes) == 1 && s.nodes[n.Routes[0].From.Name] != nil {
		r := n.Routes[0]
		if w := r.When; w != nil && (w.Op == "==" || w.Op == "!=") && w.Kids[0].Op == "ref" && w.Kids[1].Op == "const" && w.Kids[1].Lit.Tag == "!!str" { // 1 equals 1.0 and true
			place := w.Kids[0].Ref.Root + "." + strings.Join(w.Kids[0].Ref.Path, ".")
			out[place] = append(out[place], w.Op+w.Kids[1].Lit.Text.Value)
		}
		n = s.nodes[r.From.Name]
	}
	return out
}

// exclusive reports whether two nodes never run in one run: the same place has another value for each.
func (s *siren) exclusive(a, b *sirenspec.Node) bool {
	other := s.cases(b)
	for place, list := range s.cases(a) {
		for _, v := range list {
			for _, w := range other[place] {
				if v[:2] == "==" && w[:2] == "==" && v != w || v[:2] != w[:2] && v[2:] == w[2:] {
					return true
				}
			}
		}
	}
	return false
}
