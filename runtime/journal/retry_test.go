package journal_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// outcome is what one attempt comes to.
type outcome struct {
	code  value.Code // "": it succeeds
	after float64    // what the other side asks for, in seconds; 0: nothing
}

// discipline is a policy with what the attempts of a call come to.
type discipline struct {
	policy   flow.Retry
	outcomes []outcome
}

func randomDiscipline(r *rand.Rand) discipline {
	d := discipline{policy: flow.Retry{Attempts: 1 + r.IntN(7), Base: time.Duration(1 + r.Int64N(int64(2*time.Second))),
		Constant: r.IntN(3) == 0, Jitter: []float64{0, 0, 0.2, 1}[r.IntN(4)]}}
	if r.IntN(3) > 0 {
		d.policy.Cap = d.policy.Base + time.Duration(r.Int64N(int64(10*time.Second)))
	}
	codes := []value.Code{value.RateLimit, value.Timeout, value.NetworkError, value.ProviderError, value.Unknown, value.PolicyDenied}
	if r.IntN(3) == 0 {
		d.policy.Codes = codes[:1+r.IntN(4)]
	}
	for range 8 {
		o := outcome{}
		switch r.IntN(8) {
		case 0: // success
		case 1:
			o.code = codes[r.IntN(len(codes))]
		default:
			o.code = codes[r.IntN(2)]
			if r.IntN(4) == 0 {
				o.after = float64(r.IntN(60))
			}
		}
		d.outcomes = append(d.outcomes, o)
	}
	return d
}

// expected is how many attempts there are, what comes of the last, and how long all waits are at least and at most.
func (d discipline) expected() (attempts int, last outcome, least, most time.Duration) {
	covered := d.policy.Codes
	if len(covered) == 0 {
		covered = []value.Code{value.RateLimit, value.Timeout, value.NetworkError, value.ProviderError}
	}
	for attempts = 1; ; attempts++ {
		last = d.outcomes[attempts-1]
		if last.code == "" || attempts == d.policy.Attempts || !slices.Contains(covered, last.code) {
			return attempts, last, least, most
		}
		wait := float64(d.policy.Base)
		if !d.policy.Constant {
			wait *= math.Pow(2, float64(attempts-1))
		}
		if d.policy.Cap > 0 {
			wait = min(wait, float64(d.policy.Cap))
		}
		after := last.after * float64(time.Second)
		least += time.Duration(max(wait*(1-d.policy.Jitter), after)) - 1
		most += time.Duration(max(wait, after)) + 1
	}
}

// P10: attempts are as many as the policy says, never more, and waits are within its bounds; also when the run is stopped
// in the middle and resumed, because attempts in the journal count.
func TestRetryDiscipline(t *testing.T) {
	seeds, stopped := uint64(10_000), 0
	if testing.Short() {
		seeds = 1000
	}
	began := time.Now()
	synctest.Test(t, func(t *testing.T) {
		for seed := range seeds {
			if disciplined(t, seed) {
				stopped++
			}
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
	})
	t.Logf("%d policies, %d of them across a stop, in %v", seeds, stopped, time.Since(began).Round(time.Millisecond))
	if stopped < int(seeds)/10 {
		t.Error("too few were stopped")
	}
}

// disciplined runs one call, and reports whether its run was stopped and resumed.
func disciplined(t *testing.T, seed uint64) (stopped bool) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 10))
	d := randomDiscipline(r)
	node := &flow.Node{ID: "call", Retry: &d.policy}
	info := &flow.Info{Name: "w", Nodes: []*flow.Node{node}}
	attempts := 0
	var waited time.Duration
	tool := flow.Bind("w.call@1", flow.Reads, func(context.Context, string) (string, error) {
		o := d.outcomes[min(attempts, len(d.outcomes)-1)]
		attempts++
		if o.code == "" {
			return "done", nil
		}
		te := value.Errorf(o.code, "no")
		if o.after > 0 {
			te.RetryAfterS = &o.after
		}
		return "", te
	})
	run := func(ctx context.Context, o ...runtime.Option) error {
		rt, err := flow.New(info, o...)
		if err != nil {
			return err
		}
		begin := time.Now()
		run := flow.Start(ctx, rt, "")
		out, err := flow.Call(run, node, tool, "in")
		flow.End(run, &out, &err)
		waited += time.Since(begin)
		return err
	}
	want, last, least, most := d.expected()
	var err error
	switch r.IntN(3) {
	case 0:
		err = run(t.Context())
	case 1:
		err = run(t.Context(), runtime.WithEngine(journal.NewRecorder()))
	default: // stopped in one of the waits, if there is one
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+r.Int64N(int64(most)+1)))
		rec := journal.NewRecorder()
		err = run(ctx, runtime.WithEngine(rec))
		cancel()
		if runtime.IsCancelled(err) {
			stopped = true
			before := attempts
			err = run(t.Context(), runtime.WithEngine(journal.Resume(rec.Journal())))
			if before < 1 || attempts < before {
				t.Errorf("%d attempts before the stop, %d in all", before, attempts)
			}
		}
	}
	if attempts != want {
		t.Errorf("%d attempts, want %d: %+v", attempts, want, d)
	}
	if waited < least || waited > most {
		t.Errorf("waited %v, want from %v to %v: %+v", waited, least, most, d)
	}
	var te *value.ToolError
	if errors.As(err, &te) != (last.code != "") || te != nil && te.Code != last.code {
		t.Errorf("it ended with %v, want %q", err, last.code)
	}
	return stopped
}
