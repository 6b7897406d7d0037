package journal_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
)

// The output of a run stands in its journal, unless it is none that JSON can hold.
func TestFinishHasTheOutput(t *testing.T) {
	for in, want := range map[float64]string{1.5: "1.5", math.Inf(1): ""} {
		rec := journal.NewRecorder()
		rt, err := flow.New(&flow.Info{Name: "w"}, runtime.WithEngine(rec))
		if err != nil {
			t.Fatal(err)
		}
		r := flow.Start(t.Context(), rt, "in")
		flow.End(r, &in, &err)
		if f := rec.Journal().Finish(); f.Outcome != journal.Succeeded || string(f.Output) != want {
			t.Errorf("%v: %+v, %v", in, f, err)
		}
	}
}

// Only a call whose tool says so runs in a replay that has no record of it.
func TestRunMissing(t *testing.T) {
	j := recorded(t, func(*flow.Run) (string, error) { return "", nil })
	for policy, runs := range map[flow.ReplayPolicy]bool{flow.RecordedResult: true, flow.FailLoud: false} {
		ran := false
		tool := flow.Bind("w.new@1", flow.Reads, func(context.Context, int) (int, error) { ran = true; return 1, nil }, flow.Replay(policy))
		body := func(r *flow.Run) (string, error) {
			_, err := flow.Call(r, &searchNode, tool, 1)
			return "", err
		}
		if _, err := run(t, journal.Replay(j, journal.RunMissing()), body); ran != runs || (err == nil) != runs {
			t.Errorf("%v: ran %v, %v", policy, ran, err)
		}
		ran = false
		if _, err := run(t, journal.Replay(j), body); ran || err == nil {
			t.Errorf("%v, without leave: ran %v, %v", policy, ran, err)
		}
	}
}

// Of several calls without a record one alone has diverged: the others are cancelled by it.
func TestOneMissDiverges(t *testing.T) {
	j := recorded(t, func(*flow.Run) (string, error) { return "", nil })
	for range 20 { // all of them are woken in no certain order, should they be woken at once
		const ids = "hgfedcba"
		errs := make([]error, len(ids))
		branches := make([]func(r *flow.Run) error, len(ids))
		_, err := run(t, journal.Replay(j), func(r *flow.Run) (string, error) {
			for i := range branches {
				branches[i] = func(r *flow.Run) error {
					_, errs[i] = flow.Call(r, &flow.Node{ID: ids[i : i+1], Pos: "w.yaml:1:1"}, search, query{})
					return errs[i]
				}
			}
			return "", flow.Parallel(r, branches...)
		})
		if err == nil || !strings.Contains(err.Error(), "the journal has no call a") {
			t.Errorf("%v", err)
		}
		for i, err := range errs[:len(ids)-1] {
			if !runtime.IsCancelled(err) {
				t.Errorf("%c: %v", ids[i], err)
			}
		}
	}
}

// A fork that has ended leaves the branch that it is in at work: a miss elsewhere still waits for that branch.
func TestAMissWaitsForABranchBehindItsFork(t *testing.T) {
	synctest.Test(t, testAMissWaitsForABranchBehindItsFork)
}

func testAMissWaitsForABranchBehindItsFork(t *testing.T) {
	boom := errors.New("boom")
	j := recorded(t, func(*flow.Run) (string, error) { return "", nil })
	nothing := func(*flow.Run) error { return nil }
	_, err := run(t, journal.Replay(j), func(r *flow.Run) (string, error) {
		return "", flow.Parallel(r,
			func(r *flow.Run) error { _, err := flow.Call(r, &searchNode, search, query{}); return err },
			func(r *flow.Run) error {
				synctest.Wait() // the miss waits
				if err := flow.Parallel(r, nothing, nothing); err != nil {
					return err
				}
				synctest.Wait()
				return boom
			})
	})
	if !errors.Is(err, boom) {
		t.Errorf("%v", err)
	}
}

// What a run that goes on has taken as done stands in its journal; what stays in doubt has no result there.
func TestResumedJournal(t *testing.T) {
	assumed := writeNode
	assumed.InDoubt = &flow.Doubt{Policy: flow.AssumeDone, Output: `"given"`}
	for name, tt := range map[string]struct {
		node *flow.Node
		want string
	}{"taken as done": {&assumed, `"given"`}, "in doubt": {&writeNode, ""}} {
		body := func(r *flow.Run) (string, error) { return flow.Call(r, tt.node, write, query{Q: "a"}) }
		j := recorded(t, body)
		rec, _ := j.Lookup("write", 1)
		rec.Done, rec.Output = false, nil
		j.Put(rec)
		e := journal.Resume(j)
		if h := e.Journal().Header(); h.Workflow != "w" {
			t.Errorf("%s: before it begins the header is %+v", name, h)
		}
		out, err := run(t, e, body)
		if (err == nil) != (tt.want != "") || err == nil && out != "given" {
			t.Errorf("%s: %q, %v", name, out, err)
		}
		if r, ok := e.Journal().Lookup("write", 1); !ok || r.Result() != (tt.want != "") || string(r.Output) != tt.want {
			t.Errorf("%s: %+v", name, r)
		}
	}
}
