package openexpertise

import (
	"slices"
	"time"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/openexpertise"
)

// policy says what an error does to a node: of a map, to the node inside.
func (x *experience) policy(u *unit, inner *ir.Node) {
	n, codes := u.node, x.failures(u)
	if n.Attempts > 1 {
		inner.Retry = &ir.Retry{Attempts: n.Attempts, Codes: convert.Names(codes...), Constant: !n.Double, Base: convert.Duration(max(n.Base, time.Millisecond))}
		if u.module == nil {
			inner.Retry.Codes = convert.Names(schema.ErrorCodes...)
		}
		if !n.Double && n.Attempts > 2 && n.Base > 0 {
			x.Note(n.ID.Span, "", "the engine waits longer before each attempt of %s; the native node waits %v each time", n.ID.Name, n.Base)
		}
		if most := n.Base << min(n.Attempts-2, 30); n.Double && most > 30*time.Second {
			inner.Retry.Cap = convert.Duration(most)
		}
	}
	for _, code := range codes {
		if n.Skips { // of a map, an item that fails is null among its results
			inner.Catch = append(inner.Catch, &ir.Catch{Code: convert.Name(code), Target: convert.Name("end")})
		}
	}
}

// did is that a node has run and done well, as the nodes after it ask: one that runs for each item, for all of them.
func (x *experience) did(n *openexpertise.Node, certain bool) string {
	id := x.IDs[n.ID.Name]
	one := x.variables().item
	switch all := id + ".all(" + one + ", " + one + " != null)"; {
	case !many(n):
		return id + " != null"
	case certain:
		return all
	default:
		return id + " != null && " + all
	}
}

// failures are the codes of errors that a node survives. What does not fit a declared type ends the run: that the native
// workflow is stricter must not become a node that is skipped without a word.
func (x *experience) failures(u *unit) []string {
	if u.module == nil {
		return []string{"any"} // records have no declared types
	}
	if !u.module.says("code") {
		return []string{"UNKNOWN", "SANDBOX_ERROR"} // an exception, or the end of its process
	}
	return slices.DeleteFunc(slices.Clone(schema.ErrorCodes), func(code string) bool { return code == "VALIDATION_ERROR" })
}
