package ir

import "github.com/flowgen-dev/flowgen/ir/source"

// A ContextNode is what a node of SirenSpec does with the working context: what it sends, and where its result goes.
type ContextNode struct {
	OutputKey string    // of a tool: below working.<node>
	Writes    []string  // path that an agent's text goes to besides, as in output.summary; nil: none
	Request   *Request  // of an http tool
	Guards    []Guard   // of an agent, in order
	Counted   bool      // of a factory: Over of its map is a number
	Limit     *Duration // of a factory: for one instance
	Retry     *AgentRetry
	Failure   *AgentFailure // nil: the run ends
}

// A Request is what an http tool of SirenSpec sends.
type Request struct {
	Method  string
	URL     *Mixed
	Headers []MixedEntry
	Body    *Mixed // nil: none
	Seconds int64  // timeout
}

// A MixedEntry is a name with text that has references in it.
type MixedEntry struct {
	Key   Ident
	Value *Mixed
}

// A Guard is a guardrail with what it takes.
type Guard struct {
	Name    string   // injection, length, pii or schema
	Most    int64    // length: characters of an answer
	Raise   bool     // length: a longer answer is refused, and else cut
	What    []string // pii: email, phone, ssn, credit_card
	Action  string   // pii: redact, block or flag
	Instead string   // pii: what stands for what is taken out
	Schema  string   // schema: its JSON
	Span    source.Span
}

// RequestTool sends what its node says, as SirenSpec's http adapter does.
type RequestTool struct {
	Host string   // that the URL names; empty when only a run knows it
	Env  []string // variables of the environment that it sends
}

func (*RequestTool) binding() {}
