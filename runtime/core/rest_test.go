package core_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// TestRestOfAWait: a run that goes on between two attempts waits for what is left of the wait, and not at all when the next
// attempt is known.
func TestRestOfAWait(t *testing.T) {
	for _, tt := range []struct {
		name        string
		stopped, at time.Duration // when the journal is taken, and when the run goes on
		base        time.Duration // of the run that goes on
		want        time.Duration
	}{
		{"at once", 7 * time.Second, 7 * time.Second, 10 * time.Second, 6 * time.Second},
		{"later", 7 * time.Second, 9 * time.Second, 10 * time.Second, 4 * time.Second},
		{"when it is over", 7 * time.Second, 20 * time.Second, 10 * time.Second, 0},
		{"with a shorter wait", 7 * time.Second, 7 * time.Second, 5 * time.Second, time.Second},
		{"when the next one is known", 20 * time.Second, 20 * time.Second, time.Hour, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			n := node("n")
			n.Retry = &flow.Retry{Attempts: 2, Base: 10 * time.Second}
			calls := 0
			tool := flow.Bind("t.flaky@1", flow.None, func(context.Context, pair) (pair, error) {
				if calls++; calls == 1 {
					time.Sleep(3 * time.Second)
					return pair{}, value.Errorf(value.Timeout, "late")
				}
				return pair{}, nil
			})
			rec := journal.NewRecorder()
			begin := time.Now()
			done := make(chan error)
			go func() {
				_, err := flow.Call(start(t, t.Context(), runtime.WithEngine(rec)), n, tool, pair{})
				done <- err
			}()
			taken := make(chan *journal.Journal, 1)
			go func() {
				time.Sleep(tt.stopped)
				taken <- rec.Journal()
			}()
			if err := <-done; err != nil {
				t.Error(err)
			}
			j := <-taken
			time.Sleep(time.Until(begin.Add(30 * time.Second)))
			h := j.Header()
			h.Begin = time.Now().Add(-tt.at)
			j.SetHeader(h)
			again := *n
			again.Retry = &flow.Retry{Attempts: 2, Base: tt.base}
			resumed := time.Now()
			if _, err := flow.Call(start(t, t.Context(), runtime.WithEngine(journal.Resume(j))), &again, tool, pair{}); err != nil {
				t.Error(err)
			}
			if got := time.Since(resumed); got != tt.want {
				t.Errorf("%s: waited %v, want %v", tt.name, got, tt.want)
			}
		})
	}
}
