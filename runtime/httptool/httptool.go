// Package httptool makes tools of HTTP requests. Generated code binds every
// tool of kind `http` with one of Text, JSON, None and Preview.
//
// # Requests
//
// The URL is a template of the workflow's author; values fill its places and
// go through the encoder of the place they are in. A value never changes
// scheme or host: places are allowed in the path, in the query and as the port
// only, and a path value that is empty or holds `..` is refused. Header values
// with line breaks are refused. JSON bodies are encoded from typed values.
//
// The requests of a tool that declares flow.Idempotent or IdempotencyKey have
// a header Idempotency-Key, the same for each attempt of a call, unless the
// author writes one.
//
// # Addresses
//
// Addresses that are not public (IANA's special-purpose registries for IPv4 and
// IPv6, the forms that embed IPv4 in IPv6, and cloud metadata services) are
// refused unless Allow names them. The check is made on the resolved address
// when a connection is opened, for the first request and for every redirect,
// so neither spelling, redirect nor DNS can get around it. Tools with different
// Allow lists share no connections. Proxies from the environment are not used:
// a proxy would connect where this check cannot see it.
//
// # Redirects
//
// At most MaxRedirects are followed. When scheme, host or port change, all
// headers of the tool but Accept, Accept-Language and User-Agent are dropped
// for good, and a request with a body or a method other than GET and HEAD is
// not sent on. From https to http nothing is followed.
//
// # Sizes and times
//
// A response may have MaxOutput bytes before and after decompression (gzip is
// the only encoding asked for). A larger one is POLICY_DENIED with the cap in
// the details: nothing is cut silently. Where the program has a store for large
// outputs (runtime.WithBlobs), Text keeps the whole there and returns its
// beginning, and the envelope says so (Agent Tools 5.4). Preview cuts, and
// says so in its result. Response headers may have MaxHeader bytes. Deadlines
// are the context's, as the node's timeout sets it; a call under a context
// without one has DefaultTimeout.
//
// # Errors
//
//   - VALIDATION_ERROR: a value that does not fit its place; status 400 or 422;
//     a response in an encoding, charset or type other than declared
//   - AUTH_REQUIRED: a secret is missing or unusable; status 401 or 403
//   - TIMEOUT: the deadline passed; status 408
//   - RATE_LIMIT: status 429
//   - PROVIDER_ERROR: any other status that is not 2xx
//   - NETWORK_ERROR: name resolution, connection, TLS, protocol, broken response
//   - POLICY_DENIED: a refused address or redirect, a cap
//
// The error of a status has retry_after_s when the response says so, and
// details {status, method, url, headers, body}: the URL without its query, a
// few headers, and the first bytes of the body as printable text. Values of
// secrets are taken out of everything that goes into an error.
//
// Cancellation comes back as the context's error, not as a tool error.
package httptool

import (
	"context"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

const (
	// DefaultMaxOutput is the cap of a tool that names none: 2 MiB.
	DefaultMaxOutput = 2 << 20

	// DefaultTimeout bounds a call whose context has no deadline.
	DefaultTimeout = time.Minute

	// DefaultPreview is how many bytes of text Preview keeps.
	DefaultPreview = 16 << 10

	// MaxRedirects is how many redirects one call follows.
	MaxRedirects = 5

	// MaxHeader bounds the headers of a response in bytes.
	MaxHeader = 256 << 10
)

// Request is one HTTP request.
type Request struct {
	Method string // empty means GET
	URL    Target
	Query  []Field // appended to the URL's own query
	Header []Field
	Body   Body // the zero Body is none

	// Err says that the request could not be made of the input: nothing is sent, and the call fails with it.
	Err error
}

// Field is a name and a value. A name may occur more than once.
type Field struct{ Name, Value string }

// Text binds a request whose result is the body as text. Charsets are UTF-8,
// US-ASCII and ISO-8859-1; a byte order mark is removed.
func Text[In any](name string, e flow.Effects, f func(In) Request, o ...Option) *flow.Tool[In, string] {
	return bind(name, e, f, nil, o, (*exchange).text)
}

// JSON binds a request whose result is a JSON body of type Out, decoded as
// strictly as value.Decode does.
func JSON[In, Out any](name string, e flow.Effects, f func(In) Request, o ...Option) *flow.Tool[In, Out] {
	return bind(name, e, f, acceptJSON, o, decode[Out])
}

// Any binds a request whose result is what the response is: a value when its Content-Type says JSON or nothing at all, else
// its text.
func Any[In any](name string, e flow.Effects, f func(In) Request, o ...Option) *flow.Tool[In, value.Value] {
	return bind(name, e, f, nil, o, (*exchange).any)
}

// None binds a request whose status is all that counts; the body is thrown away.
func None[In any](name string, e flow.Effects, f func(In) Request, o ...Option) *flow.Tool[In, struct{}] {
	return bind(name, e, f, nil, o, (*exchange).drop)
}

// bind makes the tool: send the request, then read the response of a 2xx.
func bind[In, Out any](name string, e flow.Effects, f func(In) Request, accept []string, opts []Option,
	read func(*exchange) (Out, error)) *flow.Tool[In, Out] {
	c := newConfig(opts)
	c.accept = accept
	return flow.Bind(name, e, func(ctx context.Context, in In) (out Out, err error) {
		x := &exchange{config: c, outer: ctx, ctx: ctx}
		if _, ok := ctx.Deadline(); !ok {
			var cancel context.CancelFunc
			x.ctx, cancel = context.WithTimeout(ctx, DefaultTimeout)
			defer cancel()
		}
		if err := x.send(f(in)); err != nil {
			return out, err
		}
		defer x.close()
		return read(x)
	}, append([]flow.ToolOption{tool.Cancellable(), flow.MaxOutput(-1)}, c.tool...)...)
}
