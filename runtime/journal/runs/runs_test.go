package runs_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/internal/eventually"
	"github.com/flowgen-dev/flowgen/runtime/internal/leaks"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/internal/faultdisk"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

func TestMain(m *testing.M) { leaks.Main(m) }

var (
	readNode  = flow.Node{ID: "read", Pos: "w.yaml:3:1", Index: 0}
	writeNode = flow.Node{ID: "write", Pos: "w.yaml:4:1", Index: 1}
	lastNode  = flow.Node{ID: "last", Pos: "w.yaml:5:1", Index: 2}
	info      = &flow.Info{Name: "w", Nodes: []*flow.Node{&readNode, &writeNode, &lastNode},
		Facts: flow.NewFacts(`{"hashes":{"graph":"g1","nodes":{"read":"r1","write":"w1","last":"l1"}}}`)}
)

// world counts what its tools do.
type world struct {
	reads, writes, lasts atomic.Int64
	text                 string
}

func (w *world) run(ctx context.Context, in string, o ...runtime.Option) (out string, err error) {
	rt, err := flow.New(info, o...)
	if err != nil {
		return "", err
	}
	run := flow.Start(ctx, rt, in)
	defer flow.End(run, &out, &err)
	upper := func(n *atomic.Int64) func(context.Context, string) (string, error) {
		return func(_ context.Context, in string) (string, error) {
			n.Add(1)
			return strings.ToUpper(in) + w.text, nil
		}
	}
	a, err := flow.Call(run, &readNode, flow.Bind("w.read@1", flow.Reads, upper(&w.reads)), in)
	if err != nil {
		return "", err
	}
	b, err := flow.Call(run, &writeNode, flow.Bind("w.write@1", flow.Writes, upper(&w.writes)), a)
	if err != nil {
		return "", err
	}
	return flow.Call(run, &lastNode, flow.Bind("w.last@1", flow.Reads, upper(&w.lasts)), b)
}

func TestRecordAndReplay(t *testing.T) {
	f := runs.Open(t.TempDir(), runs.Options{Program: "v1"})
	e := f.New(info)
	out, err := new(world).run(t.Context(), "a", runtime.WithEngine(e))
	if err != nil {
		t.Fatal(err)
	}
	id, err := f.Find("w", "latest")
	if err != nil || id != e.ID() {
		t.Fatalf("%s, %v, want %s", id, err, e.ID())
	}
	j, err := f.Read(id)
	if err != nil {
		t.Fatal(err)
	}
	h, end := j.Header(), j.Finish()
	if h.Workflow != "w" || h.Program != "v1" || h.Graph != "g1" || string(h.Input) != `"a"` || h.Nodes["write"] != "w1" || h.Sync != "effect" {
		t.Errorf("header %+v", h)
	}
	if end.Outcome != journal.Succeeded || string(end.Output) != `"A"` {
		t.Errorf("finish %+v", end)
	}
	again := new(world)
	got, err := again.run(t.Context(), "a", runtime.WithEngine(journal.Replay(j)))
	if err != nil || got != out || again.reads.Load()+again.writes.Load()+again.lasts.Load() != 0 {
		t.Errorf("%q, %v, %d reads", got, err, again.reads.Load())
	}
	list, err := f.List()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]runs.Run{{ID: id, Workflow: "w", Begin: h.Begin, Outcome: journal.Succeeded}}, list); diff != "" {
		t.Error(diff)
	}
}

// A run that dies behind any line of its journal goes on: what has a result is not done again, and a write whose intent
// has none is in doubt.
func TestResumeBehindEveryLine(t *testing.T) {
	dir := t.TempDir()
	f := runs.Open(dir, runs.Options{})
	e := f.New(info)
	if _, err := new(world).run(t.Context(), "a", runtime.WithEngine(e)); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, e.ID(), "journal.jsonl")
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	lines = lines[:len(lines)-1]
	// header; intent and end of read, write, last; finish
	if len(lines) != 8 {
		t.Fatalf("%d lines:\n%s", len(lines), whole)
	}
	for n := 1; n <= len(lines); n++ {
		if err := os.WriteFile(name, bytes.Join(lines[:n], nil), 0o600); err != nil {
			t.Fatal(err)
		}
		e, j, err := f.Resume(info, e.ID(), runs.Continue{})
		if err != nil {
			t.Fatal(n, err)
		}
		w := new(world)
		var in string
		if err := value.Decode(j.Header().Input, &in); err != nil {
			t.Fatal(err)
		}
		out, err := w.run(t.Context(), in, runtime.WithEngine(e))
		got := fmt.Sprint(w.reads.Load(), w.writes.Load(), w.lasts.Load())
		var re *runtime.RunError
		if n == 4 {
			if !errors.As(err, &re) || re.Kind != runtime.InDoubt || got != "0 0 0" {
				t.Errorf("behind line %d: %v, calls %s", n, err, got)
			}
			continue
		}
		want := []string{"1 1 1", "1 1 1", "0 1 1", "", "0 0 1", "0 0 1", "0 0 0", "0 0 0"}[n-1]
		if err != nil || out != "A" || got != want {
			t.Errorf("behind line %d: %q, %v, calls %s, want %s", n, out, err, got, want)
		}
		after, err := f.Read(e.ID())
		if err != nil || after.Finish().Outcome != journal.Succeeded {
			t.Errorf("behind line %d: %v, %+v", n, err, after.Finish())
		}
	}
}

