//go:build unix

package temporal

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/internal/built"
)

// A pace is what a run took.
type pace struct {
	wall          time.Duration
	events, bytes float64
}

// paceOf asks the server what a run took.
func paceOf(t *testing.T, id string) pace {
	t.Helper()
	r, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/api/v1/namespaces/%s/workflows/%s", shared.web, shared.namespace, id))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	var d struct {
		WorkflowExecutionInfo struct {
			HistoryLength, HistorySizeBytes string
			StartTime, CloseTime            time.Time
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&d); err != nil {
		t.Fatal(err)
	}
	x := d.WorkflowExecutionInfo
	events, err1 := strconv.ParseFloat(x.HistoryLength, 64)
	bytes, err2 := strconv.ParseFloat(x.HistorySizeBytes, 64)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	return pace{x.CloseTime.Sub(x.StartTime), events, bytes}
}

// TestPace prints the tables of docs/benchmarks.md: a generated workflow beside one that is written by hand, in turns. Without the
// variable TEMPORAL_PACE, the number of rounds, it makes one round and looks at events and bytes alone.
func TestPace(t *testing.T) {
	served(t)
	hand, times := built.Go(t, "runtime/temporal/testdata/hand"), rounds("TEMPORAL_PACE", 1)
	var table strings.Builder
	for _, tt := range []struct {
		what            string
		calls, parallel int
		hand, flags     []string
		events, bytes   float64 // at most, in those of the hand-written
	}{
		{"in sequence", 100, 1, nil, nil, 1, 1.13},
		{"8 at a time", 400, 8, nil, nil, 1.1, 1.15},
		{"8 at a time, `--local`", 400, 8, []string{"local"}, []string{"--local"}, 1.1, 1.2},
		{"64 at a time, together", 400, 64, nil, nil, 0.5, 1.1},
	} {
		exe := build(t, fmt.Sprintf("testdata/pace%d.flowgen.yaml", tt.parallel))
		in := numbers(t, 0, tt.calls)
		ours, theirs := worker(t, exe, tt.flags...), worker(t, hand, tt.hand...)
		var walls [2][]time.Duration
		var last [2]pace
		for round := range times {
			id := fmt.Sprintf("pace-%d-%d-%d-%d", tt.calls, tt.parallel, len(tt.flags), round)
			ok(t, hand, "start", id+"-hand", strconv.Itoa(tt.calls), strconv.Itoa(tt.parallel))
			ok(t, exe, "start", "--id", id, "--wait", "--input-json", in)
			for i, id := range []string{id + "-hand", id} {
				last[i] = paceOf(t, id)
				walls[i] = append(walls[i], last[i].wall)
			}
		}
		busy := [2]time.Duration{spent(theirs), spent(ours)}
		for i, who := range []string{"by hand", "flowgen"} {
			best := slices.Min(walls[i])
			per := float64(tt.calls * times)
			fmt.Fprintf(&table, "| %d calls, %s, %s | %.0f | %.2f | %.0f | %.2f | %.2f ms | %.2f | %.2f ms |\n", tt.calls, tt.what, who, last[i].events, last[i].events/last[0].events,
				last[i].bytes/1000, last[i].bytes/last[0].bytes, best.Seconds()*1000/float64(tt.calls), best.Seconds()/slices.Min(walls[0]).Seconds(), busy[i].Seconds()*1000/per)
		}
		if e, b := last[1].events/last[0].events, last[1].bytes/last[0].bytes; e > tt.events || b > tt.bytes {
			t.Errorf("%d calls, %s: %.2f times the events, %.2f times the bytes of the workflow by hand", tt.calls, tt.what, e, b)
		}
	}
	t.Log("\n" + table.String())
}

// spent ends a worker and returns the processor time that it took.
func spent(worker *exec.Cmd) time.Duration {
	_ = worker.Process.Kill()
	_ = worker.Wait()
	return worker.ProcessState.UserTime() + worker.ProcessState.SystemTime()
}

// TestThroughput prints calls per second of several workers, for docs/benchmarks.md.
func TestThroughput(t *testing.T) {
	served(t)
	if os.Getenv("TEMPORAL_PACE") == "" {
		t.Skip("TEMPORAL_PACE is not set: it measures time alone")
	}
	hand, exe := built.Go(t, "runtime/temporal/testdata/hand"), build(t, "testdata/pace8.flowgen.yaml")
	const runs, calls = 8, 200
	in := numbers(t, 0, calls)
	var table strings.Builder
	for _, workers := range []int{1, 2, 4} {
		var rate [2]float64
		for i, who := range []string{hand, exe} {
			var all []*exec.Cmd
			for range workers {
				all = append(all, worker(t, who))
			}
			began := time.Now()
			var wg sync.WaitGroup
			for r := range runs {
				id := fmt.Sprintf("rate-%d-%d-%d", workers, i, r)
				wg.Go(func() {
					if i == 0 {
						_, _, _ = call(t, who, "start", id, strconv.Itoa(calls), "8")
					} else {
						_, _, _ = call(t, who, "start", "--id", id, "--wait", "--input-json", in)
					}
				})
			}
			wg.Wait()
			rate[i] = runs * calls / time.Since(began).Seconds()
			for _, w := range all {
				spent(w)
			}
		}
		fmt.Fprintf(&table, "| %d | %.0f | %.0f | %.2f |\n", workers, rate[0], rate[1], rate[1]/rate[0])
	}
	t.Log("\n" + table.String())
}
