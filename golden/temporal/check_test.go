//go:build unix

package temporal

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// checked lets workflowcheck see the body of a workflow, which takes for workflows what has a workflow.Context first.
const checked = `package main

import (
	"go.temporal.io/sdk/workflow"

	"github.com/flowgen-dev/flowgen/runtime/flow"
)

func Checked(_ workflow.Context, run *flow.Run, w *Workflow, in Input) (Output, error) { return w.Body(run, in) }
`

var packageLine = regexp.MustCompile(`(?m)^package (\w+)$`)

// Temporal's workflowcheck finds nothing in generated bodies and below them that is not deterministic, and finds it where it is.
// WORKFLOWCHECK is its program; `make temporal` builds it.
func TestWorkflowcheck(t *testing.T) {
	program := os.Getenv("WORKFLOWCHECK")
	if program == "" {
		t.Skip("WORKFLOWCHECK is not set: make temporal runs this test")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	var bodies []string
	for _, pattern := range []string{"examples/*/*_flow.go", "examples/*/*/*_flow.go", "bench/*/*_flow.go", "bench/dialect/*/*_flow.go"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, found...)
	}
	if len(bodies) < 10 {
		t.Fatalf("%d generated bodies", len(bodies))
	}
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i, body := range bodies {
		at := fmt.Sprintf("body%02d", i)
		if err := os.CopyFS(filepath.Join(dir, at), os.DirFS(filepath.Dir(body))); err != nil {
			t.Fatal(err)
		}
		tests, err := filepath.Glob(filepath.Join(dir, at, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range tests { // they import what is internal
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
		text, err := os.ReadFile(body)
		if err != nil {
			t.Fatal(err)
		}
		write(at+"/checked.go", strings.Replace(checked, "package main", packageLine.FindString(string(text)), 1))
	}
	write("control/control.go", "package control\n\nimport (\n\t\"time\"\n\n\t\"go.temporal.io/sdk/workflow\"\n)\n\nfunc Checked(workflow.Context) time.Time { return time.Now() }\n")
	write("go.mod", "module example.com/check\n\ngo 1.26.0\n")
	write("go.work", workspace(t, root))
	cmd := exec.Command(program, "-config", filepath.Join(root, "golden/temporal/testdata/workflowcheck.yaml"), "./...")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK="+filepath.Join(dir, "go.work"), "GOFLAGS=-mod=readonly")
	out, err := cmd.CombinedOutput()
	findings := 0
	for lines := bufio.NewScanner(strings.NewReader(string(out))); lines.Scan(); {
		if text := lines.Text(); strings.Contains(text, "Checked is non-deterministic") {
			findings++
			if !strings.Contains(text, "control.go") {
				t.Error(text)
			}
		}
	}
	if findings != 1 || err == nil { // that of the control
		t.Errorf("%d findings, %v\n%.20000s", findings, err, out)
	}
	t.Logf("%d bodies", len(bodies))
}

// workspace is that of the repository with the folder it is in.
func workspace(t *testing.T, root string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "go.work"))
	if err != nil {
		t.Fatal(err)
	}
	out := "go 1.26.0\n\nuse .\n"
	for line := range strings.Lines(string(text)) {
		if at := strings.TrimSpace(line); strings.HasPrefix(at, ".") {
			out += fmt.Sprintf("use %q\n", filepath.Join(root, at))
		}
	}
	return out
}
