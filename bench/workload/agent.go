package workload

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"sync"

	"github.com/flowgen-dev/flowgen/bench/loop"
	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/httptool"
	"github.com/flowgen-dev/flowgen/runtime/journal"
)

// Turns is how often the agent's model wants tools.
const Turns = 10

// Agent is W7: an agent whose model wants three tools called in each of ten turns, over loopback.
func Agent() (Comparison, error) {
	s, err := model()
	if err != nil {
		return Comparison{}, err
	}
	secrets := runtime.WithSecrets(func(string) (string, bool) { return token, true })
	w, err := loop.New(secrets)
	if err != nil {
		return Comparison{}, err
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 8}
	hand := &agentByHand{client: &http.Client{Transport: transport}, url: s.base + "/chat/completions"}
	ctx, cancel := context.WithCancel(context.Background())
	bodies, err := s.requests(func() error { _, _, err := hand.run(ctx, task(Turns)); return err })
	if err != nil {
		cancel()
		return Comparison{}, err
	}
	byHand := func(run func(context.Context, string) (string, []receipt, error)) func(int) error {
		return repeat(func() error {
			text, all, err := run(ctx, task(Turns))
			if err == nil && (text != "done" || len(all) != Turns*Calls) {
				err = wrong(all)
			}
			return err
		})
	}
	return Comparison{
		ID: "W7", Title: "agent with 10 turns of three calls at the same time, its model over loopback", Unit: "turn",
		Goals: map[string]float64{"flowgen": 0.9},
		Peers: s.base,
		Close: func() {
			cancel()
			transport.CloseIdleConnections()
			httptool.CloseIdleConnections()
		},
		Cases: []Case{
			{"by hand, the whole conversation encoded in each turn", Turns, byHand(hand.run)},
			{"flowgen", Turns, repeat(func() error { return agentRun(ctx, w, Turns) })},
			{"flowgen, recorded", Turns, repeat(func() error {
				w, err := loop.New(secrets, runtime.WithEngine(journal.NewRecorder()))
				if err != nil {
					return err
				}
				return agentRun(ctx, w, Turns)
			})},
			{"by hand, each message encoded once", Turns, byHand(hand.incremental)},
			{"by hand, bare: requests that are there already, nothing decoded, nothing called", Turns, repeat(func() error { return hand.bare(ctx, bodies) })},
		},
	}, nil
}

func task(turns int) string { return fmt.Sprintf("turns=%d;", turns) }

func agentRun(ctx context.Context, w *loop.Workflow, turns int) error {
	out, err := w.Run(ctx, loop.Input{Turns: int64(turns)})
	if err == nil && (out.Text != "done" || out.Calls != int64(turns*Calls)) {
		err = wrong(out)
	}
	return err
}

// requests are the bodies of what f asks the model.
func (s *modelServer) requests(f func() error) ([][]byte, error) {
	var mu sync.Mutex
	var bodies [][]byte
	watch := func(body []byte) {
		mu.Lock()
		defer mu.Unlock()
		bodies = append(bodies, bytes.Clone(body))
	}
	s.watch.Store(&watch)
	defer s.watch.Store(nil)
	err := f()
	mu.Lock()
	defer mu.Unlock()
	return bodies, err
}
