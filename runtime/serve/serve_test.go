package serve_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/internal/leaks"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
	"github.com/flowgen-dev/flowgen/runtime/serve"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

func TestMain(m *testing.M) { leaks.Main(m) }

// pay is what a generated package of a workflow is: it asks when the amount is large, then pays.
type payInput struct {
	To    string `json:"to" flow:"min=1"`
	Euros int64  `json:"euros" flow:"min=1"`
	Note  string `json:"note"`
}

type payOutput struct {
	Paid *string `json:"paid"`
}

var (
	askNode = &flow.Node{ID: "ask", Pos: "pay.flowgen.yaml:8:3", Index: 0}
	payNode = &flow.Node{ID: "pay", Pos: "pay.flowgen.yaml:9:3", Index: 1}
	payInfo = &flow.Info{Name: "pay", Source: "pay.flowgen.yaml", Nodes: []*flow.Node{askNode, payNode},
		Input: []flow.Field{{Name: "to", Type: "string"}, {Name: "euros", Type: "int"}, {Name: "note", Type: "string", Default: `"none"`}},
		Facts: flow.NewFacts(`{"hashes":{"graph":"g1","nodes":{"ask":"a1","pay":"p1"}}}`)}
)

// bank is what pay calls.
type bank struct {
	paid  atomic.Int64
	hold  chan struct{} // not nil: payments wait for it
	began chan struct{} // not nil: told of each payment
}

type payFlow struct {
	rt   *flow.Runtime
	bank *bank
}

func (b *bank) new(o ...runtime.Option) (*payFlow, error) {
	rt, err := flow.New(payInfo, o...)
	return &payFlow{rt, b}, err
}

