package worker

import (
	"context"
	"errors"
	"io/fs"
	"os/exec"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/internal/plain"
	"github.com/flowgen-dev/flowgen/runtime/internal/proc"
	"github.com/flowgen-dev/flowgen/runtime/redact"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

const messageRunes = 1000 // of a worker's words in a message

// cause is why a worker was killed.
type cause struct{ text string }

var (
	stuck   = &cause{"was stopped, because another call in it did not end"}
	deaf    = &cause{"stopped reading"}
	mute    = &cause{"closed its connection"}
	garbage = &cause{"broke the protocol"}
	slow    = &cause{"was not ready after " + StartTimeout.String()}
	closed  = &cause{"was closed"}

	leaksFiles    = &cause{"was replaced, because it keeps too many descriptors open"}
	leaksThreads  = &cause{"was replaced, because it keeps too many threads"}
	leaksMemory   = &cause{"was replaced, because it keeps too much memory"}
	leaksChildren = &cause{"was replaced, because it leaves too many processes behind"}
)

// lost is the error of a call whose worker is gone.
type lost struct {
	message string
	closed  bool // the pool was shut down
	again   bool // the call may have been done, but may be made again
	details value.Value
}

func (l *lost) Error() string { return l.message }

func (l *lost) tool() error {
	return &value.ToolError{Code: value.SandboxError, Message: l.message, Details: l.details}
}

// lostBy is the error of f when its worker has ended. Whether f is to blame cannot be told. The pool is locked.
func (w *process) lostBy(f *flight) error {
	return &lost{
		message: f.call.What + ": the " + w.pool.config.Name + " " + w.ending(tool.RedactorOf(f.call.ctx)),
		closed:  w.cause == closed,
		again:   f.call.Effects <= flow.Reads,
		details: w.printed(),
	}
}

// ending says how the worker ended, without secrets.
func (w *process) ending(secrets *redact.Redactor) string {
	text := ""
	switch s := w.end; {
	case w.cause != nil && w.cause != mute && w.cause != deaf:
		return w.cause.text
	case s.Lost:
		text = "was lost"
	case s.Signal == "SIGKILL" && w.cause != nil: // else it had ended before it could be killed for that
		text = w.cause.text
	case s.Signal != "":
		text = "was killed by " + s.Signal
	default:
		text = "exited with status " + strconv.Itoa(s.Code)
	}
	if last := plain.Line(lastLine(w.tail.Text(), secrets), messageRunes); last != "" {
		text += ": " + last
	}
	return text
}

// printed are the details of a worker that ended.
func (w *process) printed() value.Value {
	text := w.tail.Text()
	if text == "" {
		return value.Null()
	}
	return value.Map(value.Entry{Key: "output", Value: value.String(text)})
}

// ended is the error of a call whose context has ended.
func ended(c *Call, err error) error {
	if !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return value.Errorf(value.Timeout, "%s did not finish in time and was stopped", c.What)
}

// answer is the object a worker sends for a call that failed.
type answer struct {
	Code       string      `json:"code"`
	Message    string      `json:"message"`
	Details    value.Value `json:"details,omitzero"`
	RetryAfter *float64    `json:"retry_after_s,omitempty"`
}

var codes = []value.Code{value.ValidationError, value.Timeout, value.RateLimit, value.PolicyDenied, value.AuthRequired,
	value.ProviderError, value.NetworkError, value.SandboxError, value.Unknown}

// Answered reads the error object that an interpreter gave for a call of what: {code, message, details, retry_after_s}.
// It is not trusted more than tools are. The secrets of ctx's call are taken out of the message while its lines are whole.
func Answered(ctx context.Context, what string, body []byte) error {
	var a answer
	if err := value.Decode(body, &a); err != nil {
		return value.Errorf(value.SandboxError, "%s failed, and its worker could not say how", what)
	}
	e := &value.ToolError{Code: value.Unknown, Message: plain.Line(tool.RedactorOf(ctx).Cut(a.Message), messageRunes), Details: a.Details}
	for _, code := range codes {
		if string(code) == a.Code {
			e.Code = code
		}
	}
	if a.RetryAfter != nil && *a.RetryAfter >= 0 {
		e.RetryAfterS = a.RetryAfter
	}
	return e
}

// reason says why a worker could not be started. What is missing may be its directory, too.
func reason(err error) string {
	if !errors.Is(err, exec.ErrNotFound) && errors.Is(err, fs.ErrNotExist) {
		return "no such program or directory"
	}
	return plain.Line(proc.Reason(err), messageRunes)
}

// lastLine returns the line in which an interpreter says why it stops: the last one that names an error, or else the last.
func lastLine(text string, secrets *redact.Redactor) string {
	lines := strings.Split(strings.TrimSpace(secrets.Cut(text)), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if first, _, ok := strings.Cut(lines[i], ":"); ok && strings.Contains(first, "Error") && !strings.Contains(first, " ") {
			return strings.TrimSpace(lines[i])
		}
	}
	return strings.TrimSpace(lines[len(lines)-1])
}
