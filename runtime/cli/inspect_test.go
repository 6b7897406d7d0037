package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// looked is a journal with a call in every state.
func looked() *journal.Journal {
	ms := time.Millisecond
	j := journal.New(journal.Header{Workflow: "sample", Graph: "g1", Program: "v1", Seed: 7,
		Begin: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Input: json.RawMessage(`{"repo":"a\u001b[2Jb"}`)})
	for _, r := range []journal.Record{
		{Key: "fetch", Attempt: 1, Tool: "fetch@1", Effects: "reads", Done: true, End: 100 * ms,
			Error: &value.ToolError{Code: value.NetworkError, Message: "gone\x1b[31m away"}},
		{Key: "fetch", Attempt: 2, Tool: "fetch@1", Effects: "reads", Done: true, Start: 150 * ms, End: 250 * ms, CallID: "abcdef0123",
			Input: json.RawMessage(`{"url":"x"}`), Output: json.RawMessage(`"text\u202e"`)},
		{Key: "probe[0]/search", Attempt: 1, Tool: "search@2", Effects: "none", Done: true, Cached: true, Start: 250 * ms, End: 251 * ms, Output: json.RawMessage(`1`)},
		{Key: "probe[1]/search", Attempt: 1, Tool: "search@2", Effects: "none", Done: true, Start: 250 * ms, End: 300 * ms, Cancelled: runtime.ByScope},
		{Key: "plan", Attempt: 1, Tool: "openai:m@1", Effects: "external", Done: true, Metered: true, Start: 300 * ms, End: 900 * ms, Tokens: 321, CostUSD: 12_300_000},
		{Key: "sure", Attempt: 1, Tool: engine.HumanTool, Effects: "reads", Start: 900 * ms, Input: json.RawMessage(`{"question":"go on?","type":"string","choices":["yes","no"]}`)},
		{Key: "post", Attempt: 1, Tool: "post@1", Effects: "writes", Start: 950 * ms, CallID: "99887766", CostUSD: 5},
	} {
		j.Put(r)
	}
	return j
}

// cassette writes a journal as a file.
func cassette(t *testing.T, j *journal.Journal) string {
	t.Helper()
	text, err := j.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "j.jsonl")
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func inspect(t *testing.T, want int, args ...string) (stdout, stderr string) {
	t.Helper()
	c := newConsole(append([]string{"inspect"}, args...)...)
	if code := c.run(echo); code != want {
		t.Fatalf("%v: exit code %d, want %d\n%s", args, code, want, c.err.String())
	}
	return c.out.String(), c.err.String()
}

func TestInspectRun(t *testing.T) {
	name := cassette(t, looked())
	got, _ := inspect(t, ExitOK, name)
	want := `run       FILE
workflow  sample
versions  graph g1, program v1
began     2026-01-02 03:04:05 UTC
took      950ms
outcome   not ended: it is running, or was killed
input     {"repo":"a\u001b[2Jb"}

    +0ms   100ms  [===                 ]  x fetch            fetch@1, NETWORK_ERROR: gone away
  +150ms   100ms  [   ===              ]  + fetch            fetch@1, attempt 2
  +250ms     1ms  [     =              ]  + probe[0]/search  search@2, cached
  +250ms    50ms  [     ==             ]  - probe[1]/search  search@2, cancelled by the failure of a sibling
  +300ms   600ms  [      ============= ]  + plan             openai:m@1, 321 tokens, $0.0123
  +900ms       -  [                  = ]  ! sure             human@1, waiting for an answer
  +950ms       -  [                   =]  ! post             post@1, no result: it may have happened

6 calls, 7 attempts, 1 cached, 1 failed, 1 cancelled, 2 without a result, 321 tokens, $0.0123, calls took 851ms together

waiting for an answer to sure
  go on?
  answer (one of yes, no): PROGRAM respond FILE sure ANSWER

started without a result; if the run was stopped, these may have happened:
  post, attempt 1, post@1, call_id 99887766
`
	if diff := cmp.Diff(want, strings.NewReplacer(name, "FILE", filepath.Base(os.Args[0])+" respond", "PROGRAM respond").Replace(got)); diff != "" {
		t.Error(diff)
	}
}

