//go:build unix

package mcptool

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/httptool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

var program string // the server of testdata

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "mcptool")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		program = filepath.Join(dir, "server.exe")
		if out, err := exec.Command("go", "build", "-ldflags=-s", "-o", program, "./testdata/server").CombinedOutput(); err != nil {
			panic(fmt.Sprintf("%v\n%s", err, out))
		}
		code := m.Run()
		Close()
		httptool.CloseIdleConnections()
		if children := childProcesses(); len(children) > 0 {
			fmt.Println("processes are left:", children)
			code = 1
		}
		if err := goleak.Find(); err != nil {
			fmt.Println(err)
			code = 1
		}
		return code
	}())
}

// childProcesses are the command lines of the processes of this one that run the test server.
func childProcesses() []string {
	var out []string
	list, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range list {
		line, err := os.ReadFile(file)
		if err == nil && strings.HasPrefix(string(line), program) {
			out = append(out, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return out
}

// local makes a server that ends with the test.
func localServer(t testing.TB, args ...string) *Server {
	t.Helper()
	s := Local("test", append([]string{program}, args...))
	t.Cleanup(s.Close)
	return s
}

// remoteServer starts one that listens on loopback.
func remoteServer(t testing.TB, path string, args []string, o ...httptool.Option) *Server {
	t.Helper()
	cmd := exec.Command(program, append([]string{"-http"}, args...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url := strings.TrimSpace(line)
	if path != "" {
		url = strings.TrimSuffix(url, "/mcp") + path
	}
	s := Remote("test", url, append([]httptool.Option{httptool.Allow("loopback")}, o...)...)
	t.Cleanup(func() {
		s.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		httptool.CloseIdleConnections()
	})
	return s
}

// pin is the pin of a tool as a server of that program lists it now.
func pin(t testing.TB, s *Server, name string) Pin {
	t.Helper()
	x, err := s.open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tools, err := x.listed(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if tools[name] == nil {
		t.Fatalf("no tool %s", name)
	}
	return Pin{Tool: name, Hash: tools[name].hash, Parts: tools[name].parts}
}

var node = &flow.Node{ID: "n", Pos: "f.yaml:1:1"}

// invoke calls a tool as a workflow does.
func invoke[In, Out any](t testing.TB, tool *flow.Tool[In, Out], in In, o ...func(*flow.Node)) (Out, error) {
	t.Helper()
	return invokeIn(t.Context(), t, tool, in, o...)
}

func invokeIn[In, Out any](ctx context.Context, t testing.TB, tool *flow.Tool[In, Out], in In, o ...func(*flow.Node)) (Out, error) {
	t.Helper()
	n := *node
	for _, f := range o {
		f(&n)
	}
	rt, err := flow.New(&flow.Info{Name: "w", Nodes: []*flow.Node{&n}}, runtime.WithSecrets(func(name string) (string, bool) {
		v, ok := secrets[name]
		return v, ok
	}))
	if err != nil {
		t.Fatal(err)
	}
	r := rt.Start(ctx)
	out, err := flow.Call(r, &n, tool, in)
	r.End(&err)
	return out, err
}

var secrets = map[string]string{"SECRET": "s3cr/et+canary", "TOKEN": "tok-canary"}

func within(d time.Duration) func(*flow.Node) {
	return func(n *flow.Node) { n.Timeout = d }
}

// code is that of a tool error.
func code(err error) value.Code {
	var te *value.ToolError
	if errors.As(err, &te) {
		return te.Code
	}
	return ""
}

// wantError holds an error to its code and a part of its text.
func wantError(t *testing.T, err error, c value.Code, part string) {
	t.Helper()
	if code(err) != c || !strings.Contains(fmt.Sprint(err), part) {
		t.Errorf("got %v, want %s with %q", err, c, part)
	}
}
