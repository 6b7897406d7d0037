package convert

import (
	"fmt"
	"slices"
	"time"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// policy writes what an error does to a node.
func (x *experience) policy(u *unit, m, inner *mapping) {
	d := u.node.Dynamic
	at := below(u.tree, "on_error")
	codes, ends := &list{flow: true}, flow()
	for _, code := range x.failures(u) {
		codes.add(scalar(code), source.Span{})
		ends.add(code, scalar("end"), source.Span{})
	}
	if d.Attempts > 1 {
		retry := flow(pair("attempts", number(d.Attempts)))
		if u.module == nil {
			codes.items = nil
			for _, code := range schema.ErrorCodes {
				codes.add(scalar(code), source.Span{})
			}
		}
		retry.add("codes", codes, source.Span{})
		if !d.Double {
			retry.add("backoff", scalar("constant"), source.Span{})
			if d.Attempts > 2 && d.Base > 0 {
				x.note(u.node.ID.Span, "", "the engine waits longer before each attempt of %s; the native node waits %v each time", u.node.ID.Name, d.Base)
			}
		}
		retry.add("base", scalar(duration(max(d.Base, time.Millisecond))), source.Span{})
		if most := d.Base << min(d.Attempts-2, 30); d.Double && most > 30*time.Second {
			retry.add("cap", scalar(duration(most)), source.Span{})
		}
		inner.add("retry", retry, at)
	}
	if d.OnSpent == ir.SpentSkip && d.Each == nil {
		m.add("catch", ends, at)
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

// duration is a time as the language writes it.
func duration(d time.Duration) string {
	switch {
	case d > 0 && d%time.Hour == 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d > 0 && d%time.Minute == 0:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d%time.Second == 0:
		return fmt.Sprintf("%ds", d/time.Second)
	default:
		return fmt.Sprintf("%dms", d/time.Millisecond)
	}
}
