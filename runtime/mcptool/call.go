package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// unread is how long a call whose context has ended waits for the client to notice. A server that does not read its
// input would hold it longer.
const unread = 500 * time.Millisecond

// A call is one call of a tool.
type call struct {
	server  *Server
	pin     Pin
	args    []byte
	session *session
	result  result
}

// result is what a server answers to tools/call, as it is on the wire.
type result struct {
	Content    []json.RawMessage `json:"content"`
	Structured json.RawMessage   `json:"structuredContent"`
	IsError    bool              `json:"isError"`
	ResultType string            `json:"resultType"`
}

// do calls the tool once, on a session that is alive. Only a call that a remote server certainly has not looked at,
// because it no longer knows the session, is made again.
func (c *call) do(ctx context.Context) error {
	for again := false; ; again = true {
		x, err := c.server.open(ctx)
		if err != nil {
			return err
		}
		err = c.on(ctx, x)
		if errors.Is(err, errAsleep) && !again {
			continue
		}
		if errors.Is(err, mcp.ErrSessionMissing) && !again {
			x.close()
			continue
		}
		if errors.Is(err, errAsleep) || errors.Is(err, mcp.ErrSessionMissing) {
			return c.server.fault(value.ProviderError, "server "+c.server.name+" does not keep a session")
		}
		return err
	}
}

// errAsleep is the error of a session that was given up before the call.
var errAsleep = errors.New("the server does not answer")

func (c *call) on(ctx context.Context, x *session) error {
	x.calls.Add(1)
	defer x.calls.Add(-1)
	c.session = x
	if !x.awake(ctx) {
		if err := ctx.Err(); err != nil {
			return c.server.stopped(ctx)
		}
		x.close()
		return errAsleep
	}
	if err := x.verify(ctx, c.pin); err != nil {
		return err
	}
	a := &answer{}
	err := x.patiently(ctx, func(ctx context.Context) error {
		_, err := x.client.CallTool(a.in(ctx), &mcp.CallToolParams{Name: c.pin.Tool, Arguments: json.RawMessage(c.args)})
		return err
	})
	if err != nil {
		return x.failed(ctx, a, err)
	}
	x.hears()
	raw := a.result()
	if raw == nil || string(raw) == "null" || json.Unmarshal(raw, &c.result) != nil {
		return c.server.fault(value.ProviderError, "server "+c.server.name+" sent a response that is not a result")
	}
	switch {
	case c.result.ResultType != "" && c.result.ResultType != "complete":
		return c.server.fault(value.ProviderError, c.name()+" asks for input, which a workflow cannot give")
	case c.result.IsError:
		return c.toolFailed()
	}
	return c.attach(ctx)
}

// patiently runs f, which talks to the server, but not much longer than ctx: a server that does not read its input would
// hold it, so that server is ended, or the connection with it.
func (x *session) patiently(ctx context.Context, f func(context.Context) error) error {
	done := make(chan error, 1)
	go func() { done <- f(ctx) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	t := time.NewTimer(unread)
	defer t.Stop()
	select {
	case err := <-done:
		return err
	case <-t.C:
	}
	if x.process != nil {
		x.process.kill("it does not read its input")
	} else {
		x.lost.Store(true)
		x.cut(nil)
	}
	<-done
	return ctx.Err()
}

// name is what messages call the tool.
func (c *call) name() string { return "tool " + shown(c.pin.Tool) + " of server " + c.server.name }
