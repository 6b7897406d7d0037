package diff

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/internal/plain"
	"github.com/flowgen-dev/flowgen/runtime/journal"
)

// The bounds of the text. JSON has all.
const (
	maxText   = 200  // characters of one value
	maxShown  = 20   // changes of one call
	maxCalls  = 200  // calls
	maxHunk   = 40   // lines of one text
	maxSingle = 2000 // characters of a line of a text
)

// Text writes the report for people.
func (r *Report) Text() string {
	w := &writer{}
	for _, s := range []struct {
		name string
		side *Side
	}{{"A", &r.A}, {"B", &r.B}} {
		w.line(0, s.name+"  "+safe(s.side.ID)+": "+s.side.String())
	}
	if r.Equal() {
		w.line(0, "")
		w.line(0, "the runs are equal")
		return w.b.String()
	}
	w.changes("run", r.Run)
	w.nodes(r.Nodes)
	w.calls(r.Calls)
	return w.b.String()
}

// String is how a run ended and what it took.
func (s *Side) String() string {
	outcome := string(s.Outcome)
	if s.Outcome == journal.Open {
		outcome = "not ended"
	}
	text := safe(s.Workflow) + " " + outcome + ", " + strconv.Itoa(s.Calls) + " call"
	if s.Calls != 1 {
		text += "s"
	}
	if s.Attempts != s.Calls {
		text += " in " + strconv.Itoa(s.Attempts) + " attempts"
	}
	if s.Tokens > 0 {
		text += ", " + strconv.FormatInt(s.Tokens, 10) + " tokens"
	}
	if s.CostUSD > 0 {
		text += ", $" + s.CostUSD.String()
	}
	return text
}

type writer struct{ b strings.Builder }

func (w *writer) line(indent int, text string) {
	w.b.WriteString(strings.TrimRight(strings.Repeat("  ", indent)+text, " ") + "\n")
}

// changes is a section of changes.
func (w *writer) changes(title string, list []Change) {
	if len(list) == 0 {
		return
	}
	w.line(0, "")
	w.line(0, title)
	for i := range list {
		if i == maxShown {
			w.line(1, fmt.Sprintf("and %d more", len(list)-i))
			return
		}
		w.change(1, &list[i])
	}
}

func (w *writer) nodes(list []Node) {
	if len(list) == 0 {
		return
	}
	w.line(0, "")
	w.line(0, "nodes")
	for _, n := range list {
		text := safe(n.Path) + ": " + n.Kind
		switch {
		case len(n.What) > 0:
			names := make([]string, len(n.What))
			for i, what := range n.What {
				names[i] = safe(what)
			}
			text = safe(n.Path) + ": its " + strings.Join(names, ", its ") + " has changed"
		case n.Kind == "changed":
			text += " in a way that its calls do not show: no call of it is in both runs, or it is its conditions, retries, limits or result"
		}
		w.line(1, text)
	}
}

func (w *writer) calls(list []Call) {
	if len(list) == 0 {
		return
	}
	w.line(0, "")
	w.line(0, "calls")
	for i := range list {
		if i == maxCalls {
			w.line(1, fmt.Sprintf("and %d more; --format json has them all", len(list)-i))
			return
		}
		d := &list[i]
		w.line(1, safe(d.Key)+": "+why(d))
		for k := range d.Changes {
			if k == maxShown {
				w.line(2, fmt.Sprintf("and %d more", len(d.Changes)-k+d.More))
				break
			}
			w.change(2, &d.Changes[k])
		}
	}
}

// why says in words why a call is not the same.
func why(d *Call) string {
	from := make([]string, len(d.From))
	for i, f := range d.From {
		from[i] = safe(f)
	}
	switch d.Why {
	case OnlyA:
		return "only in A"
	case OnlyB:
		return "only in B"
	case NodeChanged:
		if len(from) > 0 {
			return "its node has changed, and its input, because of " + strings.Join(from, ", ")
		}
		return "its node has changed"
	case InputOther:
		if len(from) > 0 {
			return "its input has changed, because of " + strings.Join(from, ", ")
		}
		return "its input has changed"
	}
	return "same input, different result"
}

// change is one change on one line, or a text's lines.
func (w *writer) change(indent int, c *Change) {
	name := c.What
	if c.Path != "" {
		name += "." + c.Path
		if strings.HasPrefix(c.Path, "[") {
			name = c.What + c.Path
		}
	}
	name = safe(name)
	var a, b string
	if json.Unmarshal(c.Old, &a) == nil && json.Unmarshal(c.New, &b) == nil && c.Old != nil && c.New != nil {
		if strings.Contains(strings.TrimSuffix(a, "\n"), "\n") || strings.Contains(strings.TrimSuffix(b, "\n"), "\n") {
			w.line(indent, name)
			w.text(indent+1, a, b)
			return
		}
		if len(a) > maxText/2 || len(b) > maxText/2 {
			a, b = apart([]rune(a), []rune(b))
			w.line(indent, name)
			w.line(indent+1, "- "+safe(a))
			w.line(indent+1, "+ "+safe(b))
			return
		}
	}
	switch {
	case c.Old == nil:
		w.line(indent, name+" is new: "+shortly(c.New))
	case c.New == nil:
		w.line(indent, name+" is missing, was "+shortly(c.Old))
	default:
		w.line(indent, name+": "+shortly(c.Old)+" -> "+shortly(c.New))
	}
}

// text is what differs in two texts of several lines.
func (w *writer) text(indent int, a, b string) {
	n := 0
	if strings.TrimSuffix(a, "\n") == strings.TrimSuffix(b, "\n") {
		w.line(indent, "the line break at its end")
		return
	}
	Hunks(Lines(a, b), 1, func(l Line) {
		if n++; n <= maxHunk {
			w.line(indent, string(l.Mark)+" "+plain.Line(l.Text, maxSingle))
		}
	}, func(left int) {
		if n < maxHunk {
			w.line(indent, fmt.Sprintf("  (%d lines)", left))
		}
	})
	if n > maxHunk {
		w.line(indent, fmt.Sprintf("and %d more lines", n-maxHunk))
	}
}

// context is how much is shown before and behind the place at which two long lines differ.
const context = 30

// apart cuts two long lines to what is different.
func apart(a, b []rune) (string, string) {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	cut := func(s []rune) string {
		lo, hi := max(head-context, 0), min(len(s)-tail+context, len(s))
		out := string(s[lo:hi])
		if lo > 0 {
			out = "…" + out
		}
		if hi < len(s) {
			out += "…"
		}
		return out
	}
	return cut(a), cut(b)
}

// value is JSON for one line.
func shortly(v json.RawMessage) string { return plain.Line(string(v), maxText) }

// safe is text from a journal for one line.
func safe(s string) string { return plain.Line(s, maxText*2) }
