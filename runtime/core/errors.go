package core

import (
	"context"
	"errors"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// RunErrorKind says which run error it is.
type RunErrorKind string

// The kinds of run errors. They end the run; no catch, on_error or retry applies to them.
const (
	Cancelled          RunErrorKind = "cancelled"           // the scope or the entire run was cancelled
	InDoubt            RunErrorKind = "in_doubt"            // a write may or may not have happened before a crash
	Diverged           RunErrorKind = "diverged"            // the program asked for something the journal does not hold
	JournalUnavailable RunErrorKind = "journal_unavailable" // the journal cannot be read or written
)

// The values of RunError.By for Cancelled.
const (
	ByScope = "scope" // a sibling failed: a result like any other
	ByRun   = "run"   // the run was stopped: no result, a resumed run calls again
)

// RunError is an error of the run itself, outside the nine tool codes and never catchable.
type RunError struct {
	Kind    RunErrorKind
	By      string // Cancelled: ByScope or ByRun
	Message string
	Err     error // cause, may be nil
}

// Error returns "kind: message".
func (e *RunError) Error() string {
	if e.Message == "" {
		return string(e.Kind)
	}
	return string(e.Kind) + ": " + e.Message
}

// Unwrap returns the cause: for Cancelled the context's error.
func (e *RunError) Unwrap() error { return e.Err }

// NodeError is the error of a failed node, what Run returns. A NodeError passes through outer nodes unchanged, so the
// position is that of the innermost node.
type NodeError struct {
	Node *Node
	Key  string // scope path, node id, visit; without an engine just the node id
	Err  error  // *ToolError or *RunError

	RunID string // of the run that ended with it; empty while the run goes on
}

// Error returns "<pos>: node <id>: CODE: message".
func (e *NodeError) Error() string {
	return e.Node.Pos + ": node " + e.Node.ID + ": " + e.Err.Error()
}

// Unwrap returns the *ToolError or *RunError.
func (e *NodeError) Unwrap() error { return e.Err }

// IsCancelled reports whether err says that a run or scope was cancelled.
func IsCancelled(err error) bool {
	if err == nil {
		return false
	}
	var re *RunError
	return errors.As(err, &re) && re.Kind == Cancelled
}

// Skipped returns nil if err is a tool error, so that on_error: skip and on_error: default continue, and err otherwise.
func Skipped(err error) error {
	if value.ToolErrorOf(err) != nil {
		return nil
	}
	return err
}

// Caught is catch for map, loop and flow nodes: the tool error when n handles its code, else err.
// At most one of the results is non-nil.
func Caught(n *Node, err error) (*value.ToolError, error) {
	if te := value.ToolErrorOf(err); te != nil && n.Catches(te.Code) {
		return te, nil
	}
	return nil, err
}

// Fail returns err as the *NodeError of n. A *NodeError stays as it is and a *ToolError keeps its code; a context
// error becomes the cancelled run error when the scope is cancelled and TIMEOUT when a deadline inside the node passed;
// anything else becomes UNKNOWN. A nil err stays nil.
func (r *Run) Fail(n *Node, err error) error {
	if err == nil {
		return nil
	}
	var ne *NodeError
	if errors.As(err, &ne) {
		return ne
	}
	return &NodeError{Node: n, Key: r.scope.path() + n.ID, Err: r.redacted(r.classify(r.ctx, err))}
}

// Raise returns the error of a node that fails on purpose. cause is the error that led there, which errors.Is and errors.As
// find in it; nil when there is none.
func Raise(r *Run, n *Node, code value.Code, message string, cause *value.ToolError) error {
	e := &value.ToolError{Code: code, Message: message}
	if cause != nil {
		e = e.From(cause)
	}
	return &NodeError{Node: n, Key: r.scope.path() + n.ID, Err: r.redacted(e)}
}

// FailedNode returns the id of the first of several nodes that has an error: the last one, when the others have none.
func FailedNode(ids []string, errs ...*value.ToolError) string {
	for i, err := range errs {
		if err != nil {
			return ids[i]
		}
	}
	return ids[len(errs)]
}

// classify turns any error of a call that ran under ctx into a *ToolError or *RunError.
func (r *Run) classify(ctx context.Context, err error) error {
	var re *RunError
	if errors.As(err, &re) {
		return re
	}
	var te *value.ToolError
	if errors.As(err, &te) && te != nil {
		if error(te) == err || te.Unwrap() != nil {
			return te
		}
		own := *te
		return own.From(err) // what wraps it is looked for as well
	}
	if ctx.Err() != nil {
		return r.cancelled(ctx)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return value.Errorf(value.Timeout, "%v", err).From(err)
	}
	return value.Errorf(value.Unknown, "%v", err).From(err)
}

// cancelled describes the cancellation of ctx, which must be done. What came first counts: a call that a sibling's failure
// has stopped has that result also when the run is stopped before the call has ended.
func (r *Run) cancelled(ctx context.Context) *RunError {
	if context.Cause(ctx) == errSibling && r.state.fatal.Load() == nil {
		return &RunError{Kind: Cancelled, By: ByScope, Message: errSibling.Error(), Err: ctx.Err()}
	}
	if cause := r.state.ctx.Err(); cause != nil {
		return &RunError{Kind: Cancelled, By: ByRun, Message: "the run was stopped: " + context.Cause(r.state.ctx).Error(), Err: cause}
	}
	if r.state.fatal.Load() != nil { // a run error is not a result, and what follows from it is none
		return &RunError{Kind: Cancelled, By: ByRun, Message: "the run cannot go on", Err: ctx.Err()}
	}
	return &RunError{Kind: Cancelled, By: ByScope, Message: errSibling.Error(), Err: ctx.Err()}
}

// NoCase is the error of a switch that has no case for v and no default. expr is the switch's source text.
func NoCase(r *Run, n *Node, expr string, v any) error {
	return r.Fail(n, value.Invalid("switch %s has no case for %s and no default", expr, value.Clip(value.JSON(v), 80)))
}

// ptr returns a pointer to a copy of v.
func ptr[T any](v T) *T { return &v }