func (w *payFlow) Run(ctx context.Context, in payInput) (out payOutput, err error) {
	run := flow.Start(ctx, w.rt, in)
	defer flow.End(run, &out, &err)
	if in.Euros > 100 {
		ok, err := flow.Ask[string](run, askNode, runtime.Question{Text: "Pay " + in.To + "?", Choices: []string{"yes", "no"}})
		if err != nil || ok == "no" {
			return out, err
		}
	}
	pay := flow.Bind("bank.pay@1", flow.External, func(ctx context.Context, in payInput) (string, error) {
		if w.bank.began != nil {
			w.bank.began <- struct{}{}
		}
		if w.bank.hold != nil {
			select {
			case <-w.bank.hold:
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}
		if in.To == "nobody" {
			return "", value.Errorf(value.AuthRequired, "there is no account of nobody")
		}
		if in.To == "panic" {
			panic("secret stack")
		}
		w.bank.paid.Add(1)
		return in.To, nil
	}, tool.Cancellable())
	out.Paid, err = flow.Some(flow.Call(run, payNode, pay, in))
	return out, err
}

// service is a Server with real HTTP in front of it.
type service struct {
	*serve.Server
	url string
}

func start(t *testing.T, dir string, b *bank, o serve.Options) *service {
	t.Helper()
	if o.Runs == nil {
		o.Runs = runs.Open(dir, runs.Options{})
	}
	s, err := serve.Handler(o, serve.Of(payInfo, b.new))
	if err != nil {
		t.Fatal(err)
	}
	return served(t, s)
}

// served puts HTTP in front of a server.
func served(t *testing.T, s *serve.Server) *service {
	h := httptest.NewServer(s)
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = s.Shutdown(ctx) // a second one, in some tests
		h.CloseClientConnections()
		h.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	return &service{s, h.URL}
}

type answer struct {
	status int
	header http.Header
	text   string

	ID, State, Workflow, Code, Detail, Instance, Next string
	Output                                            *struct{ Paid *string }
	Error                                             *struct{ Code, Message, Key string }
	Errors                                            []struct{ Pointer, Code, Detail string }
	Questions                                         []struct{ Run, Key, Question string }
	Runs                                              []struct{ ID, State string }
	Calls                                             []struct{ Name string }
}

func (s *service) do(t *testing.T, method, path, body string, header ...string) *answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	a := &answer{status: resp.StatusCode, header: resp.Header, text: string(text)}
	if len(text) > 0 && text[0] == '{' {
		if err := json.Unmarshal(text, a); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	return a
}

func (s *service) want(t *testing.T, status int, method, path, body string, header ...string) *answer {
	t.Helper()
	a := s.do(t, method, path, body, header...)
	if a.status != status {
		t.Fatalf("%s %s %s: %d, want %d: %s", method, path, body, a.status, status, a.text)
	}
	if status >= 400 && (a.header.Get("Content-Type") != "application/problem+json" || a.Code == "") {
		t.Errorf("%s %s: not a problem: %v %s", method, path, a.header, a.text)
	}
	return a
}

const start10 = "/v1/workflows/pay/runs"

// A run is begun, looked at, listed, and its output is there.
func TestRun(t *testing.T) {
	b := &bank{}
	s := start(t, t.TempDir(), b, serve.Options{ExposeCalls: true})
	a := s.want(t, 201, "POST", start10, `{"to": "ada", "euros": 3}`, "Prefer", "wait=30")
	if a.State != "succeeded" || a.Output == nil || *a.Output.Paid != "ada" || a.header.Get("Location") != "/v1/runs/"+a.ID || a.header.Get("Preference-Applied") != "wait=30" {
		t.Errorf("%+v", a)
	}
	one := s.want(t, 200, "GET", "/v1/runs/"+a.ID, "")
	if one.State != "succeeded" || *one.Output.Paid != "ada" || one.Workflow != "pay" {
		t.Errorf("%+v", one)
	}
	s.want(t, 304, "GET", "/v1/runs/"+a.ID, "", "If-None-Match", one.header.Get("ETag"))
	if out := s.want(t, 200, "GET", "/v1/runs/"+a.ID+"/output", ""); out.text != `{"paid":"ada"}`+"\n" {
		t.Errorf("%s", out.text)
	}
	if calls := s.want(t, 200, "GET", "/v1/runs/"+a.ID+"/calls", ""); len(calls.Calls) != 1 || calls.Calls[0].Name != "bank.pay" {
		t.Errorf("%s", calls.text)
	}
	later := s.want(t, 202, "POST", start10, `{"to": "bob", "euros": 4}`, "Prefer", "respond-async")
	if later.header.Get("Preference-Applied") != "respond-async" || later.State != "running" && later.State != "succeeded" {
		t.Errorf("%+v", later)
	}
	s.waitFor(t, later.ID, "succeeded")
	list := s.want(t, 200, "GET", "/v1/runs?workflow=pay&limit=1", "")
	if len(list.Runs) != 1 || list.Runs[0].ID != later.ID || list.Next != later.ID {
		t.Errorf("%s", list.text)
	}
	list = s.want(t, 200, "GET", "/v1/runs?state=succeeded&before="+list.Next, "")
	if len(list.Runs) != 1 || list.Runs[0].ID != a.ID || list.Next != "" {
		t.Errorf("%s", list.text)
	}
	s.want(t, 204, "DELETE", "/v1/runs/"+a.ID, "")
	s.want(t, 404, "GET", "/v1/runs/"+a.ID, "")
	if w := s.want(t, 200, "GET", "/v1/workflows/pay", ""); !strings.Contains(w.text, `"name":"pay"`) {
		t.Errorf("%s", w.text)
	}
}

// waitFor reads the events of a run until it is in a state.
func (s *service) waitFor(t *testing.T, id, state string) *answer {
	t.Helper()
	for e := range s.follow(t, id, 0) {
		if e.Kind == "run_end" && e.State == state {
			break
		}
	}
	return s.want(t, 200, "GET", "/v1/runs/"+id, "")
}

type event struct {
	id, name string
	Kind     string
	Line     int
	Key      string
	State    string
	Message  string
	By       string
}

// follow yields the events of a run behind a line.
func (s *service) follow(t *testing.T, id string, from int) func(func(event) bool) {
	return func(yield func(event) bool) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, "GET", s.url+"/v1/runs/"+id+"/events", nil)
		if err != nil {
			t.Error(err)
			return
		}
		if from > 0 {
			r.Header.Set("Last-Event-ID", itoa(from))
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Error(err)
			return
		}
		defer resp.Body.Close()
		var e event
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			name, text, _ := strings.Cut(lines.Text(), ": ")
			switch name {
			case "event":
				e.name = text
			case "id":
				e.id = text
			case "data":
				if err := json.Unmarshal([]byte(text), &e); err != nil {
					t.Error(err)
				}
			case "":
				if e.name != "" && !yield(e) {
					return
				}
				e = event{}
			}
		}
	}
}