func TestInspectJSON(t *testing.T) {
	name := cassette(t, looked())
	out, _ := inspect(t, ExitOK, name, "--format", "json")
	var i struct {
		inspection
		Calls []inspectedCall `json:"calls"`
	}
	if err := json.Unmarshal([]byte(out), &i); err != nil {
		t.Fatal(err)
	}
	states := map[string]string{}
	for _, c := range i.Calls {
		states[c.Key] = c.State
	}
	want := map[string]string{"fetch": callDone, "probe[0]/search": callDone, "probe[1]/search": callCancelled, "plan": callDone, "sure": callWaiting, "post": callInDoubt}
	if diff := cmp.Diff(want, states); diff != "" {
		t.Error(diff)
	}
	if i.Totals.CostUSD != 12_300_000 || i.Totals.Open != 2 || len(i.Waiting) != 1 || len(i.InDoubt) != 1 || i.InDoubt[0].CallID != "99887766" {
		t.Errorf("%+v", i)
	}
	// Of a run in which nothing happened the lists are there all the same.
	out, _ = inspect(t, ExitOK, cassette(t, journal.New(journal.Header{Workflow: "w"})), "--format", "json")
	if !strings.Contains(out, `"calls": []`) || !strings.Contains(out, `"waiting": []`) {
		t.Error(out)
	}
}

// A question that stopped its run waits, although the end of the run has cancelled it.
func TestInspectParked(t *testing.T) {
	j := journal.New(journal.Header{Workflow: "w"})
	j.Put(journal.Record{Key: "ask", Attempt: 1, Tool: engine.HumanTool, Effects: "reads", Done: true, Cancelled: runtime.ByRun, Input: json.RawMessage(`{"question":"go on?","type":"bool"}`)})
	j.SetFinish(journal.Finish{Outcome: journal.Waiting})
	got, _ := inspect(t, ExitOK, cassette(t, j))
	if !strings.Contains(got, "waiting for an answer to ask\n  go on?\n  answer (bool): ") || strings.Contains(got, "cancelled") {
		t.Error(got)
	}
	j.AddAnswer(journal.Answer{Key: "ask", Answer: "yes"})
	if got, _ = inspect(t, ExitOK, cassette(t, j)); strings.Contains(got, "waiting for an answer to ask") {
		t.Error(got)
	}
}

func TestInspectCall(t *testing.T) {
	name := cassette(t, looked())
	if got, _ := inspect(t, ExitOK, name, "plan"); !strings.Contains(got, "tool      openai:m@1, effects asks\n") {
		t.Error(got)
	}
	for _, key := range []string{"fetch", "abcdef"} {
		got, _ := inspect(t, ExitOK, name, key)
		last := `call      fetch
attempt   2
tool      fetch@1, effects reads
call_id   abcdef0123
began     +150ms, took 100ms
notes     attempt 2
state     done
input
  {
    "url": "x"
  }
output
  "text\u202e"
`
		if key == "fetch" {
			if n := strings.Count(got, "call      fetch\n"); n != 2 {
				t.Errorf("%d attempts\n%s", n, got)
			}
			_, got, _ = strings.Cut(got, "\n\n")
		}
		if diff := cmp.Diff(last, got); diff != "" {
			t.Errorf("%s: %s", key, diff)
		}
	}
	got, _ := inspect(t, ExitOK, name, "probe/search")
	if strings.Count(got, "\n") != 2 || !strings.Contains(got, "probe[1]/search") {
		t.Errorf("calls of a node:\n%s", got)
	}
	out, _ := inspect(t, ExitOK, name, "post", "--format=json")
	var list []journal.Record
	if err := json.Unmarshal([]byte(out), &list); err != nil || len(list) != 1 || list[0].CallID != "99887766" {
		t.Errorf("%v %s", err, out)
	}
}

