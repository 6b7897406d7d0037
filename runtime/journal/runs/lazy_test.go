package runs_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
	"github.com/flowgen-dev/flowgen/runtime/usage"
)

// drawnLine is a line that may stand in a journal, and often may not stand there.
func drawnLine(t *rapid.T) string {
	pick := func(what string, of ...string) string { return rapid.SampledFrom(of).Draw(t, what) }
	key, attempt := pick("key", "a", "b[1]/c", "q", "undo", "b[1]/c.undo"), rapid.IntRange(1, 2).Draw(t, "attempt")
	at := rapid.IntRange(0, 99).Draw(t, "at")
	intent := fmt.Sprintf(`"key":%q,"attempt":%d,"tool":%q,"effects":%q,"call_id":"id%d","input":%s,"tokens":5,"start_ns":%d`, key, attempt,
		pick("tool", "t@1", "u@1", "human@1", "undo@1"), pick("effects", "none", "reads", "writes", "external"), at, pick("input", `{"x":1}`, `{}`, `{"text":"ship?","type":"string"}`), at)
	end := pick("end", `,"output":"y"`, `,"output":{"a":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]}`, `,"cancelled":"run"`, `,"cancelled":"scope"`, `,"broken":"output: no"`, `,"output":1,"metered":true,"cost_usd":"0.5"`,
		`,"denied":true,"error":{"code":"DENIED","message":"m","details":null,"retry_after_s":null}`,
		`,"error":{"code":"TIMEOUT","message":"m","details":null,"retry_after_s":null},"stack":"s","logs":"l","truncated":true`) + fmt.Sprintf(`,"end_ns":%d}`, at+9)
	switch rapid.IntRange(0, 12).Draw(t, "kind") {
	case 0, 1, 2, 3:
		return `{"kind":"intent",` + intent + pick("limit", "", `,"limit_ns":7`, `,"broken":"input: no"`, `,"node":"3"`) + `}`
	case 4, 5, 6, 7:
		return fmt.Sprintf(`{"kind":"end","key":%q,"attempt":%d`, key, attempt) + end
	case 8:
		return `{"kind":"end",` + intent + end
	case 9:
		return fmt.Sprintf(`{"key":%q,"kind":"end","attempt":%d`, key, attempt) + end
	case 10:
		return fmt.Sprintf(`{"kind":"answer","key":%q,"answer":"yes","at":"2026-01-02T15:04:05Z"}`, key)
	case 11:
		return `{"kind":"resume","at_ns":40` + pick("resume", "", `,"graph":"g2","nodes":{"a":"2","q":"1"}`, `,"graph":"g3","nodes":{"a":"1"}`, `,"again":["a"]`) + `}`
	}
	return `{"kind":"finish","outcome":` + pick("outcome", `"failed","key":"a"`, `"waiting"`, `"cancelled"`, `"succeeded","output":1`) + `,"at_ns":12}`
}

// TestLazy: a journal whose records are read again says the same as one that is kept whole, and is refused with the same words.
func TestLazy(t *testing.T) {
	runs.SmallFiles(t, 40)
	dir := t.TempDir()
	accepted, n := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		lines := []string{run1}
		for range rapid.IntRange(0, 14).Draw(t, "lines") {
			line := drawnLine(t)
			with := append(append([]string{}, lines...), line)
			if rapid.IntRange(0, 9).Draw(t, "wrong") == 0 || added(with) {
				lines = with
			}
		}
		n++
		id := fmt.Sprintf("w-20260102T150405000-%04x", n%65536)
		writeLog(t, filepath.Join(dir, id, "journal.jsonl"), lines)
		folder := runs.Open(dir, runs.Options{})
		whole, werr := folder.Read(id)
		lazy, err := folder.ReadLazy(id)
		if fmt.Sprint(err) != fmt.Sprint(werr) {
			t.Fatalf("lazily: %v; whole: %v", err, werr)
		}
		if err == nil {
			accepted++
			same(t, whole, lazy)
		}
		if err := os.RemoveAll(filepath.Join(dir, id)); err != nil {
			t.Fatal(err)
		}
	})
	if accepted == 0 || accepted == n {
		t.Errorf("%d of %d journals are right", accepted, n)
	}
}

