package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/internal/leaks"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/mcpserver"
	"github.com/flowgen-dev/flowgen/runtime/serve"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

func TestMain(m *testing.M) { leaks.Main(m) }

// order is what a generated package of a workflow is: it asks when there are many, and sends.
type order struct {
	Item  string `json:"item" flow:"min=1"`
	Count int64  `json:"count"`
}

type sent struct {
	Parcel string `json:"parcel"`
}

var (
	askNode  = &flow.Node{ID: "ask", Pos: "order.flowgen.yaml:8:3", Index: 0}
	sendNode = &flow.Node{ID: "send", Pos: "order.flowgen.yaml:9:3", Index: 1}
	info     = &flow.Info{Name: "order", Source: "order.flowgen.yaml", Nodes: []*flow.Node{askNode, sendNode}, Description: "Orders an item.",
		Input: []flow.Field{{Name: "item", Type: "string"}, {Name: "count", Type: "int", Default: "1"}}}
)

// shop is what the workflow calls.
type shop struct {
	sent  atomic.Int64
	hold  chan struct{} // not nil: parcels wait for it
	began chan struct{} // not nil: told of each parcel
}

type workflow struct {
	rt   *flow.Runtime
	shop *shop
}

func (w *workflow) Run(ctx context.Context, in order) (out sent, err error) {
	run := flow.Start(ctx, w.rt, in)
	defer flow.End(run, &out, &err)
	if in.Count > 10 {
		ok, err := flow.Ask[bool](run, askNode, runtime.Question{Text: "Really so many?"})
		if err != nil {
			return out, err
		}
		if !ok {
			return sent{"none"}, nil
		}
	}
	send := flow.Bind("shop.send@1", flow.External, func(ctx context.Context, in order) (string, error) {
		if w.shop.began != nil {
			w.shop.began <- struct{}{}
		}
		if w.shop.hold != nil {
			select {
			case <-w.shop.hold:
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}
		switch in.Item {
		case "unicorn":
			return "", value.Errorf(value.AuthRequired, "there are no unicorns")
		case "novel":
			return strings.Repeat("word ", 20_000), nil
		}
		w.shop.sent.Add(1)
		return in.Item, nil
	}, tool.Cancellable())
	out.Parcel, err = flow.Call(run, sendNode, send, in)
	return out, err
}

func (s *shop) new(o ...runtime.Option) (*workflow, error) {
	rt, err := flow.New(info, o...)
	return &workflow{rt, s}, err
}

// served is a Server with its parts.
type served struct {
	*mcpserver.Server
	serve *serve.Server
	url   string
}

func start(t *testing.T, shop *shop, so serve.Options, o mcpserver.Options) *served {
	t.Helper()
	so.Runs = runs.Open(t.TempDir(), runs.Options{})
	s, err := serve.Handler(so, serve.Of(info, shop.new))
	if err != nil {
		t.Fatal(err)
	}
	m, err := mcpserver.New(s, o)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", m)
	mux.Handle("/", s)
	h := httptest.NewServer(mux)
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = s.Shutdown(ctx) // its time is over
		m.Close()
		h.CloseClientConnections()
		h.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	return &served{m, s, h.URL}
}

// way is how a client reaches the server.
type way struct{ transport, version string }

func (w way) String() string { return w.transport + " " + w.version }

// ways are both transports with the first version, one with sessions, and one without.
var ways = []way{{"stdio", "2024-11-05"}, {"stdio", "2025-11-25"}, {"stdio", "2026-07-28"}, {"http", "2025-06-18"}, {"http", "2026-07-28"}}

func (s *served) connect(t *testing.T, w way, o *mcp.ClientOptions, token string) *mcp.ClientSession {
	t.Helper()
	var transport mcp.Transport
	if w.transport == "stdio" {
		in, toServer := io.Pipe()
		fromServer, out := io.Pipe()
		over := make(chan struct{})
		go func() {
			defer close(over)
			if err := s.Stdio(context.Background(), in, out); err != nil {
				t.Error(err)
			}
			_ = out.Close() // a pipe
		}()
		t.Cleanup(func() { <-over })
		transport = &mcp.IOTransport{Reader: fromServer, Writer: toServer}
	} else {
		transport = &mcp.StreamableClientTransport{Endpoint: s.url + "/mcp", HTTPClient: &http.Client{Transport: bearer(token)}, MaxRetries: -1}
	}
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o).Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: w.version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	if b != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+string(b))
	}
	return http.DefaultTransport.RoundTrip(r)
}

