package httptool

import (
	"io"
	"net/http"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// TestBase: the variable is what the URL goes on from, whose host is reached although it is this machine, and is a part of no
// other tool's policy.
func TestBase(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v2/away" {
			http.Redirect(w, r, "http://127.0.0.2:1/", http.StatusFound)
			return
		}
		_, _ = io.WriteString(w, r.URL.String())
	})
	tool := func(url string) *flow.Tool[string, string] {
		return Text("t", flow.Reads, func(v string) Request { return Request{URL: URL(url, v), Query: []Field{{"q", "1"}}} }, Base("BASE_OF_TEST"))
	}
	for _, tt := range []struct{ base, want string }{{s.URL + "/v2", "/v2/items/a%2Fb?q=1"}, {s.URL + "/", "/items/a%2Fb?q=1"}} {
		t.Setenv("BASE_OF_TEST", tt.base)
		if got, err := call(t, tool("/items/{id}"), "a/b"); err != nil || got != tt.want {
			t.Errorf("%s: got %q, %v", tt.base, got, err)
		}
	}
	t.Setenv("BASE_OF_TEST", s.URL+"/v2")
	if _, err := call(t, tool("/items/{id}"), ".."); err == nil {
		t.Error("a value leads out of its place")
	}
	_, err := call(t, tool("/away?x={id}"), "1")
	wantTool(t, err, value.PolicyDenied, "127.0.0.2 was not contacted: it is loopback; policy.net.allow must name it")
	const broken = "environment variable BASE_OF_TEST is not a base URL such as https://example.com/v2"
	for _, base := range []string{"api.example.com", "ftp://a.example", "https://u:p@a.example", "https://a.example?x=1", "https://a.example/{x}", "file:///etc"} {
		t.Setenv("BASE_OF_TEST", base)
		_, err := call(t, tool("/items/{id}"), "a")
		wantTool(t, err, value.ValidationError, broken)
	}
	t.Setenv("BASE_OF_TEST", "")
	_, err = call(t, tool("/items/{id}"), "a")
	wantTool(t, err, value.ValidationError, "environment variable BASE_OF_TEST (base URL) is not set")
}

// TestAny: a response is JSON when it says so, or says nothing.
func TestAny(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Content-Type"] = map[string][]string{"/json": {"application/json; charset=utf-8"}, "/text": {"text/plain"}}[r.URL.Path]
		_, _ = io.WriteString(w, `{"b": 1.0, "a": null}`)
	})
	for path, want := range map[string]string{"/json": `{"b":1.0,"a":null}`, "/text": `"{\"b\": 1.0, \"a\": null}"`, "/": `{"b":1.0,"a":null}`} {
		tool := Any("t", flow.Reads, func(string) Request { return Request{URL: URL(s.URL + path)} }, Allow("loopback"))
		got, err := call(t, tool, "")
		if text, _ := got.MarshalJSON(); err != nil || string(text) != want {
			t.Errorf("%s: got %s, %v", path, text, err)
		}
	}
}
