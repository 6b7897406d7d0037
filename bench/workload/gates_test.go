package workload

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	goruntime "runtime"
	"testing"

	"github.com/flowgen-dev/flowgen/bench/chain"
	"github.com/flowgen-dev/flowgen/bench/fanout"
	"github.com/flowgen-dev/flowgen/bench/loop"
	"github.com/flowgen-dev/flowgen/bench/prompt"
	"github.com/flowgen-dev/flowgen/bench/router"
	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/journal"
)

// allocs is how often f allocates. What it does must succeed.
func allocs(t *testing.T, runs int, f func() error) float64 {
	t.Helper()
	return testing.AllocsPerRun(runs, func() {
		if err := f(); err != nil {
			t.Fatal(err)
		}
	})
}

// A run allocates a little to begin with, then nothing for a call, or one record.
func TestChainAllocations(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w, err := chain.New()
	if err != nil {
		t.Fatal(err)
	}
	if got := allocs(t, 100, func() error { return chainRun(ctx, w) }); got > 3 {
		t.Errorf("a run of %d nodes allocates %v times", Nodes, got)
	}
	recorder := journal.NewRecorder()
	run, err := begin(ctx, chain.Info, runtime.WithEngine(recorder))
	if err != nil {
		t.Fatal(err)
	}
	const runs = 100
	got := allocs(t, runs, func() error {
		_, err := w.Body(run, chain.Input{Text: "hello"})
		return err
	})
	if perNode := got / Nodes; perNode > 1.01 { // the tables of the recorder grow now and then
		t.Errorf("a recorded call allocates %v times", perNode)
	}
	run.End(&err)
	receipts := recorder.Envelopes()
	if want := (runs + 1) * Nodes; len(receipts) != want || err != nil { // AllocsPerRun runs once more
		t.Fatalf("%d receipts of %d calls: %v", len(receipts), want, err)
	}
	for _, e := range receipts {
		if len(e.CallID) != 64 || e.Name != "chain.step" || len(e.Input) == 0 || len(e.Output) == 0 || e.TEnd.Before(e.TStart) {
			t.Fatalf("receipt %+v", e)
		}
	}
}

func TestFanoutAllocations(t *testing.T) {
	w, err := fanout.New()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1000, 10_000, 1_000_000} {
		items := fanoutItems(n)
		got := allocs(t, 5, func() error {
			out, err := w.Run(t.Context(), fanout.Input{Items: items})
			if err == nil && (len(out.Results) != n || out.Results[n-1].Value != int64(2*(n-1))) {
				err = wrong(len(out.Results))
			}
			return err
		})
		if got > 16 {
			t.Errorf("a map over %d items allocates %v times", n, got)
		}
	}
}

func TestPromptAllocations(t *testing.T) {
	w, err := prompt.New()
	if err != nil {
		t.Fatal(err)
	}
	run, err := begin(t.Context(), prompt.Info)
	if err != nil {
		t.Fatal(err)
	}
	want := promptByHand(&pull)
	got := allocs(t, 100, func() error {
		out, err := w.Body(run, pull)
		if err == nil && out.Text != want {
			err = wrong(out.Text)
		}
		return err
	})
	if got != 1 {
		t.Errorf("a prompt allocates %v times", got)
	}
}

func TestRouterAllocations(t *testing.T) {
	w, err := router.New()
	if err != nil {
		t.Fatal(err)
	}
	if got := allocs(t, 20, func() error {
		out, err := w.Run(t.Context(), router.Input{Score: 0.5, Label: "draft"})
		if err == nil && out.Attempts != Iterations {
			err = wrong(out)
		}
		return err
	}); got > 3 {
		t.Errorf("a loop of %d iterations allocates %v times", Iterations, got)
	}
}

// The count is of the whole process: the server's side of a call is in it, as in that of the call by hand.
func TestFetchAllocations(t *testing.T) {
	c, err := Fetch()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	counts := map[string]float64{}
	const calls = 200 // in a run, so that its beginning does not count
	for _, k := range c.Cases {
		counts[k.Name] = allocs(t, 3, func() error { return k.Run(calls) }) / calls
	}
	if got := counts["flowgen"]; got > 85 {
		t.Errorf("a call allocates %v times: %v", got, counts)
	}
	if got := counts["flowgen, recorded"]; got > 85 {
		t.Errorf("a recorded call allocates %v times: %v", got, counts)
	}
}

