//go:build linux && (amd64 || arm64)

package sandbox_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
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
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
	"github.com/flowgen-dev/flowgen/runtime/worker"
)

var node = &flow.Node{ID: "n", Pos: "f.yaml:1:1"}

func start(t *testing.T, o ...runtime.Option) *flow.Run {
	t.Helper()
	t.Cleanup(worker.Shutdown)
	rt, err := flow.New(&flow.Info{Name: "test"}, o...)
	if err != nil {
		t.Fatal(err)
	}
	return rt.Start(t.Context())
}

// secretFile is a file that the user can read, and a tool without isolation too.
func secretFile(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "id_ed25519")
	if err := os.WriteFile(path, []byte("private key"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

type pathIn struct {
	Path string `json:"path"`
}

func wantError(t *testing.T, err error, code value.Code, part string) {
	t.Helper()
	var te *value.ToolError
	if !errors.As(err, &te) || te.Code != code || !strings.Contains(te.Message, part) {
		t.Errorf("got %v, want %s with %q", err, code, part)
	}
}

func TestCommand(t *testing.T) {
	path := secretFile(t)
	cat := func(in pathIn) exectool.Command { return exectool.Command{Args: []string{"cat", in.Path}} }
	recorder := journal.NewRecorder()
	r := start(t, runtime.WithEngine(recorder))
	if got, err := flow.Call(r, node, exectool.Text("cat@1", flow.Reads, cat), pathIn{path}); got != "private key" || err != nil {
		t.Errorf("without isolation: %q, %v", got, err)
	}
	_, err := flow.Call(r, node, exectool.Text("cat@1", flow.Reads, cat, sandbox.Process()), pathIn{path})
	wantError(t, err, value.ProviderError, "Permission denied")
	got, err := flow.Call(r, node, exectool.Text("cat@1", flow.Reads, cat, sandbox.Process(filepath.Dir(path))), pathIn{path})
	if got != "private key" || err != nil {
		t.Errorf("with the directory: %q, %v", got, err)
	}
	var tiers []string
	for _, rec := range recorder.Journal().Records() {
		tiers = append(tiers, rec.Sandbox)
	}
	if got := strings.Join(tiers, ","); got != ",process,process" {
		t.Errorf("recorded tiers %q", got)
	}
}

func TestCommandIsBounded(t *testing.T) {
	run := func(timeout time.Duration, script string) (string, error) {
		r := start(t)
		n := *node
		n.Timeout = timeout
		return flow.Call(r, &n, exectool.Text("sh@1", flow.Reads, func(struct{}) exectool.Command { return exectool.Command{Shell: script} }, sandbox.Process()), struct{}{})
	}
	begin := time.Now()
	_, err := run(time.Minute, "cat /dev/zero | head -c 1000000000; yes")
	wantError(t, err, value.PolicyDenied, "wrote more than the 67108864 bytes")
	_, err = run(300*time.Millisecond, "trap '' TERM; (while :; do :; done) & sleep 100")
	wantError(t, err, value.Timeout, "")
	if took := time.Since(begin); took > 60*time.Second {
		t.Errorf("took %v", took)
	}
	if got, err := run(time.Minute, `echo "$$ in"; sleep 30 & echo out`); !strings.HasSuffix(got, "in\nout") || err != nil {
		t.Errorf("with a child left behind: %q, %v", got, err)
	}
	if _, err := run(time.Minute, "exit 3"); err == nil {
		t.Error("exit 3 is no error")
	} else {
		wantError(t, err, value.ProviderError, "status 3")
	}
}

func TestMissingProgram(t *testing.T) {
	r := start(t)
	_, err := flow.Call(r, node, exectool.Text("x@1", flow.Reads, func(struct{}) exectool.Command { return exectool.Command{Args: []string{"flowgen-none"}} }, sandbox.Process()), struct{}{})
	wantError(t, err, value.SandboxError, "no such program in PATH")
}

// Policies of the caller reach tools that were bound without isolation.
func TestPolicyRequires(t *testing.T) {
	marker := filepath.Join(t.TempDir(), "ran")
	r := start(t, runtime.WithPolicy(&runtime.Policy{MinSandbox: runtime.Process}))
	touch := func(struct{}) exectool.Command { return exectool.Command{Args: []string{"touch", marker}} }
	_, err := flow.Call(r, node, exectool.None("touch@1", flow.None, touch), struct{}{})
	wantError(t, err, value.SandboxError, "needs the sandbox tier process")
	if _, err := os.Stat(marker); err == nil {
		t.Error("the command ran")
	}
	echo := func(struct{}) exectool.Command { return exectool.Command{Args: []string{"echo", "hi"}} }
	if got, err := flow.Call(r, node, exectool.Text("echo@1", flow.None, echo, sandbox.Process()), struct{}{}); got != "hi" || err != nil {
		t.Errorf("isolated: %q, %v", got, err)
	}
	r = start(t, runtime.WithPolicy(&runtime.Policy{MinSandbox: runtime.Container}))
	_, err = flow.Call(r, node, exectool.Text("echo@1", flow.None, echo, sandbox.Process()), struct{}{})
	wantError(t, err, value.SandboxError, "needs the sandbox tier container")
}

// other is an isolation that cannot start processes.
type other struct{}

func (other) Obtain(context.Context, runtime.Tier) (runtime.Tier, error) { return runtime.GVisor, nil }

func TestIsolationWithoutProcesses(t *testing.T) {
	r := start(t)
	_, err := flow.Call(r, node, exectool.Text("echo@1", flow.None, func(struct{}) exectool.Command { return exectool.Command{Args: []string{"echo"}} },
		tool.Isolate(other{}, runtime.Process)), struct{}{})
	wantError(t, err, value.SandboxError, "cannot start commands")
	_, err = flow.Call(r, node, jstool.Bind[struct{}, int64]("js@1", flow.None, jstool.Module{Name: "a.mjs", Code: "export default () => 1"},
		tool.Isolate(other{}, runtime.Process)), struct{}{})
	wantError(t, err, value.SandboxError, "cannot start workers")
}

func interpreter(t *testing.T, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}

const pythonModule = `import os, subprocess, threading
import helper
def read(path):
    with open(path) as f:
        return f.read()
def pid():
    return os.getpid()
def env():
    return sorted(os.environ)
def work(n):
    t = threading.Thread(target=lambda: None); t.start(); t.join()
    with open("scratch.txt", "a") as f:
        f.write("x" * n)
    return helper.double(os.path.getsize("scratch.txt")) + len(subprocess.run(["echo", "a"], capture_output=True).stdout)
def fill():
    import time
    for i in range(400):
        with open(f"f{i}", "wb") as f:
            f.write(b"x" * (1 << 20))
        time.sleep(0.005 if i < 300 else 30) # until somebody has looked
def connect():
    import socket
    socket.socket()
`

func TestPython(t *testing.T) {
	interpreter(t, "python3")
	t.Setenv("SECRET_TOKEN", "hunter2")
	dir := t.TempDir()
	for name, text := range map[string]string{"tools.py": pythonModule, "helper.py": "def double(n):\n    return 2 * n\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	source := &pytool.Source{Path: []string{dir}}
	path := secretFile(t)
	f := func(name string) pytool.Func { return pytool.Func{Source: source, Module: "tools", Name: name} }
	r := start(t)
	if got, err := flow.Call(r, node, pytool.Bind[pathIn, string]("read@1", flow.Reads, f("read")), pathIn{path}); got != "private key" || err != nil {
		t.Errorf("without isolation: %q, %v", got, err)
	}
	p := sandbox.Process()
	_, err := flow.Call(r, node, pytool.Bind[pathIn, string]("read@1", flow.Reads, f("read"), p), pathIn{path})
	wantError(t, err, value.Unknown, "PermissionError")
	_, err = flow.Call(r, node, pytool.Bind[struct{}, value.Value]("connect@1", flow.Reads, f("connect"), p), struct{}{})
	wantError(t, err, value.Unknown, "PermissionError")
	type nIn struct {
		N int64 `json:"n"`
	}
	work := pytool.Bind[nIn, int64]("work@1", flow.None, f("work"), p)
	for i := range int64(3) {
		if got, err := flow.Call(r, node, work, nIn{5}); got != 10*(i+1)+2 || err != nil {
			t.Errorf("call %d: %d, %v", i, got, err)
		}
	}
	env, err := flow.Call(r, node, pytool.Bind[struct{}, []string]("env@1", flow.None, f("env"), p), struct{}{})
	if err != nil || strings.Contains(strings.Join(env, " "), "SECRET") {
		t.Errorf("environment %q, %v", env, err)
	}
	pid := func(o ...flow.ToolOption) int64 {
		n, err := flow.Call(r, node, pytool.Bind[struct{}, int64]("pid@1", flow.None, f("pid"), o...), struct{}{})
		if err != nil {
			t.Error(err)
		}
		return n
	}
	if a, b := pid(p), pid(p); a != b {
		t.Errorf("workers %d and %d: the interpreter is not kept warm", a, b)
	}
	if a, b := pid(p), pid(); a == b {
		t.Error("an isolated worker serves a call without isolation")
	}
	_, err = flow.Call(r, node, pytool.Bind[struct{}, value.Value]("fill@1", flow.None, f("fill"), p), struct{}{})
	wantError(t, err, value.SandboxError, "wrote more than 268435456 bytes")
	if got, err := flow.Call(r, node, work, nIn{1}); got != 4 || err != nil {
		t.Errorf("after it: %d, %v", got, err)
	}
}

func TestPythonInHome(t *testing.T) {
	interpreter(t, "python3")
	t.Setenv("HOME", t.TempDir())
	r := start(t)
	_, err := flow.Call(r, node, pytool.Bind[struct{}, value.Value]("x@1", flow.Reads,
		pytool.Func{Source: &pytool.Source{Path: []string{os.Getenv("HOME")}}, Module: "os", Name: "getpid"}, sandbox.Process()), struct{}{})
	wantError(t, err, value.SandboxError, "would read all of")
}

func TestNode(t *testing.T) {
	interpreter(t, "node")
	path := secretFile(t)
	code := `import fs from "node:fs"; import net from "node:net"; import { execFileSync } from "node:child_process";
export default ({ path }) => {
  if (path === "net") return new Promise((_, no) => net.connect(1, "127.0.0.1").on("error", no));
  if (path === "self") { fs.writeFileSync("x", "y"); return fs.readFileSync("x", "utf8") + execFileSync("echo", ["z"]) }
  return fs.readFileSync(path, "utf8") }`
	m := jstool.Module{Name: "read.mjs", Code: code}
	r := start(t)
	if got, err := flow.Call(r, node, jstool.Bind[pathIn, string]("read@1", flow.Reads, m), pathIn{path}); got != "private key" || err != nil {
		t.Errorf("without isolation: %q, %v", got, err)
	}
	tool := jstool.Bind[pathIn, string]("read@1", flow.Reads, m, sandbox.Process())
	if got, err := flow.Call(r, node, tool, pathIn{"self"}); got != "yz\n" || err != nil {
		t.Errorf("isolated: %q, %v", got, err)
	}
	_, err := flow.Call(r, node, tool, pathIn{path})
	wantError(t, err, value.Unknown, "EACCES")
	_, err = flow.Call(r, node, tool, pathIn{"net"})
	wantError(t, err, value.Unknown, "EPERM")
}

// No secret that the isolated tool is given comes back in what the sandbox says.
func TestErrorsTellNoSecret(t *testing.T) {
	r := start(t, runtime.WithSecrets(func(string) (string, bool) { return "hunter2", true }))
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "bad"), []byte("\x7fELF"), 0o755); err != nil {
		t.Fatal(err)
	}
	tool := exectool.Text("x@1", flow.Reads, func(struct{}) exectool.Command {
		return exectool.Command{Args: []string{filepath.Join(dir, "bad")}, SecretEnv: []string{"TOKEN=KEY"}}
	}, flow.Secrets("KEY"), sandbox.Process())
	_, err := flow.Call(r, node, tool, struct{}{})
	wantError(t, err, value.SandboxError, "exec format error")
	if bytes.Contains([]byte(err.Error()), []byte("hunter2")) {
		t.Error(err)
	}
}
