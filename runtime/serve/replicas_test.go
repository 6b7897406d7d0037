package serve_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/serve"
)

// Replicas with a folder each answer together as one does: whichever is asked sends the client to the one that has the run.
func TestReplicas(t *testing.T) {
	b := &bank{}
	var handlers [2]http.Handler
	addresses := map[string]string{}
	var all [2]*service
	for i, name := range []string{"a", "b"} {
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handlers[i].ServeHTTP(w, r) }))
		t.Cleanup(web.Close)
		addresses[name] = web.URL
	}
	for i, name := range []string{"a", "b"} {
		all[i] = start(t, t.TempDir(), b, serve.Options{Replica: name, Replicas: addresses})
		handlers[i] = all[i].Server
		all[i].url = addresses[name]
	}
	first := all[0].want(t, 202, "POST", start10, `{"to": "ada", "euros": 300}`, "Prefer", "wait=30")
	if !strings.HasPrefix(first.ID, "a-pay-") {
		t.Errorf("%s", first.text)
	}
	// The client of the standard library follows 307 with method and body.
	if seen := all[1].want(t, 200, "GET", "/v1/runs/"+first.ID, ""); seen.State != "waiting" {
		t.Errorf("%s", seen.text)
	}
	if done := all[1].want(t, 200, "PUT", "/v1/runs/"+first.ID+"/questions/ask", `{"answer": "yes"}`, "Prefer", "wait=30"); done.State != "succeeded" {
		t.Errorf("%s", done.text)
	}
	if list := all[0].want(t, 200, "GET", "/v1/runs?workflow=pay", ""); len(list.Runs) != 1 || list.Runs[0].ID != first.ID {
		t.Errorf("%s", list.text)
	}
	paid := b.paid.Load()
	owners := map[string]int{}
	for n := range 20 {
		key := fmt.Sprint("k", n)
		one := all[n%2].want(t, 201, "POST", start10, `{"to": "ada", "euros": 3}`, "Idempotency-Key", key, "Prefer", "wait=30")
		two := all[1-n%2].want(t, 200, "POST", start10, `{"to": "ada", "euros": 3}`, "Idempotency-Key", key, "Prefer", "wait=30")
		if one.ID != two.ID {
			t.Errorf("%s: %s and %s", key, one.ID, two.ID)
		}
		owners[one.ID[:2]]++
	}
	if b.paid.Load() != paid+20 || len(owners) != 2 {
		t.Errorf("paid %d times by %v", b.paid.Load()-paid, owners)
	}
	plain := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r, err := plain.Get(addresses["b"] + "/v1/runs/" + first.ID + "/events?from=3")
	if err != nil {
		t.Fatal(err)
	}
	if _ = r.Body.Close(); r.StatusCode != 307 || r.Header.Get("Location") != addresses["a"]+"/v1/runs/"+first.ID+"/events?from=3" {
		t.Errorf("%d %v", r.StatusCode, r.Header)
	}
	for _, id := range []string{"a-pay-none", "c-pay-none", "none"} {
		all[0].want(t, 404, "GET", "/v1/runs/"+id, "")
	}
	for name, o := range map[string]serve.Options{
		"including this one": {Replica: "c", Replicas: addresses},
		"is not a URL":       {Replica: "a", Replicas: map[string]string{"a": "a.example:80"}},
		"lower-case letters": {Replica: "A-1", Replicas: map[string]string{"A-1": "http://a.example"}},
	} {
		o.Runs = runs.Open(t.TempDir(), runs.Options{})
		if _, err := serve.Handler(o, serve.Of(payInfo, b.new)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
