package httptool

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	stdruntime "runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// raw starts a server that reads a request's head and then does what it likes with the connection.
func raw(t *testing.T, f func(net.Conn)) *httptest.Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer func() { _ = c.Close() }()
				if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
					f(c)
				}
			})
		}
	})
	t.Cleanup(func() { _ = l.Close(); CloseIdleConnections(); wg.Wait() })
	return &httptest.Server{URL: "http://" + l.Addr().String()}
}

func TestBrokenResponses(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
	for _, tt := range []struct {
		name, response string
		code           value.Code
		why            string
	}{
		{"nothing", "", value.NetworkError, "no response from HOST: the connection ended before the response did"},
		{"half a head", "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n", value.NetworkError, "no response from HOST: the connection ended before the response did"},
		{"early close", head + "Content-Length: 10\r\n\r\nabc", value.NetworkError, "no response from HOST: the connection ended before the response did"},
		{"early close of chunks", head + "Transfer-Encoding: chunked\r\n\r\n5\r\nabc", value.NetworkError, "no response from HOST: the connection ended before the response did"},
		{"early close of gzip", head + "Content-Encoding: gzip\r\nContent-Length: 100\r\n\r\n" + zip(t, "abc"), value.NetworkError, "no response from HOST: the connection ended before the response did"},
		{"bad chunk", head + "Transfer-Encoding: chunked\r\n\r\nzz\r\nabc", value.NetworkError, "no response from HOST: invalid byte in chunk length"},
		{"two lengths", head + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabc", value.NetworkError, "no response from HOST: http: message cannot contain multiple Content-Length headers; got [\"3\" \"4\"]"},
		{"negative length", head + "Content-Length: -3\r\n\r\nabc", value.NetworkError, `no response from HOST: bad Content-Length "-3"`},
		{"no HTTP", "\x1b[31mSSH-2.0-OpenSSH\r\n", value.NetworkError, `no response from HOST: malformed HTTP response "\x1b[31mSSH-2.0-OpenSSH"`},
		{"huge claim", head + "Content-Length: 9000000000000000000\r\n\r\nabc", value.PolicyDenied, "the response of HOST is larger than the 2097152 bytes allowed: raise max_output"},
		{"header bomb", "HTTP/1.1 200 OK\r\n" + strings.Repeat("X-A: "+strings.Repeat("x", 1000)+"\r\n", 9000) + "\r\n", value.PolicyDenied, "the response of HOST has more than 262144 bytes of headers"},
		{"one long header", "HTTP/1.1 200 OK\r\nX-A: " + strings.Repeat("x", 9<<20), value.PolicyDenied, "the response of HOST has more than 262144 bytes of headers"},
		{"switching protocols", "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n", value.ProviderError, "HOST answered 101 Switching Protocols"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := raw(t, func(c net.Conn) { _, _ = io.WriteString(c, tt.response) })
			_, err := call(t, get(s), "/")
			wantTool(t, err, tt.code, strings.ReplaceAll(tt.why, "HOST", host(s)))
		})
	}
	// More than the length says is not read, and does not reach the next call.
	s := raw(t, func(c net.Conn) {
		_, _ = io.WriteString(c, head+"Content-Length: 3\r\n\r\nabcHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
	})
	for range 3 {
		if got, err := call(t, get(s), "/"); err != nil || got != "abc" {
			t.Errorf("more than the length: %q, %v", got, err)
		}
	}
}

func TestNoServer(t *testing.T) {
	s := &httptest.Server{URL: "http://127.0.0.1:1"}
	_, err := call(t, get(s), "/?q=private")
	refused := "connection refused"
	if stdruntime.GOOS == "windows" {
		refused = syscall.Errno(10061).Error() // WSAECONNREFUSED, in the system's own words
	}
	te := wantTool(t, err, value.NetworkError, "no response from "+host(s)+": "+refused)
	if got := te.Details.String(); got != `{"method":"GET","url":"`+s.URL+`/"}` {
		t.Errorf("details: %s", got)
	}
	resolver := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no network") }}
	tool := Text("t@1", flow.Reads, func(struct{}) Request { return Request{URL: URL("http://api.example.com")} }, through(newTransport(newPolicy(nil), resolver, nil)))
	_, err = call(t, tool, struct{}{})
	wantTool(t, err, value.NetworkError, "no response from api.example.com: its name could not be resolved")
}

func TestTLS(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }))
	s.Config.ErrorLog = quiet
	s.StartTLS()
	t.Cleanup(s.Close)
	_, err := call(t, get(s), "/")
	wantTool(t, err, value.NetworkError, "no response from "+host(s)+": TLS: x509: certificate signed by unknown authority")
	if got, err := call(t, get(s, through(trusting(t, s))), "/"); err != nil || got != "ok" {
		t.Errorf("trusted: %q, %v", got, err)
	}
	wrong := &httptest.Server{URL: strings.Replace(s.URL, "127.0.0.1", "localhost", 1)}
	if _, err := call(t, get(wrong, through(trusting(t, s))), "/"); err == nil || !strings.Contains(err.Error(), "NETWORK_ERROR: no response from "+host(wrong)+": TLS: ") {
		t.Errorf("wrong name: %v", err)
	}
	p := serve(t, func(http.ResponseWriter, *http.Request) {})
	p.Config.ErrorLog = quiet
	spoken := &httptest.Server{URL: strings.Replace(p.URL, "http:", "https:", 1)}
	if _, err := call(t, get(spoken), "/"); err == nil || !strings.Contains(err.Error(), "NETWORK_ERROR") {
		t.Errorf("no TLS: %v", err)
	}
}

