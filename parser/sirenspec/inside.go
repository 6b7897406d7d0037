package sirenspec

import (
	"fmt"
	"slices"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// resultKeys are the names below a node's own that its result has.
func resultKeys(n *Node) []string {
	switch n.Verb.(type) {
	case *Swarm:
		return []string{"output", "agents"}
	case *Factory:
		return []string{"output", "outputs"}
	}
	if k := n.OutputKey; k != "" {
		return []string{k}
	}
	return []string{"output"}
}

// insideReferences calls f for every reference of what is inside of a node; own says that the result of the node's agents
// is there by then.
func insideReferences(n *Node, f func(r *dialect.Reference, own bool)) {
	switch v := n.Verb.(type) {
	case *Swarm:
		for _, x := range v.Agents() {
			nodeReferences(x, func(r *dialect.Reference) { f(r, false) })
		}
		if last := v.Last(); last != nil {
			nodeReferences(last, func(r *dialect.Reference) { f(r, true) })
		}
	case *Factory:
		if v.Over != nil {
			dialect.ValueReferences(v.Over, func(r *dialect.Reference) { f(r, false) })
		}
		nodeReferences(v.Do, func(r *dialect.Reference) { f(r, false) })
		insideReferences(v.Do, f)
	}
}

// ownValue checks a reference inside of a node to the node's own result: a synthesis is told what the agents said, and
// nobody else is.
func (p *parser) ownValue(r *dialect.Reference, s *point, own bool) {
	switch {
	case r.Filter != "":
	case own && len(r.Path) > 2 && r.Path[1] == "agents" && !slices.Contains(agentIDs(s.node), r.Path[2]):
		p.noAgent(r, s)
	case own && (len(r.Path) < 2 || r.Path[1] == "agents"):
	default:
		d := diag.Diagnostic{Severity: diag.Warning, Code: diag.UnknownName, Span: r.Text.Span,
			Message: fmt.Sprintf("%q has no result yet: the node fails when it runs", r.Path[0])}
		if _, ok := s.node.Verb.(*Swarm); ok && !own {
			d.Message = fmt.Sprintf("the agents of %q are asked in parallel, and none of them sees the answer of another one: the node fails when it runs", r.Path[0])
			d.Help = "ask about it in `synthesis`"
		}
		p.Report(d)
	}
}

// noAgent warns about a reference to an agent that a swarm does not have.
func (p *parser) noAgent(r *dialect.Reference, s *point) {
	d := diag.Diagnostic{Severity: diag.Warning, Code: diag.UnknownName, Span: r.Text.Span, Message: fmt.Sprintf("%q has no agent %q: the node fails when it runs", r.Path[0], r.Path[2])}
	if p.Sink.Errors() <= maxSuggested {
		diag.Suggest(&d, r.Path[2], agentIDs(s.node))
		d.Fixes = nil // the reference is more than the name
	}
	p.Report(d)
}

// agentIDs are the names of the agents of a swrm, also of a factory's.
func agentIDs(n *Node) []string {
	var ids []string
	switch v := n.Verb.(type) {
	case *Swarm:
		for _, x := range v.Agents() {
			ids = append(ids, x.OutputKey)
		}
	case *Factory:
		ids = append(ids, agentIDs(v.Do)...)
	}
	return ids
}
