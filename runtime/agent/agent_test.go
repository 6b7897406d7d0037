package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/agent"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Agent Tools 3.1: the five outputs are always there.
func TestOutputsAlwaysPresent(t *testing.T) {
	for name, s := range map[string]script{"no calls": plays(), "calls": plays(ask(`search {"q":"a"}`))} {
		t.Run(name, func(t *testing.T) {
			out := mustRun(t, &agent.Spec{Model: model(s), Tools: tools()})
			b, err := json.Marshal(out)
			if err != nil {
				t.Fatal(err)
			}
			var fields map[string]json.RawMessage
			if err := json.Unmarshal(b, &fields); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"last_tool", "response", "tool_order", "tools_by_id", "traces_url"}, flow.SortedKeys(fields)); diff != "" {
				t.Error(diff)
			}
			if out.Response != "done" {
				t.Errorf("response %q", out.Response)
			}
			if strings.Contains(string(b), `"tool_order":null`) || strings.Contains(string(b), `"tools_by_id":null`) {
				t.Errorf("%s", b)
			}
			if name == "no calls" && (string(fields["tool_order"]) != "[]" || string(fields["last_tool"]) != "null") {
				t.Errorf("%s", b)
			}
		})
	}
}

// Agent Tools 3.2: the receipt of a call has all fields; 6.1: its id follows from tool, input and key.
func TestEnvelope(t *testing.T) {
	out := mustRun(t, &agent.Spec{Model: model(plays(ask(`search {"q":"a"}`, `search {"q":"b"}`))), Tools: tools()})
	got := ordered(out)
	if len(got) != 2 || got[0].TStart.IsZero() || got[0].TEnd.Before(got[0].TStart) {
		t.Fatalf("%+v", got)
	}
	for i, key := range []string{"review[0]/search", "review[0]/search#2"} {
		in, _ := got[i].Input.MarshalJSON()
		if want := engine.CallID("t.search@3", in, key); got[i].CallID != want {
			t.Errorf("call %d: id %s, want %s", i, got[i].CallID, want)
		}
	}
	b, err := json.Marshal(got[1])
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(b, &fields); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"call_id", "t_start", "t_end"} {
		if fields[f] == "" {
			t.Errorf("%s is empty", f)
		}
		delete(fields, f)
	}
	want := map[string]any{"tool": "search", "name": "t.search", "version": "3", "input": map[string]any{"q": "b"}, "output": map[string]any{"hits": []any{"b", "b!"}},
		"error": nil, "cached": false, "truncated": false, "attachments": []any{}}
	if diff := cmp.Diff(want, fields); diff != "" {
		t.Error(diff)
	}
	if out.LastTool == nil || out.LastTool.CallID != got[1].CallID {
		t.Errorf("last tool %+v", out.LastTool)
	}
}

// Agent Tools 3.4: errors of tools go back to the model as data.
func TestErrorsAreTold(t *testing.T) {
	asked := []string{`search {"q":"bad"}`, `search {"q":"panic"}`, `search {"q":1}`, `search {"q":"a","x":2}`, `search {`, `search`, `search {"q":"x","q":"y"}`,
		`rm {"q":"/"}`, `echo {"q":"fine"}`}
	var told []llm.Result
	s := func(turn int, c *llm.Conversation) (llm.Message, error) {
		if turn == 0 {
			return ask(asked...), nil
		}
		told = c.Messages[len(c.Messages)-1].Results
		return say("done"), nil
	}
	out := mustRun(t, &agent.Spec{Model: model(s), Tools: tools()})
	want := []string{"t.search@3 RATE_LIMIT", "t.search@3 UNKNOWN", "t.search@3 VALIDATION_ERROR", "t.search@3 VALIDATION_ERROR", "t.search@3 VALIDATION_ERROR",
		"t.search@3 VALIDATION_ERROR", "t.search@3 VALIDATION_ERROR", "rm@ POLICY_DENIED", "t.echo@1 ok"}
	if diff := cmp.Diff(want, codes(out)); diff != "" {
		t.Error(diff)
	}
	var texts []string
	for i, r := range told {
		if r.ID != fmt.Sprint("c", i) || r.Failed != (i < 8) {
			t.Errorf("result %d is %+v", i, r)
		}
		texts = append(texts, r.Text)
	}
	wantTold := []string{
		`{"code":"RATE_LIMIT","message":"slow down","details":null,"retry_after_s":2}`,
		`{"code":"UNKNOWN","message":"panic: oh","details":null,"retry_after_s":null}`,
		`{"code":"VALIDATION_ERROR","message":"q: a string expected, a number given","details":{"path":"q","violations":[{"path":"q","message":"q: a string expected, a number given"}]},"retry_after_s":null}`,
		`{"code":"VALIDATION_ERROR","message":"unknown field \"x\"","details":{"path":"x","violations":[{"path":"x","message":"unknown field \"x\""}]},"retry_after_s":null}`,
	}
	if diff := cmp.Diff(wantTold, texts[:4]); diff != "" {
		t.Error(diff)
	}
	if texts[8] != "fine" {
		t.Errorf("text is told as %q", texts[8])
	}
}

