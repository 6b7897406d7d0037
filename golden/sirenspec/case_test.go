// Package sirenspec_test runs the compiler over workflows of SirenSpec, and the programs that it makes of them.
package sirenspec_test

import (
	"bytes"
	"flag"
	"fmt"
	"go/format"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/flowgen-dev/flowgen/codegen"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/bind"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/goname"
	"github.com/flowgen-dev/flowgen/parser"
	"github.com/flowgen-dev/flowgen/parser/sirenspec"
)

var update = flag.Bool("update", false, "rewrite what the tests compare with, and fail")

// root is the file of a workflow.
const root = "workflow.yaml"

// A testcase is one txtar file: a workflow with its tools, what the compiler says of it (want/diag), the Go that it
// makes (want/flow.go, in some cases) and what a run gives (want/run). A first line `compat: upstream` of the comment
// compiles it so.
type testcase struct {
	name, file string
	archive    *txtar.Archive
	changed    bool

	program *check.Program // nil after mistakes
	list    []diag.Diagnostic
	code    string
	assets  []codegen.Asset
	opts    codegen.Options
}

var cases struct {
	once sync.Once
	list []*testcase
	err  error
}

// corpus compiles all cases, once.
func corpus(t *testing.T) []*testcase {
	t.Helper()
	cases.once.Do(func() {
		files, err := filepath.Glob("*.txtar")
		cases.err = err
		for _, file := range files {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				cases.err = err
				return
			}
			c := &testcase{name: strings.TrimSuffix(file, ".txtar"), file: file, archive: archive}
			c.compile()
			cases.list = append(cases.list, c)
		}
	})
	if cases.err != nil || len(cases.list) < 10 {
		t.Fatal("no cases", cases.err)
	}
	return cases.list
}

func (c *testcase) find(name string) *txtar.File {
	for i := range c.archive.Files {
		if c.archive.Files[i].Name == name {
			return &c.archive.Files[i]
		}
	}
	return nil
}

