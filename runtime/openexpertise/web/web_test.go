package web_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/openexpertise"
	"github.com/flowgen-dev/flowgen/runtime/openexpertise/web"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

var node = &flow.Node{ID: "rows", Pos: "experience.yaml:1:1"}

// TestFetch: what is sent, and what becomes of the answer.
func TestFetch(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch r.URL.Path {
		case "/list":
			_, _ = io.WriteString(w, `[1, "`+r.URL.Query().Get("q")+`"]`)
		case "/echo":
			w.Header().Set("Content-Type", "text/html") // fetch reads JSON whatever it is called
			_, _ = io.WriteString(w, `{"method": "`+r.Method+`", "type": "`+r.Header.Get("Content-Type")+`", "body": "`+strings.ReplaceAll(string(body), `"`, "'")+`"}`)
		case "/text":
			_, _ = io.WriteString(w, "no")
		default:
			w.WriteHeader(http.StatusTeapot)
		}
	}))
	defer server.Close()
	for _, tt := range []struct {
		q         web.Request
		rows      func(string) (value.Value, error)
		want, err string
	}{
		{web.Request{Method: "GET", URL: "/list?q={x}"}, openexpertise.Array, `[1,"{x}"]`, ""},
		{web.Request{Method: "POST", URL: "/echo", Body: `{"a":1}`, JSON: true}, openexpertise.Wrapped, `[{"body":"{'a':1}","method":"POST","type":"application/json"}]`, ""},
		{web.Request{Method: "PUT", URL: "/echo", Body: "a=1"}, openexpertise.Wrapped, `[{"body":"a=1","method":"PUT","type":"text/plain; charset=utf-8"}]`, ""},
		{web.Request{Method: "GET", URL: "/echo"}, openexpertise.Array, "", "VALIDATION_ERROR: the answer is an object, and not an array"},
		{web.Request{Method: "GET", URL: "/text"}, openexpertise.Wrapped, "", "VALIDATION_ERROR: the answer is not JSON"},
		{web.Request{Method: "GET", URL: "/none"}, openexpertise.Wrapped, "", "PROVIDER_ERROR"},
	} {
		tt.q.URL = server.URL + tt.q.URL
		tool := web.Fetch("test.rows@1", flow.Reads, tt.q)
		rt, err := flow.New(&flow.Info{Name: "test", Nodes: []*flow.Node{node}})
		if err != nil {
			t.Fatal(err)
		}
		run := rt.Start(context.Background())
		got := ""
		text, err := flow.Call(run, node, tool, struct{}{})
		if err == nil {
			var v value.Value
			if v, err = tt.rows(text); err == nil {
				got = value.JSON(v)
			}
		}
		failed := ""
		if err != nil {
			failed = err.Error()
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || !strings.Contains(failed, tt.err) || (failed == "") != (tt.err == "") {
			t.Errorf("%+v: %s\n%s", tt.q, diff, failed)
		}
	}
}
