//go:build unix

package command_test

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/cli"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/internal/leaks"
	_ "github.com/flowgen-dev/flowgen/runtime/mcpserver/command"
)

var (
	askNode = &flow.Node{ID: "ask", Pos: "w.flowgen.yaml:3:3", Index: 0}
	payNode = &flow.Node{ID: "pay", Pos: "w.flowgen.yaml:4:3", Index: 1}
	info    = &flow.Info{Name: "pay", Nodes: []*flow.Node{askNode, payNode}, Facts: flow.NewFacts(
		`{"plan": {}, "hashes": {}, "manifest": {"effects": ["external"], "people": ["ask"], "hosts": ["bank.example"]}}`)}
)

// input is an order, which is paid by a line in a file. Large ones are asked for.
type input struct {
	Order string `json:"order"`
}

type output struct {
	Paid string `json:"paid"`
}

type workflow struct{ rt *flow.Runtime }

func (w *workflow) Run(ctx context.Context, in input) (out output, err error) {
	run := flow.Start(ctx, w.rt, in)
	defer flow.End(run, &out, &err)
	if strings.HasPrefix(in.Order, "large") {
		if _, err := flow.Ask[string](run, askNode, runtime.Question{Text: "Pay " + in.Order + "?", Choices: []string{"yes"}}); err != nil {
			return out, err
		}
	}
	pay := flow.Bind("w.pay@1", flow.External, func(_ context.Context, order string) (string, error) {
		if name := os.Getenv("LEDGER"); name != "" {
			f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
			if err != nil {
				return "", err
			}
			defer f.Close()
			_, err = f.WriteString(order + "\n")
			return order, err
		}
		println("on standard error") //nolint:forbidigo // as code of a workflow may
		_, err := os.Stdout.WriteString("not for the client\n")
		return order, err
	})
	out.Paid, err = flow.Call(run, payNode, pay, in.Order)
	return out, err
}

// TestMain is the program when the test starts itself as that.
func TestMain(m *testing.M) {
	if os.Getenv("SERVED_PROGRAM") == "" {
		leaks.Main(m)
		return
	}
	cli.Main(info, func(o ...runtime.Option) (*workflow, error) {
		rt, err := flow.New(info, o...)
		return &workflow{rt}, err
	})
}

// serve starts the program with /mcp over HTTP and returns its address.
func serve(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{"mcp", "--addr", "127.0.0.1:0", "--admin", "off", "--runs", t.TempDir()}, args...)...)
	cmd.Env = append(os.Environ(), "SERVED_PROGRAM=1")
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(log)
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		for lines.Scan() { // until it has ended
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("the program: %v", err)
		}
	})
	for lines.Scan() {
		var record struct{ Msg, Addr string }
		if json.Unmarshal(lines.Bytes(), &record) == nil && record.Msg == "listening" {
			return record.Addr
		}
	}
	t.Fatal("it does not listen")
	return ""
}

// needs is the value of a variable that names a tool of others, which CI installs.
func needs(t *testing.T, variable string) string {
	t.Helper()
	v := os.Getenv(variable)
	switch {
	case v != "" && v != "none":
		return v
	case os.Getenv("CI") != "" && v != "none":
		t.Fatalf("%s is not set", variable)
	}
	t.Skipf("%s is not set: .ci/run installs it", variable)
	return ""
}

// The official Python SDK calls the workflow over both transports and in both protocols, and a person behind it answers.
func TestPythonSDK(t *testing.T) {
	packages := needs(t, "PYTHON_CLIENTS")
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs("testdata/client.py")
	if err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"stdio": {os.Args[0], "mcp", "--runs", t.TempDir()},
		"http":  {"http://" + serve(t) + "/mcp"},
	} {
		cmd := exec.CommandContext(t.Context(), python, append([]string{script}, args...)...)
		cmd.Env = append(os.Environ(), "PYTHONPATH="+packages)
		if text, err := cmd.CombinedOutput(); err != nil || !strings.HasSuffix(string(text), "well\n") {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
	}
}

