package core_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// TestTimeouts: the timeout of a node bounds all its attempts and the waits between them, that of its retry one attempt. A replay ends
// as the run did, and calls nothing.
func TestTimeouts(t *testing.T) {
	const s = time.Second
	type attempts []time.Duration // how long each takes; below 0: as long, and then it fails with NETWORK_ERROR
	hang := attempts{time.Hour}
	for _, tt := range []struct {
		name     string
		timeout  time.Duration
		retry    *flow.Retry
		attempts attempts
		made     int
		end      time.Duration
		want     string // of the error, empty: none
	}{
		{"one attempt", 5 * s, nil, hang, 1, 5 * s, "TIMEOUT: no result after 5s"},
		{"of the attempt alone", 0, &flow.Retry{Timeout: 5 * s}, hang, 1, 5 * s, "TIMEOUT: no result after 5s in one attempt"},
		{"of each attempt", 0, &flow.Retry{Attempts: 3, Base: s, Constant: true, Timeout: 5 * s}, hang, 3, 17 * s, "TIMEOUT: no result after 5s in one attempt"},
		{"the second attempt does well", 10 * s, &flow.Retry{Attempts: 3, Base: s, Timeout: 3 * s}, attempts{time.Hour, 2 * s}, 2, 6 * s, ""},
		{"of all, in an attempt", 10 * s, &flow.Retry{Attempts: 5, Base: 4 * s, Constant: true, Timeout: 4 * s}, hang, 2, 10 * s, "TIMEOUT: no result after 10s and 2 attempts"},
		{"of all, in the first attempt", 10 * s, &flow.Retry{Attempts: 5, Base: s}, hang, 1, 10 * s, "TIMEOUT: no result after 10s and 1 attempt"},
		{"of all, in the last attempt", 10 * s, &flow.Retry{Attempts: 2, Base: s}, attempts{-6 * s, time.Hour}, 2, 10 * s, "TIMEOUT: no result after 10s and 2 attempts"},
		{"of all, in a wait", 10 * s, &flow.Retry{Attempts: 5, Base: 4 * s, Constant: true}, attempts{-4 * s, -s}, 2, 9 * s,
			"TIMEOUT: no result after 2 attempts, and the next would start after the timeout of 10s: NETWORK_ERROR: down"},
		{"a code that is not repeated", 10 * s, &flow.Retry{Attempts: 5, Base: s, Codes: []value.Code{value.NetworkError}}, hang, 1, 10 * s, "TIMEOUT: no result after 10s and 1 attempt"},
		{"the shorter one is that of all", 3 * s, &flow.Retry{Attempts: 5, Timeout: 5 * s}, hang, 1, 3 * s, "TIMEOUT: no result after 3s and 1 attempt"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := node("n")
				n.Timeout, n.Retry = tt.timeout, tt.retry
				made := 0
				tool := flow.Bind("t.slow@1", flow.Reads, func(ctx context.Context, in pair) (pair, error) {
					d := tt.attempts[min(made, len(tt.attempts)-1)]
					made++
					select {
					case <-time.After(max(d, -d)):
					case <-ctx.Done():
						return in, ctx.Err()
					}
					if d < 0 {
						return in, value.Errorf(value.NetworkError, "down")
					}
					return in, nil
				})
				check := func(how string, began time.Time, err error, made int, end time.Duration) {
					t.Helper()
					got := ""
					if err != nil {
						got = strings.TrimPrefix(err.Error(), "w.flowgen.yaml:3:5: node n: ")
					}
					if got != tt.want {
						t.Errorf("%s: %q, want %q", how, got, tt.want)
					}
					if took := time.Since(began); took != end {
						t.Errorf("%s: took %v, want %v", how, took, end)
					}
					if made != tt.made {
						t.Errorf("%s: %d attempts, want %d", how, made, tt.made)
					}
				}
				began := time.Now()
				_, err := flow.Call(start(t, t.Context()), n, tool, pair{})
				check("plain", began, err, made, tt.end)

				rec := journal.NewRecorder()
				began, made = time.Now(), 0
				_, err = flow.Call(start(t, t.Context(), runtime.WithEngine(rec)), n, tool, pair{})
				check("recorded", began, err, made, tt.end)

				for how, e := range map[string]func() runtime.Option{
					"replayed": func() runtime.Option { return runtime.WithEngine(journal.Replay(rec.Journal())) },
					"resumed":  func() runtime.Option { return runtime.WithEngine(journal.Resume(rec.Journal())) },
				} {
					before := made
					began = time.Now()
					_, err = flow.Call(start(t, t.Context(), e()), n, tool, pair{})
					check(how, began, err, made, 0)
					if made != before {
						t.Errorf("%s: the tool was called", how)
					}
				}
			})
		})
	}
}

