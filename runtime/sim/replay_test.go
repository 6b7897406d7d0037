package sim_test

import (
	"context"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/sim"
)

func seeds(t *testing.T, n int) int {
	if many, err := strconv.Atoi(os.Getenv("SIM_RUNS")); err == nil {
		return n * many // a long run by hand
	}
	if testing.Short() {
		n /= 10
	}
	return n
}

// reread sends a journal through its text.
func reread(t *testing.T, j *journal.Journal) *journal.Journal {
	t.Helper()
	text, err := j.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	back, err := journal.Parse(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	again, err := back.MarshalText()
	if err != nil || string(again) != string(text) {
		t.Fatalf("the journal changed: %v\n%s\n%s", err, text, again)
	}
	return back
}

// checkReplays replays a journal under other schedules than the recorded one. No tool may run.
func checkReplays(t *testing.T, seed, fail uint64, j *journal.Journal, want string) {
	t.Helper()
	w, s := newWorld(seed, fail)
	w.forbid = func(in query) { t.Errorf("seed %d: a replay called %v", seed, in) }
	for range 2 {
		if got := w.run(t, t.Context(), s, runtime.WithEngine(journal.Replay(j))); got != want {
			text, _ := j.MarshalText()
			t.Fatalf("seed %d: replay %s\nrecorded %s\n%s", seed, got, want, text)
		}
	}
	for other := range uint64(4) {
		e := sim.New(other, sim.Options{Replay: j})
		var got string
		if err := e.Drive(func() { got = w.run(t, t.Context(), s, runtime.WithEngine(e)) }); err != nil {
			t.Fatalf("seed %d/%d: %v", seed, other, err)
		}
		if got != want {
			text, _ := j.MarshalText()
			t.Fatalf("seed %d/%d: simulated replay %s\nrecorded %s\n%s", seed, other, got, want, text)
		}
	}
}

func TestRecordedRunsReplayUnderAnySchedule(t *testing.T) {
	var failed, caught, scoped int
	for seed := range uint64(seeds(t, 120)) {
		fail := []uint64{0, 3, 8, 20}[seed%4]
		w, s := newWorld(seed, fail)
		w.real = true
		rec := journal.NewRecorder()
		want := w.run(t, t.Context(), s, runtime.WithEngine(rec))
		j := reread(t, rec.Journal())
		for _, r := range j.Records() {
			if r.Cancelled == runtime.ByScope {
				scoped++
			}
		}
		if strings.HasPrefix(want, "error") {
			failed++
		}
		if strings.Contains(want, "caught") {
			caught++
		}
		checkReplays(t, seed, fail, j, want)
	}
	t.Logf("%d failed, %d caught, %d calls cancelled by a sibling", failed, caught, scoped)
	if !testing.Short() && (failed == 0 || caught == 0 || scoped == 0) {
		t.Error("the runs do not show what they should")
	}
}

func TestSimulatedRunsReplay(t *testing.T) {
	for seed := range uint64(seeds(t, 300)) {
		fail := []uint64{0, 10}[seed%2]
		w, s := newWorld(seed, fail)
		j := journal.New(journal.Header{})
		e := sim.New(seed*31, sim.Options{Record: j})
		var want string
		if err := e.Drive(func() { want = w.run(t, t.Context(), s, runtime.WithEngine(e)) }); err != nil {
			t.Fatal(err)
		}
		checkReplays(t, seed, fail, reread(t, j), want)
	}
}

func TestOutcomeDoesNotDependOnTheSchedule(t *testing.T) {
	for seed := range uint64(seeds(t, 40)) {
		plain, s := newWorld(seed, 0)
		want := plain.run(t, t.Context(), s)
		if strings.Contains(want, "error ") || strings.Contains(want, "caught ") {
			continue // which of two failures is reported is timing
		}
		for schedule := range uint64(10) {
			var before string
			for range 2 {
				w, s := newWorld(seed, 0)
				e := sim.New(schedule, sim.Options{})
				var got string
				if err := e.Drive(func() { got = w.run(t, t.Context(), s, runtime.WithEngine(e)) }); err != nil {
					t.Fatal(err)
				}
				if got != want {
					t.Fatalf("seed %d/%d: %s, want %s", seed, schedule, got, want)
				}
				trace := strings.Join(e.Trace(), "\n")
				if before != "" && trace != before {
					t.Fatalf("seed %d/%d: not reproducible\n%s\n\n%s", seed, schedule, before, trace)
				}
				before = trace
			}
		}
	}
}

// crashing takes a snapshot of the journal at a moment of the run: what a crash then would leave.
type crashing struct {
	*journal.Recorder
	moment   int64
	passed   atomic.Int64
	snapshot *journal.Journal
}

func (c *crashing) Do(r *flow.Run, op engine.Op) error {
	c.pass()
	defer c.pass()
	return c.Recorder.Do(r, op)
}

func (c *crashing) pass() {
	if c.passed.Add(1) == c.moment {
		c.snapshot = c.Journal()
	}
}

// watched notes which calls of a resumed run were carried out.
type watched struct {
	*journal.Resumer
	mu  sync.Mutex
	ran []*engine.Head
}

func (e *watched) Do(r *flow.Run, op engine.Op) error {
	err := e.Resumer.Do(r, op)
	if !op.Head().Replayed {
		e.mu.Lock()
		e.ran = append(e.ran, op.Head())
		e.mu.Unlock()
	}
	return err
}

func TestResumeRepeatsNoFinishedCall(t *testing.T) {
	resumed := 0
	for seed := range uint64(seeds(t, 30)) {
		for moment := int64(1); moment < 40; moment += 1 + int64(seed%7) {
			w, s := newWorld(seed, 0)
			w.real = true
			c := &crashing{Recorder: journal.NewRecorder(), moment: moment}
			want := w.run(t, t.Context(), s, runtime.WithEngine(c))
			if c.snapshot == nil {
				break
			}
			j := reread(t, c.snapshot)
			first := w
			w, s = newWorld(seed, 0)
			w.flaky = first.flaky // the world outside goes on
			e := &watched{Resumer: journal.Resume(j, journal.RunAgain(func(journal.Record) bool { return true }))}
			if got := w.run(t, t.Context(), s, runtime.WithEngine(e)); got != want {
				t.Fatalf("seed %d, crash at %d: %s, want %s", seed, moment, got, want)
			}
			for _, h := range e.ran {
				if r, ok := j.Lookup(h.Key(), int(h.Attempt)); ok && r.Result() {
					t.Fatalf("seed %d, crash at %d: %s ran again", seed, moment, h.Key())
				}
			}
			checkReplays(t, seed, 0, reread(t, e.Journal()), want)
			resumed++
		}
	}
	t.Logf("%d runs resumed", resumed)
}

// alike reports whether two runs have ended in the same way. Of parallel loops that reach their bounds any can be the first.
func alike(a, b string) bool {
	const bound = ", its bound,"
	return a == b || strings.Contains(a, bound) && strings.Contains(b, bound)
}

func TestCancelledRunsReplayAndResume(t *testing.T) {
	stopped := 0
	for seed := range uint64(seeds(t, 200)) {
		w, s := newWorld(seed, 0)
		j := journal.New(journal.Header{})
		ctx, cancel := context.WithCancel(t.Context())
		e := sim.New(seed, sim.Options{Record: j})
		e.After(15e6, cancel)
		var got string
		if err := e.Drive(func() { got = w.run(t, ctx, s, runtime.WithEngine(e)) }); err != nil {
			t.Fatal(err)
		}
		cancel()
		flaky := w.flaky
		w, s = newWorld(seed, 0)
		want := w.run(t, t.Context(), s)
		if !alike(got, want) {
			if !strings.Contains(got, "cancelled") || j.Finish().Outcome != journal.Cancelled {
				t.Fatalf("seed %d: %s", seed, got)
			}
			stopped++
			w.forbid = func(in query) { t.Errorf("seed %d: a replay called %v", seed, in) }
			if again := w.run(t, t.Context(), s, runtime.WithEngine(journal.Replay(j))); !strings.Contains(again, "cancelled") {
				t.Fatalf("seed %d: the replay of a stopped run gave %s", seed, again)
			}
		}
		w, s = newWorld(seed, 0)
		w.flaky = flaky
		re := journal.Resume(j, journal.RunAgain(func(journal.Record) bool { return true }))
		if got := w.run(t, t.Context(), s, runtime.WithEngine(re)); !alike(got, want) {
			t.Fatalf("seed %d: resumed %s, want %s", seed, got, want)
		}
	}
	if stopped == 0 {
		t.Error("no run was stopped")
	}
}
