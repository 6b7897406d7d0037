package scripted_test

import (
	"context"
	"fmt"

	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/llm/scripted"
)

// A model that asks for a tool and then answers. Generated packages take it as a field of their Fakes.
func ExampleInOrder() {
	model := scripted.InOrder(
		scripted.Calling("weather", map[string]string{"city": "Paris"}),
		scripted.Answer{Text: "Take an umbrella."},
	)
	talk := &llm.Conversation{Messages: []llm.Message{{Role: llm.User, Text: "What do I need?"}}}
	for range 2 {
		reply, err := model.Complete(context.Background(), &llm.Request{Conv: talk})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(reply.Message.Text, reply.Message.Calls)
		talk.Messages = append(talk.Messages, reply.Message)
	}
	// Output:
	//  [{call_0_0 weather {"city":"Paris"}}]
	// Take an umbrella. []
}
