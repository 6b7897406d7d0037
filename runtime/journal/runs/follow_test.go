package runs_test

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
)

// followed are journals with all that can happen to an attempt.
var followed = map[string][]string{
	"failed and made again": {
		run1,
		`{"kind":"intent","key":"a","attempt":1,"tool":"t@1","effects":"reads","call_id":"c1","input":{"x":1},"start_ns":10}`,
		`{"kind":"end","key":"a","attempt":1,"output":"y","cost_usd":"0.25","tokens":12,"metered":true,"end_ns":20}`,
		`{"kind":"intent","key":"b","attempt":1,"tool":"t@1","effects":"writes","call_id":"c2","input":{},"start_ns":21}`,
		`{"kind":"end","key":"b","attempt":1,"error":{"code":"TIMEOUT","message":"m","details":null,"retry_after_s":null},"end_ns":30}`,
		`{"kind":"intent","key":"c","attempt":1,"tool":"t@1","effects":"none","call_id":"c3","input":{},"start_ns":22}`,
		`{"kind":"end","key":"c","attempt":1,"cancelled":"scope","end_ns":31}`,
		`{"kind":"finish","outcome":"failed","failure":"b failed","key":"b","at_ns":32}`,
		`{"kind":"resume","at_ns":40,"again":["b"]}`,
		`{"kind":"intent","key":"b","attempt":1,"tool":"t@1","effects":"writes","call_id":"c2","input":{},"start_ns":41}`,
		`{"kind":"end","key":"b","attempt":1,"output":1,"cached":true,"end_ns":50}`,
		`{"kind":"finish","outcome":"succeeded","output":{"z":2},"at_ns":60}`,
	},
	"stopped, then another program": {
		run1,
		`{"kind":"intent","key":"a","attempt":1,"tool":"t@1","effects":"reads","call_id":"c1","input":{"x":1},"start_ns":10}`,
		`{"kind":"end","key":"a","attempt":1,"output":"y","end_ns":20}`,
		`{"kind":"intent","key":"b","attempt":1,"tool":"t@1","effects":"writes","call_id":"c2","input":{},"start_ns":21}`,
		`{"kind":"resume","at_ns":40,"graph":"g2","nodes":{"a":"2"}}`,
		`{"kind":"intent","key":"a","attempt":1,"tool":"t@2","effects":"reads","call_id":"c1","input":{"x":1},"start_ns":41}`,
		`{"kind":"end","key":"a","attempt":1,"output":"w","end_ns":50}`,
		`{"kind":"intent","key":"b","attempt":1,"tool":"t@1","effects":"writes","call_id":"c2","input":{},"start_ns":51}`,
	},
	"asked and answered": {
		run1,
		`{"kind":"intent","key":"q","attempt":1,"tool":"human@1","effects":"none","call_id":"c1","input":{"text":"ship?","type":"string"},"start_ns":10,"limit_ns":100}`,
		`{"kind":"end","key":"q","attempt":1,"cancelled":"run","end_ns":11}`,
		`{"kind":"finish","outcome":"waiting","at_ns":12}`,
		`{"kind":"answer","key":"q","answer":"yes","at":"2026-01-02T15:04:05Z"}`,
		`{"kind":"resume","at_ns":40}`,
		`{"kind":"intent","key":"q","attempt":1,"tool":"human@1","effects":"none","call_id":"c1","input":{"text":"ship?","type":"string"},"start_ns":41}`,
		`{"kind":"end","key":"q","attempt":1,"output":"yes","end_ns":42}`,
	},
}

const run1 = `{"kind":"run","format":1,"workflow":"w","seed":"1","begin":"2026-01-02T15:04:05Z","graph":"g1","nodes":{"a":"1"},"input":{}}`

// TestFollow reads journals while they grow, byte by byte, and holds what a Reader knows after each line against what the
// whole journal says, and the list of runs against both.
func TestFollow(t *testing.T) {
	for name, lines := range followed {
		t.Run(name, func(t *testing.T) {
			text := sealed(t, lines)
			dir := t.TempDir()
			const id = "w-20260102T150405000-abcd"
			file := filepath.Join(dir, id, "journal.jsonl")
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			folder := runs.Open(dir, runs.Options{})
			r, err := folder.Follow(id)
			if err != nil {
				t.Fatal(err)
			}
			seen := map[int]bool{}
			for n := 1; n <= len(text); n++ {
				if err := os.WriteFile(file, text[:n], 0o600); err != nil {
					t.Fatal(err)
				}
				changed, more, err := r.Next()
				if complete := text[n-1] == '\n'; err != nil || more != complete {
					t.Fatalf("after %d bytes: more %v, %v", n, more, err)
				} else if !complete {
					continue
				}
				for _, i := range changed {
					seen[i] = true
				}
				want, err := folder.Read(id)
				if err != nil {
					t.Fatal(err)
				}
				if got, want := described(t, r), wholly(want); got != want {
					t.Fatalf("after %d lines: got\n%s\nwant\n%s", bytes.Count(text[:n], []byte("\n")), got, want)
				}
				list, err := folder.List()
				if err != nil || len(list) != 1 || list[0].Outcome != want.Finish().Outcome || list[0].Failure != want.Finish().Failure || list[0].Workflow != "w" {
					t.Fatalf("the list is %+v, %v", list, err)
				}
			}
			if len(seen) != len(r.Calls()) {
				t.Errorf("of %d calls %d were returned as new", len(r.Calls()), len(seen))
			}
		})
	}
}

