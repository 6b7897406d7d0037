package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/agent"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/sim"
)

// busy is an agent that does a bit of everything: parallel calls, failures, refusals, more calls than it may make.
func busy(calls *atomic.Int64) *agent.Spec {
	asks := []llm.Message{
		ask(`search {"q":"a"}`, `count {"q":"b"}`, `search {"q":"bad"}`, `rm {}`, `search {"q":"c"}`),
		ask(`count {"q":"1"}`, `count {"q":1}`, `echo {"q":"<e>"}`),
		ask(repeat(7, `count {"q":"z"}`)...),
	}
	s := func(turn int, c *llm.Conversation) (llm.Message, error) {
		calls.Add(1)
		if turn < len(asks) {
			return asks[turn], nil
		}
		b, _ := json.Marshal(c.Messages) // the answer depends on all that was told
		return say(fmt.Sprintf("%x", hash(b))), nil
	}
	return &agent.Spec{Model: model(s, llm.Priced(llm.Price{Input: "1", Output: "2"})), Tools: append(tools(), counter(calls, runtime.Writes)), MaxToolCalls: 12,
		Policy: &runtime.Policy{MaxTokens: 1_000_000, MaxCostUSD: "3"}}
}

func hash(b []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range b {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}

func encoded(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// timeless is the outputs without what the clock says.
func timeless(t testing.TB, out agent.Outputs) string {
	t.Helper()
	all := ordered(out)
	for i := range all {
		all[i].TStart, all[i].TEnd = time.Time{}, time.Time{}
	}
	return out.Response + encoded(t, all) + encoded(t, out.ToolOrder)
}

// finish runs the agent as a whole run, so that the engine sees its end.
func finish(t testing.TB, s *agent.Spec, opts ...runtime.Option) (out agent.Outputs, err error) {
	t.Helper()
	rt, err := runtime.New(&runtime.Info{Name: "w", Nodes: []*runtime.Node{node}}, opts...)
	if err != nil {
		t.Fatal(err)
	}
	r := rt.Start(t.Context())
	defer r.End(&err)
	return agent.Run(r, node, s, llm.Prompt{Text: "Go"})
}

// An agent gives the same under every engine, and a replay runs nothing and gives the same to the last byte.
func TestEngines(t *testing.T) {
	var calls atomic.Int64
	direct, err := finish(t, busy(&calls))
	if err != nil {
		t.Fatal(err)
	}
	want := timeless(t, direct)
	rec := journal.NewRecorder()
	out, err := finish(t, busy(&calls), runtime.WithEngine(rec))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, timeless(t, out)); diff != "" {
		t.Error("recorded:", diff)
	}
	text, err := rec.Journal().MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	j := new(journal.Journal)
	if err := j.UnmarshalText(text); err != nil {
		t.Fatal(err)
	}
	ran := calls.Load()
	replay := journal.Replay(j)
	again, err := finish(t, busy(&calls), runtime.WithEngine(replay))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(encoded(t, out), encoded(t, again)); diff != "" {
		t.Error("replayed:", diff)
	}
	if calls.Load() != ran || len(replay.Unused()) != 0 {
		t.Errorf("a replay ran something, or left %v", replay.Unused())
	}
	for seed := range uint64(50) {
		s := sim.New(seed, sim.Options{Replay: j})
		if err := s.Drive(func() {
			got, err := finish(t, busy(&calls), runtime.WithEngine(s))
			if err != nil || encoded(t, got) != encoded(t, out) {
				t.Errorf("seed %d: %v", seed, err)
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	if calls.Load() != ran {
		t.Error("a simulated replay ran something")
	}
}

// Whatever the schedule, outputs are the same: 1,000 seeds, one result (P16).
func TestSimulated(t *testing.T) {
	var calls atomic.Int64
	direct, err := finish(t, busy(&calls))
	if err != nil {
		t.Fatal(err)
	}
	want := timeless(t, direct)
	for seed := range uint64(1000) {
		s := sim.New(seed, sim.Options{})
		if err := s.Drive(func() {
			out, err := finish(t, busy(&calls), runtime.WithEngine(s))
			if err != nil {
				t.Errorf("seed %d: %v", seed, err)
			} else if got := timeless(t, out); got != want {
				t.Errorf("seed %d: %s", seed, cmp.Diff(want, got))
			}
		}); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if t.Failed() {
			return
		}
	}
}

// A run that is stopped at any moment and resumed makes no call of a tool twice, and ends as if nothing had happened.
func TestResumed(t *testing.T) {
	var calls atomic.Int64
	direct, err := finish(t, busy(&calls))
	if err != nil {
		t.Fatal(err)
	}
	want := timeless(t, direct)
	for seed := range uint64(200) {
		whole := journal.New(journal.Header{})
		s := sim.New(seed, sim.Options{Record: whole})
		ctx, cancel := context.WithCancel(t.Context())
		s.After(time.Duration(seed%100)*time.Millisecond, cancel)
		if err := s.Drive(func() {
			rt, err := runtime.New(&runtime.Info{Name: "w", Nodes: []*runtime.Node{node}}, runtime.WithEngine(s))
			if err != nil {
				t.Error(err)
				return
			}
			r := rt.Start(ctx)
			_, err = agent.Run(r, node, busy(&calls), llm.Prompt{Text: "Go"})
			r.End(&err)
		}); err != nil {
			t.Fatal(err)
		}
		cancel()
		again := journal.Resume(whole, journal.RunAgain(func(journal.Record) bool { return true }))
		var made atomic.Int64
		out, err := finish(t, busy(&made), runtime.WithEngine(again))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if got := timeless(t, out); got != want {
			t.Fatalf("seed %d: %s", seed, cmp.Diff(want, got))
		}
		for _, r := range whole.Records() {
			if r.Result() {
				made.Add(1) // what was answered, of any tool
			}
		}
		if all := int64(len(again.Journal().Records())); made.Load() > all {
			t.Fatalf("seed %d: %d calls of %d", seed, made.Load(), all)
		}
	}
}

// Keys are review[turn]/model and review[turn]/tool#i, i in the order of request; what a replay needs is in the journal:
// prompt, tools and their schemas, messages, receipts (Agent Tools 6.4).
func TestJournal(t *testing.T) {
	var calls atomic.Int64
	rec := journal.NewRecorder()
	if _, err := finish(t, busy(&calls), runtime.WithEngine(rec)); err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, r := range rec.Journal().Records() {
		keys = append(keys, r.Key)
		if model := r.Tool == "test:scripted@1"; model != r.Metered || model && (r.Tokens != 110 || r.CostUSD != 120_000) {
			t.Errorf("%s: metered %v, %d tokens, %v dollars", r.Key, r.Metered, r.Tokens, r.CostUSD)
		}
	}
	want := []string{"review[0]/count", "review[0]/model", "review[0]/search", "review[0]/search#2", "review[0]/search#3",
		"review[1]/count", "review[1]/echo", "review[1]/model",
		"review[2]/count", "review[2]/count#2", "review[2]/count#3", "review[2]/count#4", "review[2]/count#5", "review[2]/model", "review[3]/model"}
	if diff := cmp.Diff(want, keys); diff != "" {
		t.Error(diff)
	}
	first, _ := rec.Journal().Lookup("review[0]/model", 1)
	for _, part := range []string{`"text":"Go"`, `"name":"search"`, `"required":["q"]`, `"additionalProperties":false`} {
		if !bytes.Contains(first.Input, []byte(part)) {
			t.Errorf("the first turn lacks %s: %s", part, first.Input)
		}
	}
	last, _ := rec.Journal().Lookup("review[3]/model", 1)
	if bytes.Contains(last.Input, []byte(`"Go"`)) || !bytes.Contains(last.Input, []byte(`"role":"tools"`)) {
		t.Errorf("a later turn holds more than what is new: %s", last.Input)
	}
}