func itoa(n int) string { return value.JSON(n) }

// A run that asks somebody waits, is answered and goes on, with all of it in its events.
func TestAnswer(t *testing.T) {
	b := &bank{}
	dir := t.TempDir()
	s := start(t, dir, b, serve.Options{})
	a := s.want(t, 202, "POST", start10, `{"to": "ada", "euros": 300}`, "Prefer", "wait=30")
	if a.State != "waiting" || len(a.Questions) != 1 || a.Questions[0].Key != "ask" {
		t.Fatalf("%s", a.text)
	}
	if all := s.want(t, 200, "GET", "/v1/questions", ""); len(all.Questions) != 1 || all.Questions[0].Run != a.ID {
		t.Errorf("%s", all.text)
	}
	url := "/v1/runs/" + a.ID + "/questions/ask"
	s.want(t, 200, "GET", url, "")
	s.want(t, 404, "GET", url+"2", "")
	s.want(t, 409, "GET", "/v1/runs/"+a.ID+"/output", "")
	wrong := s.want(t, 422, "PUT", url, `{"answer": "perhaps"}`)
	if len(wrong.Errors) != 1 || wrong.Errors[0].Pointer != "/answer" || !strings.Contains(wrong.Errors[0].Detail, "none of yes, no") {
		t.Errorf("%s", wrong.text)
	}
	s.want(t, 422, "PUT", url, `{"answer": [1]}`)
	s.want(t, 422, "PUT", url, `{}`)
	s.want(t, 404, "PUT", "/v1/runs/"+a.ID+"/questions/other", `{"answer": "yes"}`)
	s.want(t, 404, "PUT", "/v1/runs/unknown/questions/ask", `{"answer": "yes"}`)
	done := s.want(t, 200, "PUT", url, `{"answer": "yes"}`, "Prefer", "wait=30")
	if done.State != "succeeded" || *done.Output.Paid != "ada" || b.paid.Load() != 1 {
		t.Errorf("%s", done.text)
	}
	if late := s.want(t, 410, "PUT", url, `{"answer": "no"}`); late.Code != "ENDED" {
		t.Errorf("%s", late.text)
	}
	var kinds []string
	for e := range s.follow(t, a.ID, 0) {
		kinds = append(kinds, e.Kind)
		if e.name != e.Kind || e.id != itoa(e.Line) {
			t.Errorf("%+v", e)
		}
	}
	if got := strings.Join(kinds, " "); got != "run_start question run_end answer resume question node_end node_start node_end run_end" {
		t.Errorf("%s", got)
	}
}

// What is wrong with a request is said, and nothing begins.
func TestRefused(t *testing.T) {
	b := &bank{}
	s := start(t, t.TempDir(), b, serve.Options{MaxBody: 1000})
	for _, c := range []struct {
		status             int
		method, path, body string
		header             string
		want               string
	}{
		{404, "POST", "/v1/workflows/other/runs", `{}`, "", "unknown workflow"},
		{404, "GET", "/v1/nothing", "", "", "/v1/openapi.json"},
		{404, "GET", "/v1/runs/x", "", "", ""},
		{404, "GET", "/v1/runs/..%2f..%2fetc", "", "", ""},
		{404, "GET", "/v1/runs/x/events", "", "", ""},
		{404, "POST", "/v1/runs/x/cancel", "", "", ""},
		{400, "POST", start10, `{"to": `, "", "not JSON"},
		{400, "POST", start10, `{"to": "a", "to": "b"}`, "", "twice"},
		{400, "POST", start10, `{"to": "a"} {}`, "", ""},
		{415, "POST", start10, "", "", "application/json"},
		{413, "POST", start10, `{"to": "` + strings.Repeat("a", 2000) + `"}`, "", "1000 bytes"},
		{422, "POST", start10, `[]`, "", ""},
		{422, "POST", start10, `null`, "", ""},
		{422, "POST", start10, `{"to": "", "euros": 1}`, "", `"/to"`},
		{422, "POST", start10, `{"to": "a", "euros": "1"}`, "", `"/euros"`},
		{422, "POST", start10, `{"to": "a", "euros": 1.5}`, "", `"/euros"`},
		{422, "POST", start10, `{"euros": "1"}`, "", `{"pointer":"","code":"VALIDATION_ERROR","detail":"field \"to\" is missing"}`},
		{422, "POST", start10, `{"to": "a", "euros": 0}`, "", `"/euros"`},
		{422, "POST", start10, `{"euros": 1, "tu": 1}`, "", `"tu\"`},
		{400, "POST", start10, `{"to": "a", "euros": 1}`, "Prefer: wait=soon", "wait=10"},
		{400, "POST", start10, `{"to": "a", "euros": 1}`, "Idempotency-Key: ", "1 to 255"},
		{400, "POST", start10, `{"to": "a", "euros": 1}`, "Idempotency-Key: " + strings.Repeat("a", 256), "1 to 255"},
		{400, "GET", "/v1/runs?sate=x", "", "", "state"},
		{400, "GET", "/v1/runs?state=x", "", "", "state is one of"},
		{400, "GET", "/v1/runs?limit=0", "", "", "limit"},
		{400, "GET", "/v1/runs?before=x", "", "", "before"},
	} {
		name, v, _ := strings.Cut(c.header, ": ")
		var header []string
		if name != "" {
			header = []string{name, v}
		}
		if a := s.want(t, c.status, c.method, c.path, c.body, header...); !strings.Contains(a.text, c.want) || strings.Contains(a.text, ".go:") {
			t.Errorf("%s %s: %s lacks %s", c.path, c.body, a.text, c.want)
		}
	}
	if list := s.want(t, 200, "GET", "/v1/runs", ""); len(list.Runs) != 0 || b.paid.Load() != 0 {
		t.Errorf("something began: %s", list.text)
	}
}