// The command line of the inspector lists and calls the tools.
func TestInspector(t *testing.T) {
	inspector := needs(t, "MCP_INSPECTOR")
	for name, server := range map[string][]string{
		"stdio": {os.Args[0], "mcp", "-e", "SERVED_PROGRAM=1", "-e", "FLOWGEN_RUNS=" + t.TempDir()},
		"http":  {"http://" + serve(t) + "/mcp", "--transport", "http"},
	} {
		inspect := func(args ...string) string {
			cmd := exec.CommandContext(t.Context(), inspector, slices.Concat([]string{"--cli"}, server, args)...)
			cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
			var stderr strings.Builder
			cmd.Stderr = &stderr
			text, err := cmd.Output()
			if err != nil {
				t.Errorf("%s %v: %v\n%s", name, args, err, stderr.String())
			}
			return string(text)
		}
		if text := inspect("--method", "tools/list"); !strings.Contains(text, `"name": "run_result"`) || !strings.Contains(text, `"destructiveHint": true`) {
			t.Errorf("%s: %s", name, text)
		}
		if text := inspect("--method", "tools/call", "--tool-name", "pay", "--tool-arg", "order=tea"); !strings.Contains(text, `"paid": "tea"`) {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// What a client sends that makes no sense ends nothing but itself, and nothing that is not a message comes back.
func TestStandardInput(t *testing.T) {
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	const call = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"pay","arguments":{"order":"tea"}}}` + "\n"
	for _, c := range []struct{ name, input, want string }{
		{"a call", hello + call, `"structuredContent":{"run":`},
		{"an unknown tool", hello + strings.Replace(call, `"pay"`, `"steal"`, 1), `unknown tool`},
		{"an unknown method", hello + strings.Replace(call, "tools/call", "tools/steal", 1), `"code":-32601`},
		{"no JSON", hello + "{\n", ""},
		{"nothing", "", ""},
		{"a call before a greeting", call, `"error"`},
	} {
		dir := t.TempDir()
		cmd := exec.CommandContext(t.Context(), os.Args[0], "mcp", "--runs", dir)
		cmd.Env = append(os.Environ(), "SERVED_PROGRAM=1")
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := in.Write([]byte(c.input)); err != nil {
			t.Fatal(err)
		}
		found := c.want == ""
		lines := bufio.NewScanner(out)
		for !found && lines.Scan() {
			if !json.Valid(lines.Bytes()) {
				t.Errorf("%s: %s", c.name, lines.Text())
			}
			found = strings.Contains(lines.Text(), c.want)
		}
		_ = in.Close() // it may have ended
		for lines.Scan() {
			if !json.Valid(lines.Bytes()) {
				t.Errorf("%s: %s", c.name, lines.Text())
			}
		}
		_ = cmd.Wait() // of no consequence to who has sent nonsense
		runs, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil || !found || (len(runs) > 0) != (c.name == "a call") {
			t.Errorf("%s: found %v, runs %v, %v", c.name, found, runs, err)
		}
	}
}

// Flags that make no sense are refused before anything is served.
func TestFlags(t *testing.T) {
	for want, args := range map[string][]string{
		"did you mean --wait?":                 {"--wiat", "1s"},
		"expected a duration such as 20s":      {"--wait", "long"},
		"unexpected argument tea":              {"tea"},
		"runs must be recorded":                {"--runs", "off"},
		"other machines can reach 0.0.0.0:0":   {"--addr", "0.0.0.0:0"},
		"Offers the workflow as a tool over":   {"--help"},
		"cannot listen at 127.0.0.1:notaport2": {"--addr", "127.0.0.1:notaport2"},
	} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], append([]string{"mcp", "--runs", t.TempDir()}, args...)...)
		cmd.Env = append(os.Environ(), "SERVED_PROGRAM=1")
		if text, err := cmd.CombinedOutput(); (err == nil) != (args[0] == "--help") || !strings.Contains(string(text), want) {
			t.Errorf("%v: %v, %s", args, err, text)
		}
	}
}
