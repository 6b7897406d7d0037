package ir

import "github.com/flowgen-dev/flowgen/ir/source"

// A CaseFile is a file of test cases of one workflow: runs that are answered from cassettes, and what they must do.
type CaseFile struct {
	File     *source.File
	Workflow Ident // the workflow's file, relative to this one
	Cases    []*TestCase
}

// A TestCase is one run of the workflow.
type TestCase struct {
	Name        Ident
	Description string
	Input       []*Entry // constants
	Answers     []*Entry // by key of the human node's call: a scalar; null: nobody answers
	Cassette    Ident    // relative to the case file; its name is never empty
	Want        Want
	Span        source.Span // the entire mapping
}

// Want is what a case says about its run.
type Want struct {
	Output []*Entry    // by field: constants with conditions
	State  []*Entry    // by field, at the end of the run
	Calls  []*WantCall // in file order
	Order  []Ident     // keys of calls, each of which must have ended before the next begins
	Cost   *WantCost
	Error  *WantError  // nil: the run succeeds
	Span   source.Span // zero when there is no `want`
}

// WantCall is what a case says about the calls with a key.
type WantCall struct {
	Key      Ident // `fetch`, `probe[*]/search`, `draft#2`
	Input    Value // nil: anything
	Output   Value
	Error    *WantError
	Cached   *bool
	Attempts *int
	Times    *int // nil: once or more

	Places map[string]source.Span // of the values, by key
}

// WantCost bounds what the run's calls take together.
type WantCost struct {
	USD, MaxUSD       string // decimals; empty: anything
	Tokens, MaxTokens *int64
	Calls, MaxCalls   *int64
	Span              source.Span
	Places            map[string]source.Span // of the values, by key
}

// WantError is the error that a run, or a call, must end with.
type WantError struct {
	Code    Ident // one of the nine; empty: any
	Node    Ident // empty: any; of a run only
	Message Value // nil: any
	Span    source.Span
}

// Conditions are the keys of a mapping that is a condition and not a value: `{$contains: text}`.
var Conditions = []string{"$contains", "$matches", "$min", "$max", "$size", "$any", "$has"}

// Condition is the condition that a value of a case is, and what it is compared with; "" when it is a plain value.
func Condition(v Value) (name Ident, arg Value) {
	o, ok := v.(*Object)
	if !ok || len(o.Entries) != 1 || len(o.Entries[0].Key.Name) == 0 || o.Entries[0].Key.Name[0] != '$' {
		return Ident{}, nil
	}
	return o.Entries[0].Key, o.Entries[0].Value
}
