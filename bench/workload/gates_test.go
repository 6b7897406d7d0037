package workload

import (
	"context"
	"testing"

	"github.com/flowgen-dev/flowgen/bench/chain"
	"github.com/flowgen-dev/flowgen/bench/fanout"
	"github.com/flowgen-dev/flowgen/bench/prompt"
	"github.com/flowgen-dev/flowgen/bench/router"
	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/journal"
)

// allocs is how often f allocates. What it does must succeed.
func allocs(t *testing.T, runs int, f func() error) float64 {
	t.Helper()
	return testing.AllocsPerRun(runs, func() {
		if err := f(); err != nil {
			t.Fatal(err)
		}
	})
}

// A run allocates a little to begin with, then nothing for a call, or one record.
func TestChainAllocations(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w, err := chain.New()
	if err != nil {
		t.Fatal(err)
	}
	if got := allocs(t, 100, func() error { return chainRun(ctx, w) }); got > 3 {
		t.Errorf("a run of %d nodes allocates %v times", Nodes, got)
	}
	recorder := journal.NewRecorder()
	run, err := begin(ctx, chain.Info, runtime.WithEngine(recorder))
	if err != nil {
		t.Fatal(err)
	}
	const runs = 100
	got := allocs(t, runs, func() error {
		_, err := w.Body(run, chain.Input{Text: "hello"})
		return err
	})
	if perNode := got / Nodes; perNode > 1.01 { // the tables of the recorder grow now and then
		t.Errorf("a recorded call allocates %v times", perNode)
	}
	run.End(&err)
	receipts := recorder.Envelopes()
	if want := (runs + 1) * Nodes; len(receipts) != want || err != nil { // AllocsPerRun runs once more
		t.Fatalf("%d receipts of %d calls: %v", len(receipts), want, err)
	}
	for _, e := range receipts {
		if len(e.CallID) != 64 || e.Name != "chain.step" || len(e.Input) == 0 || len(e.Output) == 0 || e.TEnd.Before(e.TStart) {
			t.Fatalf("receipt %+v", e)
		}
	}
}

func TestFanoutAllocations(t *testing.T) {
	w, err := fanout.New()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1000, 10_000, 1_000_000} {
		items := fanoutItems(n)
		got := allocs(t, 5, func() error {
			out, err := w.Run(t.Context(), fanout.Input{Items: items})
			if err == nil && (len(out.Results) != n || out.Results[n-1].Value != int64(2*(n-1))) {
				err = wrong(len(out.Results))
			}
			return err
		})
		if got > 16 {
			t.Errorf("a map over %d items allocates %v times", n, got)
		}
	}
}

func TestPromptAllocations(t *testing.T) {
	w, err := prompt.New()
	if err != nil {
		t.Fatal(err)
	}
	run, err := begin(t.Context(), prompt.Info)
	if err != nil {
		t.Fatal(err)
	}
	want := promptByHand(&pull)
	got := allocs(t, 100, func() error {
		out, err := w.Body(run, pull)
		if err == nil && out.Text != want {
			err = wrong(out.Text)
		}
		return err
	})
	if got != 1 {
		t.Errorf("a prompt allocates %v times", got)
	}
}

func TestRouterAllocations(t *testing.T) {
	w, err := router.New()
	if err != nil {
		t.Fatal(err)
	}
	if got := allocs(t, 20, func() error {
		out, err := w.Run(t.Context(), router.Input{Score: 0.5, Label: "draft"})
		if err == nil && out.Attempts != Iterations {
			err = wrong(out)
		}
		return err
	}); got > 3 {
		t.Errorf("a loop of %d iterations allocates %v times", Iterations, got)
	}
}

// The count is of the whole process: the server's side of a call is in it, as in that of the call by hand.
func TestFetchAllocations(t *testing.T) {
	c, err := Fetch()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	counts := map[string]float64{}
	const calls = 200 // in a run, so that its beginning does not count
	for _, k := range c.Cases {
		counts[k.Name] = allocs(t, 3, func() error { return k.Run(calls) }) / calls
	}
	if got := counts["flowgen"]; got > 85 {
		t.Errorf("a call allocates %v times: %v", got, counts)
	}
	if got := counts["flowgen, recorded"]; got > 85 {
		t.Errorf("a recorded call allocates %v times: %v", got, counts)
	}
}

// A run that waits holds little on the heap; the rest is the stack of its goroutine. A recorded one holds its records, too.
func TestParkedMemory(t *testing.T) {
	all, err := Parked(2000)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		t.Logf("%s: heap %.0f, stack %.0f bytes", m.Name, m.Heap, m.Stack)
		limit := 4096.0
		if m.Name == "flowgen, recorded" {
			const calls, record, entry = Nodes/2 + 1, 176, 24
			limit += calls*record + 2*calls*entry // the table is at most half empty
		}
		if m.Heap > limit {
			t.Errorf("%s holds %.0f bytes", m.Name, m.Heap)
		}
	}
}
