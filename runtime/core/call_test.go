package core_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

func TestCallErrors(t *testing.T) {
	after := 3.0
	limited := &value.ToolError{Code: value.RateLimit, Message: "slow down", RetryAfterS: &after}
	cases := []struct {
		name string
		err  error
		want string
	}{
		{"tool error", limited, "w.flowgen.yaml:3:5: node n: RATE_LIMIT: slow down"},
		{"wrapped tool error", fmt.Errorf("while asking: %w", limited), "w.flowgen.yaml:3:5: node n: RATE_LIMIT: slow down"},
		{"plain", errors.New("boom"), "w.flowgen.yaml:3:5: node n: UNKNOWN: boom"},
		{"own deadline", context.DeadlineExceeded, "w.flowgen.yaml:3:5: node n: TIMEOUT: context deadline exceeded"},
		{"own cancellation", context.Canceled, "w.flowgen.yaml:3:5: node n: UNKNOWN: context canceled"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			both(t, func(t *testing.T, r *flow.Run) {
				_, err := flow.Call(r, node("n"), failing(c.err), pair{})
				var ne *runtime.NodeError
				if !errors.As(err, &ne) || err.Error() != c.want || ne.Key != "n" {
					t.Fatalf("got %v, want %s", err, c.want)
				}
			})
		})
	}
}

func TestNestedNodeErrorKeepsInnermostPosition(t *testing.T) {
	both(t, func(t *testing.T, r *flow.Run) {
		inner := flow.Node{ID: "inner", Pos: "a.flowgen.yaml:9:1"}
		_, err := flow.Call(r.In(node("sub")), &inner, failing(errors.New("boom")), pair{})
		if got := r.Fail(node("sub"), fmt.Errorf("sub: %w", err)); got != err {
			t.Fatalf("Fail changed %v to %v", err, got)
		}
		if r.Fail(node("n"), nil) != nil {
			t.Fatal("Fail made an error of nil")
		}
	})
}

func TestCancelledRun(t *testing.T) {
	for _, eng := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		opts := []runtime.Option{}
		if eng {
			opts = append(opts, runtime.WithEngine(engine.Goroutines{}))
		}
		r := start(t, ctx, opts...)
		cancel()
		bound := flow.Bind("t@1", flow.None, func(context.Context, pair) (pair, error) {
			t.Error("called in a cancelled run")
			return pair{}, nil
		})
		n := node("n")
		n.CatchAny = true
		_, te, err := flow.Try(r, n, bound, pair{})
		var re *runtime.RunError
		if te != nil || !errors.As(err, &re) || re.Kind != runtime.Cancelled || re.By != runtime.ByRun || !errors.Is(err, context.Canceled) {
			t.Fatalf("engine %v: got %v, %v", eng, te, err)
		}
		if _, err := r.Iterate(n, 0); !runtime.IsCancelled(err) {
			t.Fatalf("Iterate: %v", err)
		}
		if err := r.Sleep(time.Hour); !runtime.IsCancelled(err) {
			t.Fatalf("Sleep: %v", err)
		}
		if _, err := flow.Map(r, n, []int{1}, func(*flow.Run, int) (int, error) { return 1, nil }); !runtime.IsCancelled(err) {
			t.Fatalf("Map: %v", err)
		}
	}
}