// TestTimeoutOfAResumedNode: the bound begins anew with what a resumed run does itself.
func TestTimeoutOfAResumedNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := node("n")
		n.Timeout, n.Retry = 10*time.Second, &flow.Retry{Attempts: 5, Base: 2 * time.Second, Constant: true}
		made := 0
		tool := flow.Bind("t.slow@1", flow.Reads, func(ctx context.Context, in pair) (pair, error) {
			made++
			time.Sleep(6 * time.Second)
			if made < 3 {
				return in, value.Errorf(value.NetworkError, "down")
			}
			return in, nil
		})
		ctx, stop := context.WithTimeout(t.Context(), 7*time.Second)
		defer stop()
		rec := journal.NewRecorder()
		if _, err := flow.Call(start(t, ctx, runtime.WithEngine(rec)), n, tool, pair{}); !runtime.IsCancelled(err) || made != 1 {
			t.Fatalf("%v, %d attempts", err, made)
		}
		time.Sleep(time.Hour)
		made = 2
		if _, err := flow.Call(start(t, t.Context(), runtime.WithEngine(journal.Resume(rec.Journal()))), n, tool, pair{}); err != nil || made != 3 {
			t.Errorf("%v, %d attempts", err, made)
		}
	})
}

// TestTimeoutAfterATurn: the wait for a turn does not count before the first attempt, and a turn after the end is none.
func TestTimeoutAfterATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := node("n")
		n.Timeout, n.Retry = 10*time.Second, &flow.Retry{Attempts: 9, Base: time.Second, Constant: true}
		tool := flow.Bind("t.rated@1", flow.Reads, func(ctx context.Context, in pair) (pair, error) {
			select {
			case <-time.After(3 * time.Second):
				return in, value.Errorf(value.NetworkError, "down")
			case <-ctx.Done():
				return in, ctx.Err()
			}
		}, flow.Rate(1, 8*time.Second))
		r := start(t, t.Context())
		if _, err := flow.Call(r, node("other"), tool, pair{}); codeOf(err) != value.NetworkError {
			t.Fatal(err)
		}
		began := time.Now() // 3s later, the turn is 5s away: until 5 it waits, until 8 it runs, the next turn at 13 is before 15
		_, err := flow.Call(r, n, tool, pair{})
		if took := time.Since(began); took != 15*time.Second || codeOf(err) != value.Timeout {
			t.Errorf("%v after %v", err, took)
		}
	})
}

// TestWithin: a node that makes several calls has one bound for all.
func TestWithin(t *testing.T) {
	bubbles(t, func(t *testing.T, r *flow.Run) {
		n := node("n")
		n.Timeout = 10 * time.Second
		tool := flow.Bind("t.slow@1", flow.Reads, func(ctx context.Context, in pair) (pair, error) {
			select {
			case <-time.After(4 * time.Second):
				return in, nil
			case <-ctx.Done():
				return in, ctx.Err()
			}
		})
		within, made := r.Within(n), 0
		began := time.Now()
		var err error
		for ; err == nil; made++ {
			_, err = flow.Call(within, n, tool, pair{})
		}
		if took := time.Since(began); made != 3 || took != 10*time.Second || !strings.HasSuffix(err.Error(), "TIMEOUT: no result after 10s") {
			t.Errorf("%d calls in %v: %v", made, took, err)
		}
		if _, err = flow.Call(within, n, tool, pair{}); codeOf(err) != value.Timeout || time.Since(began) != 10*time.Second {
			t.Errorf("a call after the end: %v", err)
		}
	})
}
