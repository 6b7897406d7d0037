package mcpserver_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/mcpserver"
	"github.com/flowgen-dev/flowgen/runtime/serve"
)

// oneRound is a client that sends no answers by itself.
var oneRound = &mcp.ClientOptions{
	MultiRoundTrip:     &mcp.MultiRoundTripOptions{Disabled: true},
	ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) { return nil, errors.New("nobody") },
}

// byName lets everybody say who they are.
func byName(r *http.Request) (serve.Principal, error) {
	name, tenant, _ := strings.Cut(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), "@")
	return serve.Principal{Name: name, Tenant: tenant}, nil
}

// With the state of its question a run goes on, on another replica and after a restart too. What a client has changed or made up, or
// got from another tool, client or server, begins and answers nothing.
func TestState(t *testing.T) {
	shop, dir := &shop{}, t.TempDir()
	// replica is a server with the folder of the others.
	replica := func(dir string) *served {
		s, err := serve.Handler(serve.Options{Runs: runs.Open(dir, runs.Options{}), Auth: byName}, serve.Of(info, shop.new))
		if err != nil {
			t.Fatal(err)
		}
		m, err := mcpserver.New(s, mcpserver.Options{})
		if err != nil {
			t.Fatal(err)
		}
		h := httptest.NewServer(m)
		t.Cleanup(func() {
			m.Close()
			h.CloseClientConnections()
			h.Close()
			_ = s.Shutdown(context.Background()) // nothing runs
			http.DefaultClient.CloseIdleConnections()
		})
		return &served{m, s, h.URL}
	}
	s := replica(dir)
	many := args{"item": "tea", "count": 11}
	ada := s.connect(t, ways[4], oneRound, "ada@acme")
	send := func(c *mcp.ClientSession, tool string, given args, state, key string) *answer {
		t.Helper()
		r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: given, RequestState: state, InputResponses: mcp.InputResponseMap{key: accept(true)}})
		if err != nil {
			t.Fatal(err)
		}
		return read(t, r)
	}
	ask := func(c *mcp.ClientSession, tool string, given args) string {
		t.Helper()
		r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: given})
		if err != nil || len(r.InputRequests) != 1 || r.RequestState == "" {
			t.Fatalf("%+v, %v", r, err)
		}
		return r.RequestState
	}
	state := ask(ada, "order", many)
	body, seal, _ := strings.Cut(state, ".")
	raw, err := base64.RawURLEncoding.DecodeString(body)
	if err != nil {
		t.Fatal(err)
	}
	id := strings.Split(string(raw), `"`)[3]
	text := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	elsewhere := replica(t.TempDir()).connect(t, ways[4], oneRound, "ada@acme")
	for name, bad := range map[string]struct {
		c     *mcp.ClientSession
		state string
	}{
		"none":               {ada, ""},
		"the run alone":      {ada, id},
		"without a seal":     {ada, body},
		"an empty seal":      {ada, body + "."},
		"a part of the seal": {ada, body + "." + seal[:10]},
		"another seal":       {ada, body + "." + text(strings.Repeat("s", 32))},
		"another run":        {ada, text(strings.Replace(string(raw), id, "order-other", 1)) + "." + seal},
		"another question":   {ada, text(strings.Replace(string(raw), "ask", "all", 1)) + "." + seal},
		"more behind it":     {ada, state + "A"},
		"padded":             {ada, body + "=." + seal},
		"a path":             {ada, "../x"},
		"a long one":         {ada, strings.Repeat("y", 100_000)},
		"of another client":  {s.connect(t, ways[4], oneRound, "bob@acme"), state},
		"of another tenant":  {s.connect(t, ways[4], oneRound, "ada@other"), state},
		"of another tool":    {ada, ask(ada, "run_result", args{"run": id})},
		"of another server":  {ada, ask(elsewhere, "order", many)},
	} {
		if a := send(bad.c, "order", many, bad.state, "ask"); !a.failed || !strings.Contains(a.text, "VALIDATION_ERROR: invalid requestState") {
			t.Errorf("%s: %+v", name, a)
		}
	}
	if a := send(ada, "order", many, state, "other"); !a.failed || !strings.Contains(a.text, `"other", which was not asked`) {
		t.Errorf("%+v", a)
	}
	other := ask(ada, "order", many)
	otherID := ask(ada, "run_result", args{"run": id})
	if a := send(ada, "run_result", args{"run": fmt.Sprint(id, "0")}, otherID, "ask"); !a.failed {
		t.Errorf("the state of another run: %+v", a)
	}
	if a := call(t, ada, "run_list", args{"state": "waiting"}); strings.Count(a.text, `"id"`) != 2 || shop.sent.Load() != 0 {
		t.Errorf("something was begun or answered: %s", a.text)
	}
	again := replica(dir).connect(t, ways[4], oneRound, "ada@acme")
	for _, st := range []string{state, other} {
		if a := send(again, "order", many, st, "ask"); a.failed || a.State != "succeeded" {
			t.Errorf("%+v", a)
		}
	}
	if n := shop.sent.Load(); n != 2 {
		t.Errorf("%d parcels", n)
	}
}
