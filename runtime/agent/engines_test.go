package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/agent"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/sim"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// busy is an agent that does a bit of everything: parallel calls, failures, refusals, more calls than it may make.
func busy(calls *atomic.Int64) *agent.Spec {
	return &agent.Spec{Model: model(busyScript(calls), llm.Priced(llm.Price{Input: "1", Output: "2"})), Tools: append(tools(), counter(calls, flow.Writes)), MaxToolCalls: 12,
		Policy: &runtime.Policy{MaxTokens: 1_000_000, MaxCostUSD: "3"}}
}

func busyScript(calls *atomic.Int64) script {
	asks := []llm.Message{
		ask(`search {"q":"a"}`, `count {"q":"b"}`, `search {"q":"bad"}`, `rm {}`, `search {"q":"c"}`),
		ask(`count {"q":"1"}`, `count {"q":1}`, `echo {"q":"<e>"}`),
		ask(repeat(7, `count {"q":"z"}`)...),
	}
	return func(turn int, c *llm.Conversation) (llm.Message, error) {
		calls.Add(1)
		if turn < len(asks) {
			return asks[turn], nil
		}
		b, _ := json.Marshal(c.Messages) // the answer depends on all that was told
		return say(fmt.Sprintf("%x", hash(b))), nil
	}
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
	rt, err := flow.New(&flow.Info{Name: "w", Nodes: []*flow.Node{node}}, opts...)
	if err != nil {
		t.Fatal(err)
	}
	r := rt.Start(t.Context())
	defer r.End(&err)
	return agent.Run(r, node, s, llm.Prompt{Text: "Go"})
}

// An agent gives the same under every engine, and a replay runs nothing and gives the same to the last byte. One that fails gives
// the receipts of its calls.
func TestEngines(t *testing.T) {
	for _, tt := range []struct {
		name string
		fail func(*agent.Spec)
		code value.Code
	}{
		{"succeeds", func(*agent.Spec) {}, ""},
		{"is capped", func(s *agent.Spec) { s.MaxIterations = 3 }, value.PolicyDenied},
		{"has a model that fails", func(s *agent.Spec) {
			var n atomic.Int64
			asks := busyScript(&n)
			s.Model = model(func(turn int, c *llm.Conversation) (llm.Message, error) {
				if turn == 3 {
					return llm.Message{}, value.Errorf(value.ProviderError, "gone")
				}
				return asks(turn, c)
			})
		}, value.ProviderError},
	} {
		t.Run(tt.name, func(t *testing.T) {
			testEngines(t, func(calls *atomic.Int64) *agent.Spec {
				s := busy(calls)
				tt.fail(s)
				return s
			}, tt.code)
		})
	}
}

