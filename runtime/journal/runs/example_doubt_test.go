package runs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
)

var payNode = flow.Node{ID: "pay", Pos: "expense.flowgen.yaml:9:3"}

// payments stands for a generated workflow that calls one tool.
func payments(pay func(context.Context, string) (string, error), o ...runtime.Option) func(context.Context, string) (string, error) {
	rt, err := flow.New(&flow.Info{Name: "payments", Nodes: []*flow.Node{&payNode}}, o...)
	if err != nil {
		panic(err)
	}
	tool := flow.Bind("payments.pay@1", flow.Writes, pay)
	return func(ctx context.Context, in string) (out string, err error) {
		r := flow.Start(ctx, rt, in)
		defer flow.End(r, &out, &err)
		return flow.Call(r, &payNode, tool, in)
	}
}

// A payment was cut off, and may have been made: the run is in doubt until somebody has looked.
func ExampleResumeWith() {
	dir, err := os.MkdirTemp("", "runs")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	folder := runs.Open(dir, runs.Options{})
	ctx, crash := context.WithCancel(context.Background())
	run := payments(func(ctx context.Context, in string) (string, error) {
		crash()
		return "", context.Cause(ctx)
	}, runtime.WithEngines(folder.Record))
	_, _ = run(runtime.WithRunID(ctx, "order-7"), "lunch")

	ctx, id := context.Background(), "order-7"
	var doubt *runtime.RunError
	_, err = runs.Resume(ctx, folder, id, run)
	fmt.Println(errors.As(err, &doubt) && doubt.Kind == runtime.InDoubt)

	var settled struct {
		Key      string // of the call
		Happened bool
		Output   json.RawMessage
	}
	settled.Key, settled.Happened, settled.Output = "pay", true, json.RawMessage(`"paid"`)
	out, err := runs.ResumeWith(ctx, folder, id, runs.Continue{
		Decide: func(r journal.Record, _ *flow.Doubt) (journal.Decision, bool) {
			return journal.Decision{Again: !settled.Happened, Output: settled.Output}, r.Key == settled.Key
		},
	}, run)
	fmt.Println(out, err)
	// Output:
	// true
	// paid <nil>
}