func TestInDoubt(t *testing.T) {
	for _, tt := range []struct {
		name   string
		decide runs.Continue
		want   string
	}{
		{"again", runs.Continue{Decide: func(journal.Record, *flow.Doubt) (journal.Decision, bool) {
			return journal.Decision{Again: true}, true
		}}, "A 1"},
		{"done", runs.Continue{Decide: func(journal.Record, *flow.Doubt) (journal.Decision, bool) {
			return journal.Decision{Output: []byte(`"given"`)}, true
		}}, "GIVEN 0"},
		{"does not fit", runs.Continue{Decide: func(journal.Record, *flow.Doubt) (journal.Decision, bool) {
			return journal.Decision{Output: []byte(`1`)}, true
		}}, "in_doubt 0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := runs.Open(t.TempDir(), runs.Options{})
			e := f.New(info)
			w := new(world)
			ctx, cancel := context.WithCancel(t.Context())
			died := stopAt{e, "write", cancel}
			if _, err := w.run(ctx, "a", runtime.WithEngine(died)); err == nil {
				t.Fatal("it did not die")
			}
			again, _, err := f.Resume(info, e.ID(), tt.decide)
			if err != nil {
				t.Fatal(err)
			}
			w = new(world)
			out, err := w.run(t.Context(), "a", runtime.WithEngine(again))
			var re *runtime.RunError
			if errors.As(err, &re) {
				out = string(re.Kind)
			}
			if got := fmt.Sprint(out, " ", w.writes.Load()); got != tt.want {
				t.Errorf("%s (%v), want %s", got, err, tt.want)
			}
			j, err := f.Read(e.ID())
			if err != nil {
				t.Fatal(err)
			}
			if r, ok := j.Lookup("write", 1); !ok || r.Result() != (re == nil) {
				t.Errorf("%+v", r)
			}
		})
	}
}

// What a call in doubt has stopped beside it is not a result: when it is decided, the run goes on as if nothing had been.
func TestInDoubtBesideOthers(t *testing.T) {
	f := runs.Open(t.TempDir(), runs.Options{})
	begun := make(chan struct{})
	var dies atomic.Bool
	body := func(ctx context.Context, e *runs.Engine, stop func()) (out string, err error) {
		rt, err := flow.New(info, runtime.WithEngine(e))
		if err != nil {
			return "", err
		}
		run := flow.Start(ctx, rt, "")
		defer flow.End(run, &out, &err)
		var a, b string
		err = flow.Parallel(run, func(r *flow.Run) (err error) {
			a, err = flow.Call(r, &writeNode, flow.Bind("w.write@1", flow.Writes, func(context.Context, string) (string, error) {
				if dies.Load() {
					stop()
					return "", &runtime.RunError{Kind: runtime.Cancelled, By: runtime.ByRun}
				}
				return "a", nil
			}), "")
			return err
		}, func(r *flow.Run) (err error) {
			b, err = flow.Call(r, &readNode, flow.Bind("w.read@1", flow.Reads, func(ctx context.Context, _ string) (string, error) {
				select {
				case <-begun: // there is nothing to wait for any more
					return "b", nil
				case <-ctx.Done():
					return "", ctx.Err()
				}
			}), "")
			return err
		})
		return a + b, err
	}
	e := f.New(info)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	dies.Store(true)
	if _, err := body(ctx, e, cancel); !runtime.IsCancelled(err) {
		t.Fatal(err)
	}
	dies.Store(false)
	again, _, err := f.Resume(info, e.ID(), runs.Continue{})
	if err != nil {
		t.Fatal(err)
	}
	var re *runtime.RunError
	if _, err = body(t.Context(), again, nil); !errors.As(err, &re) || re.Kind != runtime.InDoubt {
		t.Fatal(err)
	}
	close(begun)
	again, _, err = f.Resume(info, e.ID(), runs.Continue{Decide: func(journal.Record, *flow.Doubt) (journal.Decision, bool) {
		return journal.Decision{Again: true}, true
	}})
	if err != nil {
		t.Fatal(err)
	}
	if out, err := body(t.Context(), again, nil); err != nil || out != "ab" {
		t.Errorf("%q, %v", out, err)
	}
}

