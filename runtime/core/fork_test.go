package core_test

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

func TestParallelReportsTheFirstThatFailedByItself(t *testing.T) {
	both(t, func(t *testing.T, r *flow.Run) {
		var ended atomic.Int32
		wait := func(r *flow.Run) error {
			defer ended.Add(1)
			<-r.Context().Done()
			return r.Fail(node("waiting"), r.Context().Err())
		}
		err := flow.Parallel(r, wait,
			func(r *flow.Run) error { return r.Fail(node("second"), errors.New("boom")) },
			wait)
		var ne *runtime.NodeError
		if !errors.As(err, &ne) || ne.Node.ID != "second" || ended.Load() == 0 {
			t.Fatal(err)
		}
		both := make(chan struct{})
		err = flow.Parallel(r,
			func(r *flow.Run) error { <-both; return errors.New("first") },
			func(r *flow.Run) error { defer close(both); return errors.New("second") })
		if err == nil || err.Error() != "first" {
			t.Fatal(err)
		}
		err = flow.Parallel(r,
			func(r *flow.Run) error { return r.Fail(node("a"), errors.New("boom")) },
			func(r *flow.Run) error {
				return &runtime.NodeError{Node: node("b"), Err: &runtime.RunError{Kind: runtime.Diverged}}
			})
		if codeOf(err) == value.Unknown && !strings.Contains(err.Error(), "boom") {
			t.Fatal(err)
		}
		if err := flow.Parallel(r); err != nil {
			t.Fatal(err)
		}
	})
}

func TestScopeCancellationIsNamed(t *testing.T) {
	both(t, func(t *testing.T, r *flow.Run) {
		var seen error
		begun := make(chan struct{})
		hang := flow.Bind("t.hang@1", flow.Reads, func(ctx context.Context, in pair) (pair, error) {
			close(begun)
			<-ctx.Done()
			return in, ctx.Err()
		})
		flow.Parallel(r,
			func(r *flow.Run) error { _, seen = flow.Call(r, node("hang"), hang, pair{}); return seen },
			func(*flow.Run) error { <-begun; return errors.New("boom") })
		var re *runtime.RunError
		if !errors.As(seen, &re) || re.Kind != runtime.Cancelled || re.By != runtime.ByScope {
			t.Fatal(seen)
		}
	})
}

// What stopped a call first is why it was stopped, also when the run is stopped before the call has ended.
func TestFirstCancellationIsNamed(t *testing.T) {
	for _, recorded := range []bool{false, true} {
		for _, runFirst := range []bool{false, true} {
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			var o []runtime.Option
			if recorded {
				o = append(o, runtime.WithEngine(journal.NewRecorder()))
			}
			r := start(t, ctx, o...)
			begun, seen := make(chan struct{}), error(nil)
			hang := flow.Bind("t.hang@1", flow.Reads, func(ctx context.Context, in pair) (pair, error) {
				close(begun)
				<-ctx.Done()
				stop()
				return in, ctx.Err()
			})
			_ = flow.Parallel(r,
				func(r *flow.Run) error { _, seen = flow.Call(r, node("hang"), hang, pair{}); return seen },
				func(*flow.Run) error {
					<-begun
					if runFirst {
						stop()
					}
					return errors.New("boom")
				})
			want := map[bool]string{true: runtime.ByRun, false: runtime.ByScope}[runFirst]
			var re *runtime.RunError
			if !errors.As(seen, &re) || re.Kind != runtime.Cancelled || re.By != want {
				t.Errorf("recorded %v, the run first %v: %v", recorded, runFirst, seen)
			}
		}
	}
}

// branchKinds are the three ways to run branches.
var branchKinds = map[string]func(r *flow.Run, n int, body func(*flow.Run, int) error) error{
	"parallel": func(r *flow.Run, n int, body func(*flow.Run, int) error) error {
		var fs []func(*flow.Run) error
		for i := range n {
			fs = append(fs, func(r *flow.Run) error { return body(r, i) })
		}
		return flow.Parallel(r, fs...)
	},
	"map": func(r *flow.Run, n int, body func(*flow.Run, int) error) error {
		_, err := flow.Map(r, &flow.Node{ID: "m", Limit: n}, make([]struct{}, n), func(r *flow.Run, _ struct{}) (int, error) {
			return 0, nil
		})
		if err != nil {
			return err
		}
		items := make([]int, n)
		for i := range items {
			items[i] = i
		}
		_, err = flow.Map(r, &flow.Node{ID: "m", Limit: n}, items, func(r *flow.Run, i int) (int, error) { return i, body(r, i) })
		return err
	},
	"graph": func(r *flow.Run, n int, body func(*flow.Run, int) error) error {
		var steps []flow.Step
		for i := range n {
			steps = append(steps, flow.Step{Node: node(fmt.Sprint("s", i)), Do: func(r *flow.Run) error { return body(r, i) }})
		}
		return flow.Graph(r, steps...)
	},
}

