package traced_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/otel/traced"
)

var node = &flow.Node{ID: "shout", Pos: "w.flowgen.yaml:3:3"}

type workflow struct{ rt *flow.Runtime }

func (w *workflow) Run(ctx context.Context, _ struct{}) (out string, err error) {
	run := flow.Start(ctx, w.rt, struct{}{})
	defer flow.End(run, &out, &err)
	tool := flow.Bind("w.shout@1", flow.None, func(_ context.Context, in string) (string, error) { return strings.ToUpper(in), nil })
	return flow.Call(run, node, tool, "hello")
}

// TestMain is the traced program when the test starts itself as that.
func TestMain(m *testing.M) {
	if os.Getenv("TRACED_PROGRAM") == "" {
		os.Exit(m.Run())
	}
	info := &flow.Info{Name: "loud", Nodes: []*flow.Node{node}}
	traced.Main(info, func(o ...runtime.Option) (*workflow, error) {
		rt, err := flow.New(info, o...)
		return &workflow{rt}, err
	})
}

func program(t *testing.T, env ...string) (stdout, stderr string, code int) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, "--quiet", "--no-journal")
	cmd.Env = append(append(os.Environ(), "TRACED_PROGRAM=1"), env...)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run()
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// The program sends what its run was before it ends.
func TestMainTraces(t *testing.T) {
	var mu sync.Mutex
	var sent strings.Builder
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = io.Copy(&sent, r.Body) // protobuf has texts as they are
	}))
	defer collector.Close()
	out, errs, code := program(t, "OTEL_EXPORTER_OTLP_ENDPOINT="+collector.URL, "OTEL_EXPORTER_OTLP_COMPRESSION=none")
	if code != 0 || strings.TrimSpace(out) != `"HELLO"` {
		t.Fatalf("exit %d, %s, %s", code, out, errs)
	}
	mu.Lock()
	defer mu.Unlock()
	for _, span := range []string{"invoke_workflow loud", "call shout", "execute_tool w.shout", "flowgen.runs", "flowgen.call.duration"} {
		if !strings.Contains(sent.String(), span) {
			t.Errorf("neither span nor metric %q", span)
		}
	}
}

// A collector that is not there does not harm the run; a setting that is wrong is said before it begins.
func TestMainWithoutCollector(t *testing.T) {
	if out, errs, code := program(t, "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_TIMEOUT=200"); code != 0 || strings.TrimSpace(out) != `"HELLO"` {
		t.Errorf("exit %d, %s, %s", code, out, errs)
	}
	out, errs, code := program(t, "OTEL_TRACES_EXPORTER=zipkin")
	if code != 2 || out != "" || errs != "error: otel: OTEL_TRACES_EXPORTER is \"zipkin\"; this program knows otlp and none\n" {
		t.Errorf("exit %d, %s, %s", code, out, errs)
	}
}