// ReadFile implements parser.Files: the case is a folder below this one.
func (c *testcase) ReadFile(name string) ([]byte, error) {
	if rest, ok := strings.CutPrefix(name, c.name+"/"); ok && !strings.HasPrefix(rest, "want/") {
		if f := c.find(rest); f != nil {
			return f.Data, nil
		}
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

func (c *testcase) compile() {
	sink := &diag.Sink{}
	opts := parser.Options{}
	if strings.HasPrefix(string(c.archive.Comment), "compat: upstream\n") {
		opts.Compat = parser.Upstream
	}
	wf := parser.ParseAs(c, c.name+"/"+root, opts, sink)
	if wf != nil {
		overlay := map[string][]byte{}
		for _, f := range c.archive.Files {
			if strings.HasSuffix(f.Name, ".py") {
				name, _ := filepath.Abs(filepath.Join(c.name, filepath.FromSlash(f.Name)))
				overlay[name] = f.Data
			}
		}
		above := &ir.Workflow{File: wf.File, Flows: []*ir.Workflow{wf}}
		bind.Resolve(above, bind.Options{Dir: c.name, Overlay: overlay}, sink)
		c.program = check.Check(wf, sink)
	}
	c.list = sink.List()
	if sink.HasErrors() || c.program == nil {
		c.program = nil
		return
	}
	c.opts = codegen.Options{Package: goname.Package(wf.Name.Name), Path: "github.com/flowgen-dev/flowgen/golden/sirenspec/" + c.name, Name: "workflow_flow"}
}

// elsewhere reports whether the case needs a server that is not here: then it is compiled and linked, and not run.
func (c *testcase) elsewhere() bool { return strings.HasPrefix(string(c.archive.Comment), "not run:") }

// message is what the case is asked: what the file says, or "hello".
func (c *testcase) message() string {
	if d := c.program.Input.Fields[0].Default; d != nil {
		return d.JSON
	}
	return `"hello"`
}

// generate makes the Go, twice the same.
func (c *testcase) generate(t *testing.T) {
	t.Helper()
	if c.program == nil || c.code != "" {
		return
	}
	text, err := codegen.Generate(c.program, c.opts)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := codegen.Generate(c.program, c.opts); err != nil || !bytes.Equal(text, again) {
		t.Error("generated twice, the code differs", err)
	}
	if formatted, err := format.Source(text); err != nil || !bytes.Equal(text, formatted) {
		t.Error("the code is not what gofmt writes", err)
	}
	c.code, c.assets = string(text), codegen.Assets(c.program, c.opts)
}

// compare holds a section to what was made. With -update it becomes that.
func (c *testcase) compare(t *testing.T, section, made string) {
	t.Helper()
	want := ""
	if f := c.find(section); f != nil {
		want = string(f.Data)
	}
	if want == made {
		return
	}
	if *update {
		var files []txtar.File
		for _, f := range c.archive.Files {
			if f.Name != section {
				files = append(files, f)
			}
		}
		if made != "" {
			files = append(files, txtar.File{Name: section, Data: []byte(made)})
		}
		c.archive.Files, c.changed = files, true
		t.Errorf("%s is rewritten: read the difference and run again", section)
		return
	}
	t.Errorf("%s (-want +made):\n%s", section, cmp.Diff(strings.Split(want, "\n"), strings.Split(made, "\n")))
}

func (c *testcase) save(t *testing.T) {
	t.Helper()
	if c.changed {
		if err := os.WriteFile(c.file, txtar.Format(c.archive), 0o644); err != nil {
			t.Fatal(err)
		}
		c.changed = false
	}
}

// TestCompile holds diagnostics and Go to what the cases want.
func TestCompile(t *testing.T) {
	good, wrong := 0, 0
	for _, c := range corpus(t) {
		t.Run(c.name, func(t *testing.T) {
			if len(bytes.Fields(c.archive.Comment)) < 4 {
				t.Error("the comment does not say what the case proves")
			}
			var b bytes.Buffer
			_ = diag.Text(&b, c.list, diag.TextOptions{})
			c.compare(t, "want/diag", strings.ReplaceAll(b.String(), c.name+"/", ""))
			c.generate(t)
			if c.find("want/flow.go") != nil {
				c.compare(t, "want/flow.go", c.code)
			}
			if c.program != nil && c.find("want/run") == nil && !*update && !c.elsewhere() {
				t.Error("the case compiles and does not run: nothing says what it does")
			}
			c.save(t)
		})
		if c.program == nil {
			wrong++
		} else {
			good++
		}
	}
	t.Logf("%d cases compile, %d are wrong", good, wrong)
}

// mark is how a case says, on the line itself, which diagnostics are to point at it: `# FG0302`.
var mark = regexp.MustCompile(`#((?: FG\d{4})+)\s*$`)

// TestMarks: every diagnostic hits a line that is marked for it, and every mark is hit.
func TestMarks(t *testing.T) {
	for _, c := range corpus(t) {
		t.Run(c.name, func(t *testing.T) {
			want, made := map[string]int{}, map[string]int{}
			for _, f := range c.archive.Files {
				if path.Ext(f.Name) != ".yaml" && path.Ext(f.Name) != ".md" {
					continue
				}
				for i, line := range strings.Split(string(f.Data), "\n") {
					if m := mark.FindStringSubmatch(line); m != nil {
						for _, code := range strings.Fields(m[1]) {
							want[f.Name+":"+strconv.Itoa(i+1)+": "+code]++
						}
					}
				}
			}
			for _, d := range c.list {
				made[strings.TrimPrefix(d.Span.File.Name, c.name+"/")+":"+strconv.Itoa(d.Span.Start().Line)+": "+string(d.Code)]++
			}
			if diff := cmp.Diff(want, made); diff != "" {
				t.Errorf("marked lines and diagnostics (-marked +made):\n%s", diff)
			}
		})
	}
}

// TestRun links all cases into one program, and holds what each gives, run directly, recorded and replayed, to want/run.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("links a program")
	}
	if _, err := exec.LookPath("python3"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	exe := link(t)
	for _, c := range corpus(t) {
		if c.program == nil || c.elsewhere() {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, f := range c.archive.Files {
				if !strings.HasPrefix(f.Name, "want/") {
					name := filepath.Join(dir, filepath.FromSlash(f.Name))
					if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(name, f.Data, mode(f.Name)); err != nil {
						t.Fatal(err)
					}
				}
			}
			cmd := exec.CommandContext(t.Context(), exe, c.name)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "OPENAI_API_KEY=", "ANTHROPIC_API_KEY=", "FLOWGEN_FILE=", "PATH="+filepath.Join(dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, stderr.String())
			}
			c.compare(t, "want/run", string(out))
			c.save(t)
		})
	}
}

