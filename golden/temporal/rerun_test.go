//go:build unix

package temporal

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A run begins with the results of another one: what has changed is called again, what has not is not. An edit that a run cannot go on
// with is refused, and the message names the way.
func TestRerun(t *testing.T) {
	served(t)
	w := newWorld()
	defer w.close()
	text, err := os.ReadFile("testdata/ledger.flowgen.yaml")
	if err != nil {
		t.Fatal(err)
	}
	edited := filepath.Join(t.TempDir(), "ledger.flowgen.yaml")
	if err := os.WriteFile(edited, []byte(strings.Replace(string(text), `at: "book-{{ open }}"`, `at: "buch-{{ open }}"`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	old, later := build(t, "testdata/ledger.flowgen.yaml"), build(t, edited)
	queue := []string{"--queue", "rerun"}
	rerun := func(id string, more ...string) []string {
		return append(append([]string{"rerun", "--temporal", "--id", id, "--wait"}, queue...), more...)
	}
	worker(t, old, queue...)
	want := ok(t, old, append([]string{"start", "--id", "rerun", "--wait", "--input", "port=" + strconv.Itoa(w.port()), "--input", `items=["a","bb"]`}, queue...)...)
	before, _ := w.counts()
	held := func(again ...string) {
		t.Helper()
		for _, at := range again {
			before[at]++
		}
		asked, _ := w.counts()
		for at, n := range asked {
			if n != before[at] {
				t.Errorf("%s was asked for %d times, want %d", at, n, before[at])
			}
		}
	}

	fails(t, 2, "rerun needs a change", old, rerun("same", "rerun")...)
	out, complaints, code := call(t, old, rerun("from", "--from", "last", "rerun")...)
	if code != 0 || out != want || complaints != "executed again: last\n" {
		t.Errorf("exit %d, %s%s\nwant %s", code, out, complaints, want)
	}
	held("close-2-6")
	fails(t, 2, "unknown node lst; did you mean last?", old, rerun("from", "--from", "lst", "rerun")...)
	if out = ok(t, old, rerun("set", "--set", "last=41", "rerun")...); !strings.Contains(out, `"last": 41`) {
		t.Error(out)
	}
	held()

	worker(t, old, "--queue", "rerun-long", "--events", "30") // it goes on in new histories
	if out = ok(t, old, "rerun", "--temporal", "--id", "renewed", "--wait", "--queue", "rerun-long", "--from", "each", "rerun"); out != want {
		t.Errorf("%s\nwant %s", out, want)
	}
	held("price-a", "price-bb", "charge-a-7", "charge-bb-8", "mail-a-10", "mail-bb-11", "poll-0", "poll-1", "poll-2", "close-2-6")
	if h := ok(t, old, "history", "renewed"); !strings.Contains(h, "continuedExecutionRunId") {
		t.Error("one history")
	}
	ok(t, old, "replay", "renewed", "--events", "30")

	worker(t, later, queue...)
	fails(t, 1, "node book", later, rerun("refused", "rerun")...)
	fails(t, 1, "--format jsonl` of the program that started it", later, rerun("refused", "rerun")...)
	journal := file(t, "rerun.jsonl", ok(t, old, "inspect", "--temporal", "--format", "jsonl", "rerun"))
	out, complaints, code = call(t, later, rerun("edited", journal)...)
	if code != 0 || out != want || complaints != "executed again: book\n" {
		t.Errorf("exit %d, %s%s\nwant %s", code, out, complaints, want)
	}
	held("buch-4")
	ok(t, later, "replay", "edited")
	if text := ok(t, later, "inspect", "--temporal", "edited"); !strings.Contains(text, "succeeded") {
		t.Error(text)
	}
	fails(t, 2, "a run already has the id edited", later, rerun("edited", journal)...)
	fails(t, 2, "is a run of ledger, this is publish", build(t, "testdata/publish.flowgen.yaml"), "rerun", "--temporal", journal)
	fails(t, 2, "unknown run nothing", old, rerun("x", "nothing")...)
	fails(t, 2, "which run?", old, "rerun", "--temporal")
}
