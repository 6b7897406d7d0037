package cli

import (
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/usage"
)

// display shows a run's events on standard error. close is called after the last event and puts the terminal in order.
type display interface {
	runtime.Observer
	close(err error) // the run has ended with err, which is printed next
}

// newDisplay chooses how progress is shown: not at all (nil), for machines, live
// on a terminal that can move its cursor, or one line per node.
func newDisplay(s *system, f *runFlags, replays bool) display {
	logs := logView{f.logs, replays}
	switch {
	case f.quiet && f.logs:
		return &logsOnly{logView: logs, w: s.stderr}
	case f.quiet:
		return nil
	case f.jsonEvents:
		return &jsonLines{w: s.stderr}
	}
	if _, _, ok := s.size(); ok && s.env("TERM") != "dumb" && s.env("TERM") != "" {
		return newLive(s, logs)
	}
	return newLines(s, logs)
}

// jsonLines writes every event as one line of JSON. Nothing is left out: when
// the reader is slow, the run waits for it.
type jsonLines struct {
	mu sync.Mutex
	w  io.Writer
}

func (j *jsonLines) Observe(e runtime.Event) {
	b, err := e.MarshalJSON()
	if err != nil { // an error's details that cannot be encoded
		e.Err = errors.New(e.Err.Error())
		if b, err = e.MarshalJSON(); err != nil {
			return
		}
	}
	b = append(harmless(b), '\n')
	j.mu.Lock()
	defer j.mu.Unlock()
	_, _ = j.w.Write(b) // progress is no reason to fail
}

func (j *jsonLines) close(error) {}

// outcome is how a line about a node begins.
type outcome int

const (
	noLine outcome = iota
	okLine
	failedLine
	cancelledLine
	waitingLine
	retryLine
	warningLine
	moreLine
)

var outcomeWords = [...]string{okLine: "ok        ", failedLine: "failed    ", cancelledLine: "cancelled ", waitingLine: "waiting   ", retryLine: "retry     ", warningLine: "warning   ", moreLine: "          "}

// linesPerNode is how often one node, run again and again by a loop, gets a line of its own.
const linesPerNode = 20

// items is how far a map is.
type items struct{ done, total int }

func (m items) String() string { return itoa(m.done) + "/" + strconv.Itoa(m.total) }

// ledger decides which events deserve a lasting line. The items of a map do
// not: ten thousand of them would bury everything else, and the map has a line
// of its own. It is not safe for concurrent use.
type ledger struct {
	maps    map[string]items   // maps that have begun, by key
	written map[*flow.Node]int // lines so far
	failed  []entry            // lines that wait, beginning with a failure
	asked   []string           // keys of the open questions that the run has stopped for
}

// record returns the lines that an event brings: its own, after those that have waited. A failure waits for what comes
// of it: where it ends the run, the run's error says why.
func (l *ledger) record(e runtime.Event) []entry {
	n := l.entry(e)
	switch {
	case n.outcome == failedLine, n.outcome == cancelledLine && l.failed != nil:
		l.failed = append(l.failed, n)
		return nil
	case n.outcome == noLine && e.Kind != runtime.NodeStart:
		return nil
	}
	out := l.rest(nil)
	if n.outcome != noLine {
		out = append(out, n)
	}
	return out
}

// rest returns the lines that have waited. What one of them or the run's error says is not said again.
func (l *ledger) rest(err error) []entry {
	out := l.failed
	l.failed = nil
	said := ""
	if err != nil {
		said = reason(err)
	}
	for i := range out {
		if out[i].why == said {
			out[i].why = ""
		} else if out[i].why != "" {
			said = out[i].why
		}
	}
	return out
}

// entry is a line about a node.
type entry struct {
	outcome    outcome
	text, note string
	why        string // the reason of a failure
}

// about is all that is behind the text.
func (n *entry) about() string {
	if n.why == "" {
		return n.note
	}
	return n.note + ", " + n.why
}

// entry returns the line an event deserves.
func (l *ledger) entry(e runtime.Event) entry {
	if e.Kind == runtime.Warning {
		return entry{outcome: warningLine, text: safe(e.Message)}
	}
	if e.Node == nil {
		return entry{}
	}
	switch e.Kind {
	case runtime.NodeStart:
		if e.Tool == "" {
			if l.maps == nil {
				l.maps = map[string]items{}
			}
			l.maps[e.Key] = items{}
		}
		return entry{}
	case runtime.Progress:
		// Items end at the same time, so the numbers may arrive out of order.
		if m, ok := l.maps[e.Key]; ok {
			l.maps[e.Key] = items{max(m.done, e.Done), e.Total}
		}
		return entry{}
	case runtime.NodeEnd, runtime.Retrying:
	default:
		return entry{}
	}
	if e.Kind == runtime.NodeEnd {
		defer delete(l.maps, e.Key) // its items have all ended before it
	}
	if l.inMap(e.Key) || e.Kind == runtime.Retrying && e.Replayed && e.Wait == 0 {
		return entry{}
	}
	if o := l.budget(e.Node); o != okLine {
		return entry{outcome: o, text: safe(e.Node.ID), note: "runs again; further lines are left out"}
	}
	if e.Kind == runtime.Retrying {
		return entry{outcome: retryLine, text: safe(e.Key), note: retryNote(e)}
	}
	return l.ended(e)
}