// described is what a Reader knows of the calls, with their inputs and outputs.
func described(t *testing.T, r *runs.Reader) string {
	var lines []string
	for i := range r.Calls() {
		c := &r.Calls()[i]
		rec, err := r.Record(i)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, fmt.Sprint(c.Again, c.Key, c.Attempt, c.Tool, c.CallID, r.State(c), c.Start, c.Cached, c.Code, string(rec.Input), string(rec.Output)))
	}
	slices.Sort(lines)
	return strings.Join(append(lines, fmt.Sprint(r.Finish().Outcome, r.Header().Graph)), "\n")
}

func wholly(j *journal.Journal) string {
	var lines []string
	line := func(r journal.Record, again bool) {
		state, code := journal.StateOf(&r, j.Waits(&r)), ""
		if again {
			state = state.Earlier()
		}
		if r.Error != nil {
			code = string(r.Error.Code)
		}
		lines = append(lines, fmt.Sprint(again, r.Key, r.Attempt, r.Tool, r.CallID, state, r.Start, r.Cached, code, string(r.Input), string(r.Output)))
	}
	for _, r := range j.Records() {
		line(r, false)
	}
	for _, r := range j.Earlier() {
		line(r, true)
	}
	slices.SortFunc(lines, cmp.Compare)
	return strings.Join(append(lines, fmt.Sprint(j.Finish().Outcome, j.Header().Graph)), "\n")
}

func sealed(t testing.TB, lines []string) []byte {
	t.Helper()
	name := filepath.Join(t.TempDir(), "log")
	writeLog(t, name, lines)
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestFollowDamaged: a changed byte is damage at its line, and what is before it stays.
func TestFollowDamaged(t *testing.T) {
	lines := followed["failed and made again"]
	text := sealed(t, lines)
	text[bytes.Index(text, []byte(`"output":"y"`))+10] = 'n'
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "one"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "one", "journal.jsonl"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := runs.Open(dir, runs.Options{}).Follow("one")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.All(); err == nil || !strings.Contains(err.Error(), "line 3 of the journal") {
		t.Errorf("the error is %v", err)
	}
	if len(r.Calls()) != 1 || r.Header().Workflow != "w" {
		t.Errorf("of what is before it %v is left", r.Calls())
	}
}

// TestPlanIsKept: the plan of a workflow is next to its runs once, and only under a hash.
func TestPlanIsKept(t *testing.T) {
	dir := t.TempDir()
	folder := runs.Open(dir, runs.Options{Now: func() time.Time { return time.Unix(1, 0) }})
	f := &program{info: &flow.Info{Name: "f", Nodes: []*flow.Node{{ID: "n", Pos: "f.yaml:3:1"}}, Facts: flow.NewFacts(`{"hashes":{"graph":"abc1"},"plan":{"plan":1,"parts":[]},"manifest":{"manifest":1}}`)}}
	for range 2 {
		if _, err := f.run(t.Context(), &outside{}, folder.New(f.info)); err != nil {
			t.Fatal(err)
		}
	}
	p, err := folder.Plan("abc1")
	if err != nil || p.Workflow != "f" || len(p.Nodes) != 1 || p.Nodes[0].Pos != "f.yaml:3:1" || string(p.Plan) != `{"plan":1,"parts":[]}` {
		t.Fatalf("the plan is %+v, %v", p, err)
	}
	if list, err := folder.List(); err != nil || len(list) != 2 {
		t.Errorf("the list is %v, %v", list, err)
	}
	for _, graph := range []string{"", "abc2", "../abc1", "ABC", strings.Repeat("a", 200)} {
		if p, err := folder.Plan(graph); err == nil {
			t.Errorf("%q has the plan %v", graph, p)
		}
	}
}

// TestBusyRuns: a run is busy while a process has it, and no longer; to ask keeps nobody away.
func TestBusyRuns(t *testing.T) {
	dir := t.TempDir()
	folder := runs.Open(dir, runs.Options{})
	if err := os.Mkdir(filepath.Join(dir, "one"), 0o700); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "one", "journal.jsonl")
	log, _, err := wal.Open(wal.OS, name, wal.Buffered)
	if err != nil {
		t.Fatal(err)
	}
	if !folder.Busy("one") {
		t.Error("an open run is not busy")
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if folder.Busy("one") || folder.Busy("two") || folder.Busy("../one") {
		t.Error("a closed run is busy")
	}
	for _, text := range []string{"", "x", "0 -", "999999999 -", "1 -1", "-1 -", strings.Repeat("9", 100)} { // what a crash or somebody else leaves
		if err := os.WriteFile(name+".lock", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if folder.Busy("one") {
			t.Errorf("a lock with %q is busy", text)
		}
	}
}
