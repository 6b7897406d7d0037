package httptool

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/internal/leaks"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

func TestMain(m *testing.M) { leaks.Main(m) }

// through sends a tool's requests through a transport of the test's own.
func through(t *http.Transport) Option { return func(c *config) { c.transport = t } }

func wantTool(t *testing.T, err error, code value.Code, message string) *value.ToolError {
	t.Helper()
	var te *value.ToolError
	if !errors.As(err, &te) {
		t.Fatalf("got error %v, want a tool error %s: %s", err, code, message)
	}
	if te.Code != code || te.Message != message {
		t.Fatalf("got %s: %s\nwant %s: %s", te.Code, te.Message, code, message)
	}
	return te
}

var node = &flow.Node{ID: "n", Pos: "f.yaml:1:1"}

const (
	token    = "s3cr3t-t0ken/+=&\"x"
	userPass = "ann:pa ss\"word"
)

// call runs a tool as a workflow does, with two secrets.
func call[In, Out any](t testing.TB, tool *flow.Tool[In, Out], in In) (Out, error) {
	t.Helper()
	return callAt(t, t.Context(), node, tool, in)
}

func callAt[In, Out any](t testing.TB, ctx context.Context, n *flow.Node, tool *flow.Tool[In, Out], in In) (Out, error) {
	t.Helper()
	rt, err := flow.New(&flow.Info{Name: "test"}, runtime.WithSecrets(func(name string) (string, bool) {
		v, ok := map[string]string{"TOKEN": token, "LOGIN": userPass, "BROKEN": "a\nbc", "EMPTY": ""}[name]
		return v, ok
	}))
	if err != nil {
		t.Fatal(err)
	}
	return flow.Call(rt.Start(ctx), n, tool, in)
}

