package llm_test

import (
	"context"
	"fmt"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/llm"
)

// inHouse is a model server of your own.
type inHouse struct{}

func (inHouse) Complete(_ context.Context, r *llm.Request) (*llm.Reply, error) {
	asked := r.Conv.Messages[len(r.Conv.Messages)-1].Text
	return &llm.Reply{Model: "large-7", Stop: llm.End, Usage: llm.Usage{Input: 5, Output: 2}, Message: llm.Message{Role: llm.Assistant, Text: "You said " + asked}}, nil
}

// A workflow with `providers: [acme]` and `model: "acme:large"` gets the provider from the service that embeds it. New fails
// when it is missing.
func ExampleWithProvider() {
	node := &flow.Node{ID: "greet", Pos: "hello.flowgen.yaml:8:5"}
	model := llm.NewModel("acme:large", "large", llm.Provided("acme"))
	info := &flow.Info{Name: "hello", Providers: []string{"acme"}, Nodes: []*flow.Node{node}}

	rt, err := flow.New(info, llm.WithProvider("acme", inHouse{}))
	if err != nil {
		panic(err)
	}
	answer, err := llm.Ask[string](rt.Start(context.Background()), node, model, llm.Prompt{Text: "hello"}, llm.Format{})
	fmt.Println(answer, err)

	_, err = flow.New(info)
	fmt.Println(err)
	// Output:
	// You said hello <nil>
	// workflow hello: provider acme is missing: give New llm.WithProvider("acme", ...)
}
