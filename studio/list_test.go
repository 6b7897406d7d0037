package studio_test

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
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