func TestSkipDefaultCatch(t *testing.T) {
	both(t, func(t *testing.T, r *flow.Run) {
		bad := failing(value.Errorf(value.Timeout, "late"))
		if out, err := flow.CallOrSkip(r, node("n"), bad, pair{}); out != nil || err != nil {
			t.Fatalf("CallOrSkip: %v, %v", out, err)
		}
		if out, err := flow.CallOr(r, node("n"), bad, pair{}, pair{Text: "d"}); out.Text != "d" || err != nil {
			t.Fatalf("CallOr: %v, %v", out, err)
		}
		catch := &flow.Node{ID: "n", Catch: []value.Code{value.RateLimit, value.Timeout}}
		if out, te, err := flow.Try(r, catch, bad, pair{}); out != nil || te == nil || te.Code != value.Timeout || err != nil {
			t.Fatalf("Try: %v, %v, %v", out, te, err)
		}
		if out, te, err := flow.Try(r, catch, failing(errors.New("x")), pair{}); out != nil || te != nil || codeOf(err) != value.Unknown {
			t.Fatalf("Try of another code: %v, %v, %v", out, te, err)
		}
		if out, te, err := flow.Try(r, catch, stepTool, pair{Count: 1}); out == nil || out.Count != 2 || te != nil || err != nil {
			t.Fatalf("Try of a success: %v, %v, %v", out, te, err)
		}
	})
}

func TestCaughtAndSkipped(t *testing.T) {
	any := &flow.Node{ID: "m", CatchAny: true}
	run := &runtime.NodeError{Node: any, Err: &runtime.RunError{Kind: runtime.Diverged}}
	if te, err := engine.Caught(any, run); te != nil || err != error(run) {
		t.Errorf("a run error was caught: %v, %v", te, err)
	}
	if flow.Skipped(run) == nil {
		t.Error("a run error was skipped")
	}
	bound := &runtime.NodeError{Node: any, Err: value.Invalid("x")}
	if te, err := engine.Caught(any, bound); te == nil || err != nil {
		t.Errorf("a tool error was not caught: %v, %v", te, err)
	}
	if te, err := engine.Caught(any, nil); te != nil || err != nil {
		t.Errorf("nil was caught: %v, %v", te, err)
	}
}

func TestWritesAreCancelledOnlyByTheRun(t *testing.T) {
	both(t, func(t *testing.T, r *flow.Run) {
		begun := make(chan struct{})
		var scope context.Context
		write := flow.Bind("t.write@1", flow.Writes, func(ctx context.Context, in pair) (pair, error) {
			close(begun)
			<-scope.Done()
			return in, ctx.Err()
		})
		var wrote pair
		err := flow.Parallel(r,
			func(r *flow.Run) (err error) {
				scope = r.Context()
				wrote, err = flow.Call(r, node("write"), write, pair{Text: "kept"})
				return err
			},
			func(r *flow.Run) error {
				<-begun // a cancelled scope begins no call
				return r.Fail(node("bad"), value.Invalid("no"))
			})
		wantCode(t, err, value.ValidationError)
		if wrote.Text != "kept" {
			t.Fatal("the write was cancelled by its sibling")
		}
	})
}

func TestRetry(t *testing.T) {
	both(t, func(t *testing.T, r *flow.Run) {
		calls := 0
		flaky := flow.Bind("t.flaky@1", flow.Reads, func(_ context.Context, in pair) (pair, error) {
			if calls++; calls < 3 {
				return pair{}, value.Errorf(value.NetworkError, "down")
			}
			return in, nil
		})
		n := node("n")
		n.Retry = &flow.Retry{Attempts: 3, Base: time.Microsecond, Jitter: 1}
		out, err := flow.Call(r, n, flaky, pair{Text: "x"})
		if err != nil || out.Text != "x" || calls != 3 {
			t.Fatalf("%v, %v after %d calls", out, err, calls)
		}
		calls = 0
		n.Retry = &flow.Retry{Attempts: 2}
		if _, err := flow.Call(r, n, flaky, pair{}); codeOf(err) != value.NetworkError || calls != 2 {
			t.Fatalf("%v after %d calls", err, calls)
		}
		calls = 0
		n.Retry = &flow.Retry{Attempts: 5, Codes: []value.Code{value.Timeout}}
		if _, err := flow.Call(r, n, flaky, pair{}); err == nil || calls != 1 {
			t.Fatalf("another code was repeated: %v after %d calls", err, calls)
		}
	})
}

