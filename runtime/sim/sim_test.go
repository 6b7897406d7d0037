package sim_test

import (
	"context"
	"errors"
	goruntime "runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/sim"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

var (
	nodeA = flow.Node{ID: "a", Pos: "w.yaml:1:1"}
	nodeB = flow.Node{ID: "b", Pos: "w.yaml:2:1"}
	echo  = flow.Bind("w.echo@1", flow.Reads, func(_ context.Context, in string) (string, error) { return in, nil })
)

// drive runs a body in a simulation.
func drive(t *testing.T, e *sim.Simulator, ctx context.Context, body func(r *flow.Run) error) (runErr, driveErr error) {
	t.Helper()
	rt, err := flow.New(&flow.Info{Name: "w"}, runtime.WithEngine(e))
	if err != nil {
		t.Fatal(err)
	}
	driveErr = e.Drive(func() {
		r := rt.Start(ctx)
		defer r.End(&runErr)
		runErr = body(r)
	})
	return runErr, driveErr
}

func fixed(d time.Duration) func(string, int) time.Duration {
	return func(string, int) time.Duration { return d }
}

func TestVirtualTime(t *testing.T) {
	e := sim.New(1, sim.Options{Latency: fixed(time.Minute)})
	var began, ended time.Time
	err, derr := drive(t, e, t.Context(), func(r *flow.Run) error {
		began = r.Now()
		if _, err := flow.Call(r, &nodeA, echo, "x"); err != nil {
			return err
		}
		defer func() { ended = r.Now() }()
		return r.Sleep(time.Hour)
	})
	if err != nil || derr != nil || ended.Sub(began) != 61*time.Minute || e.Elapsed() != 61*time.Minute || began.Year() != 2000 {
		t.Fatal(err, derr, began, ended)
	}
	if diff := cmp.Diff([]string{"1m0s a"}, e.Trace()); diff != "" {
		t.Error(diff)
	}
}

func TestTimeoutAndRetryInVirtualTime(t *testing.T) {
	n := flow.Node{ID: "a", Pos: "w.yaml:1:1", Retry: &flow.Retry{Attempts: 4, Base: time.Second, Cap: 2 * time.Second, Timeout: time.Minute}}
	after := 10.0
	e := sim.New(1, sim.Options{
		Latency: func(_ string, attempt int) time.Duration {
			if attempt == 1 {
				return time.Hour
			}
			return time.Second
		},
		Fault: func(key string, attempt int) *value.ToolError {
			switch attempt {
			case 2:
				return &value.ToolError{Code: value.RateLimit, Message: "slow", RetryAfterS: &after}
			case 3:
				return value.Errorf(value.NetworkError, "down")
			}
			return nil
		},
	})
	err, derr := drive(t, e, t.Context(), func(r *flow.Run) error {
		_, err := flow.Call(r, &n, echo, "x")
		return err
	})
	// timeout 60, wait 1, call 1, wait 10 (asked for), call 1, wait 2 (the cap, not 4), call 1
	if err != nil || derr != nil || e.Elapsed() != 76*time.Second {
		t.Fatal(err, derr, e.Elapsed())
	}
}

func TestRetryWaits(t *testing.T) {
	huge, nan := 1e30, 0.0
	nan /= nan
	cases := []struct {
		retry flow.Retry
		after *float64
		want  time.Duration
	}{
		{flow.Retry{Attempts: 4, Base: time.Second}, nil, 7 * time.Second},
		{flow.Retry{Attempts: 4, Base: time.Second, Constant: true}, nil, 3 * time.Second},
		{flow.Retry{Attempts: 3, Base: time.Second}, &huge, 48 * time.Hour},
		{flow.Retry{Attempts: 2, Base: time.Second}, &nan, time.Second},
		{flow.Retry{Attempts: 2, Base: time.Second}, flow.Ptr(-5.0), time.Second},
		{flow.Retry{Attempts: 100, Base: time.Hour, Cap: time.Hour}, nil, 99 * time.Hour},
	}
	for _, c := range cases {
		n := flow.Node{ID: "a", Retry: &c.retry}
		e := sim.New(1, sim.Options{Latency: fixed(0), Fault: func(string, int) *value.ToolError {
			return &value.ToolError{Code: value.RateLimit, RetryAfterS: c.after}
		}})
		err, derr := drive(t, e, t.Context(), func(r *flow.Run) error {
			_, err := flow.Call(r, &n, echo, "x")
			return err
		})
		if err == nil || derr != nil || e.Elapsed() != c.want {
			t.Errorf("%+v: waited %v, want %v (%v, %v)", c.retry, e.Elapsed(), c.want, err, derr)
		}
	}
	n := flow.Node{ID: "a", Retry: &flow.Retry{Attempts: 2, Base: time.Second, Jitter: 0.5}}
	waits := map[time.Duration]bool{}
	for seed := range uint64(20) {
		e := sim.New(seed, sim.Options{Latency: fixed(0), Fault: func(string, int) *value.ToolError { return value.Errorf(value.Timeout, "") }})
		drive(t, e, t.Context(), func(r *flow.Run) error { _, err := flow.Call(r, &n, echo, "x"); return err })
		if d := e.Elapsed(); d < time.Second/2 || d > time.Second {
			t.Errorf("waited %v", d)
		}
		waits[e.Elapsed()] = true
	}
	if len(waits) < 15 {
		t.Errorf("only %d different waits", len(waits))
	}
}

func TestScriptedResults(t *testing.T) {
	e := sim.New(1, sim.Options{Exec: func(op engine.Op) error {
		if op.Head().Key() == "b" {
			return errors.New("scripted")
		}
		return op.DecodeOut([]byte(`"from the script"`))
	}})
	err, derr := drive(t, e, t.Context(), func(r *flow.Run) error {
		if out, err := flow.Call(r, &nodeA, echo, "x"); out != "from the script" || err != nil {
			t.Error(out, err)
		}
		_, err := flow.Call(r, &nodeB, echo, "x")
		return err
	})
	if derr != nil || err == nil || err.Error() != "w.yaml:2:1: node b: UNKNOWN: scripted" {
		t.Fatal(err, derr)
	}
}

func TestAToolThatChangesItsInputIsFound(t *testing.T) {
	bad := flow.Bind("w.bad@1", flow.None, func(_ context.Context, in []string) (int, error) { in[1] = "changed"; return 0, nil })
	_, derr := drive(t, sim.New(1, sim.Options{}), t.Context(), func(r *flow.Run) error {
		_, err := flow.Call(r, &nodeA, bad, []string{"x", "y"})
		return err
	})
	if derr == nil || derr.Error() != `w.yaml:1:1: node a: tool w.bad@1 changed its input: input field [1] is "changed", was "y"` {
		t.Fatal(derr)
	}
}

func TestDeadlockIsReported(t *testing.T) {
	cleaned := 0
	e := sim.New(1, sim.Options{})
	_, derr := drive(t, e, t.Context(), func(r *flow.Run) error {
		return flow.Parallel(r,
			func(r *flow.Run) error {
				defer func() { cleaned++ }()
				return e.Fork(r, 1, 1, func(r *flow.Run, _ int) error {
					defer func() { cleaned++ }()
					e.Park()
					return nil
				})
			},
			func(r *flow.Run) error { _, err := flow.Call(r, &nodeA, echo, "x"); return err })
	})
	if derr == nil || !strings.Contains(derr.Error(), "deadlock") || cleaned != 2 {
		t.Fatal(derr, cleaned)
	}
}

func TestPanicAndGoexitLeaveDrive(t *testing.T) {
	branches := func(end func()) func(r *flow.Run) error {
		return func(r *flow.Run) error {
			return flow.Parallel(r,
				func(r *flow.Run) error { return r.Sleep(time.Hour) },
				func(r *flow.Run) error { end(); return nil })
		}
	}
	func() {
		defer func() {
			if pe, ok := recover().(*runtime.PanicError); !ok || pe.Value != "broken" {
				t.Errorf("recovered %v", pe)
			}
		}()
		drive(t, sim.New(1, sim.Options{}), t.Context(), branches(func() { panic("broken") }))
	}()
	done := make(chan struct{})
	returned := false
	go func() {
		defer close(done)
		drive(t, sim.New(1, sim.Options{}), t.Context(), branches(goruntime.Goexit))
		returned = true
	}()
	<-done
	if returned {
		t.Error("Goexit did not end the caller")
	}
}

func TestCancellation(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	e := sim.New(1, sim.Options{Latency: fixed(time.Minute)})
	e.After(90*time.Second, cancel)
	err, derr := drive(t, e, ctx, func(r *flow.Run) error {
		for i := 0; ; i++ {
			r, err := r.Iterate(&nodeB, i)
			if err != nil {
				return err
			}
			if _, err := flow.Call(r, &nodeA, echo, "x"); err != nil {
				return err
			}
		}
	})
	var re *runtime.RunError
	if derr != nil || !errors.As(err, &re) || re.By != runtime.ByRun || e.Elapsed() != 2*time.Minute {
		t.Fatal(err, derr, e.Elapsed())
	}
	var ne *runtime.NodeError
	if errors.As(err, &ne); ne.Key != "b[1]/a" {
		t.Error(ne.Key)
	}
}

func TestStartOutsideDrive(t *testing.T) {
	rt, err := flow.New(&flow.Info{Name: "w"}, runtime.WithEngine(sim.New(1, sim.Options{})))
	if err != nil {
		t.Fatal(err)
	}
	r := rt.Start(t.Context())
	_, err = flow.Call(r, &nodeA, echo, "x")
	var re *runtime.RunError
	if !errors.As(err, &re) || re.Kind != runtime.JournalUnavailable {
		t.Fatal(err)
	}
}

func TestSchedulesDiffer(t *testing.T) {
	traces := map[string]bool{}
	for seed := range uint64(50) {
		e := sim.New(seed, sim.Options{Latency: fixed(time.Second)})
		call := func(n *flow.Node) func(r *flow.Run) error {
			return func(r *flow.Run) error { _, err := flow.Call(r, n, echo, "x"); return err }
		}
		if err, derr := drive(t, e, t.Context(), func(r *flow.Run) error {
			return flow.Parallel(r, call(&nodeA), call(&nodeB))
		}); err != nil || derr != nil {
			t.Fatal(err, derr)
		}
		traces[strings.Join(e.Trace(), ",")] = true
	}
	if len(traces) != 2 {
		t.Errorf("%d schedules of two calls at the same time", len(traces))
	}
}
