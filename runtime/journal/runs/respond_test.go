package runs_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// approval stands for a generated workflow: two questions in parallel, beside a slow call, then a call that writes.
type approval struct {
	rt             *flow.Runtime
	reads, writes  atomic.Int64
	boss           flow.Node
	finance, after flow.Node
}

type request struct {
	Purpose string `json:"purpose"`
}

func newApproval(t *testing.T, timeout time.Duration, o ...runtime.Option) *approval {
	t.Helper()
	w := &approval{boss: flow.Node{ID: "boss", Pos: "w.yaml:1:1", Timeout: timeout}, finance: flow.Node{ID: "finance", Pos: "w.yaml:2:1", Index: 1},
		after: flow.Node{ID: "after", Pos: "w.yaml:3:1", Index: 2}}
	rt, err := flow.New(&flow.Info{Name: "approval", Nodes: []*flow.Node{&w.boss, &w.finance, &w.after}}, o...)
	if err != nil {
		t.Fatal(err)
	}
	w.rt = rt
	return w
}

func (w *approval) Run(ctx context.Context, in request) (out string, err error) {
	r := flow.Start(ctx, w.rt, in)
	defer flow.End(r, &out, &err)
	slow := flow.Bind("w.slow@1", flow.Reads, func(context.Context, string) (string, error) {
		w.reads.Add(1)
		<-time.After(400 * time.Millisecond) // of a bubble
		return "slept", nil
	})
	write := flow.Bind("w.write@1", flow.Writes, func(ctx context.Context, in string) (string, error) {
		w.writes.Add(1)
		return in + " by " + tool.Context(ctx).RunID(), nil
	})
	var boss, finance, slept string
	if err = flow.Parallel(r, func(r *flow.Run) (err error) {
		boss, err = flow.AskOr(r, &w.boss, runtime.Question{Text: "May we buy " + in.Purpose + "?", Choices: []string{"yes", "no"}}, "nobody")
		return err
	}, func(r *flow.Run) (err error) {
		amount, err := flow.Ask[int64](r, &w.finance, runtime.Question{Text: "How much?"})
		finance = value.JSON(amount)
		return err
	}, func(r *flow.Run) (err error) {
		slept, err = flow.Call(r, &w.after, slow, "")
		return err
	}); err != nil {
		return "", err
	}
	return flow.Call(r, &w.after, write, strings.Join([]string{boss, finance, slept}, " "))
}

func waitingOf(t *testing.T, err error) *runtime.Waiting {
	t.Helper()
	var w *runtime.Waiting
	if !errors.As(err, &w) {
		t.Fatalf("the run does not wait: %v", err)
	}
	return w
}

// A run that waits for people and for nothing else is stopped, and says for what. It goes on in another process when each
// question has its answer, and what had a result is not called again.
func TestRespond(t *testing.T) { synctest.Test(t, testRespond) }

