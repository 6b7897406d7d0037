package mcpserver_test

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowgen-dev/flowgen/runtime/mcpserver"
	"github.com/flowgen-dev/flowgen/runtime/serve"
)

func tokens(t *testing.T, lines ...string) serve.Options {
	t.Helper()
	var b strings.Builder
	for _, l := range lines {
		name, rest, _ := strings.Cut(l, " ")
		fmt.Fprintf(&b, "sha256=%x name=%s %s\n", sha256.Sum256([]byte(name)), name, rest)
	}
	auth, err := serve.Tokens(strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	return serve.Options{Auth: auth}
}

// Who calls is who has the token: its rights, its tenant's runs, its sessions.
func TestWho(t *testing.T) {
	s := start(t, &shop{}, tokens(t, "ann tenant=a", "bob tenant=b", "reader tenant=a rights=read", "stranger workflows=none"), mcpserver.Options{})
	for _, w := range []way{ways[3], ways[4]} {
		ann, bob := s.connect(t, w, nil, "ann"), s.connect(t, w, nil, "bob")
		a := call(t, ann, "order", args{"item": "tea"})
		if a.State != "succeeded" {
			t.Fatalf("%+v", a)
		}
		if b := call(t, bob, "run_result", args{"run": a.Run}); !b.failed || !strings.Contains(b.text, "NOT_FOUND") {
			t.Errorf("%+v", b)
		}
		if _, err := bob.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "run://" + a.Run + "/output"}); err == nil {
			t.Error("another tenant's output is read")
		}
		reader := s.connect(t, w, nil, "reader")
		if b := call(t, reader, "run_result", args{"run": a.Run}); b.State != "succeeded" {
			t.Errorf("%+v", b)
		}
		if b := call(t, reader, "order", args{"item": "tea"}); !b.failed || !strings.Contains(b.text, "this needs the right start") {
			t.Errorf("%+v", b)
		}
		if _, err := s.connect(t, w, nil, "stranger").CallTool(t.Context(), &mcp.CallToolParams{Name: "order", Arguments: args{"item": "tea"}}); err == nil {
			t.Error("a workflow of others is called")
		}
	}
}

func (s *served) post(t *testing.T, body string, header ...string) (int, http.Header, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "POST", s.url+"/mcp", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(header); i += 2 {
		if r.Header.Set(header[i], header[i+1]); header[i] == "Host" {
			r.Host = header[i+1]
		}
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(text)
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`

// A session is of no use to others, and requests of nobody begin none.
func TestSessions(t *testing.T) {
	shop := &shop{}
	s := start(t, shop, tokens(t, "ann", "bob"), mcpserver.Options{MaxSessions: 2, MaxBody: 2000})
	if status, h, _ := s.post(t, initialize); status != http.StatusUnauthorized || h.Get("Www-Authenticate") != "Bearer" {
		t.Errorf("%d without a token", status)
	}
	status, h, text := s.post(t, initialize, "Authorization", "Bearer ann")
	id := h.Get("Mcp-Session-Id")
	if status != http.StatusOK || id == "" {
		t.Fatalf("%d %s", status, text)
	}
	const order = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"order","arguments":{"item":"tea"}}}`
	for _, bad := range []struct {
		status int
		body   string
		header []string
	}{
		{404, order, []string{"Authorization", "Bearer bob", "Mcp-Session-Id", id}},
		{404, order, []string{"Authorization", "Bearer ann", "Mcp-Session-Id", id + "0"}},
		{404, order, []string{"Authorization", "Bearer ann", "Mcp-Session-Id", "x"}},
		{401, order, []string{"Mcp-Session-Id", id}},
		{403, order, []string{"Authorization", "Bearer ann", "Host", "evil.example", "Mcp-Session-Id", id}},
		{413, order + strings.Repeat(" ", 3000), []string{"Authorization", "Bearer ann", "Mcp-Session-Id", id}},
		{400, "{", []string{"Authorization", "Bearer ann", "Mcp-Session-Id", id}},
		{400, order, []string{"Authorization", "Bearer ann", "Mcp-Session-Id", id, "Mcp-Protocol-Version", "1999-01-01"}},
		{415, order, []string{"Authorization", "Bearer ann", "Mcp-Session-Id", id, "Content-Type", "text/plain"}},
	} {
		if status, _, text := s.post(t, bad.body, bad.header...); status != bad.status {
			t.Errorf("%v: %d %s", bad.header, status, text)
		}
	}
	if n := shop.sent.Load(); n != 0 {
		t.Errorf("%d parcels", n)
	}
	if status, _, _ := s.post(t, initialize, "Authorization", "Bearer bob"); status != http.StatusOK {
		t.Errorf("%d", status)
	}
	if status, h, _ := s.post(t, initialize, "Authorization", "Bearer bob"); status != http.StatusServiceUnavailable || h.Get("Retry-After") == "" {
		t.Errorf("%d with too many sessions", status)
	}
}

// Versions of the future and the past are answered with one that both know.
func TestVersions(t *testing.T) {
	s := start(t, &shop{}, serve.Options{}, mcpserver.Options{})
	for asked, want := range map[string]string{"2024-11-05": "2024-11-05", "2025-03-26": "2025-03-26", "1999-01-01": "2025-11-25", "2099-01-01": "2025-11-25", "": "2025-11-25"} {
		_, _, text := s.post(t, strings.Replace(initialize, "2025-06-18", asked, 1))
		if !strings.Contains(text, `"protocolVersion":"`+want+`"`) {
			t.Errorf("%s: %s", asked, text)
		}
	}
}
