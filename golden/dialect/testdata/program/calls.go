package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/llm"
)

// works answers in place of a model that works with tools: its first answer makes the calls that the prompt lists, each on a
// line of its own, as in `call: desk.find@1 {"query": "tea"}`. After them it answers with what they gave. nil: this is no
// such question.
func works(in []byte) *llm.Reply {
	var asked llm.Conversation
	if err := json.Unmarshal(in, &struct{ Conv *llm.Conversation }{&asked}); err != nil {
		return nil
	}
	if asked.Messages == nil && json.Unmarshal(in, &asked) != nil || len(asked.Messages) == 0 {
		return nil
	}
	reply := &llm.Reply{Model: "test", Stop: llm.End, Message: llm.Message{Role: llm.Assistant}}
	if results := asked.Messages[len(asked.Messages)-1].Results; results != nil {
		for _, r := range results {
			reply.Message.Text += r.Text + ";"
		}
		return reply
	}
	for line := range strings.Lines(asked.Messages[0].Text) {
		if call, ok := strings.CutPrefix(line, "call: "); ok {
			name, args, _ := strings.Cut(strings.TrimSpace(call), " ")
			reply.Stop = llm.CallStop
			reply.Message.Calls = append(reply.Message.Calls, llm.Call{ID: fmt.Sprint("c", len(reply.Message.Calls)+1), Name: name, Args: args})
		}
	}
	if reply.Message.Calls == nil {
		return nil
	}
	return reply
}