// within runs f and complains when it takes longer than a deadline allows.
func within(t *testing.T, limit time.Duration, f func()) {
	t.Helper()
	begin := time.Now()
	f()
	if d := time.Since(begin); d > limit {
		t.Errorf("took %v, at most %v allowed", d, limit)
	}
}

// trickle writes a byte now and then until the connection is gone.
func trickle(c net.Conn, head string) {
	_, _ = io.WriteString(c, head)
	for {
		if _, err := c.Write([]byte("a")); err != nil {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func TestSlowServers(t *testing.T) {
	n := &flow.Node{ID: "n", Pos: "f.yaml:1:1", Timeout: 100 * time.Millisecond}
	for name, head := range map[string]string{
		"head":   "HTTP/1.1 200 OK\r\nX-",
		"body":   "HTTP/1.1 200 OK\r\n\r\n",
		"length": "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			s := raw(t, func(c net.Conn) { trickle(c, head) })
			within(t, 20*time.Second, func() {
				_, err := callAt(t, t.Context(), n, get(s), "/")
				wantTool(t, err, value.Timeout, host(s)+" did not answer in time")
			})
		})
	}
	silent := raw(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	within(t, 20*time.Second, func() {
		_, err := callAt(t, t.Context(), n, get(silent), "/")
		wantTool(t, err, value.Timeout, host(silent)+" did not answer in time")
	})
	// A run that is stopped gives no tool error.
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	within(t, 20*time.Second, func() {
		if _, err := callAt(t, ctx, &flow.Node{ID: "n", Pos: "f.yaml:1:1"}, get(silent), "/"); !runtime.IsCancelled(err) || !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
	})
}

// The status is known: a body that does not come is not waited for.
func TestSlowErrorBody(t *testing.T) {
	s := raw(t, func(c net.Conn) {
		trickle(c, "HTTP/1.1 429 Slow Down\r\nRetry-After: 7\r\nContent-Type: text/plain\r\n\r\n")
	})
	within(t, patience+20*time.Second, func() {
		_, err := call(t, get(s), "/")
		var te *value.ToolError
		if !errors.As(err, &te) || te.Code != value.RateLimit || te.RetryAfterS == nil || *te.RetryAfterS != 7 {
			t.Errorf("got %v", err)
		}
	})
}

// bomb serves n bytes of zeros compressed to about a thousandth.
func bomb(n int64) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Type", "text/plain")
		z := gzip.NewWriter(w)
		zeros := make([]byte, 1<<20)
		for range n >> 20 {
			if _, err := z.Write(zeros); err != nil {
				return
			}
		}
		_ = z.Close() // the client may be gone
	}
}

