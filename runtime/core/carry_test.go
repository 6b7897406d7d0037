package core_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/usage"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// away makes every call with another Runtime, as a second process would: only JSON goes there and comes back.
type away struct {
	engine.Goroutines
	t    *testing.T
	rt   *flow.Runtime
	sent *[]engine.Carried
}

func (away) Executes() bool { return false }

func (e away) Do(r *flow.Run, op engine.Op) error {
	p := op.(engine.Portable)
	c, ok, err := p.Carry()
	if err != nil || !ok {
		return op.Exec(r.Context())
	}
	var there engine.Carried
	through(e.t, c, &there)
	if there.Continues {
		if there.Before, err = p.Before(); err != nil {
			return err
		}
	}
	*e.sent = append(*e.sent, there)
	made, err := e.rt.Make(context.Background(), p.Callable(), there)
	if err != nil {
		return err
	}
	var back engine.Landed
	through(e.t, made, &back)
	if back.Error == nil && back.Asked != c.Asked() {
		e.t.Errorf("%s: the result is of another input", op.Head().Key())
	}
	return p.Land(&back)
}

// through sends v as JSON.
func through(t *testing.T, v, to any) {
	t.Helper()
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// carrying starts a run whose calls are made elsewhere, by a Runtime with the options.
func carrying(t *testing.T, info *flow.Info, o ...runtime.Option) (*flow.Run, *[]engine.Carried) {
	t.Helper()
	there, err := flow.New(info, o...)
	if err != nil {
		t.Fatal(err)
	}
	sent := new([]engine.Carried)
	here, err := flow.New(info, runtime.WithEngine(away{t: t, rt: there, sent: sent}), runtime.WithSecrets(func(string) (string, bool) { return "", false }))
	if err != nil {
		t.Fatal(err)
	}
	return here.Start(t.Context()), sent
}

// tells is a tool that says what it sees of its call.
var tells = flow.Bind("t.tells@2", flow.Writes, func(ctx context.Context, in pair) (string, error) {
	c := tool.Context(ctx)
	return fmt.Sprint(c.Key(), c.CallID(), c.Attempt(), c.IdempotencyKey(), c.Timeout(), c.TenantID(), c.Auth("TOKEN") != "", in.Count), nil
}, flow.Idempotent(), flow.Secrets("TOKEN"))

// A tool sees the same call wherever it runs.
func TestCarriedCall(t *testing.T) {
	info := &flow.Info{Name: "w", Secrets: []string{"TOKEN"}}
	token := runtime.WithSecrets(func(string) (string, bool) { return "a-token-of-some-length", true })
	body := func(r *flow.Run) (out []string) {
		loop, n := node("loop"), node("tell")
		n.Timeout = time.Hour
		for i := range 2 {
			got, err := flow.Call(r.In(node("pub")).At(loop, i), n, tells, pair{Count: 1<<60 + 1})
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, got)
		}
		return out
	}
	rt, err := flow.New(info, token, runtime.WithEngine(engine.Goroutines{}))
	if err != nil {
		t.Fatal(err)
	}
	want := body(rt.Start(t.Context()))
	r, sent := carrying(t, info, token)
	if diff := cmp.Diff(want, body(r)); diff != "" {
		t.Error(diff)
	}
	if !strings.HasPrefix(want[1], "pub#2/loop[1]/tell") && !strings.HasPrefix(want[1], "pub/loop[1]/tell") {
		t.Errorf("key %s", want[1])
	}
	if b, _ := json.Marshal(*sent); strings.Contains(string(b), "a-token") {
		t.Errorf("the secret was sent: %s", b)
	}
}

