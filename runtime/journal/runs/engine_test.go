package runs_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/internal/faultdisk"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
	"github.com/flowgen-dev/flowgen/runtime/usage"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// watched tells about every call before it is answered, and after.
type watched struct {
	*runs.Engine
	before, after func(h *engine.Head)
}

func (w watched) Do(r *flow.Run, op engine.Op) error {
	if w.before != nil {
		w.before(op.Head())
	}
	err := w.Engine.Do(r, op)
	if w.after != nil {
		w.after(op.Head())
	}
	return err
}

func answered(e *runs.Engine) (keys []string, spent int64) {
	ask := watched{Engine: e, before: func(h *engine.Head) {
		if e.Answers(h) {
			keys = append(keys, h.Key())
		}
	}}
	e.Spent("", func(_ string, calls int64, _ usage.Spend) { spent += calls })
	_, _ = new(world).run(context.Background(), "a", runtime.WithEngine(ask))
	return keys, spent
}

// firstLine lets a run have died behind the first line of its journal.
func firstLine(t *testing.T, f *runs.Folder, id string) {
	t.Helper()
	name := filepath.Join(f.Dir(), id, "journal.jsonl")
	text, err := os.ReadFile(name)
	if err == nil {
		err = os.WriteFile(name, text[:bytes.IndexByte(text, '\n')+1], 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// An engine says which calls it answers: none of a new run, all that a resumed one or the run that it began with has.
func TestAnswers(t *testing.T) {
	f := runs.Open(t.TempDir(), runs.Options{Sync: runs.Off})
	first := f.New(info)
	if keys, spent := answered(first); len(keys) > 0 || spent > 0 {
		t.Errorf("a new run answers %v, %d calls", keys, spent)
	}
	again, j, err := f.Resume(info, first.ID(), runs.Continue{})
	if err != nil {
		t.Fatal(err)
	}
	if keys, spent := answered(again); strings.Join(keys, " ") != "read write last" || spent != 3 {
		t.Errorf("a resumed run answers %v, %d calls", keys, spent)
	}
	fork := f.Fork(info, first.ID(), j)
	if _, err := new(world).run(t.Context(), "a", runtime.WithEngine(fork)); err != nil {
		t.Fatal(err)
	}
	firstLine(t, f, fork.ID())
	resumed, _, err := f.Resume(info, fork.ID(), runs.Continue{})
	if err != nil {
		t.Fatal(err)
	}
	if keys, spent := answered(resumed); strings.Join(keys, " ") != "read write last" || spent != 3 {
		t.Errorf("a resumed fork answers %v, %d calls", keys, spent)
	}
}

// failed runs a workflow of one call, which fails or not, and returns how often it was made.
func failed(t *testing.T, e engine.Engine, fail bool) (reads int, err error) {
	t.Helper()
	rt, err := flow.New(info, runtime.WithEngine(e))
	if err != nil {
		t.Fatal(err)
	}
	r := flow.Start(t.Context(), rt, "in")
	_, err = flow.Call(r, &readNode, flow.Bind("w.read@1", flow.Reads, func(context.Context, string) (string, error) {
		if reads++; fail {
			return "", value.Invalid("no")
		}
		return "yes", nil
	}), "in")
	out := ""
	flow.End(r, &out, &err)
	return reads, err
}

// A recorded failure is an answer like any other, in a fork and in a fork that goes on; Again makes the call once more.
func TestRecordedFailure(t *testing.T) {
	f := runs.Open(t.TempDir(), runs.Options{Sync: runs.Off})
	e := f.New(info)
	if _, err := failed(t, e, true); err == nil {
		t.Fatal("no failure")
	}
	j, err := f.Read(e.ID())
	if err != nil {
		t.Fatal(err)
	}
	fork := f.Fork(info, e.ID(), j)
	if n, err := failed(t, fork, false); n != 0 || err == nil || !strings.Contains(err.Error(), "VALIDATION_ERROR: no") {
		t.Errorf("a fork: %d calls, %v", n, err)
	}
	firstLine(t, f, fork.ID())
	for _, what := range []string{"a fork that goes on", "once more"} {
		again, _, err := f.Resume(info, fork.ID(), runs.Continue{})
		if err != nil {
			t.Fatal(err)
		}
		if n, err := failed(t, again, false); n != 0 || err == nil || !strings.Contains(err.Error(), "VALIDATION_ERROR: no") {
			t.Errorf("%s: %d calls, %v", what, n, err)
		}
	}
	again, _, err := f.Resume(info, e.ID(), runs.Continue{Again: true})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := failed(t, again, false); n != 1 || err != nil {
		t.Errorf("again: %d calls, %v", n, err)
	}
}

// All results that were given stand in the journal of the fork.
func TestGiven(t *testing.T) {
	f := runs.Open(t.TempDir(), runs.Options{Sync: runs.Off})
	e := f.New(info)
	if _, err := new(world).run(t.Context(), "a", runtime.WithEngine(e)); err != nil {
		t.Fatal(err)
	}
	j, err := f.Read(e.ID())
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"read", "last"} {
		r, _ := j.Lookup(key, 1)
		r.Output, r.Given = []byte(`"`+key+` given"`), true
		j.Put(r)
	}
	fork := f.Fork(info, e.ID(), j)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := new(world).run(ctx, "a", runtime.WithEngine(fork)); err == nil {
		t.Fatal("it was not stopped")
	}
	got, err := f.Read(fork.ID())
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"read", "last"} {
		if r, _ := got.Lookup(key, 1); string(r.Output) != `"`+key+` given"` {
			t.Errorf("%s: %s", key, r.Output)
		}
	}
}

// The result of a call that writes is on the disk before anything else happens; that of one that reads need not be.
func TestResultsOnTheDisk(t *testing.T) {
	disk := faultdisk.New(1)
	e := runs.Open(runsDir, runs.Options{Disk: disk}).New(info)
	durable := map[string]bool{}
	w := watched{Engine: e, after: func(h *engine.Head) {
		text := disk.Durable(filepath.Join(runsDir, e.ID(), "journal.jsonl"))
		durable[h.Key()] = bytes.Contains(text, []byte(`{"kind":"end","key":"`+h.Key()+`"`))
	}}
	if _, err := new(world).run(t.Context(), "a", runtime.WithEngine(w)); err != nil {
		t.Fatal(err)
	}
	if !durable["write"] || durable["read"] || durable["last"] {
		t.Errorf("%v in:\n%s", durable, disk.Files()[filepath.Join(runsDir, e.ID(), "journal.jsonl")])
	}
}

// locked is a disk on which others use every file.
type locked struct {
	wal.Disk
	tries int
}

func (l *locked) Lock(string) (func() error, error) {
	l.tries++
	return nil, wal.ErrLocked
}

func TestNoNameIsFree(t *testing.T) {
	disk := &locked{Disk: faultdisk.New(1)}
	_, err := new(world).run(t.Context(), "a", runtime.WithEngine(runs.Open(runsDir, runs.Options{Disk: disk}).New(info)))
	if !stopped(err) || !errors.Is(err, wal.ErrLocked) || disk.tries != 10 {
		t.Errorf("%v after %d tries", err, disk.tries)
	}
}

// A value of just the size stands in a file of its own.
func TestLargeFrom(t *testing.T) {
	runs.SmallFiles(t, fileSize)
	f := runs.Open(t.TempDir(), runs.Options{Sync: runs.Off})
	for size, want := range map[int]bool{fileSize - 1: false, fileSize: true} {
		e := f.New(info)
		in := strings.Repeat("x", size-len(`""`))
		if _, err := new(world).run(t.Context(), in, runtime.WithEngine(e)); err != nil {
			t.Fatal(err)
		}
		if files, _ := os.ReadDir(f.Blobs(e.ID())); len(files) > 0 != want {
			t.Errorf("%d bytes: %d files", size, len(files))
		}
	}
}

// A folder that cannot be made is an error.
func TestNoFolder(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := runs.Open(filepath.Join(name, "runs"), runs.Options{}).Make(); err == nil {
		t.Error("a folder in a file was made")
	}
	deep := runs.Open(filepath.Join(filepath.Dir(name), "a", "b", "runs"), runs.Options{})
	for range 2 {
		if err := deep.Make(); err != nil {
			t.Error(err)
		}
	}
}

// A journal that is given as a file has a size that it may have, and none above that.
func TestLargeJournal(t *testing.T) {
	f := runs.Open(t.TempDir(), runs.Options{})
	e := f.New(info)
	if _, err := new(world).run(t.Context(), "a", runtime.WithEngine(e)); err != nil {
		t.Fatal(err)
	}
	j, err := f.Read(e.ID())
	if err != nil {
		t.Fatal(err)
	}
	text, err := j.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(f.Dir(), "j.jsonl")
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	runs.SmallJournals(t, len(text))
	if _, j, err := f.Named("w", name); err != nil || j.Finish().Outcome != journal.Succeeded {
		t.Error(err)
	}
	runs.SmallJournals(t, len(text)-1)
	if _, _, err := f.Named("w", name); err == nil || !strings.Contains(err.Error(), "it is too large") {
		t.Errorf("one byte more: %v", err)
	}
}
