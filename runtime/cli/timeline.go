package cli

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/journal"
)

// filter says which calls of a run are shown.
type filter struct {
	all    bool   // each of them, without groups
	failed bool   // that have failed
	slow   bool   // the slowest ones, the slowest first
	node   string // of this node and those in it; a path, or its end
	logs   bool   // what their programs have printed, and nothing else
}

const (
	maxUngrouped = 10 // calls of one node that have a line each
	slowest      = 20 // calls that --slow shows
)

// apply leaves the calls that are to be shown. unknown says that the run has no call of the node.
func (f *filter) apply(calls callList) (shown callList, unknown bool) {
	if f.node != "" {
		calls = calls.only(func(c *inspectedCall) bool { return ofNode(c.Key, f.node) })
		unknown = calls.len() == 0
	}
	if f.failed {
		calls = calls.only(func(c *inspectedCall) bool { return c.State == callFailed })
	}
	if f.slow {
		calls.order = slices.Clone(calls.order)
		slices.SortStableFunc(calls.order, func(a, b int32) int {
			ca, cb := calls.slim(a), calls.slim(b)
			return cmp.Compare(cb.took(), ca.took())
		})
		calls.order = calls.order[:min(slowest, calls.len())]
	}
	if f.logs {
		calls.order = slices.DeleteFunc(slices.Clone(calls.order), func(i int32) bool { return calls.whole(i).Logs == "" })
	}
	return calls, unknown
}

// grouped reports whether calls of one node share a line.
func (f *filter) grouped() bool { return *f == filter{} }

// ofNode reports whether the call of a key belongs to a node: name is its path, or the end of it.
func ofNode(key, name string) bool {
	path := "/" + journal.NodePath(key) + "/"
	return strings.HasPrefix(path, "/"+name+"/") || strings.HasSuffix(path, "/"+name+"/")
}

func (c *inspectedCall) took() time.Duration { return c.End - c.Start }

// timeline is one line for each attempt, in the order of their beginnings, and one for a node with many.
func (t *sheet) timeline(i *inspection) {
	rows, groups := []callRow{}, false
	if t.filter.grouped() {
		rows, groups = grouped(i.Calls)
	} else {
		for n := range i.Calls.len() {
			c := i.Calls.at(n)
			rows = append(rows, callRow{key: c.Key, first: c})
		}
	}
	wide := 0
	for _, r := range rows {
		wide = max(wide, min(width(safe(r.key)), 40))
	}
	said := map[string]bool{}
	for _, r := range rows {
		if r.group != nil {
			t.group(&r, wide, i.Took)
		} else {
			t.attempt(r.first, wide, i, said)
		}
	}
	if groups {
		t.put(line{{"grouped: --all shows each call, --failed and --slow those, --node NAME the calls of one node", dim}})
	}
}

// attempt is the line of one attempt. A failure is told in full once.
func (t *sheet) attempt(c *inspectedCall, wide int, i *inspection, said map[string]bool) {
	o, colour := stateLine(c.State)
	lasted := lasting(c.took())
	if o == warningLine {
		lasted = "-"
	}
	note, why := callNotes(c)
	if c.State == callFailed {
		text := c.Error.Error()
		if said[text] || strings.HasSuffix(i.Failure, text) {
			why = ", " + safe(string(c.Error.Code)) + " as above"
		}
		said[text] = true
	}
	t.row(c.Start, c.End, i.Took, o, lasted, pad(safe(c.Key), wide), colour, note, why)
}

func (t *sheet) row(from, to, whole time.Duration, o outcome, lasted, key, colour, note, why string) {
	t.put(line{
		{padLeft("+"+duration(from), 8), dim}, {padLeft(lasted, 8), ""}, {"  " + bar(from, to, whole), cyan},
		{"  " + t.style.glyphs[o], outcomeColours[o]}, {" " + key, colour}, {"  " + note, dim}, {why, colour},
	})
}

// stateLine is how the line of a call in a state looks.
func stateLine(state string) (o outcome, colour string) {
	switch state {
	case callFailed:
		return failedLine, red
	case callCancelled:
		return cancelledLine, dim
	case callOpen, callInDoubt, callWaiting, callInterrupted:
		return warningLine, yellow
	}
	return okLine, ""
}

// callRow is a line: of one attempt, or of a group of them.
type callRow struct {
	key   string
	first *inspectedCall
	group *callGroup // nil: it is about first alone
}

// callGroup sums up the attempts of one node.
type callGroup struct {
	counts  [moreLine + 1]int // by how their lines look
	attempt int
	end     time.Duration
	longest string // the key of the longest call
	took    time.Duration
}