// What an agent's turn costs does not depend on how many turns there were: each message is encoded once, and what is kept of
// a turn is what was new in it. By hand, with the conversation encoded in each turn, it does, which shows that one would see it.
func TestAgentIsLinear(t *testing.T) {
	c, err := Agent()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	s, err := model()
	if err != nil {
		t.Fatal(err)
	}
	hand := &agentByHand{client: &http.Client{Transport: &http.Transport{}}, url: s.base + "/chat/completions"}
	t.Cleanup(hand.client.CloseIdleConnections)
	secrets := runtime.WithSecrets(func(string) (string, bool) { return token, true })
	for _, x := range []struct {
		name string
		run  func(turns int) error
		most float64 // bytes of turns 101 to 200 beside those of turns 1 to 100
		per  float64 // allocations of a turn, of which four are the bound of its question
	}{
		{"flowgen", func(turns int) error {
			w, err := loop.New(secrets)
			if err != nil {
				return err
			}
			return agentRun(t.Context(), w, turns)
		}, 1.5, 213},
		{"recorded", func(turns int) error {
			w, err := loop.New(secrets, runtime.WithEngine(journal.NewRecorder()))
			if err != nil {
				return err
			}
			return agentRun(t.Context(), w, turns)
		}, 1.5, 213},
		{"by hand", func(turns int) error {
			_, _, err := hand.run(t.Context(), task(turns))
			return err
		}, 0, 310},
	} {
		bytes, counts := [3]float64{}, [3]float64{}
		for i, turns := range []int{1, 100, 200} {
			bytes[i], counts[i] = taken(t, func() error { return x.run(turns) })
		}
		first, second := bytes[1]-bytes[0], bytes[2]-bytes[1]
		t.Logf("%s: %.0f bytes and %.1f allocations for a turn of the first hundred, %.0f and %.1f of the second", x.name,
			first/99, (counts[1]-counts[0])/99, second/100, (counts[2]-counts[1])/100)
		grows := second / 100 / (first / 99)
		if x.most == 0 && grows < 1.7 {
			t.Errorf("%s: what is encoded again in each turn is not seen: %.2f", x.name, grows)
		}
		if x.most > 0 && grows > x.most {
			t.Errorf("%s: turns 101 to 200 take %.2f times the bytes of those before", x.name, grows)
		}
		if per := (counts[2] - counts[1]) / 100; per > x.per {
			t.Errorf("%s: a turn allocates %.1f times", x.name, per)
		}
	}
}

// taken is the fewest bytes and allocations of five runs of f, on one processor: each has its own buffers for later use.
func taken(t *testing.T, f func() error) (bytes, count float64) {
	t.Helper()
	defer goruntime.GOMAXPROCS(goruntime.GOMAXPROCS(1))
	bytes, count = math.Inf(1), math.Inf(1)
	for range 5 {
		var before, after goruntime.MemStats
		goruntime.ReadMemStats(&before)
		if err := f(); err != nil {
			t.Fatal(err)
		}
		goruntime.ReadMemStats(&after)
		bytes, count = min(bytes, float64(after.TotalAlloc-before.TotalAlloc)), min(count, float64(after.Mallocs-before.Mallocs))
	}
	return bytes, count
}

// Whatever is asked of the model begins with what was asked before, and the results of a turn's calls follow in the order
// of the calls.
func TestAgentRequests(t *testing.T) {
	s, err := model()
	if err != nil {
		t.Fatal(err)
	}
	w, err := loop.New(runtime.WithSecrets(func(string) (string, bool) { return token, true }))
	if err != nil {
		t.Fatal(err)
	}
	const turns = 30
	bodies, err := s.requests(func() error { return agentRun(t.Context(), w, turns) })
	if err != nil || len(bodies) != turns+1 {
		t.Fatalf("%d requests: %v", len(bodies), err)
	}
	for i, b := range bodies[1:] {
		if !bytes.HasPrefix(b, bytes.TrimSuffix(bodies[i], []byte("]}"))) {
			t.Errorf("request %d does not begin with the one before", i+1)
		}
	}
	var last chatRequest
	if err := json.Unmarshal(bodies[turns], &last); err != nil {
		t.Fatal(err)
	}
	messages := last.Messages[1:]
	for turn := range turns {
		if m := messages[0]; m.Role != "assistant" || len(m.ToolCalls) != Calls {
			t.Fatalf("turn %d: %+v", turn, m)
		}
		for i, m := range messages[1 : 1+Calls] {
			if want := fmt.Sprintf(`{"sum":%d}`, turn+i); m.Role != "tool" || m.ToolCallID != callID(turn, i) || m.Content != want {
				t.Errorf("turn %d, result %d: %+v, want %s", turn, i, m, want)
			}
		}
		messages = messages[1+Calls:]
	}
	if len(messages) != 0 {
		t.Errorf("%d messages more", len(messages))
	}
}

// A run that waits holds little on the heap; the rest is the stack of its goroutine. A recorded one holds its records, too.
func TestParkedMemory(t *testing.T) {
	all, err := Parked(2000)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		t.Logf("%s: heap %.0f, stack %.0f bytes", m.Name, m.Heap, m.Stack)
		limit := 4096.0 + 100 // what the program itself holds more at the end is shared out among the runs
		if m.Name == "flowgen, recorded" {
			const calls, record, entry = Nodes/2 + 1, 176, 24
			limit += calls*record + 2*calls*entry // the table is at most half empty
		}
		if m.Heap > limit {
			t.Errorf("%s holds %.0f bytes", m.Name, m.Heap)
		}
	}
}