// A run that fails is not a failed request, unless that is asked for.
func TestFailed(t *testing.T) {
	s := start(t, t.TempDir(), &bank{}, serve.Options{})
	a := s.want(t, 201, "POST", start10, `{"to": "nobody", "euros": 3}`, "Prefer", "wait=30")
	if a.State != "failed" || a.Error == nil || a.Error.Code != "AUTH_REQUIRED" || a.Error.Key != "pay" {
		t.Errorf("%s", a.text)
	}
	if again := s.want(t, 200, "GET", "/v1/runs/"+a.ID, ""); *again.Error != *a.Error {
		t.Errorf("%s and %s", again.text, a.text)
	}
	s.want(t, 424, "GET", "/v1/runs/"+a.ID+"/output", "")
	s.want(t, 424, "POST", start10+"?fail=status", `{"to": "nobody", "euros": 3}`, "Prefer", "wait=30")
	p := s.want(t, 201, "POST", start10, `{"to": "panic", "euros": 3}`, "Prefer", "wait=30")
	if p.State != "failed" || strings.Contains(p.text, "goroutine") || strings.Contains(p.text, ".go:") {
		t.Errorf("%s", p.text)
	}
}

// A key begins one run, however often and from wherever it is sent, also behind a restart.
func TestIdempotencyKey(t *testing.T) {
	b, dir := &bank{}, t.TempDir()
	s := start(t, dir, b, serve.Options{})
	ids := map[string]int{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			a := s.do(t, "POST", start10, `{"to": "ada", "euros": 3}`, "Idempotency-Key", "k", "Prefer", "wait=30")
			mu.Lock()
			defer mu.Unlock()
			ids[a.ID]++
			if a.status != 200 && a.status != 201 || a.State != "succeeded" {
				t.Errorf("%d %s", a.status, a.text)
			}
		})
	}
	all.Wait()
	if len(ids) != 1 || b.paid.Load() != 1 {
		t.Fatalf("%v, paid %d times", ids, b.paid.Load())
	}
	id := slices.Collect(maps.Keys(ids))[0]
	reused := s.want(t, 422, "POST", start10, `{"to": "ada", "euros": 4}`, "Idempotency-Key", "k")
	if reused.Code != "KEY_REUSED" || reused.Instance != "/v1/runs/"+id {
		t.Errorf("%s", reused.text)
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.want(t, 503, "POST", start10, `{"to": "ada", "euros": 3}`)
	s = start(t, dir, b, serve.Options{})
	a := s.want(t, 200, "POST", start10, `{"note": "none", "euros": 3, "to": "ada"}`, "Idempotency-Key", "k")
	if a.ID != id || a.State != "succeeded" || b.paid.Load() != 1 {
		t.Errorf("%s, paid %d times", a.text, b.paid.Load())
	}
	if other := s.want(t, 202, "POST", start10, `{"to": "ada", "euros": 3}`, "Idempotency-Key", "l"); other.ID == id {
		t.Errorf("%s", other.text)
	}
}