// budget counts a line of n: okLine while there is room, moreLine once, then noLine.
func (l *ledger) budget(n *flow.Node) outcome {
	if l.written == nil {
		l.written = map[*flow.Node]int{}
	}
	l.written[n]++
	switch used := l.written[n]; {
	case used <= linesPerNode:
		return okLine
	case used == linesPerNode+1:
		return moreLine
	}
	return noLine
}

// inMap reports whether key is inside an item of a map: a[2]/b is when a is a map.
func (l *ledger) inMap(key string) bool {
	if len(l.maps) == 0 {
		return false
	}
	for i := 0; i < len(key); i++ {
		if key[i] == '[' {
			if _, ok := l.maps[key[:i]]; ok {
				return true
			}
		}
	}
	return false
}

func (l *ledger) ended(e runtime.Event) entry {
	text := safe(e.Key)
	note := duration(e.Duration)
	if m := l.maps[e.Key]; m.total > 0 {
		note = m.String() + " items, " + note
	}
	switch {
	case e.Replayed:
		note += ", replayed"
	case e.Cached:
		note += ", cached"
	}
	if e.Attempt > 1 {
		note += ", " + itoa(e.Attempt) + " attempts"
	}
	note += usageNote(e.Usage)
	switch {
	case e.Err == nil:
		return entry{outcome: okLine, text: text, note: note}
	case e.Tool == engine.HumanTool && stopped(e.Err):
		l.asked = append(l.asked, e.Key)
		return entry{outcome: waitingLine, text: text, note: note}
	case stopped(e.Err) && l.asks(e.Key): // it goes on with the answer
		return entry{outcome: waitingLine, text: text, note: note}
	case runtime.IsCancelled(e.Err):
		return entry{outcome: cancelledLine, text: text, note: note}
	}
	return entry{failedLine, text, note, reason(e.Err)}
}

// asks reports whether an open question is part of the call or the node of key.
func (l *ledger) asks(key string) bool {
	return slices.ContainsFunc(l.asked, func(q string) bool {
		rest, inside := strings.CutPrefix(q, key)
		return inside && (strings.HasPrefix(rest, "/") || strings.HasPrefix(rest, "["))
	})
}

// stopped reports whether a call ended because the entire run did: a question is then still open.
func stopped(err error) bool {
	var re *runtime.RunError
	return errors.As(err, &re) && re.Kind == runtime.Cancelled && re.By == runtime.ByRun
}

// usageNote is what a call took, for people.
func usageNote(u *usage.Usage) string {
	if u == nil {
		return ""
	}
	note := ", " + strconv.FormatInt(u.InputTokens, 10) + "+" + strconv.FormatInt(u.OutputTokens, 10) + " tokens"
	if u.CostUSD != nil {
		note += ", $" + u.CostUSD.String()
	}
	return note
}

func retryNote(e runtime.Event) string {
	return "attempt " + itoa(e.Attempt) + ", " + reason(e.Err) + ", next in " + duration(e.Wait)
}

// reason returns an error without the node and position, which are next to it.
func reason(err error) string {
	var ne *runtime.NodeError
	if errors.As(err, &ne) {
		err = ne.Err
	}
	if err == nil {
		return "failed"
	}
	return safe(err.Error())
}

// duration is d for people: three digits or so.
func duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return strconv.FormatInt(max(d, 0).Milliseconds(), 10) + "ms"
	case d < time.Minute:
		tenths := d.Milliseconds() / 100
		return strconv.FormatInt(tenths/10, 10) + "." + strconv.FormatInt(tenths%10, 10) + "s"
	case d < time.Hour:
		return strconv.FormatInt(int64(d/time.Minute), 10) + "m" + twoDigits(d%time.Minute/time.Second) + "s"
	}
	return strconv.FormatInt(int64(d/time.Hour), 10) + "h" + twoDigits(d%time.Hour/time.Minute) + "m"
}

func twoDigits(n time.Duration) string {
	s := strconv.FormatInt(int64(n), 10)
	return strings.Repeat("0", 2-len(s)) + s
}
