//go:build unix

package mcptool

import (
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/internal/eventually"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// mutations are what a server can change about a tool after people have looked at it, and what the refusal says (P36).
var mutations = []struct{ to, says string }{
	{"description", "its description changed"},
	{"description-space", "its description changed"},
	{"description-hidden", "its description changed"},
	{"description-gone", "its description changed"},
	{"title", "its title changed"},
	{"name", "no longer has a tool echo"},
	{"gone", "no longer has a tool echo"},
	{"annotation", "its annotations changed"},
	{"argument-new", "its input schema changed"},
	{"argument-gone", "its input schema changed"},
	{"argument-required", "its input schema changed"},
	{"argument-type", "its input schema changed"},
	{"argument-description", "its input schema changed"},
	{"argument-default", "its input schema changed"},
	{"argument-any", "its input schema changed"},
	{"output-type", "its output schema changed"},
	{"output-gone", "its output schema changed"},
}

// TestRugPullAtStart: the server is another one than the one that was locked.
func TestRugPullAtStart(t *testing.T) {
	locked := pin(t, localServer(t), "echo")
	locked.Open = true
	refused := 0
	for _, m := range mutations {
		s := localServer(t, "-mutate", m.to)
		_, err := invoke(t, JSON[echoIn, echoOut]("w.echo@1", flow.Reads, s, locked), echoIn{Text: "x"})
		wantError(t, err, value.PolicyDenied, m.says)
		if err != nil {
			refused++
		}
	}
	t.Logf("%d mutations, %d refusals", len(mutations), refused)
}

// TestRugPullLater: the server changes its tool after it was called, and says so.
func TestRugPullLater(t *testing.T) {
	type to struct {
		To string `json:"to"`
	}
	both(t, func(t *testing.T, s *Server) {
		p := pin(t, s, "echo")
		p.Open = true
		echo, mutate := JSON[echoIn, echoOut]("w.echo@1", flow.Reads, s, p), textTool[to](t, s, "mutate")
		refused := 0
		for _, m := range mutations {
			if _, err := invoke(t, echo, echoIn{Text: "x"}); err != nil {
				t.Fatalf("before %s: %v", m.to, err)
			}
			if _, err := invoke(t, mutate, to{m.to}); err != nil {
				t.Fatal(err)
			}
			err := retried(func() error { _, err := invoke(t, echo, echoIn{Text: "x"}); return err }, value.PolicyDenied)
			wantError(t, err, value.PolicyDenied, m.says)
			if err != nil {
				refused++
			}
			if _, err := invoke(t, mutate, to{""}); err != nil {
				t.Fatal(err)
			}
			if err := retried(func() error { _, err := invoke(t, echo, echoIn{Text: "x"}); return err }, ""); err != nil {
				t.Fatalf("after %s: %v", m.to, err)
			}
		}
		t.Logf("%d mutations, %d refusals", len(mutations), refused)
	})
}

func TestTwice(t *testing.T) {
	s := &Server{name: "s"}
	out := map[string]*listed{}
	page := []byte(`{"tools":[{"name":"a","inputSchema":{}},{"name":"b","inputSchema":{}},{"name":"a","inputSchema":{"type":"object"}},{"inputSchema":{}},null,3]}`)
	if err := s.read(page, out); err != nil || len(out) != 2 {
		t.Fatal(out, err)
	}
	err := s.compare(Pin{Tool: "a", Hash: out["a"].hash}, out)
	wantError(t, err, value.PolicyDenied, "two tools a")
	if err := s.compare(Pin{Tool: "b", Hash: out["b"].hash}, out); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{``, `{`, `{"tools":[{"name":"a","name":"b"}]}`, "{\"tools\":[\xff]}"} {
		wantError(t, s.read([]byte(bad), out), value.ProviderError, "cannot be read")
	}
}

func TestDescribe(t *testing.T) {
	hash := func(text string) string {
		v, err := value.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		d, err := describe(v)
		if err != nil {
			t.Fatal(err)
		}
		return d.hash + " " + string(d.json)
	}
	want := `sha256:88c3a2b2 {"inputSchema":{"a":1,"b":[1]},"name":"x"}`
	got := hash(`{"name":"x","icons":[1],"_meta":{},"inputSchema":{"b":[1.0],"a":1}}`)
	if got[:7] != want[:7] || !strings.HasSuffix(got, want[16:]) {
		t.Errorf("got %s", got)
	}
	if got != hash(` {"inputSchema" : {"a":1e0, "b":[1]}, "name":"\u0078", "description": null}`) {
		t.Error("the order of keys and the spelling of numbers count")
	}
}

func TestList(t *testing.T) {
	s := localServer(t, "-many", "300")
	l, err := invoke(t, List("lock@1", s), struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	if l.Name != "testserver" || l.Version != "1.2.3" || l.Protocol == "" || len(l.Tools) < 320 {
		t.Errorf("%s %s %s, %d tools", l.Name, l.Version, l.Protocol, len(l.Tools))
	}
	_, err = invoke(t, List("lock@1", localServer(t, "-many", "3000")), struct{}{})
	wantError(t, err, value.PolicyDenied, "too many tools")
}

// retried repeats f until its error has that code: the server's word about a change takes its time.
func retried(f func() error, c value.Code) (err error) {
	eventually.Is(func() bool {
		err = f()
		return code(err) == c
	})
	return err
}
