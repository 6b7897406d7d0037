package engine_test

import (
	"context"
	"fmt"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
)

// recorder keeps the results of calls by key, and answers calls whose result it has.
type recorder struct {
	engine.Goroutines
	results map[string][]byte // the example has no branches, so no lock
}

func (e recorder) Do(r *flow.Run, op engine.Op) error {
	key := op.Head().Key()
	if out, ok := e.results[key]; ok {
		op.Head().Replayed = true
		return op.DecodeOut(out)
	}
	if err := e.Goroutines.Do(r, op); err != nil {
		return err
	}
	out, err := op.EncodeOut(nil)
	e.results[key] = out
	return err
}

func Example() {
	calls := 0
	node := &flow.Node{ID: "count", Pos: "count.flowgen.yaml:4:5"}
	count := flow.Bind("t.count@1", flow.Reads, func(context.Context, string) (int64, error) { calls++; return int64(calls), nil })
	rt, err := flow.New(&flow.Info{Name: "count", Nodes: []*flow.Node{node}}, runtime.WithEngine(recorder{results: map[string][]byte{}}))
	if err != nil {
		panic(err)
	}
	for range 2 {
		out, err := flow.Call(rt.Start(context.Background()), node, count, "")
		fmt.Println(out, err)
	}
	fmt.Println("calls:", calls)
	// Output:
	// 1 <nil>
	// 1 <nil>
	// calls: 1
}