func TestPanicsGoOnInTheCaller(t *testing.T) {
	for name, branches := range branchKinds {
		t.Run(name, func(t *testing.T) {
			bubbles(t, func(t *testing.T, r *flow.Run) {
				var others atomic.Int32
				waited := make(chan struct{})
				cause := errors.New("broken")
				defer func() {
					pe, ok := recover().(*runtime.PanicError)
					if !ok || !errors.Is(pe, cause) || !strings.Contains(pe.Error(), "fork_test.go") {
						t.Errorf("recovered %v", pe)
					}
					if others.Load() != 2 {
						t.Errorf("%d siblings have ended, want 2", others.Load())
					}
				}()
				var started sync.WaitGroup
				started.Add(3)
				branches(r, 3, func(r *flow.Run, i int) error {
					started.Done()
					started.Wait()
					if i == 1 {
						panic(cause)
					}
					<-r.Context().Done()
					if i == 0 {
						synctest.Wait() // the caller waits
						close(waited)
					}
					<-waited
					others.Add(1)
					return r.Context().Err()
				})
				t.Error("no panic")
			})
		})
	}
}

func TestGoexitEndsTheCaller(t *testing.T) {
	for name, branches := range branchKinds {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, r *flow.Run) {
				for exiting := range 2 {
					returned := true
					done := make(chan struct{})
					go func() {
						defer close(done)
						branches(r, 2, func(r *flow.Run, i int) error {
							if i == exiting {
								goruntime.Goexit()
							}
							<-r.Context().Done()
							return nil
						})
						returned = false
					}()
					<-done
					if !returned {
						t.Error("the caller went on")
					}
				}
			})
		})
	}
}

func TestMap(t *testing.T) {
	both(t, func(t *testing.T, r *flow.Run) {
		n := node("m")
		n.Limit, n.Block = 3, 4
		items := make([]int, 100)
		for i := range items {
			items[i] = i
		}
		var now, most atomic.Int32
		out, err := flow.Map(r, n, items, func(_ *flow.Run, i int) (string, error) {
			most.Store(max(most.Load(), now.Add(1)))
			defer now.Add(-1)
			return fmt.Sprint(i), nil
		})
		if err != nil || len(out) != 100 || most.Load() > 3 {
			t.Fatal(len(out), err, most.Load())
		}
		for i, s := range out {
			if s != fmt.Sprint(i) {
				t.Fatalf("item %d is %s", i, s)
			}
		}
		empty, err := flow.Map(r, n, nil, func(*flow.Run, int) (int, error) { return 0, nil })
		if err != nil || empty == nil || len(empty) != 0 {
			t.Fatal(empty, err)
		}
		n.Max = 99
		out, err = flow.Map(r, n, items, func(*flow.Run, int) (string, error) { t.Error("ran"); return "", nil })
		if out != nil || err == nil || err.Error() != "w.flowgen.yaml:3:5: node m: POLICY_DENIED: m has 100 items, at most 99 are allowed" {
			t.Fatal(err)
		}
	})
}

func TestMapFailureCancelsTheOthers(t *testing.T) {
	both(t, func(t *testing.T, r *flow.Run) {
		n := node("m")
		n.Limit = 4
		var ran atomic.Int32
		out, err := flow.Map(r, n, make([]int, 1000), func(r *flow.Run, _ int) (int, error) {
			if ran.Add(1) == 3 {
				return 0, errors.New("boom")
			}
			return 0, r.Sleep(time.Hour) // only the failure ends it
		})
		wantCode(t, err, value.Unknown)
		if out != nil || int(ran.Load()) > n.Limit {
			t.Fatalf("%d items ran", ran.Load())
		}
	})
}

func TestMapKeepAndDrop(t *testing.T) {
	both(t, func(t *testing.T, r *flow.Run) {
		n := node("m")
		odd := func(_ *flow.Run, i int) (int, error) {
			switch {
			case i == 3:
				return 0, errors.New("plain")
			case i%2 == 1:
				return 0, value.Invalid("odd")
			}
			return i * 10, nil
		}
		kept, err := flow.MapKeep(r, n, []int{0, 1, 2, 3}, odd)
		want := []flow.Item[int]{{Value: flow.Ptr(0)}, {Error: value.Invalid("odd")}, {Value: flow.Ptr(20)},
			{Error: value.Errorf(value.Unknown, "plain")}}
		if diff := cmp.Diff(want, kept); diff != "" || err != nil {
			t.Error(diff, err)
		}
		out, failures, err := flow.MapDrop(r, n, []int{0, 1, 2}, odd)
		if diff := cmp.Diff([]int{0, 20}, out); diff != "" || err != nil {
			t.Error(diff, err)
		}
		if diff := cmp.Diff([]flow.Failure{{Index: 1, Error: value.Invalid("odd")}}, failures); diff != "" {
			t.Error(diff)
		}
		if out, failures, err = flow.MapDrop(r, n, []int{}, odd); out == nil || failures == nil || err != nil {
			t.Error(out, failures, err)
		}
		diverged := &runtime.RunError{Kind: runtime.Diverged}
		_, err = flow.MapKeep(r, n, []int{0, 1}, func(*flow.Run, int) (int, error) { return 0, diverged })
		if !errors.Is(err, diverged) {
			t.Errorf("a run error was kept: %v", err)
		}
	})
}

