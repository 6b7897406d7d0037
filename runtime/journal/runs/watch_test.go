package runs_test

import (
	"bytes"
	"errors"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
)

// A watcher is told the lines of the journal, with their numbers, across an answer and another engine.
func TestWatch(t *testing.T) {
	folder := runs.Open(t.TempDir(), runs.Options{})
	var mu sync.Mutex
	var told [][]byte
	folder.Watch(func(run string, n int, line []byte) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, bytes.Clone(line))
		if run != "order" || n != len(told) {
			t.Errorf("line %d of %s, after %d", n, run, len(told)-1)
		}
	})
	w, err := New(runtime.WithEngines(folder.Record))
	if err != nil {
		t.Fatal(err)
	}
	var waiting *runtime.Waiting
	if _, err := w.Run(runtime.WithRunID(t.Context(), "order"), "lunch"); !errors.As(err, &waiting) {
		t.Fatal(err)
	}
	if err := folder.Respond(t.Context(), "order", "approve", "yes"); err != nil {
		t.Fatal(err)
	}
	if _, err := runs.Resume(t.Context(), folder, "order", w.Run); err != nil {
		t.Fatal(err)
	}
	lines, err := folder.Lines("order")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(lines, told); diff != "" || len(told) < 6 {
		t.Errorf("%d lines: %s", len(told), diff)
	}
	folder.Watch(nil)
	for _, unknown := range []string{"other", "../order", ""} {
		if _, err := folder.Lines(unknown); !errors.Is(err, runs.ErrNoRun) {
			t.Errorf("%s: %v", unknown, err)
		}
		if err := folder.Remove(unknown); !errors.Is(err, runs.ErrNoRun) {
			t.Errorf("%s: %v", unknown, err)
		}
	}
	if err := folder.Remove("order"); err != nil {
		t.Error(err)
	}
}
