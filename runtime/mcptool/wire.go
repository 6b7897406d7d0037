package mcptool

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// An answer is what came over the wire for one request: the client decodes results into maps, which keep neither the
// order of keys nor large integers.
type answer struct {
	ctx    context.Context // of the request
	cancel context.CancelCauseFunc

	mu      sync.Mutex
	raw     json.RawMessage  // the result
	bodies  []*body          // of the responses, where the wire is HTTP
	refusal *value.ToolError // a status that is not 2xx
	failure error            // no response
	request *http.Request    // the one that failure is about
}

type answerKey struct{}

// in makes what a request under ctx brings go into a.
func (a *answer) in(ctx context.Context) context.Context {
	ctx, a.cancel = context.WithCancelCause(ctx)
	a.ctx = ctx
	return context.WithValue(ctx, answerKey{}, a)
}

func answerOf(ctx context.Context) *answer {
	a, _ := ctx.Value(answerKey{}).(*answer)
	return a
}

// result is the result as it was sent, nil when there is none.
func (a *answer) result() json.RawMessage {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.raw != nil {
		return a.raw
	}
	for _, b := range a.bodies {
		if raw := b.result(); raw != nil {
			return raw
		}
	}
	return nil
}

// A wire is a connection of messages that gives the results of requests to those who wait for them.
type wire struct {
	mcp.Connection
	session *session
	asked   atomic.Int64 // requests of the server that have no answer yet
	mu      sync.Mutex
	waiting map[jsonrpc.ID]*answer
}

func (w *wire) Write(ctx context.Context, m jsonrpc.Message) error {
	if _, ok := m.(*jsonrpc.Response); ok {
		defer w.asked.Add(-1) // once it is on its way
	}
	if req, ok := m.(*jsonrpc.Request); ok && req.IsCall() {
		w.session.requests.Add(1)
		if a := answerOf(ctx); a != nil {
			w.mu.Lock()
			if w.waiting == nil {
				w.waiting = map[jsonrpc.ID]*answer{}
			}
			w.waiting[req.ID] = a
			w.mu.Unlock()
			context.AfterFunc(ctx, func() { // the answer may never come
				w.mu.Lock()
				defer w.mu.Unlock()
				delete(w.waiting, req.ID)
			})
		}
	}
	return w.Connection.Write(ctx, m)
}

func (w *wire) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := w.Connection.Read(ctx)
	if req, ok := m.(*jsonrpc.Request); ok && err == nil && req.IsCall() && w.asked.Add(1) > maxAsked {
		w.session.process.kill("it requests more than it waits for")
		return nil, io.EOF
	}
	if resp, ok := m.(*jsonrpc.Response); ok && err == nil {
		w.mu.Lock()
		a := w.waiting[resp.ID]
		delete(w.waiting, resp.ID)
		w.mu.Unlock()
		if a != nil {
			a.mu.Lock()
			a.raw = resp.Result
			a.mu.Unlock()
		}
	}
	return m, err
}

// find returns the result among the messages of a body: that of the only response, as the others are requests and
// notifications of the server.
func find(data []byte, events bool) json.RawMessage {
	if !events {
		return resultOf(data)
	}
	var event []byte
	for line := range bytes.Lines(data) {
		line = bytes.TrimRight(line, "\r\n")
		if value, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			if event != nil {
				event = append(event, '\n')
			}
			event = append(event, bytes.TrimPrefix(value, []byte(" "))...)
			continue
		}
		if len(line) > 0 {
			continue
		}
		if raw := resultOf(event); raw != nil {
			return raw
		}
		event = nil
	}
	return resultOf(event)
}

func resultOf(message []byte) json.RawMessage {
	var m struct {
		Method string          `json:"method"`
		Result json.RawMessage `json:"result"`
	}
	if len(message) == 0 || json.Unmarshal(message, &m) != nil || m.Method != "" {
		return nil
	}
	return m.Result
}