// answer is what calls return.
type answer struct {
	Run, State, Next string
	Output           *sent
	Error            *struct{ Code, Message string }
	Questions        []struct{ Key, Question, Type string }
	text             string
	failed           bool
	links            []string
}

func call(t *testing.T, c *mcp.ClientSession, name string, arguments any, meta ...any) *answer {
	t.Helper()
	p := &mcp.CallToolParams{Name: name, Arguments: arguments}
	if len(meta) > 0 {
		p.Meta = mcp.Meta{meta[0].(string): meta[1]}
	}
	r, err := c.CallTool(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return read(t, r)
}

func read(t *testing.T, r *mcp.CallToolResult) *answer {
	t.Helper()
	a := &answer{failed: r.IsError}
	for _, c := range r.Content {
		switch c := c.(type) {
		case *mcp.TextContent:
			a.text = c.Text
		case *mcp.ResourceLink:
			a.links = append(a.links, c.URI)
		}
	}
	if r.StructuredContent != nil {
		text, err := json.Marshal(r.StructuredContent)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, a); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

type args = map[string]any

func TestTools(t *testing.T) {
	s := start(t, &shop{}, serve.Options{}, mcpserver.Options{})
	c := s.connect(t, ways[1], nil, "")
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, l := range list.Tools {
		names = append(names, l.Name)
	}
	if got := strings.Join(names, " "); got != "order run_cancel run_list run_result" {
		t.Errorf("tools: %s", got)
	}
	text, err := json.Marshal(list.Tools[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"description":"Orders an item."`, `"item":{"minLength":1,"type":"string"}`, `"default":1`, `"required":["item"]`, `"parcel":{"type":"string"}`, `"required":["run","state"]`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
}

// A call waits for the end of its run, whatever the client's transport and version.
func TestCall(t *testing.T) {
	for _, w := range ways {
		t.Run(w.String(), func(t *testing.T) {
			shop := &shop{}
			s := start(t, shop, serve.Options{}, mcpserver.Options{})
			c := s.connect(t, w, nil, "")
			if a := call(t, c, "order", args{"item": "tea"}); a.failed || a.State != "succeeded" || a.Output.Parcel != "tea" || a.Run == "" {
				t.Errorf("%+v", a)
			} else if b := call(t, c, "run_result", args{"run": a.Run}); b.State != "succeeded" || b.Output.Parcel != "tea" {
				t.Errorf("%+v", b)
			}
			if a := call(t, c, "order", args{"item": "unicorn"}); !a.failed || a.State != "failed" || a.Error.Code != "AUTH_REQUIRED" || !strings.Contains(a.text, "there are no unicorns") {
				t.Errorf("%+v", a)
			}
			a := call(t, c, "order", args{"item": "novel"})
			if len(a.links) != 1 || a.Output != nil || !strings.Contains(a.Next, a.links[0]) {
				t.Fatalf("%+v", a)
			}
			r, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: a.links[0]})
			if err != nil || !strings.Contains(r.Contents[0].Text, "word word") {
				t.Errorf("%v", err)
			}
			if a := call(t, c, "run_list", args{"state": "succeeded", "limit": 1}); !strings.Contains(a.text, a.Run) || !strings.Contains(a.text, `"next":"`) {
				t.Errorf("%s", a.text)
			}
			if n := shop.sent.Load(); n != 1 {
				t.Errorf("%d parcels", n)
			}
		})
	}
}

// Calls that make no sense begin nothing, and say what is wrong.
func TestRefused(t *testing.T) {
	shop := &shop{}
	s := start(t, shop, serve.Options{MaxBody: 2000}, mcpserver.Options{MaxBody: 4000})
	for _, w := range []way{ways[1], ways[3], ways[4]} {
		c := s.connect(t, w, nil, "")
		for _, bad := range []struct {
			tool string
			args any
			want string
		}{
			{"order", nil, `field "item" is missing`},
			{"order", args{"item": 1}, "/item: item: a string expected"},
			{"order", args{"item": "tea", "colour": "red"}, `unknown field "colour"`},
			{"order", args{"item": ""}, "/item: "},
			{"order", args{"item": strings.Repeat("x", 3000)}, "more than 2000 bytes"},
			{"run_result", args{}, "NOT_FOUND"},
			{"run_result", args{"run": "../../etc/passwd"}, "NOT_FOUND"},
			{"run_result", args{"run": "order-none", "wait": 1}, `unknown argument "wait"; expected run`},
			{"run_result", args{"run": 7}, "an argument has the wrong type"},
			{"run_result", "text", "the arguments are not an object"},
			{"run_cancel", args{"run": "order-none"}, "NOT_FOUND"},
			{"run_list", args{"state": "odd"}, "state is one of"},
		} {
			if a := call(t, c, bad.tool, bad.args); !a.failed || !strings.Contains(a.text, bad.want) {
				t.Errorf("%s: %s %v: %+v", w, bad.tool, bad.args, a)
			}
		}
		if _, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "run_answer", Arguments: args{"run": "x", "answer": "y"}}); err == nil {
			t.Errorf("%s: run_answer is there", w)
		}
		for _, uri := range []string{"run://none", "run://none/output", "run://../../x", "file:///etc/passwd"} {
			if _, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}); err == nil {
				t.Errorf("%s: %s is read", w, uri)
			}
		}
	}
	if a := call(t, s.connect(t, ways[0], nil, ""), "run_list", nil); shop.sent.Load() != 0 || !strings.Contains(a.text, `"runs":[]`) {
		t.Errorf("something was begun: %s", a.text)
	}
}

