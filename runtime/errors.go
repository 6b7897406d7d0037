package runtime

import (
	"context"
	"errors"
	"fmt"
)

// Code is one of the nine stable error codes of tools (Agent Tools 3.4). Workflows may branch on them.
type Code string

// The nine codes.
const (
	ValidationError Code = "VALIDATION_ERROR" // input or output does not fit its schema
	Timeout         Code = "TIMEOUT"          // an attempt took longer than its timeout
	RateLimit       Code = "RATE_LIMIT"       // a rate limit was exceeded
	PolicyDenied    Code = "POLICY_DENIED"    // the policy (caps, effects, bounds) refused the call
	AuthRequired    Code = "AUTH_REQUIRED"    // a secret is missing or was not accepted
	ProviderError   Code = "PROVIDER_ERROR"   // the program or service behind the tool failed
	NetworkError    Code = "NETWORK_ERROR"    // name resolution or connection failed
	SandboxError    Code = "SANDBOX_ERROR"    // the sandbox failed
	Unknown         Code = "UNKNOWN"          // anything else, panics included
)

// ToolError is the error object of a tool call (Agent Tools 3.4). In JSON all four fields are always present, null
// when empty. Tools return one to choose the code; any other error becomes UNKNOWN.
type ToolError struct {
	Code        Code     `json:"code"`
	Message     string   `json:"message"`
	Details     Value    `json:"details"`
	RetryAfterS *float64 `json:"retry_after_s"` // seconds the other side asks to wait

	cause *cause
}

// A cause is the error of a tool behind the error that it became. Others can be found in it; its text is the redacted one.
type cause struct {
	err  error
	text string
}

func (c *cause) Error() string        { return c.text }
func (c *cause) Is(target error) bool { return errors.Is(c.err, target) }
func (c *cause) As(target any) bool   { return errors.As(c.err, target) }

// from returns e with what it came from.
func (e *ToolError) from(err error) *ToolError {
	e.cause = &cause{err, e.Message}
	return e
}

// Unwrap leads errors.Is and errors.As to the error that the tool itself returned, or to the *PanicError of one that
// panicked. After a replay or a resume that error is not there: a journal keeps code, message and details.
func (e *ToolError) Unwrap() error {
	if e == nil || e.cause == nil {
		return nil
	}
	return e.cause
}

// Equal reports whether both say the same. What they came from does not count.
func (e *ToolError) Equal(o *ToolError) bool {
	if e == nil || o == nil {
		return e == o
	}
	after := e.RetryAfterS == o.RetryAfterS || e.RetryAfterS != nil && o.RetryAfterS != nil && *e.RetryAfterS == *o.RetryAfterS
	return e.Code == o.Code && e.Message == o.Message && after && e.Details.Equal(o.Details)
}

// Error returns "CODE: message".
func (e *ToolError) Error() string { return string(e.Code) + ": " + e.Message }

// Errorf returns a ToolError with the given code and a formatted message.
func Errorf(code Code, format string, args ...any) *ToolError {
	return &ToolError{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Invalid returns a VALIDATION_ERROR with a formatted message.
func Invalid(format string, args ...any) *ToolError { return Errorf(ValidationError, format, args...) }

// RunErrorKind says which run error it is.
type RunErrorKind string

// The kinds of run errors. They end the run; no catch, on_error or retry applies to them.
const (
	Cancelled          RunErrorKind = "cancelled"           // the scope or the whole run was cancelled
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

// toolError returns err's *ToolError, nil when err is a run error or nil.
func toolError(err error) *ToolError {
	if err == nil { // what errors.As needs is on the heap
		return nil
	}
	var te *ToolError
	if errors.As(err, &te) {
		return te
	}
	return nil
}

// Skipped returns nil when err is a tool error, so that on_error: skip and on_error: default go on, and err otherwise.
func Skipped(err error) error {
	if toolError(err) != nil {
		return nil
	}
	return err
}

// Caught is catch for map, loop and flow nodes: the tool error when n handles its code, else err.
// At most one of the results is non-nil.
func Caught(n *Node, err error) (*ToolError, error) {
	if te := toolError(err); te != nil && n.Catches(te.Code) {
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

// classify turns any error of a call that ran under ctx into a *ToolError or *RunError.
func (r *Run) classify(ctx context.Context, err error) error {
	var re *RunError
	if errors.As(err, &re) {
		return re
	}
	var te *ToolError
	if errors.As(err, &te) && te != nil {
		if error(te) == err || te.cause != nil {
			return te
		}
		own := *te
		return own.from(err) // what wraps it is looked for as well
	}
	if ctx.Err() != nil {
		return r.cancelled(ctx)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return Errorf(Timeout, "%v", err).from(err)
	}
	return Errorf(Unknown, "%v", err).from(err)
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
	if r.state.fatal.Load() != nil { // a run error is no result, and what follows from it is none
		return &RunError{Kind: Cancelled, By: ByRun, Message: "the run cannot go on", Err: ctx.Err()}
	}
	return &RunError{Kind: Cancelled, By: ByScope, Message: errSibling.Error(), Err: ctx.Err()}
}

// NoCase is the error of a switch that has no case for v and no default. expr is the switch's source text.
func NoCase(r *Run, n *Node, expr string, v any) error {
	return r.Fail(n, Invalid("switch %s has no case for %s and no default", expr, clip(JSON(v), 80)))
}

// clip bounds text from outside that goes into a message.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	cut := n
	for cut > 0 && s[cut]&0xC0 == 0x80 {
		cut--
	}
	return s[:cut] + "…"
}
