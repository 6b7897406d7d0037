package tools_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/httptool"
	"github.com/flowgen-dev/flowgen/runtime/internal/encoders"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/mcptool"
	"github.com/flowgen-dev/flowgen/runtime/pytool"
	"github.com/flowgen-dev/flowgen/runtime/redact"
	"github.com/flowgen-dev/flowgen/runtime/value"
	"github.com/flowgen-dev/flowgen/runtime/worker"
)

// The tools below pass their secret through encoder n, or through two, and put what comes out into their error: of Python's
// encoders the worker and the MCP server, of those and Go's the HTTP server.
const leaking = `
import base64

def encoded(secret, n):
    names = list(encoders)
    first, second = encoders[names[n % len(names)]], encoders[names[n // len(names) % len(names)]]
    text = first(secret.encode("utf-8", "surrogateescape"))
    return second(text.encode("utf-8", "surrogateescape")) if n >= len(names) else text
`

const leakingWorker = `
def leak(n):
    import flowgen, sys
    text = encoded(flowgen.context().auth["KEY"], n)
    print(text, file=sys.stderr)
    raise RuntimeError("x" * (n % 400) + " " + text)
`

const leakingServer = `
import json, os, sys
secret = os.environ["TOKEN"]
n = 0
for line in sys.stdin:
    m = json.loads(line)
    if "id" not in m:
        continue
    answer = {"jsonrpc": "2.0", "id": m["id"]}
    if m["method"] == "initialize":
        answer["result"] = {"protocolVersion": m["params"]["protocolVersion"], "capabilities": {"resources": {}}, "serverInfo": {"name": "s", "version": "1"}}
    elif m["method"] == "resources/read":
        n = int(m["params"]["uri"].rsplit("/", 1)[1])
        text = "x" * (n % 400) + " " + encoded(secret, n)
        if n % 10 == 9:
            print(text, file=sys.stderr, flush=True)
            os._exit(3)
        answer["error"] = {"code": -32000, "message": text, "data": text}
    else:
        answer["result"] = {}
    print(json.dumps(answer), flush=True)
`

// TestErrorsOfToolsLeakNothing: what a worker, an MCP server and an HTTP server make of a secret is in no error, no event and no
// journal, though what they say is cut and taken apart on its way there.
func TestErrorsOfToolsLeakNothing(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("python3 is not installed")
	}
	source, _, found := strings.Cut(encoders.Python, "\nprint(")
	if !found {
		t.Fatal("encode.py prints no names of encoders")
	}
	ways := append(encoders.Go(), encoders.Program(t, "python3", "-c", encoders.Python)...)
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		n, _ := strconv.Atoi(r.URL.Query().Get("n"))
		text := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		for range 1 + n/len(ways)%2 {
			out, err := ways[n%len(ways)].Do([]string{text})
			if err != nil {
				t.Error(err)
				return
			}
			text, n = out[0], n/len(ways)
		}
		w.Header().Set("Content-Type", []string{"text/html", "application/json", "text/plain"}[n%3])
		w.Header().Set("X-Request-Id", strings.Join(strings.Fields(text), " "))
		w.WriteHeader(500)
		_, _ = io.WriteString(w, strings.Repeat("x", n%5000)+" "+text)
	}))
	defer server.Close()
	script := filepath.Join(t.TempDir(), "server.py")
	if err := os.WriteFile(script, []byte(source+leaking+leakingServer), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(worker.Shutdown)
	t.Cleanup(mcptool.Close)
	type in struct {
		N int64 `json:"n"`
	}
	inPython := pytool.Bind[in, value.Value]("leak@1", flow.None, pytool.Func{
		Source: &pytool.Source{Files: fstest.MapFS{"leaking.py": {Data: []byte(source + leaking + leakingWorker)}}}, Module: "leaking", Name: "leak",
	}, flow.Secrets("KEY"))
	remote := httptool.Text("get@1", flow.External, func(i in) httptool.Request {
		return httptool.Request{URL: httptool.URL(fmt.Sprintf("%s/?n=%d", server.URL, i.N))}
	}, httptool.Bearer("KEY"), httptool.Allow("loopback"))
	rnd := rand.New(rand.NewPCG(7, 7))
	rounds, redacted := 90, 0
	if os.Getenv("CAMPAIGN") == "full" {
		rounds, rnd = 5000, rand.New(rand.NewPCG(rand.Uint64(), 7))
	}
	secret := `k/7"<f3>&'ad\1c9 é+`
	mcp := mcptool.Local("test", []string{python, script}, "TOKEN=KEY")
	for round := range rounds {
		if round == rounds/2 { // workers and servers are started for each secret anew
			secret += "longer than a line of base64, which has 76 digits"
		}
		rec := journal.NewRecorder()
		said := &eventText{}
		rt, err := flow.New(&flow.Info{Name: "w", Secrets: []string{"KEY"}}, runtime.WithSecrets(func(string) (string, bool) { return secret, true }),
			runtime.WithEngine(rec), runtime.WithObserver(said))
		if err != nil {
			t.Fatal(err)
		}
		n := in{rnd.Int64N(30 * int64(len(ways)))}
		if round%2 == 0 {
			n.N %= 27 // one encoder
		}
		r := rt.Start(t.Context())
		switch round % 3 {
		case 0:
			_, err = flow.Call(r, node, inPython, n)
		case 1:
			_, err = flow.Call(r, node, remote, n)
		case 2:
			_, err = flow.Call(r, node, mcptool.Resource("res@1", mcp, fmt.Sprintf("test://x/%d", n.N)), struct{}{})
		}
		what := fmt.Sprintf("round %d, encoder %d", round, n.N)
		var te *value.ToolError
		if !errors.As(err, &te) {
			t.Fatalf("%s: no error of a tool: %v", what, err)
		}
		r.End(&err)
		kept, mErr := rec.Journal().MarshalText()
		if mErr != nil {
			t.Fatal(mErr)
		}
		all := err.Error() + "\n" + te.Details.String() + "\n" + string(kept) + "\n" + said.text()
		redacted += strings.Count(all, redact.Redacted)
		if still := redact.New(secret, secret[:16], secret[len(secret)-16:]); still.Found(all) {
			t.Errorf("%s: %q is still in\n%s", what, secret, all)
		}
	}
	if redacted < rounds {
		t.Errorf("only %d places were redacted: the tools do not say what they should", redacted)
	}
}

// eventText is all that observers are told.
type eventText struct {
	mu sync.Mutex
	b  strings.Builder
}

func (e *eventText) Observe(ev runtime.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	fmt.Fprintf(&e.b, "%+v %v\n", ev, ev.Err)
}

func (e *eventText) text() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.b.String()
}