// serve starts a server and closes the connections to it at the end.
func serve(t testing.TB, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(func() {
		CloseIdleConnections()
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// get is a Text tool for a path of the server.
func get(s *httptest.Server, o ...Option) *flow.Tool[string, string] {
	return Text("get@1", flow.Reads, func(path string) Request { return Request{URL: URL(s.URL + path)} }, append(o, Allow("loopback"))...)
}

func host(s *httptest.Server) string {
	return strings.TrimPrefix(strings.TrimPrefix(s.URL, "http://"), "https://")
}

type seen struct {
	Method, Path, Query, Body string
	Header                    http.Header
}

// echo answers with what it got.
func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(seen{r.Method, r.URL.EscapedPath(), r.URL.RawQuery, string(body), r.Header})
}

func TestRequests(t *testing.T) {
	var header http.Header // as it came: secrets in an answer would be taken out
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		header = r.Header.Clone()
		echo(w, r)
	})
	type item struct {
		Name string         `json:"name"`
		Any  value.Value    `json:"any"`
		Opt  *int64         `json:"opt"`
		When time.Time      `json:"when"`
		M    map[string]int `json:"m"`
	}
	for _, tt := range []struct {
		name string
		req  Request
		opts []Option
		want seen
	}{
		{"defaults", Request{URL: URL(s.URL)}, nil, seen{Method: "GET", Path: "/",
			Header: http.Header{"Accept": {"application/json"}, "Accept-Encoding": {"gzip"}, "User-Agent": {"flowgen"}}}},
		{"encoded", Request{Method: "DELETE", URL: URL(s.URL+"/r/{+a}/{b}", "x/y", "p/q"), Query: []Field{{"k", "v w"}}}, nil,
			seen{Method: "DELETE", Path: "/r/x/y/p%2Fq", Query: "k=v%20w"}},
		{"headers", Request{URL: URL(s.URL), Header: []Field{{"accept", "x/y"}, {"X-A", "1"}, {"x-a", "2"}, {"User-Agent", "me"}}}, nil,
			seen{Method: "GET", Path: "/", Header: http.Header{"Accept": {"x/y"}, "X-A": {"1", "2"}, "Accept-Encoding": {"gzip"}, "User-Agent": {"me"}}}},
		{"json", Request{Method: "POST", URL: URL(s.URL), Body: JSONBody(item{Name: "a\"<b>\u2028", M: map[string]int{"k": 1}})}, nil,
			seen{Method: "POST", Path: "/", Body: `{"name":"a\"<b>\u2028","any":null,"opt":null,"when":"0001-01-01T00:00:00Z","m":{"k":1}}`,
				Header: http.Header{"Content-Type": {"application/json"}}}},
		{"json value keeps its order", Request{Method: "PUT", URL: URL(s.URL), Body: JSONBody(value.Map(
			value.Entry{Key: "z", Value: value.Int(1)}, value.Entry{Key: "a", Value: value.Float(1)}))}, nil,
			seen{Method: "PUT", Path: "/", Body: `{"z":1,"a":1.0}`, Header: http.Header{"Content-Type": {"application/json"}}}},
		{"text", Request{Method: "PATCH", URL: URL(s.URL), Body: TextBody("größe")}, nil,
			seen{Method: "PATCH", Path: "/", Body: "größe", Header: http.Header{"Content-Type": {"text/plain; charset=utf-8"}}}},
		{"own type", Request{Method: "POST", URL: URL(s.URL), Body: TextBody("<a/>"), Header: []Field{{"content-type", "application/xml"}}}, nil,
			seen{Method: "POST", Path: "/", Body: "<a/>", Header: http.Header{"Content-Type": {"application/xml"}}}},
		{"form", Request{Method: "POST", URL: URL(s.URL), Body: FormBody(Field{"a", "1&b=2"}, Field{"é", ""})}, nil,
			seen{Method: "POST", Path: "/", Body: "a=1%26b%3D2&%C3%A9=", Header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}}},
		{"empty body", Request{Method: "POST", URL: URL(s.URL), Body: TextBody("")}, nil,
			seen{Method: "POST", Path: "/", Header: http.Header{"Content-Length": {"0"}, "Content-Type": {"text/plain; charset=utf-8"}}}},
		{"bearer", Request{URL: URL(s.URL)}, []Option{Bearer("TOKEN")},
			seen{Method: "GET", Path: "/", Header: http.Header{"Authorization": {"Bearer " + token}}}},
		{"basic", Request{URL: URL(s.URL)}, []Option{Basic("LOGIN")},
			seen{Method: "GET", Path: "/", Header: http.Header{"Authorization": {"Basic YW5uOnBhIHNzIndvcmQ="}}}},
		{"header", Request{URL: URL(s.URL)}, []Option{HeaderAuth("x-api-key", "TOKEN")},
			seen{Method: "GET", Path: "/", Header: http.Header{"X-Api-Key": {token}}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tool := JSON[struct{}, seen]("t@1", flow.Writes, func(struct{}) Request { return tt.req }, append(tt.opts, Allow("loopback"))...)
			got, err := call(t, tool, struct{}{})
			if err != nil {
				t.Fatal(err)
			}
			got.Header = header
			for name := range got.Header { // only what the case names, unless it names everything
				if _, ok := tt.want.Header[name]; !ok && tt.want.Header["User-Agent"] == nil {
					delete(got.Header, name)
				}
			}
			if tt.want.Header == nil {
				got.Header = nil
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestRequestsThatCannotBeMade(t *testing.T) {
	s, _ := canary(t)
	for _, tt := range []struct {
		name string
		req  Request
		opts []Option
		code value.Code
		why  string
	}{
		{"line break in a header", Request{URL: URL(s.URL), Header: []Field{{"X-A", "a\r\nEvil: 1"}}}, nil, value.ValidationError, "header X-A has a line break or another control character"},
		{"NUL in a header", Request{URL: URL(s.URL), Header: []Field{{"X-A", "a\x00"}}}, nil, value.ValidationError, "header X-A has a line break or another control character"},
		{"name of a header", Request{URL: URL(s.URL), Header: []Field{{"X A:\n", ""}}}, nil, value.ValidationError, "X A:  is not a valid header name"},
		{"no name", Request{URL: URL(s.URL), Header: []Field{{"", "x"}}}, nil, value.ValidationError, " is not a valid header name"},
		{"host", Request{URL: URL(s.URL), Header: []Field{{"host", "x"}}}, nil, value.ValidationError, "header host is set by the connection"},
		{"length", Request{URL: URL(s.URL), Header: []Field{{"Content-Length", "1"}}}, nil, value.ValidationError, "header Content-Length is set by the connection"},
		{"method", Request{Method: "GET /", URL: URL(s.URL)}, nil, value.ValidationError, `the request cannot be made: net/http: invalid method "GET /"`},
		{"no URL", Request{}, nil, value.ValidationError, "the URL has no scheme, or has a fragment"},
		{"scheme", Request{URL: URL("file:///etc/passwd")}, nil, value.PolicyDenied, "scheme file is not allowed: only http and https are"},
		{"user", Request{URL: URL("http://u:p@127.0.0.1/")}, nil, value.PolicyDenied, "a URL with a user or password is not allowed"},
		{"no host", Request{URL: URL("http:///x")}, nil, value.ValidationError, "the URL has no host"},
		{"body", Request{Method: "POST", URL: URL(s.URL), Body: JSONBody(func() {})}, nil, value.ValidationError, "the body: json: unsupported type: func()"},
		{"secret with a line break", Request{URL: URL(s.URL)}, []Option{Bearer("BROKEN")}, value.AuthRequired, "secret BROKEN cannot be used in a header"},
		{"secret without a colon", Request{URL: URL(s.URL)}, []Option{Basic("TOKEN")}, value.AuthRequired, "secret TOKEN is not user:password"},
		{"no secret", Request{URL: URL(s.URL)}, []Option{Bearer("NONE")}, value.AuthRequired, "secret NONE is not set"},
		{"empty secret", Request{URL: URL(s.URL)}, []Option{HeaderAuth("X-Key", "EMPTY")}, value.AuthRequired, "secret EMPTY is not set"},
		{"value", Request{URL: URL(s.URL+"/{x}", "..")}, nil, value.ValidationError, "the path of the URL has a `..` segment: values must not lead out of their place"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tool := None("t@1", flow.Writes, func(struct{}) Request { return tt.req }, append(tt.opts, Allow("loopback"))...)
			_, err := call(t, tool, struct{}{})
			wantTool(t, err, tt.code, tt.why)
		})
	}
}

func respond(status int, kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if kind != "" {
			w.Header().Set("Content-Type", kind)
		} else {
			w.Header()["Content-Type"] = nil
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func TestText(t *testing.T) {
	for _, tt := range []struct {
		name, kind, body, want, why string
	}{
		{"plain", "text/plain", "größe\r\n", "größe\r\n", ""},
		{"no type", "", "größe", "größe", ""},
		{"broken type", ";;;charset=x", "a", "a", ""},
		{"utf-8", `text/plain; charset="UTF-8"`, "ü", "ü", ""},
		{"mark", "text/csv", "\uFEFFa,b", "a,b", ""},
		{"ascii", "text/plain; charset=us-ascii", "a", "a", ""},
		{"latin 1", "text/plain; charset=ISO-8859-1", "gr\xf6\xdfe", "größe", ""},
		{"empty", "text/plain", "", "", ""},
		{"other charset", "text/plain; charset=shift_jis", "a", "", "is in charset shift_jis; utf-8, us-ascii and iso-8859-1 can be read"},
		{"not utf-8", "text/plain", "gr\xf6", "", "is not UTF-8 text"},
		{"image", "image/png", "\x89PNG\r\n", "", "is not UTF-8 text"},
		{"html stays", "text/html", "<p>a", "<p>a", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, respond(200, tt.kind, tt.body))
			got, err := call(t, get(s), "/")
			if tt.why != "" {
				wantTool(t, err, value.ValidationError, "the response of "+host(s)+" "+tt.why)
				return
			}
			if err != nil || got != tt.want {
				t.Errorf("got %q, %v; want %q", got, err, tt.want)
			}
		})
	}
	s := serve(t, respond(200, "text/html; charset=utf-8", "<title>T</title><p>a &amp; b<script>x</script><p>c"))
	if got, err := call(t, get(s, HTMLToText()), "/"); err != nil || got != "a & b\nc" {
		t.Errorf("HTML to text: %q, %v", got, err)
	}
}

func TestJSON(t *testing.T) {
	type out struct {
		Name string `json:"name"`
		N    int64  `json:"n" flow:"min=0,max=10"`
	}
	for _, tt := range []struct {
		name, kind, body string
		opts             []Option
		want             out
		why              string // after "response of <host>: ", or whole
	}{
		{"object", "application/json", `{"name": "a", "n": 3}`, nil, out{"a", 3}, ""},
		{"charset", "application/json; charset=utf-8", `{"name": "ü", "n": 3}`, nil, out{"ü", 3}, ""},
		{"latin 1", "application/json; charset=latin1", "{\"name\": \"\xfc\", \"n\": 3}", nil, out{"ü", 3}, ""},
		{"problem", "application/vnd.x+json", `{"name": "a", "n": 3}`, nil, out{"a", 3}, ""},
		{"as text", "text/plain", `{"name": "a", "n": 3}`, nil, out{"a", 3}, ""},
		{"unknown field ignored", "application/json", `{"name": "a", "x": [{"y": 1}], "n": 3}`, nil, out{"a", 3}, ""},
		{"unknown field", "application/json", `{"name": "a", "n": 3, "x": 1}`, []Option{RefuseUnknown()}, out{}, `unknown field "x"`},
		{"missing", "application/json", `{"name": "a"}`, nil, out{}, `field "n" is missing`},
		{"type", "application/json", `{"name": "a", "n": "3"}`, nil, out{}, "n: an integer expected, a string given"},
		{"range", "application/json", `{"name": "a", "n": 11}`, nil, out{}, "n: is 11, at most 10 allowed"},
		{"duplicate", "application/json", `{"name": "a", "name": "b", "n": 1}`, nil, out{}, `the key "name" appears twice`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, respond(200, tt.kind, tt.body))
			tool := JSON[struct{}, out]("t@1", flow.Reads, func(struct{}) Request { return Request{URL: URL(s.URL)} }, append(tt.opts, Allow("loopback"))...)
			got, err := call(t, tool, struct{}{})
			if tt.why != "" {
				var te *value.ToolError
				if !errors.As(err, &te) || te.Code != value.ValidationError || !strings.HasPrefix(te.Message, "response of "+host(s)+": ") {
					t.Fatalf("got %v, want VALIDATION_ERROR", err)
				}
				if tt.name != "range" && !strings.Contains(te.Message, tt.why) {
					t.Errorf("got %s, want %s", te.Message, tt.why)
				}
				return
			}
			if err != nil || got != tt.want {
				t.Errorf("got %v, %v; want %v", got, err, tt.want)
			}
		})
	}
	s := serve(t, respond(200, "text/html", "<html>"))
	tool := JSON[struct{}, out]("t@1", flow.Reads, func(struct{}) Request { return Request{URL: URL(s.URL)} }, Allow("loopback"))
	_, err := call(t, tool, struct{}{})
	if err == nil || !strings.HasSuffix(err.Error(), " (its content type is text/html)") {
		t.Errorf("HTML instead of JSON: %v", err)
	}
	s = serve(t, respond(204, "", ""))
	tool = JSON[struct{}, out]("t@1", flow.Reads, func(struct{}) Request { return Request{URL: URL(s.URL)} }, Allow("loopback"))
	_, err = call(t, tool, struct{}{})
	wantTool(t, err, value.ValidationError, "the response of "+host(s)+" is empty, JSON expected")
}

func TestNone(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write(bytes.Repeat([]byte{0xff}, 100))
		if r.Method == "POST" {
			_, _ = w.Write(make([]byte, 4<<20))
		}
	})
	for _, method := range []string{"GET", "POST", "HEAD", "OPTIONS"} {
		tool := None("t@1", flow.Writes, func(struct{}) Request { return Request{Method: method, URL: URL(s.URL)} }, Allow("loopback"), MaxOutput(10))
		if _, err := call(t, tool, struct{}{}); err != nil {
			t.Errorf("%s: %v", method, err)
		}
	}
}

