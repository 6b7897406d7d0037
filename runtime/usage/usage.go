package usage

// Usage is what a call of a model took.
type Usage struct {
	InputTokens  int64 `json:"input_tokens"`        // cached ones included
	CachedTokens int64 `json:"cached_input_tokens"` // of InputTokens
	OutputTokens int64 `json:"output_tokens"`
	CostUSD      *USD  `json:"cost_usd"` // nil: nobody knows
}

// A Spender is an output that says what it took to make it. The event that a call has ended carries it, also when a
// journal or a cache answered. Spent returns nil when it does not know.
type Spender interface{ Spent() *Usage }

// Modelled is an output that a model has made. AnsweredBy returns which one, as its provider says.
type Modelled interface{ AnsweredBy() string }

// Spend is what calls take out of budgets: dollars, and tokens of language models.
type Spend struct {
	Cost   USD
	Tokens int64
}

// Minus returns what is left of s.
func (s Spend) Minus(t Spend) Spend { return Spend{s.Cost - t.Cost, s.Tokens - t.Tokens} }
