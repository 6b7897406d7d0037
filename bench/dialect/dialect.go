// Package dialect holds W11: 20 nodes in a row on a state whose fields have no type, beside the same by hand, where the state is a
// map of any. Each folder below it has the workflow in one public dialect, and a test that calls Measure.
package dialect

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/flowgen-dev/flowgen/bench/measure"
	"github.com/flowgen-dev/flowgen/bench/workload"
)

// Nodes is the length of the chains.
const Nodes = 20

// Variables of the environment that ask tests for times, too: the folder for a file of each dialect, and the plan.
const (
	FolderVariable = "BENCH_FOLDER"
	PlanVariable   = "BENCH_PLAN"
)

// Measure holds a node of a dialect to so many allocations. Where FolderVariable is set, it also writes the times to a file
// called like the dialect: those by hand, and those of run.
func Measure(t *testing.T, name string, most float64, run func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	got := testing.AllocsPerRun(50, func() {
		if err := run(ctx); err != nil {
			t.Fatal(err)
		}
	}) / Nodes
	if got > most {
		t.Errorf("a node of %s allocates %.1f times, more than %v", name, got, most)
	}
	folder := os.Getenv(FolderVariable)
	if folder == "" {
		return
	}
	var plan measure.Plan
	if err := json.Unmarshal([]byte(os.Getenv(PlanVariable)), &plan); err != nil {
		t.Fatal(err)
	}
	hand := func(ctx context.Context) error {
		state, err := byHand(ctx, map[string]any{"count": 0.0, "text": "hello"})
		if err == nil && state["count"] != float64(Nodes) {
			err = fmt.Errorf("the result is wrong: %v", state)
		}
		return err
	}
	results, err := measure.Run(workload.Comparison{ID: "W11", Cases: []workload.Case{
		{Name: "by hand, a map of any", Per: Nodes, Run: repeat(ctx, hand)}, {Name: name, Per: Nodes, Run: repeat(ctx, run)},
	}}, plan)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(results)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name+".json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// repeat makes a Case's Run of one operation.
func repeat(ctx context.Context, f func(context.Context) error) func(int) error {
	return func(n int) error {
		for range n {
			if err := f(ctx); err != nil {
				return err
			}
		}
		return nil
	}
}
