package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// playgroundExamples are workflows that need nothing but their file; the first is what the playground begins with.
var playgroundExamples = []string{
	"examples/hello/hello.flowgen.yaml", "examples/cookbook/judge.flowgen.yaml", "examples/cookbook/expense.flowgen.yaml", "examples/cookbook/review.flowgen.yaml",
	"examples/cookbook/report.flowgen.yaml", "examples/cookbook/batch.flowgen.yaml", "examples/cookbook/chat.flowgen.yaml",
}

// exampleName is the name of a workflow by its file.
func exampleName(file string) string {
	return strings.TrimSuffix(filepath.Base(file), ".flowgen.yaml")
}

// playground writes the page of the playground, without the programs that it loads.
func (s *site) playground(out string) error {
	type example struct {
		Name string `json:"name"`
		Text string `json:"text"`
	}
	var list []example
	for _, file := range playgroundExamples {
		text, err := os.ReadFile(filepath.Join(s.root, file))
		if err != nil {
			return err
		}
		list = append(list, example{exampleName(file), string(text)})
	}
	data, err := json.Marshal(list)
	if err != nil {
		return err
	}
	body, err := assets.ReadFile("assets/playground/playground.html")
	if err != nil {
		return err
	}
	var page bytes.Buffer
	err = frame.Execute(&page, map[string]any{"Title": "Playground", "Summary": "flowgen's compiler in the browser", "Root": "../", "Body": template.HTML(body), "Playground": true})
	err = errors.Join(err, save(out, "playground/index.html", page.Bytes()), save(out, "playground/examples.js", fmt.Appendf(nil, "const examples = %s;\n", data)))
	for _, name := range []string{"playground.js", "worker.js"} {
		data, failed := assets.ReadFile("assets/playground/" + name)
		err = errors.Join(err, failed, save(out, "playground/"+name, data))
	}
	return err
}

// mostPacked is the size that the programs of the playground may have together, compressed.
const mostPacked = 8_000_000

// programs builds what the playground runs: the compiler, and the simulator with the examples in it. Their sizes are printed.
func programs(root, out string) error {
	goroot, err := goEnv(root, "GOROOT")
	if err != nil {
		return err
	}
	glue, err := os.ReadFile(filepath.Join(goroot, "lib", "wasm", "wasm_exec.js"))
	if err := errors.Join(err, save(out, "playground/wasm_exec.js", glue)); err != nil {
		return err
	}
	generated, err := simulatorSource(root)
	if err != nil {
		return err
	}
	native, err := compilerOverlay(root)
	if err != nil {
		return err
	}
	declared, err := simulatorOverlay(root, generated)
	if err != nil {
		return err
	}
	compiler, err := program(root, out, "compiler", "./internal/playground", native)
	if err != nil {
		return fmt.Errorf("compiler: %w", err)
	}
	simulator, err := program(root, out, "simulator", "./.flowgen/playground/simulator", declared)
	if err == nil && compiler+simulator > mostPacked {
		err = fmt.Errorf("the programs are larger than %d bytes", mostPacked)
	}
	return err
}

// simulatorMain is a program with the torture tests of all examples: its first argument chooses one.
const simulatorMain = `package main

import (
	"fmt"
	"os"

%s
	"github.com/flowgen-dev/flowgen/runtime/torture"
)

func main() {
	name := os.Args[1]
	os.Args = append(os.Args[:1], os.Args[2:]...)
	switch name {
%s	}
	fmt.Fprintln(os.Stderr, "unknown example", name)
	os.Exit(2)
}
`

// simulatorSource generates the Go of the examples, and a main for them, below .flowgen, and returns the files of the examples.
func simulatorSource(root string) (generated []string, err error) {
	base := filepath.Join(root, ".flowgen", "playground")
	if err := os.RemoveAll(base); err != nil {
		return nil, err
	}
	var imports, cases strings.Builder
	for _, file := range playgroundExamples {
		name := exampleName(file)
		if _, err := goCommand(root, nil, "run", "./cmd/flowgen", "generate", "-o", ".flowgen/playground/"+name, "--package", name, file); err != nil {
			return nil, err
		}
		generated = append(generated, filepath.Join(base, name, name+"_flow.go"))
		fmt.Fprintf(&imports, "\t%q\n", "github.com/flowgen-dev/flowgen/.flowgen/playground/"+name)
		fmt.Fprintf(&cases, "\tcase %q:\n\t\ttorture.Main(%[2]s.Info, %[2]s.New)\n", name, name)
	}
	return generated, save(base, "simulator/main.go", fmt.Appendf(nil, simulatorMain, imports.String(), cases.String()))
}

// program compiles a package for browsers, packs it, and returns its packed size.
func program(root, out, name, pkg, overlay string) (int, error) {
	made := filepath.Join(root, ".flowgen", "playground", name+".wasm")
	if _, err := goCommand(root, []string{"GOOS=js", "GOARCH=wasm"}, "build", "-trimpath", "-ldflags=-s -w", "-overlay", overlay, "-o", made, pkg); err != nil {
		return 0, err
	}
	code, err := os.ReadFile(made)
	if err != nil {
		return 0, err
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return 0, err
	}
	_, err = z.Write(code)
	if err := errors.Join(err, z.Close()); err != nil {
		return 0, err
	}
	fmt.Printf("%s: %.1f MB, %.1f MB compressed\n", name, float64(len(code))/1e6, float64(packed.Len())/1e6)
	return packed.Len(), save(out, "playground/"+name+".bin", packed.Bytes())
}

func goEnv(root, name string) (string, error) {
	out, err := goCommand(root, nil, "env", name)
	return strings.TrimSpace(out), err
}

func goCommand(root string, env []string, args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env, cmd.Stderr = root, append(os.Environ(), env...), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return string(out), nil
}