// stopAt stops the run while a node's call is under way.
type stopAt struct {
	*runs.Engine
	node string
	stop func()
}

func (s stopAt) Do(r *flow.Run, op engine.Op) error {
	if op.Head().Node.ID == s.node {
		return s.Engine.Do(r, stopping{op, s.stop})
	}
	return s.Engine.Do(r, op)
}

type stopping struct {
	engine.Op
	stop func()
}

func (s stopping) Exec(context.Context) error {
	s.stop()
	return &runtime.RunError{Kind: runtime.Cancelled, By: runtime.ByRun}
}

func TestTwoProcesses(t *testing.T) {
	f := runs.Open(t.TempDir(), runs.Options{})
	e := f.New(info)
	if _, err := new(world).run(t.Context(), "a", runtime.WithEngine(e)); err != nil {
		t.Fatal(err)
	}
	first, _, err := f.Resume(info, e.ID(), runs.Continue{})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.Resume(info, e.ID(), runs.Continue{}); !errors.Is(err, wal.ErrLocked) {
		t.Errorf("a second one: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	third, _, err := f.Resume(info, e.ID(), runs.Continue{})
	if err != nil {
		t.Fatal(err)
	}
	if err := third.Close(); err != nil {
		t.Error(err)
	}
}

// A changed workflow is refused unless that is asked for; then what has changed, and what follows from it, runs again.
func TestEdited(t *testing.T) {
	f := runs.Open(t.TempDir(), runs.Options{})
	e := f.New(info)
	if _, err := new(world).run(t.Context(), "a", runtime.WithEngine(e)); err != nil {
		t.Fatal(err)
	}
	edited := func(hashes string) *flow.Info {
		i := *info
		i.Facts = flow.NewFacts(`{"hashes":` + hashes + `}`)
		return &i
	}
	var ee *runs.EditedError
	last := edited(`{"graph":"g2","nodes":{"read":"r1","write":"w1","last":"l2"}}`)
	if _, _, err := f.Resume(last, e.ID(), runs.Continue{}); !errors.As(err, &ee) {
		t.Fatalf("%v", err)
	}
	again, _, err := f.Resume(last, e.ID(), runs.Continue{Edited: true})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{text: "!"}
	out, err := w.run(t.Context(), "a", runtime.WithEngine(again))
	if got := fmt.Sprint(out, w.reads.Load(), w.writes.Load(), w.lasts.Load()); err != nil || got != "A!0 0 1" {
		t.Errorf("%s, %v", got, err)
	}
	if j, err := f.Read(e.ID()); err != nil || string(j.Finish().Output) != `"A!"` {
		t.Errorf("%v", err)
	}
	// The write's node has changed: it is not done once more by itself.
	write := edited(`{"graph":"g3","nodes":{"read":"r1","write":"w3","last":"l2"}}`)
	again, _, err = f.Resume(write, e.ID(), runs.Continue{Edited: true})
	if err != nil {
		t.Fatal(err)
	}
	w = new(world)
	_, err = w.run(t.Context(), "a", runtime.WithEngine(again))
	var re *runtime.RunError
	if !errors.As(err, &re) || re.Kind != runtime.Diverged || !strings.Contains(err.Error(), "node write has changed") || w.writes.Load() != 0 {
		t.Errorf("%v", err)
	}
	again, _, err = f.Resume(write, e.ID(), runs.Continue{Edited: true, Redo: func(r journal.Record) bool { return r.Key == "write" }})
	if err != nil {
		t.Fatal(err)
	}
	if out, err := w.run(t.Context(), "a", runtime.WithEngine(again)); err != nil || out != "A!" || w.writes.Load() != 1 || w.lasts.Load() != 0 {
		t.Errorf("%q, %v", out, err)
	}
}

func TestFork(t *testing.T) {
	f := runs.Open(t.TempDir(), runs.Options{})
	e := f.New(info)
	if _, err := new(world).run(t.Context(), "a", runtime.WithEngine(e)); err != nil {
		t.Fatal(err)
	}
	j, err := f.Read(e.ID())
	if err != nil {
		t.Fatal(err)
	}
	fork := f.Fork(info, e.ID(), j)
	w := &world{text: "?"}
	out, err := w.run(t.Context(), "b", runtime.WithEngine(fork))
	if err != nil || out != "B???" {
		t.Errorf("%q, %v", out, err)
	}
	got, err := f.Read(fork.ID())
	if err != nil || got.Header().From != e.ID() || string(got.Header().Input) != `"b"` || len(got.Records()) != 3 {
		t.Errorf("%+v, %v", got, err)
	}
	// With the same input all of it is answered, and stands in the new journal.
	fork = f.Fork(info, e.ID(), j)
	w = new(world)
	if out, err := w.run(t.Context(), "a", runtime.WithEngine(fork)); err != nil || out != "A" || w.reads.Load()+w.writes.Load()+w.lasts.Load() != 0 {
		t.Errorf("%q, %v", out, err)
	}
	if got, err = f.Read(fork.ID()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(j.Records(), got.Records()); diff != "" {
		t.Error(diff)
	}
}

func TestLargeValues(t *testing.T) {
	dir := t.TempDir()
	f := runs.Open(dir, runs.Options{})
	w := &world{text: strings.Repeat("x", 100_000)}
	e := f.New(info)
	out, err := w.run(t.Context(), `{"$blob":"`+strings.Repeat("0", 64)+`","bytes":1}`, runtime.WithEngine(e))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, e.ID(), "journal.jsonl"))
	if err != nil || len(text) > 10_000+len(out) {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	j, err := f.Read(e.ID())
	if err != nil {
		t.Fatal(err)
	}
	var in string
	if err := value.Decode(j.Header().Input, &in); err != nil {
		t.Fatal(err)
	}
	if got, err := new(world).run(t.Context(), in, runtime.WithEngine(journal.Replay(j))); err != nil || got != out {
		t.Errorf("%.50q, %v", got, err)
	}
	blobs, err := os.ReadDir(f.Blobs(e.ID()))
	if err != nil || len(blobs) == 0 {
		t.Fatal(err)
	}
	name := filepath.Join(f.Blobs(e.ID()), blobs[0].Name())
	data, _ := os.ReadFile(name)
	data[5] ^= 1
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Read(e.ID()); err == nil || !strings.Contains(err.Error(), "is damaged") {
		t.Errorf("%v", err)
	}
}

// A run from elsewhere may bring a link in place of the folder of its values.
func TestValuesStayInTheRun(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	f := runs.Open(dir, runs.Options{})
	e := f.New(info)
	if err := os.Mkdir(filepath.Join(dir, e.ID()), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, f.Blobs(e.ID())); err != nil {
		t.Skipf("no links here: %v", err)
	}
	w := &world{text: strings.Repeat("x", 100_000)}
	if _, err := w.run(t.Context(), "in", runtime.WithEngine(e)); err == nil || !strings.Contains(err.Error(), "is not a folder") {
		t.Errorf("got %v", err)
	}
	if found, err := os.ReadDir(outside); err != nil || len(found) > 0 {
		t.Errorf("written outside: %v, %v", found, err)
	}
}

func TestNames(t *testing.T) {
	f := runs.Open(t.TempDir(), runs.Options{})
	for _, name := range []string{"", ".", "..", "../x", "/etc", "w-20260102T150405000-9f3c/..", "latest", "w-20260102T150405000-9f3c"} {
		if id, err := f.Find("w", name); !errors.Is(err, runs.ErrNoRun) {
			t.Errorf("Find(%q) = %q, %v", name, id, err)
		}
		if _, err := f.Read(name); !errors.Is(err, runs.ErrNoRun) {
			t.Errorf("Read(%q): %v", name, err)
		}
		if _, _, err := f.Resume(info, name, runs.Continue{}); err == nil {
			t.Errorf("Resume(%q) works", name)
		}
	}
}

// Many runs that begin in the same millisecond each have a journal of their own.
func TestManyAtOnce(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	f := runs.Open(t.TempDir(), runs.Options{Now: func() time.Time { return at }, Sync: runs.Off})
	const many = 1000 // of 65,536 names: without care about 7 runs would meet another
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range many / 8 {
				if _, err := new(world).run(t.Context(), "a", runtime.WithEngines(f.Record)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	list, err := f.List()
	if err != nil || len(list) != many {
		t.Fatal(len(list), err)
	}
	for _, r := range list {
		if r.Outcome != journal.Succeeded {
			t.Errorf("%+v", r)
		}
	}
}

// later returns in another millisecond: runs that begin in one have no order.
func later(t *testing.T) {
	t.Helper()
	now := time.Now().UnixMilli()
	eventually.True(t, "later", func() bool { return time.Now().UnixMilli() > now })
}

// A workflow whose name begins like another's has its own latest run.
func TestLatestOfTwo(t *testing.T) {
	f := runs.Open(t.TempDir(), runs.Options{})
	e := f.New(info)
	if _, err := new(world).run(t.Context(), "a", runtime.WithEngine(e)); err != nil {
		t.Fatal(err)
	}
	later(t)
	longer := *info
	longer.Name = "w-longer"
	other := f.New(&longer)
	if _, err := new(world).run(t.Context(), "a", runtime.WithEngine(other)); err != nil {
		t.Fatal(err)
	}
	if id, err := f.Find("w", "latest"); err != nil || id != e.ID() {
		t.Errorf("%s, %v, want %s", id, err, e.ID())
	}
}

func TestPrune(t *testing.T) {
	f := runs.Open(t.TempDir(), runs.Options{})
	var ids []string
	for range 4 {
		e := f.New(info)
		ids = append(ids, e.ID())
		if _, err := new(world).run(t.Context(), "a", runtime.WithEngine(e)); err != nil {
			t.Fatal(err)
		}
		later(t)
	}
	crashed := f.New(info)
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := new(world).run(ctx, "a", runtime.WithEngine(stopAt{crashed, "write", cancel})); err == nil {
		t.Fatal("it did not die")
	}
	name := filepath.Join(f.Dir(), crashed.ID(), "journal.jsonl")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, text[:bytes.LastIndex(text[:len(text)-1], []byte("\n"))+1], 0o600); err != nil { // no finish
		t.Fatal(err)
	}
	used, _, err := f.Resume(info, ids[0], runs.Continue{})
	if err != nil {
		t.Fatal(err)
	}
	removed, err := f.Prune("w", 2)
	if diff := cmp.Diff([]string{ids[1]}, removed); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if err := used.Close(); err != nil {
		t.Fatal(err)
	}
	if removed, err := f.Prune("other", 0); len(removed) > 0 || err != nil {
		t.Error(removed, err)
	}
	if _, err := f.Prune("w", 0); err != nil {
		t.Fatal(err)
	}
	list, err := f.List()
	if err != nil || len(list) != 1 || list[0].ID != crashed.ID() {
		t.Errorf("%+v, %v", list, err)
	}
}

func BenchmarkRecord(b *testing.B) {
	for _, sync := range []runs.Sync{runs.Off, runs.Buffered, runs.Effect} {
		b.Run(string(sync), func(b *testing.B) {
			f := runs.Open(b.TempDir(), runs.Options{Sync: sync})
			rt, err := flow.New(info, runtime.WithEngine(f.New(info)))
			if err != nil {
				b.Fatal(err)
			}
			tool := flow.Bind("w.read@1", flow.Reads, func(_ context.Context, in string) (string, error) { return in, nil })
			run := flow.Start(b.Context(), rt, "in")
			b.ReportAllocs()
			for b.Loop() {
				if _, err := flow.Call(run, &readNode, tool, "what is asked for"); err != nil {
					b.Fatal(err)
				}
			}
			out := ""
			flow.End(run, &out, &err)
		})
	}
}

// What is too large for an output is kept with a run whose folder is on no disk of the operating system's, each tenant's by itself.
func TestAttachment(t *testing.T) {
	f := runs.Open("runs", runs.Options{Disk: faultdisk.New(1)})
	e := f.New(info)
	keep := func(tenant, text string) string {
		b, err := e.Create(t.Context(), tenant, "text/plain")
		if err != nil {
			t.Fatal(err)
		}
		defer b.Abort()
		if _, err := io.WriteString(b, text); err != nil {
			t.Fatal(err)
		}
		address, err := b.Commit()
		if err != nil {
			t.Fatal(err)
		}
		return address
	}
	text := strings.Repeat("large ", 1000)
	address, again, theirs := keep("", text), keep("", text), keep("Acme/..", text)
	if address != again || address == theirs || !strings.HasPrefix(address, "run:"+e.ID()+"/shared/") {
		t.Errorf("%s, %s, %s", address, again, theirs)
	}
	for _, a := range []string{address, theirs} {
		if got, err := f.Attachment(a); err != nil || string(got) != text {
			t.Errorf("%s: %d bytes, %v", a, len(got), err)
		}
	}
	sum := address[strings.LastIndexByte(address, '/')+1:]
	for _, a := range []string{"", "run:", "file:///etc/passwd", "run:" + e.ID() + "/../" + sum, "run:../shared/" + sum, "run:" + e.ID() + "/shared/" + sum[1:],
		"run:" + e.ID() + "/shared/" + strings.Repeat("0", 64), "run:" + e.ID() + "/t-other/" + sum} {
		if _, err := f.Attachment(a); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: %v", a, err)
		}
	}
}
