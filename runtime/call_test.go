package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
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
			both(t, func(t *testing.T, r *runtime.Run) {
				_, err := runtime.Call(r, node("n"), failing(c.err), pair{})
				var ne *runtime.NodeError
				if !errors.As(err, &ne) || err.Error() != c.want || ne.Key != "n" {
					t.Fatalf("got %v, want %s", err, c.want)
				}
			})
		})
	}
}

func TestNestedNodeErrorKeepsInnermostPosition(t *testing.T) {
	both(t, func(t *testing.T, r *runtime.Run) {
		inner := runtime.Node{ID: "inner", Pos: "a.flowgen.yaml:9:1"}
		_, err := runtime.Call(r.In(node("sub")), &inner, failing(errors.New("boom")), pair{})
		if got := r.Fail(node("sub"), fmt.Errorf("sub: %w", err)); got != err {
			t.Fatalf("Fail changed %v to %v", err, got)
		}
		if r.Fail(node("n"), nil) != nil {
			t.Fatal("Fail made an error of nil")
		}
	})
}

func TestCancelledRun(t *testing.T) {
	for _, engine := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		opts := []runtime.Option{}
		if engine {
			opts = append(opts, runtime.WithEngine(runtime.Goroutines{}))
		}
		r := start(t, ctx, opts...)
		cancel()
		tool := runtime.Bind("t@1", runtime.None, func(context.Context, pair) (pair, error) {
			t.Error("called in a cancelled run")
			return pair{}, nil
		})
		n := node("n")
		n.CatchAny = true
		_, te, err := runtime.Try(r, n, tool, pair{})
		var re *runtime.RunError
		if te != nil || !errors.As(err, &re) || re.Kind != runtime.Cancelled || re.By != runtime.ByRun || !errors.Is(err, context.Canceled) {
			t.Fatalf("engine %v: got %v, %v", engine, te, err)
		}
		if _, err := r.Iterate(n, 0); !runtime.IsCancelled(err) {
			t.Fatalf("Iterate: %v", err)
		}
		if err := r.Sleep(time.Hour); !runtime.IsCancelled(err) {
			t.Fatalf("Sleep: %v", err)
		}
		if _, err := runtime.Map(r, n, []int{1}, func(*runtime.Run, int) (int, error) { return 1, nil }); !runtime.IsCancelled(err) {
			t.Fatalf("Map: %v", err)
		}
	}
}

func TestSkipDefaultCatch(t *testing.T) {
	both(t, func(t *testing.T, r *runtime.Run) {
		bad := failing(value.Errorf(value.Timeout, "late"))
		if out, err := runtime.CallOrSkip(r, node("n"), bad, pair{}); out != nil || err != nil {
			t.Fatalf("CallOrSkip: %v, %v", out, err)
		}
		if out, err := runtime.CallOr(r, node("n"), bad, pair{}, pair{Text: "d"}); out.Text != "d" || err != nil {
			t.Fatalf("CallOr: %v, %v", out, err)
		}
		catch := &runtime.Node{ID: "n", Catch: []value.Code{value.RateLimit, value.Timeout}}
		if out, te, err := runtime.Try(r, catch, bad, pair{}); out != nil || te == nil || te.Code != value.Timeout || err != nil {
			t.Fatalf("Try: %v, %v, %v", out, te, err)
		}
		if out, te, err := runtime.Try(r, catch, failing(errors.New("x")), pair{}); out != nil || te != nil || codeOf(err) != value.Unknown {
			t.Fatalf("Try of another code: %v, %v, %v", out, te, err)
		}
		if out, te, err := runtime.Try(r, catch, stepTool, pair{Count: 1}); out == nil || out.Count != 2 || te != nil || err != nil {
			t.Fatalf("Try of a success: %v, %v, %v", out, te, err)
		}
	})
}

func TestCaughtAndSkipped(t *testing.T) {
	any := &runtime.Node{ID: "m", CatchAny: true}
	run := &runtime.NodeError{Node: any, Err: &runtime.RunError{Kind: runtime.Diverged}}
	if te, err := runtime.Caught(any, run); te != nil || err != error(run) {
		t.Errorf("a run error was caught: %v, %v", te, err)
	}
	if runtime.Skipped(run) == nil {
		t.Error("a run error was skipped")
	}
	tool := &runtime.NodeError{Node: any, Err: value.Invalid("x")}
	if te, err := runtime.Caught(any, tool); te == nil || err != nil {
		t.Errorf("a tool error was not caught: %v, %v", te, err)
	}
	if te, err := runtime.Caught(any, nil); te != nil || err != nil {
		t.Errorf("nil was caught: %v, %v", te, err)
	}
}

