package mcptool

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/httptool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// A hostileWeb is a remote server that behaves until a tool is called. stream answers GET, call the call of a tool.
type hostileWeb struct {
	stream, call func(w http.ResponseWriter, r *http.Request, id json.RawMessage)
	stalls       chan struct{} // answers of the client to what it was asked are taken when it is closed; nil: at once
	gets         atomic.Int64
}

func (h *hostileWeb) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var m message
	switch body, _ := io.ReadAll(r.Body); {
	case r.Method == http.MethodGet:
		h.gets.Add(1)
		if h.stream == nil {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		events(w)
		h.stream(w, r, nil)
		return
	case r.Method != http.MethodPost || json.Unmarshal(body, &m) != nil || m.Method == "" || m.ID == nil:
		if m.Method == "" && h.stalls != nil {
			select {
			case <-h.stalls:
			case <-r.Context().Done():
			}
		}
		w.WriteHeader(http.StatusAccepted)
		return
	}
	result := `{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"hostile","version":"1"}}`
	switch m.Method {
	case "tools/list":
		result = `{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}`
	case "tools/call":
		h.call(w, r, m.ID)
		return
	}
	whole(w, m.ID, result)
}

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
}

func events(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	_ = http.NewResponseController(w).Flush()
}

func whole(w http.ResponseWriter, id json.RawMessage, result string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
}

// ask sends requests until the connection ends, at most n.
func ask(w io.Writer, n int) {
	for i := range n {
		if _, err := fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"roots/list\"}\n\n", 10_000+i); err != nil {
			return
		}
	}
}

// TestHostileRemote: a remote server neither fills the memory with what it asks for nor keeps a call, or the program, from ending.
// Calls ran for minutes after their time was over.
func TestHostileRemote(t *testing.T) {
	const many = 1_000_000
	release := make(chan struct{})
	idle := func(_ http.ResponseWriter, r *http.Request, _ json.RawMessage) {
		select {
		case <-r.Context().Done():
		case <-release:
		}
	}
	for _, tt := range []struct {
		name  string
		web   *hostileWeb
		code  value.Code
		about string
	}{
		{"asks in a stream", &hostileWeb{stalls: release, stream: func(w http.ResponseWriter, _ *http.Request, _ json.RawMessage) { ask(w, many) }, call: idle},
			value.PolicyDenied, "sent too many messages"},
		{"asks in an answer", &hostileWeb{stalls: release, call: func(w http.ResponseWriter, _ *http.Request, _ json.RawMessage) { events(w); ask(w, many) }},
			value.PolicyDenied, "sent too many messages"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := web(t, tt.web)
			_, err := invoke(t, textTool[empty](t, s, "t"), empty{}, within(2*time.Minute))
			wantError(t, err, tt.code, tt.about)
			s.Close()
		})
	}
	close(release)
}

// TestPace: a burst of messages may come, and after that so many in each second.
func TestPace(t *testing.T) {
	var p pace
	now := time.Now()
	for _, step := range []struct {
		after time.Duration
		lines int
		want  bool
	}{{0, burstLines, true}, {time.Second, steadyLines, true}, {time.Second, steadyLines + 1, false}, {time.Hour, burstLines, true}, {-time.Hour, 1, false}, {time.Second, 10, true}} {
		now = now.Add(step.after)
		if got := p.take(step.lines, now); got != step.want {
			t.Errorf("%d lines after %v: %v", step.lines, step.after, got)
		}
	}
}

// TestRemoteEndsStreams: a server that ends its streams at once and has the client ask again at once is asked some times, and then
// once a second.
func TestRemoteEndsStreams(t *testing.T) {
	enough := make(chan struct{})
	h := &hostileWeb{}
	h.stream = func(w http.ResponseWriter, _ *http.Request, _ json.RawMessage) {
		n := h.gets.Load()
		if n == freeStreams+2 {
			close(enough)
		}
		fmt.Fprintf(w, "id: %d\nretry: 1\ndata:\n\n", n)
	}
	h.call = func(w http.ResponseWriter, r *http.Request, id json.RawMessage) {
		select {
		case <-enough:
		case <-r.Context().Done():
		}
		whole(w, id, `{"content":[{"type":"text","text":"ok"}]}`)
	}
	s := web(t, h)
	start := time.Now()
	if got, err := invoke(t, textTool[empty](t, s, "t"), empty{}, within(2*time.Minute)); err != nil || got != "ok" {
		t.Errorf("got %q, %v", got, err)
	}
	if n, most := h.gets.Load(), freeStreams+1+int64(time.Since(start)/betweenStreams)+1; n > most {
		t.Errorf("%d streams, want at most %d", n, most)
	}
}

// TestRemoteQuotes: where the client's library quotes the beginning of an answer that it cannot read, a secret may be cut.
func TestRemoteQuotes(t *testing.T) {
	locked := pin(t, web(t, &hostileWeb{}), "t")
	for before := range 40 {
		s := web(t, &hostileWeb{call: func(w http.ResponseWriter, r *http.Request, _ json.RawMessage) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, "{%s%s%s", strings.Repeat("x", before), strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), strings.Repeat("y", 40))
		}}, httptool.Bearer("SECRET"))
		_, err := invoke(t, Text[empty]("w.t@1", flow.External, s, locked), empty{}, within(time.Minute))
		if secret := secrets["SECRET"]; err == nil || strings.Contains(err.Error(), secret[:6]) {
			t.Errorf("%d before: %v", before, err)
		}
		s.Close()
	}
}

func web(t *testing.T, h http.Handler, o ...httptool.Option) *Server {
	t.Helper()
	srv := httptest.NewServer(h)
	s := Remote("test", srv.URL+"/mcp", append([]httptool.Option{httptool.Allow("loopback")}, o...)...)
	t.Cleanup(func() {
		s.Close()
		srv.CloseClientConnections()
		srv.Close()
		httptool.CloseIdleConnections()
	})
	return s
}
