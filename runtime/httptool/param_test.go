package httptool_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/httptool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

type word string

type optionals struct {
	N *int64 `json:"n,omitempty"`
}

// TestParams: values of a request on the wire. Absent ones are left out, lists repeat the name, nothing gets out of its place.
func TestParams(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %q %s", r.RequestURI, r.Header["X-A"], body)
	}))
	defer s.Close()
	send := func(q, h []httptool.Field, body any) (string, error) {
		tool := httptool.Text("t.t@1", flow.Reads, func(struct{}) httptool.Request {
			return httptool.Request{Method: "POST", URL: httptool.URL(s.URL + "/"), Query: q, Header: h, Body: httptool.JSONBody(body)}
		}, httptool.Allow("loopback"))
		rt, err := flow.New(&flow.Info{Name: "t"})
		if err != nil {
			return "", err
		}
		return flow.Call(rt.Start(t.Context()), &flow.Node{ID: "n", Pos: "f.yaml:2:1"}, tool, struct{}{})
	}
	n, evil := int64(7), "a\r\nX-Evil: 1"
	got, err := send(slices.Concat(httptool.Optional("n", &n), httptool.Optional[string]("none", nil), httptool.Repeated("l", []string{"a&b=c", "", "ü /"}),
		httptool.OptionalList[int64]("ids", nil), httptool.OptionalList("ids", &[]int64{1, 2}), httptool.Optional("w", flow.Ptr(word("x"))),
		httptool.Optional("d", flow.Ptr(90*time.Second)), httptool.Optional("f", flow.Ptr(1.5)), httptool.Optional("b", flow.Ptr(true)),
		httptool.Optional("t", flow.Ptr(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))), httptool.Optional("raw", &[]byte{0xff})),
		httptool.Optional("X-A", flow.Ptr("é")), optionals{})
	const want = `/?n=7&l=a%26b%3Dc&l=&l=%C3%BC%20%2F&ids=1&ids=2&w=x&d=1m30s&f=1.5&b=true&t=2026-01-02T03%3A04%3A05Z&raw=%2Fw%3D%3D ["é"] {}`
	if err != nil || got != want {
		t.Errorf("%v\n%s, want\n%s", err, got, want)
	}
	if _, err := send(nil, httptool.Optional("X-A", &evil), nil); value.ToolErrorOf(err) == nil || value.ToolErrorOf(err).Code != value.ValidationError {
		t.Errorf("a line break in a header: %v", err)
	}
}
