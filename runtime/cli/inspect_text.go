package cli

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
)

// sheet is text for people, for one screen.
type sheet struct {
	paper
	b strings.Builder
}

// put writes one line, which is cut where the screen ends.
func (t *sheet) put(l line) {
	wide := t.wide
	if wide <= 0 {
		wide = math.MaxInt
	}
	t.b.WriteString(strings.TrimRight(l.fit(wide, t.style), " ") + "\n")
}

func (t *sheet) text(s string) { t.put(line{{s, ""}}) }

// field is a line of a head: a name and what it is. Nothing is written for an empty one.
func (t *sheet) field(name, value, colour string) {
	if value != "" {
		t.put(line{{pad(name, 10), dim}, {value, colour}})
	}
}

func pad(s string, n int) string { return s + strings.Repeat(" ", max(0, n-width(s))) }

func padLeft(s string, n int) string { return strings.Repeat(" ", max(0, n-width(s))) + s }

// when is a moment for people.
func when(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format("2006-01-02 15:04:05 UTC")
}

// outcomeText says how a run ended, and in which colour.
func outcomeText(o journal.Outcome) (text, colour string) {
	switch o {
	case journal.Succeeded:
		return "succeeded", green
	case journal.Failed:
		return "failed", red
	case journal.Cancelled:
		return "cancelled", yellow
	case journal.Waiting:
		return "waiting for an answer", yellow
	}
	return "not ended: it is running, or was killed", yellow
}

// runs is the list of runs.
func (t *sheet) runs(dir string, list []runs.Run) {
	if len(list) == 0 {
		t.text("there are no runs in " + safe(dir))
		return
	}
	wide := 0
	for _, r := range list {
		wide = max(wide, width(r.ID))
	}
	for _, r := range list {
		text, colour := outcomeText(r.Outcome)
		switch {
		case r.Outcome == journal.Open && r.Failure != "":
			text, colour = "unreadable", red
		case r.Outcome == journal.Open:
			text = "not ended"
		}
		note := ""
		if r.Failure != "" {
			note = ": " + safe(r.Failure)
		}
		if r.From != "" {
			note += " (forked from " + safe(r.From) + ")"
		}
		t.put(line{{pad(safe(r.ID), wide), ""}, {"  " + pad(when(r.Begin), 23), dim}, {"  " + text, colour}, {note, dim}})
	}
}

// inspection is a run as a whole.
func (t *sheet) inspection(i *inspection) {
	t.field("run", safe(i.ID), "")
	t.field("workflow", safe(i.Workflow), "")
	var versions []string
	for _, v := range [][2]string{{"graph", i.Graph}, {"program", i.Program}, {"lock", i.Lock}} {
		if v[1] != "" {
			versions = append(versions, v[0]+" "+safe(v[1]))
		}
	}
	t.field("versions", strings.Join(versions, ", "), "")
	t.field("from", safe(i.From), "")
	t.field("tenant", safe(i.Tenant), "")
	t.field("began", when(i.Begin), "")
	t.field("took", duration(i.Took), "")
	text, colour := outcomeText(i.Outcome)
	t.field("outcome", text, colour)
	t.field("failure", safe(i.Failure), red)
	t.field("input", oneLine(i.Input), "")
	t.field("output", oneLine(i.Output), "")
	if i.Calls.len() > 0 {
		t.text("")
		t.timeline(i)
	}
	t.text("")
	t.text(i.Totals.String())
	t.open(i)
}

// oneLine is a JSON value for one line of a terminal.
func oneLine(v json.RawMessage) string {
	return safe(string(harmless(v)))
}

