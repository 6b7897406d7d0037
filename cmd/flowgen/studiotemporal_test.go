//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
)

// reader stands for a program of `build --engine temporal`: it lists one run, whose journal is a file.
const reader = `#!/bin/sh
case "$1" in
list) echo '[{"id": "order/1", "workflow": "triage", "status": "running", "started": "2026-01-02T15:04:05Z"}]' ;;
inspect) if [ "$6" != order/1 ] && [ "$5" != order/1 ]; then echo "unknown run" >&2; exit 2; fi; cat "journal.jsonl" ;;
esac
`

// TestStudioTemporal: runs on Temporal are read by the program of --temporal, whose journals are copied for the page only when they have
// changed; what the program says against it is what the page shows.
func TestStudioTemporal(t *testing.T) {
	recorded, err := os.ReadFile(filepath.Join("..", "..", "examples", "triage", "testdata", "triage", "review.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	lines := bytes.SplitAfter(recorded, []byte("\n"))
	for name, text := range map[string][]byte{"ship": []byte(reader), "journal.jsonl": bytes.Join(lines[:2], nil)} {
		if err := os.WriteFile(name, text, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	program, err := programFile("./ship")
	if err != nil || !filepath.IsAbs(program) {
		t.Fatalf("%s %v", program, err)
	}
	if _, err := programFile("./nothing"); err == nil {
		t.Error("a program that is not there is none")
	}
	r, done, err := (&studioFlags{temporal: program}).onTemporal()
	if err != nil {
		t.Fatal(err)
	}
	all, err := r.List(t.Context())
	if err != nil || len(all) != 1 || all[0].ID != "order/1" || all[0].Status != "running" {
		t.Fatalf("%+v %v", all, err)
	}
	calls := func(f *runs.Folder, name string) int {
		t.Helper()
		reader, err := f.Follow(name)
		if err == nil {
			err = reader.All()
		}
		if err != nil {
			t.Fatal(err)
		}
		return len(reader.Calls())
	}
	first, name, err := r.Copy(t.Context(), "order/1", nil)
	if err != nil || name != copyName || calls(first, name) != 1 {
		t.Fatalf("%s %v", name, err)
	}
	if same, _, err := r.Copy(t.Context(), "order/1", first); err != nil || same != first {
		t.Errorf("a run that has not gone on is copied again: %v", err)
	}
	if err := os.WriteFile("journal.jsonl", bytes.Join(lines[:3], nil), 0o600); err != nil {
		t.Fatal(err)
	}
	if next, name, err := r.Copy(t.Context(), "order/1", first); err != nil || next == first || calls(next, name) != 2 {
		t.Errorf("a run that has gone on: %v", err)
	}
	if _, _, err := r.Copy(t.Context(), "other", nil); err == nil || !strings.Contains(err.Error(), "unknown run") {
		t.Errorf("another run: %v", err)
	}
	scratch := filepath.Dir(first.Dir())
	if done(); !strings.Contains(scratch, "flowgen-studio-") {
		t.Error(scratch)
	}
	if _, err := os.Stat(scratch); !os.IsNotExist(err) {
		t.Errorf("copies are left behind: %v", err)
	}
}

// TestStudioTemporalPage: the page lists such a run and shows its calls as those of a run of the folder, and is read-only.
func TestStudioTemporalPage(t *testing.T) {
	recorded, err := os.ReadFile(filepath.Join("..", "..", "examples", "triage", "testdata", "triage", "review.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string][]byte{"ship": []byte(strings.ReplaceAll(reader, "journal.jsonl", filepath.Join(dir, "journal.jsonl"))), "journal.jsonl": recorded} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	base, token := startedStudio(t, dir, "--temporal", "./ship")
	code, body := fetched(t, base+"/api/v1/runs?in=temporal", token)
	if code != 200 || !strings.Contains(body, `"temporal:order/1"`) || !strings.Contains(body, `"running"`) {
		t.Errorf("the list: %d %s", code, body)
	}
	id := base + "/api/v1/runs/temporal:order%2F1"
	var head struct {
		Temporal, State, File string
		Calls                 int
	}
	code, body = fetched(t, id, token)
	if err := json.Unmarshal([]byte(body), &head); err != nil || code != 200 || head.Temporal != "ship" || head.Calls != 8 || head.File != "" {
		t.Errorf("the run: %d %v %s", code, err, body)
	}
	for _, path := range []string{"/calls", "/calls/0", "/agents", "/report"} {
		if code, body := fetched(t, id+path, token); code != 200 || len(body) < 10 {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	if code, body := fetched(t, base+"/api/v1/runs/temporal:other", token); code != 502 || !strings.Contains(body, "unknown run") {
		t.Errorf("another run: %d %s", code, body)
	}
}

// startedStudio starts studio over a folder until the test ends.
func startedStudio(t *testing.T, dir string, args ...string) (base, token string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "flowgen", append([]string{"studio"}, args...)...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Signal(os.Interrupt); _ = cmd.Wait() })
	var line string
	if _, err := fmt.Fscan(out, &line); err != nil {
		t.Fatal(err)
	}
	base, token, ok := strings.Cut(line, "/#token=")
	if !ok {
		t.Fatalf("it prints %q", line)
	}
	return base, token
}
