package scripted

import (
	"encoding/json"

	"github.com/flowgen-dev/flowgen/runtime/llm"
)

// InOrder returns a provider that answers each conversation with the answers in order, as the file of a model
// "scripted:FILE" does: answers with the same Prompt and System, and no other condition, are those of turn 0, 1 and so on.
// It panics on an answer that Parse refuses.
func InOrder(answers ...Answer) llm.Provider {
	type conversation struct{ prompt, system string }
	turns := map[conversation]int{}
	s := &Script{Answers: make([]Answer, len(answers))}
	for i, a := range answers {
		if err := a.check(); err != nil {
			panic("script: " + err.Error())
		}
		if a.Turn == nil && a.Model == "" && a.User == "" && a.Tool == "" && a.Result == "" {
			of := conversation{a.Prompt, a.System}
			turn := turns[of]
			a.Turn = &turn
			turns[of]++
		}
		s.Answers[i] = a
	}
	return s.Provider()
}

// Calling is an answer that calls one tool, by the name that the model knows. It panics when args is not JSON.
func Calling(name string, args any) Answer {
	data, err := json.Marshal(args)
	if err != nil {
		panic("script: the arguments of " + name + ": " + err.Error())
	}
	return Answer{Calls: []Call{{Name: name, Args: data}}}
}
