package flow_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/flow"
)

var (
	mapNode   = flow.Node{ID: "words", Pos: "shout.flowgen.yaml:5:5"}
	shoutNode = flow.Node{ID: "shout", Pos: "shout.flowgen.yaml:8:9", Index: 1}
	shoutTool = flow.Bind("text.shout@1", flow.None, func(_ context.Context, s string) (string, error) { return strings.ToUpper(s), nil })
)

// shout is a workflow as flowgen writes it.
func shout(ctx context.Context, rt *flow.Runtime, words []string) (out []string, err error) {
	run := flow.Start(ctx, rt, words)
	defer flow.End(run, &out, &err)
	return flow.Map(run, &mapNode, words, func(run *flow.Run, word string) (string, error) {
		return flow.Call(run, &shoutNode, shoutTool, word)
	})
}

func Example() {
	rt, err := flow.New(&flow.Info{Name: "shout", Nodes: []*flow.Node{&mapNode, &shoutNode}})
	if err != nil {
		panic(err)
	}
	fmt.Println(shout(context.Background(), rt, []string{"to", "be"}))
	fmt.Println(flow.Div(1, 0))
	// Output:
	// [TO BE] <nil>
	// 0 VALIDATION_ERROR: 1 / 0: nothing can be divided by zero
}
