package websearch

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

const page = `<div><a rel="nofollow" class="result__a" href="//duckduckgo.com/y.js?ad=1">An ad</a>
<a rel="nofollow" class="result__a" href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fgo.dev%2Fdoc&amp;rut=1">The <b>Go</b> &amp; more</a>
<a class="result__snippet" href="x">Docs of
 <b>Go</b>.</a><a rel="nofollow" class="result__a" href="https://example.com/">Second</a>
<a rel="nofollow" class="result__a" href="https://example.com/3">Third</a></div>`

// TestSearch: what a page has becomes text, and what a server says becomes an error.
func TestSearch(t *testing.T) {
	status := http.StatusOK
	var asked string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		asked = string(b)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, page)
	}))
	defer s.Close()
	tool := bind("g.search@1", s.URL, 2, s.Client())
	call := func(in value.Value) (value.Value, error) {
		rt, err := flow.New(&flow.Info{Name: "w"})
		if err != nil {
			t.Fatal(err)
		}
		return flow.Call(flow.Start(context.Background(), rt, struct{}{}), &flow.Node{ID: "n"}, tool, in)
	}
	query := value.Map(value.Entry{Key: "query", Value: value.String("a b&c")})
	v, err := call(query)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff("Search results for 'a b&c':\n\n1. The Go & more\n   URL: https://go.dev/doc\n   Docs of Go.\n\n2. Second\n   URL: https://example.com/\n", v.String()); d != "" {
		t.Error(d)
	}
	if asked != "q=a+b%26c" {
		t.Errorf("asked %q", asked)
	}
	for _, tt := range []struct {
		status int
		in     value.Value
		want   value.Code
	}{{429, query, value.RateLimit}, {500, query, value.ProviderError}, {200, value.Map(), value.ValidationError}} {
		status = tt.status
		_, err := call(tt.in)
		var te *value.ToolError
		if !errors.As(err, &te) || te.Code != tt.want {
			t.Errorf("%d: %v, not %s", tt.status, err, tt.want)
		}
	}
}