// String is the totals as a sentence; what is zero is left out.
func (t *totals) String() string {
	var parts []string
	count := func(n int, one, many string) {
		if n > 0 {
			parts = append(parts, strconv.Itoa(n)+" "+map[bool]string{true: one, false: many}[n == 1])
		}
	}
	count(t.Calls, "call", "calls")
	if t.Attempts != t.Calls {
		count(t.Attempts, "attempt", "attempts")
	}
	count(t.Cached, "cached", "cached")
	count(t.Failed, "failed", "failed")
	count(t.Cancelled, "cancelled", "cancelled")
	count(t.Interrupted, "interrupted", "interrupted")
	count(t.Open, "without a result", "without a result")
	if parts == nil {
		return "no calls"
	}
	if t.Tokens > 0 {
		parts = append(parts, strconv.FormatInt(t.Tokens, 10)+" tokens")
	}
	if t.CostUSD > 0 {
		parts = append(parts, "$"+t.CostUSD.String())
	}
	return strings.Join(append(parts, "calls took "+duration(t.Busy)+" together"), ", ")
}

// open says what has to happen before the run can end.
func (t *sheet) open(i *inspection) {
	for _, q := range i.Waiting {
		t.text("")
		t.put(line{{"waiting for an answer to " + safe(q.Key), yellow}})
		t.text("  " + safe(q.Question))
		answers := safe(q.Type)
		if q.Choices != nil {
			answers = "one of " + safe(strings.Join(q.Choices, ", "))
		}
		t.text("  answer (" + answers + "): " + safe(t.respond) + safe(i.ID) + " " + safe(shellWord(q.Key)) + " ANSWER")
	}
	if len(i.Kept) > 0 {
		t.text("")
		t.put(line{{"could not be undone:", red}})
		for _, k := range i.Kept {
			t.text("  " + safe(k.Key) + ": " + safe(k.Error.Error()))
		}
	}
	if len(i.InDoubt) > 0 {
		t.text("")
		t.put(line{{"started without a result; if the run was stopped, these may have happened:", yellow}})
		for _, d := range i.InDoubt {
			t.text("  " + safe(d.Key) + ", attempt " + itoa(d.Attempt) + ", " + safe(d.Tool) + ", call_id " + safe(d.CallID))
		}
	}
}

// record is one attempt with all that is known of it.
func (t *sheet) record(in recorded, r journal.Record, c *inspectedCall) {
	t.field("call", safe(r.Key), "")
	t.field("attempt", itoa(r.Attempt), "")
	t.field("tool", safe(r.Tool)+", effects "+safe(c.Effects), "")
	t.field("call_id", safe(r.CallID), "")
	if c.State == callOpen || c.State == callInDoubt || c.State == callWaiting || c.State == callInterrupted {
		t.field("began", "+"+duration(c.Start), "")
	} else {
		t.field("began", fmt.Sprintf("+%s, took %s", duration(c.Start), lasting(c.End-c.Start)), "")
	}
	note, why := callNotes(c)
	_, note, _ = strings.Cut(note, ", ")
	t.field("notes", note, "")
	state := strings.ReplaceAll(c.State, "_", " ")
	if c.State != callFailed { // the error is below
		state += why
	}
	t.field("state", state, "")
	if answer, ok := in.answer(r.Key); ok {
		t.field("answer", safe(answer), "")
	}
	t.field("broken", safe(r.Broken), red)
	t.value("input", r.Input)
	t.value("output", r.Output)
	at, trace := engine.TraceOf(r.Error)
	t.field("at", safe(at), red)
	if r.Error != nil {
		t.value("error", r.Error)
	}
	t.lines("trace", trace)
	t.lines("stack", r.Stack)
	t.lines("logs", r.Logs)
	if len(r.Attachments) > 0 {
		t.value("attachments", r.Attachments)
	}
}

// lines is text as a block, with its line breaks.
func (t *sheet) lines(name, text string) {
	if text == "" {
		return
	}
	t.put(line{{name, dim}})
	for l := range strings.Lines(text) {
		t.text("  " + safe(strings.ReplaceAll(strings.TrimRight(l, "\r\n"), "\t", "  ")))
	}
}

// value is JSON as a block, whole.
func (t *sheet) value(name string, v any) {
	if raw, ok := v.(json.RawMessage); ok && len(raw) == 0 {
		return
	}
	out, err := encode(v)
	if err != nil {
		out = []byte(safe(err.Error()) + "\n")
	}
	t.put(line{{name, dim}})
	for l := range strings.Lines(string(out)) {
		t.b.WriteString("  " + l)
	}
}
