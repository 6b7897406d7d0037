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
	Input, Cached, Output string
}

// A Model is a model of a provider.
type Model struct {
	Price Price // of prompts of up to 200,000 tokens
	Long  Price // of longer prompts; zero: the same, or it takes none
	Input int64 // the most tokens of a prompt
	// Output is the most tokens of an answer.
	Output int64
}

// Highest is the price that a call can have at most.
func (m *Model) Highest() Price {
	if m.Long != (Price{}) {
		return m.Long
	}
	return m.Price
}

// AnswerBound is the most tokens of an answer under a cap of cost or tokens, for a model without max_tokens.
const AnswerBound = 4096

// Find returns what is known of provider:id. A dated version is what its model is.
func Find(name string) (Model, bool) {
	if id, ok := strings.CutPrefix(name, "openai-responses:"); ok { // another interface to the same models
		name = "openai:" + id
	}
	if m, ok := models[name]; ok {
		return m, true
	}
	m, ok := models[dated.ReplaceAllString(name, "")]
	return m, ok
}

var dated = regexp.MustCompile(`-(\d{4}-\d{2}-\d{2}|\d{8}|\d{3}|latest)$`)

// models have list prices as the providers published them in autumn 2025, for estimates and caps, without the surcharge
// for writing to a cache, which no provider here asks for. `price:` of a model overrides them; a model that is not here has
// no cost unless it has a price. Prompts of Anthropic's are those without the beta header for longer ones.
var models = map[string]Model{
	"openai:gpt-4o":       {Price: Price{"2.50", "1.25", "10"}, Input: 128_000, Output: 16_384},
	"openai:gpt-4o-mini":  {Price: Price{"0.15", "0.075", "0.60"}, Input: 128_000, Output: 16_384},
	"openai:gpt-4.1":      {Price: Price{"2", "0.50", "8"}, Input: 1_047_576, Output: 32_768},
	"openai:gpt-4.1-mini": {Price: Price{"0.40", "0.10", "1.60"}, Input: 1_047_576, Output: 32_768},
	"openai:gpt-4.1-nano": {Price: Price{"0.10", "0.025", "0.40"}, Input: 1_047_576, Output: 32_768},
	"openai:gpt-5":        {Price: Price{"1.25", "0.125", "10"}, Input: 400_000, Output: 128_000},
	"openai:gpt-5.1":      {Price: Price{"1.25", "0.125", "10"}, Input: 400_000, Output: 128_000},
	"openai:gpt-5-mini":   {Price: Price{"0.25", "0.025", "2"}, Input: 400_000, Output: 128_000},
	"openai:gpt-5-nano":   {Price: Price{"0.05", "0.005", "0.40"}, Input: 400_000, Output: 128_000},
	"openai:o3":           {Price: Price{"2", "0.50", "8"}, Input: 200_000, Output: 100_000},
	"openai:o4-mini":      {Price: Price{"1.10", "0.275", "4.40"}, Input: 200_000, Output: 100_000},

	"anthropic:claude-opus-4":     {Price: Price{"15", "1.50", "75"}, Input: 200_000, Output: 32_000},
	"anthropic:claude-opus-4-1":   {Price: Price{"15", "1.50", "75"}, Input: 200_000, Output: 32_000},
	"anthropic:claude-opus-4-5":   {Price: Price{"5", "0.50", "25"}, Input: 200_000, Output: 64_000},
	"anthropic:claude-sonnet-4":   {Price: Price{"3", "0.30", "15"}, Input: 200_000, Output: 64_000},
	"anthropic:claude-sonnet-4-5": {Price: Price{"3", "0.30", "15"}, Input: 200_000, Output: 64_000},
	"anthropic:claude-haiku-4-5":  {Price: Price{"1", "0.10", "5"}, Input: 200_000, Output: 64_000},
	"anthropic:claude-3-5-haiku":  {Price: Price{"0.80", "0.08", "4"}, Input: 200_000, Output: 8_192},

	"gemini:gemini-3-pro-preview":  {Price: Price{"2", "0.20", "12"}, Long: Price{"4", "0.40", "18"}, Input: 1_048_576, Output: 65_536},
	"gemini:gemini-2.5-pro":        {Price: Price{"1.25", "0.31", "10"}, Long: Price{"2.50", "0.625", "15"}, Input: 1_048_576, Output: 65_536},
	"gemini:gemini-2.5-flash":      {Price: Price{"0.30", "0.075", "2.50"}, Input: 1_048_576, Output: 65_536},
	"gemini:gemini-2.5-flash-lite": {Price: Price{"0.10", "0.025", "0.40"}, Input: 1_048_576, Output: 65_536},
	"gemini:gemini-2.0-flash":      {Price: Price{"0.10", "0.025", "0.40"}, Input: 1_048_576, Output: 8_192},
}
