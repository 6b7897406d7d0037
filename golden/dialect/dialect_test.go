// Package dialect_test runs the compiler over files of the public dialects, and the programs that it makes of them.
package dialect_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/format"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/flowgen-dev/flowgen/codegen"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/bind"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/goname"
	"github.com/flowgen-dev/flowgen/ir/manifest"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// Cases seem to be in folders beside their files: golden/<dialect>/<case>.
func TestMain(m *testing.M) {
	if err := os.Chdir(".."); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

var (
	update = flag.Bool("update", false, "rewrite what the tests compare with, and fail")
	only   = flag.String("case", "*/*", "`DIALECT/NAME` pattern of the cases to compile and run")
)

// A suite is the cases of one dialect: the files of golden/<name>.
type suite struct {
	dialect.Language
	cases []*testcase
}

var suites = func() []*suite {
	var all []*suite
	for _, d := range parser.Languages() {
		all = append(all, &suite{Language: d})
	}
	return all
}()

// A testcase is one txtar file: a workflow with its tools, the inputs of its runs (inputs.jsonl), what the compiler says of
// it (want/diag), the Go that it makes (want/flow.go, in some cases), what the runs give (want/run) and what models are told in
// them (want/asked). A first line `compat: upstream` of the comment compiles it so; one that begins with `not run:` says that it
// needs a server that is not here: it is compiled and linked.
type testcase struct {
	suite     *suite
	name, dir string // dir is <dialect>/<name>, the folder that the case seems to be in
	file      string
	archive   *txtar.Archive
	changed   bool

	program *check.Program // nil after mistakes
	list    []diag.Diagnostic
	code    string
	assets  []codegen.Asset
	opts    codegen.Options
}

var load = sync.OnceValue(func() error {
	for _, s := range suites {
		files, err := filepath.Glob(s.Name + "/*.txtar")
		if err != nil {
			return err
		}
		for _, file := range files {
			if ok, err := filepath.Match(*only, strings.TrimSuffix(file, ".txtar")); err != nil || !ok {
				continue
			}
			archive, err := txtar.ParseFile(file)
			if err != nil {
				return err
			}
			name := strings.TrimSuffix(filepath.Base(file), ".txtar")
			c := &testcase{suite: s, name: name, dir: s.Name + "/" + name, file: file, archive: archive}
			c.compile()
			s.cases = append(s.cases, c)
		}
	}
	return nil
})

// each runs a subtest for every case, all of which are compiled once.
func each(t *testing.T, f func(t *testing.T, c *testcase)) {
	t.Helper()
	if err := load(); err != nil {
		t.Fatal(err)
	}
	for _, s := range suites {
		t.Run(s.Name, func(t *testing.T) {
			if len(s.cases) < 10 && *only == "*/*" {
				t.Fatal("only", len(s.cases), "cases")
			}
			for _, c := range s.cases {
				t.Run(c.name, func(t *testing.T) { f(t, c) })
			}
		})
	}
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
	if rest, ok := strings.CutPrefix(name, c.dir+"/"); ok && !strings.HasPrefix(rest, "want/") {
		if f := c.find(rest); f != nil {
			return f.Data, nil
		}
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// ReadDir implements parser.Lister.
func (c *testcase) ReadDir(name string) ([]fs.DirEntry, error) {
	files := fstest.MapFS{}
	for _, f := range c.archive.Files {
		if !strings.HasPrefix(f.Name, "want/") {
			files[c.dir+"/"+f.Name] = &fstest.MapFile{Data: f.Data}
		}
	}
	return files.ReadDir(name)
}

func (c *testcase) compile() {
	sink := &diag.Sink{}
	opts := parser.Options{}
	if strings.HasPrefix(string(c.archive.Comment), "compat: upstream\n") {
		opts.Compat = parser.Upstream
	}
	overlay := map[string][]byte{}
	for _, f := range c.archive.Files {
		if slices.Contains([]string{".js", ".mjs", ".cjs", ".ts", ".json", ".py", ".star"}, path.Ext(f.Name)) {
			name, _ := filepath.Abs(filepath.Join(filepath.FromSlash(c.dir), filepath.FromSlash(f.Name)))
			overlay[name] = f.Data
		}
	}
	python := bind.Python(bind.Options{Overlay: overlay})
	defer python.Close()
	opts.Python = python
	wf := parser.ParseAs(c, c.dir+"/"+c.suite.Root, opts, sink)
	if wf != nil {
		above := &ir.Workflow{File: wf.File, Flows: []*ir.Workflow{wf}}
		project, _ := filepath.Abs(filepath.FromSlash(c.dir))
		bind.Resolve(above, bind.Options{Dir: c.dir, Above: []string{project}, Overlay: overlay}, sink)
		c.program = check.Check(wf, sink)
	}
	c.list = parser.SoundFixes(sink.List())
	if sink.HasErrors() || c.program == nil {
		c.program = nil
		return
	}
	c.opts = codegen.Options{Package: goname.Package(wf.Name.Name), Path: "github.com/flowgen-dev/flowgen/golden/" + c.dir, Name: c.stem()}
}

func (c *testcase) stem() string { return strings.TrimSuffix(c.suite.Root, ".yaml") + "_flow" }

// elsewhere reports whether the case needs a server that is not here: then it is compiled and linked, and not run.
func (c *testcase) elsewhere() bool { return strings.HasPrefix(string(c.archive.Comment), "not run:") }

// input is what a case without inputs of its own is given: a text is what its default says, or "hello".
func (c *testcase) input() string {
	for _, f := range c.program.Input.Fields {
		if f.Name != "message" || f.Type.Kind != schema.String {
			continue
		}
		if f.Default != nil {
			return `{"message":` + f.Default.JSON + "}"
		}
		return `{"message":"hello"}`
	}
	return "{}"
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
		switch f := c.find(section); {
		case f == nil:
			c.archive.Files = append(c.archive.Files, txtar.File{Name: section, Data: []byte(made)})
		case made == "":
			c.archive.Files = slices.DeleteFunc(c.archive.Files, func(f txtar.File) bool { return f.Name == section })
		default:
			f.Data = []byte(made)
		}
		c.changed = true
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
	each(t, func(t *testing.T, c *testcase) {
		if len(bytes.Fields(c.archive.Comment)) < 4 {
			t.Error("the comment does not say what the case proves")
		}
		c.diagnose(t)
		c.generate(t)
		if c.find("want/flow.go") != nil {
			c.compare(t, "want/flow.go", c.code)
		}
		if c.program != nil {
			m := manifest.Of(c.program)
			if c.find("want/manifest") != nil {
				c.compare(t, "want/manifest", m.JSON()+"\n")
			}
			for _, name := range c.readVariables() {
				if !slices.Contains(m.Env, name) {
					t.Errorf("the manifest does not say that the environment variable %s is read: %v", name, m.Env)
				}
			}
		}
		if c.program != nil && c.find("want/run") == nil && !*update && !c.elsewhere() {
			t.Error("the case compiles and does not run: nothing says what it does")
		}
		c.save(t)
	})
}

// readVariables are the environment variables that calls in the generated code name.
func (c *testcase) readVariables() []string {
	var names []string
	for _, f := range c.suite.Functions {
		if f.Env {
			call := regexp.MustCompile(`\b` + path.Base(f.Path) + `\.` + f.Name + `\("([^"]*)"`)
			for _, m := range call.FindAllStringSubmatch(c.code, -1) {
				names = append(names, m[1])
			}
		}
	}
	return names
}

// diagnose holds what the compiler says to what the case wants.
func (c *testcase) diagnose(t *testing.T) {
	t.Helper()
	var b bytes.Buffer
	_ = diag.Text(&b, c.list, diag.TextOptions{})
	c.compare(t, "want/diag", strings.ReplaceAll(b.String(), c.dir+"/", ""))
}

// TestSeveral compiles files in which dialects meet: golden/dialect/*.txtar. The first line of the comment names the dialects,
// and the first file is the one that is compiled.
func TestSeveral(t *testing.T) {
	files, err := filepath.Glob("dialect/*.txtar")
	if err != nil || len(files) < 2 {
		t.Fatal("no cases", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			first, _, _ := strings.Cut(string(archive.Comment), "\n")
			names, ok := strings.CutPrefix(first, "dialects: ")
			if !ok {
				t.Fatal("the first line does not say which dialects meet")
			}
			for name := range strings.FieldsSeq(names) {
				if !slices.Contains(parser.Dialects(), name) {
					t.Skip("there is no dialect " + name)
				}
			}
			c := &testcase{suite: &suite{Language: dialect.Language{Root: archive.Files[0].Name}}, dir: strings.TrimSuffix(file, ".txtar"), file: file, archive: archive}
			c.compile()
			c.diagnose(t)
			c.marks(t)
			if c.program != nil && c.find("want/manifest") != nil {
				c.compare(t, "want/manifest", manifest.Of(c.program).JSON()+"\n")
			}
			c.save(t)
		})
	}
}

// mark is how a case says, on the line itself, which diagnostics are to point at it: `# FG0302`.
var mark = regexp.MustCompile(`#((?: FG\d{4})+)\s*$`)

// TestMarks: every diagnostic hits a line that is marked for it, and every mark is hit.
func TestMarks(t *testing.T) {
	each(t, func(t *testing.T, c *testcase) { c.marks(t) })
}

func (c *testcase) marks(t *testing.T) {
	t.Helper()
	want, made := map[string]int{}, map[string]int{}
	for _, f := range c.archive.Files {
		if !slices.Contains([]string{".yaml", ".md", ".json", ".py"}, path.Ext(f.Name)) {
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
		made[strings.TrimPrefix(d.Span.File.Name, c.dir+"/")+":"+strconv.Itoa(d.Span.Start().Line)+": "+string(d.Code)]++
	}
	if diff := cmp.Diff(want, made); diff != "" {
		t.Errorf("marked lines and diagnostics (-marked +made):\n%s", diff)
	}
}

// TestRun links all cases into one program, and holds what each gives, run directly, recorded and replayed, to want/run.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("links a program")
	}
	program := t.TempDir() // outlives the case that it is linked for
	if err := load(); err != nil {
		t.Fatal(err)
	}
	exe := link(t, program, all())
	each(t, func(t *testing.T, c *testcase) {
		if c.program == nil || c.elsewhere() {
			t.Skip("nothing runs")
		}
		if _, err := exec.LookPath(c.suite.Needs); err != nil {
			if os.Getenv("CI") != "" {
				t.Fatal(err)
			}
			t.Skip(err)
		}
		t.Parallel()
		dir := c.unpack(t)
		cmd := exec.CommandContext(t.Context(), exe, c.dir, c.input())
		cmd.Dir = dir
		asked := filepath.Join(t.TempDir(), "asked")
		cmd.Env = c.env(dir, asked)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v\n%s", err, stderr.String())
		}
		c.compare(t, "want/run", string(out))
		told, _ := os.ReadFile(asked) // there is none where no model is asked
		c.compare(t, "want/asked", string(told))
		c.save(t)
	})
}

