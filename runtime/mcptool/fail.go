package mcptool

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/internal/plain"
)

const (
	nameRunes    = 100     // of a name in a message
	messageRunes = 300     // of the server's own words in a message
	detailBytes  = 4 << 10 // of them in the details
)

func shown(s string) string { return plain.Line(s, nameRunes) }

// details say which server it was.
func (s *Server) details(more ...runtime.Entry) runtime.Value {
	return runtime.MapValue(append([]runtime.Entry{{Key: "server", Value: runtime.StringValue(s.name)}}, more...)...)
}

func (s *Server) fault(code runtime.Code, message string, more ...runtime.Entry) error {
	return &runtime.ToolError{Code: code, Message: message, Details: s.details(more...)}
}

// failed translates the error of a request. ctx is the call's, a what came for it.
func (x *session) failed(ctx context.Context, a *answer, err error) error {
	te := x.cause(ctx, a, err)
	var tool *runtime.ToolError
	if errors.As(te, &tool) {
		return x.redacted(tool)
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
		return s.fault(runtime.PolicyDenied, "server "+s.name+" "+redirect.why)
	}
	var failure *runtime.ToolError
	if s.remote != nil {
		if te := x.httpFailure(a); !errors.As(te, &failure) && te != nil {
			return te
		}
	}
	switch e := rpcError(err); {
	case failure != nil && (e == nil || failure.Code == runtime.AuthRequired || failure.Code == runtime.RateLimit):
		return failure // the status says more
	case e != nil:
		return s.refused(e)
	}
	if a.result() != nil {
		return s.fault(runtime.ProviderError, "server "+s.name+" gave an answer that cannot be used: "+plain.Line(innermost(err).Error(), messageRunes))
	}
	x.lost.Store(true)
	if x.process != nil {
		return x.process.lost(err)
	}
	return s.fault(runtime.NetworkError, "the connection with server "+s.name+" failed: "+plain.Line(err.Error(), messageRunes))
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
func (s *Server) refused(e *jsonrpc.Error) error {
	code := runtime.ProviderError
	if e.Code == jsonrpc.CodeInvalidParams {
		code = runtime.ValidationError
	}
	return s.fault(code, "server "+s.name+" refused the call: "+plain.Line(e.Message, messageRunes),
		runtime.Entry{Key: "rpc_code", Value: runtime.IntValue(e.Code)})
}

func (x *session) tooLarge() error {
	return x.server.fault(runtime.PolicyDenied, "server "+x.server.name+" sent a message larger than the bytes allowed",
		runtime.Entry{Key: "max_bytes", Value: runtime.IntValue(int64(x.frame))})
}

// toolFailed is the error of a result that says that the tool failed.
func (c *call) toolFailed() error {
	text := c.session.redact(strings.Join(c.texts(), "\n"))
	message := c.name() + " failed"
	if first := plain.Line(text, messageRunes); first != "" {
		message += ": " + first
	}
	return c.server.fault(runtime.ProviderError, message, runtime.Entry{Key: "tool", Value: runtime.StringValue(shown(c.pin.Tool))},
		runtime.Entry{Key: "text", Value: runtime.StringValue(clip(text, detailBytes))})
}

// clip cuts text before the limit, between characters.
func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "")
}

const redaction = "[redacted]"

// redacted takes the session's secrets out of an error.
func (x *session) redacted(e *runtime.ToolError) *runtime.ToolError {
	if len(x.secrets) == 0 {
		return e
	}
	out := *e
	out.Message = x.redact(e.Message)
	out.Details = x.redactValue(e.Details)
	return &out
}

func (x *session) redactValue(v runtime.Value) runtime.Value {
	switch v.Kind() {
	case runtime.StringKind:
		return runtime.StringValue(x.redact(v.String()))
	case runtime.ListKind:
		items := make([]runtime.Value, v.Len())
		for i := range items {
			items[i] = x.redactValue(v.Index(i))
		}
		return runtime.ListValue(items...)
	case runtime.MapKind:
		var entries []runtime.Entry
		for i, key := range v.Keys() {
			entries = append(entries, runtime.Entry{Key: x.redact(key), Value: x.redactValue(v.Index(i))})
		}
		return runtime.MapValue(entries...)
	}
	return v
}

// redact takes the session's secrets out of text, in the forms in which a server may give them back.
func (x *session) redact(text string) string {
	for _, f := range forms(x.secrets) {
		text = strings.ReplaceAll(text, f, redaction)
	}
	return text
}

// forms are secrets as they may be written, the longest first.
func forms(secrets []string) []string {
	var out []string
	for _, s := range secrets {
		quoted, _ := json.Marshal(s) // text always marshals
		raw := []byte(s)
		out = append(out, s, string(quoted[1:len(quoted)-1]), url.QueryEscape(s), url.PathEscape(s), hex.EncodeToString(raw),
			base64.StdEncoding.EncodeToString(raw), base64.RawStdEncoding.EncodeToString(raw), base64.RawURLEncoding.EncodeToString(raw))
		if _, password, ok := strings.Cut(s, ":"); ok && len(password) >= 4 {
			out = append(out, password)
		}
	}
	slices.SortFunc(out, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	return slices.Compact(slices.DeleteFunc(out, func(f string) bool { return f == "" }))
}
