package serving

import "encoding/json"

// An Example is an input of a workflow, from one of its test cases, and what is expected of it.
type Example struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Input       json.RawMessage `json:"input"`
	Output      json.RawMessage `json:"output,omitempty"` // that of the case; empty when it does not say all of it
}

var examples = map[string][]Example{}

// Examples keeps the examples of a workflow for the OpenAPI document of package serve. Programs call it before anything else, with the
// JSON of a list; one that cannot be read is none.
func Examples(workflow, list string) {
	var made []Example
	if json.Unmarshal([]byte(list), &made) == nil {
		examples[workflow] = made
	}
}

// Examples are those of a workflow.
func (w *Workflow) Examples() []Example { return examples[w.Info.Name] }