// asked is a client whose person gives these answers, in turn.
func asked(said *[]string, answers ...*mcp.ElicitResult) *mcp.ClientOptions {
	var mu sync.Mutex
	return &mcp.ClientOptions{ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		mu.Lock()
		defer mu.Unlock()
		*said = append(*said, r.Params.Message)
		if len(answers) == 0 {
			return nil, fmt.Errorf("asked once more: %s", r.Params.Message)
		}
		a := answers[0]
		answers = answers[1:]
		return a, nil
	}}
}

func accept(v any) *mcp.ElicitResult {
	return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": v}}
}

// Questions go to the person behind the client, where it can ask.
func TestQuestions(t *testing.T) {
	for _, w := range ways {
		t.Run(w.String(), func(t *testing.T) {
			shop := &shop{}
			s := start(t, shop, serve.Options{}, mcpserver.Options{Respond: func(workflow string) string { return workflow + " respond " }})
			var said []string
			if a := call(t, s.connect(t, w, asked(&said, accept(true)), ""), "order", args{"item": "tea", "count": 11}); a.State != "succeeded" || a.Output.Parcel != "tea" {
				t.Errorf("%+v", a)
			}
			if got := strings.Join(said, "|"); got != "Really so many?" {
				t.Errorf("asked: %s", got)
			}
			if a := call(t, s.connect(t, w, asked(&said, accept(false)), ""), "order", args{"item": "tea", "count": 11}); a.State != "succeeded" || a.Output.Parcel != "none" {
				t.Errorf("%+v", a)
			}
			// A person who does not want to, and a client that cannot ask: the run waits.
			a := call(t, s.connect(t, w, asked(&said, &mcp.ElicitResult{Action: "decline"}), ""), "order", args{"item": "tea", "count": 11})
			if a.failed || a.State != "waiting" || !strings.HasPrefix(a.Next, "nobody has answered; a user answers with: order respond "+a.Run) || a.Questions[0].Type != "bool" {
				t.Errorf("%+v", a)
			}
			silent := s.connect(t, w, nil, "")
			if a := call(t, silent, "run_result", args{"run": a.Run}); a.State != "waiting" {
				t.Errorf("%+v", a)
			}
			// Another client can ask for the same run.
			if b := call(t, s.connect(t, w, asked(&said, accept(true)), ""), "run_result", args{"run": a.Run}); b.State != "succeeded" || b.Run != a.Run {
				t.Errorf("%+v", b)
			}
			if n := shop.sent.Load(); n != 2 {
				t.Errorf("%d parcels", n)
			}
		})
	}
}

// A model answers only where that is allowed.
func TestModelMayAnswer(t *testing.T) {
	s := start(t, &shop{}, serve.Options{}, mcpserver.Options{ModelMayAnswer: true})
	c := s.connect(t, ways[2], nil, "")
	a := call(t, c, "order", args{"item": "tea", "count": 11})
	if a.State != "waiting" || !strings.Contains(a.Next, "run_answer") {
		t.Fatalf("%+v", a)
	}
	if b := call(t, c, "run_answer", args{"run": a.Run, "answer": "perhaps"}); !b.failed || !strings.Contains(b.text, "The answer is not valid") {
		t.Errorf("%+v", b)
	}
	if b := call(t, c, "run_answer", args{"run": a.Run, "key": "other", "answer": true}); !b.failed || !strings.Contains(b.text, "NOT_FOUND") {
		t.Errorf("%+v", b)
	}
	if b := call(t, c, "run_answer", args{"run": a.Run, "answer": true}); b.State != "succeeded" {
		t.Errorf("%+v", b)
	}
	if b := call(t, c, "run_answer", args{"run": a.Run, "answer": true}); !b.failed {
		t.Errorf("%+v", b)
	}
}

