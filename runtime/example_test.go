package runtime_test

import (
	"context"
	"errors"
	"fmt"

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
