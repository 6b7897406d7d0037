package httptool

import (
	"net/http"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

func TestIdempotencyKey(t *testing.T) {
	var keys []string
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		keys = append(keys, r.Header.Get("Idempotency-Key"))
		if len(keys)%3 != 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	n := &flow.Node{ID: "pay", Pos: "f.yaml:1:1", Retry: &flow.Retry{Attempts: 3, Base: time.Microsecond}}
	tool := func(h []Field, o ...flow.ToolOption) *flow.Tool[string, struct{}] {
		return None("pay@1", flow.Writes, func(string) Request { return Request{Method: "POST", URL: URL(s.URL), Header: h} }, Allow("loopback"), Tool(o...))
	}
	run := func(tool *flow.Tool[string, struct{}], in string) (id string) {
		t.Helper()
		keys = nil
		rec := journal.NewRecorder()
		rt, err := flow.New(&flow.Info{Name: "w"}, runtime.WithEngine(rec))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := flow.Call(rt.Start(t.Context()), n, tool, in); err != nil {
			t.Fatal(err)
		}
		if len(keys) != 3 {
			t.Fatalf("%d requests", len(keys))
		}
		return rec.Envelopes()[0].CallID
	}
	want := func(name, key string) {
		t.Helper()
		for i, k := range keys {
			if k != key {
				t.Errorf("%s, attempt %d: key %q, want %q", name, i+1, k, key)
			}
		}
	}
	one := run(tool(nil, flow.Idempotent()), "one")
	want("call_id", one)
	if two := run(tool(nil, flow.Idempotent()), "two"); two == one || len(two) != 64 {
		t.Errorf("two calls have the keys %q and %q", one, two)
	}
	run(tool(nil, flow.IdempotencyKey(func(order string) string { return "order-" + order })), "7")
	want("own key", "order-7")
	run(tool([]Field{{"idempotency-key", "author"}}, flow.Idempotent()), "7")
	want("author's header", "author")
	run(tool(nil), "7")
	want("not declared", "")

	_, err := call(t, tool(nil, flow.IdempotencyKey(func(string) string { return "a\r\nEvil: 1" })), "7")
	wantTool(t, err, value.ValidationError, "the idempotency key has a line break or another control character")
}

// Another origin is not told the key.
func TestIdempotencyKeyStaysWithItsOrigin(t *testing.T) {
	var got []string
	other := serve(t, func(_ http.ResponseWriter, r *http.Request) { got = append(got, r.Header.Get("Idempotency-Key")) })
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL, http.StatusFound) })
	if _, err := call(t, get(s, Tool(flow.Idempotent())), "/"); err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got[0] != "" {
		t.Errorf("the other origin got %q", got)
	}
}