// unsteady is a disk whose reads take now a short, now a long time: what they have found may be no longer so.
type unsteady struct{ wal.Disk }

func (d unsteady) ReadFile(name string) ([]byte, error) {
	data, err := d.Disk.ReadFile(name)
	for range rand.N(2000) {
		goruntime.Gosched()
	}
	return data, err
}

// Of two inputs that are sent with one key at the same time, one begins the run, and the other is refused wherever it is sent.
func TestOneInput(t *testing.T) {
	b := &bank{}
	dir := t.TempDir()
	s := start(t, dir, b, serve.Options{Runs: runs.Open(dir, runs.Options{Disk: unsteady{wal.OS}})})
	for round := range 5 {
		key := fmt.Sprintf("k%d", round)
		var mu sync.Mutex
		var all sync.WaitGroup
		known := map[int]map[int]int{3: {}, 4: {}} // euros: status: answers
		for i := range 20 {
			all.Go(func() {
				euros := 3 + i%2
				a := s.do(t, "POST", start10, fmt.Sprintf(`{"to": "ada", "euros": %d}`, euros), "Idempotency-Key", key, "Prefer", "wait=30")
				mu.Lock()
				defer mu.Unlock()
				known[euros][min(a.status, 202)]++
				if a.status > 201 && (a.status != 422 || a.Code != "KEY_REUSED") {
					t.Errorf("%d %s", a.status, a.text)
				}
			})
		}
		all.Wait()
		if len(known[3]) == 0 || len(known[4]) == 0 || (known[3][202] == 10) == (known[4][202] == 10) {
			t.Errorf("%v", known)
		}
		for _, got := range known {
			if got[202] != 0 && got[202] != 10 {
				t.Errorf("%v", known)
			}
		}
		if n := b.paid.Load(); n != int64(round+1) {
			t.Errorf("paid %d times", n)
		}
	}
}

// Runs beyond the limits are refused; those that wait for their turn are recorded, and can be cancelled.
func TestLimits(t *testing.T) {
	b := &bank{hold: make(chan struct{}), began: make(chan struct{}, 10)}
	s := start(t, t.TempDir(), b, serve.Options{MaxRuns: 1, MaxQueue: 1, Full: 1})
	first := s.want(t, 202, "POST", start10, `{"to": "a", "euros": 1}`)
	<-b.began
	second := s.want(t, 202, "POST", start10, `{"to": "b", "euros": 1}`)
	full := s.want(t, 429, "POST", start10, `{"to": "c", "euros": 1}`)
	if full.Code != "QUEUE_FULL" || full.header.Get("Retry-After") != "1" {
		t.Errorf("%v %s", full.header, full.text)
	}
	admin := httptest.NewRecorder()
	s.Admin().ServeHTTP(admin, httptest.NewRequest("GET", "/readyz", nil))
	if admin.Code != 503 {
		t.Errorf("ready with a full queue")
	}
	if c := s.want(t, 202, "POST", "/v1/runs/"+second.ID+"/cancel", `{}`, "Prefer", "wait=30"); c.State != "cancelled" {
		t.Errorf("%s", c.text)
	}
	s.want(t, 409, "POST", "/v1/runs/"+second.ID+"/cancel", `{}`)
	s.want(t, 410, "GET", "/v1/runs/"+second.ID+"/output", "")
	close(b.hold)
	s.waitFor(t, first.ID, "succeeded")
	if b.paid.Load() != 1 {
		t.Errorf("paid %d times", b.paid.Load())
	}
	admin = httptest.NewRecorder()
	s.Admin().ServeHTTP(admin, httptest.NewRequest("GET", "/metrics", nil))
	for _, want := range []string{`flowgen_runs_total{workflow="pay",outcome="cancelled"} 1`, `flowgen_calls_total{tool="bank.pay@1",code="OK"} 1`, `http_response_status_code="429"} 1`, `flowgen_queue_length 0`} {
		if !strings.Contains(admin.Body.String(), want) {
			t.Errorf("no %s in\n%s", want, admin.Body)
		}
	}
}

