package core

// Doubt says what a resumed run does with a call that had begun when the program died, and that has no result: it may
// have happened, or not. Only calls that change something can be in doubt. It is static data and read-only.
type Doubt struct {
	Policy DoubtPolicy
	Output string // AssumeDone: the output that the call is taken to have had, as JSON
}

// DoubtPolicy is a way to settle a call in doubt.
type DoubtPolicy uint8

// The policies.
const (
	FailInDoubt  DoubtPolicy = iota // the run ends with the in_doubt run error
	RetryWithKey                    // the call is retried with the same idempotency key, for tools that recognize a repetition by it
	AskInDoubt                      // a user decides whether it happened
	AssumeDone                      // it is taken to have happened, with the output that the workflow says
)

var doubtNames = [...]string{"fail", "retry_with_key", "ask", "assume_done"}

// String returns the word of the workflow language.
func (p DoubtPolicy) String() string {
	if int(p) < len(doubtNames) {
		return doubtNames[p]
	}
	return doubtNames[FailInDoubt]
}

// OnInDoubt sets what a resumed run does with a call of the tool that is in doubt, unless its node overrides it
// (Node.InDoubt). The default is to fail the run.
func OnInDoubt(d Doubt) ToolOption { return func(o *toolOptions) { o.inDoubt = &d } }

// doubt is what holds for calls of n: what the node says, else what its tool says; nil is FailInDoubt.
func (o *toolOptions) doubt(n *Node) *Doubt {
	if n.InDoubt != nil {
		return n.InDoubt
	}
	return o.inDoubt
}
