package core_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/internal/leaks"
	_ "github.com/flowgen-dev/flowgen/runtime/pattern"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

func TestMain(m *testing.M) { leaks.Main(m) }

type pair struct {
	Count int64  `json:"count"`
	Text  string `json:"text"`
}

func step(_ context.Context, in pair) (pair, error) { return pair{in.Count + 1, in.Text}, nil }

var stepTool = flow.Bind("t.step@1", flow.None, step)

// failing returns a tool that fails with err.
func failing(err error) *flow.Tool[pair, pair] {
	return flow.Bind("t.fail@1", flow.Reads, func(context.Context, pair) (pair, error) { return pair{}, err })
}

func node(id string) *flow.Node {
	return &flow.Node{ID: id, Pos: "w.flowgen.yaml:3:5", Index: -1}
}

func start(t testing.TB, ctx context.Context, opts ...runtime.Option) *flow.Run {
	t.Helper()
	rt, err := flow.New(&flow.Info{Name: "w"}, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return rt.Start(ctx)
}

// both runs a test without an engine and with one.
func both(t *testing.T, f func(t *testing.T, r *flow.Run)) {
	t.Run("plain", func(t *testing.T) { f(t, start(t, t.Context())) })
	t.Run("engine", func(t *testing.T) { f(t, observed(t)) })
}

// bubbles is both with synctest.
func bubbles(t *testing.T, f func(t *testing.T, r *flow.Run)) {
	t.Run("plain", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { f(t, start(t, t.Context())) })
	})
	t.Run("engine", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { f(t, observed(t)) })
	})
}

func observed(t *testing.T) *flow.Run {
	return start(t, t.Context(), runtime.WithEngine(engine.Goroutines{}), runtime.WithObserver(runtime.ObserverFunc(func(runtime.Event) {})))
}

func codeOf(err error) value.Code {
	var te *value.ToolError
	if errors.As(err, &te) {
		return te.Code
	}
	return ""
}

func wantCode(t *testing.T, err error, want value.Code) {
	t.Helper()
	if got := codeOf(err); got != want {
		t.Fatalf("error %v has code %q, want %q", err, got, want)
	}
}
