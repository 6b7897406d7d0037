package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// mapped is a run with a map over n items, every hundredth of which has failed.
func mapped(n int) *journal.Journal {
	j := journal.New(journal.Header{Workflow: "w"})
	for i := range n {
		at := time.Duration(i) * time.Millisecond
		r := journal.Record{Key: fmt.Sprintf("each[%d]/search", i), Attempt: 1, Tool: "search@1", Effects: "reads", Done: true, Start: at, End: at + time.Millisecond}
		if i%100 == 0 {
			r.Error = &value.ToolError{Code: value.NetworkError, Message: "nothing there"}
		}
		if i == 7 {
			r.End += 50 * time.Millisecond
		}
		j.Put(r)
	}
	j.Put(journal.Record{Key: "report", Attempt: 1, Tool: "report@1", Effects: "none", Done: true, Start: 6 * time.Second, End: 7 * time.Second})
	return j
}

func TestInspectGroups(t *testing.T) {
	name := cassette(t, mapped(5000))
	lines := func(args ...string) []string {
		t.Helper()
		out, _ := inspect(t, ExitOK, append([]string{name}, args...)...)
		_, out, _ = strings.Cut(out, "\n\n")
		out, _, _ = strings.Cut(out, "\n\n")
		return strings.Split(strings.TrimRight(out, "\n"), "\n")
	}
	want := []string{
		"    +0ms    5.0s  [===============     ]  x each[*]/search  search@1, 5000 attempts, 50 failed, longest 51ms: each[7]/search",
		"   +6.0s    1.0s  [                 ===]  + report          report@1",
		"grouped: --all shows each call, --failed and --slow those, --node NAME the calls of one node",
	}
	if diff := cmp.Diff(want, lines()); diff != "" {
		t.Error(diff)
	}
	if got := lines("--all"); len(got) != 5001 {
		t.Errorf("--all: %d lines", len(got))
	}
	failed := lines("--failed")
	if len(failed) != 50 || !strings.HasSuffix(failed[0], "NETWORK_ERROR: nothing there") || !strings.HasSuffix(failed[49], "each[4900]/search  search@1, NETWORK_ERROR as above") {
		t.Errorf("--failed: %d lines\n%s", len(failed), strings.Join(failed, "\n"))
	}
	if got := lines("--slow"); len(got) != slowest || !strings.Contains(got[0], "report") || !strings.Contains(got[1], "each[7]/search") {
		t.Errorf("--slow:\n%s", strings.Join(got, "\n"))
	}
	for _, node := range []string{"each", "search", "each/search"} {
		if got := lines("--node", node); len(got) != 5000 {
			t.Errorf("--node %s: %d lines", node, len(got))
		}
	}
	if got := lines("--node", "search", "--failed"); len(got) != 50 {
		t.Errorf("--node and --failed: %d lines", len(got))
	}
	if _, got := inspect(t, ExitUsage, name, "--node", "serach"); !strings.Contains(got, "has no call of node serach\nhelp: did you mean search?\n") {
		t.Error(got)
	}
	if _, got := inspect(t, ExitUsage, "--failed"); !strings.Contains(got, "write inspect RUN with them") {
		t.Error(got)
	}
	if _, got := inspect(t, ExitUsage, name, "--fialed"); !strings.Contains(got, "did you mean --failed?") {
		t.Error(got)
	}
}

// What a run has failed with is said once: the head says it.
func TestInspectFailureOnce(t *testing.T) {
	j := journal.New(journal.Header{Workflow: "w"})
	j.Put(journal.Record{Key: "fetch", Attempt: 1, Tool: "fetch@1", Effects: "reads", Done: true, Error: &value.ToolError{Code: value.NetworkError, Message: "nothing there"}})
	j.SetFinish(journal.Finish{Outcome: journal.Failed, Failure: "w.flowgen.yaml:3:4: node fetch: NETWORK_ERROR: nothing there"})
	got, _ := inspect(t, ExitOK, cassette(t, j))
	if strings.Count(got, "nothing there") != 1 || !strings.Contains(got, "fetch@1, NETWORK_ERROR as above\n") {
		t.Error(got)
	}
}

