package serve_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	flowgen "github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
	"github.com/flowgen-dev/flowgen/runtime/serve"
)

// A run whose key is sent several times at once is answered or cancelled by the client that comes first: a second beginning, which finds out
// that there is one, takes nothing away from it.
func TestTogether(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir, &bank{}, serve.Options{Runs: runs.Open(dir, runs.Options{Disk: unsteady{wal.OS}})})
	for _, act := range []string{"answer", "cancel"} {
		for round := range 20 {
			key := fmt.Sprintf("%s%d", act, round)
			var all sync.WaitGroup
			for range 6 {
				all.Go(func() {
					a := s.do(t, "POST", start10, `{"to": "ada", "euros": 1000}`, "Idempotency-Key", key, "Prefer", "wait=60")
					path, over := "/v1/runs/"+a.ID, "cancelled"
					if act == "answer" {
						over = "succeeded"
						s.do(t, "PUT", path+"/questions/ask", `{"answer": "yes"}`)
					} else {
						s.do(t, "POST", path+"/cancel", "")
					}
					for range 20 { // one that is about to be cancelled waits a last time
						if a = s.do(t, "GET", path, "", "Prefer", "wait=60"); a.State == over {
							return
						}
					}
					t.Errorf("%s: %s", key, a.text)
				})
			}
			all.Wait()
		}
	}
}

var (
	oneNode  = &flow.Node{ID: "one", Pos: "both.flowgen.yaml:4:3", Index: 0}
	twoNode  = &flow.Node{ID: "two", Pos: "both.flowgen.yaml:5:3", Index: 1}
	bothInfo = &flow.Info{Name: "both", Source: "both.flowgen.yaml", Nodes: []*flow.Node{oneNode, twoNode},
		Facts: flow.NewFacts(`{"hashes":{"graph":"g2","nodes":{"one":"o1","two":"t1"}}}`)}
)

// bothFlow asks two questions at the same time.
type bothFlow struct{ rt *flow.Runtime }

func (w *bothFlow) Run(ctx context.Context, in struct{}) (out struct {
	One string `json:"one"`
	Two string `json:"two"`
}, err error) {
	run := flow.Start(ctx, w.rt, in)
	defer flow.End(run, &out, &err)
	return out, flow.Parallel(run,
		func(run *flow.Run) (err error) {
			out.One, err = flow.Ask[string](run, oneNode, flowgen.Question{Text: "One?"})
			return err
		},
		func(run *flow.Run) (err error) {
			out.Two, err = flow.Ask[string](run, twoNode, flowgen.Question{Text: "Two?"})
			return err
		})
}

// Two questions that are answered at the same time: neither answer is lost, and the run goes on with both.
func TestAnsweredTogether(t *testing.T) {
	s, err := serve.Handler(serve.Options{Runs: runs.Open(t.TempDir(), runs.Options{Disk: unsteady{wal.OS}})}, serve.Of(bothInfo, func(o ...flowgen.Option) (*bothFlow, error) {
		rt, err := flow.New(bothInfo, o...)
		return &bothFlow{rt}, err
	}))
	if err != nil {
		t.Fatal(err)
	}
	h := served(t, s)
	for range 30 {
		a := h.want(t, 202, "POST", "/v1/workflows/both/runs", `{}`, "Prefer", "wait=60")
		var all sync.WaitGroup
		for _, key := range []string{"one", "two"} {
			all.Go(func() {
				if a := h.do(t, "PUT", "/v1/runs/"+a.ID+"/questions/"+key, `{"answer": "`+strings.ToUpper(key)+`"}`); a.status != 200 {
					t.Errorf("%d %s", a.status, a.text)
				}
			})
		}
		all.Wait()
		if a := h.do(t, "GET", "/v1/runs/"+a.ID, "", "Prefer", "wait=60"); a.State != "succeeded" || !strings.Contains(a.text, `{"one":"ONE","two":"TWO"}`) {
			t.Errorf("%s", a.text)
		}
	}
}
