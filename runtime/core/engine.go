package core

import (
	"context"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/usage"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Engine carries out what a workflow's body asks for. Everything that touches the world or the clock goes through
// these four methods, so the same body runs directly, recorded, replayed, simulated or on a workflow server.
// An Engine is used by all branches of one run at the same time.
//
// With an engine attached a scope that a sibling cancelled is noticed in Do alone, never between calls: a recorded result
// must be able to answer first (rule R1), and a replay must stop where the recorded run did.
//
// An engine may also implement Starter, Finisher, Seeder, Executor, Answerer, Beginner, OwnTime, Identifier, Suspender and Waiter.
type Engine interface {
	// Do carries out one attempt of a call: answer it from a record, or run op.Exec under r.CallContext.
	// The error is nil, a *ToolError or a *RunError.
	Do(r *Run, op Op) error
	// Fork runs body(0..n-1) concurrently, at most limit at a time, each with its own Run from r.Branch, and returns
	// when all have ended. A failing body cancels the others; the error is chosen by FirstFailure.
	Fork(r *Run, n, limit int, body func(r *Run, i int) error) error
	// Sleep waits, or returns early with r.Cancelled.
	Sleep(r *Run, d time.Duration) error
	// Now returns the run's time.
	Now(r *Run) time.Time
}

// Starter is an Engine that wants to know when a run begins. An error makes every call of the run fail.
type Starter interface{ Start(r *Run) error }

// Finisher is an Engine that wants to know how a run ended. Its error becomes the run's when the run had none.
type Finisher interface{ Finish(r *Run, err error) error }

// Seeder is an Engine that fixes the run's random seed, so that a replay draws the same numbers.
type Seeder interface{ Seed() uint64 }

// Executor is an Engine that says whether it runs tools. One that does not needs no secrets.
type Executor interface{ Executes() bool }

// Answerer is an Engine that answers calls from a journal. Recorded calls were allowed and paid for when they were made.
type Answerer interface {
	// Answers reports whether Do will answer this attempt from a record. No call and no cost is then reserved for it.
	Answers(h *Head) bool
	// Spent yields what the recorded attempts whose key begins with prefix count as, but for those that a policy denied:
	// one call, none for models, and what it took for each with a result; no call, but what was reserved, for each without.
	Spent(prefix string, yield func(tool string, calls int64, took usage.Spend))
}

// Identifier is an Engine that says which id its run has.
type Identifier interface {
	// Identify is called before Start when the id was chosen with WithRunID. An error makes the run fail.
	Identify(id string) error
	// ID returns the id once the run has started.
	ID() string
}

// Suspender is an Engine that can stop runs that wait for a user, to be resumed later. They are not undone.
type Suspender interface{ Suspended() bool }

// Op is one attempt of a call as engines see it: typed inside, erased outside, encoded only when asked.
type Op interface {
	Head() *Head
	// EncodeIn appends the input as canonical JSON (RFC 8785).
	EncodeIn([]byte) ([]byte, error)
	// EncodeOut appends the output as JSON that DecodeOut restores exactly.
	EncodeOut([]byte) ([]byte, error)
	DecodeOut([]byte) error
	// Cost is what an attempt is estimated to take at most.
	Cost() usage.Spend
	// Exec runs the tool within its timeouts and checks the output. The error is a *ToolError or a *RunError.
	Exec(context.Context) error
}

// Head is what all Ops have in common. Start, End, Err and Replayed are for the engine to fill.
type Head struct {
	Node       *Node
	Tool       string // name@version
	Scope      *Scope
	Visit      int32 // 1 for the node's first run in its scope
	Attempt    int32 // from 1
	Effects    Effects
	Replay     ReplayPolicy
	Replayed   bool          // answered from a record
	Cached     bool          // answered from a cache
	refused    bool          // by the policy, or because of its input; what is small is together because every recorded call is one Head
	bounds     *bounds       // nil: the tool says nothing, and the attempt is not on its way
	Start, End time.Duration // since the engine's own beginning
	Since      *time.Time    // nil, or of a wait that a crash has cut off: when it began
	Err        error
	InDoubt    *Doubt    // what a call that crashed comes to; nil: FailInDoubt
	Metadata   *Metadata // nil when there is nothing
}

// Metadata is the data that an attempt reports in addition to its result; a journal stores it in the record.
type Metadata struct {
	Denied      bool      // refused by the policy or because the node's time is over, so that it does not count
	Cost        usage.USD // what it has cost
	Tokens      int64     // what it has taken of them, of models
	Metered     bool      // it was a call of a model
	Truncated   bool      // the output is the beginning of a larger one (Agent Tools 5.4)
	Attachments []Attachment
	Sandbox     Tier   // obtained
	Abandoned   bool   // its function went on after its timeout, and nobody waits for it
	Logs        string // what its program printed besides the result, see Invocation.Log

	refused *value.ToolError // by the policy
	paid    bool             // the policy has counted it
	most    usage.Spend      // what was reserved
	calls   int64            // and as how many calls it counts
	began   bool             // Exec was called
	parent  string           // traceparent of the attempt's span
	waited  time.Duration    // for its turn, of a node with a timeout that is repeated
	ran     bool             // the tool was called
	logs    *logs            // until it has returned
}

// beside makes Metadata where there is none.
func (h *Head) metadata() *Metadata {
	if h.Metadata == nil {
		h.Metadata = new(Metadata)
	}
	return h.Metadata
}

// Key returns the call's key: scope path, node id, and the visit from 2 on. It does not depend on the schedule.
func (h *Head) Key() string { return h.Scope.key(h.Node.ID, h.Visit) }

// StartAt is the Start of an attempt that begins now, in a run that began at base. One that a crash has cut off has begun before.
func (h *Head) StartAt(base time.Time) time.Duration {
	if h.Since != nil {
		return h.Since.Sub(base)
	}
	return time.Since(base)
}

// Goroutines is the engine that runs branches as goroutines and records nothing. Other engines embed it.
type Goroutines struct{}

// Do runs the call.
func (Goroutines) Do(r *Run, op Op) error {
	if err := r.Cancelled(); err != nil {
		return err
	}
	return op.Exec(r.CallContext(op.Head().Effects))
}

// Fork runs the bodies as goroutines. When limit is less than n, bodies not yet begun when one fails do not begin.
func (Goroutines) Fork(r *Run, n, limit int, body func(r *Run, i int) error) error {
	return fork(r, n, limit, body)
}

// Sleep waits for d or the cancellation of the scope.
func (Goroutines) Sleep(r *Run, d time.Duration) error {
	if err := r.Cancelled(); err != nil || d <= 0 {
		return err
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-r.ctx.Done():
		return r.Cancelled()
	}
}

// Now returns the wall clock.
func (Goroutines) Now(*Run) time.Time { return time.Now() }
