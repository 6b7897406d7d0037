package workload

import (
	"context"
	"fmt"

	"github.com/flowgen-dev/flowgen/bench/chain"
	"github.com/flowgen-dev/flowgen/bench/tool"
	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/journal"
)

// Nodes is the length of the chain.
const Nodes = 100

// Chain is W1: 100 calls in a row, and the same recorded.
func Chain() (Comparison, error) {
	w, err := chain.New()
	if err != nil {
		return Comparison{}, err
	}
	ctx, cancel := context.WithCancel(context.Background()) // a context that can end, as runs have
	keys := make([]string, Nodes)
	for i := range keys {
		keys[i] = fmt.Sprintf("n%02d", i)
	}
	return Comparison{
		ID: "W1", Title: "chain of 100 calls of a Go function", Unit: "node", Goals: map[string]float64{"flowgen": 2},
		Peers: "-", Close: cancel,
		Cases: []Case{
			{"by hand", Nodes, repeat(func() error {
				out, err := chainByHand(ctx, tool.Message{Text: "hello"})
				if err == nil && out.Count != Nodes {
					err = wrong(out)
				}
				return err
			})},
			{"flowgen", Nodes, repeat(func() error { return chainRun(ctx, w) })},
			{"by hand, with receipts, 1,000 calls a run", 10 * Nodes, repeat(func() error {
				r, err := chainWithReceipts(ctx, keys)
				if err == nil && len(r.all) != 10*Nodes {
					err = wrong(len(r.all))
				}
				return err
			})},
			{"flowgen, recorded, 1,000 calls a run", 10 * Nodes, repeat(func() error { return chainRecorded(ctx, w) })},
		},
	}, nil
}

func chainRun(ctx context.Context, w *chain.Workflow) error {
	out, err := w.Run(ctx, chain.Input{Text: "hello"})
	if err == nil && out.Count != Nodes {
		err = wrong(out)
	}
	return err
}

// chainRecorded runs the body ten times in one recorded run, so that what is measured is the calls and not the beginning.
func chainRecorded(ctx context.Context, w *chain.Workflow) error {
	run, err := begin(ctx, chain.Info, runtime.WithEngine(journal.NewRecorder()))
	for range 10 {
		if err != nil {
			return err
		}
		_, err = w.Body(run, chain.Input{Text: "hello"})
	}
	run.End(&err)
	return err
}
