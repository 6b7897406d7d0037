//go:build linux && (amd64 || arm64)

package sandbox_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/exectool"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/jstool"
	"github.com/flowgen-dev/flowgen/runtime/pytool"
	"github.com/flowgen-dev/flowgen/runtime/sandbox"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

func needGVisor(t *testing.T) {
	t.Helper()
	if err := sandbox.Available(runtime.GVisor); err != nil {
		if os.Getenv("CI") != "" || !strings.Contains(err.Error(), "gVisor is missing") {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}

func TestGVisorCommand(t *testing.T) {
	needGVisor(t)
	path := secretFile(t)
	cat := func(in pathIn) exectool.Command { return exectool.Command{Args: []string{"cat", in.Path}} }
	recorder := journal.NewRecorder()
	r := start(t, runtime.WithEngine(recorder), runtime.WithPolicy(&runtime.Policy{MinSandbox: runtime.Process}))
	_, err := flow.Call(r, node, exectool.Text("cat@1", flow.Reads, cat, sandbox.GVisor()), pathIn{path})
	wantError(t, err, value.ProviderError, "No such file or directory")
	got, err := flow.Call(r, node, exectool.Text("cat@1", flow.Reads, cat, sandbox.GVisor(filepath.Dir(path))), pathIn{path})
	if got != "private key" || err != nil {
		t.Errorf("with the directory: %q, %v", got, err)
	}
	for _, rec := range recorder.Journal().Records() {
		if rec.Sandbox != "gvisor" {
			t.Errorf("recorded tier %q", rec.Sandbox)
		}
	}
	sh := func(timeout time.Duration, script string) (string, error) {
		n := *node
		n.Timeout = timeout
		return flow.Call(r, &n, exectool.Text("sh@1", flow.Reads, func(struct{}) exectool.Command { return exectool.Command{Shell: script} }, sandbox.GVisor()), struct{}{})
	}
	_, err = sh(time.Minute, "yes")
	wantError(t, err, value.PolicyDenied, "wrote more than the 67108864 bytes")
	_, err = sh(300*time.Millisecond, "trap '' TERM; (while :; do :; done) & sleep 100")
	wantError(t, err, value.Timeout, "")
	_, err = sh(time.Minute, "echo why >&2; exit 3")
	wantError(t, err, value.ProviderError, "sh exited with status 3: why")
}

func TestGVisorWorkers(t *testing.T) {
	needGVisor(t)
	interpreter(t, "python3")
	interpreter(t, "node")
	dir := t.TempDir()
	for name, text := range map[string]string{"tools.py": pythonModule, "helper.py": "def double(n):\n    return 2 * n\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f := func(name string) pytool.Func {
		return pytool.Func{Source: &pytool.Source{Path: []string{dir}}, Module: "tools", Name: name}
	}
	r := start(t)
	g := sandbox.GVisor()
	type nIn struct {
		N int64 `json:"n"`
	}
	work := pytool.Bind[nIn, int64]("work@1", flow.None, f("work"), g)
	for i := range int64(2) { // warm
		if got, err := flow.Call(r, node, work, nIn{5}); got != 10*(i+1)+2 || err != nil {
			t.Errorf("call %d: %d, %v", i, got, err)
		}
	}
	_, err := flow.Call(r, node, pytool.Bind[pathIn, string]("read@1", flow.Reads, f("read"), g), pathIn{secretFile(t)})
	wantError(t, err, value.Unknown, "FileNotFoundError")
	var te *value.ToolError
	js := jstool.Bind[nIn, int64]("js@1", flow.None, jstool.Module{Name: "a.mjs", Code: `import fs from "node:fs"
export default ({n}) => { if (n == 0) fs.readFileSync("/etc/passwd"); return n + 1 }`}, g)
	if got, err := flow.Call(r, node, js, nIn{1}); got != 2 || err != nil {
		t.Errorf("js: %d, %v", got, err)
	}
	if _, err := flow.Call(r, node, js, nIn{0}); !errors.As(err, &te) || !strings.Contains(te.Message, "ENOENT") {
		t.Errorf("js reading: %v", err)
	}
}
