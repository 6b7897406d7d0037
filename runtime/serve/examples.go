package serve

import (
	"encoding/json"
	"slices"
	"strconv"
)

const (
	maxExamples = 10
	maxExample  = 16 << 10 // bytes
)

// examples are inputs for the OpenAPI document, by their names, and outputs. Those that do not fit the types are left out: a test case
// may say of an output a part only, or have an input that is to be refused.
func (w *Workflow) examples(more []Example) (inputs object, outputs []json.RawMessage) {
	inputs = object{}
	for _, e := range slices.Concat(w.Examples(), more) {
		if len(inputs) == maxExamples || len(e.Input)+len(e.Output) > maxExample {
			continue
		}
		if _, err := w.Canon(e.Input); err != nil {
			continue
		}
		name := e.Name
		for n := 2; inputs[name] != nil; n++ { // of two files of cases
			name = e.Name + " " + strconv.Itoa(n)
		}
		example := object{"value": e.Input}
		if e.Description != "" {
			example["description"] = e.Description
		}
		inputs[name] = example
		if len(e.Output) > 0 && w.Output(e.Output) == nil {
			outputs = append(outputs, e.Output)
		}
	}
	return inputs, outputs
}
