package golden_test

import (
	"encoding/json"
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

// trials is how many seeds every case is tried with. TORTURE_TRIALS says another number, TORTURE_SEED the first one.
const trials = 1000

// TestTorture runs every case that can be linked in a simulation, with tools that are pure functions and fakes of all
// others: under other schedules, with faults, cancelled, under caps, crashed, resumed and replayed.
func TestTorture(t *testing.T) {
	if testing.Short() {
		t.Skip("links a program")
	}
	campaign := torment{Trials: trials}
	if raceDetector {
		campaign.Trials = 30
	}
	if n, err := strconv.Atoi(os.Getenv("TORTURE_TRIALS")); err == nil {
		campaign.Trials = n
	}
	if n, err := strconv.ParseUint(os.Getenv("TORTURE_SEED"), 10, 64); err == nil {
		campaign.Seed = n
	}
	only := os.Getenv("TORTURE_CASE")
	var requests []request
	byName := map[string]*testcase{}
	for _, c := range corpus(t) {
		if c.code == "" || only != "" && only != c.name {
			continue
		}
		q := request{Case: c.name, Torture: &torment{campaign.Seed, campaign.Trials, pureTools(c.workflow), !strings.Contains(c.section(c.root()), "unbounded")}}
		if c.has("want/run.json") {
			var runs []goldenRun
			if err := json.Unmarshal([]byte(c.section("want/run.json")), &runs); err != nil {
				t.Fatalf("%s: want/run.json: %v", c.name, err)
			}
			for _, run := range runs {
				q.Inputs = append(q.Inputs, run.Input)
			}
		}
		requests = append(requests, q)
		byName[c.name] = c
	}
	exe := link(t, byName)
	begin := time.Now()
	var sum torture.Counts
	for _, r := range ask(t, exe, requests) {
		t.Run(r.Case, func(t *testing.T) {
			for _, f := range r.Torture.Findings {
				t.Errorf("%v\n  again: TORTURE_CASE=%s TORTURE_SEED=%d TORTURE_TRIALS=1 go test ./golden -run '^TestTorture$'", f, r.Case, f.Seed)
			}
			for _, p := range r.Problems {
				t.Error(p)
			}
			sum.Add(r.Torture.Counts)
		})
	}
	t.Logf("%d workflows, %v: %+v", len(requests), time.Since(begin), sum)
	if only == "" && campaign.Trials >= 30 && (sum.Trials < int64(len(requests)*campaign.Trials) || sum.Crashes < sum.Trials/2 || sum.Faults == 0 || sum.Cancelled == 0 || sum.Capped == 0) {
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
