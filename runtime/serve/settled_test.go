package serve_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/internal/eventually"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/serve"
)

// told is an Auth that tells of each request.
func told(c chan<- string) func(*http.Request) (serve.Principal, error) {
	return func(r *http.Request) (serve.Principal, error) {
		c <- r.Method + " " + r.URL.Path
		return serve.Principal{}, nil
	}
}

// A request that waits for a run waits after a restart too, when the run's turn has not come yet.
func TestWaitAfterRestart(t *testing.T) {
	b, dir := &bank{hold: make(chan struct{}), began: make(chan struct{}, 10)}, t.TempDir()
	s := start(t, dir, b, serve.Options{MaxRuns: 1})
	s.want(t, 202, "POST", start10, `{"to": "ada", "euros": 3}`)
	<-b.began
	queued := []*answer{s.want(t, 202, "POST", start10, `{"to": "bob", "euros": 3}`), s.want(t, 202, "POST", start10, `{"to": "cleo", "euros": 3}`)}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_ = s.Shutdown(ctx) // its time is over
	asked := make(chan string, 10)
	s = start(t, dir, b, serve.Options{MaxRuns: 1, Auth: told(asked)})
	<-b.began // one of the two, which holds up the other
	answers := make(chan *answer)
	for _, q := range queued {
		go func() { answers <- s.do(t, "GET", "/v1/runs/"+q.ID, "", "Prefer", "wait=60") }()
	}
	<-asked
	<-asked
	close(b.hold)
	for range queued {
		if a := <-answers; a.State != "succeeded" {
			t.Errorf("%s", a.text)
		}
	}
}

// A request that waits for a run of another process does so as well.
func TestWaitForOther(t *testing.T) {
	b, dir := &bank{hold: make(chan struct{}), began: make(chan struct{}, 10)}, t.TempDir()
	other := start(t, dir, b, serve.Options{})
	asked := make(chan string, 10)
	s := start(t, dir, &bank{}, serve.Options{Auth: told(asked), Leave: true})
	run := other.want(t, 202, "POST", start10, `{"to": "ada", "euros": 3}`)
	<-b.began
	answers := make(chan *answer)
	go func() { answers <- s.do(t, "GET", "/v1/runs/"+run.ID, "", "Prefer", "wait=60") }()
	<-asked
	close(b.hold)
	if a := <-answers; a.State != "succeeded" {
		t.Errorf("%s", a.text)
	}
}

// Runs of the last process that this one leaves are stopped: nobody waits for them, and they go on when somebody says so.
func TestLeft(t *testing.T) {
	b, dir := &bank{hold: make(chan struct{}), began: make(chan struct{}, 10)}, t.TempDir()
	s := start(t, dir, b, serve.Options{MaxRuns: 1})
	paying := s.want(t, 202, "POST", start10, `{"to": "ada", "euros": 3}`)
	<-b.began
	queued := s.want(t, 202, "POST", start10, `{"to": "bob", "euros": 3}`)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_ = s.Shutdown(ctx) // its time is over
	s = start(t, dir, &bank{}, serve.Options{Leave: true, MaxWait: 2 * time.Hour})
	for id, want := range map[string]struct{ state, resume string }{queued.ID: {"stopped", `{}`}, paying.ID: {"in_doubt", `{"in_doubt": {"pay": "again"}}`}} {
		path := "/v1/runs/" + id
		if a := s.want(t, 200, "GET", path, "", "Prefer", "wait=7200"); a.State != want.state || !strings.Contains(a.text, "resume it to continue") {
			t.Errorf("%s", a.text)
		}
		s.want(t, 409, "GET", path+"/output", "")
		if a := s.want(t, 202, "POST", path+"/resume", want.resume, "Prefer", "wait=60"); a.State != "succeeded" {
			t.Errorf("%s", a.text)
		}
	}
}

var (
	soonNode = &flow.Node{ID: "soon", Pos: "soon.flowgen.yaml:4:3", Timeout: 20 * time.Millisecond}
	soonInfo = &flow.Info{Name: "soon", Source: "soon.flowgen.yaml", Nodes: []*flow.Node{soonNode}, Facts: flow.NewFacts(`{"hashes":{"graph":"g3","nodes":{"soon":"s1"}}}`)}
)

// soonFlow asks a question that nobody has time for.
type soonFlow struct{ rt *flow.Runtime }

func (w *soonFlow) Run(ctx context.Context, in struct{}) (out struct {
	Said string `json:"said"`
}, err error) {
	run := flow.Start(ctx, w.rt, in)
	defer flow.End(run, &out, &err)
	out.Said, err = flow.AskOr(run, soonNode, runtime.Question{Text: "Soon?"}, "nothing")
	return out, err
}

// A run goes on when the time for an answer is over, also where runs of the last process are left.
func TestNoAnswerInTime(t *testing.T) {
	for _, leave := range []bool{false, true} {
		h, err := serve.Handler(serve.Options{Runs: runs.Open(t.TempDir(), runs.Options{}), Leave: leave}, serve.Of(soonInfo, func(o ...runtime.Option) (*soonFlow, error) {
			rt, err := flow.New(soonInfo, o...)
			return &soonFlow{rt}, err
		}))
		if err != nil {
			t.Fatal(err)
		}
		s := served(t, h)
		path := "/v1/runs/" + s.want(t, 202, "POST", "/v1/workflows/soon/runs", `{}`).ID
		var a *answer
		eventually.True(t, "the run goes on", func() bool {
			a = s.do(t, "GET", path, "", "Prefer", "wait=60")
			return a.State != "running" && a.State != "waiting"
		})
		if a.State != "succeeded" || !strings.Contains(a.text, `"said":"nothing"`) {
			t.Errorf("%v: %s", leave, a.text)
		}
	}
}
