package expr

import (
	"fmt"
	"time"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// Clocks are the functions of CEL that read a part of a time, in UTC, and whether they take a duration as well, of which
// getMilliseconds reads the part below a second, and the others the whole in their unit.
var Clocks = map[string]bool{
	"getFullYear": false, "getMonth": false, "getDate": false, "getDayOfMonth": false, "getDayOfWeek": false, "getDayOfYear": false,
	"getHours": true, "getMinutes": true, "getSeconds": true, "getMilliseconds": true,
}

func (c *checker) clock(n *Node) *schema.Type {
	k := n.Kids[0]
	switch {
	case k.Type.Kind == schema.Time, k.Type.Kind == schema.Duration && Clocks[n.Text]:
		return schema.IntType
	case isText(k.Type):
		return c.wrong(n, k, "a time", fmt.Sprintf("make a time of it: `timestamp(%s)`", k))
	case Clocks[n.Text]:
		return c.wrong(n, k, "a time or a duration", "")
	}
	return c.wrong(n, k, "a time", "")
}

// parsed types timestamp("...") and duration("..."). A literal is read now.
func (c *checker) parsed(n *Node) *schema.Type {
	k, t := n.Kids[0], schema.TimeType
	if n.Text == "duration" {
		t = schema.DurationType
	}
	if !isText(k.Type) {
		help := ""
		if k.Type.Kind == t.Kind {
			help = "remove the call"
		}
		return c.wrong(n, k, "string", help)
	}
	text, ok := k.Value.(string)
	if k.Op != Lit || !ok {
		return t
	}
	if _, err := Moment(n); err != nil {
		form := "a time such as 2026-01-31T12:00:00Z"
		if n.Text == "duration" {
			form = "a duration such as 1h30m or 500ms"
		}
		c.report(diag.BadLiteral, k.Lo, k.Hi, "", "%q is not %s", text, form)
		return schema.InvalidType
	}
	return t
}

// Moment is the time or the duration that a call of timestamp or duration with a literal stands for; nil for other calls.
func Moment(n *Node) (any, error) {
	k := n.Kids[0]
	text, ok := k.Value.(string)
	switch {
	case k.Op != Lit || !ok:
	case n.Text == "timestamp":
		return time.Parse(time.RFC3339Nano, text)
	case n.Text == "duration":
		return time.ParseDuration(text)
	}
	return nil, nil
}

// moments types sums and differences of times and durations; nil for other types.
func moments(op string, a, b *schema.Type) *schema.Type {
	switch {
	case op == "+" && a.Kind == schema.Time && b.Kind == schema.Duration, op == "+" && a.Kind == schema.Duration && b.Kind == schema.Time,
		op == "-" && a.Kind == schema.Time && b.Kind == schema.Duration:
		return schema.TimeType
	case op == "-" && a.Kind == schema.Time && b.Kind == schema.Time, (op == "+" || op == "-") && a.Kind == schema.Duration && b.Kind == schema.Duration:
		return schema.DurationType
	}
	return nil
}

// joined types xs.join() and xs.join(separator).
func (c *checker) joined(n *Node) *schema.Type {
	k := n.Kids[0]
	elem := c.items(n, k)
	switch {
	case elem == nil:
		return schema.InvalidType
	case !isText(elem):
		help := ""
		if textual(elem) && elem.Kind != schema.Bytes {
			help = "make text of them: `" + receiver(k) + ".map(x, string(x))`"
		}
		return c.wrong(n, k, "a list of strings", help)
	}
	if len(n.Kids) == 2 && !isText(n.Kids[1].Type) {
		return c.wrong(n, n.Kids[1], "string", "")
	}
	return schema.StringType
}

func (c *checker) substring(n *Node) *schema.Type {
	if k := n.Kids[0]; !isText(k.Type) {
		help := ""
		if textual(k.Type) && k.Type.Kind != schema.Bytes {
			help = fmt.Sprintf("make text of it: `string(%s)`", k)
		}
		return c.wrong(n, k, "string", help)
	}
	if !c.counts(n, 1) {
		return schema.InvalidType
	}
	for _, k := range n.Kids[1:] {
		if v, ok := k.Value.(int64); ok && k.Op == Lit && v < 0 {
			return c.report(diag.Arguments, k.Lo, k.Hi, "count from the start: `s.substring(1, size(s))`", "`substring` does not count from the end").poison()
		}
	}
	return schema.StringType
}
