package core_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/usage"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// TestSpends: a tool whose outputs say what calls took is part of the usage of the run, of its events and of its budget, also
// when a journal answers.
func TestSpends(t *testing.T) {
	bound := flow.Bind("t.spends@1", flow.Reads, func(_ context.Context, in pair) (pair, error) { return in, nil },
		tool.Spends(func(out *pair) *usage.Usage {
			if out.Count == 0 {
				return nil
			}
			return &usage.Usage{InputTokens: out.Count, OutputTokens: 2, CostUSD: flow.Ptr(usage.USD(out.Count) * 1e8)}
		}))
	body := func(e engine.Engine) (lines []string, spent []int64) {
		b, at := &bill{}, node("a")
		seen := runtime.ObserverFunc(func(e runtime.Event) {
			if e.Kind == runtime.NodeEnd && e.Usage != nil {
				spent = append(spent, e.Usage.InputTokens)
			}
		})
		r := start(t, t.Context(), runtime.WithEngine(e), runtime.WithUsage(b), runtime.WithObserver(seen), runtime.WithPolicy(&runtime.Policy{MaxCostUSD: "0.5"}))
		var err error
		defer r.End(&err)
		for _, n := range []int64{0, 4, 3} {
			if _, err := flow.Call(r, at, bound, pair{Count: n}); err != nil {
				t.Error(err)
			}
		}
		_, err = flow.Call(r, at, bound, pair{Count: 1})
		wantCode(t, err, value.PolicyDenied)
		err = nil
		return b.lines, spent
	}
	rec := journal.NewRecorder()
	lines, spent := body(rec)
	want := []string{"a t.spends@1 #1 for :", "a#2 t.spends@1 #1 for : 4+2 tokens, $0.4 $0.4", "a#3 t.spends@1 #1 for : 3+2 tokens, $0.3 $0.3"}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
	if _, again := body(journal.Replay(rec.Journal())); cmp.Diff(spent, again) != "" || len(spent) != 2 {
		t.Errorf("events say %v, and %v in a replay", spent, again)
	}
}
