// Package catalog is what is known of language models of others: what they cost, and how much they read and write. It is
// data that the compiler, which says beforehand what a workflow costs at most, and the runtime, which counts what it has
// cost, have to agree on.
package catalog

import (
	"regexp"
	"strings"
)

// A Price is what a million tokens cost in dollars, as decimals.
type Price struct {
	Input  string `json:"input"`
	Cached string `json:"cached,omitempty"` // of what the provider had cached; empty: that of Input
	Output string `json:"output"`
}

// A Model is a model of a provider.
type Model struct {
	Price        // of prompts of up to 200,000 tokens
	Prompt int64 `json:"prompt,omitempty"` // the most tokens of a prompt; zero: not known
	// Answer is the most tokens of an answer; zero: not known.
	Answer int64  `json:"answer,omitempty"`
	Long   *Price `json:"long,omitempty"` // the price of longer prompts; nil: the same, or it takes none
}

// Highest is the price that a call can have at most.
func (m *Model) Highest() Price {
	if m.Long != nil {
		return *m.Long
	}
	return m.Price
}

// AnswerBound is the most tokens of an answer under a cap of cost or tokens, for a model without max_tokens.
const AnswerBound = 4096

// Find returns what the list of this release says of provider:id. A dated version is what its model is.
func Find(name string) (Model, bool) { return Released().Find(name) }

// Find returns what the list says of provider:id. A dated version is what its model is.
func (l *List) Find(name string) (Model, bool) {
	if id, ok := strings.CutPrefix(name, "openai-responses:"); ok { // another interface to the same models
		name = "openai:" + id
	}
	if m, ok := l.Models[name]; ok {
		return m, true
	}
	m, ok := l.Models[dated.ReplaceAllString(name, "")]
	return m, ok
}

var dated = regexp.MustCompile(`-(\d{4}-\d{2}-\d{2}|\d{8}|\d{3}|latest)$`)
