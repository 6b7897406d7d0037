package otel_test

import (
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/httptool"
	"github.com/flowgen-dev/flowgen/runtime/otel"
)

// service keeps the traceparent of each request, by path.
type service struct {
	*httptest.Server
	mu   sync.Mutex
	seen map[string][]string
}

func serve(t *testing.T) *service {
	s := &service{seen: map[string][]string{}}
	far := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { s.note("far", r) }))
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := s.note(r.URL.Path, r)
		switch {
		case r.URL.Path == "/flaky" && n == 1:
			w.WriteHeader(http.StatusServiceUnavailable)
		case r.URL.Path == "/near":
			http.Redirect(w, r, "/landed", http.StatusFound)
		case r.URL.Path == "/away":
			http.Redirect(w, r, far.URL, http.StatusFound)
		default:
			_, _ = io.WriteString(w, "fine")
		}
	}))
	t.Cleanup(func() { s.Close(); far.Close(); httptool.CloseIdleConnections() })
	return s
}

func (s *service) note(path string, r *http.Request) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen[path] = append(s.seen[path], r.Header.Get("Traceparent"))
	return len(s.seen[path])
}

// get asks for a path in a run of its own.
func (s *service) get(t *testing.T, path string, header []httptool.Field, o ...runtime.Option) {
	t.Helper()
	rt, err := flow.New(&flow.Info{Name: "w"}, o...)
	if err != nil {
		t.Fatal(err)
	}
	tool := httptool.Text("w.get@1", flow.Reads, func(struct{}) httptool.Request {
		return httptool.Request{Method: "GET", URL: httptool.URL(s.URL + path), Header: header}
	}, httptool.Allow("loopback"))
	node := flow.Node{ID: "get", Pos: "w.flowgen.yaml:3:3", Index: -1, Retry: &flow.Retry{Attempts: 2, Base: time.Millisecond}}
	r := rt.Start(t.Context())
	_, err = flow.Call(r, &node, tool, struct{}{})
	flow.End(r, new(struct{}), &err)
	if err != nil {
		t.Error(err)
	}
}

// What an HTTP tool asks for is part of the trace: its request carries the span of the attempt. It goes no further than the
// service that was asked, and what an author says stands.
func TestTraceparent(t *testing.T) {
	collector := collect(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	tracer, err := otel.New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t)
	traced := runtime.WithObserver(tracer)
	for _, path := range []string{"/plain", "/flaky", "/near", "/away"} {
		s.get(t, path, nil, traced)
	}
	own := "00-0123456789abcdef0123456789abcdef-0123456789abcdef-00"
	s.get(t, "/own", []httptool.Field{{Name: "traceparent", Value: own}}, traced)
	s.get(t, "/untraced", nil)
	if err := tracer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	var attempts []string // in the order of their requests
	for _, x := range collector.spans {
		if x.Name == "execute_tool w.get" {
			attempts = append(attempts, "00-"+hex.EncodeToString(x.TraceId)+"-"+hex.EncodeToString(x.SpanId)+"-01")
		}
	}
	if len(attempts) != 6 {
		t.Fatalf("%d attempts in\n%s", len(attempts), collector.tree())
	}
	want := map[string][]string{"/plain": attempts[:1], "/flaky": attempts[1:3], "/near": attempts[3:4], "/landed": attempts[3:4], "/away": attempts[4:5], "far": {""},
		"/own": {own}, "/untraced": {""}}
	if diff := cmp.Diff(want, s.seen); diff != "" {
		t.Errorf("traceparents (-want +got):\n%s", diff)
	}
}

// A program that does not trace sends nothing, though it has a tracer.
func TestTraceparentTurnedOff(t *testing.T) {
	t.Setenv("OTEL_SDK_DISABLED", "true")
	tracer, err := otel.New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t)
	s.get(t, "/plain", nil, runtime.WithObserver(tracer))
	if got := s.seen["/plain"]; len(got) != 1 || got[0] != "" {
		t.Errorf("%q", got)
	}
}
