package golden_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/codegen"
	"github.com/flowgen-dev/flowgen/internal/recipes"
	"github.com/flowgen-dev/flowgen/ir/bind"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/goname"
	"github.com/flowgen-dev/flowgen/parser"
	"github.com/flowgen-dev/flowgen/runtime/flowtest"
)

const cookbook = "../examples/cookbook"

// A recipe is a workflow of examples/cookbook and its cases.
type recipe struct {
	name, dir string // dir is that of its files
	cases     *check.Cases
	suite     []byte
}

// counterparts are how many lines, without blank ones, the same workflow has on GitHub Actions (report, files) or LangGraph (review).
var counterparts = map[string]int{"report": 28, "files": 37, "review": 50}

// TestCookbookLines: no workflow is longer than its counterpart elsewhere.
func TestCookbookLines(t *testing.T) {
	for name, most := range counterparts {
		text, err := os.ReadFile(path.Join(cookbook, name+suffix))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for line := range strings.Lines(string(text)) {
			if strings.TrimSpace(line) != "" {
				n++
			}
		}
		if n > most {
			t.Errorf("%s has %d lines, its counterpart %d", name, n, most)
		}
	}
}

// TestCookbook links the workflows of examples/cookbook into one program and runs their cases from the cassettes. Then it
// records the cases for real, with scripted services and models, which must give the same cassettes.
func TestCookbook(t *testing.T) {
	if testing.Short() {
		t.Skip("links a program")
	}
	all, code := readCookbook(t)
	if len(all) != 12 {
		t.Errorf("%d workflows", len(all))
	}
	exe := linkCookbook(t, all, code)
	t.Run("recorded", func(t *testing.T) {
		env := recipes.Start(t)
		for _, r := range all {
			t.Run(r.name, func(t *testing.T) {
				t.Parallel()
				r.record(t, exe, env)
			})
		}
	})
	for _, r := range all {
		t.Run(r.name, func(t *testing.T) { r.run(t, exe, r.dir, flowtest.Request{Suite: r.suite}, nil) })
	}
}