func zip(t testing.TB, data string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGzip(t *testing.T) {
	long := strings.Repeat("0123456789", 1000)
	for _, tt := range []struct {
		name, encoding, body, want, why string
	}{
		{"gzip", "gzip", zip(t, long), long, ""},
		{"x-gzip", "X-Gzip", zip(t, "a"), "a", ""},
		{"identity", "identity", "a", "a", ""},
		{"two members", "gzip", zip(t, "a") + zip(t, "b"), "ab", ""},
		{"nothing", "gzip", "", "", ""},
		{"no gzip", "gzip", "hello, this is no gzip", "", "is not valid gzip data"},
		{"cut", "gzip", zip(t, long)[:40], "", "is not valid gzip data"},
		{"cut in its head", "gzip", zip(t, long)[:4], "", "is not valid gzip data"},
		{"wrong sum", "gzip", zip(t, long)[:len(zip(t, long))-8] + "\x00\x00\x00\x00\x00\x00\x00\x00", "", "is not valid gzip data"},
		{"brotli", "br", "x", "", "is encoded as br, which was not asked for"},
		{"twice", "gzip, gzip", zip(t, zip(t, "a")), "", "is encoded as gzip, gzip, which was not asked for"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Encoding", tt.encoding)
				w.Header().Set("Content-Type", "text/plain")
				_, _ = io.WriteString(w, tt.body)
			})
			for range 2 { // the second time with a reader that has been used
				got, err := call(t, get(s), "/")
				if tt.why != "" {
					wantTool(t, err, value.ValidationError, "the response of "+host(s)+" "+tt.why)
				} else if err != nil || got != tt.want {
					t.Errorf("got %q, %v; want %q", got, err, tt.want)
				}
			}
		})
	}
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Encoding", "gzip") })
	head := Text("t@1", flow.Reads, func(struct{}) Request { return Request{Method: "HEAD", URL: URL(s.URL)} }, Allow("loopback"))
	if got, err := call(t, head, struct{}{}); err != nil || got != "" {
		t.Errorf("HEAD: %q, %v", got, err)
	}
}

