package core_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/sim"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// In every period of the rate at most that many calls begin, under every schedule, and no turn is wasted.
func TestRateHolds(t *testing.T) {
	tests := []struct {
		n     int
		per   time.Duration
		calls int
		last  time.Duration // when the last call begins
	}{
		{5, time.Second, 23, 4 * time.Second},
		{1, time.Minute, 4, 3 * time.Minute},
		{100, time.Hour, 100, 0},
		{10_000, time.Second, 8_000, 0}, // kept in shorter periods
	}
	for _, tt := range tests {
		for seed := range uint64(5) {
			var begun []time.Duration
			var s *sim.Simulator
			tool := flow.Bind("t.rated@1", flow.Reads, func(context.Context, pair) (pair, error) {
				begun = append(begun, s.Elapsed())
				return pair{}, nil
			}, flow.Rate(tt.n, tt.per))
			s = sim.New(seed, sim.Options{Latency: func(string, int) time.Duration { return 0 }})
			err := s.Drive(func() {
				r := start(t, t.Context(), runtime.WithEngine(s))
				m := node("m")
				m.Limit = tt.calls
				if _, err := flow.Map(r, m, make([]int, tt.calls), func(r *flow.Run, _ int) (pair, error) {
					return flow.Call(r, node("a"), tool, pair{})
				}); err != nil {
					t.Error(err)
				}
			})
			if err != nil || len(begun) != tt.calls {
				t.Fatalf("%v, %d calls", err, len(begun))
			}
			slices.Sort(begun)
			for i := range begun {
				if i >= tt.n && begun[i]-begun[i-tt.n] < tt.per {
					t.Fatalf("%d/%v: calls %d and %d begin at %v and %v", tt.n, tt.per, i-tt.n, i, begun[i-tt.n], begun[i])
				}
			}
			if last := begun[len(begun)-1]; tt.n <= 4096 && last != tt.last {
				t.Errorf("%d/%v: the last of %d calls begins after %v, want %v", tt.n, tt.per, tt.calls, last, tt.last)
			}
		}
	}
}

// Without an engine of its own time the rate holds for all runs of the process.
func TestRateIsOfTheProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const period = 40 * time.Millisecond
		var mu sync.Mutex
		var begun []time.Duration
		first := time.Now()
		tool := flow.Bind("t.rated@1", flow.Reads, func(context.Context, pair) (pair, error) {
			mu.Lock()
			defer mu.Unlock()
			begun = append(begun, time.Since(first))
			return pair{}, nil
		}, flow.Rate(3, period))
		var wg sync.WaitGroup
		for range 9 {
			wg.Go(func() {
				if _, err := flow.Call(start(t, t.Context()), node("a"), tool, pair{}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		slices.Sort(begun)
		for i, at := range begun { // in every period three
			if want := period * time.Duration(i/3); at != want {
				t.Errorf("call %d of nine, three in %v, begins after %v, want %v", i, period, at, want)
			}
		}
	})
}

func TestRateWaitsNoLongerThanTheDeadline(t *testing.T) {
	tool := flow.Bind("t.rated@1", flow.Reads, step, flow.Rate(1, time.Hour))
	if _, err := flow.Call(start(t, t.Context()), node("a"), tool, pair{}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	begin := time.Now()
	_, err := flow.Call(start(t, ctx), node("a"), tool, pair{})
	wantCode(t, err, value.RateLimit)
	if time.Since(begin) > 10*time.Second {
		t.Error("it has waited")
	}
	te := err.(*runtime.NodeError).Err.(*value.ToolError)
	if te.RetryAfterS == nil || *te.RetryAfterS < 3000 || *te.RetryAfterS > 3600 {
		t.Errorf("retry after %v", te.RetryAfterS)
	}

	ctx, cancel = context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := flow.Call(start(t, ctx), node("a"), tool, pair{}); !runtime.IsCancelled(err) {
		t.Errorf("a call that was cancelled while it waited: %v", err)
	}
}
