package core

import (
	"slices"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Node is one node of a workflow: static data, written once by the generator and shared by all runs.
type Node struct {
	ID, Pos  string        // Pos is "file:line:col" in the YAML source
	Index    int           // place in the program's node table
	Retry    *Retry        // nil: one attempt
	Timeout  time.Duration // of all attempts and the waits between them, Retry.Timeout is that of one; 0 = none
	Limit    int           // map: items at a time; 0 = 8
	Block    int           // map: items a worker takes at once; 0 = 1. Larger only when every tool of the body is pure
	Max      int           // map: most items, loop: most iterations; 0 = unbounded
	Every    time.Duration // loop: between the beginnings of iterations; 0 = at once
	Within   time.Duration // loop: no iteration begins later than that after the first one; 0 = no bound
	GoOn     bool          // loop: the end of Within is not an error
	Catch    []value.Code  // codes the workflow handles with catch
	CatchAny bool          // catch any: every tool error is handled
	Policy   *Policy       // flow: what the sub-workflow may do
	InDoubt  *Doubt        // of its calls; nil: what their tools say
}

// Retry says when a failed attempt is repeated and how long to wait before.
type Retry struct {
	Attempts  int           // total number of attempts; 0 and 1 mean one
	Codes     []value.Code  // codes worth another attempt; empty = RATE_LIMIT, TIMEOUT, NETWORK_ERROR, PROVIDER_ERROR
	Base, Cap time.Duration // first wait and its upper bound; Cap 0 = none
	Constant  bool          // wait Base each time; otherwise the wait doubles
	Jitter    float64       // share of the wait that is random, 0 to 1
	Timeout   time.Duration // of one attempt; 0 = none
}

const defaultLimit = 8

// Gated reports whether a call of n must go through the door even when nothing records the run.
func (n *Node) Gated() bool {
	return n.Retry != nil || n.Timeout != 0 || n.CatchAny || n.Catch != nil
}

// Catches reports whether the workflow handles errors of code c on n.
func (n *Node) Catches(c value.Code) bool {
	return n.CatchAny || slices.Contains(n.Catch, c)
}

func (n *Node) limit(items int) int {
	l := n.Limit
	if l <= 0 {
		l = defaultLimit
	}
	return min(l, items)
}