// readCookbook compiles the workflows that have cases. code is what was generated, by package and name.
func readCookbook(t *testing.T) (list []*recipe, code map[string][]byte) {
	t.Helper()
	code = map[string][]byte{}
	var files []string
	for _, pattern := range []string{"/*.test.yaml", "/*/*.test.yaml"} {
		found, err := filepath.Glob(cookbook + pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	for _, file := range files {
		file = filepath.ToSlash(file)
		r := &recipe{name: strings.TrimSuffix(path.Base(file), ".test.yaml"), dir: path.Dir(file)}
		sink := &diag.Sink{}
		tests := parser.ParseCases(overlay{}, file, sink)
		wf := parser.Parse(overlay{}, path.Join(r.dir, r.name+suffix), sink)
		if tests == nil || wf == nil {
			t.Fatal(render(sink.List()))
		}
		bind.Resolve(wf, bind.Options{Dir: r.dir}, sink)
		program := check.Check(wf, sink)
		if len(sink.List()) > 0 {
			t.Fatal(render(sink.List()))
		}
		if r.cases = check.CheckCases(program, tests, sink); len(sink.List()) > 0 {
			t.Fatal(render(sink.List()))
		}
		var err error
		if r.suite, err = codegen.Suite(r.cases, ""); err != nil {
			t.Fatal(err)
		}
		opts := codegen.Options{Package: r.pkg(), Path: cookbookPath + "/" + r.name, Name: r.name + "_flow"}
		if code[r.name+"/"+r.name+"_flow.go"], err = codegen.Generate(program, opts); err != nil {
			t.Fatal(err)
		}
		for _, a := range codegen.Assets(program, opts) {
			code[r.name+"/"+a.Name] = a.Data
		}
		list = append(list, r)
	}
	return list, code
}

// cookbookPath is the package of the program, in whose folder nothing is.
const cookbookPath = "github.com/flowgen-dev/flowgen/golden/cookbook"

func (r *recipe) pkg() string { return goname.Package(r.name) }

// linkCookbook builds a program that runs the cases of the workflow that its argument names.
func linkCookbook(t *testing.T, recipes []*recipe, code map[string][]byte) string {
	t.Helper()
	var imports, programs strings.Builder
	for _, r := range recipes {
		fmt.Fprintf(&imports, "\t%s %q\n", r.pkg(), cookbookPath+"/"+r.name)
		fmt.Fprintf(&programs, "\tcase %q:\n\t\tflowtest.Main(%[2]s.Info, %[2]s.New)\n", r.name, r.pkg())
	}
	code["main.go"] = []byte("package main\n\nimport (\n\t\"os\"\n\n\t\"github.com/flowgen-dev/flowgen/runtime/flowtest\"\n" + imports.String() +
		")\n\nfunc main() {\n\tswitch os.Args[1] {\n" + programs.String() + "\t}\n}\n")
	dir := t.TempDir()
	at, err := filepath.Abs("cookbook")
	if err != nil {
		t.Fatal(err)
	}
	replace := map[string]string{}
	for name, text := range code {
		file := filepath.Join(dir, fmt.Sprint(len(replace))+path.Ext(name))
		replace[filepath.Join(at, filepath.FromSlash(name))] = file
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	config, exe := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "cookbook.exe")
	if err := os.WriteFile(config, text, 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "build", "-ldflags=-s", "-overlay", config, "-o", exe, "./cookbook").CombinedOutput()
	if err != nil {
		t.Fatalf("the Go of the cookbook does not compile: %v\n%s", err, out)
	}
	return exe
}

// run runs cases in a folder.
func (r *recipe) run(t *testing.T, exe, dir string, req flowtest.Request, env []string) {
	t.Helper()
	in, err := json.Marshal(req)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, r.name)
	var stderr bytes.Buffer
	cmd.Dir, cmd.Stdin, cmd.Stderr, cmd.Env = dir, bytes.NewReader(in), &stderr, append(os.Environ(), env...)
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("%v\n%s", err, stderr.String())
	}
	n := 0
	for dec := json.NewDecoder(bytes.NewReader(out)); ; n++ {
		var res flowtest.Result
		if err := dec.Decode(&res); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		for _, f := range res.Failures {
			t.Errorf("%s.test.yaml:%s: case %s: %s", r.name, f.Pos, res.Case, f.Message)
		}
	}
	if n == 0 {
		t.Error("no case was run")
	}
}

// slow is the workflow whose cases wait for ten seconds when they are recorded.
const slow = "export"

// record compares the cassettes with those of a new recording. With -update they become those.
func (r *recipe) record(t *testing.T, exe string, env []string) {
	if r.name == slow && os.Getenv("LONG") == "" && !*update {
		t.Skip("waits for ten seconds; LONG=1 does")
	}
	dir := t.TempDir()
	r.run(t, exe, dir, flowtest.Request{Suite: r.suite, Record: true}, env)
	have, made := r.cassettes(t, r.dir), r.cassettes(t, dir)
	if diff := cmp.Diff(have, made); diff == "" || t.Failed() {
		return
	} else if t.Errorf("the cassettes are not what the workflow does; -update writes them (-have +made):\n%s", diff); !*update {
		return
	}
	if err := os.RemoveAll(filepath.Join(r.dir, "testdata", r.name)); err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for name, text := range made {
		files[name] = []byte(text)
	}
	writeFiles(t, r.dir, files)
}

var loopback = regexp.MustCompile(`127\.0\.0\.1:[0-9]+`)

// cassettes are those of the workflow below dir. The port of the services, which is another one in each run, is 8080.
func (r *recipe) cassettes(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(filepath.Join(dir, "testdata", r.name), func(name string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		files[filepath.ToSlash(rel)] = loopback.ReplaceAllString(string(text), "127.0.0.1:8080")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
