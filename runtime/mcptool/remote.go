package mcptool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowgen-dev/flowgen/runtime/httptool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

const (
	// headersWithin bounds the wait for the headers of a stream that is nobody's call.
	headersWithin = 10 * time.Second

	// maxRedirects bounds the redirects of one request, which stay within the origin.
	maxRedirects = 3

	// refusedBytes is how much is read of the body of a status that is not 2xx.
	refusedBytes = 64 << 10
)

type remote struct {
	url    string
	client *httptool.Client
}

// Remote is a server that is reached by streamable HTTP. Of the options those about authentication and addresses count.
func Remote(name, url string, o ...httptool.Option) *Server {
	return &Server{name: name, remote: &remote{url: url, client: httptool.NewClient(o...)}}
}

// dial makes the transport of a remote server.
func (x *session) dial() (mcp.Transport, error) {
	header, err := x.server.client.HeaderOf(x.secrets)
	if err != nil {
		return nil, err
	}
	return &connecting{session: x, Transport: &mcp.StreamableClientTransport{
		Endpoint:     x.server.url,
		HTTPClient:   &http.Client{Transport: &courier{session: x, header: header}, CheckRedirect: withinOrigin},
		MaxRetries:   2,
		MaxEventSize: x.frame,
	}}, nil
}

// errRedirect is the cause of a request that is not sent on.
type errRedirect struct{ why string }

func (e *errRedirect) Error() string { return e.why }

func withinOrigin(req *http.Request, via []*http.Request) error {
	first := via[0].URL
	switch {
	case len(via) > maxRedirects:
		return &errRedirect{"redirects too often"}
	case req.URL.Scheme != first.Scheme || req.URL.Host != first.Host:
		return &errRedirect{"redirects to another origin, " + shown(req.URL.Host)}
	case req.Method != via[0].Method:
		return &errRedirect{"redirects in a way that loses the request"}
	}
	return nil
}

// A courier carries the HTTP requests of a session: with its credentials, within bounds, and with a copy of what comes
// back for the call that a request belongs to.
type courier struct {
	session *session
	header  http.Header
}

func (c *courier) RoundTrip(req *http.Request) (*http.Response, error) {
	a := answerOf(req.Context())
	ctx, cancelled := context.WithCancel(req.Context())
	unhook := context.AfterFunc(c.session.gone, cancelled)
	cancel := func() { unhook(); cancelled() }
	if a == nil || req.Method != http.MethodPost { // what is not a call has no deadline of its own
		a = nil
		t := time.AfterFunc(headersWithin, cancel)
		defer t.Stop()
	}
	if err := c.session.unhurried(ctx, req); err != nil {
		cancel()
		return nil, err
	}
	if a == nil && req.Method == http.MethodPost {
		if c.session.answering.Add(1) > maxAnswering {
			c.session.cut(errFlood)
		}
		defer c.session.answering.Add(-1)
	}
	out := req.Clone(ctx)
	for name, values := range c.header {
		out.Header[name] = values
	}
	resp, err := c.session.server.client.RoundTrip(out)
	if err != nil {
		cancel()
		if a != nil {
			a.mu.Lock()
			a.failure, a.request = err, req
			a.mu.Unlock()
		}
		return nil, err
	}
	b := &body{ReadCloser: resp.Body, session: c.session, cancel: cancel, left: c.session.frame, answer: a}
	b.events = strings.HasPrefix(strings.ToLower(strings.TrimSpace(resp.Header.Get("Content-Type"))), "text/event-stream")
	if a == nil && b.events {
		b.left = -1 // a stream without end; its events are bounded
	}
	resp.Body = b
	switch status := resp.StatusCode; {
	case status >= 200 && status < 300:
		if a != nil {
			a.mu.Lock()
			a.bodies = append(a.bodies, b)
			a.mu.Unlock()
		}
	case status < 300 || status > 399 || resp.Header.Get("Location") == "":
		c.refused(a, req, resp)
	}
	return resp, nil
}

// refused notes why a request was refused, and leaves the body for the client, which may find an error of the protocol
// in it.
func (c *courier) refused(a *answer, req *http.Request, resp *http.Response) {
	data, _ := io.ReadAll(io.LimitReader(resp.Body, refusedBytes)) // what came is what there is
	_ = resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(data))
	if a == nil {
		return
	}
	copied := *resp
	copied.Body = io.NopCloser(bytes.NewReader(data))
	te := c.session.server.client.Refused(req, &copied)
	a.mu.Lock()
	a.refusal = te
	a.mu.Unlock()
}

// A body is that of a response, bounded and, for a call, kept.
type body struct {
	io.ReadCloser
	session *session
	cancel  context.CancelFunc
	events  bool
	left    int // bytes that may still come; negative: any number
	answer  *answer

	mu   sync.Mutex
	kept []byte
}

func (b *body) Read(p []byte) (int, error) {
	if b.left == 0 {
		var one [1]byte
		if n, err := b.ReadCloser.Read(one[:]); n == 0 {
			return 0, err
		}
		if b.answer != nil {
			b.answer.cancel(errTooLarge)
		}
		return 0, errTooLarge
	}
	if b.left > 0 && len(p) > b.left {
		p = p[:b.left]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left > 0 {
		b.left -= n
	}
	if b.events && !b.session.pace.take(bytes.Count(p[:n], []byte("\n")), time.Now()) {
		b.session.cut(errFlood)
		return 0, errFlood
	}
	if b.answer != nil {
		b.mu.Lock()
		b.kept = append(b.kept, p[:n]...)
		b.mu.Unlock()
	}
	return n, err
}

func (b *body) Close() error {
	b.cancel()
	return b.ReadCloser.Close()
}

func (b *body) result() json.RawMessage {
	b.mu.Lock()
	defer b.mu.Unlock()
	return find(b.kept, b.events)
}

var errTooLarge = errors.New("the response is too large")

// httpFailure is the error of a call whose request or response failed; nil when neither did.
func (x *session) httpFailure(a *answer) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var redirect *errRedirect
	switch {
	case a.refusal != nil:
		return a.refusal
	case errors.As(a.failure, &redirect):
		return x.server.fault(value.PolicyDenied, "server "+x.server.name+" "+redirect.why)
	case a.failure != nil:
		return x.server.client.Failed(a.request, a.failure)
	}
	return nil
}