func testRespond(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	first := newApproval(t, 0, runtime.WithEngines(runs.Open(dir, runs.Options{}).Record))
	_, err := first.Run(runtime.WithRunID(ctx, "order-7"), request{"books"})
	w := waitingOf(t, err)
	if w.RunID != "order-7" || w.Workflow != "approval" || w.Question.Key != "boss" || w.Question.Text != "May we buy books?" || len(w.Questions) != 2 ||
		w.Questions[1].Key != "finance" || w.Questions[1].Type != "int" || w.Error() != "run order-7 waits for an answer to boss, finance" {
		t.Errorf("%+v", w)
	}
	if runtime.IsCancelled(err) || value.ToolErrorOf(err) != nil {
		t.Errorf("a run that waits has failed: %v", err)
	}

	f := runs.Open(dir, runs.Options{}) // another process
	second := newApproval(t, 0, runtime.WithEngines(f.Record))
	if list, err := f.List(); err != nil || len(list) != 1 || list[0].Outcome != journal.Waiting || list[0].ID != "order-7" {
		t.Errorf("%+v, %v", list, err)
	}
	if open, err := f.Questions("order-7"); err != nil || cmp.Diff(w.Questions, open) != "" {
		t.Errorf("%+v, %v", open, err)
	}
	before := recorded(t, dir, "order-7")
	for _, tt := range []struct {
		run, question, answer string
		want                  error
	}{
		{"order-8", "boss", "yes", runs.ErrNoRun}, {"../order-7", "boss", "yes", runs.ErrNoRun}, {"", "boss", "yes", runs.ErrNoRun},
		{"order-7", "chief", "yes", runs.ErrNoQuestion}, {"order-7", "after", "yes", runs.ErrNoQuestion}, {"order-7", "", "yes", runs.ErrNoQuestion},
		{"order-7", "boss", "maybe", runs.ErrWrongAnswer}, {"order-7", "boss", "", runs.ErrWrongAnswer}, {"order-7", "finance", "much", runs.ErrWrongAnswer},
		{"order-7", "boss", strings.Repeat("y", 1<<17), runs.ErrWrongAnswer}, {"order-7", "boss", "\xff", runs.ErrWrongAnswer},
	} {
		err := f.Respond(ctx, tt.run, tt.question, tt.answer)
		if !errors.Is(err, tt.want) {
			t.Errorf("%s %s: %v", tt.run, tt.question, err)
		}
		if te := value.ToolErrorOf(err); errors.Is(err, runs.ErrWrongAnswer) && (te == nil || te.Code != value.ValidationError) {
			t.Errorf("%s %s: %v", tt.run, tt.question, err)
		}
	}
	if after := recorded(t, dir, "order-7"); !bytes.Equal(before, after) {
		t.Errorf("refused answers have changed the journal:\n%s", after[len(before):])
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("refused answers have made files: %v, %v", entries, err)
	}

	if err := f.Respond(ctx, "order-7", "boss", "yes"); err != nil {
		t.Fatal(err)
	}
	if err := f.Respond(ctx, "order-7", "boss", "no"); !errors.Is(err, runs.ErrLate) {
		t.Errorf("a second answer: %v", err)
	}
	_, err = runs.Resume(ctx, f, "order-7", second.Run)
	if w := waitingOf(t, err); len(w.Questions) != 1 || w.Question.Key != "finance" {
		t.Errorf("%+v", w)
	}
	if err := f.Respond(ctx, "order-7", "finance", " 12 "); err != nil {
		t.Fatal(err)
	}
	const want = "yes 12 slept by order-7"
	if out, err := runs.Resume(ctx, f, "order-7", second.Run); out != want || err != nil {
		t.Fatalf("%q, %v", out, err)
	}
	if err := f.Respond(ctx, "order-7", "finance", "13"); !errors.Is(err, runs.ErrLate) {
		t.Errorf("the run has ended: %v", err)
	}
	if out, err := runs.Resume(ctx, f, "order-7", second.Run); out != want || err != nil {
		t.Errorf("once more: %q, %v", out, err)
	}
	if r, w := first.reads.Load()+second.reads.Load(), second.writes.Load(); r != 1 || w != 1 {
		t.Errorf("%d reads, %d writes", r, w)
	}
	if _, err := runs.Resume(ctx, f, "nothing", second.Run); !errors.Is(err, runs.ErrNoRun) {
		t.Errorf("no run: %v", err)
	}
	if _, err := second.Run(runtime.WithRunID(ctx, "order-7"), request{}); !errors.Is(err, runs.ErrExists) {
		t.Errorf("the same id: %v", err)
	}
	if w := second.writes.Load(); w != 1 {
		t.Errorf("%d writes", w)
	}
}

