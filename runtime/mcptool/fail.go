package mcptool

import (
	"context"
	"errors"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowgen-dev/flowgen/runtime/internal/plain"
	"github.com/flowgen-dev/flowgen/runtime/internal/proc"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

const (
	nameRunes    = 100     // of a name in a message
	messageRunes = 300     // of the server's own words in a message
	detailBytes  = 4 << 10 // of them in the details
)

// line is text of the server on one line: secrets are taken out while its own lines are whole.
func (x *session) line(text string) string { return plain.Line(x.redactor.Cut(text), messageRunes) }

func shown(s string) string { return plain.Line(s, nameRunes) }

// details say which server it was.
func (s *Server) details(more ...value.Entry) value.Value {
	return value.Map(append([]value.Entry{{Key: "server", Value: value.String(s.name)}}, more...)...)
}

func (s *Server) fault(code value.Code, message string, more ...value.Entry) error {
	return &value.ToolError{Code: code, Message: message, Details: s.details(more...)}
}

// failed translates the error of a request. ctx is the call's, a what came for it.
func (x *session) failed(ctx context.Context, a *answer, err error) error {
	te := x.cause(ctx, a, err)
	var tool *value.ToolError
	if errors.As(te, &tool) {
		return x.redactor.Error(tool)
	}
	return te
}

func (x *session) cause(ctx context.Context, a *answer, err error) error {
	s := x.server
	if a.ctx != nil && errors.Is(context.Cause(a.ctx), errTooLarge) && ctx.Err() == nil {
		x.lost.Store(true)
		return x.tooLarge()
	}
	if x.process != nil {
		if te := x.process.fault(ctx); te != nil {
			return te
		}
	}
	if errors.Is(context.Cause(x.gone), errFlood) && ctx.Err() == nil {
		x.lost.Store(true)
		return s.fault(value.PolicyDenied, "server "+s.name+" sent too many messages")
	}
	if ctx.Err() != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			x.timedOut()
		}
		return s.stopped(ctx)
	}
	if errors.Is(err, mcp.ErrSessionMissing) {
		return err
	}
	var redirect *errRedirect
	if errors.As(err, &redirect) {
		return s.fault(value.PolicyDenied, "server "+s.name+" "+redirect.why)
	}
	var failure *value.ToolError
	if s.remote != nil {
		if te := x.httpFailure(a); !errors.As(te, &failure) && te != nil {
			return te
		}
	}
	switch e := rpcError(err); {
	case failure != nil && (e == nil || failure.Code == value.AuthRequired || failure.Code == value.RateLimit):
		return failure // the status says more
	case e != nil:
		return x.refused(e)
	}
	if a.result() != nil {
		return s.fault(value.ProviderError, "server "+s.name+" gave an answer that cannot be used: "+x.line(proc.Innermost(err).Error()))
	}
	x.lost.Store(true)
	if x.process != nil {
		return x.process.lost(err)
	}
	return s.fault(value.NetworkError, "the connection with server "+s.name+" failed: "+x.line(err.Error()))
}

// rpcError is the error that a server answered with, nil when it did not. The client marks requests that did not get
// through with an error of that type, too.
func rpcError(err error) *jsonrpc.Error {
	var e *jsonrpc.Error
	if errors.As(err, &e) && !(e.Code == codeRejected && e.Message == "rejected by transport") {
		return e
	}
	return nil
}

const codeRejected = -32005

// refused translates an error that the server answered with.
func (x *session) refused(e *jsonrpc.Error) error {
	s := x.server
	code := value.ProviderError
	if e.Code == jsonrpc.CodeInvalidParams {
		code = value.ValidationError
	}
	return s.fault(code, "server "+s.name+" refused the call: "+x.line(e.Message),
		value.Entry{Key: "rpc_code", Value: value.Int(e.Code)})
}

func (x *session) tooLarge() error {
	return x.server.fault(value.PolicyDenied, "server "+x.server.name+" sent a message larger than the limit",
		value.Entry{Key: "max_bytes", Value: value.Int(int64(x.frame))})
}

// toolFailed is the error of a result that says that the tool failed.
func (c *call) toolFailed() error {
	text := c.session.redactor.Text(strings.Join(c.texts(), "\n"))
	message := c.name() + " failed"
	if first := plain.Line(text, messageRunes); first != "" {
		message += ": " + first
	}
	return c.server.fault(value.ProviderError, message, value.Entry{Key: "tool", Value: value.String(shown(c.pin.Tool))},
		value.Entry{Key: "text", Value: value.String(clip(text, detailBytes))})
}

// clip cuts text before the limit, between characters.
func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "")
}
