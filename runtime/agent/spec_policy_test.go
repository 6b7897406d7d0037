package agent_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/agent"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Agent Tools 4.2 and 4.2.1.
func TestSpecPins(t *testing.T) {
	out := mustRun(t, &agent.Spec{Model: model(plays(ask(`search {"q":"bad"}`, `search {"q":"a"}`), ask(`search {"q":"b"}`, `echo {"q":"e"}`))), Tools: tools()})
	pin := func(t *testing.T, s agent.Selector) string {
		t.Helper()
		got, err := agent.Pin[found](start(t), node, out, s)
		if err != nil {
			t.Fatal(err)
		}
		return encoded(t, got)
	}
	t.Run("selector.tool", func(t *testing.T) {
		text, err := agent.Pin[string](start(t), node, out, agent.Latest("echo"))
		if err != nil || *text != "e" || pin(t, agent.Latest("search")) != `{"hits":["b","b!"]}` {
			t.Error(text, err)
		}
	})
	t.Run("latest", func(t *testing.T) {
		if got := pin(t, agent.Latest("search")); got != `{"hits":["b","b!"]}` {
			t.Error(got)
		}
	})
	t.Run("first_success", func(t *testing.T) {
		if got := pin(t, agent.FirstSuccess("search")); got != `{"hits":["a","a!"]}` {
			t.Error(got)
		}
	})
	t.Run("by_call_id", func(t *testing.T) {
		if got := pin(t, agent.ByCallID("search", out.ToolOrder[1])); got != `{"hits":["a","a!"]}` {
			t.Error(got)
		}
		if got := pin(t, agent.ByCallID("search", "another")); got != "null" {
			t.Error(got)
		}
	})
	t.Run("on_missing null", func(t *testing.T) {
		if got := pin(t, agent.Latest("not called")); got != "null" {
			t.Error(got)
		}
	})
	t.Run("on_missing default", func(t *testing.T) {
		if got, err := agent.PinOr(start(t), node, out, agent.Latest("not called"), found{Hits: []string{"-"}}); err != nil || len(got.Hits) != 1 || got.Hits[0] != "-" {
			t.Error(got, err)
		}
		if got, err := agent.PinOr(start(t), node, out, agent.FirstSuccess("search"), found{}); err != nil || len(got.Hits) != 2 {
			t.Error(got, err)
		}
	})
	t.Run("on_missing error", func(t *testing.T) {
		if _, err := agent.Pin[found](start(t), node, out, agent.Latest("not called").Required()); codeOf(err) != value.ValidationError || !strings.Contains(err.Error(), "on_missing: fail") {
			t.Error(err)
		}
	})
}

// Agent Tools 5.1, and 2.2.4: before the model is asked, and before a tool is called.
func TestSpecGuard(t *testing.T) {
	var ran, asked atomic.Int64
	guarded := func(s script, spec *agent.Spec) (agent.Outputs, error) {
		ran.Store(0)
		asked.Store(0)
		counted := script(func(turn int, c *llm.Conversation) (llm.Message, error) { asked.Add(1); return s(turn, c) })
		spec.Model = model(counted, llm.Priced(llm.Price{Input: "1000", Output: "1000"}))
		spec.Tools = []agent.Tool{counter(&ran, flow.Writes)}
		return run(t, spec)
	}
	t.Run("enabled_tools", func(t *testing.T) {
		out, err := guarded(plays(ask(`store {"q":"x"}`, `count {"q":"x"}`)), &agent.Spec{})
		if diff := cmp.Diff([]string{"store@ POLICY_DENIED", "t.count@1 ok"}, codes(out)); diff != "" || err != nil || ran.Load() != 1 {
			t.Error(err, diff)
		}
	})
	t.Run("max_iterations", func(t *testing.T) {
		if _, err := guarded(forever(`count {"q":"x"}`), &agent.Spec{}); codeOf(err) != value.PolicyDenied || asked.Load() != 10 {
			t.Errorf("asked %d times: %v", asked.Load(), err)
		}
	})
	t.Run("max_tool_calls", func(t *testing.T) {
		out, err := guarded(plays(ask(repeat(20, `count {"q":"x"}`)...), ask(repeat(20, `count {"q":"x"}`)...)), &agent.Spec{})
		if err != nil || ran.Load() != 25 || !slices.Contains(codes(out), "t.count@1 POLICY_DENIED") {
			t.Errorf("%d calls: %v", ran.Load(), err)
		}
	})
	t.Run("max_budget", func(t *testing.T) { // a turn takes 110 tokens, 0.11 dollars; the most that one can take is 0.20 and the prompt
		s := func() script { return forever(`count {"q":"x"}`) }
		for _, policy := range []*runtime.Policy{{MaxTokens: 5000}, {MaxCostUSD: "5.00"}} {
			if _, err := guarded(s(), &agent.Spec{Policy: policy}); codeOf(err) != value.PolicyDenied || asked.Load() < 2 || asked.Load()*110 > 5000 {
				t.Errorf("asked %d times: %v", asked.Load(), err)
			}
		}
		if _, err := guarded(s(), &agent.Spec{Policy: &runtime.Policy{MaxTokens: 100}}); codeOf(err) != value.PolicyDenied || asked.Load() != 0 {
			t.Errorf("there is no room for a question, and the model was asked %d times: %v", asked.Load(), err)
		}
	})
	t.Run("side_effects", func(t *testing.T) {
		out, err := guarded(plays(ask(`count {"q":"x"}`)), &agent.Spec{Policy: &runtime.Policy{Effects: []flow.Effects{flow.None, flow.Reads}}})
		if err != nil || ran.Load() != 0 || codes(out)[0] != "t.count@1 POLICY_DENIED" {
			t.Errorf("%v, %v, %d calls", err, codes(out), ran.Load())
		}
	})
}

// Agent Tools 6.1.
func TestSpecCallID(t *testing.T) {
	ids := func(out agent.Outputs) []string { return out.ToolOrder }
	work := func() *agent.Spec {
		return &agent.Spec{Model: model(plays(ask(`search {"q":"a"}`, `search {"q":"a"}`, `search {"q":"b"}`))), Tools: tools()}
	}
	first := ids(mustRun(t, work()))
	t.Run("hash", func(t *testing.T) {
		if diff := cmp.Diff(first, ids(mustRun(t, work()))); diff != "" {
			t.Errorf("another run has other ids: %s", diff)
		}
		if first[0] == first[1] || first[0] == first[2] { // another call of the same, another input
			t.Errorf("%v", first)
		}
		input, key := []byte(`{"q":"a"}`), "review[0]/search"
		if engine.CallID("t.search@3", input, key) != first[0] || engine.CallID("t.search@4", input, key) == first[0] {
			t.Error("the version of the tool is not in it")
		}
	})
	t.Run("retries", func(t *testing.T) {
		var tries []string
		var told string
		flaky := flow.Bind("t.flaky@1", flow.Reads, func(ctx context.Context, in query) (string, error) {
			i := tool.Context(ctx)
			if tries = append(tries, fmt.Sprint(i.Attempt(), i.CallID())); len(tries) < 3 {
				return "", value.Errorf(value.NetworkError, "again")
			}
			told = i.CallID()
			return in.Q, nil
		})
		n := flow.Node{ID: "flaky", Pos: "w.flowgen.yaml:4:5", Index: -1, Retry: &flow.Retry{Attempts: 3, Base: 1}}
		if _, err := flow.Call(start(t).Scoped(), &n, flaky, query{"a"}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"1" + told, "2" + told, "3" + told}, tries); diff != "" || len(told) != 64 {
			t.Error(diff)
		}
	})
}
