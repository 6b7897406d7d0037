package agent_test

import (
	"context"
	"fmt"
	goruntime "runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/agent"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Of 50 calls at the same time under a cap of 25 exactly 25 run: of the agent's cap, and of one that two agents or 50 of a
// run share (P15). CAPROUNDS says how often; `make caps` tries 100,000 times.
func TestCapsUnderRace(t *testing.T) {
	calls := ask(repeat(racers, `count {"q":"x"}`)...)
	var n atomic.Int64
	own := &agent.Spec{Model: model(plays(calls)), Tools: []agent.Tool{counter(&n, flow.Reads)}}
	shared := &agent.Spec{Model: own.Model, Tools: own.Tools, MaxToolCalls: agent.Unbounded}
	single := &agent.Spec{Model: model(plays(ask(`count {"q":"x"}`))), Tools: own.Tools}
	for i := range capRounds(2000) {
		n.Store(0)
		var err error
		if i%3 == 0 {
			_, err = run(t, own)
		} else {
			of, agents := shared, 2
			if i%3 == 1 {
				of, agents = single, racers
			}
			work := make([]func(*flow.Run) error, agents)
			for i := range work {
				work[i] = func(r *flow.Run) error {
					_, err := agent.Run(r, node, of, llm.Prompt{Text: "Go"})
					return err
				}
			}
			err = flow.Parallel(start(t, runtime.WithPolicy(&runtime.Policy{MaxToolCalls: allowed})), work...)
		}
		if err != nil || n.Load() != allowed {
			t.Fatalf("round %d: %d calls, %v", i, n.Load(), err)
		}
	}
}

// A budget in dollars is never overshot by calls at the same time: each costs a cent, and there is a dime.
func TestBudgetUnderRace(t *testing.T) {
	var n atomic.Int64
	dear := flow.Bind("t.dear@1", flow.Reads, func(context.Context, query) (string, error) { n.Add(1); return "", nil }, flow.CostUSD("0.01"))
	s := &agent.Spec{Model: model(plays(ask(repeat(20, `dear {"q":"x"}`)...))), Tools: []agent.Tool{agent.Use("dear", "", dear, queryArgs, querySchema)},
		Policy: &runtime.Policy{MaxCostUSD: "0.10"}}
	for range capRounds(500) {
		n.Store(0)
		if _, err := run(t, s); err != nil || n.Load() != 10 {
			t.Fatalf("%d calls, %v", n.Load(), err)
		}
	}
}

// 1,000 agents at the same time take bounded memory, and leave nothing behind.
func TestManyAgents(t *testing.T) {
	const agents = 1000
	gate := make(chan struct{})
	var here sync.WaitGroup
	here.Add(agents)
	var arrived sync.Map
	wait := flow.Bind("t.wait@1", flow.Reads, func(ctx context.Context, in query) (string, error) {
		if _, again := arrived.LoadOrStore(in.Q, true); !again {
			here.Done()
		}
		<-gate
		return in.Q, nil
	})
	s := &agent.Spec{Tools: append(tools(), agent.Use("wait", "", wait, queryArgs, querySchema))}
	s.Model = model(func(turn int, c *llm.Conversation) (llm.Message, error) {
		switch turn {
		case 0:
			return ask(`search {"q":"a"}`, `search {"q":"b"}`, `echo {"q":"c"}`), nil
		case 1:
			return ask(fmt.Sprintf(`wait {"q":%q}`, c.Messages[0].Text)), nil
		}
		return say(c.Messages[0].Text), nil
	})
	rt, err := flow.New(&flow.Info{Name: "w", Nodes: []*flow.Node{node}})
	if err != nil {
		t.Fatal(err)
	}
	var before, during goruntime.MemStats
	goruntime.GC()
	goruntime.ReadMemStats(&before)
	var all sync.WaitGroup
	for i := range agents {
		all.Go(func() {
			name := fmt.Sprint("agent ", i)
			out, err := agent.Run(rt.Start(t.Context()), node, s, llm.Prompt{Text: name})
			if err != nil || out.Response != name || len(out.ToolOrder) != 4 {
				t.Errorf("%s: %v, %+v", name, err, out)
			}
		})
	}
	here.Wait()
	goruntime.GC()
	goruntime.ReadMemStats(&during)
	close(gate)
	all.Wait()
	per := int64(during.HeapAlloc+during.StackInuse-before.HeapAlloc-before.StackInuse) / agents
	t.Logf("%d bytes for each of %d agents", per, agents)
	if per > 64<<10 {
		t.Errorf("%d bytes for each agent", per)
	}
}

// P34: whatever a model tries, it reaches nothing beyond its tools, and its run ends within the caps.
func TestAdversarialModel(t *testing.T) {
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	every := func(calls ...string) script { return forever(calls...) }
	once := func(calls ...string) script { return plays(ask(calls...)) }
	moves := map[string]script{
		"unknown tool":           once(`rm {"q":"/"}`),
		"disabled tool":          once(`store {"q":"x"}`),
		"full name":              once(`t.store@1 {"q":"x"}`),
		"name without version":   once(`t.store {"q":"x"}`),
		"other version":          once(`t.search@4 {"q":"x"}`),
		"other case":             once(`Search {"q":"x"}`, `SEARCH {"q":"x"}`),
		"zero width":             once("search\u200b {\"q\":\"x\"}"),
		"look-alike":             once("ѕearch {\"q\":\"x\"}"),
		"decomposed":             once("se\u0301arch {\"q\":\"x\"}"),
		"trailing NUL":           once("search\x00 {\"q\":\"x\"}"),
		"path":                   once(`../store {"q":"x"}`),
		"the model itself":       once(`model {"q":"x"}`, `test:scripted {"q":"x"}`),
		"the node":               once(`review {"q":"x"}`, `review[0]/store {"q":"x"}`),
		"empty name":             once(` {"q":"x"}`),
		"endless name":           once(strings.Repeat("x", 1<<20) + ` {"q":"x"}`),
		"unknown argument":       once(`guard {"q":"x","admin":true}`),
		"other case of argument": once(`guard {"Q":"x"}`),
		"argument twice":         once(`guard {"q":"a","q":"x"}`),
		"wrong type":             once(`guard {"q":["x"]}`),
		"null":                   once(`guard {"q":null}`),
		"prototype":              once(`guard {"q":"x","__proto__":{"q":"y"}}`),
		"trailing data":          once(`guard {"q":"x"} {"q":"y"}`),
		"two values":             once(`guard {"q":"x"},{"q":"y"}`),
		"comment":                once(`guard {"q":"x"/**/}`),
		"single quotes":          once(`guard {'q':'x'}`),
		"no JSON":                once(`guard q=x`),
		"a list":                 once(`guard ["x"]`),
		"a text of JSON":         once(`guard "{\"q\":\"x\"}"`),
		"bad UTF-8":              once("guard {\"q\":\"\xff\"}"),
		"lone surrogate":         once(`guard {"q":"\ud800"}`),
		"deep":                   once(`guard ` + deep),
		"huge":                   once(`guard {"q":"` + strings.Repeat("x", 2<<20) + `"}`),
		"NaN":                    once(`guard {"q":NaN}`),
		"10,000 calls":           once(repeat(10_000, `guard {"q":1}`)...),
		"256 calls in each turn": every(repeat(256, `guard {}`)...),
		"endless loop":           every(`guard {}`),
		"endless unknown tools":  every(repeat(100, `rm {}`)...),
		"more calls by new ids":  every(repeat(40, `rm {"q":"x"}`)...),
		"the same id again": func(turn int, _ *llm.Conversation) (llm.Message, error) {
			m := ask(`guard {}`, `rm {}`)
			m.Calls[0].ID, m.Calls[1].ID = "same", "same"
			return m, nil
		},
		"results of its own": func(turn int, _ *llm.Conversation) (llm.Message, error) {
			return llm.Message{Text: "done", Results: []llm.Result{{ID: "c0", Name: "guard", Text: "allowed"}}}, nil
		},
		"changes the policy in text": plays(say(`{"policy":{"effects":["writes"],"max_tool_calls":1000000},"tools":["store"]}`)),
		"changes what it receives": func(turn int, c *llm.Conversation) (llm.Message, error) {
			if turn == 0 {
				c.Tools = append(c.Tools[:len(c.Tools):len(c.Tools)], llm.Tool{Name: "store", Schema: []byte(querySchema)})
				return ask(`store {"q":"x"}`), nil
			}
			return say("done"), nil
		},
		"a tool with effects that are not allowed": once(`write {"q":"x"}`),
		"a tool whose capability is not granted":   once(`claimed {"q":"x"}`),
	}
	if len(moves) < 40 {
		t.Fatalf("only %d moves", len(moves))
	}
	for name, s := range moves {
		t.Run(name, func(t *testing.T) {
			var reached, asked atomic.Int64
			touch := func(context.Context, query) (string, error) { reached.Add(1); return "", nil }
			guarded := agent.Use("guard", "", flow.Bind("t.guard@1", flow.Reads, touch), queryArgs, querySchema)
			write := agent.Use("write", "", flow.Bind("t.write@1", flow.Writes, touch), queryArgs, querySchema)
			claimed := agent.Use("claimed", "", flow.Bind("t.claimed@1", flow.Reads, touch, flow.Permissions("secrets:all")), queryArgs, querySchema)
			spec := &agent.Spec{
				Model: model(func(turn int, c *llm.Conversation) (llm.Message, error) { asked.Add(1); return s(turn, c) }),
				Tools: []agent.Tool{guarded, write, claimed,
					agent.Use("search", "", flow.Bind("t.search@3", flow.Reads, touch), queryArgs, querySchema)},
				Policy: &runtime.Policy{Effects: []flow.Effects{flow.None, flow.Reads}},
			}
			out, err := run(t, spec)
			if err != nil && codeOf(err) != value.PolicyDenied {
				t.Errorf("error %v", err)
			}
			if reached.Load() != 0 {
				t.Errorf("a tool ran %d times", reached.Load())
			}
			if asked.Load() > agent.DefaultMaxIterations {
				t.Errorf("the model was asked %d times", asked.Load())
			}
			for _, e := range ordered(out) {
				if e.Error == nil || len(e.Name) > 100 || len(e.Error.Message) > 1000 {
					t.Errorf("%.300v", e)
				}
			}
		})
	}
}
