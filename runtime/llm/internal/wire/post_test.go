package wire

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// post asks the service at base.
func post(t *testing.T, base string, parts ...[]byte) (*http.Response, error) {
	t.Helper()
	resp, err := Open(base).Post(t.Context(), "/chat/completions", http.Header{}, parts...)
	if err == nil {
		t.Cleanup(func() { _ = resp.Body.Close() })
	}
	return resp, err
}

// What the base URL has beside its path stays: the version of Azure's interface, the user of a gateway.
func TestPostAddress(t *testing.T) {
	var got *http.Request
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { got = r }))
	defer s.Close()
	at := func(user, rest string) string { return "http://" + user + strings.TrimPrefix(s.URL, "http://") + rest }
	for _, tt := range []struct{ base, want, user string }{
		{at("", "/v1"), "/v1/chat/completions", ""},
		{at("", "/v1/"), "/v1/chat/completions", ""},
		{at("", ""), "/chat/completions", ""},
		{at("", "/openai/deployments/gpt%2F4o?api-version=2024-10-21"), "/openai/deployments/gpt%2F4o/chat/completions?api-version=2024-10-21", ""},
		{at("", "/v1/?a=b%2Fc"), "/v1/chat/completions?a=b%2Fc", ""},
		{at("ann:hunter2@", "/v1"), "/v1/chat/completions", "ann:hunter2"},
	} {
		if _, err := post(t, tt.base, []byte("{}")); err != nil {
			t.Fatal(err)
		}
		user, password, ok := got.BasicAuth()
		if got.RequestURI != tt.want || ok != (tt.user != "") || ok && user+":"+password != tt.user {
			t.Errorf("%s: asked %s as %q", tt.base, got.RequestURI, user)
		}
	}
}

// A provider's path may be escaped and have a query.
func TestAt(t *testing.T) {
	for _, tt := range []struct{ base, path, want string }{
		{"https://h/v1", "/models/a:stream?alt=sse", "https://h/v1/models/a:stream?alt=sse"},
		{"https://h/v1?k=1", "/models/a?alt=sse", "https://h/v1/models/a?k=1&alt=sse"},
		{"https://h/v1", "/models/a%2Fb%25", "https://h/v1/models/a%2Fb%25"},
		{"https://h/x%2Fy", "/a%20b", "https://h/x%2Fy/a%20b"},
	} {
		if got := Open(tt.base).at(tt.path).String(); got != tt.want {
			t.Errorf("%s and %s are %s, want %s", tt.base, tt.path, got, tt.want)
		}
	}
}

// A body arrives as it is, whatever its size.
func TestPostBody(t *testing.T) {
	var got string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got = string(b)
	}))
	defer s.Close()
	for _, n := range []int{0, 1, inOne - 2, inOne - 1, inOne, 3 * inOne} {
		want := strings.Repeat("x", n) + "]}"
		resp, err := post(t, s.URL, []byte(want[:n]), []byte("]}"))
		if err != nil || got != want {
			t.Fatalf("%d bytes: got %d: %v", n, len(got), err)
		}
		_ = resp.Body.Close()
	}
}

// Only what was surely not sent is unspent.
func TestPostUnspent(t *testing.T) {
	const closed = "http://127.0.0.1:1" // not a port that was just closed: the next listener may be assigned it
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		panic(http.ErrAbortHandler)
	}))
	defer s.Close()
	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }))
	defer refuses.Close()
	large := make([]byte, 2*inOne)
	for _, tt := range []struct {
		name, base string
		body       []byte
		unspent    bool
	}{
		{"no address", "ftp://models.example.com", nil, true},
		{"nobody listens", closed, nil, true},
		{"nobody listens, large", closed, large, true},
		{"refused", refuses.URL, nil, true},
		{"the connection ends", s.URL, []byte("{}"), false},
		{"the connection ends, large", s.URL, large, false},
	} {
		_, err := post(t, tt.base, tt.body)
		if err == nil {
			t.Fatalf("%s: no error", tt.name)
		}
		if got := fmt.Sprintf("%T", err) == "core.unspent"; got != tt.unspent {
			t.Errorf("%s: unspent is %v: %v", tt.name, got, err)
		}
	}
}