// A question is answered with no by cancelling the run that has asked.
func TestCancelWaiting(t *testing.T) {
	s := start(t, t.TempDir(), &bank{}, serve.Options{})
	a := s.want(t, 202, "POST", start10, `{"to": "ada", "euros": 300}`, "Prefer", "wait=30")
	if c := s.want(t, 202, "POST", "/v1/runs/"+a.ID+"/cancel", `{}`, "Prefer", "wait=30"); c.State != "cancelled" || a.State != "waiting" {
		t.Errorf("%s, %s", a.text, c.text)
	}
	s.want(t, 410, "PUT", "/v1/runs/"+a.ID+"/questions/ask", `{"answer": "yes"}`)
}

// Runs that do not end in time are stopped, and the next server goes on with them.
func TestShutdown(t *testing.T) {
	b, dir := &bank{hold: make(chan struct{}), began: make(chan struct{}, 10)}, t.TempDir()
	s := start(t, dir, b, serve.Options{MaxRuns: 1})
	a := s.want(t, 202, "POST", start10, `{"to": "ada", "euros": 3}`)
	<-b.began
	queued := s.want(t, 202, "POST", start10, `{"to": "bob", "euros": 3}`)
	bye := make(chan string, 1)
	follow := s.follow(t, a.ID, 0)
	seen := make(chan struct{})
	go func() {
		last := ""
		for e := range follow {
			if last == "" {
				close(seen)
			}
			last = e.Kind
		}
		bye <- last
	}()
	<-seen
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Shutdown(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if last := <-bye; last != "bye" {
		t.Errorf("the stream ended with %s", last)
	}
	close(b.hold)
	s = start(t, dir, b, serve.Options{})
	if r := s.waitFor(t, queued.ID, "succeeded"); r.State != "succeeded" {
		t.Errorf("%s", r.text)
	}
	r := s.want(t, 200, "GET", "/v1/runs/"+a.ID, "")
	for r.State == "running" {
		r = s.want(t, 200, "GET", "/v1/runs/"+a.ID, "")
	}
	if r.State == "in_doubt" { // its call has been cut off
		r = s.want(t, 202, "POST", "/v1/runs/"+a.ID+"/resume", `{"in_doubt": {"pay": "again"}}`, "Prefer", "wait=30")
	}
	if r.State != "succeeded" || b.paid.Load() != 2 {
		t.Errorf("%s, paid %d times", r.text, b.paid.Load())
	}
}

// Who may not do something is refused, and runs of other tenants do not exist.
func TestTenants(t *testing.T) {
	const sums = "sha256=4c806362b613f7496abf284146efd31da90e4b16169fe001841ca17290f427c4 name=anna tenant=one\n" + // a
		"# b\n\nsha256=44dfd9b5b1bf8a0b4ed7bfc8e0a1b8a3c2a3d0cf2a0a1bd5f9bd1d0d0d0d0d0d name=none tenant=two rights=read\n"
	if _, err := serve.Tokens(strings.NewReader("sha256=12 name=x")); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("%v", err)
	}
	if _, err := serve.Tokens(strings.NewReader(sums)); err != nil {
		t.Errorf("%v", err)
	}
	auth := func(r *http.Request) (serve.Principal, error) {
		switch r.Header.Get("Authorization") {
		case "Bearer anna":
			return serve.Principal{Name: "anna", Tenant: "one"}, nil
		case "Bearer bert":
			return serve.Principal{Name: "bert", Tenant: "two"}, nil
		case "Bearer reader":
			return serve.Principal{Name: "reader", Tenant: "one", Rights: []serve.Right{serve.MayRead}}, nil
		case "Bearer foreign":
			return serve.Principal{Name: "foreign", Tenant: "one", Workflows: []string{"other"}}, nil
		}
		return serve.Principal{}, errors.New("who?")
	}
	s := start(t, t.TempDir(), &bank{}, serve.Options{Auth: auth, MaxTenant: 1})
	const key = "Authorization"
	if a := s.want(t, 401, "GET", "/v1/runs", ""); a.header.Get("WWW-Authenticate") != "Bearer" {
		t.Errorf("%v", a.header)
	}
	a := s.want(t, 201, "POST", start10, `{"to": "a", "euros": 1}`, key, "Bearer anna", "Prefer", "wait=30", "Idempotency-Key", "k")
	b := s.want(t, 201, "POST", start10, `{"to": "a", "euros": 2}`, key, "Bearer bert", "Prefer", "wait=30", "Idempotency-Key", "k")
	s.want(t, 200, "GET", "/v1/runs/"+a.ID, "", key, "Bearer reader")
	for _, path := range []string{"", "/output", "/events", "/calls", "/questions/ask"} {
		s.want(t, 404, "GET", "/v1/runs/"+b.ID+path, "", key, "Bearer anna")
		s.want(t, 404, "GET", "/v1/runs/"+a.ID+path, "", key, "Bearer foreign")
	}
	s.want(t, 403, "POST", start10, `{"to": "a", "euros": 1}`, key, "Bearer reader")
	s.want(t, 403, "POST", "/v1/runs/"+a.ID+"/cancel", `{}`, key, "Bearer reader")
	s.want(t, 403, "DELETE", "/v1/runs/"+a.ID, "", key, "Bearer reader")
	s.want(t, 403, "GET", "/v1/runs/"+a.ID+"/calls", "", key, "Bearer anna")
	s.want(t, 404, "POST", start10, `{"to": "a", "euros": 1}`, key, "Bearer foreign")
	if list := s.want(t, 200, "GET", "/v1/runs", "", key, "Bearer bert"); len(list.Runs) != 1 || list.Runs[0].ID != b.ID {
		t.Errorf("%s", list.text)
	}
}