// grouped makes one row of the calls of a node that has many. some says that there is such a row.
func grouped(calls callList) (rows []callRow, some bool) {
	many := map[string]int{}
	for _, c := range calls.all() {
		many[pattern(c.Key)]++
	}
	groups := map[string]*callGroup{}
	for n, c := range calls.all() {
		key := pattern(c.Key)
		if many[key] <= maxUngrouped {
			rows = append(rows, callRow{key: c.Key, first: calls.at(n)})
			continue
		}
		g := groups[key]
		if g == nil {
			g = &callGroup{longest: c.Key, took: c.took()}
			groups[key] = g
			rows = append(rows, callRow{key: key, first: calls.at(n), group: g})
		}
		o, _ := stateLine(c.State)
		g.counts[o]++
		g.attempt++
		g.end = max(g.end, c.End)
		if c.took() > g.took {
			g.longest, g.took = c.Key, c.took()
		}
	}
	return rows, len(groups) > 0
}

// pattern is a key without the numbers of items, turns and visits: probe[*]/search of probe[3]/search#2.
func pattern(key string) string {
	if !strings.ContainsAny(key, "#[") {
		return key
	}
	parts := strings.Split(key, "/")
	for i, p := range parts {
		at := strings.IndexAny(p, "#[")
		if at < 0 {
			continue
		}
		parts[i] = p[:at]
		if strings.Contains(p[at:], "[") {
			parts[i] += "[*]"
		}
	}
	return strings.Join(parts, "/")
}

// group is the line of many calls of a node.
func (t *sheet) group(r *callRow, wide int, whole time.Duration) {
	g, o, colour := r.group, okLine, ""
	parts := []string{safe(r.first.Tool), itoa(g.attempt) + " attempts"}
	for _, s := range []struct {
		state string
		word  string
	}{{callCancelled, "cancelled"}, {callOpen, "without a result"}, {callFailed, "failed"}} { // the worst last
		if line, c := stateLine(s.state); g.counts[line] > 0 {
			o, colour = line, c
			parts = append(parts, itoa(g.counts[line])+" "+s.word)
		}
	}
	if g.took > 0 {
		parts = append(parts, "longest "+lasting(g.took)+": "+safe(g.longest))
	}
	t.row(r.first.Start, g.end, whole, o, lasting(g.end-r.first.Start), pad(safe(r.key), wide), colour, strings.Join(parts, ", "), "")
}

// lasting is a duration for people, also of the fastest calls.
func lasting(d time.Duration) string {
	if d > 0 && d < time.Millisecond {
		return strconv.FormatInt(max(d.Microseconds(), 1), 10) + "us"
	}
	return duration(d)
}

// barWidth is how many columns stand for the entire run.
const barWidth = 20

// bar shows when something happened in the whole.
func bar(from, to, whole time.Duration) string {
	if whole <= 0 {
		return "[" + strings.Repeat("=", barWidth) + "]"
	}
	at := func(d time.Duration) float64 { return float64(min(max(d, 0), whole)) / float64(whole) * barWidth }
	lo := min(int(at(from)), barWidth-1)
	hi := min(max(int(math.Ceil(at(to))), lo+1), barWidth)
	return "[" + strings.Repeat(" ", lo) + strings.Repeat("=", hi-lo) + strings.Repeat(" ", barWidth-hi) + "]"
}

// callNotes are what else is known of an attempt, and why it has no output.
func callNotes(c *inspectedCall) (note, why string) {
	parts := []string{safe(c.Tool)}
	add := func(on bool, text string) {
		if on {
			parts = append(parts, text)
		}
	}
	add(c.Attempt > 1, "attempt "+itoa(c.Attempt))
	add(c.Cached, "cached")
	add(c.Truncated, "truncated")
	for _, a := range c.Attachments {
		add(a.Kind == "blob", "the entire output is "+safe(a.URL))
	}
	add(c.Abandoned, "abandoned: the function did not return")
	add(c.Denied, "denied")
	add(c.Sandbox != "", "sandbox "+safe(c.Sandbox))
	add(c.Tokens > 0, strconv.FormatInt(c.Tokens, 10)+" tokens")
	add(c.CostUSD > 0, "$"+c.CostUSD.String())
	add(c.Again, "made again")
	add(c.Node != "", "of an earlier version of the node")
	note = strings.Join(parts, ", ")
	switch c.State {
	case callFailed:
		why = ", " + safe(c.Error.Error())
	case callCancelled:
		why = ", cancelled by " + cancelledBy(c.Cancelled)
	case callOpen:
		why = ", no result"
	case callInterrupted:
		why = ", interrupted"
	case callInDoubt:
		why = ", no result: it may have happened"
	case callWaiting:
		why = ", waiting for an answer"
	}
	return note, why
}

func cancelledBy(by string) string {
	if by == "scope" {
		return "the failure of a sibling"
	}
	return "the end of the run"
}
