package main

import (
	"encoding/json"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
)

// example is an example as the package serving of the runtime reads it.
type example struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Input       json.RawMessage `json:"input"`
	Output      json.RawMessage `json:"output,omitempty"`
}

// examples are the inputs of the test cases that succeed, for the OpenAPI document of a program that serves the workflow: its name, and
// their JSON. nil: there are none. What is wrong with test cases is reported by check and test.
func (a *app) examples(d *disk, c *compiled) *[2]string {
	if c.program == nil {
		return nil
	}
	tested := *c
	a.cases(d, &tested)
	var list []example
	for _, f := range tested.cases {
		for _, x := range f.IR.Cases {
			if x.Want.Error != nil {
				continue
			}
			e := example{Name: x.Name.Name, Description: x.Description, Input: json.RawMessage(objectOf(f, x.Input))}
			if len(x.Want.Output) > 0 {
				e.Output = json.RawMessage(objectOf(f, x.Want.Output))
			}
			list = append(list, e)
		}
	}
	text, err := json.Marshal(list)
	if err != nil || len(list) == 0 {
		return nil
	}
	return &[2]string{c.workflow.Name.Name, string(text)}
}

// objectOf is a mapping of a test case as JSON.
func objectOf(f *check.Cases, entries []*ir.Entry) string {
	var parts []string
	for _, e := range entries {
		key, _ := json.Marshal(e.Key.Name) // a string
		parts = append(parts, string(key)+":"+f.JSON(e.Value))
	}
	return "{" + strings.Join(parts, ",") + "}"
}
