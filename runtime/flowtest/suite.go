// Package flowtest runs the test cases of workflows: runs that are answered from cassettes, so that no tool is called and no
// server is needed. `flowgen test` and the tests that `flowgen generate` writes use it; the cases are compiled from
// *.test.yaml files, which docs/testing.md describes.
//
// A cassette is a journal of package journal. A call that is missing, or recorded with another input, fails its case, and
// so does an unused record.
package flowtest

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/flowgen-dev/flowgen/runtime/usage"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Suite are the cases of one file.
type Suite struct {
	File     string `json:"file"`     // the file with the cases, for messages
	Workflow string `json:"workflow"` // its name
	Dir      string `json:"dir"`      // the folder of the file, slash-separated, relative to where the tests run
	Cases    []Case `json:"cases"`
}

// Case is one run and what it must do.
type Case struct {
	Name     string                     `json:"name"`
	Pos      string                     `json:"pos"`      // line:column in the file
	Cassette string                     `json:"cassette"` // slash-separated, relative to the folder of the file
	Input    json.RawMessage            `json:"input"`
	Answers  map[string]json.RawMessage `json:"answers"` // by key: text, or null for nobody
	Output   []Expect                   `json:"output"`
	State    []Expect                   `json:"state"`
	Calls    []CallExpect               `json:"calls"`
	Order    []Expect                   `json:"order"`
	Cost     *CostExpect                `json:"cost"`
	Error    *ErrorExpect               `json:"error"`
}

// Expect is what is expected of a field: a value in which mappings with a single `$` key are conditions.
type Expect struct {
	Field string      `json:"field"`
	Pos   string      `json:"pos"`
	Want  value.Value `json:"want"`
}

// CallExpect is what is expected of the calls with a key.
type CallExpect struct {
	Key      string          `json:"key"`
	Pos      string          `json:"pos"`
	Input    json.RawMessage `json:"input"`
	Output   json.RawMessage `json:"output"`
	Error    *ErrorExpect    `json:"error"`
	Cached   *bool           `json:"cached"`
	Attempts *int            `json:"attempts"`
	Times    *int            `json:"times"`
}

// CostExpect is what the calls of a run take together.
type CostExpect struct {
	Pos       string     `json:"pos"`
	USD       *usage.USD `json:"usd"`
	MaxUSD    *usage.USD `json:"max_usd"`
	Tokens    *int64     `json:"tokens"`
	MaxTokens *int64     `json:"max_tokens"`
	Calls     *int64     `json:"calls"`
	MaxCalls  *int64     `json:"max_calls"`
}

// ErrorExpect is the error that a run, or a call, ends with. Empty parts are not compared.
type ErrorExpect struct {
	Pos     string          `json:"pos"`
	Code    value.Code      `json:"code"`
	Node    string          `json:"node"`
	Message json.RawMessage `json:"message"`
}

// ParseSuite reads what the compiler wrote.
func ParseSuite(text []byte) (*Suite, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	s := &Suite{}
	if err := dec.Decode(s); err != nil {
		return nil, fmt.Errorf("flowtest: the cases cannot be read, generate them again: %w", err)
	}
	return s, nil
}

// Failure is something a case does otherwise than expected.
type Failure struct {
	Pos     string          `json:"pos"`  // line:column in the file with the cases
	Path    []string        `json:"path"` // what of the case: output and the field, calls, the key and the part, and so on
	Message string          `json:"message"`
	Got     json.RawMessage `json:"got,omitempty"` // what would be right here; empty when nothing could be
}

// Result is how a case ended.
type Result struct {
	Case     string          `json:"case"`
	Pos      string          `json:"pos"`
	Failures []Failure       `json:"failures"`
	Seconds  float64         `json:"seconds"`
	Wrote    string          `json:"wrote,omitempty"`  // the cassette, when it was written
	Output   json.RawMessage `json:"output,omitempty"` // of a run that succeeded
	State    json.RawMessage `json:"state,omitempty"`
}
