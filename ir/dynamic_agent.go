package ir

import "github.com/flowgen-dev/flowgen/ir/source"

// AgentRetry says when an agent of SirenSpec is asked again.
type AgentRetry struct {
	Attempts int     // in total, at least 1
	Backoff  string  // constant, linear or exponential
	Base     float64 // seconds before the second attempt
	Most     float64 // seconds between attempts
	Jitter   bool    // waits differ by up to 20 %
	On       []string
	Guards   bool // an answer that a guardrail refuses is asked for again
	Span     source.Span
}

// AgentFailure is what becomes of an agent of SirenSpec whose attempts are spent.
type AgentFailure struct {
	Action  string // abort, fallback, skip or use_default
	Node    Ident  // fallback: that runs instead; an empty name: none
	Default string // use_default: the text in place of the answer
	Span    source.Span
}

// A Budget bounds the run of a workflow of SirenSpec. It is looked at when a node has ended, but for tools.
type Budget struct {
	Tokens   int64   // 0: no bound
	USD      string  // a decimal; empty: no bound
	Seconds  float64 // 0: no bound
	Exceeded string  // abort, warn or skip_remaining
	Declared bool    // the run says how much of it was spent; else it is that of a guardrail
	Span     source.Span
}
