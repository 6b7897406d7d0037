package program

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// The stand-in for generated code: the real one is tested through the commands.
const flowText = `package %s

import (
	"context"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	%s
)

var Info = &flow.Info{Name: "demo", Nodes: []*flow.Node{}, Output: []flow.Field{{Name: "said", Type: "string"}}}

type Input struct{}

type Output struct {
	Said string ` + "`json:\"said\"`" + `
}

type Workflow struct{ rt *flow.Runtime }

func New(opts ...runtime.Option) (*Workflow, error) { return &Workflow{}, nil }

func (w *Workflow) Run(ctx context.Context, in Input) (Output, error) { return Output{Said: %s}, nil }
`

// source is a workflow in dir whose only output is the result of say, an expression of package own when that is set.
func source(dir, pkg, tool, say string) *Source {
	return &Source{
		File: filepath.Join(dir, "demo.flowgen.yaml"), Output: "demo_flow.go", Package: pkg, Inputs: []string{filepath.Join(dir, "demo.flowgen.yaml")},
		Generate: func(pkg, importPath string) ([]byte, map[string][]byte, error) {
			spec, call := "", say
			if tool != "" && tool != importPath {
				spec, call = fmt.Sprintf("tool %q", tool), "tool."+say
			}
			return fmt.Appendf(nil, flowText, pkg, spec, call), nil, nil
		},
	}
}

func output(t *testing.T, exe string) string {
	t.Helper()
	out, err := exec.Command(exe).Output()
	if err != nil {
		t.Fatalf("%v: %s", err, err.(*exec.ExitError).Stderr)
	}
	var v struct{ Said string }
	if err := json.Unmarshal(out, &v); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return v.Said
}

// tree is the names of all files below dir.
func tree(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(name string, _ os.DirEntry, err error) error {
		out = append(out, name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// age makes files look as if they were not written this very moment.
func age(t *testing.T, dir string) {
	t.Helper()
	past := time.Now().Add(-time.Hour)
	for _, name := range tree(t, dir) {
		if err := os.Chtimes(name, past, past); err != nil {
			t.Fatal(err)
		}
	}
}

func TestExecutable(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string
		src   func(dir string) *Source
		want  string
	}{
		{
			"outside a module", map[string]string{},
			func(dir string) *Source { return source(dir, "demo", "", `"alone"`) }, "alone",
		},
		{
			"a module without flowgen, and a tool that is internal to the folder",
			map[string]string{"go.mod": "module example.com/m\n\ngo 1.21\n", "f/internal/t/t.go": "package t\n\nfunc Say() string { return \"tool\" }\n"},
			func(dir string) *Source {
				return source(filepath.Join(dir, "f"), "f", "example.com/m/f/internal/t", "Say()")
			}, "tool",
		},
		{
			"a tool in the folder's own package, beside stale generated code",
			map[string]string{"go.mod": "module example.com/m\n\ngo 1.26\n", "f/t.go": "package f\n\nfunc Say() string { return \"own\" }\n", "f/demo_flow.go": "package f\n\nfunc init() { Gone() }\n"},
			func(dir string) *Source { return source(filepath.Join(dir, "f"), "f", "example.com/m/f", "Say()") }, "own",
		},
		{
			"a tool in package main",
			map[string]string{
				"go.mod": "module example.com/m\n\ngo 1.26\n",
				"t.go":   "package main\n\nfunc Say() string { return \"main\" }\n",
				"a.go":   "package main\n\nimport \"os\"\n\nfunc main() { os.Exit(9) }\n",
			},
			func(dir string) *Source { return source(dir, "main", "example.com/m", "Say()") }, "main",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir, cache := t.TempDir(), OpenCache(t.TempDir())
			tt.files["demo.flowgen.yaml"] = "x"
			write(t, dir, tt.files)
			src := tt.src(dir)
			write(t, filepath.Dir(src.File), map[string]string{"demo.flowgen.yaml": "x"})
			before := tree(t, dir)
			age(t, dir)

			if _, ok := cache.Find(src.File); ok {
				t.Fatal("found before it was built")
			}
			exe, err := cache.Executable(t.Context(), src)
			if err != nil {
				t.Fatal(err)
			}
			if got := output(t, exe); got != tt.want {
				t.Errorf("says %q, want %q", got, tt.want)
			}
			if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
				t.Errorf("the user's tree changed:\n%s", diff)
			}
			if left := tree(t, filepath.Join(cache.dir, "scratch")); len(left) != 1 {
				t.Errorf("left behind: %v", left)
			}
			again, ok := cache.Find(src.File)
			if !ok || again != exe {
				t.Errorf("not found again: %q, %t", again, ok)
			}
		})
	}
}

