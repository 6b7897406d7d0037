package core_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// TestRestOfAPause: a run that was cut off in a wait waits for what is left, however often it is cut off, and a replay not at all.
func TestRestOfAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := node("n")
		takes := func(e engine.Engine) time.Duration {
			begin := time.Now()
			if err := flow.Wait(start(t, t.Context(), runtime.WithEngine(e)), n, 10*time.Minute); err != nil {
				t.Error(err)
			}
			return time.Since(begin)
		}
		first := journal.NewRecorder()
		begin := time.Now()
		go takes(first)
		time.Sleep(4 * time.Minute)
		left := first.Journal()
		time.Sleep(time.Minute)
		second := journal.Resume(left)
		go takes(second)
		time.Sleep(2 * time.Minute)
		third := journal.Resume(second.Journal())
		if d := takes(third); d != 3*time.Minute || time.Since(begin) != 10*time.Minute {
			t.Errorf("cut off after 4m and 7m, the last one waited for %v", d)
		}
		time.Sleep(time.Hour)
		if d := takes(journal.Resume(third.Journal())); d != 0 {
			t.Errorf("a wait that has ended took %v when the run was resumed", d)
		}
		if d := takes(journal.Resume(left)); d != 0 {
			t.Errorf("a wait whose time is over took %v when the run was resumed", d)
		}
		if d := takes(journal.Replay(third.Journal())); d != 0 {
			t.Errorf("a replay waited for %v", d)
		}
		if d := takes(journal.NewRecorder()); d != 10*time.Minute {
			t.Errorf("a new run waited for %v", d)
		}
		j := left
		h := j.Header()
		h.Begin = h.Begin.Add(10 * time.Hour) // the clock was set back since
		j.SetHeader(h)
		if d := takes(journal.Resume(j)); d != 10*time.Minute {
			t.Errorf("after the clock was set back it waited for %v", d)
		}
	})
}

// rounds runs a loop until its bound, each round of which takes a second, and returns when they began.
func rounds(t *testing.T, n *flow.Node, o ...runtime.Option) (began []time.Duration, err error) {
	t.Helper()
	begin := time.Now()
	run := start(t, t.Context(), o...)
	work := flow.Bind("t.work@1", flow.Reads, func(context.Context, int) (int, error) {
		began = append(began, time.Since(begin))
		return 0, run.Sleep(time.Second)
	})
	var pace flow.Pace
	for i := 0; ; i++ {
		in, err := pace.Iterate(run, n, i)
		if err != nil || in == nil {
			return began, err
		}
		if _, err := flow.Call(in, node("work"), work, i); err != nil {
			return began, err
		}
	}
}

func TestPace(t *testing.T) {
	seconds := func(list ...int) (out []time.Duration) {
		for _, s := range list {
			out = append(out, time.Duration(s)*time.Second)
		}
		return out
	}
	for _, tt := range []struct {
		name string
		node flow.Node
		want []time.Duration
		code value.Code
	}{
		{"in time", flow.Node{Max: 3, Every: 10 * time.Second}, seconds(0, 10, 20), value.PolicyDenied},
		{"at once when an iteration takes longer", flow.Node{Max: 3, Every: time.Millisecond}, seconds(0, 1, 2), value.PolicyDenied},
		{"until the time is over", flow.Node{Every: 10 * time.Second, Within: 20 * time.Second}, seconds(0, 10, 20), value.Timeout},
		{"until the time is over, at once", flow.Node{Within: 2500 * time.Millisecond}, seconds(0, 1, 2), value.Timeout},
		{"and goes on", flow.Node{Every: 10 * time.Second, Within: 19 * time.Second, GoOn: true}, seconds(0, 10), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := tt.node
				n.ID, n.Index = "n", -1
				check := func(what string, o ...runtime.Option) {
					got, err := rounds(t, &n, o...)
					te := value.ToolErrorOf(err)
					if tt.code == "" != (te == nil) || te != nil && te.Code != tt.code {
						t.Errorf("%s: it ended with %v, want %q", what, err, tt.code)
					}
					if len(got) != len(tt.want) {
						t.Fatalf("%s: %v, want %v", what, got, tt.want)
					}
					for i, at := range got {
						if at != tt.want[i] {
							t.Errorf("%s: %v, want %v", what, got, tt.want)
						}
					}
				}
				check("direct")
				rec := journal.NewRecorder()
				check("recorded", runtime.WithEngine(rec), runtime.WithPolicy(&runtime.Policy{MaxToolCalls: int64(len(tt.want))}))
				begin := time.Now()
				got, err := rounds(t, &n, runtime.WithEngine(journal.Replay(rec.Journal())))
				if len(got) > 0 || time.Since(begin) > 0 || (err == nil) != (tt.code == "") {
					t.Errorf("a replay called at %v, took %v and gave %v", got, time.Since(begin), err)
				}
			})
		})
	}
}

// TestPaceIsResumed: a loop that was cut off goes on in its own time, and under a policy that counts no waits.
func TestPaceIsResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &flow.Node{ID: "n", Index: -1, Max: 5, Every: 10 * time.Second, Within: 32 * time.Second, GoOn: true}
		rec := journal.NewRecorder()
		go rounds(t, n, runtime.WithEngine(rec))
		time.Sleep(15 * time.Second)
		j := rec.Journal()
		time.Sleep(time.Second)
		got, err := rounds(t, n, runtime.WithEngine(journal.Resume(j)), runtime.WithPolicy(&runtime.Policy{MaxToolCalls: 4}))
		if err != nil || len(got) != 2 || got[0] != 4*time.Second || got[1] != 14*time.Second {
			t.Errorf("cut off after 15s and resumed after 16s, it called at %v and gave %v", got, err)
		}
	})
}
