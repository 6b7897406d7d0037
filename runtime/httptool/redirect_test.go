package httptool

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// hop is what one server sees of a request.
type hop struct {
	Request string // method and path
	Headers string // those that matter, in order
	Body    string
}

func record(list *[]hop, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var headers []string
		for _, name := range []string{"Accept", "Authorization", "Content-Type", "Cookie", "Referer", "X-Api-Key", "X-Own"} {
			if v := r.Header.Get(name); v != "" {
				headers = append(headers, name)
			}
		}
		*list = append(*list, hop{r.Method + " " + r.URL.RequestURI(), strings.Join(headers, " "), string(body)})
		next(w, r)
	}
}

func to(status int, location string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", location)
		w.WriteHeader(status)
	}
}

func TestRedirects(t *testing.T) {
	var here, there []hop
	ok := func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }
	b := serve(t, record(&there, func(w http.ResponseWriter, r *http.Request) {
		if back := r.URL.Query().Get("back"); back != "" {
			to(302, back)(w, r)
			return
		}
		ok(w, r)
	}))
	a := serve(t, record(&here, func(w http.ResponseWriter, r *http.Request) {
		var status int
		if _, err := fmt.Sscanf(r.URL.Path, "/%d", &status); err != nil {
			ok(w, r)
			return
		}
		to(status, r.URL.Query().Get("to"))(w, r)
	}))
	const all, safe = "Accept Authorization X-Api-Key X-Own", "Accept"
	const sent = "Accept Authorization Content-Type X-Api-Key X-Own"
	for _, tt := range []struct {
		name, method, path string
		here, there        []hop // after the first
		code               value.Code
		why                string
	}{
		{"relative", "GET", "/301?to=next%3Fa%3Db", []hop{{"GET /next?a=b", all, ""}}, nil, "", ""},
		{"same origin", "GET", "/308?to=" + a.URL + "/next", []hop{{"GET /next", all, ""}}, nil, "", ""},
		{"fragment", "GET", "/302?to=/next%23x", []hop{{"GET /next", all, ""}}, nil, "", ""},
		{"other origin", "GET", "/302?to=" + b.URL + "/x", nil, []hop{{"GET /x", safe, ""}}, "", ""},
		{"other and back", "GET", "/302?to=" + b.URL + "/x?back=" + a.URL + "/y", []hop{{"GET /y", safe, ""}}, []hop{{"GET /x?back=" + a.URL + "/y", safe, ""}}, "", ""},
		{"post 301", "POST", "/301?to=/next", []hop{{"GET /next", all, ""}}, nil, "", ""},
		{"post 303", "POST", "/303?to=/next", []hop{{"GET /next", all, ""}}, nil, "", ""},
		{"post 307", "POST", "/307?to=/next", []hop{{"POST /next", sent, "data"}}, nil, "", ""},
		{"post 307 twice", "POST", "/307?to=/308%3Fto=/next", []hop{{"POST /308?to=/next", sent, "data"}, {"POST /next", sent, "data"}}, nil, "", ""},
		{"put 302", "PUT", "/302?to=/next", []hop{{"PUT /next", sent, "data"}}, nil, "", ""},
		{"post 303 to another", "POST", "/303?to=" + b.URL + "/x", nil, []hop{{"GET /x", safe, ""}}, "", ""},
		{"post 307 to another", "POST", "/307?to=" + b.URL + "/x", nil, nil, value.PolicyDenied, host(a) + " redirects a POST request to another origin, " + host(b)},
		{"delete to another", "DELETE", "/302?to=" + b.URL + "/x", nil, nil, value.PolicyDenied, host(a) + " redirects a DELETE request to another origin, " + host(b)},
		{"metadata", "GET", "/302?to=http://169.254.169.254/latest", nil, nil, value.PolicyDenied, "169.254.169.254 was not contacted: it is a cloud metadata service; policy.net.allow must name it"},
		{"private", "GET", "/302?to=http://10.0.0.1/", nil, nil, value.PolicyDenied, "10.0.0.1 was not contacted: it is private; policy.net.allow must name it"},
		{"spelled in hex", "GET", "/302?to=http://[::ffff:a9fe:a9fe]/", nil, nil, value.PolicyDenied, "::ffff:a9fe:a9fe was not contacted: its address 169.254.169.254 is a cloud metadata service; policy.net.allow must name it"},
		{"file", "GET", "/302?to=file:///etc/passwd", nil, nil, value.PolicyDenied, host(a) + " redirects to a forbidden URL: scheme file is not allowed: only http and https are"},
		{"user", "GET", "/302?to=http://u:p@127.0.0.1/", nil, nil, value.PolicyDenied, host(a) + " redirects to a forbidden URL: a URL with a user or password is not allowed"},
		{"no URL", "GET", "/302?to=http://%2500%25/", nil, nil, value.ProviderError, host(a) + " redirects to an invalid URL"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			here, there = nil, nil
			body := Body{}
			if tt.method == "POST" || tt.method == "PUT" {
				body = TextBody("data")
			}
			tool := Text("t@1", flow.Writes, func(struct{}) Request {
				return Request{Method: tt.method, URL: URL(a.URL + tt.path), Body: body, Header: []Field{{"Accept", "*/*"}, {"X-Own", "1"}}}
			}, Allow("loopback"), Bearer("TOKEN"), HeaderAuth("X-Api-Key", "TOKEN"))
			got, err := call(t, tool, struct{}{})
			if tt.code != "" {
				wantTool(t, err, tt.code, tt.why)
			} else if err != nil || got != "ok" {
				t.Errorf("got %q, %v", got, err)
			}
			if diff := cmp.Diff(tt.here, append([]hop(nil), here[1:]...)); diff != "" {
				t.Errorf("same server (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.there, there); diff != "" {
				t.Errorf("other server (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRedirectLoop(t *testing.T) {
	hits := 0
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { hits++; to(302, r.URL.Path)(w, r) })
	_, err := call(t, get(s), "/")
	wantTool(t, err, value.PolicyDenied, host(s)+" redirects more than 5 times")
	if hits != MaxRedirects+1 {
		t.Errorf("%d requests", hits)
	}
	hits = 0
	s = serve(t, func(w http.ResponseWriter, r *http.Request) {
		if hits++; hits <= MaxRedirects {
			to(302, "/")(w, r)
		}
	})
	if _, err := call(t, get(s), "/"); err != nil {
		t.Errorf("five redirects: %v", err)
	}
}

func TestDowngrade(t *testing.T) {
	plain, _ := canary(t)
	s := httptest.NewTLSServer(to(302, plain.URL))
	t.Cleanup(s.Close)
	_, err := call(t, get(s, through(trusting(t, s)), Bearer("TOKEN")), "/")
	wantTool(t, err, value.PolicyDenied, host(s)+" redirects from https to http")
}

func TestRedirectBodyIsBounded(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/end" {
			_, _ = io.WriteString(w, "ok")
			return
		}
		to(302, "/end")(w, r)
		for range 1 << 10 {
			if _, err := w.Write(make([]byte, 64<<10)); err != nil {
				return
			}
		}
		t.Error("64 MiB of a redirect's body were read")
	})
	if got, err := call(t, get(s), "/"); err != nil || got != "ok" {
		t.Errorf("got %q, %v", got, err)
	}
}
