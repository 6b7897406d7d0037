package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// logged writes the journal of run "one" into a new folder of runs.
func logged(t *testing.T, lines ...[]byte) (dir, file string) {
	t.Helper()
	dir = t.TempDir()
	file = filepath.Join(dir, "one", "journal.jsonl")
	if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	log, _, err := wal.Open(wal.OS, file, wal.Off)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		if err := log.Append(line, false); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, file
}

// TestInspectThroughAReader: a run of a folder, which is read through a Reader, is told as its journal is, which is read whole.
func TestInspectThroughAReader(t *testing.T) {
	call := func(key, tool string, start time.Duration) journal.Record {
		return journal.Record{Key: key, Attempt: 1, Tool: tool, Effects: "writes", CallID: "aabbccddeeff" + key, Start: start, Input: json.RawMessage(`{"question":"<go> on?","type":"bool"}`)}
	}
	begin := func(r journal.Record) []byte { return journal.EncodeRecord(r, false) }
	end := func(r journal.Record, at time.Duration, more func(*journal.Record)) []byte {
		r.Done, r.End, r.Output = true, at, json.RawMessage(`{"a":"<1>"}`)
		if more != nil {
			more(&r)
		}
		return journal.EncodeRecord(r, true)
	}
	failed := func(r *journal.Record) {
		r.Output, r.Error, r.Stack = nil, &value.ToolError{Code: value.NetworkError, Message: "nothing <there>\x1b"}, "goroutine 1"
	}
	const s = time.Second
	lines := [][]byte{
		journal.EncodeHeader(journal.Header{Workflow: "w", Graph: "g", Input: json.RawMessage(`{"x":"<y>"}`)}),
		begin(call("fetch", "fetch@1", 0)), begin(call("ask", engine.HumanTool, 0)),
		journal.EncodeResume(s, journal.Header{}, nil), // it was killed
		begin(call("fetch", "fetch@1", s)), begin(call("ask", engine.HumanTool, s)), begin(call("old", engine.HumanTool, s)),
		end(call("fetch", "fetch@1", s), 2*s, failed),
		end(call("beside", "beside@1", s), 2*s, func(r *journal.Record) { r.Output, r.Cancelled = nil, runtime.ByScope }),
		journal.EncodeFinish(journal.Finish{Outcome: journal.Failed, Failure: "fetch: NETWORK_ERROR: nothing there"}),
		journal.EncodeResume(3*s, journal.Header{}, []string{"fetch"}), // --again
		journal.EncodeAnswer(journal.Answer{Key: "old", Answer: "yes"}),
		begin(call("fetch", "fetch@1", 3*s)), end(call("fetch", "fetch@1", 3*s), 4*s, func(r *journal.Record) { r.Logs, r.Truncated, r.Cached = "one\ntwo\n", true, true }),
		end(call("plan", "m@1", 4*s), 5*s, func(r *journal.Record) {
			r.Metered, r.Tokens, r.CostUSD, r.Sandbox, r.Attachments = true, 12, 250_000_000, "wasm", []tool.Attachment{{Kind: "blob", URL: "file:///x"}}
		}),
		end(call("fetch.undo", "void@1", 5*s), 6*s, nil), end(call("plan.undo", "void@1", 5*s), 6*s, failed),
		end(call("stopped", "m@1", 5*s), 6*s, func(r *journal.Record) { r.Output, r.Cancelled = nil, runtime.ByRun }),
		begin(call("post", "post@1", 6*s)),
	}
	for i := range 30 {
		r := call(fmt.Sprintf("items[%d]/get#2", i), "get@1", s)
		r.Effects = "reads"
		lines = append(lines, end(r, s+time.Duration(i)*time.Millisecond, map[bool]func(*journal.Record){true: failed}[i%7 == 0]))
	}
	dir, file := logged(t, lines...)
	for _, args := range [][]string{{}, {"--all"}, {"--failed"}, {"--slow"}, {"--logs"}, {"--node", "get"}, {"--node", "gett"}, {"--format", "json"}, {"--failed", "--format", "json"},
		{"fetch"}, {"old"}, {"plan"}, {"aabbccddeeffpl"}, {"items/get"}, {"fetsh"}, {"fetch", "--format", "json"}, {"items/get", "--format", "json"}, {"--format", "jsonl"}} {
		told := func(run string) string {
			c := newConsole(append([]string{"inspect", run, "--runs", dir}, args...)...)
			code := c.run(echo)
			return fmt.Sprint(code, strings.NewReplacer(file, "one", strings.ReplaceAll(file, `\`, `\\`), "one").Replace(c.out.String()+c.err.String()))
		}
		if diff := cmp.Diff(told(file), told("one")); diff != "" {
			t.Errorf("inspect %v: %s", args, diff)
		}
	}
}

// TestInspectGrowth: a call more of a node with many takes no memory to speak of, as only what is shown is read.
func TestInspectGrowth(t *testing.T) {
	cost := func(n int) float64 {
		lines := [][]byte{journal.EncodeHeader(journal.Header{Workflow: "w"})}
		for i := range n {
			lines = append(lines, journal.EncodeRecord(journal.Record{Key: fmt.Sprintf("items[%d]", i), Attempt: 1, Tool: "t@1", Effects: "none", CallID: fmt.Sprintf("%064d", i), Done: true,
				Input: json.RawMessage(`"` + strings.Repeat("x", 900) + `"`), Output: json.RawMessage(`1`), Start: time.Duration(i), End: time.Duration(i + 1)}, true))
		}
		dir, _ := logged(t, lines...)
		look := func() {
			c := newConsole("inspect", "one", "--runs", dir)
			if code := c.run(echo); code != ExitOK || !strings.Contains(c.out.String(), fmt.Sprint(n, " attempts")) {
				t.Fatal(code, c.out.String(), c.err.String())
			}
		}
		look()
		return testing.AllocsPerRun(1, look)
	}
	if few, many := cost(2000), cost(8000); many-few > 6000*10 {
		t.Errorf("%v allocations for 2000 calls and %v for 8000", few, many)
	}
}