// trusting is a transport that trusts the server's certificate.
func trusting(t *testing.T, s *httptest.Server) *http.Transport {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	tr := newTransport(newPolicy([]string{"loopback"}), nil, &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12})
	t.Cleanup(tr.CloseIdleConnections)
	return tr
}

func TestHTTP2(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/large":
			_, _ = w.Write(make([]byte, 5<<20))
		case "/wait":
			<-r.Context().Done()
		case "/headers":
			for range 300 {
				w.Header().Add("X-Filler", strings.Repeat("x", 1<<10))
			}
		case "/429":
			w.Header().Set("Retry-After", "3")
			w.WriteHeader(429)
		default:
			_, _ = io.WriteString(w, r.Proto)
		}
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	tool := get(s, through(trusting(t, s)))
	for range 3 {
		if got, err := call(t, tool, "/"); err != nil || got != "HTTP/2.0" {
			t.Fatalf("got %q, %v", got, err)
		}
	}
	if got, err := call(t, tool, "/large"); err != nil || len(got) != 2<<20 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	_, err := call(t, tool, "/headers")
	wantTool(t, err, value.PolicyDenied, "the response of "+host(s)+" has more than 262144 bytes of headers")
	_, err = call(t, tool, "/429")
	if te := wantTool(t, err, value.RateLimit, host(s)+" answered 429 Too Many Requests"); te.RetryAfterS == nil || *te.RetryAfterS != 3 {
		t.Errorf("retry_after_s = %v", te.RetryAfterS)
	}
	slow := &flow.Node{ID: "slow", Pos: "f.yaml:2:1", Timeout: 50 * time.Millisecond}
	_, err = callAt(t, t.Context(), slow, tool, "/wait")
	wantTool(t, err, value.Timeout, host(s)+" did not answer in time")
	if got, err := call(t, tool, "/"); err != nil || got != "HTTP/2.0" {
		t.Fatalf("after all that: %q, %v", got, err)
	}
}

