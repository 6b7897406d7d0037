package httptool

import (
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// floodNode has a timeout, which ends what nothing else has ended.
var floodNode = &flow.Node{ID: "n", Pos: "f.yaml:1:1", Timeout: 300 * time.Millisecond}

// TestFloods: servers that send for ever what is not a body. Each call ends with a tool error, in little memory.
func TestFloods(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
	big := strings.Repeat("x", 1<<10)
	for _, tt := range []struct{ name, first, again, why string }{
		{"informational", "", "HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n", "headers"},
		{"continue", "", "HTTP/1.1 100 Continue\r\n\r\n", "headers"},
		{"large informational", "", "HTTP/1.1 103 Early Hints\r\nLink: " + big + "\r\n\r\n", "headers"},
		{"headers", head, "X-A: " + big + "\r\n", "headers"},
		{"folded header", head + "X-A: b\r\n", " " + big + "\r\n", "headers"},
		{"blank status", "HTTP/1.1 200 ", big, "headers"},
		{"chunk extension", head + "Transfer-Encoding: chunked\r\n\r\n5;a=", big, "header line too long"},
		{"chunk extensions", head + "Transfer-Encoding: chunked\r\n\r\n", "1;a=" + big + "\r\nx\r\n", "chunk"},
		{"chunk zeros", head + "Transfer-Encoding: chunked\r\n\r\n", "0000", "header line too long"},
		{"trailers", head + "Transfer-Encoding: chunked\r\nTrailer: X-A\r\n\r\n1\r\nx\r\n0\r\n", "X-A: " + big + "\r\n", "trailer"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := raw(t, func(c net.Conn) {
				_, err := io.WriteString(c, tt.first)
				for again := strings.Repeat(tt.again, 1+(1<<14)/len(tt.again)); err == nil; {
					_, err = io.WriteString(c, again)
				}
			})
			memory(t, func() { flooded(t, s, tt.why) })
		})
	}
}

func flooded(t *testing.T, s *httptest.Server, why string, o ...Option) {
	t.Helper()
	_, err := callAt(t, t.Context(), floodNode, get(s, o...), "/")
	var te *value.ToolError
	if !errors.As(err, &te) || !strings.Contains(te.Message, why) && te.Code != value.Timeout { // on a busy machine
		t.Errorf("got %v, want one with %q", err, why)
	}
}

// TestRedirectsToPrivateAddresses: whatever the status, a private address is not asked.
func TestRedirectsToPrivateAddresses(t *testing.T) {
	for status := 300; status < 400; status++ {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "http://169.254.169.254/latest/meta-data/")
			w.Header().Set("Refresh", "0; url=http://169.254.169.254/")
			w.WriteHeader(status)
		})
		_, err := call(t, get(s), "/")
		var te *value.ToolError
		if !errors.As(err, &te) || te.Code != value.PolicyDenied && te.Code != value.ProviderError {
			t.Errorf("%d: %v", status, err)
		}
	}
}

// TestNestedEncodings: an encoding that was not asked for, or one inside another, is not undone.
func TestNestedEncodings(t *testing.T) {
	twice := zip(t, zip(t, strings.Repeat("x", 1<<20)))
	for _, encoding := range []string{"gzip, gzip", "gzip,gzip", "deflate, gzip", "br", "zstd", "deflate", "compress", "x-gzip", "identity, gzip", "GZIP\t", "\"gzip\""} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", encoding)
			w.Header().Set("Content-Type", "text/plain")
			_, _ = io.WriteString(w, twice)
		})
		_, err := call(t, get(s), "/")
		var te *value.ToolError
		if !errors.As(err, &te) || te.Code != value.ValidationError {
			t.Errorf("%s: %v", encoding, err)
		}
	}
}

// frame is one of HTTP/2.
func frame(kind, flags byte, stream uint32, body string) string {
	b := make([]byte, 9, 9+len(body))
	b[0], b[1], b[2], b[3], b[4] = byte(len(body)>>16), byte(len(body)>>8), byte(len(body)), kind, flags
	binary.BigEndian.PutUint32(b[5:], stream)
	return string(append(b, body...))
}

