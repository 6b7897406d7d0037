package bind

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// inFolder writes files into a new folder.
func inFolder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const tool = "package t\n\ntype In struct {\n\tQuery string `json:\"query\"`\n}\n\n// Do does.\nfunc Do(in In) string { return \"\" }\n"

// Renaming a field, in the file or in an unsaved buffer, changes the tool's input.
func TestRename(t *testing.T) {
	dir := inFolder(t, map[string]string{"go.mod": "module example.com/app\n\ngo 1.26\n", "t/t.go": tool})
	bound := func(overlay map[string][]byte) string {
		s := tools("./t.Do")
		if got := show(s.resolveWith(t, Options{Dir: dir, Overlay: overlay})); got != nil {
			t.Fatal(got)
		}
		b := s.bind(0)
		if b.Path != "example.com/app/t" || b.Pos != "t/t.go:8:6" || b.Doc != "does." {
			t.Error(describeBinding(b))
		}
		return strings.Join(b.In.FieldNames(), " ")
	}
	if got := bound(nil); got != "query" {
		t.Error(got)
	}
	renamed := []byte(strings.Replace(tool, `json:"query"`, `json:"question"`, 1))
	file := filepath.Join(dir, "t", "t.go")
	if got := bound(map[string][]byte{file: renamed}); got != "question" {
		t.Error(got)
	}
	if err := os.WriteFile(file, renamed, 0o644); err != nil {
		t.Fatal(err)
	}
	if got := bound(nil); got != "question" {
		t.Error(got)
	}
}

func TestTestFiles(t *testing.T) {
	s := tools("./tested.OnlyTest", "./tested.Do")
	want := []string{"FG0604 <OnlyTest> package tested has no function `OnlyTest`"}
	if diff := cmp.Diff(want, show(s.resolve(t))); diff != "" {
		t.Error(diff)
	}
	s = tools("./tested.OnlyTest", testPath+"tested.OnlyTest", "./tested.Do")
	if got := show(s.resolveWith(t, Options{Tests: true})); got != nil {
		t.Error(got)
	}
}

func TestOutsideOfModule(t *testing.T) {
	dir := inFolder(t, map[string]string{"t/t.go": tool})
	s := tools("./t.Do", "strings.ToUpper", "example.com/x.F")
	want := []string{
		"FG0602 <./t> `./t` is a folder outside of any Go module | run `go mod init` in the folder of the workflow, or above it",
		"FG0602 <example.com/x> package `example.com/x` needs a go.mod, and there is none in the folder of the workflow or above it | run `go mod init` in the folder of the workflow",
	}
	if diff := cmp.Diff(want, show(s.resolveWith(t, Options{Dir: dir}))); diff != "" {
		t.Error(diff)
	}
	if s.bind(1) == nil {
		t.Error("the standard library needs no module")
	}
}

func TestGoCommandFails(t *testing.T) {
	t.Run("missing", func(t *testing.T) {
		t.Setenv("PATH", "")
		s := tools("strings.ToUpper", "path.Base")
		want := []string{"FG0602 <strings.ToUpper> Go functions need the go command, which is not on the PATH | install Go from https://go.dev/dl"}
		if diff := cmp.Diff(want, show(s.resolve(t))); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("bad go.mod", func(t *testing.T) {
		dir := inFolder(t, map[string]string{"go.mod": "modul example.com/app\n"})
		got := show(tools("strings.ToUpper", "path.Base").resolveWith(t, Options{Dir: dir}))
		if len(got) != 1 || !strings.Contains(got[0], "unknown directive: modul") || strings.Contains(got[0], dir) {
			t.Error(got)
		}
		for text, want := range map[string]string{ // the reason stands in the second line
			"godebug nonsense=1\n":                       `error loading go.mod: go.mod:4: unknown godebug "nonsense"`,
			"toolchain default\n":                        "updates to go.mod needed; to update it: go mod tidy",
			"require example.com/x v0.1.0\n//vendored\n": "example.com/x@v0.1.0: is explicitly required in go.mod",
		} {
			files := map[string]string{"go.mod": "module example.com/app\ngo 1.24\n\n" + text}
			if strings.Contains(text, "vendored") {
				files["vendor/modules.txt"] = ""
			}
			got := show(tools("strings.ToUpper").resolveWith(t, Options{Dir: inFolder(t, files)}))
			if len(got) != 1 || !strings.Contains(got[0], want) {
				t.Errorf("%q, want %q", got, want)
			}
		}
	})
}

// Positions, diagnostics and types do not say on which machine they were made.
func TestMachineIndependent(t *testing.T) {
	s := tools("./tools.Search", "strings.ToUpper", "./nowhere.X", "./broken.Do")
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	lines := show(s.resolve(t))
	for i := range s.wf.Tools {
		lines = append(lines, describeBinding(s.bind(i)))
	}
	if text := strings.Join(lines, "\n"); strings.Contains(text, here) || strings.Contains(text, "GOROOT") {
		t.Error(text)
	}
}