func TestPreview(t *testing.T) {
	page := "<html><head><title>A &amp; B</title><style>x{}</style></head><body><h1>Head</h1><p>one two</p></body></html>"
	for _, tt := range []struct {
		name, kind, body string
		opts             []Option
		want             Response
	}{
		{"json", "application/json; charset=utf-8", `{"b":1,"a":[1.0]}`, nil, Response{ContentType: "application/json", Text: `{"b":1,"a":[1.0]}`, Bytes: 17,
			JSON: value.Map(value.Entry{Key: "b", Value: value.Int(1)}, value.Entry{Key: "a", Value: value.List(value.Float(1))})}},
		{"json cut in text only", "application/json", `[1,2,3]`, []Option{PreviewBytes(3)}, Response{ContentType: "application/json", Text: `[1,`, Bytes: 7, Truncated: true,
			JSON: value.List(value.Int(1), value.Int(2), value.Int(3))}},
		{"json cut", "application/json", `[1,2,3]`, []Option{MaxOutput(4)}, Response{ContentType: "application/json", Text: `[1,2`, Bytes: 4, Truncated: true}},
		{"text", "text/plain", "abc", nil, Response{ContentType: "text/plain", Text: "abc", Bytes: 3}},
		{"text cut between characters", "text/plain", "aüb", []Option{PreviewBytes(2)}, Response{ContentType: "text/plain", Text: "a", Bytes: 4, Truncated: true}},
		{"body cut inside a character", "text/plain", "aüb", []Option{MaxOutput(2)}, Response{ContentType: "text/plain", Text: "a", Bytes: 2, Truncated: true}},
		{"html", "text/html", page, nil, Response{ContentType: "text/html", Title: "A & B", Text: "Head\none two", Bytes: int64(len(page))}},
		{"binary", "image/png", "\x89PNG\xff\xfe", nil, Response{ContentType: "image/png", Bytes: 6}},
		{"empty", "", "", nil, Response{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, respond(200, tt.kind, tt.body))
			tool := Preview("t@1", flow.Reads, func(struct{}) Request { return Request{URL: URL(s.URL + "/p?secret=1")} }, append(tt.opts, Allow("loopback"))...)
			got, err := call(t, tool, struct{}{})
			if err != nil {
				t.Fatal(err)
			}
			tt.want.Status, tt.want.URL = 200, s.URL+"/p"
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	s := serve(t, respond(200, "application/json", "{"))
	tool := Preview("t@1", flow.Reads, func(struct{}) Request { return Request{URL: URL(s.URL)} }, Allow("loopback"))
	var te *value.ToolError
	if _, err := call(t, tool, struct{}{}); !errors.As(err, &te) || te.Code != value.ValidationError {
		t.Errorf("broken JSON: %v", err)
	}
}

// Text goes into a request as it is: the body needs no copy of it.
func TestTextBodyAllocatesNothing(t *testing.T) {
	text := strings.Repeat("text ", 100)
	var body Body
	if got := testing.AllocsPerRun(100, func() { body = TextBody(text) }); got != 0 {
		t.Errorf("a body allocates %v times", got)
	}
	if b, err := io.ReadAll(body.reader()); err != nil || string(b) != text {
		t.Errorf("%v %q", err, b)
	}
}
