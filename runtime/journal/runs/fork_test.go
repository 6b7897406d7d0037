package runs_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
)

// A forked run that dies behind any line of its journal goes on as it would have without that: what the other run has
// written is not written again, what is done again is, and what was given for a result holds.
func TestForkResumedBehindEveryLine(t *testing.T) {
	dir := t.TempDir()
	f := runs.Open(dir, runs.Options{})
	e := f.New(info)
	if _, err := new(world).run(t.Context(), "a", runtime.WithEngine(e)); err != nil {
		t.Fatal(err)
	}
	j, err := f.Read(e.ID())
	if err != nil {
		t.Fatal(err)
	}
	again := []string{"read"}
	base := j.Without(func(r journal.Record) bool { return !runs.Kept(r, again) })
	last, _ := base.Lookup("last", 1)
	last.Output, last.Given = []byte(`"Z"`), true
	base.Put(last)
	fork := f.Fork(info, e.ID(), base, again...)
	w := new(world)
	if out, err := w.run(t.Context(), "a", runtime.WithEngine(fork)); err != nil || out != "Z" || w.reads.Load() != 1 || w.writes.Load()+w.lasts.Load() != 0 {
		t.Fatalf("%q, %v, %d reads, %d writes", out, err, w.reads.Load(), w.writes.Load())
	}
	name := filepath.Join(dir, fork.ID(), "journal.jsonl")
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	for n := 1; n < len(lines); n++ {
		if err := os.WriteFile(name, bytes.Join(lines[:n], nil), 0o600); err != nil {
			t.Fatal(err)
		}
		eng, old, err := f.Resume(info, fork.ID(), runs.Continue{})
		if n == 1 { // what was given was not written yet
			if !errors.Is(err, runs.ErrNoRun) {
				t.Errorf("%v", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		_, had := old.Lookup("read", 1)
		r, _ := old.Lookup("read", 1)
		reads := int64(1)
		if had && r.Result() {
			reads = 0
		}
		w := new(world)
		out, err := w.run(t.Context(), "a", runtime.WithEngine(eng))
		if err != nil || out != "Z" || w.reads.Load() != reads || w.writes.Load()+w.lasts.Load() != 0 {
			t.Errorf("behind line %d: %q, %v, %d reads, %d writes, %d lasts", n, out, err, w.reads.Load(), w.writes.Load(), w.lasts.Load())
		}
		got, err := f.Read(fork.ID())
		if err != nil || len(got.Records()) != 3 || got.Finish().Outcome != journal.Succeeded {
			t.Errorf("behind line %d: %v, %v", n, got, err)
		}
	}
	// Without the other run it is not known what was done.
	if err := os.WriteFile(name, bytes.Join(lines[:2], nil), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, e.ID())); err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.Resume(info, fork.ID(), runs.Continue{}); err == nil || !strings.Contains(err.Error(), "began with the results of "+e.ID()+", which cannot be read any more") {
		t.Errorf("%v", err)
	}
}

// What was given for a result and does not fit does not become one by going on.
func TestForkWithWhatDoesNotFit(t *testing.T) {
	f := runs.Open(t.TempDir(), runs.Options{})
	e := f.New(info)
	if _, err := new(world).run(t.Context(), "a", runtime.WithEngine(e)); err != nil {
		t.Fatal(err)
	}
	j, err := f.Read(e.ID())
	if err != nil {
		t.Fatal(err)
	}
	last, _ := j.Lookup("last", 1)
	last.Output, last.Given = []byte("null"), true
	j.Put(last)
	fork := f.Fork(info, e.ID(), j)
	eng := engine.Engine(fork)
	for range 2 {
		if _, err := new(world).run(t.Context(), "a", runtime.WithEngine(eng)); err == nil || !strings.Contains(err.Error(), "diverged: the output given for call last does not fit: it cannot be null") {
			t.Fatalf("%v", err)
		}
		if eng, _, err = f.Resume(info, fork.ID(), runs.Continue{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := eng.(*runs.Engine).Close(); err != nil {
		t.Fatal(err)
	}
}