func TestFindSeesChanges(t *testing.T) {
	dir, cache := t.TempDir(), OpenCache(t.TempDir())
	write(t, dir, map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.26\n", "demo.flowgen.yaml": "x",
		"t/t.go": "package t\n\nimport _ \"embed\"\n\n//go:embed s.txt\nvar s string\n\nfunc Say() string { return s }\n", "t/s.txt": "one",
	})
	src := source(dir, "demo", "example.com/m/t", "Say()")
	build := func() string {
		t.Helper()
		age(t, dir)
		exe, err := cache.Executable(t.Context(), src)
		if err != nil {
			t.Fatal(err)
		}
		return exe
	}
	first := build()

	changes := []struct {
		name, file, text string
		stale            bool
	}{
		{"a file beside", "result.md", "x", false},
		{"a test", "demo_test.go", "package m\n", false},
		{"the workflow", "demo.flowgen.yaml", "y", true},
		{"a new source file", "t/u.go", "package t\n", true},
		{"an embedded file", "t/s.txt", "two", true},
		{"go.mod", "go.mod", "module example.com/m\n\ngo 1.26.0\n", true},
		{"a workspace above", "go.work", "go 1.26\n\nuse .\n", true},
	}
	for _, c := range changes {
		name := filepath.Join(dir, filepath.FromSlash(c.file))
		old, err := os.ReadFile(name)
		existed := err == nil
		write(t, dir, map[string]string{c.file: c.text})
		if _, ok := cache.Find(src.File); ok == c.stale {
			t.Errorf("%s: found %t", c.name, ok)
		}
		if existed {
			write(t, dir, map[string]string{c.file: string(old)})
		} else if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
		if exe, ok := cache.Find(src.File); !ok || exe != first {
			t.Errorf("%s undone: found %t", c.name, ok)
		}
	}

	t.Run("settings", func(t *testing.T) {
		t.Setenv("GOEXPERIMENT", "none")
		if _, ok := cache.Find(src.File); ok {
			t.Error("found under other settings")
		}
	})

	write(t, dir, map[string]string{"t/s.txt": "two"})
	second := build()
	if output(t, first) != "one" || output(t, second) != "two" {
		t.Error("the wrong program was found")
	}
	write(t, dir, map[string]string{"t/s.txt": "one"})
	if exe, ok := cache.Find(src.File); !ok || exe != first {
		t.Error("going back to an earlier state costs a build")
	}

	// A broken cache costs a build and no more.
	if err := os.RemoveAll(filepath.Join(cache.dir, "programs")); err != nil {
		t.Fatal(err)
	}
	if _, ok := cache.Find(src.File); ok {
		t.Error("found a program that is gone")
	}
	index, err := cache.index(src.File, src.Main)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(index, []byte(`[{"program":"../../..","inputs":null}, 7`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ok := cache.Find(src.File); ok {
		t.Error("found through a broken index")
	}
}

func TestChangedWhileBuilding(t *testing.T) {
	dir, cache := t.TempDir(), OpenCache(t.TempDir())
	write(t, dir, map[string]string{"demo.flowgen.yaml": "x"})
	src := source(dir, "demo", "", `"x"`)
	generate := src.Generate
	src.Generate = func(pkg, path string) ([]byte, map[string][]byte, error) {
		write(t, dir, map[string]string{"demo.flowgen.yaml": "y"}) // somebody saves the file after it was read
		return generate(pkg, path)
	}
	exe, err := cache.Executable(t.Context(), src)
	if err != nil || output(t, exe) != "x" {
		t.Fatal(err)
	}
	if _, ok := cache.Find(src.File); ok {
		t.Error("a program of the old text is found for the new one")
	}
}

func TestConcurrentBuilds(t *testing.T) {
	dir, cache := t.TempDir(), OpenCache(t.TempDir())
	write(t, dir, map[string]string{"demo.flowgen.yaml": "x"})
	age(t, dir)
	var wg sync.WaitGroup
	for range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			exe, err := cache.Executable(context.Background(), source(dir, "demo", "", `"x"`))
			if err != nil {
				t.Error(err)
				return
			}
			if out, err := exec.Command(exe).Output(); err != nil || !strings.Contains(string(out), `"x"`) {
				t.Errorf("%v: %s", err, out)
			}
		}()
	}
	wg.Wait()
	if list := oldest(filepath.Join(cache.dir, "programs")); len(list) != 1 {
		t.Errorf("%d programs are kept for one", len(list))
	}
}

