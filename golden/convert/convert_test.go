// Package convert_test converts the cases of the public dialects to the native language and runs both.
//
// golden/convert/<dialect>/<case>.flowgen.yaml is what a case becomes, refused.txt why others become nothing. A case that is
// in neither was added since and is converted all the same; an empty file, and -update, writes it down, to be read.
package convert_test

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/flowgen-dev/flowgen/codegen"
	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/bind"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/goname"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser"
)

func TestMain(m *testing.M) {
	if _, err := os.Stat("convert"); err != nil { // the workers of a fuzz target begin where it has gone
		if err := os.Chdir(".."); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

var (
	update = flag.Bool("update", false, "rewrite what the tests compare with, and fail")
	only   = flag.String("case", "*/*", "`DIALECT/NAME` pattern of the cases to convert")
)

// roots are the files of a dialect's cases that are compiled.
var roots = func() map[string]string {
	names := map[string]string{}
	for _, d := range parser.Languages() {
		names[d.Name] = d.Root
	}
	return names
}()

// A testcase is a case of golden/<dialect> that compiles.
type testcase struct {
	dialect, name, dir string
	archive            *txtar.Archive
	text               string         // the native file; empty when it is refused
	reason             string         // of the refusal
	notes              string         // about what a reader has to know
	flows              []*source.File // the native files that it runs, and Go files
	code               *source.File   // that it calls; nil: none

	program *check.Program // of the native file
	opts    codegen.Options
}

func (c *testcase) native() string {
	return strings.TrimSuffix(roots[c.dialect], ".yaml") + ".flowgen.yaml"
}

func (c *testcase) find(name string) string {
	for _, f := range c.archive.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

// ReadFile implements parser.Files.
func (c *testcase) ReadFile(name string) ([]byte, error) {
	if rest, ok := strings.CutPrefix(name, c.dir+"/"); ok && !strings.HasPrefix(rest, "want/") {
		for _, f := range c.archive.Files {
			if f.Name == rest {
				return f.Data, nil
			}
		}
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// with is the files of a case and those that it becomes.
type with struct {
	*testcase
	files map[string]string
}

// put adds files that are made, of which the last is the workflow.
func (w with) put(made []*source.File) string {
	name := ""
	for _, f := range made {
		if name = f.Name; strings.HasSuffix(name, ".go") {
			w.code = f
			continue
		}
		w.files[name] = f.Text
	}
	return name
}

// goTexts makes the Go file of text functions.
func goTexts(name string, list []convert.TextFunc) (*source.File, error) {
	var functions []*ir.TextFunc
	null := map[*ir.TextFunc][]string{}
	for _, t := range list {
		functions, null[t.TextFunc] = append(functions, t.TextFunc), t.Null
	}
	src, err := codegen.Texts(functions, func(t *ir.TextFunc, param string) bool { return slices.Contains(null[t], param) }, codegen.Options{Package: path.Base(path.Dir(name)), Path: "texts"})
	return source.NewFile(name, string(src)), err
}

func (w with) ReadFile(name string) ([]byte, error) {
	if text, ok := w.files[name]; ok {
		return []byte(text), nil
	}
	return w.testcase.ReadFile(name)
}

// compile runs the front of the compiler.
func (c *testcase) compile(files parser.Files, name string, opts parser.Options) (*check.Program, []diag.Diagnostic) {
	p, list := c.compileIn(c.dir, files, name, opts)
	if slices.ContainsFunc(list, noFolder) {
		return c.compileIn(c.dialect, files, name, opts)
	}
	return p, list
}

// noFolder reports whether the go command was missing the folder of a case, which is not on the disk.
func noFolder(d diag.Diagnostic) bool {
	return strings.Contains(d.Message, "the go command cannot load")
}

// compileIn is compile with the files in a folder.
func (c *testcase) compileIn(dir string, files parser.Files, name string, opts parser.Options) (*check.Program, []diag.Diagnostic) {
	sink, overlay := &diag.Sink{}, map[string][]byte{}
	for _, f := range c.archive.Files {
		if strings.HasSuffix(f.Name, "js") || strings.HasSuffix(f.Name, ".py") {
			name, _ := filepath.Abs(filepath.Join(filepath.FromSlash(dir), filepath.FromSlash(f.Name)))
			overlay[name] = f.Data
		}
	}
	if c.code != nil {
		name, _ := filepath.Abs(filepath.FromSlash(dir + strings.TrimPrefix(c.code.Name, c.dir)))
		overlay[name] = []byte(c.code.Text)
	}
	if len(overlay) == 0 {
		dir = c.dialect // the go command needs a folder that exists
	}
	python := bind.Python(bind.Options{Dir: dir, Overlay: overlay})
	defer python.Close()
	opts.Python = python
	wf := parser.ParseAs(files, name, opts, sink)
	var p *check.Program
	if wf != nil {
		above := &ir.Workflow{File: wf.File, Flows: []*ir.Workflow{wf}}
		bind.Resolve(above, bind.Options{Dir: dir, Overlay: overlay}, sink)
		p = check.Check(wf, sink)
	}
	if sink.HasErrors() {
		p = nil
	}
	return p, sink.List()
}

var load = sync.OnceValues(func() ([]*testcase, error) {
	var all []*testcase
	for _, name := range slices.Sorted(maps.Keys(roots)) {
		files, err := filepath.Glob(name + "/*.txtar")
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			if ok, err := filepath.Match(*only, strings.TrimSuffix(file, ".txtar")); err != nil || !ok {
				continue
			}
			archive, err := txtar.ParseFile(file)
			if err != nil {
				return nil, err
			}
			c := &testcase{dialect: name, name: strings.TrimSuffix(filepath.Base(file), ".txtar"), archive: archive}
			c.dir = name + "/" + c.name
			if err := c.convert(); err != nil {
				return nil, fmt.Errorf("%s: %w", c.dir, err)
			}
			if c.text != "" || c.reason != "" {
				all = append(all, c)
			}
		}
	}
	return all, nil
})

// convert converts a case, if it compiles.
func (c *testcase) convert() error {
	opts := parser.Options{Dialect: c.dialect}
	if strings.HasPrefix(string(c.archive.Comment), "compat: upstream\n") {
		opts.Compat = parser.Upstream
	}
	p, _ := c.compile(c, c.dir+"/"+roots[c.dialect], opts)
	if p == nil {
		return nil
	}
	sink := &diag.Sink{}
	name := c.dir + "/" + c.native()
	written := with{c, map[string]string{}}
	out, ok, err := convert.Workflow(p, parser.Conversion(c.dialect), name, convert.Compiler{Check: func(made ...*source.File) []diag.Diagnostic {
		native, list := c.compile(written, written.put(made), parser.Options{})
		c.program = native
		return list
	}, Texts: goTexts}, sink)
	if err != nil {
		return err
	}
	if !ok {
		c.program = nil
		for _, d := range sink.List() {
			switch {
			case d.Severity != diag.Error:
			case noFolder(d):
				return nil
			default:
				c.reason = d.Message
				return nil
			}
		}
		return fmt.Errorf("nothing is converted, and nothing is said")
	}
	for _, d := range sink.List() {
		c.notes += d.Message + "\n"
	}
	c.text, c.flows = out.Text, out.Flows
	c.opts = codegen.Options{Package: goname.Package(c.program.WF.Name.Name), Path: "github.com/flowgen-dev/flowgen/golden/" + c.dir, Name: strings.TrimSuffix(c.native(), ".flowgen.yaml") + "_flow"}
	return nil
}

func cases(t *testing.T) []*testcase {
	t.Helper()
	all, err := load()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestText holds the native files to those that were read, and counts them.
func TestText(t *testing.T) {
	counts, made := map[string][2]int{}, map[string]bool{}
	for _, c := range cases(t) {
		n := counts[c.dialect]
		if c.text == "" {
			n[1]++
			counts[c.dialect] = n
			continue
		}
		n[0]++
		counts[c.dialect] = n
		for _, f := range append(slices.Clone(c.flows), source.NewFile("", c.text)) {
			file := filepath.Join("convert", c.dialect, c.name+".flowgen.yaml")
			if f.Name != "" {
				file = filepath.Join("convert", c.dialect, c.name+"."+filepath.Base(f.Name))
				if filepath.Ext(file) == ".go" {
					file += ".txt" // it is no part of a package here
				}
			}
			made[file] = true
			t.Run(c.dir, func(t *testing.T) { held(t, file, f.Text) })
		}
	}
	for _, d := range slices.Sorted(maps.Keys(roots)) {
		files, err := filepath.Glob("convert/" + d + "/*.flowgen.yaml")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			name, _, _ := strings.Cut(filepath.Base(file), ".")
			if ok, _ := filepath.Match(*only, d+"/"+name); ok && !made[file] {
				t.Errorf("%s: the case is no longer converted", file)
			}
		}
		t.Logf("%s: %d of %d cases that compile become native files", d, counts[d][0], counts[d][0]+counts[d][1])
	}
}

// held compares a native file with the one that was read.
func held(t *testing.T, file, text string) {
	if strings.HasSuffix(file, ".yaml") {
		formatted, ok, err := parser.Format(source.NewFile(file, text), &diag.Sink{})
		if err != nil || !ok || formatted != text {
			t.Error("the file is not in canonical layout", err)
		}
	}
	want, err := os.ReadFile(file)
	switch {
	case err == nil && string(want) == text:
	case errors.Is(err, fs.ErrNotExist) && !(*update && *only != "*/*"):
		t.Log("new, not written down")
	case *update:
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		t.Errorf("%s is rewritten: read the difference and run again", file)
	default:
		t.Errorf("%s (-want +made):\n%s", file, cmp.Diff(strings.Split(string(want), "\n"), strings.Split(text, "\n")))
	}
}

// TestRefused holds the reasons to those in refused.txt.
func TestRefused(t *testing.T) {
	const file = "convert/refused.txt"
	var b strings.Builder
	now := map[string]*testcase{}
	for _, c := range cases(t) {
		now[c.dir] = c
		if c.text == "" {
			fmt.Fprintf(&b, "%s: %s\n", c.dir, c.reason)
		}
	}
	if *update && *only == "*/*" {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	made := strings.Split(b.String(), "\n")
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if name, _, _ := strings.Cut(line, ":"); now[name] != nil && !slices.Contains(made, line) {
			t.Errorf("no longer refused, or for another reason (%s): %s", now[name].reason, line)
		}
	}
}

// TestNotes: what a native file does not do is told.
func TestNotes(t *testing.T) {
	told := map[string]string{
		"sirenspec/env_absent":      "`settings.env` is not read: a native program takes its secrets from a file `.env`",
		"sirenspec/budget_upstream": "the budget only warns, and the native program does not",
		"sirenspec/child":           "a node that fails ends this workflow with what it has written",
	}
	for _, c := range cases(t) {
		if !strings.Contains(c.notes, told[c.dir]) {
			t.Errorf("%s: the notes do not say %q:\n%s", c.dir, told[c.dir], c.notes)
		}
	}
}

// TestComments: every comment of a file is in the one that it becomes, once.
func TestComments(t *testing.T) {
	for _, c := range cases(t) {
		if c.text == "" {
			continue
		}
		t.Run(c.dir, func(t *testing.T) {
			from := comments(t, roots[c.dialect], c.find(roots[c.dialect]))
			if diff := cmp.Diff(from, comments(t, c.native(), c.text)); diff != "" {
				t.Errorf("comments (-dialect +native):\n%s", diff)
			}
		})
	}
}