// Progress comes by time. A call that has waited long enough says how to ask again.
func TestProgress(t *testing.T) {
	for _, w := range ways {
		t.Run(w.String(), func(t *testing.T) {
			shop := &shop{hold: make(chan struct{})}
			s := start(t, shop, serve.Options{}, mcpserver.Options{Beat: 5 * time.Millisecond, Wait: time.Second})
			seen := make(chan *mcp.ProgressNotificationParams, 1000)
			c := s.connect(t, w, &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
				select {
				case seen <- r.Params:
				default:
				}
			}}, "")
			var a *answer
			var told []float64
			for n := 0; len(told) < 2; n++ { // a machine that is busy may tell too little within the wait
				token := fmt.Sprint("p", n)
				told = nil
				a = call(t, c, "order", args{"item": "tea"}, "progressToken", token)
				if a.State != "running" || !strings.Contains(a.Next, "call run_result") {
					t.Fatalf("%+v", a)
				}
				for late := false; len(told) < 2 && !late; {
					select {
					case p := <-seen:
						if p.ProgressToken == token {
							told = append(told, p.Progress)
						}
					case <-time.After(5 * time.Second):
						late = true
					}
				}
			}
			if told[1] <= told[0] {
				t.Errorf("progress %v", told)
			}
			close(shop.hold)
			for a.State == "running" {
				a = call(t, c, "run_result", args{"run": a.Run})
			}
			if a.State != "succeeded" {
				t.Errorf("%+v", a)
			}
		})
	}
}

// A request that is cancelled leaves its run alone, unless the server is told otherwise; run_cancel stops one for good.
func TestCancel(t *testing.T) {
	for _, w := range ways {
		for _, with := range []bool{false, true} {
			t.Run(fmt.Sprint(w, " ", with), func(t *testing.T) {
				shop := &shop{hold: make(chan struct{}), began: make(chan struct{}, 10)}
				s := start(t, shop, serve.Options{}, mcpserver.Options{CancelWithRequest: with})
				c := s.connect(t, w, nil, "")
				ctx, cancel := context.WithCancel(t.Context())
				over := make(chan error)
				go func() {
					_, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "order", Arguments: args{"item": "tea"}, Meta: mcp.Meta{"flowgen.dev/idempotency-key": "k"}})
					over <- err
				}()
				<-shop.began
				cancel()
				if err := <-over; err == nil {
					t.Fatal("the call has not ended")
				}
				var list struct{ Runs []struct{ ID, State string } }
				want := map[bool]string{false: "running", true: "cancelled"}[with]
				for {
					a := call(t, c, "run_list", nil)
					if err := json.Unmarshal([]byte(a.text), &list); err != nil {
						t.Fatal(err)
					}
					if state := list.Runs[0].State; state == want {
						break
					} else if state != "running" {
						t.Fatalf("the run is %s", state)
					}
				}
				if with {
					return
				}
				if a := call(t, c, "run_cancel", args{"run": list.Runs[0].ID}); a.failed || a.State != "cancelled" {
					t.Errorf("%+v", a)
				}
				if a := call(t, c, "run_cancel", args{"run": list.Runs[0].ID}); !a.failed || !strings.Contains(a.text, "it was cancelled") {
					t.Errorf("%+v", a)
				}
			})
		}
	}
}

// Calls with one key are one run.
func TestIdempotencyKey(t *testing.T) {
	shop := &shop{}
	s := start(t, shop, serve.Options{}, mcpserver.Options{})
	c := s.connect(t, ways[4], nil, "")
	var all sync.WaitGroup
	var mu sync.Mutex
	ids := map[string]int{}
	for range 50 {
		all.Go(func() {
			a := call(t, c, "order", args{"item": "tea"}, "flowgen.dev/idempotency-key", "one")
			mu.Lock()
			defer mu.Unlock()
			ids[a.Run]++
		})
	}
	all.Wait()
	if len(ids) != 1 || shop.sent.Load() != 1 {
		t.Errorf("%d parcels, %v", shop.sent.Load(), ids)
	}
	if a := call(t, c, "order", args{"item": "coffee"}, "flowgen.dev/idempotency-key", "one"); !a.failed || !strings.Contains(a.text, "KEY_REUSED") {
		t.Errorf("%+v", a)
	}
}
