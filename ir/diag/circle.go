package diag

import (
	"fmt"
	"strings"

	"github.com/flowgen-dev/flowgen/ir/source"
)

// Circle is the mistake that nodes wait for each other, in the order of names, whose first and last are the same. at is the
// edge that closes the circle, where one is written; start is the first node. What to do depends on the language.
func Circle(at, start source.Span, names []string) Diagnostic {
	d := Diagnostic{Code: Cycle, Span: at, Message: "these nodes wait for each other: " + strings.Join(names, " -> "), Related: []Related{{Span: start, Message: "the cycle starts here"}}}
	if at.IsZero() {
		d.Span, d.Related = start, nil
	}
	switch {
	case len(names) == 2:
		d.Message, d.Related = "node \""+names[0]+"\" leads to itself", nil
	case len(names) > 12:
		d.Message = fmt.Sprintf("%d nodes wait for each other: %s -> ... -> %s", len(names)-1, strings.Join(names[:6], " -> "), strings.Join(names[len(names)-3:], " -> "))
	}
	return d
}