func recorded(t *testing.T, dir, id string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, id, "journal.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A question's timeout counts from the first time it was asked. An answer that comes after it is refused, and the run goes
// on as if nobody had answered.
func TestLateAnswer(t *testing.T) { synctest.Test(t, testLateAnswer) }

func testLateAnswer(t *testing.T) {
	ctx := t.Context()
	f := runs.Open(t.TempDir(), runs.Options{})
	w := newApproval(t, time.Hour, runtime.WithEngines(f.Record))
	_, err := w.Run(runtime.WithRunID(ctx, "a"), request{"tea"})
	waitingOf(t, err)
	time.Sleep(50 * time.Minute)
	_, err = runs.Resume(ctx, f, "a", w.Run)
	waitingOf(t, err)
	time.Sleep(20 * time.Minute)
	if err := f.Respond(ctx, "a", "boss", "yes"); !errors.Is(err, runs.ErrLate) {
		t.Errorf("%v", err)
	}
	if err := f.Respond(ctx, "a", "finance", "1"); err != nil { // it waits for as long as it takes
		t.Fatal(err)
	}
	if out, err := runs.Resume(ctx, f, "a", w.Run); out != "nobody 1 slept by a" || err != nil {
		t.Errorf("%q, %v", out, err)
	}
}

// A run that a process is at takes no answer and cannot be resumed, and nobody waits for it.
func TestBusy(t *testing.T) { synctest.Test(t, testBusy) }

func testBusy(t *testing.T) {
	ctx := t.Context()
	f := runs.Open(t.TempDir(), runs.Options{})
	w := newApproval(t, 0, runtime.WithEngines(f.Record))
	_, err := w.Run(runtime.WithRunID(ctx, "a"), request{"tea"})
	waitingOf(t, err)
	e, _, err := f.Resume(w.rt.Info(), "a", runs.Continue{})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Respond(ctx, "a", "boss", "yes"); !errors.Is(err, runs.ErrBusy) {
		t.Errorf("%v", err)
	}
	if _, err := runs.Resume(ctx, f, "a", w.Run); !errors.Is(err, runs.ErrBusy) {
		t.Errorf("%v", err)
	}
	if err := e.Answer("boss", "yes"); err != nil { // as commands do
		t.Error(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if err := e.Answer("finance", "1"); err == nil {
		t.Error("an engine that is closed takes an answer")
	}
	if err := f.Respond(ctx, "a", "boss", "yes"); !errors.Is(err, runs.ErrLate) {
		t.Errorf("%v", err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if err := f.Respond(cancelled, "a", "finance", "1"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// An asker in the process answers as before, and a run that its caller cancels is cancelled.
func TestAsked(t *testing.T) { synctest.Test(t, testAsked) }

func testAsked(t *testing.T) {
	f := runs.Open(t.TempDir(), runs.Options{})
	asked := newApproval(t, 0, runtime.WithEngines(f.Record), runtime.WithHuman(func(_ context.Context, q runtime.Question) (string, error) {
		if q.Key == "boss" {
			return "no", nil
		}
		return "3", nil
	}))
	if out, err := asked.Run(runtime.WithRunID(t.Context(), "b"), request{"tea"}); out != "no 3 slept by b" || err != nil {
		t.Errorf("%q, %v", out, err)
	}
	w := newApproval(t, 0, runtime.WithEngines(f.Record))
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := w.Run(ctx, request{"tea"}); !runtime.IsCancelled(err) {
		t.Errorf("%v", err)
	}
	plain := newApproval(t, 0)
	if _, err := plain.Run(t.Context(), request{"tea"}); value.ToolErrorOf(err) == nil || value.ToolErrorOf(err).Code != value.Timeout {
		t.Errorf("a run without a journal cannot wait: %v", err)
	}
}

// An id is a name of a folder and nothing else.
func TestRunIDs(t *testing.T) {
	dir := t.TempDir()
	f := runs.Open(dir, runs.Options{})
	for id, ok := range map[string]bool{
		"a": true, "0": true, "A-b_c": true, strings.Repeat("a", 128): true, "8f14e45f-ceea-467f-a7a9-6bd7f3f1d1b0": true,
		"": false, "latest": false, "latest~1": false, ".": false, "..": false, "a/b": false, `a\b`: false, "a.b": false, "-a": false, "_a": false,
		"a b": false, "é": false, "a\x00": false, "a\n": false, strings.Repeat("a", 129): false, "/tmp": false, "C:": false,
	} {
		w := new(world)
		_, err := w.run(runtime.WithRunID(t.Context(), id), "a", runtime.WithEngines(f.Record))
		if (err == nil) != ok || !ok && w.reads.Load()+w.writes.Load()+w.lasts.Load() > 0 {
			t.Errorf("%q: %v", id, err)
		}
		if ok != (engine.CheckRunID(id) == nil) {
			t.Errorf("%q: %v", id, engine.CheckRunID(id))
		}
	}
	if list, err := f.List(); err != nil || len(list) != 5 {
		t.Errorf("%+v, %v", list, err)
	}
	if id, err := f.Find("w", "8f14"); id != "8f14e45f-ceea-467f-a7a9-6bd7f3f1d1b0" || err != nil {
		t.Errorf("%q, %v", id, err)
	}
	if _, err := new(world).run(runtime.WithRunID(t.Context(), "last"), "a", runtime.WithEngines(f.Record)); err != nil {
		t.Fatal(err)
	}
	if id, err := f.Find("w", "latest"); id != "last" || err != nil {
		t.Errorf("%q, %v", id, err)
	}
	if _, err := f.Find("v", "latest"); !errors.Is(err, runs.ErrNoRun) {
		t.Errorf("another workflow: %v", err)
	}
}

// A run that a tool begins has an id of its own.
func TestInnerRun(t *testing.T) {
	f := runs.Open(t.TempDir(), runs.Options{})
	inner := ""
	rt, err := flow.New(info, runtime.WithEngines(f.Record))
	if err != nil {
		t.Fatal(err)
	}
	bound := flow.Bind("w.read@1", flow.Reads, func(ctx context.Context, _ string) (string, error) {
		r := flow.Start(ctx, rt, "inner")
		inner = r.ID()
		var err error
		r.End(&err)
		return "", err
	})
	r := flow.Start(runtime.WithRunID(t.Context(), "outer"), rt, "outer")
	_, err = flow.Call(r, &readNode, bound, "")
	r.End(&err)
	if r.ID() != "outer" || inner == "outer" || !strings.HasPrefix(inner, "w-") || err != nil {
		t.Errorf("%q in %q, %v", inner, r.ID(), err)
	}
}

// A logger counts each call and its cost once, however often the run stops for people and goes on; a call that such a stop
// cuts off has no record, and what the journal answers is for debugging.
func TestLoggerOverStops(t *testing.T) { synctest.Test(t, testLoggerOverStops) }

func testLoggerOverStops(t *testing.T) {
	var b bytes.Buffer
	ctx, f := t.Context(), runs.Open(t.TempDir(), runs.Options{})
	w := newApproval(t, 0, runtime.WithEngines(f.Record), runtime.WithLogger(slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		switch a.Key {
		case slog.LevelKey, slog.MessageKey, "key":
			return a
		}
		return slog.Attr{}
	}}))))
	_, err := w.Run(runtime.WithRunID(ctx, "a"), request{"tea"})
	for _, answer := range []string{"yes", "12"} {
		waitingOf(t, err)
		open, err2 := f.Questions("a")
		if err2 != nil || len(open) == 0 {
			t.Fatalf("%v, %v", open, err2)
		}
		if err := f.Respond(ctx, "a", open[0].Key, answer); err != nil {
			t.Fatal(err)
		}
		_, err = runs.Resume(ctx, f, "a", w.Run)
	}
	if err != nil {
		t.Fatal(err)
	}
	calls := map[string]int{}
	for line := range strings.Lines(b.String()) {
		if line = strings.TrimSpace(line); strings.Contains(line, "msg=call") {
			calls[line]++
		}
		if strings.Contains(line, "WARN") || strings.Contains(line, "ERROR") {
			t.Errorf("nothing has failed: %s", line)
		}
	}
	want := map[string]int{"level=INFO msg=call key=boss": 1, "level=INFO msg=call key=finance": 1, "level=INFO msg=call key=after": 1, "level=INFO msg=call key=after#2": 1}
	if d := cmp.Diff(want, calls); d != "" {
		t.Errorf("%s\n%s", d, b.String())
	}
	if open, err := f.Questions("a"); len(open) != 0 || err != nil {
		t.Errorf("%v, %v", open, err)
	}
	if _, err := f.Questions("b"); !errors.Is(err, runs.ErrNoRun) {
		t.Error(err)
	}
}