// An attempt that was interrupted, and one that failed and was made again, are shown beside those that came instead.
func TestInspectInterrupted(t *testing.T) {
	j := new(journal.Journal)
	add := func(lines ...[]byte) {
		t.Helper()
		for _, line := range lines {
			if err := j.Add(line); err != nil {
				t.Fatal(err)
			}
		}
	}
	call := func(key, tool string, start time.Duration) journal.Record {
		return journal.Record{Key: key, Attempt: 1, Tool: tool, Effects: "reads", Start: start, Input: json.RawMessage(`{}`)}
	}
	end := func(r journal.Record, at time.Duration, err *value.ToolError) []byte {
		r.Done, r.End, r.Error = true, at, err
		if err == nil {
			r.Output = json.RawMessage(`1`)
		}
		return journal.EncodeRecord(r, true)
	}
	s := time.Second
	add(journal.EncodeHeader(journal.Header{Workflow: "w"}),
		journal.EncodeRecord(call("fetch", "fetch@1", 0), false),
		journal.EncodeRecord(call("ask", engine.HumanTool, 0), false),
		journal.EncodeResume(s, journal.Header{}, nil), // it was killed
		journal.EncodeRecord(call("fetch", "fetch@1", s), false),
		journal.EncodeRecord(call("ask", engine.HumanTool, s), false),
		end(call("fetch", "fetch@1", s), 2*s, &value.ToolError{Code: value.NetworkError, Message: "nothing there"}),
		journal.EncodeFinish(journal.Finish{Outcome: journal.Failed, Failure: "fetch: NETWORK_ERROR: nothing there"}),
		journal.EncodeResume(3*s, journal.Header{}, []string{"fetch"}), // --again
		journal.EncodeRecord(call("fetch", "fetch@1", 3*s), false),
		end(call("fetch", "fetch@1", 3*s), 4*s, nil))
	i := inspectionOf("id", j)
	text := &sheet{paper: paper{style: style{glyphs: plainGlyphs, ellipsis: "..."}}}
	text.timeline(i)
	want := `    +0ms       -  [=                   ]  ! fetch  fetch@1, made again, interrupted
   +1.0s       -  [     =              ]  ! ask    human@1, waiting for an answer
   +1.0s    1.0s  [     =====          ]  x fetch  fetch@1, made again, NETWORK_ERROR: nothing there
   +3.0s    1.0s  [               =====]  + fetch  fetch@1
`
	if diff := cmp.Diff(want, text.b.String()); diff != "" {
		t.Error(diff)
	}
	if i.Totals.Calls != 2 || i.Totals.Attempts != 4 || i.Totals.Interrupted != 1 || i.Totals.Failed != 1 || i.Totals.Open != 1 {
		t.Errorf("%+v", i.Totals)
	}
}

// Every call in doubt is named, and one command settles them.
func TestInDoubtNamesEveryCall(t *testing.T) {
	c := newConsole()
	got := c.inDoubt("run-1", []doubtful{{Key: "each[0]/post", Tool: "post@1", CallID: "aa"}, {Key: "each[1]/post", Tool: "post@1", CallID: "bb"}})
	for _, want := range []string{"  each[0]/post, post@1, call_id aa\n", "  each[1]/post, post@1, call_id bb\n",
		" resume run-1 --in-doubt 'each[0]/post=again' --in-doubt 'each[1]/post=again'\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

// The reason of a failure that ends the run is left to the run's error; another one has it in its line.
func TestFailureOnce(t *testing.T) {
	gone := &runtime.NodeError{Node: planNode, Err: errors.New("gone")}
	log := func(err error, events ...runtime.Event) string {
		var b strings.Builder
		l := testLines(&b)
		for _, e := range events {
			l.Observe(e)
		}
		l.close(err)
		return b.String()
	}
	failed := ended("plan", planNode, time.Second, gone)
	if got := log(gone, failed); got != "failed    plan 1.0s\n" {
		t.Error(got)
	}
	next := runtime.Event{Kind: runtime.NodeStart, Key: "next", Node: fetchNode, Tool: "t"}
	if got := log(nil, failed, next); got != "failed    plan 1.0s, gone\n" {
		t.Error(got)
	}
	if got := log(errors.New("other"), failed); got != "failed    plan 1.0s, gone\n" {
		t.Error(got)
	}
	around := ended("around", fetchNode, time.Second, gone)
	if got := log(nil, failed, around); got != "failed    plan 1.0s, gone\nfailed    around 1.0s\n" {
		t.Error(got)
	}
}

// A retry that a journal answers is not announced.
func TestNoRetryFromAJournal(t *testing.T) {
	var b strings.Builder
	l := testLines(&b)
	e := runtime.Event{Kind: runtime.Retrying, Key: "plan", Node: planNode, Attempt: 1, Err: errors.New("gone"), Replayed: true}
	l.Observe(e)
	if b.Len() > 0 {
		t.Error(b.String())
	}
	e.Wait = time.Second // the run had stopped before
	l.Observe(e)
	if got := b.String(); got != "retry     plan attempt 1, gone, next in 1.0s\n" {
		t.Error(got)
	}
	l.close(nil)
}

// A log says from time to time what is running.
func TestBeats(t *testing.T) {
	var b strings.Builder
	now := time.Unix(0, 0)
	beats := make(chan time.Time)
	c := newConsole()
	c.stderr, c.now = &b, func() time.Time { return now }
	c.beats = func() (<-chan time.Time, func()) { return beats, func() {} }
	l := newLines(&c.system, logView{})
	start := func(key, tool string) {
		l.Observe(runtime.Event{Kind: runtime.NodeStart, Key: key, Node: planNode, Tool: tool})
	}
	start("each", "")
	l.Observe(runtime.Event{Kind: runtime.Progress, Key: "each", Node: planNode, Done: 3, Total: 9})
	start("each[0]/search", "search@1") // a map speaks for its items
	for i := range 6 {
		start(fmt.Sprint("n", i), "t@1")
	}
	l.Observe(ended("n0", planNode, time.Second, nil))
	now = now.Add(90 * time.Second)
	beats <- now
	l.close(nil)
	want := "ok        n0 1.0s\nrunning   each 1m30s (3/9 items), n1 1m30s, n2 1m30s, n3 1m30s, n4 1m30s, 1 more\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}
