package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Workflow stands for a generated one.
type Workflow struct{ rt *flow.Runtime }

var (
	sendNode = flow.Node{ID: "send", Pos: "notify.flowgen.yaml:9:5"}
	sendTool = flow.Bind("mail.send@1", flow.Writes, func(_ context.Context, to string) (string, error) { return "sent to " + to, nil })
)

func New(opts ...runtime.Option) (*Workflow, error) {
	rt, err := flow.New(&flow.Info{Name: "notify", Nodes: []*flow.Node{&sendNode}}, opts...)
	return &Workflow{rt}, err
}

func (w *Workflow) Run(ctx context.Context, to string) (out string, err error) {
	run := flow.Start(ctx, w.rt, to)
	defer flow.End(run, &out, &err)
	return flow.Call(run, &sendNode, sendTool, to)
}

func Example() {
	ctx := context.Background()
	w, err := New(runtime.WithObserver(runtime.ObserverFunc(func(e runtime.Event) {
		if e.Kind == runtime.NodeEnd {
			fmt.Println(e.Key, "ended")
		}
	})))
	if err != nil {
		panic(err)
	}
	out, err := w.Run(ctx, "ann")
	fmt.Println(out, err)

	w, err = New(runtime.WithPolicy(&runtime.Policy{Effects: []flow.Effects{flow.Reads}}))
	if err != nil {
		panic(err)
	}
	_, err = w.Run(ctx, "ann")
	var failed *runtime.NodeError
	var denied *value.ToolError
	if errors.As(err, &failed) && errors.As(err, &denied) {
		fmt.Println(failed.Node.Pos, denied.Code)
	}
	// Output:
	// send ended
	// sent to ann <nil>
	// notify.flowgen.yaml:9:5 POLICY_DENIED
}

// Each call is one record of log/slog, with the id of its run.
func ExampleWithLogger() {
	log := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == "duration" {
			return slog.Attr{}
		}
		return a
	}}))
	w, err := New(runtime.WithLogger(log))
	if err != nil {
		panic(err)
	}
	_, _ = w.Run(runtime.WithRunID(context.Background(), "order-7"), "ann")
	// Output:
	// level=INFO msg="run started" run=order-7 workflow=notify
	// level=INFO msg=call run=order-7 workflow=notify key=send node=send pos=notify.flowgen.yaml:9:5 tool=mail.send@1 attempt=1
	// level=INFO msg="run succeeded" run=order-7 workflow=notify
}

// The id of a run is in its events, log records, spans, errors and in its journal.
func ExampleWithRunID() {
	w, err := New(runtime.WithPolicy(&runtime.Policy{Effects: []flow.Effects{flow.Reads}}))
	if err != nil {
		panic(err)
	}
	_, err = w.Run(runtime.WithRunID(context.Background(), "order-8"), "ann")
	var failed *runtime.NodeError
	if errors.As(err, &failed) {
		fmt.Println(failed.RunID, failed.Key)
	}
	// Output: order-8 send
}

// A sink of usage gets each attempt that was made: to bill it, or to count it in metrics.
func ExampleWithUsage() {
	w, err := New(runtime.WithUsage(runtime.UsageFunc(func(a *runtime.Attempt) { fmt.Println(a.Tool, a.Effects, a.Err) })))
	if err != nil {
		panic(err)
	}
	_, _ = w.Run(context.Background(), "ann")
	// Output: mail.send@1 writes <nil>
}

// A fake replaces a tool in tests. Generated packages have a struct with a field for each tool, and call WithFakes.
func ExampleWithFakes() {
	fake := sendTool.Fake(func(_ context.Context, to string) (string, error) { return "not sent to " + to, nil })
	w, err := New(runtime.WithFakes(false, fake))
	if err != nil {
		panic(err)
	}
	fmt.Println(w.Run(context.Background(), "ann"))
	// Output: not sent to ann <nil>
}

var errBounced = errors.New("no such mailbox")

// An error of a workflow is that of the tool, too: with its code, and with what the Go function returned.
func ExampleNodeError() {
	fake := sendTool.Fake(func(_ context.Context, to string) (string, error) { return "", errBounced })
	w, err := New(runtime.WithFakes(false, fake))
	if err != nil {
		panic(err)
	}
	_, err = w.Run(context.Background(), "ann")
	var te *value.ToolError
	if errors.As(err, &te) {
		fmt.Println(te.Code, errors.Is(err, errBounced))
	}
	fmt.Println(err)
	// Output:
	// UNKNOWN true
	// notify.flowgen.yaml:9:5: node send: UNKNOWN: no such mailbox
}
