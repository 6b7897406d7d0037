package yamlgraph

import (
	"slices"

	"github.com/flowgen-dev/flowgen/ir/diag"
)

// endless warns about a graph that always goes on: each node that is reached hands on in any case, and none to END.
func (p *parser) endless(o *order, reached map[*Node]bool) {
	for n := range reached {
		if p.Sink.HasErrors() || len(o.after[n]) == 0 || n.mayEnd() {
			return
		}
	}
	p.Report(diag.Diagnostic{Severity: diag.Warning, Code: diag.Unreachable, Span: o.first[0].ID.Span,
		Message: "no edge leads to END: the run goes on until the limit of steps", Help: "add an edge to END with a condition"})
}

// mayEnd reports whether a run can end after a node that has exits.
func (n *Node) mayEnd() bool {
	t := n.Token
	if t.Limit > 0 || len(t.Before)+len(t.After) > 0 {
		return true
	}
	for _, e := range t.Exits {
		if e.To.Name == "" || e.When != nil || e.Spent { // when no condition holds the run ends, too
			return true
		}
	}
	if a := t.Ask; a != nil {
		return a.Limit > 0 || slices.ContainsFunc(a.Routes, func(r TokenRoute) bool { return r.To.Name == "" || r.To.Name == end }) || a.Other.Name == end
	}
	return false
}