func TestInspectMistakes(t *testing.T) {
	name := cassette(t, looked())
	dir := t.TempDir()
	broken := filepath.Join(dir, "x.jsonl")
	if err := os.WriteFile(broken, []byte("{\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"latest", "--runs", dir}, ExitUsage, "no such run"},
		{[]string{"../../etc", "--runs", dir}, ExitUsage, "no such run"},
		{[]string{name, "fetsh"}, ExitUsage, "did you mean fetch?"},
		{[]string{name, "a", "b"}, ExitUsage, "unexpected argument b"},
		{[]string{"--format", "yaml"}, ExitUsage, "unknown format yaml"},
		{[]string{"--fromat", "json"}, ExitUsage, "did you mean --format?"},
		{[]string{broken}, ExitFault, "x.jsonl"},
		{[]string{filepath.Join(dir, "none.jsonl")}, ExitFault, "none.jsonl"},
	} {
		out, stderr := inspect(t, tt.code, tt.args...)
		if out != "" || !strings.Contains(stderr, tt.want) {
			t.Errorf("%v: %q, stderr %q", tt.args, out, stderr)
		}
	}
}

func TestInspectList(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs")
	if got, _ := inspect(t, ExitOK, "--runs", dir); got != "there are no runs in "+dir+"\n" {
		t.Error(got)
	}
	e := runs.Open(dir, runs.Options{}).New(sampleInfo)
	w, err := newSample(func(context.Context, sampleInput) (sampleInput, error) {
		return sampleInput{}, value.Invalid("not\x1b[2J this one")
	})(runtime.WithEngine(e))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Run(t.Context(), sampleInput{Limit: 1, Mode: "fast"}); err == nil {
		t.Fatal("no error")
	}
	got, _ := inspect(t, ExitOK, "--runs", dir)
	if !strings.HasPrefix(got, e.ID()) || strings.Contains(got, "\x1b") || !strings.Contains(got, "failed: ") || !strings.Contains(got, "not this one") {
		t.Errorf("%q", got)
	}
	got, _ = inspect(t, ExitOK, "--runs", dir, "latest")
	if !strings.Contains(got, "run       "+e.ID()+"\n") || !strings.Contains(got, "outcome   failed\n") {
		t.Error(got)
	}
	out, _ := inspect(t, ExitOK, "--runs", dir, "--format", "json")
	var list []runs.Run
	if err := json.Unmarshal([]byte(out), &list); err != nil || len(list) != 1 || list[0].Outcome != journal.Failed {
		t.Errorf("%v %s", err, out)
	}
}

// Lines fit the terminal, and colours do not count.
func TestInspectFits(t *testing.T) {
	i := inspectionOf("id", looked())
	for _, wide := range []int{1, 20, 40, 80} {
		text := &sheet{paper: paper{wide: wide, style: style{glyphs: plainGlyphs, ellipsis: "..."}}}
		text.inspection(i)
		for l := range strings.Lines(text.b.String()) {
			if n := width(strings.TrimSuffix(l, "\n")); n > wide {
				t.Errorf("%d columns for %d: %q", n, wide, l)
			}
		}
	}
	coloured := &sheet{paper: paper{wide: 300, style: style{colour: true, glyphs: plainGlyphs, ellipsis: "..."}}}
	coloured.inspection(i)
	if !strings.Contains(coloured.b.String(), red+" fetch") {
		t.Errorf("%q", coloured.b.String())
	}
}

// No text of a journal reaches the terminal as anything but text, and times that make no sense are drawn somehow.
func TestInspectHostile(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		evil := hostile()
		j := journal.New(journal.Header{Workflow: evil.Draw(rt, "workflow"), From: evil.Draw(rt, "from")})
		j.SetFinish(journal.Finish{Outcome: journal.Failed, Failure: evil.Draw(rt, "failure"), At: time.Duration(rapid.Int64().Draw(rt, "at"))})
		input, err := json.Marshal(evil.Draw(rt, "input"))
		if err != nil {
			rt.Fatal(err)
		}
		r := journal.Record{Key: "k" + evil.Draw(rt, "key"), Attempt: 1, Tool: evil.Draw(rt, "tool"), Effects: evil.Draw(rt, "effects"), CallID: evil.Draw(rt, "id"),
			Input: input, Done: rapid.Bool().Draw(rt, "done"), Start: time.Duration(rapid.Int64().Draw(rt, "start")), End: time.Duration(rapid.Int64().Draw(rt, "end"))}
		if rapid.Bool().Draw(rt, "failed") {
			r.Error = value.Invalid("%s", evil.Draw(rt, "error"))
		}
		j.Put(r)
		text := &sheet{paper: paper{style: style{glyphs: plainGlyphs, ellipsis: "..."}}}
		i := inspectionOf(evil.Draw(rt, "name"), j)
		text.inspection(i)
		text.record(recorded{j: j}, r, i.Calls.at(0))
		out, err := encode(i)
		if err != nil {
			rt.Fatal(err)
		}
		for _, b := range [][]byte{[]byte(text.b.String()), out} {
			if bytes.ContainsAny(b, "\x1b\u202e\x7f") {
				rt.Fatalf("%q", b)
			}
		}
	})
}