func testEngines(t *testing.T, spec func(*atomic.Int64) *agent.Spec, code value.Code) {
	var calls atomic.Int64
	run := func(opts ...runtime.Option) agent.Outputs {
		out, err := finish(t, spec(&calls), opts...)
		if codeOf(err) != code || code != "" && out.Response != "" || len(out.ToolOrder) < 8 || len(out.ToolsByID) != len(out.ToolOrder) || out.LastTool == nil {
			t.Errorf("%v: %+v", err, out)
		}
		return out
	}
	direct := run()
	want := timeless(t, direct)
	rec := journal.NewRecorder()
	out := run(runtime.WithEngine(rec))
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
	again := run(runtime.WithEngine(replay))
	if diff := cmp.Diff(encoded(t, out), encoded(t, again)); diff != "" {
		t.Error("replayed:", diff)
	}
	if calls.Load() != ran || len(replay.Unused()) != 0 {
		t.Errorf("a replay ran something, or left %v", replay.Unused())
	}
	for seed := range uint64(50) {
		s := sim.New(seed, sim.Options{Replay: j})
		if err := s.Drive(func() {
			if got := run(runtime.WithEngine(s)); encoded(t, got) != encoded(t, out) {
				t.Errorf("seed %d", seed)
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

// ledger counts how often what stands behind calls was really done, by their call ids: the world's side of a run.
type ledger struct {
	mu     sync.Mutex
	made   map[string]int
	all    int
	last   int    // the entry at which the run is stopped, with the call in the middle
	cancel func() // the run
}

func (l *ledger) enter(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.made == nil {
		l.made = map[string]int{}
	}
	l.made[tool.Context(ctx).CallID()]++
	if l.all++; l.all == l.last {
		l.cancel()
		return context.Canceled
	}
	return nil
}

// entered is f with an entry in the ledger for each call.
func entered[Out any](l *ledger, f func(context.Context, query) (Out, error)) func(context.Context, query) (Out, error) {
	return func(ctx context.Context, in query) (Out, error) {
		if err := l.enter(ctx); err != nil {
			return *new(Out), err
		}
		return f(ctx, in)
	}
}

type enteredModel struct {
	ledger *ledger
	llm.Provider
}

func (m enteredModel) Complete(ctx context.Context, req *llm.Request) (*llm.Reply, error) {
	if err := m.ledger.enter(ctx); err != nil {
		return nil, err
	}
	return m.Provider.Complete(ctx, req)
}

// booked is busy with everything entered in a ledger.
func booked(l *ledger) *agent.Spec {
	s := busy(new(atomic.Int64))
	s.Model = llm.NewModel("test:scripted", "scripted", enteredModel{l, busyScript(new(atomic.Int64))}, llm.Priced(llm.Price{Input: "1", Output: "2"}))
	s.Tools = []agent.Tool{
		agent.Use("search", "Finds things.", flow.Bind("t.search@3", flow.Reads, entered(l, find)), queryArgs, querySchema),
		agent.Use("echo", "", flow.Bind("t.echo@1", flow.None, entered(l, repeated)), queryArgs, querySchema),
		agent.Use("count", "", flow.Bind("t.count@1", flow.Writes, entered(l, repeated)), queryArgs, querySchema),
	}
	return s
}

// A run that is stopped at any moment and resumed does nothing twice that had a result, and everything else once; and it
// ends as if nothing had happened.
func TestResumed(t *testing.T) {
	once := &ledger{}
	direct, err := finish(t, booked(once))
	if err != nil {
		t.Fatal(err)
	}
	want := timeless(t, direct)
	for id, n := range once.made {
		if n != 1 {
			t.Fatalf("call %s was made %d times without a stop", id, n)
		}
	}
	answered, made, stopped := 0, 0, 0
	for seed := range uint64(300) {
		before, after := &ledger{}, &ledger{}
		whole := stop(t, seed, before)
		again := journal.Resume(whole, journal.RunAgain(func(journal.Record) bool { return true }))
		out, err := finish(t, booked(after), runtime.WithEngine(again))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if got := timeless(t, out); got != want {
			t.Fatalf("seed %d: %s", seed, cmp.Diff(want, got))
		}
		results := map[string]bool{}
		for _, r := range whole.Records() {
			if r.Result() {
				results[r.CallID] = true
			}
		}
		for id := range once.made {
			switch {
			case results[id] && (before.made[id] != 1 || after.made[id] != 0):
				t.Fatalf("seed %d: call %s had a result, and was made %d times before and %d times after the stop", seed, id, before.made[id], after.made[id])
			case !results[id] && (before.made[id] > 1 || after.made[id] != 1):
				t.Fatalf("seed %d: call %s had no result, and was made %d times before and %d times after the stop", seed, id, before.made[id], after.made[id])
			case results[id]:
				answered++
			case before.made[id] == 1:
				stopped++
			}
			made += after.made[id]
		}
		for _, l := range []*ledger{before, after} {
			for id := range l.made {
				if once.made[id] == 0 {
					t.Fatalf("seed %d: call %s is none of the agent's", seed, id)
				}
			}
		}
	}
	t.Logf("%d calls had results, %d were made after the stop, %d of them in the middle of which it came", answered, made, stopped)
	if answered < 500 || made < 500 || stopped < 50 {
		t.Error("the stops hit too little")
	}
}

// stop lets an agent work until the run is stopped, and returns its journal: at some time in the simulator, which finishes
// or begins no call then, or in the middle of a call.
func stop(t *testing.T, seed uint64, l *ledger) *journal.Journal {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	work := func(e engine.Engine) {
		rt, err := flow.New(&flow.Info{Name: "w", Nodes: []*flow.Node{node}}, runtime.WithEngine(e))
		if err != nil {
			t.Error(err)
			return
		}
		r := rt.Start(ctx)
		_, err = agent.Run(r, node, booked(l), llm.Prompt{Text: "Go"})
		r.End(&err)
	}
	if seed%2 == 0 {
		l.last, l.cancel = 1+int(seed/2)%15, cancel
		rec := journal.NewRecorder()
		work(rec)
		return rec.Journal()
	}
	whole := journal.New(journal.Header{})
	eng := sim.New(seed, sim.Options{Record: whole})
	eng.After(time.Duration(seed%100)*time.Millisecond, cancel)
	if err := eng.Drive(func() { work(eng) }); err != nil {
		t.Fatal(err)
	}
	return whole
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
