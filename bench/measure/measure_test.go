package measure

import (
	"os/exec"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/bench/workload"
)

func TestSpread(t *testing.T) {
	for _, tt := range []struct {
		in   []float64
		want Spread
	}{
		{[]float64{3, 1, 2}, Spread{1, 2, 3}},
		{[]float64{4, 1, 2, 3}, Spread{1, 2.5, 4}},
		{[]float64{7}, Spread{7, 7, 7}},
	} {
		if diff := cmp.Diff(tt.want, spread(tt.in)); diff != "" {
			t.Error(diff)
		}
	}
}

// Allocations are counted for each unit, and every case takes part in every round.
func TestRun(t *testing.T) {
	var kept [][]byte
	ran := map[string]int{}
	one := func(name string, blocks int) workload.Case {
		return workload.Case{Name: name, Per: 2, Run: func(n int) error {
			ran[name]++
			for range n {
				for range blocks {
					kept = append(kept[:0], make([]byte, 1024))
				}
			}
			return nil
		}}
	}
	c := workload.Comparison{ID: "X", Cases: []workload.Case{one("first", 2), one("second", 6)}}
	results, err := Run(c, Plan{Rounds: 3, Slice: 2 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		name   string
		allocs float64
	}{{"first", 1}, {"second", 3}} {
		r := results[i]
		if r.Name != want.name || r.Allocs < want.allocs || r.Allocs > want.allocs+0.5 || r.Bytes < 1024*want.allocs {
			t.Errorf("%+v", r)
		}
		if r.Nanos.Min <= 0 || r.Nanos.Min > r.Nanos.Median || r.Nanos.Median > r.Nanos.Max || ran[r.Name] < 4 {
			t.Errorf("%+v after %d slices", r, ran[r.Name])
		}
	}
	if first := results[0]; first.Ratio != (Spread{1, 1, 1}) || first.Fastest != 1 {
		t.Errorf("the first case beside itself: %+v", first)
	}
	_ = kept
}

func TestProcesses(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no shell")
	}
	prepared := 0
	all, err := Processes(2, Command{Name: "quick", Args: []string{sh, "-c", "echo x"}},
		Command{Name: "slow", Args: []string{sh, "-c", "sleep 0.05; echo x"}, Prep: func() error { prepared++; return nil }})
	if err != nil {
		t.Fatal(err)
	}
	if prepared != 2 || all[1].Wall.Min < 50 || all[1].First.Min < 50 || all[0].First.Min <= 0 || all[0].Name != "quick" {
		t.Errorf("%d %+v", prepared, all)
	}
	if _, err := Processes(1, Command{Name: "failing", Args: []string{sh, "-c", "echo no >&2; exit 3"}}); err == nil || err.Error() != "failing: exit status 3: no\n" {
		t.Error(err)
	}
}
