package mcptool

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowgen-dev/flowgen/runtime/redact"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// handshakes are the protocol versions that a session is opened with, in this order. Servers that know only what came
// after the first refuse it at once; servers that know only the first may never answer the second.
var handshakes = []string{"2025-11-25", ""}

// relistTimeout bounds the question whether a server that let a call time out still answers.
const relistTimeout = 5 * time.Second

// A session is one connection with a server. It is safe for concurrent use.
type session struct {
	server   *Server
	secrets  []string // values
	redactor *redact.Redactor
	frame    int // bytes of one message
	client   *mcp.ClientSession
	conn     mcp.Connection // what the client uses
	process  *process       // of a local server
	over     chan struct{}  // closed when the connection has ended
	lost     atomic.Bool    // a call found that it has
	calls    atomic.Int64   // under way

	requests atomic.Int64 // sent so far

	gone context.Context         // of a remote server: ends when nothing more is sent to it or read from it
	cut  context.CancelCauseFunc // ends gone
	pace pace                    // of what a remote server sends
	gets atomic.Int64            // streams that were opened

	answering atomic.Int64 // requests under way that are not calls

	listing chan struct{}     // holds one token: whoever has it may list
	pages   map[string][]byte // as last sent, by cursor; whoever may list has them
	mu      sync.Mutex
	tools   map[string]*listed // nil: to be listed
	turn    int                // counts what the server says about changes
	silent  bool               // a call timed out, and nothing has been answered since
}

// start opens a session. values are those of the server's secrets.
func (s *Server) start(ctx context.Context, values []string) (*session, error) {
	var first error
	var redactor *redact.Redactor
	if len(values) > 0 {
		redactor = redact.New(values...)
	}
	for _, version := range handshakes {
		x := &session{server: s, secrets: values, redactor: redactor, frame: s.frame(), over: make(chan struct{}), listing: make(chan struct{}, 1)}
		x.gone, x.cut = context.WithCancelCause(context.Background())
		err := x.connect(ctx, version)
		if err == nil {
			return x, nil
		}
		x.close()
		if first == nil {
			first = err
		}
		var refused *refusedVersion
		if !errors.As(err, &refused) {
			break
		}
	}
	var refused *refusedVersion
	if errors.As(first, &refused) {
		return nil, refused.err
	}
	return nil, first
}

// refusedVersion is the error of a server that does not know this handshake.
type refusedVersion struct{ err error }

func (r *refusedVersion) Error() string { return r.err.Error() }

func (x *session) connect(ctx context.Context, version string) error {
	ctx, cancel := context.WithTimeout(ctx, StartTimeout)
	defer cancel()
	transport, err := x.transport()
	if err != nil {
		return err
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "flowgen", Version: "1"}, &mcp.ClientOptions{
		Capabilities:           &mcp.ClientCapabilities{}, // no roots, no sampling, no questions to a user
		MultiRoundTrip:         &mcp.MultiRoundTripOptions{Disabled: true},
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { x.changed() },
	})
	client.AddReceivingMiddleware(quiet)
	a := &answer{}
	x.client, err = client.Connect(a.in(ctx), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		failure := x.failed(ctx, a, err)
		if e := rpcError(err); e != nil && (e.Code == jsonrpc.CodeMethodNotFound || e.Code == jsonrpc.CodeInvalidParams || e.Code == mcp.CodeUnsupportedProtocolVersion) {
			return &refusedVersion{failure}
		}
		return failure
	}
	go func() {
		_ = x.client.Wait() // why it ended is told by the process and the wire
		close(x.over)
		if x.process != nil {
			x.process.stop()
		}
	}()
	return nil
}

// quiet refuses what a server asks for: it receives nothing of this program, and cannot use its model or its user.
func quiet(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if method != "ping" && !strings.HasPrefix(method, "notifications/") {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "not offered"}
		}
		return next(ctx, method, req)
	}
}

func (x *session) transport() (mcp.Transport, error) {
	if x.server.remote != nil {
		return x.dial()
	}
	return x.spawn()
}

// connecting gives a session the connection that the client is about to use.
type connecting struct {
	mcp.Transport
	session *session
	wrap    func(mcp.Connection) mcp.Connection
}

func (c *connecting) Connect(ctx context.Context) (mcp.Connection, error) {
	conn, err := c.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	if c.wrap != nil {
		conn = c.wrap(conn)
	}
	c.session.conn = conn
	return conn, nil
}

// ended tells whether the connection has ended.
func (x *session) ended() bool {
	select {
	case <-x.over:
		return true
	default:
		return x.lost.Load() || x.process != nil && x.process.broken()
	}
}

// close ends the session and the process. It returns when both have ended.
func (x *session) close() {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		switch {
		case x.client != nil:
			_ = x.client.Close() // that it has ended already is not an error
		case x.conn != nil:
			_ = x.conn.Close()
		}
	}()
	if x.process != nil {
		x.process.stop()
	}
	select { // what a remote server has asked for is answered first, which it can draw out
	case <-closed:
	case <-time.After(grace):
	}
	x.cut(nil)
	<-closed
	if x.client != nil {
		<-x.over
	}
}

// changed notes that the server says that its tools have changed.
func (x *session) changed() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.tools = nil
	x.turn++
}

// verify returns nil when the pinned tool is what was locked.
func (x *session) verify(ctx context.Context, p Pin) error {
	tools, err := x.listed(ctx)
	if err != nil {
		return err
	}
	return x.server.compare(p, tools)
}

// listed are the server's tools by name, as they are now.
func (x *session) listed(ctx context.Context) (map[string]*listed, error) {
	x.mu.Lock()
	tools := x.tools
	x.mu.Unlock()
	if tools != nil {
		return tools, nil
	}
	select {
	case x.listing <- struct{}{}:
		defer func() { <-x.listing }()
	case <-ctx.Done():
		return nil, x.server.stopped(ctx)
	}
	for {
		x.mu.Lock()
		tools, turn := x.tools, x.turn
		x.mu.Unlock()
		if tools != nil {
			return tools, nil
		}
		tools, err := x.list(ctx)
		if err != nil {
			return nil, err
		}
		x.mu.Lock()
		same := turn == x.turn
		if same {
			x.tools = tools
		}
		x.mu.Unlock()
		if same {
			return tools, nil
		}
	}
}

// awake makes sure that a server that let a call time out answers at all. One that does not, and that no other call is
// waiting for, is ended, so that the call gets a new one.
func (x *session) awake(ctx context.Context) (ok bool) {
	x.mu.Lock()
	silent := x.silent
	x.mu.Unlock()
	if !silent || x.calls.Load() > 1 {
		return true
	}
	x.changed()
	ctx, cancel := context.WithTimeout(ctx, relistTimeout)
	defer cancel()
	if _, err := x.listed(ctx); err != nil {
		return false
	}
	x.hears()
	return true
}

func (x *session) hears() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.silent = false
}

func (x *session) timedOut() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.silent = true
}

// stopped is the error of a call whose context has ended: TIMEOUT for a deadline.
func (s *Server) stopped(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &value.ToolError{Code: value.Timeout, Message: "server " + s.name + " did not answer in time", Details: s.details()}
	}
	return ctx.Err()
}
