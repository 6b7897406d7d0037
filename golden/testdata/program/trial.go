package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/sim"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// A trial is one input of one workflow under every engine.
type trial struct {
	flow  *workflow
	input json.RawMessage
	seeds int

	direct    outcome
	calls     []string
	byOutcome map[string]outcome // what runs gave, by the outcomes of their calls
	problems  []string
}

const maxProblems = 5

func (t *trial) problem(format string, args ...any) {
	if len(t.problems) < maxProblems {
		t.problems = append(t.problems, fmt.Sprintf(format, args...))
	}
}

func (t *trial) run(e engine.Engine) outcome {
	if e == nil {
		return t.flow.run(context.Background(), t.input)
	}
	return t.flow.run(context.Background(), t.input, runtime.WithEngine(e))
}

func (t *trial) all() {
	t.direct = t.run(nil)
	t.recorded()
	t.steady()
	for seed := range uint64(t.seeds) {
		t.simulated(seed, nil)
		fault := faults(seed)
		t.simulated(2*seed, fault)
		t.simulated(2*seed+1, fault)
	}
}

// recorded runs on goroutines and replays what was recorded.
func (t *trial) recorded() {
	rec := journal.NewRecorder()
	got := t.run(rec)
	if got != t.direct {
		t.problem("recorded: %v, directly: %v", got, t.direct)
	}
	j := rec.Journal()
	t.note("recorded", j, got)
	t.replayed("a replay of the recorded run", j, got)
}

// replayed holds a replay to the run it replays, also after the journal was written and read.
func (t *trial) replayed(what string, j *journal.Journal, want outcome) {
	text, err := j.MarshalText()
	if err != nil {
		t.problem("%s: the journal cannot be written: %v", what, err)
		return
	}
	read := new(journal.Journal)
	if err := read.UnmarshalText(text); err != nil {
		t.problem("%s: the journal cannot be read: %v", what, err)
		return
	}
	e := journal.Replay(read)
	if got := t.run(e); got != want {
		t.problem("%s: %v, the run: %v", what, got, want)
	}
	if left := e.Unused(); len(left) > 0 && want.err == "" {
		t.problem("%s: it did not ask for %v", what, left)
	}
}

// note compares runs whose calls had the same outcomes.
func (t *trial) note(what string, j *journal.Journal, got outcome) {
	var key strings.Builder
	for _, r := range j.Records() {
		fmt.Fprintf(&key, "%s %d %s\n", r.Key, r.Attempt, ended(r))
	}
	if first, ok := t.byOutcome[key.String()]; !ok {
		t.byOutcome[key.String()] = got
	} else if first != got {
		t.problem("%s: %v, but a run whose calls had the same outcomes gave %v\n%s", what, got, first, key.String())
	}
}

func ended(r journal.Record) string {
	switch {
	case r.Error != nil:
		return string(r.Error.Code) + ": " + withoutAddress(r.Error.Message)
	case r.Cancelled != "":
		return "cancelled by " + r.Cancelled
	case !r.Done:
		return "not ended"
	case r.Broken != "":
		return r.Broken
	}
	return ""
}

// steady lists the calls of a run in which every call takes the same time.
func (t *trial) steady() {
	j := journal.New(journal.Header{})
	same := func(string, int) time.Duration { return time.Millisecond }
	got := t.drive(0, sim.Options{Record: j, Latency: same})
	t.note("in the simulator", j, got)
	records := j.Records()
	slices.SortStableFunc(records, func(a, b journal.Record) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), strings.Compare(a.Key, b.Key), cmp.Compare(a.Attempt, b.Attempt))
	})
	t.calls = []string{}
	for _, r := range records {
		call := r.Key
		if r.Attempt > 1 {
			call += fmt.Sprintf(" attempt %d", r.Attempt)
		}
		if r.Tool == engine.WaitTool {
			call += " waits"
		}
		if r.Tool == engine.UndoTool {
			call += " begins"
		}
		if how := ended(r); how != "" {
			call += ": " + how
		}
		t.calls = append(t.calls, call)
	}
}

// drive runs in the simulator and checks that no key is used twice.
func (t *trial) drive(seed uint64, o sim.Options) outcome {
	seen := map[string]bool{}
	latency := o.Latency
	random := newRandom(seed)
	o.Latency = func(key string, attempt int) time.Duration {
		call := fmt.Sprintf("%s %d", key, attempt)
		if seen[call] {
			t.problem("two calls have the key %s", call)
		}
		seen[call] = true
		if latency != nil {
			return latency(key, attempt)
		}
		return time.Duration(random.next() % uint64(20*time.Millisecond))
	}
	s := sim.New(seed, o)
	var got outcome
	if err := s.Drive(func() { got = t.run(s) }); err != nil {
		t.problem("seed %d: %v", seed, err)
	}
	return got
}

// simulated runs under one schedule, and replays that run under others.
func (t *trial) simulated(seed uint64, fault func(string, int) *value.ToolError) {
	j := journal.New(journal.Header{})
	got := t.drive(seed, sim.Options{Record: j, Fault: fault})
	what := fmt.Sprintf("seed %d", seed)
	if fault != nil {
		what += " with faults"
	}
	t.note(what, j, got)
	if again := t.drive(seed+1000, sim.Options{Replay: j}); again != got {
		t.problem("%s, replayed under another schedule: %v, the run: %v", what, again, got)
	}
	if seed%10 == 0 {
		t.replayed(what+", replayed", j, got)
	}
}

var codes = []value.Code{
	value.ValidationError, value.Timeout, value.RateLimit, value.PolicyDenied, value.AuthRequired,
	value.ProviderError, value.NetworkError, value.SandboxError, value.Unknown,
}

// faults makes one call in six fail, which ones depends on the seed and the call alone.
func faults(seed uint64) func(string, int) *value.ToolError {
	return func(key string, attempt int) *value.ToolError {
		f := fnv.New64a()
		fmt.Fprint(f, seed, key, attempt)
		r := random{f.Sum64()}
		if r.next()%6 != 0 {
			return nil
		}
		return value.Errorf(codes[r.next()%uint64(len(codes))], "injected into %s", key)
	}
}

// random is splitmix64: small, and the same everywhere.
type random struct{ state uint64 }

func newRandom(seed uint64) *random { return &random{seed} }

func (r *random) next() uint64 {
	r.state += 0x9e3779b97f4a7c15
	x := r.state
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