func added(lines []string) bool {
	j := new(journal.Journal)
	for _, l := range lines {
		if j.Add([]byte(l)) != nil {
			return false
		}
	}
	return true
}

func writeLog(t interface{ Fatal(...any) }, name string, lines []string) {
	err := os.MkdirAll(filepath.Dir(name), 0o700)
	if err != nil {
		t.Fatal(err)
	}
	log, _, err := wal.Open(wal.OS, name, wal.Off)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lines {
		if err := log.Append([]byte(l), false); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
}

type spent struct {
	Tool  string
	Calls int64
	Took  usage.Spend
}

// same holds all that can be asked of two journals against each other.
func same(t interface{ Fatalf(string, ...any) }, whole, lazy *journal.Journal) {
	about := func(j *journal.Journal) map[string]any {
		text, err := j.MarshalText()
		past := journal.NewPast(j, map[string]string{"a": "2"}, nil, nil)
		paid := []spent{}
		past.Spent("", func(tool string, calls int64, took usage.Spend) { paid = append(paid, spent{tool, calls, took}) })
		doubt := map[string]string{}
		for _, key := range []string{"a", "q", "undo", "b[1]/c"} {
			for attempt := range 3 {
				r, ok := j.Lookup(key, attempt)
				doubt[fmt.Sprint(key, attempt)] = fmt.Sprintf("%v %+v %v %v", ok, r, r.InDoubt(), j.Changed(r, map[string]string{"a": "2"}))
			}
		}
		return map[string]any{"text": string(text), "err": err, "earlier": j.Earlier(), "questions": j.Questions(), "asked": j.Asked("q"), "keys": j.Keys(),
			"undone": j.Undone(), "in doubt": j.InDoubt(), "mixed": j.Mixed(), "header": j.Header(), "finish": j.Finish(), "records": j.Records(), "lookup": doubt,
			"worked": past.Worked(""), "below": past.Worked("b["), "spent": paid}
	}
	if diff := cmp.Diff(about(whole), about(lazy), cmpopts.SortSlices(func(a, b spent) bool { return fmt.Sprint(a) < fmt.Sprint(b) })); diff != "" {
		t.Fatalf("a journal that is read lazily (+) is another one (-):\n%s", diff)
	}
}

// TestLazyBlobs: values in files of their own are there, and one that is missing is noticed when the journal is read, or when it is
// asked for.
func TestLazyBlobs(t *testing.T) {
	runs.SmallFiles(t, 40)
	folder := runs.Open(t.TempDir(), runs.Options{})
	f := randomFlow(3)
	e := folder.New(f.info)
	if _, err := f.run(t.Context(), newOutside(), e); err != nil {
		t.Fatal(err)
	}
	whole, err := folder.Read(e.ID())
	if err != nil {
		t.Fatal(err)
	}
	lazy, err := folder.ReadLazy(e.ID())
	if err != nil {
		t.Fatal(err)
	}
	same(t, whole, lazy)
	again, err := folder.ReadLazy(e.ID())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(folder.Dir(), e.ID())); err != nil {
		t.Fatal(err)
	}
	for _, r := range again.Records() {
		if r.Lost == nil || r.Key == "" || r.Tool == "" {
			t.Errorf("%+v", r)
		}
	}
	out, err := f.run(t.Context(), newOutside(), journal.Replay(again))
	if err == nil {
		t.Errorf("a replay of what cannot be read: %v", out)
	}
	if _, err := folder.ReadLazy(e.ID()); !errors.Is(err, runs.ErrNoRun) {
		t.Errorf("%v", err)
	}
}