func TestTimeout(t *testing.T) {
	both(t, func(t *testing.T, r *flow.Run) {
		n := node("n")
		n.Timeout = time.Millisecond
		hang := flow.Bind("t.hang@1", flow.External, func(ctx context.Context, in pair) (pair, error) {
			<-ctx.Done()
			return in, errors.New("signal: killed")
		})
		_, err := flow.Call(r, n, hang, pair{})
		if codeOf(err) != value.Timeout || !strings.Contains(err.Error(), "no result after 1ms") {
			t.Fatal(err)
		}
	})
}

func TestToolPanicIsUnknown(t *testing.T) {
	r := start(t, t.Context(), runtime.WithEngine(engine.Goroutines{}))
	bad := flow.Bind("t.bad@1", flow.None, func(context.Context, pair) (pair, error) { panic("index 3") })
	_, err := flow.Call(r, node("n"), bad, pair{})
	if err == nil || err.Error() != "w.flowgen.yaml:3:5: node n: UNKNOWN: panic: index 3" {
		t.Fatal(err)
	}
	both(t, func(t *testing.T, r *flow.Run) {
		bad := flow.Bind("t.bad@1", flow.None, func(context.Context, float64) (float64, error) { panic("index 4") })
		if _, err := flow.Call(r, node("n"), bad, 1); err == nil || err.Error() != "w.flowgen.yaml:3:5: node n: UNKNOWN: panic: index 4" {
			t.Fatal(err)
		}
	})
}

type limits struct {
	N    int64    `json:"n" flow:"min=1,max=3"`
	Tags []string `json:"tags" flow:"enum=a|b"`
}

func TestBoundaryChecks(t *testing.T) {
	both(t, func(t *testing.T, r *flow.Run) {
		called := false
		in := flow.Bind("t.in@1", flow.None, func(context.Context, limits) (int, error) { called = true; return 1, nil })
		_, err := flow.Call(r, node("n"), in, limits{N: 4})
		wantCode(t, err, value.ValidationError)
		if called || !strings.Contains(err.Error(), "n: 4 is more than 3") {
			t.Fatal(called, err)
		}
		out := flow.Bind("t.out@1", flow.None, func(context.Context, int) (limits, error) { return limits{1, []string{"a", "c"}}, nil })
		_, err = flow.Call(r, node("n"), out, 1)
		wantCode(t, err, value.ValidationError)
		if !strings.Contains(err.Error(), `output: tags[1]: "c" is not one of a, b`) {
			t.Fatal(err)
		}
		zero := 0.0
		nan := flow.Bind("t.nan@1", flow.None, func(context.Context, int) (float64, error) { return 1 / zero, nil })
		_, err = flow.Call(r, node("n"), nan, 1)
		wantCode(t, err, value.ValidationError)
		if !strings.Contains(err.Error(), "VALIDATION_ERROR: output: ") {
			t.Fatal(err)
		}
		called = false
		half := flow.Bind("t.half@1", flow.None, func(_ context.Context, x float64) (float64, error) { called = true; return x / 2, nil })
		_, err = flow.Call(r, node("n"), half, 1/zero)
		wantCode(t, err, value.ValidationError)
		if got, err := flow.Call(r, node("n"), half, 3); called && got != 1.5 || err != nil {
			t.Fatal(got, err)
		}
		big := flow.Bind("t.big@1", flow.None, func(context.Context, int) ([]string, error) { return []string{"12345"}, nil }, flow.MaxOutput(6))
		_, err = flow.Call(r, node("n"), big, 1)
		wantCode(t, err, value.PolicyDenied)
	})
}