func TestWritesAreCancelledOnlyByTheRun(t *testing.T) {
	both(t, func(t *testing.T, r *runtime.Run) {
		begun := make(chan struct{})
		var scope context.Context
		write := runtime.Bind("t.write@1", runtime.Writes, func(ctx context.Context, in pair) (pair, error) {
			close(begun)
			<-scope.Done()
			return in, ctx.Err()
		})
		var wrote pair
		err := runtime.Parallel(r,
			func(r *runtime.Run) (err error) {
				scope = r.Context()
				wrote, err = runtime.Call(r, node("write"), write, pair{Text: "kept"})
				return err
			},
			func(r *runtime.Run) error {
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
	both(t, func(t *testing.T, r *runtime.Run) {
		calls := 0
		flaky := runtime.Bind("t.flaky@1", runtime.Reads, func(_ context.Context, in pair) (pair, error) {
			if calls++; calls < 3 {
				return pair{}, value.Errorf(value.NetworkError, "down")
			}
			return in, nil
		})
		n := node("n")
		n.Retry = &runtime.Retry{Attempts: 3, Base: time.Microsecond, Jitter: 1}
		out, err := runtime.Call(r, n, flaky, pair{Text: "x"})
		if err != nil || out.Text != "x" || calls != 3 {
			t.Fatalf("%v, %v after %d calls", out, err, calls)
		}
		calls = 0
		n.Retry = &runtime.Retry{Attempts: 2}
		if _, err := runtime.Call(r, n, flaky, pair{}); codeOf(err) != value.NetworkError || calls != 2 {
			t.Fatalf("%v after %d calls", err, calls)
		}
		calls = 0
		n.Retry = &runtime.Retry{Attempts: 5, Codes: []value.Code{value.Timeout}}
		if _, err := runtime.Call(r, n, flaky, pair{}); err == nil || calls != 1 {
			t.Fatalf("another code was repeated: %v after %d calls", err, calls)
		}
	})
}

func TestTimeout(t *testing.T) {
	both(t, func(t *testing.T, r *runtime.Run) {
		n := node("n")
		n.Timeout = time.Millisecond
		hang := runtime.Bind("t.hang@1", runtime.External, func(ctx context.Context, in pair) (pair, error) {
			<-ctx.Done()
			return in, errors.New("signal: killed")
		})
		_, err := runtime.Call(r, n, hang, pair{})
		if codeOf(err) != value.Timeout || !strings.Contains(err.Error(), "no result after 1ms") {
			t.Fatal(err)
		}
	})
}

func TestToolPanicIsUnknown(t *testing.T) {
	r := start(t, t.Context(), runtime.WithEngine(runtime.Goroutines{}))
	bad := runtime.Bind("t.bad@1", runtime.None, func(context.Context, pair) (pair, error) { panic("index 3") })
	_, err := runtime.Call(r, node("n"), bad, pair{})
	if err == nil || err.Error() != "w.flowgen.yaml:3:5: node n: UNKNOWN: panic: index 3" {
		t.Fatal(err)
	}
}

type limits struct {
	N    int64    `json:"n" flow:"min=1,max=3"`
	Tags []string `json:"tags" flow:"enum=a|b"`
}

func TestBoundaryChecks(t *testing.T) {
	both(t, func(t *testing.T, r *runtime.Run) {
		called := false
		in := runtime.Bind("t.in@1", runtime.None, func(context.Context, limits) (int, error) { called = true; return 1, nil })
		_, err := runtime.Call(r, node("n"), in, limits{N: 4})
		wantCode(t, err, value.ValidationError)
		if called || !strings.Contains(err.Error(), "n: 4 is more than 3") {
			t.Fatal(called, err)
		}
		out := runtime.Bind("t.out@1", runtime.None, func(context.Context, int) (limits, error) { return limits{1, []string{"a", "c"}}, nil })
		_, err = runtime.Call(r, node("n"), out, 1)
		wantCode(t, err, value.ValidationError)
		if !strings.Contains(err.Error(), `output: tags[1]: "c" is not one of a, b`) {
			t.Fatal(err)
		}
		zero := 0.0
		nan := runtime.Bind("t.nan@1", runtime.None, func(context.Context, int) (float64, error) { return 1 / zero, nil })
		_, err = runtime.Call(r, node("n"), nan, 1)
		wantCode(t, err, value.ValidationError)
		big := runtime.Bind("t.big@1", runtime.None, func(context.Context, int) (string, error) { return "12345", nil }, runtime.MaxOutput(6))
		_, err = runtime.Call(r, node("n"), big, 1)
		wantCode(t, err, value.PolicyDenied)
	})
}

func TestSecrets(t *testing.T) {
	read := runtime.Bind("t.read@1", runtime.Reads, func(ctx context.Context, name string) (string, error) {
		v, ok := runtime.Secret(ctx, name)
		if all := runtime.Auth(ctx); all[name] != v || ok != (v != "") || len(all) != 1 {
			return "", fmt.Errorf("Secret gives %q, %v, Auth %v", v, ok, all)
		}
		return strings.ToUpper(v), nil // as it is it would be taken out
	}, runtime.Secrets("KEY"))
	lookup := func(name string) (string, bool) { return "v-" + name, name != "GONE" }
	r := start(t, t.Context(), runtime.WithSecrets(lookup))
	for name, want := range map[string]string{"KEY": "V-KEY", "OTHER": ""} {
		if got, err := runtime.Call(r, node("n"), read, name); err != nil || got != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	gone := runtime.Bind("t.gone@1", runtime.Reads, func(context.Context, int) (int, error) { return 0, nil }, runtime.Secrets("GONE"))
	_, err := runtime.Call(r, node("n"), gone, 1)
	wantCode(t, err, value.AuthRequired)

	_, err = runtime.New(&runtime.Info{Name: "w", Secrets: []string{"KEY", "GONE"}}, runtime.WithSecrets(lookup))
	if err == nil || err.Error() != "workflow w needs the secret GONE, which is not set" {
		t.Fatal(err)
	}
}

func TestNewRefusesAWrongTable(t *testing.T) {
	for _, info := range []*runtime.Info{nil, {Nodes: []*runtime.Node{nil}}, {Nodes: []*runtime.Node{{Index: 1}}}} {
		if _, err := runtime.New(info); err == nil {
			t.Errorf("%+v was accepted", info)
		}
	}
}

func TestIterate(t *testing.T) {
	both(t, func(t *testing.T, r *runtime.Run) {
		n := node("polish")
		n.Max = 5
		if _, err := r.Iterate(n, 4); err != nil {
			t.Fatal(err)
		}
		_, err := r.Iterate(n, 5)
		if err == nil || err.Error() != "w.flowgen.yaml:3:5: node polish: POLICY_DENIED: polish ran 5 times, which is its bound, and is not done" {
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
	err := runtime.NoCase(r, node("plan"), "plan.route", "fxi")
	if err.Error() != `w.flowgen.yaml:3:5: node plan: VALIDATION_ERROR: switch plan.route has no case for "fxi" and no default` {
		t.Fatal(err)
	}
}

func TestTool(t *testing.T) {
	tool := runtime.Bind("a.b@2", runtime.External, step)
	if tool.Name() != "a.b" || tool.Version() != "2" || tool.Effects() != runtime.External {
		t.Fatalf("%+v", tool)
	}
	for e, want := range map[runtime.Effects]string{runtime.None: "none", runtime.Reads: "reads", runtime.Writes: "writes", 9: "external"} {
		if e.String() != want {
			t.Errorf("%d is %s", e, e)
		}
	}
}

// keyed runs a body under a recording observer and returns the keys of its calls.
func keyed(t *testing.T, body func(r *runtime.Run) error) []string {
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
	call := func(r *runtime.Run, id *runtime.Node) error {
		_, err := runtime.Call(r, id, stepTool, pair{})
		return err
	}
	draft, loop, sub, probe := node("draft"), node("refine"), node("pub"), node("probe")
	got := keyed(t, func(r *runtime.Run) error {
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
			if _, err := runtime.Map(r, probe, []int{7, 8}, func(r *runtime.Run, _ int) (int, error) {
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
	many := make([]*runtime.Node, 20)
	for i := range many {
		many[i] = node(fmt.Sprint("n", i))
	}
	got = keyed(t, func(r *runtime.Run) error {
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
	flaky := runtime.Bind("t@1", runtime.None, func(context.Context, int) (int, error) {
		if fail {
			fail = false
			return 0, value.Errorf(value.Timeout, "late")
		}
		return 1, nil
	})
	n, m := node("n"), node("m")
	n.Retry = &runtime.Retry{Attempts: 2}
	m.Limit = 1
	_, err := runtime.Map(r, m, []int{1, 2}, func(r *runtime.Run, i int) (int, error) { return runtime.Call(r, n, flaky, i) })
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
	write := runtime.Bind("t.write@1", runtime.Writes, step)
	for name, f := range map[string]func(){
		"Call":    func() { runtime.Call(r, n, stepTool, pair{1, "x"}) },
		"writes":  func() { runtime.Call(r, n, write, pair{1, "x"}) },
		"CallOr":  func() { runtime.CallOr(r, n, stepTool, pair{1, "x"}, pair{}) },
		"Iterate": func() { r.Iterate(n, 3) },
		"In":      func() { r.In(n).At(n, 1) },
	} {
		if got := testing.AllocsPerRun(1000, f); got != 0 {
			t.Errorf("%s allocates %v times", name, got)
		}
	}
	items := make([]pair, 10_000)
	n.Block = 64
	one := func(r *runtime.Run, in pair) (pair, error) { return runtime.Call(r, n, stepTool, in) }
	if got := testing.AllocsPerRun(20, func() { runtime.Map(r, n, items, one) }); got > 16 {
		t.Errorf("a map allocates %v times", got)
	}
	n.Limit, n.Block = 64, 1 // workers cost nothing either
	if got := testing.AllocsPerRun(20, func() { runtime.Map(r, n, items[:100], one) }); got > 16 {
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
		runtime.Call(r, n, stepTool, pair{1, "x"})
	}
}
