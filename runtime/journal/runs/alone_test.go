package runs_test

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
)

// TestAlone: one run of a workflow at a time, until its process is killed.
func TestAlone(t *testing.T) {
	if dir := os.Getenv("FLOWGEN_TEST_ALONE"); dir != "" { // the other process
		if _, err := runs.Open(dir, runs.Options{}).Alone("triage"); err != nil {
			t.Fatal(err)
		}
		_, _ = os.Stdout.WriteString("it is mine\n")
		_, _ = os.Stdin.Read(make([]byte, 1)) // until it is killed
		return
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	other := exec.CommandContext(ctx, exe, "-test.run=^TestAlone$")
	other.Env = append(os.Environ(), "FLOWGEN_TEST_ALONE="+dir)
	if _, err := other.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "it is mine\n" {
		t.Fatalf("%q, %v", line, err)
	}
	folder := runs.Open(dir, runs.Options{})
	if _, err := folder.Alone("triage"); !errors.Is(err, runs.ErrOverlaps) {
		t.Errorf("during another run: %v", err)
	}
	release, err := folder.Alone("other")
	if err != nil {
		t.Errorf("of another workflow: %v", err)
	} else if err := release(); err != nil {
		t.Error(err)
	}
	if err := other.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = other.Wait() // it says that it was killed
	release, err = folder.Alone("triage")
	if err != nil {
		t.Fatalf("after the other was killed: %v", err)
	}
	if list, err := folder.List(); err != nil || len(list) != 0 {
		t.Errorf("the lock is taken for a run: %v, %v", list, err)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
}

// A run that was stopped with calls in doubt can still be resumed, and is not removed.
func TestPruneKeepsDoubt(t *testing.T) {
	dir := t.TempDir()
	for id, effects := range map[string]string{"w-20260102T150405000-aaaa": "writes", "w-20260102T150405001-aaaa": "reads"} {
		if err := os.Mkdir(filepath.Join(dir, id), 0o700); err != nil {
			t.Fatal(err)
		}
		log, _, err := wal.Open(wal.OS, filepath.Join(dir, id, "journal.jsonl"), wal.Off)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range [][]byte{
			journal.EncodeHeader(journal.Header{Workflow: "w"}),
			journal.EncodeRecord(journal.Record{Key: "a", Attempt: 1, Tool: "t@1", Effects: effects}, false),
			journal.EncodeFinish(journal.Finish{Outcome: journal.Cancelled}),
		} {
			if err := log.Append(line, false); err != nil {
				t.Fatal(err)
			}
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
	}
	removed, err := runs.Open(dir, runs.Options{}).Prune("w", 0)
	if err != nil || len(removed) != 1 || removed[0] != "w-20260102T150405001-aaaa" {
		t.Errorf("%v, %v", removed, err)
	}
}
