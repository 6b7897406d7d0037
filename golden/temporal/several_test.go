//go:build unix

package temporal

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/internal/built"
)

// several is a worker of two workflows, as somebody writes it who has a worker of their own.
const several = `package main

import (
	"log"
	"os"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	"go.temporal.io/sdk/worker"

	"github.com/flowgen-dev/flowgen/runtime/temporal"

	"example.com/several/east"
	"example.com/several/west"
)

func main() {
	o, err := envconfig.LoadDefaultClientOptions()
	if err != nil {
		log.Fatal(err)
	}
	c, err := client.Dial(o)
	if err != nil {
		log.Fatal(err)
	}
	w := worker.New(c, "several", worker.Options{})
	if err := temporal.Register(w, east.Info, east.New, temporal.Options{}); err != nil {
		log.Fatal(err)
	}
	if err := temporal.Register(w, west.Info, west.New, temporal.Options{}); err != nil {
		log.Fatal(err)
	}
	if err := w.Start(); err != nil {
		log.Fatal(err)
	}
	_, _ = os.Stderr.WriteString("worker of several\n")
	select {}
}
`

// One worker carries out two workflows that have a model and a tool of one name: each calls its own, alone and in batches.
func TestSeveral(t *testing.T) {
	served(t)
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	command := func(program string, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOWORK="+filepath.Join(dir, "go.work"), "GOFLAGS=-mod=readonly", "FLOWGEN_RUNTIME="+filepath.Join(root, "runtime"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s %s: %v\n%s", program, args, err, out)
		}
	}
	write("go.mod", "module example.com/several\n\ngo 1.26.0\n")
	write("go.work", workspace(t, root))
	write("main.go", several)
	files := map[string]string{}
	for _, name := range []string{"east", "west"} {
		write(name+"/answers.yaml", "answers:\n  - {prompt: the weather, text: fine in the "+name+"}\n  - {prompt: a remark, text: from the "+name+"}\n")
		files[name] = write(name+"/"+name+".flowgen.yaml", `flowgen: 1
name: `+name+`
input: {items: list<int>}
tools:
  where: {command: [echo, `+name+`], out: string, effects: reads, sandbox: none}
models: {m: "scripted:answers.yaml"}
nodes:
  here: {tool: where}
  weather: {llm: m, prompt: "{{ here }}: the weather"}
  remarks: {map: $input.items, as: i, parallel: 20, do: {llm: m, prompt: "{{ i }}: a remark"}}
edges: [here -> weather -> remarks -> end]
output: {weather: $weather, remarks: $remarks}
`)
		command(built.Flowgen(t), "generate", "--engine", "temporal", files[name])
	}
	exe := filepath.Join(dir, "several")
	command("go", "build", "-o", exe, ".")
	worker(t, exe)
	for name, path := range files {
		program := build(t, path)
		ok(t, program, "start", "--id", name, "--queue", "several", "--input-json", numbers(t, 0, 20))
		out := fields[struct {
			Weather string
			Remarks []string
		}](t, ok(t, program, "result", name))
		if out.Weather != "fine in the "+name || len(out.Remarks) != 20 || strings.Join(out.Remarks, "") != strings.Repeat("from the "+name, 20) {
			t.Errorf("%s: %+v", name, out)
		}
		ok(t, program, "replay", name)
		if text := ok(t, program, "inspect", "--temporal", name, "weather"); !strings.Contains(text, "scripted:answers.yaml@1") || strings.Contains(text, name+".scripted") {
			t.Error(text)
		}
	}
}