// unpack writes the files of the case to a folder of its own.
func (c *testcase) unpack(t *testing.T) string {
	t.Helper()
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
	return dir
}

// env is the environment of a program that runs the case in a folder, and writes what models are told to a file.
func (c *testcase) env(dir, asked string) []string {
	return append(os.Environ(), "ASKED="+asked, "OPENAI_API_KEY=", "ANTHROPIC_API_KEY=", "FLOWGEN_FILE=", "PATH="+filepath.Join(dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// mode makes programs of what is in bin.
func mode(name string) os.FileMode {
	if strings.HasPrefix(name, "bin/") {
		return 0o755
	}
	return 0o644
}

// all are the cases of all dialects.
func all() []*testcase {
	var out []*testcase
	for _, s := range suites {
		out = append(out, s.cases...)
	}
	return out
}

// link builds one program of cases into a folder. Its sources exist only for the go command.
func link(t *testing.T, dir string, cases []*testcase) string {
	t.Helper()
	replace := map[string]string{}
	add := func(virtual string, text []byte) {
		at, err := filepath.Abs(virtual)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, strconv.Itoa(len(replace))+filepath.Ext(virtual))
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
		replace[at] = file
	}
	var imports, adds strings.Builder
	n := 0
	for _, c := range cases {
		if c.program == nil {
			continue
		}
		c.generate(t)
		add(c.dir+"/"+c.stem()+".go", []byte(c.code))
		for _, a := range c.assets {
			add(c.dir+"/"+a.Name, a.Data)
		}
		start := "New"
		if host := c.find("host.go"); host != nil { // the program that embeds the workflow: Host fills its slots
			add(c.dir+"/host.go", host.Data)
			start = "Host"
		}
		fmt.Fprintf(&imports, "\tc%d %q\n", n, c.opts.Path)
		fmt.Fprintf(&adds, "\tadd(%q, c%d.%s)\n", c.dir, n, start)
		n++
	}
	add("program/cases.go", []byte("package main\n\nimport (\n"+imports.String()+")\n\nfunc init() {\n"+adds.String()+"}\n"))
	sources, err := filepath.Glob("*/testdata/program/*.go") // those of dialects besides
	if err != nil || len(sources) == 0 {
		t.Fatal("no program", err)
	}
	for _, file := range sources {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		add("program/"+filepath.Base(file), text)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	config, exe := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "program.exe")
	if err := os.WriteFile(config, overlay, 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-ldflags=-s", "-overlay", config, "-o", exe, "./program").CombinedOutput(); err != nil {
		t.Fatalf("the cases do not link: %v\n%s", err, out)
	}
	return exe
}

// TestCodes: what is said about dialects is said in some case.
func TestCodes(t *testing.T) {
	if err := load(); err != nil {
		t.Fatal(err)
	}
	for _, s := range suites {
		seen := map[diag.Code]bool{}
		for _, c := range s.cases {
			for _, d := range c.list {
				seen[d.Code] = true
			}
		}
		for _, code := range s.Codes {
			if !seen[code] {
				t.Errorf("%s: no case reports %s", s.Name, code)
			}
		}
	}
}

// TestDocs: the tables of docs/dialects are those of the code.
func TestDocs(t *testing.T) {
	for _, s := range suites {
		t.Run(s.Name, func(t *testing.T) {
			file := "../docs/dialects/" + s.Name + ".md"
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			mark := "<!-- " + s.Name + ": made from parser/" + s.Name + "/differences.go -->\n"
			before, after, ok := strings.Cut(string(text), mark)
			if !ok {
				t.Fatal("no mark for the table")
			}
			var table strings.Builder
			table.WriteString("\n| point | documented |")
			for _, e := range s.Eras {
				table.WriteString(" " + e.Engine + " |")
			}
			table.WriteString(" told |\n|" + strings.Repeat("---|", 3+len(s.Eras)) + "\n")
			for _, d := range s.Differences {
				if len(d.Engines) != len(s.Eras) {
					t.Errorf("%s: %d engines have an entry, and there are %d", d.Point, len(d.Engines), len(s.Eras))
				}
				told := d.Told
				if told == "" {
					told = "-"
				}
				fmt.Fprintf(&table, "| %s | %s | %s | %s |\n", d.Point, d.Documented, strings.Join(d.Engines, " | "), told)
			}
			_, rest, _ := strings.Cut(after, "\n\n#")
			if rest != "" {
				rest = "\n#" + rest
			}
			page := before + mark + table.String() + rest
			if page == string(text) {
				return
			}
			if !*update {
				t.Fatal("the table is not that of the code; -update writes it")
			}
			if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
				t.Fatal(err)
			}
			t.Error("rewritten: read the difference and run again")
		})
	}
}