func TestGraphOrder(t *testing.T) {
	both(t, func(t *testing.T, r *flow.Run) {
		rapid.Check(t, func(rt *rapid.T) {
			n := rapid.IntRange(0, 12).Draw(rt, "steps")
			nodes := make([]*flow.Node, n)
			ended := make([]atomic.Bool, n)
			var steps []flow.Step
			bad := rapid.IntRange(-3, n-1).Draw(rt, "bad")
			for i := range n {
				nodes[i] = node(fmt.Sprint("s", i))
				var after []int
				for j := range i {
					if rapid.IntRange(0, 3).Draw(rt, "edge") == 0 {
						after = append(after, j)
					}
				}
				s := flow.Step{Node: nodes[i], Do: func(r *flow.Run) error {
					for _, j := range after {
						if !ended[j].Load() {
							t.Errorf("step %d began before %d had ended", i, j)
						}
					}
					if ended[i].Load() {
						t.Errorf("step %d ran twice", i)
					}
					if i == bad {
						return r.Fail(nodes[i], errors.New("bad"))
					}
					ended[i].Store(true)
					return nil
				}}
				for _, j := range after {
					s.After = append(s.After, nodes[j])
				}
				steps = append(steps, s)
			}
			err := flow.Graph(r, steps...)
			if bad >= 0 {
				wantCode(t, err, value.Unknown)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for i := range n {
				if !ended[i].Load() {
					t.Errorf("step %d did not run", i)
				}
			}
		})
	})
}

func TestGraphHasNoBarrier(t *testing.T) {
	both(t, func(t *testing.T, r *flow.Run) {
		a, b, c, d := node("a"), node("b"), node("c"), node("d")
		cRan := make(chan struct{})
		nothing := func(*flow.Run) error { return nil }
		err := flow.Graph(r,
			flow.Step{Node: a, Do: nothing},
			flow.Step{Node: b, Do: func(*flow.Run) error { // ends only when c, which waits for a alone, has run
				select {
				case <-cRan:
					return nil
				case <-time.After(time.Minute):
					return errors.New("c waits for b")
				}
			}},
			flow.Step{Node: c, After: []*flow.Node{a}, Do: func(*flow.Run) error { close(cRan); return nil }},
			flow.Step{Node: d, After: []*flow.Node{a, b, c}, Do: nothing})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func TestGraphCycle(t *testing.T) {
	both(t, func(t *testing.T, r *flow.Run) {
		a, b := node("a"), node("b")
		err := flow.Graph(r, flow.Step{Node: a, After: []*flow.Node{b}}, flow.Step{Node: b, After: []*flow.Node{a}})
		if err == nil {
			t.Fatal("a cycle ended well")
		}
	})
}

func TestEnumerate(t *testing.T) {
	want := []flow.Indexed[string]{{Index: 0, Value: "a"}, {Index: 1, Value: "b"}}
	if diff := cmp.Diff(want, flow.Enumerate([]string{"a", "b"})); diff != "" {
		t.Error(diff)
	}
}

// Blocks are for long lists: a short one still goes to all workers.
func TestMapSharesShortLists(t *testing.T) {
	r := start(t, t.Context())
	n := node("each")
	n.Limit, n.Block = 4, 64
	var inside sync.WaitGroup
	inside.Add(4)
	out, err := flow.Map(r, n, []int{1, 2, 3, 4}, func(_ *flow.Run, i int) (int, error) {
		inside.Done()
		inside.Wait() // for the three others
		return i * i, nil
	})
	if diff := cmp.Diff([]int{1, 4, 9, 16}, out); err != nil || diff != "" {
		t.Fatal(err, diff)
	}
}

// A body that calls nothing does not look for a cancellation itself: maps and loops do it for it.
func TestPureBodiesAreStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := start(t, ctx)
	n := node("each")
	n.Limit, n.Block = 1, 64
	ran := 0
	_, err := flow.Map(r, n, make([]int, 1000), func(*flow.Run, int) (int, error) {
		if ran++; ran == 10 {
			cancel()
		}
		return ran, nil
	})
	if !runtime.IsCancelled(err) || ran > 16 {
		t.Errorf("%d items ran: %v", ran, err)
	}
	n.Max = 1000
	for i := range 8 {
		if _, err = r.Iterate(n, i); err != nil {
			break
		}
	}
	if !runtime.IsCancelled(err) {
		t.Errorf("the loop goes on: %v", err)
	}
}
