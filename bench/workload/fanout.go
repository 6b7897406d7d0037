package workload

import (
	"context"
	goruntime "runtime"
	"sync"
	"sync/atomic"

	"github.com/flowgen-dev/flowgen/bench/fanout"
	"github.com/flowgen-dev/flowgen/bench/tool"
)

// Items is how many items the fan-outs have.
const Items = 10_000

// Fanout is W2 over a function that does nothing: what is measured is handing out and collecting.
func Fanout() (Comparison, error) {
	c, err := spread("W2", "map over 10,000 items, a tool that does nothing", false, tool.Double)
	c.Peers = "-"
	return c, err
}

// Busy is W2 over a function that computes for about a microsecond.
func Busy() (Comparison, error) {
	return spread("W2", "map over 10,000 items, a tool that computes for 1 µs", true, tool.Work)
}

func spread(id, title string, busy bool, f func(context.Context, tool.Item) (tool.Result, error)) (Comparison, error) {
	w, err := fanout.New()
	if err != nil {
		return Comparison{}, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	own := make([]tool.Item, Items)
	items := fanoutItems(Items)
	for i := range own {
		own[i].ID = int64(i)
	}
	ordered := func(out []tool.Result) error {
		if len(out) != Items || out[17].ID != 17 || out[Items-1].ID != Items-1 {
			return wrong(len(out))
		}
		return nil
	}
	return Comparison{
		ID: id, Title: title, Unit: "item", Goals: map[string]float64{"flowgen": 1.1},
		Close: cancel,
		Cases: []Case{
			{"by hand, workers that take blocks of 64", Items, repeat(func() error {
				out, err := workers(ctx, own, goruntime.GOMAXPROCS(0), 64, f)
				if err != nil {
					return err
				}
				return ordered(out)
			})},
			{"flowgen", Items, repeat(func() error {
				out, err := w.Run(ctx, fanout.Input{Items: items, Busy: busy})
				if err != nil {
					return err
				}
				return ordered(out.Results)
			})},
			{"by hand, one after the other", Items, repeat(func() error {
				out, err := serial(ctx, own, f)
				if err != nil {
					return err
				}
				return ordered(out)
			})},
		},
	}, nil
}

func fanoutItems(n int) []fanout.Item {
	items := make([]fanout.Item, n)
	for i := range items {
		items[i].ID = int64(i)
	}
	return items
}

func serial(ctx context.Context, items []tool.Item, f func(context.Context, tool.Item) (tool.Result, error)) ([]tool.Result, error) {
	out := make([]tool.Result, len(items))
	for i, item := range items {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r, err := f(ctx, item)
		if err != nil {
			return nil, err
		}
		out[i] = r
	}
	return out, nil
}

// workers is the loop a careful person writes: as many goroutines as asked for, an atomic cursor that hands out blocks,
// results by index, the first error stops all.
func workers(ctx context.Context, items []tool.Item, count, block int, f func(context.Context, tool.Item) (tool.Result, error)) ([]tool.Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out := make([]tool.Result, len(items))
	var next atomic.Int64
	var first error
	var once sync.Once
	fail := func(err error) { once.Do(func() { first = err; cancel() }) }
	var wg sync.WaitGroup
	for range count {
		wg.Go(func() {
			for {
				end := int(next.Add(int64(block)))
				for i := end - block; i < min(end, len(items)); i++ {
					if err := ctx.Err(); err != nil {
						fail(err)
						return
					}
					r, err := f(ctx, items[i])
					if err != nil {
						fail(err)
						return
					}
					out[i] = r
				}
				if end >= len(items) {
					return
				}
			}
		})
	}
	wg.Wait()
	return out, first
}