// Agent Tools 5.1: caps.
func TestCaps(t *testing.T) {
	tests := []struct {
		name   string
		spec   agent.Spec
		script script
		error  string // "": none
		codes  map[string]int
	}{
		{name: "max_iterations", script: forever(`count {"q":"x"}`), error: "the model was called 10 times"},
		{name: "max_iterations of its own", spec: agent.Spec{MaxIterations: 3}, script: forever(`count {"q":"x"}`), error: "the model was called 3 times"},
		{name: "max_tool_calls", script: plays(ask(repeat(30, `count {"q":"x"}`)...)), codes: map[string]int{"t.count@1 ok": 25, "t.count@1 POLICY_DENIED": 5}},
		{name: "max_tool_calls over turns", spec: agent.Spec{MaxToolCalls: 3}, script: plays(ask(repeat(2, `count {"q":"x"}`)...), ask(repeat(2, `count {"q":"x"}`)...)),
			codes: map[string]int{"t.count@1 ok": 3, "t.count@1 POLICY_DENIED": 1}},
		{name: "invalid calls count", spec: agent.Spec{MaxToolCalls: 2}, script: plays(ask(`count {}`, `count {}`, `count {"q":"x"}`)),
			codes: map[string]int{"t.count@1 VALIDATION_ERROR": 2, "t.count@1 POLICY_DENIED": 1}},
		{name: "unbounded", spec: agent.Spec{MaxToolCalls: agent.Unbounded}, script: plays(ask(repeat(40, `count {"q":"x"}`)...)), codes: map[string]int{"t.count@1 ok": 40}},
		{name: "too many at once", script: plays(ask(repeat(257, `count {"q":"x"}`)...)), error: "requested 257 parallel calls"},
		{name: "effects", spec: agent.Spec{Policy: &runtime.Policy{Effects: []flow.Effects{flow.None}}}, script: plays(ask(`count {"q":"x"}`)),
			codes: map[string]int{"t.count@1 POLICY_DENIED": 1}},
		{name: "max_tokens", spec: agent.Spec{Policy: &runtime.Policy{MaxTokens: 5000}}, script: forever(`count {"q":"x"}`), error: "a call of test:scripted@1 can take"},
		{name: "max_cost_usd", spec: agent.Spec{Policy: &runtime.Policy{MaxCostUSD: "0.50"}}, script: forever(`count {"q":"x"}`), error: "a call of test:scripted@1 can cost"},
	}
	for i := range tests {
		tt := &tests[i]
		t.Run(tt.name, func(t *testing.T) {
			var n atomic.Int64
			tt.spec.Model = model(tt.script, llm.Priced(llm.Price{Input: "100", Output: "100"}))
			tt.spec.Tools = []agent.Tool{counter(&n, flow.Reads)}
			out, err := run(t, &tt.spec)
			if tt.error != "" {
				if codeOf(err) != value.PolicyDenied || !strings.Contains(err.Error(), tt.error) {
					t.Fatalf("error %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]int{}
			for _, c := range codes(out) {
				got[c]++
			}
			if diff := cmp.Diff(tt.codes, got); diff != "" {
				t.Error(diff)
			}
			if n.Load() != int64(tt.codes["t.count@1 ok"]) {
				t.Errorf("%d calls ran", n.Load())
			}
		})
	}
}

func repeat(n int, s string) []string { return slices.Repeat([]string{s}, n) }

// A budget of tokens is a reservation: what models take together never exceeds it, and what they did not take is there
// again for the next turn.
func TestTokensAreReserved(t *testing.T) {
	turns := 0
	s := func(turn int, c *llm.Conversation) (llm.Message, error) {
		turns++
		return ask(`echo {"q":"x"}`), nil
	}
	policy := &runtime.Policy{MaxTokens: 4096 + 1500}
	_, err := run(t, &agent.Spec{Model: model(s), Tools: tools(), MaxIterations: agent.Unbounded, Policy: policy})
	if codeOf(err) != value.PolicyDenied {
		t.Fatal(err)
	}
	if turns < 5 || turns*110 > 5596 {
		t.Errorf("%d turns of 110 tokens under a cap of 5596", turns)
	}
}

// Results stand in the order of the calls, however long each takes (W7).
func TestResultsInRequestOrder(t *testing.T) {
	var ended [21]chan struct{}
	for i := range ended {
		ended[i] = make(chan struct{})
	}
	close(ended[20])
	slow := flow.Bind("t.slow@1", flow.Reads, func(_ context.Context, in query) (string, error) {
		n := len(in.Q)
		<-ended[n+1] // the last is the first to end
		defer close(ended[n])
		return fmt.Sprint(n), nil
	})
	var calls []string
	for i := range 20 {
		calls = append(calls, fmt.Sprintf(`slow {"q":%q}`, strings.Repeat("x", i)))
	}
	var told []string
	s := func(turn int, c *llm.Conversation) (llm.Message, error) {
		if turn == 0 {
			return ask(calls...), nil
		}
		for _, r := range c.Messages[len(c.Messages)-1].Results {
			told = append(told, r.Text)
		}
		return say("done"), nil
	}
	out := mustRun(t, &agent.Spec{Model: model(s), Tools: []agent.Tool{agent.Use("slow", "", slow, queryArgs, querySchema)}})
	for i := range 20 {
		if told[i] != fmt.Sprint(i) || ordered(out)[i].Output.String() != fmt.Sprint(i) {
			t.Errorf("result %d is %s", i, told[i])
		}
	}
}

// Agent Tools 6.3: the calls of one answer run at the same time. Each waits for all the others.
func TestCallsRunInParallel(t *testing.T) {
	var here atomic.Int64
	all := make(chan struct{})
	meet := flow.Bind("t.meet@1", flow.Reads, func(ctx context.Context, _ query) (string, error) {
		if here.Add(1) == 8 {
			close(all)
		}
		select {
		case <-all:
			return "met", nil
		case <-time.After(30 * time.Second):
			return "", fmt.Errorf("alone")
		}
	})
	out := mustRun(t, &agent.Spec{Model: model(plays(ask(repeat(8, `meet {"q":"x"}`)...))), Tools: []agent.Tool{agent.Use("meet", "", meet, queryArgs, querySchema)}})
	if got := codes(out); slices.ContainsFunc(got, func(s string) bool { return s != "t.meet@1 ok" }) {
		t.Error(got)
	}
}

// The model knows exactly the tools of the agent, with their schemas.
func TestToolsAreTold(t *testing.T) {
	var got []llm.Tool
	s := func(_ int, c *llm.Conversation) (llm.Message, error) { got = c.Tools; return say("x"), nil }
	mustRun(t, &agent.Spec{Model: model(s), Tools: tools()})
	want := []llm.Tool{{Name: "search", Description: "Finds things.", Schema: []byte(querySchema)}, {Name: "echo", Schema: []byte(querySchema)}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A model that fails, is cut off or refuses fails the node.
func TestModelFails(t *testing.T) {
	down := func(int, *llm.Conversation) (llm.Message, error) {
		return llm.Message{}, value.Errorf(value.NetworkError, "down")
	}
	_, err := run(t, &agent.Spec{Model: model(down), Tools: tools()})
	if codeOf(err) != value.NetworkError || !strings.Contains(err.Error(), "w.flowgen.yaml:3:5") {
		t.Errorf("error %v", err)
	}
	for _, stop := range []llm.Stop{llm.Length, llm.Refusal} {
		_, err := run(t, &agent.Spec{Model: llm.NewModel("t:m", "m", stopped(stop)), Tools: tools()})
		if codeOf(err) != value.ProviderError {
			t.Errorf("%s: error %v", stop, err)
		}
	}
}

type stopped llm.Stop

func (s stopped) Complete(context.Context, *llm.Request) (*llm.Reply, error) {
	return &llm.Reply{Model: "m", Stop: llm.Stop(s), Message: ask(`echo {"q":"never"}`)}, nil
}

// Results too large for the context are cut for the model (Agent Tools 5.4): text is kept whole in the store, typed
// outputs stay whole in the receipt.
func TestLargeResults(t *testing.T) {
	big := flow.Bind("t.big@1", flow.Reads, func(context.Context, query) (found, error) {
		return found{[]string{strings.Repeat("y", 5000)}}, nil
	})
	data := flow.Bind("t.data@1", flow.Reads, func(context.Context, query) (value.Value, error) {
		return value.Map(value.Entry{Key: "z", Value: value.String(strings.Repeat("z", 5000))}), nil
	}, flow.MaxOutput(3000))
	var told []llm.Result
	s := func(turn int, c *llm.Conversation) (llm.Message, error) {
		if turn == 0 {
			return ask(`echo {"q":"`+strings.Repeat("ä", 3000)+`"}`, `big {"q":""}`, `data {"q":""}`), nil
		}
		told = c.Messages[len(c.Messages)-1].Results
		return say("done"), nil
	}
	spec := func() *agent.Spec {
		return &agent.Spec{Model: model(s), MaxResult: 1000, Tools: append(tools(), agent.Use("big", "", big, queryArgs, querySchema), agent.Use("data", "", data, queryArgs, querySchema))}
	}
	t.Run("with a store", func(t *testing.T) {
		out := mustRun(t, spec(), runtime.WithBlobs(blobs{}))
		e := ordered(out)
		if !e[0].Truncated || len(e[0].Attachments) != 1 || e[0].Attachments[0].Bytes != 6000 || e[1].Truncated {
			t.Errorf("%+v", e[0].Attachments)
		}
		if !strings.HasSuffix(told[0].Text, "[truncated: the whole has 6000 bytes, call_id "+e[0].CallID+"]") || len(told[0].Text) > 1200 {
			t.Errorf("told %q", told[0].Text)
		}
		if !strings.Contains(told[2].Text, `"call_id":"`+e[2].CallID+`"`) || !e[2].Truncated {
			t.Errorf("told %q", told[2].Text)
		}
		for _, r := range told {
			if strings.Contains(r.Text, "blob:") {
				t.Errorf("the model is told where the whole is kept: %q", r.Text)
			}
		}
		hits, err := agent.Pin[found](start(t), node, out, agent.Latest("big"))
		if err != nil || len(hits.Hits[0]) != 5000 {
			t.Errorf("a pin has lost something: %v", err)
		}
	})
	t.Run("without", func(t *testing.T) {
		out := mustRun(t, spec())
		if e := ordered(out)[0]; e.Truncated || len(e.Output.String()) != 6000 {
			t.Error("cut without a place for the whole")
		}
		for _, r := range told[:2] {
			if len(r.Text) > 1200 || !strings.Contains(r.Text, "[truncated: the whole has ") {
				t.Errorf("told %q", r.Text)
			}
		}
	})
}

type blobs struct{}

func (blobs) Create(context.Context, string, string) (runtime.Blob, error) { return blob{}, nil }

type blob struct{}

func (blob) Write(p []byte) (int, error) { return len(p), nil }
func (blob) Commit() (string, error)     { return "blob:1", nil }
func (blob) Abort()                      {}
