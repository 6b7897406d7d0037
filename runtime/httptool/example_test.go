package httptool_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/httptool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

type ticket struct {
	Title string `json:"title"`
}

// A tool that asks for a JSON document. An input becomes one segment of the path, whatever it holds, so that no input
// leads to another host. Without Allow no request reaches this machine or a private network.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer t-12345" || r.URL.EscapedPath() != "/tickets/A%2F7" {
			http.NotFound(w, r)
			return
		}
		_, _ = fmt.Fprint(w, `{"title": "Printer on fire"}`)
	}))
	defer server.Close()
	defer httptool.CloseIdleConnections()

	request := func(id string) httptool.Request {
		return httptool.Request{Method: http.MethodGet, URL: httptool.URL(server.URL+"/tickets/{id}", id)}
	}
	fetch := httptool.JSON[string, ticket]("desk.fetch@1", flow.Reads, request, httptool.Bearer("DESK_TOKEN"), httptool.Allow("loopback"))
	guarded := httptool.JSON[string, ticket]("desk.guarded@1", flow.Reads, request)

	node := &flow.Node{ID: "fetch", Pos: "desk.flowgen.yaml:7:5"}
	rt, err := flow.New(&flow.Info{Name: "desk", Secrets: []string{"DESK_TOKEN"}, Nodes: []*flow.Node{node}},
		runtime.WithSecrets(func(string) (string, bool) { return "t-12345", true }))
	if err != nil {
		panic(err)
	}
	run := rt.Start(context.Background())
	fmt.Println(flow.Call(run, node, fetch, "A/7"))
	_, err = flow.Call(run, node, guarded, "A/7")
	fmt.Println(value.ToolErrorOf(err).Code)
	// Output:
	// {Printer on fire} <nil>
	// POLICY_DENIED
}

// WithHTTPClient lets all HTTP tools and models of a workflow use the client of a service, with its proxy and certificates.
func ExampleWithHTTPClient() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprint(w, "from ", r.Header.Get("X-Service"))
	}))
	defer server.Close()
	client := &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
		r = r.Clone(r.Context())
		r.Header.Set("X-Service", "desk")
		return http.DefaultTransport.RoundTrip(r)
	})}
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()

	node := &flow.Node{ID: "hello", Pos: "desk.flowgen.yaml:7:5"}
	hello := httptool.Text("desk.hello@1", flow.Reads, func(struct{}) httptool.Request {
		return httptool.Request{Method: http.MethodGet, URL: httptool.URL(server.URL)}
	}, httptool.Allow("loopback"))
	rt, err := flow.New(&flow.Info{Name: "desk", Nodes: []*flow.Node{node}}, httptool.WithHTTPClient(client))
	if err != nil {
		panic(err)
	}
	fmt.Println(flow.Call(rt.Start(context.Background()), node, hello, struct{}{}))
	// Output: from desk <nil>
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
