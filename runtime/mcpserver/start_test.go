package mcpserver_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/mcpserver"
	"github.com/flowgen-dev/flowgen/runtime/serve"
)

// A tool that begins a run does not wait for it, and is asked about it later.
func TestStart(t *testing.T) {
	for _, w := range ways {
		t.Run(w.String(), func(t *testing.T) {
			shop := &shop{hold: make(chan struct{}), began: make(chan struct{}, 2)}
			s := start(t, shop, serve.Options{}, mcpserver.Options{Async: true})
			c := s.connect(t, w, nil, "")
			const key = "flowgen.dev/idempotency-key"
			a := call(t, c, "order_start", args{"item": "tea"}, key, "k")
			if a.failed || a.State != "running" || !strings.Contains(a.Next, "run_result") {
				t.Fatalf("%+v", a)
			}
			if b := call(t, c, "order_start", args{"item": "tea"}, key, "k"); b.Run != a.Run {
				t.Errorf("%+v", b)
			}
			if b := call(t, c, "order_start", args{"item": 7}); !b.failed || !strings.Contains(b.text, "/item: item: a string expected") {
				t.Errorf("%+v", b)
			}
			<-shop.began
			close(shop.hold)
			if b := call(t, c, "run_result", args{"run": a.Run}); b.State != "succeeded" || b.Output.Parcel != "tea" || shop.sent.Load() != 1 {
				t.Errorf("%d parcels, %+v", shop.sent.Load(), b)
			}
		})
	}
}

// Workflows that ask people, have a loop, or may take longer than a call waits can be begun without waiting.
func TestWhoStarts(t *testing.T) {
	for name, c := range map[string]struct {
		facts string
		want  bool
	}{
		"nothing is known": {`{}`, false},
		"a step":           {`{"plan":{"plan":1,"parts":[{"kind":"step","node":"send"}],"flows":[],"at_most":{"max_time":"10s"}}}`, false},
		"a person":         {`{"manifest":{"manifest":1,"effects":[],"people":["ask"]}}`, true},
		"a loop":           {`{"plan":{"plan":1,"parts":[{"kind":"if","parts":[{"kind":"repeat","parts":[]}]}],"flows":[]}}`, true},
		"a loop of a flow": {`{"plan":{"plan":1,"parts":[],"flows":[{"parts":[{"kind":"step","max_iterations":3}]}]}}`, true},
		"much time":        {`{"plan":{"plan":1,"parts":[],"at_most":{"max_time":"1m0s"}}}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			about := *info
			about.Facts = flow.NewFacts(c.facts)
			s, err := serve.Handler(serve.Options{Runs: runs.Open(t.TempDir(), runs.Options{})}, serve.Of(&about, func(o ...runtime.Option) (*workflow, error) {
				rt, err := flow.New(&about, o...)
				return &workflow{rt, &shop{}}, err
			}))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Shutdown(context.Background()) }) // nothing runs
			m, err := mcpserver.New(s, mcpserver.Options{})
			if err != nil {
				t.Fatal(err)
			}
			list, err := (&served{Server: m, serve: s}).connect(t, ways[1], nil, "").ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := slices.ContainsFunc(list.Tools, func(l *mcp.Tool) bool { return l.Name == "order_start" }); got != c.want {
				t.Errorf("there is one: %v", got)
			}
		})
	}
}

// The graph of a workflow is a resource.
func TestGraph(t *testing.T) {
	s := start(t, &shop{}, serve.Options{}, mcpserver.Options{Graph: func(name string) string { return "flowchart TD\n  " + name + "\n" }})
	c := s.connect(t, ways[4], nil, "")
	r, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "workflow://order/graph.mmd"})
	if err != nil || r.Contents[0].Text != "flowchart TD\n  order\n" || r.Contents[0].MIMEType != "text/vnd.mermaid" {
		t.Errorf("%+v %v", r, err)
	}
}

// One key of many clients at once begins one run.
func TestOneKey(t *testing.T) {
	shop := &shop{}
	s := start(t, shop, serve.Options{}, mcpserver.Options{})
	var all sync.WaitGroup
	var mu sync.Mutex
	ids := map[string]bool{}
	for n := range 100 {
		c := s.connect(t, ways[3+n%2], nil, "")
		all.Go(func() {
			a := call(t, c, "order", args{"item": "tea"}, "flowgen.dev/idempotency-key", "k")
			mu.Lock()
			defer mu.Unlock()
			if ids[a.Run] = true; a.State != "succeeded" {
				t.Errorf("%+v", a)
			}
		})
	}
	all.Wait()
	if len(ids) != 1 || shop.sent.Load() != 1 {
		t.Errorf("%d runs, %d parcels", len(ids), shop.sent.Load())
	}
}