// mode makes programs of what is in bin.
func mode(name string) os.FileMode {
	if strings.HasPrefix(name, "bin/") {
		return 0o755
	}
	return 0o644
}

// link builds the program, whose sources exist only for the go command.
func link(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	var overlay, imports, adds strings.Builder
	add := func(virtual string, text []byte) {
		at, err := filepath.Abs(virtual)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, strconv.Itoa(overlay.Len())+filepath.Ext(virtual))
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
		if overlay.Len() > 0 {
			overlay.WriteString(",")
		}
		fmt.Fprintf(&overlay, "%q:%q", at, file)
	}
	for i, c := range corpus(t) {
		if c.program == nil {
			continue
		}
		c.generate(t)
		add(c.name+"/workflow_flow.go", []byte(c.code))
		for _, a := range c.assets {
			add(c.name+"/"+a.Name, a.Data)
		}
		fmt.Fprintf(&imports, "\tc%d %q\n", i, c.opts.Path)
		fmt.Fprintf(&adds, "\tadd(%q, c%d.Info, func(ctx context.Context, o ...runtime.Option) (any, error) {\n\t\tw, err := c%d.New(o...)\n\t\tif err != nil {\n\t\t\treturn nil, err\n\t\t}\n\t\treturn w.Run(ctx, c%d.Input{Message: %s})\n\t})\n", c.name, i, i, i, c.message())
	}
	add("program/cases.go", []byte("package main\n\nimport (\n\t\"context\"\n\n\t\"github.com/flowgen-dev/flowgen/runtime\"\n"+imports.String()+")\n\nfunc init() {\n"+adds.String()+"}\n"))
	for _, name := range []string{"main.go", "server.go"} {
		text, err := os.ReadFile("testdata/program/" + name)
		if err != nil {
			t.Fatal(err)
		}
		add("program/"+name, text)
	}
	config, exe := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "program.exe")
	if err := os.WriteFile(config, []byte(`{"Replace":{`+overlay.String()+`}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-overlay", config, "-o", exe, "./program").CombinedOutput(); err != nil {
		t.Fatalf("the cases do not link: %v\n%s", err, out)
	}
	return exe
}

// TestCodes: what is said about dialects is said in some case.
func TestCodes(t *testing.T) {
	seen := map[diag.Code]bool{}
	for _, c := range corpus(t) {
		for _, d := range c.list {
			seen[d.Code] = true
		}
	}
	for _, code := range []diag.Code{diag.DialectDiffers, diag.NotSupported, diag.AmbiguousDialect, diag.IgnoredKey} {
		if !seen[code] {
			t.Errorf("no case reports %s", code)
		}
	}
}

// TestDocs: the table of docs/dialects.md is the one of the code.
func TestDocs(t *testing.T) {
	const file, mark = "../../docs/dialects.md", "<!-- sirenspec: made from parser/sirenspec/differences.go -->\n"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, after, ok := strings.Cut(string(text), mark)
	if !ok {
		t.Fatal("no mark for the table")
	}
	var table strings.Builder
	table.WriteString("\n| point | documented | upstream | told |\n|---|---|---|---|\n")
	for _, d := range sirenspec.Differences {
		told := d.Told
		if told == "" {
			told = "-"
		}
		fmt.Fprintf(&table, "| %s | %s | %s | %s |\n", d.Point, d.Documented, d.Upstream, told)
	}
	_, rest, _ := strings.Cut(after, "\n\n#")
	if rest != "" {
		rest = "\n#" + rest
	}
	if want := before + mark + table.String() + rest; want != string(text) {
		if !*update {
			t.Fatal("the table is not that of the code; -update writes it")
		}
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		t.Error("rewritten: read the difference and run again")
	}
}