func TestBombs(t *testing.T) {
	denied := func(s *httptest.Server) string {
		return "the response of " + host(s) + " is larger than the 2097152 bytes allowed: raise max_output"
	}
	s := serve(t, bomb(1<<30))
	memory(t, func() {
		_, err := call(t, JSON[string, []string]("t.j@1", flow.Reads, func(path string) Request { return Request{Method: "GET", URL: URL(s.URL + path)} }, Allow("loopback")), "/")
		te := wantTool(t, err, value.PolicyDenied, denied(s))
		if got := te.Details.String(); got != `{"max_output":2097152}` {
			t.Errorf("details: %s", got)
		}
	})
	endless := raw(t, func(c net.Conn) {
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
		chunk := "10000\r\n" + strings.Repeat("x", 1<<16) + "\r\n"
		for {
			if _, err := io.WriteString(c, chunk); err != nil {
				return
			}
		}
	})
	memory(t, func() {
		if got, err := call(t, get(endless), "/"); err != nil || len(got) != 2<<20 { // text is cut
			t.Errorf("%d bytes, %v", len(got), err)
		}
	})
	// Compressed data that never becomes anything: empty stored blocks.
	empty := raw(t, func(c net.Conn) {
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff")
		blocks := strings.Repeat("\x00\x00\x00\xff\xff", 1<<12)
		for {
			if _, err := io.WriteString(c, blocks); err != nil {
				return
			}
		}
	})
	memory(t, func() {
		_, err := call(t, get(empty), "/")
		wantTool(t, err, value.PolicyDenied, denied(empty))
	})
	// A gzip head whose name never ends.
	named := raw(t, func(c net.Conn) {
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b\x08\x08\x00\x00\x00\x00\x00\xff")
		for {
			if _, err := io.WriteString(c, strings.Repeat("n", 1<<12)); err != nil {
				return
			}
		}
	})
	var te *value.ToolError
	if _, err := call(t, get(named), "/"); !errors.As(err, &te) {
		t.Errorf("endless name: %v", err)
	}
}

// memory fails when the heap, in which the server is as well, grows by more than a fraction of what was sent.
func memory(t *testing.T, f func()) {
	t.Helper()
	peak := uint64(0)
	stdruntime.GC()
	before := heap()
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(2 * time.Millisecond):
				peak = max(peak, heap())
			}
		}
	})
	f()
	close(stop)
	wg.Wait()
	if limit := before + 32<<20; peak > limit {
		t.Errorf("heap grew from %d to %d, at most %d allowed", before, peak, limit)
	}
}

func TestCapIsExact(t *testing.T) {
	for _, zipped := range []bool{false, true} {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			body := strings.Repeat("x", len(r.URL.Path)-1)
			if zipped {
				w.Header().Set("Content-Encoding", "gzip")
				body = zip(t, body)
			}
			w.Header().Set("Content-Type", "text/plain")
			if f, ok := w.(http.Flusher); ok && r.URL.RawQuery != "" {
				f.Flush() // no Content-Length
			}
			_, _ = io.WriteString(w, body)
		})
		for _, query := range []string{"", "?chunked"} {
			for n := 1; n <= 12; n++ {
				got, err := call(t, get(s, MaxOutput(10)), "/"+strings.Repeat("x", n)+query)
				if n <= 10 && (err != nil || len(got) != n) {
					t.Errorf("%d bytes (gzip %v %s): %d, %v", n, zipped, query, len(got), err)
				}
				if n > 10 && (err != nil || len(got) != 10) {
					t.Errorf("%d bytes are cut to %d: %v", n, len(got), err)
				}
			}
		}
	}
}

// One tool from many goroutines: buffers and readers are shared, results are not.
func TestConcurrent(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, zip(t, strings.Repeat(r.URL.Path, 200)))
	})
	tool := get(s, Bearer("TOKEN"))
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			path := "/" + strings.Repeat(string(rune('a'+i)), i+1)
			for range 20 {
				if got, err := call(t, tool, path); err != nil || got != strings.Repeat(path, 200) {
					t.Errorf("%s: %.40q, %v", path, got, err)
				}
			}
		})
	}
	wg.Wait()
}

// Proxies of the environment would connect where no check is made.
func TestNoProxy(t *testing.T) {
	if transportFor(newPolicy(nil)).Proxy != nil {
		t.Error("a proxy is configured")
	}
}

var quiet = log.New(io.Discard, "", 0)

func heap() uint64 {
	var m stdruntime.MemStats
	stdruntime.ReadMemStats(&m)
	return m.HeapInuse
}