// TestHTTP2Floods: servers of HTTP/2 that send control frames for ever.
func TestHTTP2Floods(t *testing.T) {
	const data, headers, reset, settings, push, ping, goAway, window, continuation = 0, 1, 3, 4, 5, 6, 7, 8, 9
	status := "\x88" // :status 200
	for _, tt := range []struct{ name, first, again string }{
		{"continuations", frame(headers, 0, 1, status), frame(continuation, 0, 1, strings.Repeat("\x00\x01a\x01b", 1000))},
		{"empty continuations", frame(headers, 0, 1, status), frame(continuation, 0, 1, "")},
		{"informational", "", frame(headers, 4, 1, "\x08\x03103")},
		{"pings", "", frame(ping, 0, 0, "12345678")},
		{"settings", "", frame(settings, 0, 0, "\x00\x03\x00\x00\x00\x64")},
		{"empty data", frame(headers, 4, 1, status), frame(data, 0, 1, "")},
		{"padded data", frame(headers, 4, 1, status), frame(data, 8, 1, "\xff"+strings.Repeat("\x00", 255))},
		{"data for others", frame(headers, 4, 1, status), frame(data, 0, 3, strings.Repeat("x", 1<<14))},
		{"windows", "", frame(window, 0, 0, "\x00\x00\x00\x01")},
		{"pushes", "", frame(push, 4, 1, "\x00\x00\x00\x02\x82")},
		{"resets", "", frame(reset, 0, 1, "\x00\x00\x00\x00")},
		{"unknown frames", "", frame(99, 0, 0, strings.Repeat("x", 1<<14))},
		{"going away", "", frame(goAway, 0, 0, "\x00\x00\x00\x01\x00\x00\x00\x00")},
		{"larger than allowed", "", frame(data, 0, 1, strings.Repeat("x", 1<<20))},
		{"window of nothing", frame(settings, 0, 0, "\x00\x04\x00\x00\x00\x00"), frame(ping, 1, 0, "12345678")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, trust, _ := http2Server(t, frame(settings, 0, 0, "")+tt.first, tt.again)
			memory(t, func() { flooded(t, s, "", through(trust)) })
		})
	}
}

// awaitHeaders reads until the headers of a request have come, or no more does.
func awaitHeaders(r io.Reader) {
	const preface, headers = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 1
	_, err := io.CopyN(io.Discard, r, int64(len(preface)))
	for head := make([]byte, 9); err == nil && head[3] != headers; { // length, kind, flags, stream
		if _, err = io.ReadFull(r, head); err == nil {
			_, err = io.CopyN(io.Discard, r, int64(head[0])<<16|int64(head[1])<<8|int64(head[2]))
		}
	}
}

// TestHTTP2AfterCalls: a connection that its server keeps busy with control frames ends some time after its last call.
func TestHTTP2AfterCalls(t *testing.T) {
	const headers, settings, ping, window = 1, 4, 6, 8
	for _, tt := range []struct{ name, first, again string }{
		{"pings", frame(headers, 5, 1, "\x88"), frame(ping, 0, 0, "12345678")},
		{"settings", frame(headers, 5, 1, "\x88"), frame(settings, 0, 0, "\x00\x03\x00\x00\x00\x64")},
		{"windows", frame(headers, 5, 1, "\x88"), frame(window, 0, 0, "\x00\x00\x00\x01") + frame(window, 0, 0, "\x00\x00\x00\x01")},
		{"pings without an answer", "", frame(ping, 0, 0, "12345678")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel() // it waits
			s, trust, ended := http2Server(t, frame(settings, 0, 0, "")+tt.first, tt.again)
			trust.IdleConnTimeout = 100 * time.Millisecond
			_, _ = callAt(t, t.Context(), floodNode, get(s, through(trust)), "/")
			select {
			case <-ended:
			case <-time.After(time.Minute):
				t.Error("the connection is still open")
			}
		})
	}
}

// http2Server accepts connections of HTTP/2, and sends first once and again for ever. ended gets a value for each that ends.
func http2Server(t *testing.T, first, again string) (_ *httptest.Server, _ *http.Transport, ended chan struct{}) {
	t.Helper()
	own := httptest.NewUnstartedServer(nil)
	own.EnableHTTP2 = true
	own.StartTLS()
	t.Cleanup(own.Close)
	l, err := tls.Listen("tcp", "127.0.0.1:0", own.TLS)
	if err != nil {
		t.Fatal(err)
	}
	ended = make(chan struct{}, 100)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var open []net.Conn // a client answers pings as long as they come, also after its request has ended
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, c)
			mu.Unlock()
			wg.Go(func() {
				defer c.Close()
				asked := make(chan struct{})
				go func() {
					awaitHeaders(c)
					close(asked)
					_, _ = io.Copy(io.Discard, c)
				}()
				<-asked
				_, err := io.WriteString(c, first)
				for much := strings.Repeat(again, 1+(1<<12)/len(again)); err == nil; {
					_, err = io.WriteString(c, much)
				}
				ended <- struct{}{}
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		mu.Lock()
		for _, c := range open {
			_ = c.(*tls.Conn).NetConn().Close() // a writer holds the lock of the other Close
		}
		mu.Unlock()
		wg.Wait()
	})
	_, port, _ := net.SplitHostPort(l.Addr().String())
	if _, err := strconv.Atoi(port); err != nil {
		t.Fatal(err)
	}
	return &httptest.Server{URL: "https://127.0.0.1:" + port}, trusting(t, own), ended
}