func TestSecrets(t *testing.T) {
	read := flow.Bind("t.read@1", flow.Reads, func(ctx context.Context, name string) (string, error) {
		v, ok := tool.Secret(ctx, name)
		if all := tool.Auth(ctx); all[name] != v || ok != (v != "") || len(all) != 1 {
			return "", fmt.Errorf("Secret gives %q, %v, Auth %v", v, ok, all)
		}
		return strings.ToUpper(v), nil // as it is it would be taken out
	}, flow.Secrets("KEY"))
	lookup := func(name string) (string, bool) { return "v-" + name, name != "GONE" }
	r := start(t, t.Context(), runtime.WithSecrets(lookup))
	for name, want := range map[string]string{"KEY": "V-KEY", "OTHER": ""} {
		if got, err := flow.Call(r, node("n"), read, name); err != nil || got != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	gone := flow.Bind("t.gone@1", flow.Reads, func(context.Context, int) (int, error) { return 0, nil }, flow.Secrets("GONE"))
	_, err := flow.Call(r, node("n"), gone, 1)
	wantCode(t, err, value.AuthRequired)

	_, err = flow.New(&flow.Info{Name: "w", Secrets: []string{"KEY", "GONE"}}, runtime.WithSecrets(lookup))
	if err == nil || err.Error() != "workflow w needs the secret GONE, which is not set" {
		t.Fatal(err)
	}
}

func TestNewRefusesAWrongTable(t *testing.T) {
	for _, info := range []*flow.Info{nil, {Nodes: []*flow.Node{nil}}, {Nodes: []*flow.Node{{Index: 1}}}} {
		if _, err := flow.New(info); err == nil {
			t.Errorf("%+v was accepted", info)
		}
	}
}

func TestIterate(t *testing.T) {
	both(t, func(t *testing.T, r *flow.Run) {
		n := node("polish")
		n.Max = 5
		if _, err := r.Iterate(n, 4); err != nil {
			t.Fatal(err)
		}
		_, err := r.Iterate(n, 5)
		if err == nil || err.Error() != "w.flowgen.yaml:3:5: node polish: POLICY_DENIED: polish ran 5 times, its bound, without finishing" {
			t.Fatal(err)
		}
		n.Max = 0
		if _, err := r.Iterate(n, 1e6); err != nil {
			t.Fatal(err)
		}
	})
}

func TestNoCase(t *testing.T) {
	r := start(t, t.Context())
	err := flow.NoCase(r, node("plan"), "plan.route", "fxi")
	if err.Error() != `w.flowgen.yaml:3:5: node plan: VALIDATION_ERROR: switch plan.route has no case for "fxi" and no default` {
		t.Fatal(err)
	}
}

func TestTool(t *testing.T) {
	bound := flow.Bind("a.b@2", flow.External, step)
	if bound.Name() != "a.b" || bound.Version() != "2" || bound.Effects() != flow.External {
		t.Fatalf("%+v", bound)
	}
	for e, want := range map[flow.Effects]string{flow.None: "none", flow.Reads: "reads", flow.Writes: "writes", 9: "external"} {
		if e.String() != want {
			t.Errorf("%d is %s", e, e)
		}
	}
}

// keyed runs a body under a recording observer and returns the keys of its calls.
func keyed(t *testing.T, body func(r *flow.Run) error) []string {
	t.Helper()
	var mu sync.Mutex
	var keys []string
	r := start(t, t.Context(), runtime.WithObserver(runtime.ObserverFunc(func(e runtime.Event) {
		if e.Kind == runtime.NodeEnd && e.Tool != "" {
			mu.Lock()
			keys = append(keys, e.Key)
			mu.Unlock()
		}
	})))
	if err := body(r); err != nil {
		t.Fatal(err)
	}
	return keys
}

func TestKeys(t *testing.T) {
	call := func(r *flow.Run, id *flow.Node) error {
		_, err := flow.Call(r, id, stepTool, pair{})
		return err
	}
	draft, loop, sub, probe := node("draft"), node("refine"), node("pub"), node("probe")
	got := keyed(t, func(r *flow.Run) error {
		call(r, draft)
		call(r, draft)
		for range 2 {
			for i := range 2 {
				call(r.At(loop, i), draft)
			}
		}
		call(r.In(sub).In(sub), draft)
		for range 2 {
			probe.Limit = 1
			if _, err := flow.Map(r, probe, []int{7, 8}, func(r *flow.Run, _ int) (int, error) {
				call(r, draft)
				return 0, call(r, draft)
			}); err != nil {
				return err
			}
		}
		return nil
	})
	want := "draft draft#2 refine[0]/draft refine[1]/draft refine#2[0]/draft refine#2[1]/draft pub/pub/draft " +
		"probe[0]/draft probe[0]/draft#2 probe[1]/draft probe[1]/draft#2 " +
		"probe#2[0]/draft probe#2[0]/draft#2 probe#2[1]/draft probe#2[1]/draft#2"
	if strings.Join(got, " ") != want {
		t.Errorf("got  %v\nwant %s", got, want)
	}
	many := make([]*flow.Node, 20)
	for i := range many {
		many[i] = node(fmt.Sprint("n", i))
	}
	got = keyed(t, func(r *flow.Run) error {
		r = r.In(sub)
		for range 2 {
			for _, n := range many {
				call(r, n)
			}
		}
		return nil
	})
	for i, k := range got {
		want := fmt.Sprint("pub/n", i%20)
		if i >= 20 {
			want += "#2"
		}
		if k != want {
			t.Errorf("call %d has key %s, want %s", i, k, want)
		}
	}
}

func TestEvents(t *testing.T) {
	var mu sync.Mutex
	var kinds []string
	r := start(t, t.Context(), runtime.WithObserver(nil), runtime.WithObserver(runtime.ObserverFunc(func(e runtime.Event) {
		mu.Lock()
		defer mu.Unlock()
		s := string(e.Kind) + " " + e.Key
		if e.Kind == runtime.Progress {
			s += fmt.Sprintf(" %d/%d", e.Done, e.Total)
		}
		kinds = append(kinds, s)
	})))
	fail := true
	flaky := flow.Bind("t@1", flow.None, func(context.Context, int) (int, error) {
		if fail {
			fail = false
			return 0, value.Errorf(value.Timeout, "late")
		}
		return 1, nil
	})
	n, m := node("n"), node("m")
	n.Retry = &flow.Retry{Attempts: 2}
	m.Limit = 1
	_, err := flow.Map(r, m, []int{1, 2}, func(r *flow.Run, i int) (int, error) { return flow.Call(r, n, flaky, i) })
	r.End(&err)
	want := "run_start |node_start m|node_start m[0]/n|retry m[0]/n|node_end m[0]/n|progress m 1/2|node_start m[1]/n|node_end m[1]/n|progress m 2/2|node_end m|run_end "
	if got := strings.Join(kinds, "|"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestCallAllocatesNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := start(t, ctx)
	n := node("n")
	write := flow.Bind("t.write@1", flow.Writes, step)
	for name, f := range map[string]func(){
		"Call":    func() { flow.Call(r, n, stepTool, pair{1, "x"}) },
		"writes":  func() { flow.Call(r, n, write, pair{1, "x"}) },
		"CallOr":  func() { flow.CallOr(r, n, stepTool, pair{1, "x"}, pair{}) },
		"Iterate": func() { r.Iterate(n, 3) },
		"In":      func() { r.In(n).At(n, 1) },
	} {
		if got := testing.AllocsPerRun(1000, f); got != 0 {
			t.Errorf("%s allocates %v times", name, got)
		}
	}
	items := make([]pair, 10_000)
	n.Block = 64
	one := func(r *flow.Run, in pair) (pair, error) { return flow.Call(r, n, stepTool, in) }
	if got := testing.AllocsPerRun(20, func() { flow.Map(r, n, items, one) }); got > 16 {
		t.Errorf("a map allocates %v times", got)
	}
	n.Limit, n.Block = 64, 1 // workers cost nothing either
	if got := testing.AllocsPerRun(20, func() { flow.Map(r, n, items[:100], one) }); got > 16 {
		t.Errorf("a map with 64 workers allocates %v times", got)
	}
}

func BenchmarkCall(b *testing.B) {
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	r := start(b, ctx)
	n := node("n")
	b.ReportAllocs()
	for b.Loop() {
		flow.Call(r, n, stepTool, pair{1, "x"})
	}
}
