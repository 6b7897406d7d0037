package wire

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/httptool"
)

type answering func(*http.Request) string

func (f answering) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(f(req))), Request: req}, nil
}

// Models are asked with the client of the program.
func TestHTTPClient(t *testing.T) {
	client := &http.Client{Transport: answering(func(req *http.Request) string { return "hello from " + req.URL.Host })}
	n := flow.Node{ID: "ask", Pos: "w.yaml:1:1"}
	rt, err := flow.New(&flow.Info{Name: "w", Nodes: []*flow.Node{&n}}, httptool.WithHTTPClient(client))
	if err != nil {
		t.Fatal(err)
	}
	model := flow.Bind("m@1", flow.External, func(ctx context.Context, base string) (string, error) {
		resp, err := Open(base).Post(ctx, "/chat", http.Header{}, []byte("{}"))
		if err != nil {
			return "", err
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		return string(text), err
	})
	r := flow.Start(t.Context(), rt, "")
	out, err := flow.Call(r, &n, model, "https://models.invalid/v1")
	r.End(&err)
	if out != "hello from models.invalid" || err != nil {
		t.Errorf("%q, %v", out, err)
	}
}
