package workload

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"sync"

	"github.com/flowgen-dev/flowgen/bench/parked"
	"github.com/flowgen-dev/flowgen/bench/tool"
	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/journal"
)

// Memory is what one run holds, in bytes.
type Memory struct {
	Name        string
	Heap, Stack float64
}

// Parked is W10: the memory of a run that waits in the middle of 100 nodes.
func Parked(runs int) ([]Memory, error) {
	w, err := parked.New()
	if err != nil {
		return nil, err
	}
	cases := []struct {
		name string
		run  func(context.Context) error
	}{
		{"by hand", func(ctx context.Context) error {
			_, err := parkedByHand(ctx, tool.Message{Text: "hello"})
			return err
		}},
		{"flowgen", func(ctx context.Context) error {
			_, err := w.Run(ctx, parked.Input{Text: "hello"})
			return err
		}},
		{"flowgen, recorded", func(ctx context.Context) error {
			w, err := parked.New(runtime.WithEngine(journal.NewRecorder()))
			if err == nil {
				_, err = w.Run(ctx, parked.Input{Text: "hello"})
			}
			return err
		}},
	}
	var out []Memory
	for _, c := range cases {
		m, err := held(runs, c.run)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		m.Name = c.name
		out = append(out, m)
	}
	return out, nil
}

// held is the memory of each of many runs that wait at the same time.
func held(runs int, run func(context.Context) error) (Memory, error) {
	var inside, done sync.WaitGroup
	inside.Add(runs)
	gate := &tool.Gate{Enter: inside.Done, Open: make(chan struct{})}
	ctx := tool.WithGate(context.Background(), gate)
	errs := make([]error, runs)
	var before, after goruntime.MemStats
	goruntime.GC()
	goruntime.ReadMemStats(&before)
	for i := range runs {
		done.Go(func() { errs[i] = run(ctx) })
	}
	inside.Wait()
	goruntime.GC()
	goruntime.ReadMemStats(&after)
	close(gate.Open)
	done.Wait()
	per := func(before, after uint64) float64 { return float64(int64(after)-int64(before)) / float64(runs) }
	return Memory{Heap: per(before.HeapAlloc, after.HeapAlloc), Stack: per(before.StackInuse, after.StackInuse)}, errors.Join(errs...)
}

// parkedByHand is a loop over the same 100 calls.
func parkedByHand(ctx context.Context, m tool.Message) (tool.Message, error) {
	for i := range Nodes {
		if err := ctx.Err(); err != nil {
			return m, err
		}
		f := tool.Step
		if i == Nodes/2 {
			f = tool.Wait
		}
		var err error
		if m, err = f(ctx, m); err != nil {
			return m, fmt.Errorf("node n%02d: %w", i, err)
		}
	}
	return m, nil
}