// Readers join again behind the last line they have seen, and are told when they cannot.
func TestEvents(t *testing.T) {
	b := &bank{hold: make(chan struct{}), began: make(chan struct{}, 1)}
	s := start(t, t.TempDir(), b, serve.Options{MaxReader: 1})
	a := s.want(t, 202, "POST", start10, `{"to": "ada", "euros": 3}`)
	<-b.began
	var got []int
	for e := range s.follow(t, a.ID, 0) {
		got = append(got, e.Line)
		if e.Kind == "node_start" {
			break
		}
	}
	close(b.hold)
	for e := range s.followWhenFree(t, a.ID, got[len(got)-1]) {
		got = append(got, e.Line)
	}
	if !slices.Equal(got, []int{1, 2, 3, 4}) {
		t.Errorf("lines %v", got)
	}
	s.want(t, 204, "GET", "/v1/runs/"+a.ID+"/events", "", "Last-Event-ID", "4")
	for _, unknown := range []string{"99", "-1", "x"} {
		if e := s.want(t, 200, "GET", "/v1/runs/"+a.ID+"/events", "", "Last-Event-ID", unknown); !strings.Contains(e.text, "event: resync\n") || strings.Count(e.text, "\nid: ") != 4 {
			t.Errorf("%s", e.text)
		}
	}
	if e := s.want(t, 200, "GET", "/v1/runs/"+a.ID+"/events?from=3", "", "Accept", "application/x-ndjson"); !strings.HasPrefix(e.text, `{"kind":"run_end","line":4,`) {
		t.Errorf("%s", e.text)
	}
}

// followWhenFree is follow as soon as the server has noticed that the last reader has gone.
func (s *service) followWhenFree(t *testing.T, id string, from int) func(func(event) bool) {
	for {
		metrics := httptest.NewRecorder()
		s.Admin().ServeHTTP(metrics, httptest.NewRequest("GET", "/metrics", nil))
		if strings.Contains(metrics.Body.String(), "flowgen_event_streams 0\n") {
			return s.follow(t, id, from)
		}
	}
}

// A reader that takes nothing is left, and costs neither the run nor other readers anything.
func TestSlowReader(t *testing.T) {
	b := &bank{hold: make(chan struct{}), began: make(chan struct{}, 1)}
	s := start(t, t.TempDir(), b, serve.Options{Patience: 50 * time.Millisecond, Beat: time.Millisecond})
	a := s.want(t, 202, "POST", start10, `{"to": "ada", "euros": 3}`)
	<-b.began
	slow, err := http.Get(s.url + "/v1/runs/" + a.ID + "/events") // nothing of it is read
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Body.Close()
	close(b.hold)
	if r := s.waitFor(t, a.ID, "succeeded"); r.State != "succeeded" {
		t.Errorf("%s", r.text)
	}
}
