package main

import (
	"errors"
	"hash/fnv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/sim"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// run executes the workflow under a simulator.
func run(t *testing.T, s *sim.Simulator, in Input) (out Output, err error) {
	t.Helper()
	w, newErr := New(runtime.WithEngine(s))
	if newErr != nil {
		t.Fatal(newErr)
	}
	if driveErr := s.Drive(func() { out, err = w.Run(t.Context(), in) }); driveErr != nil {
		t.Fatal(driveErr)
	}
	return out, err
}

// The notes do not depend on the order in which commits and sections happen to be worked on, and a recorded run gives
// the same notes again without running git.
func TestEveryScheduleGivesTheSameNotes(t *testing.T) {
	in := Input{Repo: repository(t, "feat: a", "fix: b", "docs: c", "d", "feat: e"), Limit: 50, Title: "T", Audience: "developers"}
	w, err := New()
	if err != nil {
		t.Fatal(err)
	}
	want, err := w.Run(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(40) {
		j := journal.New(journal.Header{})
		got, err := run(t, sim.New(seed, sim.Options{Record: j}), in)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d (-want +got):\n%s", seed, diff)
		}
		again, err := run(t, sim.New(seed+1000, sim.Options{Replay: j}), in)
		if err != nil {
			t.Fatalf("seed %d, replayed: %v", seed, err)
		}
		if diff := cmp.Diff(want, again); diff != "" {
			t.Fatalf("seed %d, replayed (-want +got):\n%s", seed, diff)
		}
	}
}

// Whatever fails, the run ends with an error that has a code and a place, or, where the workflow says so, without the
// item that failed.
func TestFaults(t *testing.T) {
	in := Input{Repo: repository(t, "feat: a", "fix: b", "docs: c"), Limit: 50, Title: "T", Audience: "developers"}
	failed, dropped := 0, 0
	for seed := range uint64(60) {
		fault := func(key string, attempt int) *value.ToolError {
			h := fnv.New64a()
			h.Write([]byte{byte(seed)})
			h.Write([]byte(key))
			if h.Sum64()%4 != 0 {
				return nil
			}
			return &value.ToolError{Code: value.ProviderError, Message: "injected"}
		}
		out, err := run(t, sim.New(seed, sim.Options{Fault: fault}), in)
		var ne *runtime.NodeError
		var te *value.ToolError
		switch {
		case err == nil && len(out.Notes) > 0:
			dropped++
		case errors.As(err, &ne) && errors.As(err, &te) && ne.Node.Pos != "" && te.Code == value.ProviderError:
			failed++
		default:
			t.Errorf("seed %d: %q, %v", seed, out.Notes, err)
		}
	}
	if failed == 0 || dropped == 0 {
		t.Errorf("%d runs failed and %d went on: the faults test nothing", failed, dropped)
	}
}
