package value

import (
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

// From returns e with the error that it stands for, which errors.Is and errors.As find in it.
func (e *ToolError) From(err error) *ToolError {
	e.cause = &cause{err, e.Message}
	return e
}

// Clean returns a copy of e with another message and other details: those without secrets. What e stands for stays.
func (e *ToolError) Clean(message string, details Value) *ToolError {
	clean := &ToolError{Code: e.Code, Message: message, Details: details, RetryAfterS: e.RetryAfterS}
	if e.cause != nil {
		return clean.From(e.cause.err)
	}
	return clean
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

// ToolErrorOf returns the *ToolError in err, nil when there is none.
func ToolErrorOf(err error) *ToolError {
	if err == nil { // what errors.As needs is on the heap
		return nil
	}
	var te *ToolError
	if errors.As(err, &te) {
		return te
	}
	return nil
}

// Clip returns at most n bytes of s, in whole characters: for text from outside that goes into a message.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	cut := n
	for cut > 0 && s[cut]&0xC0 == 0x80 {
		cut--
	}
	return s[:cut] + "…"
}