func TestTrim(t *testing.T) {
	cache := OpenCache(t.TempDir())
	at := func(i int) time.Time { return time.Now().Add(time.Duration(i-1000) * time.Hour) }
	for i := range maxPrograms + 10 {
		home := filepath.Join(cache.dir, "programs", fmt.Sprint(i))
		write(t, home, map[string]string{"demo": "x"})
		if err := os.Chtimes(home, at(i), at(i)); err != nil {
			t.Fatal(err)
		}
	}
	write(t, cache.dir, map[string]string{"scratch/dead/x": "", "scratch/alive/x": ""})
	if err := os.Chtimes(filepath.Join(cache.dir, "scratch", "dead"), at(0), at(0)); err != nil {
		t.Fatal(err)
	}
	cache.trim("3")
	var kept []string
	for _, e := range oldest(filepath.Join(cache.dir, "programs")) {
		kept = append(kept, e.name)
	}
	if len(kept) != maxPrograms+1 || kept[0] != "3" || kept[1] != "10" {
		t.Errorf("kept %v", kept)
	}
	if left := oldest(filepath.Join(cache.dir, "scratch")); len(left) != 1 || left[0].name != "alive" {
		t.Errorf("scratch holds %v", left)
	}
}

func TestCompileErrors(t *testing.T) {
	dir, cache := t.TempDir(), OpenCache(t.TempDir())
	write(t, dir, map[string]string{"go.mod": "module example.com/m\n\ngo 1.26\n", "demo.flowgen.yaml": "x", "t/t.go": "package t\n\nfunc Say() string { return 1 }\n"})
	_, err := cache.Executable(t.Context(), source(dir, "demo", "", `7`))
	if _, ok := err.(*CompileError); !ok || !strings.Contains(err.Error(), "demo_flow.go:") {
		t.Errorf("generated code that does not compile: %v", err)
	}
	_, err = cache.Executable(t.Context(), source(dir, "demo", "example.com/m/t", `Say()`))
	if _, ok := err.(*CompileError); ok || err == nil || !strings.Contains(err.Error(), "t.go:3") {
		t.Errorf("a user's package that does not compile: %v", err)
	}
}

func TestWithoutMain(t *testing.T) {
	got, ok := withoutMain([]byte("package main\n\ntype t struct{}\n\nfunc (t) main() {}\n\n// main\nfunc main() { run() }\n"))
	if want := "package main\n\ntype t struct{}\n\nfunc (t) main() {}\n\n// main\nfunc mainBesideFlowgen() { run() }\n"; !ok || string(got) != want {
		t.Errorf("got %s", got)
	}
	for _, text := range []string{"package main\n\nfunc init() {}\n", "no Go at all"} {
		if _, ok := withoutMain([]byte(text)); ok {
			t.Errorf("%q has a main", text)
		}
	}
}

func TestImportPath(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"go.mod": "module example.com/m\n"})
	for sub, want := range map[string]string{".": "example.com/m", "a/b": "example.com/m/a/b"} {
		if got, err := ImportPath(filepath.Join(dir, sub)); got != want || err != nil {
			t.Errorf("%s: %q, %v", sub, got, err)
		}
	}
}

// TestHasMain: a folder has a program of a workflow if its main package has the generated file, and a main that calls the runtime's
// command line.
func TestHasMain(t *testing.T) {
	const flow, main = "package main\n", "package main\n\nimport \"github.com/flowgen-dev/flowgen/runtime/cli\"\n\nfunc main() { cli.Main(Info, New) }\n"
	for _, tc := range []struct {
		name  string
		files map[string]string
		want  bool
	}{
		{"a program", map[string]string{"w_flow.go": flow, "main.go": main}, true},
		{"nothing generated", map[string]string{"main.go": main}, false},
		{"generated from another file", map[string]string{"v_flow.go": flow, "main.go": main}, false},
		{"a package", map[string]string{"w_flow.go": "package w\n", "doc.go": "package w\n"}, false},
		{"another main", map[string]string{"w_flow.go": flow, "main.go": "package main\n\nfunc main() {}\n"}, false},
		{"broken", map[string]string{"w_flow.go": flow, "main.go": "package main\n\nfunc"}, false},
		{"a test", map[string]string{"w_flow.go": flow, "main_test.go": main}, false},
	} {
		dir := t.TempDir()
		for name, text := range tc.files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := HasMain(dir, "w_flow.go"); got != tc.want {
			t.Errorf("%s: %v", tc.name, got)
		}
	}
}
