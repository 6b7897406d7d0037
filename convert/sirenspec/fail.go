package sirenspec

import (
	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/convert/doc"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/sirenspec"
)

// unfilled is the first placeholder of a node that has no value in any run, so that the node is never called; nil: none.
func (s *siren) unfilled(n *sirenspec.Node) (first *dialect.Reference) {
	if _, call := n.Verb.(*ir.ToolCall); !call && !isAgent(n) {
		return nil
	}
	texts(n, func(r *dialect.Reference) {
		if first == nil && r.Filter == "" && s.missing(r) {
			first = r
		}
	})
	return first
}

// fail rewrites a node that is never called: it ends the run, and nothing comes after it.
func (s *siren) fail(n *sirenspec.Node, r *dialect.Reference) {
	for _, m := range s.tree.Nodes {
		for _, l := range s.leads(m) {
			if l.From == n {
				s.Refuse(r.Text.Span, "remove "+m.ID.Name, "%s always fails here, and %s never runs", n.ID.Name, m.ID.Name)
				return
			}
		}
	}
	message := "InterpolationError in '" + r.Text.Value + "': there is no such key"
	s.add(n, s.IDs[n.ID.Name], &ir.Fail{Message: convert.Text(doc.Braces(message), r.Text.Span), Code: "VALIDATION_ERROR"})
}
