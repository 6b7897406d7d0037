package ir

import "github.com/flowgen-dev/flowgen/ir/source"

// A TokenRule is a condition that has to hold before or after a node of YAMLGraph, or at the end of a graph. Its
// references are to the state, or to the output of the node.
type TokenRule struct {
	Check   source.Text // as written
	When    *Predicate
	Fail    RuleFail
	Message string // empty: one that names Check
	Tries   int    // RuleRetry: how often the node runs again
}

// RuleFail is what becomes of a rule that does not hold.
type RuleFail uint8

// It is noted and the run goes on, the run or the node ends, the node does nothing, the node runs again.
const (
	RuleWarn RuleFail = iota
	RuleHalt
	RuleSkip
	RuleRetry
)