// Failures come back with all that they say, and are retried by the node's own rule.
func TestCarriedFailure(t *testing.T) {
	after := 0.001
	calls := 0
	fails := flow.Bind("t.fails@1", flow.Reads, func(context.Context, pair) (pair, error) {
		calls++
		te := value.Errorf(value.RateLimit, "slow down")
		te.RetryAfterS, te.Details = &after, value.Map(value.Entry{Key: "who", Value: value.String("me")})
		return pair{}, te
	})
	body := func(r *flow.Run) error {
		n := node("n")
		n.Retry = &flow.Retry{Attempts: 3}
		_, err := flow.Call(r, n, fails, pair{})
		return err
	}
	want := body(start(t, t.Context()))
	r, sent := carrying(t, &flow.Info{Name: "w"})
	got := body(r)
	if want.Error() != got.Error() || !cmp.Equal(value.ToolErrorOf(want).Details, value.ToolErrorOf(got).Details, cmp.Comparer(func(a, b value.Value) bool { return a.String() == b.String() })) {
		t.Errorf("%v, want %v", got, want)
	}
	if calls != 6 || len(*sent) != 3 || (*sent)[2].Attempt != 3 {
		t.Errorf("%d calls, %d sent", calls, len(*sent))
	}
}

// What bounds an attempt travels with it, and an attempt that ends late fails with the same words.
func TestCarriedTimeout(t *testing.T) {
	slow := func(o ...flow.ToolOption) *flow.Tool[pair, pair] {
		return flow.Bind("t.slow@1", flow.Reads, func(ctx context.Context, in pair) (pair, error) {
			<-ctx.Done()
			return in, ctx.Err()
		}, append(o, tool.Cancellable())...)
	}
	ms := 2 * time.Millisecond
	for name, body := range map[string]func(*flow.Run) error{
		"node": func(r *flow.Run) error { return called(r, &flow.Node{ID: "n", Index: -1, Timeout: ms}, slow()) },
		"tool": func(r *flow.Run) error { return called(r, node("n"), slow(tool.Timeout(ms))) },
		"attempt": func(r *flow.Run) error {
			return called(r, &flow.Node{ID: "n", Index: -1, Retry: &flow.Retry{Attempts: 1, Timeout: ms}}, slow())
		},
		"repeated": func(r *flow.Run) error {
			return called(r, &flow.Node{ID: "n", Index: -1, Timeout: ms, Retry: &flow.Retry{Attempts: 1}}, slow())
		},
		"within": func(r *flow.Run) error {
			return called(r.Within(&flow.Node{ID: "outer", Index: -1, Timeout: ms}), node("n"), slow())
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := carrying(t, &flow.Info{Name: "w"})
			want, got := body(observed(t)), body(r)
			wantCode(t, got, value.Timeout)
			if want.Error() != got.Error() {
				t.Errorf("%v\nwant %v", got, want)
			}
		})
	}
}

func called(r *flow.Run, n *flow.Node, t *flow.Tool[pair, pair]) error {
	_, err := flow.Call(r, n, t, pair{})
	return err
}

// Budgets get back what a model did not take, caps count, and what is refused goes nowhere.
func TestCarriedBudget(t *testing.T) {
	model := flow.Bind("m:x@1", flow.Reads, func(_ context.Context, in pair) (pair, error) { return in, nil },
		tool.Metered(func(*pair) usage.Spend { return usage.Spend{Tokens: 60} }, func(*pair, *pair) usage.Spend { return usage.Spend{Tokens: 10} }))
	info := &flow.Info{Name: "w", Policy: &runtime.Policy{MaxTokens: 100, MaxToolCalls: 2}}
	r, sent := carrying(t, info)
	for range 5 {
		if err := called(r, node("ask"), model); err != nil {
			t.Fatal(err)
		}
	}
	wantCode(t, called(r, node("ask"), model), value.PolicyDenied)
	for range 2 {
		if _, err := flow.Call(r, node("step"), stepTool, pair{}); err != nil {
			t.Fatal(err)
		}
	}
	_, err := flow.Call(r, node("step"), stepTool, pair{})
	wantCode(t, err, value.PolicyDenied)
	if len(*sent) != 7 {
		t.Errorf("%d calls were sent", len(*sent))
	}
}

// An input of another version is refused, and makes no call.
func TestCarriedMisfit(t *testing.T) {
	rt, err := flow.New(&flow.Info{Name: "w"})
	if err != nil {
		t.Fatal(err)
	}
	l, err := rt.Make(t.Context(), stepTool, engine.Carried{Tool: "t.step@1", Node: "n", In: []byte(`{"count": "many"}`)})
	if err != nil || l.Ran || l.Error == nil || l.Error.Code != value.ValidationError {
		t.Errorf("%+v, %v", l, err)
	}
}
