// Package mcptool binds the tools of MCP servers, through the official Go SDK. Generated code declares a
// server with Local or Remote and binds each of its tools with one of Text, JSON and Any.
//
// # Servers
//
// A server is started, or connected to, by the first call of one of its tools, and serves all later ones of the process:
// one session for each set of secrets. A session that has died is replaced by the next call. A local server is a child
// process with its own process group, the variables PATH, HOME, LANG, TZ and TMPDIR and those that the workflow names,
// and nothing else. It ends when its standard input does, and is killed when it does not, at the end of the program or by
// Close.
//
// A remote server is reached by streamable HTTP with the guard on addresses of package httptool. Redirects are followed
// only within its origin.
//
// # Pins
//
// A tool is bound with a hash of its name, title, description, annotations and schemas, as they were when `flowgen lock`
// looked at them. Before the first call of a session, and again whenever the server says that its tools have changed, the
// tools are listed and compared. A tool that is no longer what was locked is not called: the error is POLICY_DENIED and
// says what has changed. What a server answers is data: nothing in it adds a tool or changes what is called.
//
// # Errors
//
//   - VALIDATION_ERROR: arguments that the server refuses (JSON-RPC -32602, status 400 and 422), a result that does not
//     fit its type
//   - AUTH_REQUIRED: a secret is missing; status 401 or 403
//   - TIMEOUT: the deadline passed; the server is told that the call is cancelled
//   - RATE_LIMIT: status 429
//   - PROVIDER_ERROR: a result with isError, a JSON-RPC error, any other status that is not 2xx
//   - NETWORK_ERROR: name resolution, connection, TLS, a broken response
//   - POLICY_DENIED: a tool that is not what was locked, a refused address or redirect, a result larger than allowed
//   - SANDBOX_ERROR: a local server that cannot be started, ends, or violates the protocol
//
// Secrets are taken out of everything that goes into an error.
package mcptool

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

const (
	// DefaultMaxOutput bounds the result of a tool that names no bound, in bytes.
	DefaultMaxOutput = 2 << 20

	// DefaultTimeout bounds a call whose context has no deadline.
	DefaultTimeout = time.Minute

	// StartTimeout bounds starting a server, or connecting to it, with the handshake.
	StartTimeout = time.Minute

	// MaxTools and MaxListing bound what a server may list: tools, and bytes of JSON.
	MaxTools   = 2000
	MaxListing = 8 << 20
)

// A Pin is a tool of a server as it was locked.
type Pin struct {
	Tool  string // the server's name for it
	Hash  string // of the entire tool
	Parts string // a check value for each part: tells what has changed, never whether

	MaxOutput int  // bytes of the result; 0 is DefaultMaxOutput. Beyond it, text and values are cut, and the whole is kept where there is a store (runtime.WithBlobs)
	Open      bool // fields that the result's type does not have are left out, as the locked schema allows them
}

// Text binds a tool whose result is its text. Several blocks of text are joined by line breaks; a result without text
// is a VALIDATION_ERROR.
func Text[In any](name string, e flow.Effects, s *Server, p Pin, o ...flow.ToolOption) *flow.Tool[In, string] {
	return bind[In](name, e, s, p, o, text)
}

// JSON binds a tool whose result is structured content, or else one block of text that is JSON, of type Out. It is
// decoded as strictly as value.Decode does, and with p.Open as value.DecodeKnown.
func JSON[In, Out any](name string, e flow.Effects, s *Server, p Pin, o ...flow.ToolOption) *flow.Tool[In, Out] {
	return bind[In](name, e, s, p, o, decode[Out])
}

// Any binds a tool whose result is a dynamic value: the structured content, or else the text of a single block of text,
// or else the list of blocks as the server sent them.
func Any[In any](name string, e flow.Effects, s *Server, p Pin, o ...flow.ToolOption) *flow.Tool[In, value.Value] {
	return bind[In](name, e, s, p, o, dynamic)
}

// bind makes the tool: call it, then read the result.
func bind[In, Out any](name string, e flow.Effects, s *Server, p Pin, o []flow.ToolOption,
	read func(context.Context, *call) (Out, error)) *flow.Tool[In, Out] {
	if p.MaxOutput <= 0 {
		p.MaxOutput = DefaultMaxOutput
	}
	s.expect(p.MaxOutput)
	return flow.Bind(name, e, func(ctx context.Context, in In) (out Out, err error) {
		args, err := json.Marshal(in)
		if err != nil {
			return out, value.Invalid("the arguments cannot be encoded: %v", err)
		}
		ctx, cancel := limited(ctx)
		defer cancel()
		c := &call{server: s, pin: p, args: args}
		if err := c.do(ctx); err != nil {
			return out, err
		}
		return read(ctx, c)
	}, append(s.options(), o...)...)
}

// limited gives a context a deadline when it has none.
func limited(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, DefaultTimeout)
}

// A Server is an MCP server that tools are bound to. It is safe for concurrent use.
type Server struct {
	name string
	*local
	*remote
	pool
}

// Local is a server that runs as a child process and speaks over its standard input and output. The elements of env are
// VARIABLE=SECRET: the value of the secret is put into the variable.
func Local(name string, command []string, env ...string) *Server {
	s := &Server{name: name, local: &local{command: command}}
	for _, e := range env {
		variable, secret, _ := strings.Cut(e, "=")
		s.env = append(s.env, envSecret{variable, secret})
	}
	return s
}

// options are those that every tool of the server needs: its secrets.
func (s *Server) options() []flow.ToolOption {
	if names := s.secretNames(); len(names) > 0 {
		return []flow.ToolOption{tool.Cancellable(), flow.MaxOutput(-1), flow.Secrets(names...)}
	}
	return []flow.ToolOption{tool.Cancellable(), flow.MaxOutput(-1)}
}

func (s *Server) secretNames() []string {
	if s.remote != nil {
		return s.client.Secrets()
	}
	var names []string
	for _, e := range s.env {
		names = append(names, e.secret)
	}
	return names
}
