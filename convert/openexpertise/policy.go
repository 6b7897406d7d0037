package openexpertise

import (
	"slices"
	"time"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/convert/doc"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// policy writes what an error does to a node.
func (x *experience) policy(u *unit, m, inner *doc.Mapping) {
	n := u.node
	at := convert.Below(u.tree, "on_error")
	codes, ends := &doc.List{Flow: true}, doc.Flow()
	for _, code := range x.failures(u) {
		codes.Add(doc.Scalar(code), source.Span{})
		ends.Add(code, doc.Scalar("end"), source.Span{})
	}
	if n.Attempts > 1 {
		retry := doc.Flow(doc.Pair("attempts", doc.Number(n.Attempts)))
		if u.module == nil {
			codes.Items = nil
			for _, code := range schema.ErrorCodes {
				codes.Add(doc.Scalar(code), source.Span{})
			}
		}
		retry.Add("codes", codes, source.Span{})
		if !n.Double {
			retry.Add("backoff", doc.Scalar("constant"), source.Span{})
			if n.Attempts > 2 && n.Base > 0 {
				x.Note(n.ID.Span, "", "the engine waits longer before each attempt of %s; the native node waits %v each time", n.ID.Name, n.Base)
			}
		}
		retry.Add("base", doc.Scalar(doc.Duration(max(n.Base, time.Millisecond))), source.Span{})
		if most := n.Base << min(n.Attempts-2, 30); n.Double && most > 30*time.Second {
			retry.Add("cap", doc.Scalar(doc.Duration(most)), source.Span{})
		}
		inner.Add("retry", retry, at)
	}
	if n.Skips && n.Each == nil {
		m.Add("catch", ends, at)
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
