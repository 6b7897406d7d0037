package studio_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
	"github.com/flowgen-dev/flowgen/studio"
)

// TestListKept: what a server has read of runs is not what it says when they have changed, as little as one that begins then.
func TestListKept(t *testing.T) {
	dir := recorded(t)
	file := filepath.Join(dir, oneRun, "journal.jsonl")
	before := studio.New(studio.Options{Project: &fake{}, Runs: runs.Open(dir, runs.Options{})}, "4242")
	defer before.Close()
	same := func(when string) {
		t.Helper()
		now := studio.New(studio.Options{Project: &fake{}, Runs: runs.Open(dir, runs.Options{})}, "4242")
		defer now.Close()
		for _, path := range []string{"runs", "runs?q=TIMEOUT", "runs?state=waiting", "inbox", "project", "usage?group=node", "usage?format=csv&group=tool"} {
			got, want := ask(before, http.MethodGet, "/api/v1/"+path, "", nil), ask(now, http.MethodGet, "/api/v1/"+path, "", nil)
			if got.Code != http.StatusOK || got.Body.String() != want.Body.String() {
				t.Errorf("%s, %s: got %d\n%s\nwant\n%s", when, path, got.Code, got.Body, want.Body)
			}
		}
	}
	settled := func() {
		t.Helper()
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for sure := false; !sure; _, sure = wal.StampOf(wal.OS, file) {
			<-tick.C
		}
	}
	same("new")
	settled()
	same("read for the first time")
	same("kept")

	has, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	write := func(text []byte) {
		t.Helper()
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, info.ModTime(), info.ModTime()); err != nil {
			t.Fatal(err)
		}
	}
	damaged := bytes.Replace(has, []byte("bool"), []byte("null"), 1)
	write(damaged)
	same("damaged, as long as before")
	settled()
	same("damaged, read again")
	write(has)
	same("repaired")
	settled()
	same("repaired, read again")
	write(has[:bytes.LastIndexByte(has[:len(has)-1], '\n')+1])
	same("without its end")
	if err := os.RemoveAll(filepath.Dir(file)); err != nil {
		t.Fatal(err)
	}
	same("removed")
}

// TestFilters: each filter of the list leaves the runs that it names, in pages, and sums are made by each group.
func TestFilters(t *testing.T) {
	dir := t.TempDir()
	record := func(id string, lines ...string) {
		t.Helper()
		if err := os.Mkdir(filepath.Join(dir, id), 0o700); err != nil {
			t.Fatal(err)
		}
		log, _, err := wal.Open(wal.OS, filepath.Join(dir, id, "journal.jsonl"), wal.Buffered)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range lines {
			if err := log.Append([]byte(line), false); err != nil {
				t.Fatal(err)
			}
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
	}
	begun := func(workflow, tenant string, day int) string {
		return fmt.Sprintf(`{"kind":"run","format":1,"workflow":%q,"tenant":%q,"seed":"1","begin":"2026-01-%02dT15:04:05Z","graph":"g1","nodes":{"a":"1"},"input":{}}`, workflow, tenant, day)
	}
	const asked = `{"kind":"intent","key":"a","attempt":1,"tool":"openai:gpt-4o-mini@1","effects":"external","call_id":"c","input":{},"start_ns":1}`
	record("dear", begun("pay", "acme", 1), asked, `{"kind":"end","key":"a","attempt":1,"output":1,"cost_usd":"0.25","tokens":7,"metered":true,"end_ns":9}`, `{"kind":"finish","outcome":"succeeded","output":1,"at_ns":9}`)
	record("late", begun("pay", "acme", 2), asked, `{"kind":"end","key":"a","attempt":1,"error":{"code":"TIMEOUT","message":"too slow","details":null,"retry_after_s":null},"end_ns":9}`, `{"kind":"finish","outcome":"failed","failure":"node a: TIMEOUT: too slow","at_ns":9}`)
	record("free", begun("ship", "", 3), `{"kind":"finish","outcome":"succeeded","output":1,"at_ns":9}`)
	s := studio.New(studio.Options{Project: &fake{}, Runs: runs.Open(dir, runs.Options{})}, "4242")
	defer s.Close()
	for query, want := range map[string]string{
		"": "free late dear", "workflow=pay": "late dear", "state=failed": "late", "code=TIMEOUT": "late", "cost=0.25": "dear", "cost=0.26": "",
		"since=2026-01-02T00:00:00Z": "free late", "q=Too+SLOW": "late", "q=dea": "dear", "workflow=pay&state=succeeded&cost=0.01": "dear", "q=none": "", "before=late": "dear",
	} {
		var got struct {
			Runs   []struct{ ID string }
			Total  int
			Counts map[string]int
		}
		w := ask(s, http.MethodGet, "/api/v1/runs?"+query, "", nil)
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, r := range got.Runs {
			ids = append(ids, r.ID)
		}
		if strings.Join(ids, " ") != want {
			t.Errorf("%s: got %v, want %s", query, ids, want)
		}
		if query == "state=failed" && (got.Total != 3 || got.Counts["succeeded"] != 2) {
			t.Errorf("%s: %+v", query, got)
		}
	}
	for _, path := range []string{"runs?cost=much", "runs?since=yesterday", "usage?group=color", "usage?since=x"} {
		if w := ask(s, http.MethodGet, "/api/v1/"+path, "", nil); w.Code != http.StatusBadRequest {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	for group, want := range map[string]string{"workflow": "pay,2,2,1,0,7,0.25", "node": "pay: a,2,2,1,0,7,0.25", "tool": "openai:gpt-4o-mini@1,2,2,1,0,7,0.25", "model": "openai:gpt-4o-mini@1,1,1,0,0,7,0.25",
		"tenant": "acme,2,2,1,0,7,0.25", "day": "2026-01-01,1,1,0,0,7,0.25"} {
		if w := ask(s, http.MethodGet, "/api/v1/usage?format=csv&group="+group, "", nil); !strings.Contains(w.Body.String(), "\n"+want+",") {
			t.Errorf("%s: %s", group, w.Body)
		}
		if w := ask(s, http.MethodGet, "/api/v1/usage?group="+group, "", nil); !strings.Contains(w.Body.String(), `"cost_usd":"0.25"`) {
			t.Errorf("%s: %s", group, w.Body)
		}
	}
}
