package workload

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/flowgen-dev/flowgen/bench/tool"
)

// stepReceipt is what a careful person keeps of a call in the chain, so that it can be written down when the run has ended.
type stepReceipt struct {
	key        string
	name       string
	in, out    tool.Message
	start, end time.Duration // since the beginning of the run
	err        error
}

// receipts are those of one run, whose calls may be made at the same time.
type receipts struct {
	begin time.Time
	mu    sync.Mutex
	all   []*stepReceipt
}

func (r *receipts) step(ctx context.Context, key string, in tool.Message) (tool.Message, error) {
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node %s: %w", key, err)
	}
	c := &stepReceipt{key: key, name: "chain.step@1", in: in, start: time.Since(r.begin)}
	r.mu.Lock()
	r.all = append(r.all, c)
	r.mu.Unlock()
	c.out, c.err = tool.Step(ctx, in)
	c.end = time.Since(r.begin)
	if c.err != nil {
		return tool.Message{}, fmt.Errorf("node %s: %w", key, c.err)
	}
	return c.out, nil
}

// chainWithReceipts is chainByHand ten times, as chainRecorded is the workflow ten times.
func chainWithReceipts(ctx context.Context, keys []string) (*receipts, error) {
	r := &receipts{begin: time.Now()}
	for range 10 {
		m := tool.Message{Text: "hello"}
		for _, key := range keys {
			var err error
			if m, err = r.step(ctx, key, m); err != nil {
				return nil, err
			}
		}
	}
	return r, nil
}
