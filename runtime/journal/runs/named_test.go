package runs_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
)

func TestNamed(t *testing.T) {
	dir := t.TempDir()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	f := runs.Open(dir, runs.Options{Now: func() time.Time { now = now.Add(time.Second); return now }})
	var ids []string
	for range 3 {
		e := f.New(info)
		if _, err := new(world).run(t.Context(), "a", runtime.WithEngine(e)); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, e.ID())
	}
	j, err := f.Read(ids[0])
	if err != nil {
		t.Fatal(err)
	}
	text, err := j.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "c.jsonl")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"latest": ids[2], "latest~0": ids[2], "latest~1": ids[1], "latest~2": ids[0], ids[1]: ids[1], ids[1][:20]: ids[1], file: file} {
		id, j, err := f.Named("w", name)
		if err != nil || id != want || j.Finish().Outcome != journal.Succeeded {
			t.Errorf("%s: %s, %v", name, id, err)
		}
	}
	for _, name := range []string{"latest~3", "latest~-1", "latest~x", "latest~99999999999999999999", "", "x", "../c.jsonl/..", "."} {
		if id, _, err := f.Named("w", name); !errors.Is(err, runs.ErrNoRun) {
			t.Errorf("%q: %s, %v", name, id, err)
		}
	}
	if _, _, err := f.Named("other", "latest"); !errors.Is(err, runs.ErrNoRun) {
		t.Error(err)
	}
	for _, name := range []string{filepath.Join(dir, "none.jsonl"), dir + "/.jsonl"} {
		if _, _, err := f.Named("w", name); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
