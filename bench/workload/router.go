package workload

import (
	"context"

	"github.com/flowgen-dev/flowgen/bench/router"
	"github.com/flowgen-dev/flowgen/bench/tool"
)

// Iterations is how often the loop runs.
const Iterations = 1000

//go:noinline
func routerByHand(ctx context.Context, score float64, label string) (int64, error) {
	var attempts int64
	for {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		attempts = tool.Next(attempts)
		if !(score < 0.8 && attempts < Iterations && label == "draft") {
			return attempts, nil
		}
	}
}

// Router is W4: a loop that a condition of three clauses ends.
func Router() (Comparison, error) {
	w, err := router.New()
	if err != nil {
		return Comparison{}, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	return Comparison{
		ID: "W4", Title: "loop of 1,000 iterations with a condition of three clauses", Unit: "iteration", Goals: map[string]float64{"flowgen": 1.1},
		Close: cancel,
		Cases: []Case{
			{"by hand, with a check of the context", Iterations, repeat(func() error {
				n, err := routerByHand(ctx, 0.5, "draft")
				if err == nil && n != Iterations {
					err = wrong(n)
				}
				return err
			})},
			{"flowgen", Iterations, repeat(func() error {
				out, err := w.Run(ctx, router.Input{Score: 0.5, Label: "draft"})
				if err == nil && out.Attempts != Iterations {
					err = wrong(out)
				}
				return err
			})},
		},
	}, nil
}
