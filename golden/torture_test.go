package golden_test

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/runtime/torture"
)

// torment is a campaign against one case.
type torment struct {
	Seed   uint64   `json:"seed"`
	Trials int      `json:"trials"`
	Real   []string `json:"real"`
	Random bool     `json:"random"` // inputs too; with those an unbounded loop may have no end
}

// trials is how many seeds every case is tried with. TORTURE_TRIALS says another number (.ci/run 1,000), TORTURE_SEED the
// first one, and TORTURE_CASE the only case.
var trials = few(20)

func tormentFromEnv() torment {
	q := torment{Trials: trials}
	if n, err := strconv.Atoi(os.Getenv("TORTURE_TRIALS")); err == nil {
		q.Trials = n
	}
	if n, err := strconv.ParseUint(os.Getenv("TORTURE_SEED"), 10, 64); err == nil {
		q.Seed = n
	}
	return q
}

// runTorture runs every case in a simulation, with tools that are pure functions and fakes of all others: under other
// schedules, with faults, cancelled, under caps, crashed, resumed and replayed.
func runTorture(t *testing.T, exe string, list []*testcase) {
	campaign := tormentFromEnv()
	var requests []request
	for _, c := range list {
		one := campaign
		one.Real, one.Random = pureTools(c.workflow), !strings.Contains(c.section(c.root()), "unbounded")
		requests = append(requests, request{Case: c.name, Torture: &one, Inputs: c.inputs(t, true)})
	}
	begin := time.Now()
	var sum torture.Counts
	for _, r := range ask(t, exe, requests) {
		t.Run(r.Case, func(t *testing.T) {
			for _, f := range r.Torture.Findings {
				t.Errorf("%v\nagain: TORTURE_CASE=%s TORTURE_SEED=%d TORTURE_TRIALS=1 go test ./golden -run '^TestRuns$'", f, r.Case, f.Seed)
			}
			for _, p := range r.Problems {
				t.Error(p)
			}
			sum.Add(r.Torture.Counts)
			for what, n := range r.Torture.Errors {
				if strings.HasPrefix(what, "input:") || strings.HasPrefix(what, "start:") {
					t.Errorf("%d runs did not begin: %s", n, what)
				}
			}
		})
	}
	t.Logf("%d workflows in %v: %+v", len(requests), time.Since(begin).Round(time.Millisecond), sum)
	if campaign.Trials >= trials && (sum.Trials < int64(len(requests)*campaign.Trials) || sum.Crashes < sum.Trials/2 || len(requests) > 1 && (sum.Faults == 0 || sum.Cancelled == 0 || sum.Capped == 0)) {
		t.Error("the campaign does not do what it should")
	}
}

// pureTools are the tools of a workflow and its sub-workflows that are functions without effects.
func pureTools(w *ir.Workflow) []string {
	names := []string{}
	for _, t := range w.Tools {
		switch t.Binding.(type) {
		case *ir.GoTool, *ir.StarlarkTool:
			if check.Effects(t) == ir.EffectsNone {
				names = append(names, t.FullName())
			}
		}
	}
	for _, f := range w.Flows {
		names = append(names, pureTools(f)...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
