// Package hostile holds the campaigns against the compiler as a whole: misspelt names, text that wants to become code,
// files that want too much. Each has a small form in the ordinary test run, a longer one in `make long`, which .ci/run runs, and
// a full one that `make campaigns` runs.
// docs/security.md lists them.
package hostile

import (
	"bytes"
	hexadecimal "encoding/hex"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/bind"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser"
)

// full reports whether the whole campaign is asked for, as `make campaigns` does.
func full() bool { return os.Getenv("CAMPAIGN") == "full" }

// pick is the figure of the small form, of the longer one, or of the full one.
func pick(small, longer, whole int) int {
	switch {
	case full():
		return whole
	case os.Getenv("LONG") != "":
		return longer
	}
	return small
}

// TestMain lets the heap grow, which takes a quarter of the processor time away.
func TestMain(m *testing.M) {
	debug.SetGCPercent(gcPercent)
	m.Run()
}

const gcPercent = 400

// A project is a workflow with the files it needs. The cases of golden/native lie in folders that do not exist: their
// Go files come through an overlay.
type project struct {
	name    string
	main    string            // the workflow's file
	files   map[string]string // of YAML, by the name the parser asks for
	dir     string            // where the go command runs
	inside  bool              // the workflow lies below dir, as a sub-workflow of one there would
	overlay map[string][]byte
	cache   *bind.Cache

	language string // the dialect, native when empty
	compat   string
	path     string // import path of the generated package

	wrong bool // it is meant to have errors
	slow  bool // every compilation starts an interpreter
}

// leaves reports whether the small form of a campaign leaves out what stands at a place.
func (p *project) leaves(where string) bool { return p.slow && !full() && number(where)%12 != 0 }

// ReadFile implements parser.Files.
func (p *project) ReadFile(name string) ([]byte, error) {
	if text, ok := p.files[name]; ok {
		return []byte(text), nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// result is what the front of the compiler made of a project.
type result struct {
	workflow *ir.Workflow
	program  *check.Program
	list     []diag.Diagnostic
}

func (r *result) errors() int {
	n := 0
	for _, d := range r.list {
		if d.Severity == diag.Error {
			n++
		}
	}
	return n
}

// with is the project with another text of one of its files. The Go packages, and what is known of them, are the same.
func (p *project) compile(edited, text string) *result {
	files := maps.Clone(p.files)
	if edited != "" {
		files[edited] = text
	}
	return p.compileFiles(files)
}

type memory map[string]string

func (m memory) ReadFile(name string) ([]byte, error) { return (&project{files: m}).ReadFile(name) }

// FindModule implements parser.Modules: a file whose folders have an @ is one of a module.
func (m memory) FindModule(file string) (id, rel string, err error) {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		path, rest, ok := strings.Cut(name, "@")
		if rel, in := strings.CutPrefix(file, path+"/"); ok && in {
			version, _, _ := strings.Cut(rest, "/")
			return path + "@" + version, rel, nil
		}
	}
	return "", "", errors.New("no module of go.mod has this path")
}

// ReadModule implements parser.Modules.
func (m memory) ReadModule(id, rel string) ([]byte, error) { return m.ReadFile(id + "/" + rel) }

func (p *project) compileFiles(files memory) *result {
	sink := &diag.Sink{}
	reading := parser.Options{Compat: p.compat}
	if p.cache == nil {
		p.cache = &bind.Cache{}
	}
	opts := bind.Options{Dir: p.dir, Overlay: p.overlay, Cache: p.cache}
	if p.language != "" {
		python := bind.Python(bind.Options{Overlay: p.overlay})
		defer python.Close()
		reading.Python = python
	}
	r := &result{workflow: parser.ParseAs(files, p.main, reading, sink)}
	if r.workflow != nil {
		bound := r.workflow
		switch {
		case p.language != "":
			bound = &ir.Workflow{File: r.workflow.File, Flows: []*ir.Workflow{r.workflow}}
			if dir, err := filepath.Abs(p.dir); err == nil {
				opts.Above = []string{dir}
			}
		case p.inside:
			bound = &ir.Workflow{File: source.NewFile(filepath.Base(p.dir)+suffix, ""), Flows: []*ir.Workflow{r.workflow}}
		}
		bind.Resolve(bound, opts, sink)
		r.program = check.Check(r.workflow, sink)
	}
	if sink.HasErrors() {
		r.program = nil
	}
	r.list = parser.SoundFixes(sink.List())
	return r
}

const (
	module  = "github.com/flowgen-dev/flowgen"
	suffix  = ".flowgen.yaml"
	goldens = "../native"
)

// corpus is every example and every case of golden/native.
func corpus(t *testing.T) []*project {
	t.Helper()
	var out []*project
	paths, err := filepath.Glob(goldens + "/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		out = append(out, goldenProject(t, path))
	}
	mains, err := filepath.Glob("../../examples/*/*" + suffix)
	if err != nil {
		t.Fatal(err)
	}
	for _, main := range mains {
		out = append(out, exampleProject(t, filepath.ToSlash(main)))
	}
	if len(paths) < 60 || len(mains) < 3 {
		t.Fatalf("%d goldens and %d examples found", len(paths), len(mains))
	}
	warm(out)
	return out
}

// known is what the go command has said about the packages of projects below golden/native.
var known bind.Cache

// warm asks the go command about the packages of all these projects at once: one by one it takes a hundred times as long.
func warm(projects []*project) {
	above := &ir.Workflow{File: source.NewFile(filepath.Base(goldens)+suffix, "")}
	overlay := map[string][]byte{}
	for _, p := range projects {
		if !p.inside {
			continue
		}
		p.cache = &known
		maps.Copy(overlay, p.overlay)
		if wf := parser.Parse(memory(p.files), p.main, &diag.Sink{}); wf != nil {
			above.Flows = append(above.Flows, wf)
		}
	}
	bind.Resolve(above, bind.Options{Dir: goldens, Overlay: overlay, Cache: &known}, &diag.Sink{})
}

func goldenProject(t *testing.T, file string) *project {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.TrimSuffix(filepath.Base(file), ".txtar")
	p := &project{name: name, files: map[string]string{}, overlay: map[string][]byte{}, dir: goldens, inside: true, path: module + "/golden/native/" + name}
	for _, f := range archive.Files {
		if plain, ok := strings.CutSuffix(f.Name, ".hex"); ok {
			f.Name, f.Data = plain, binary(t, f.Data)
		}
		switch {
		case f.Name == "want/diag" && bytes.Contains(f.Data, []byte("error[")):
			p.wrong = true
		case strings.HasPrefix(f.Name, "want/"):
		default: // prompts and locks are read as workflows are, sources of tools as Go is
			abs, err := filepath.Abs(filepath.Join(goldens, name, filepath.FromSlash(f.Name)))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(f.Name, suffix) { // documents that tools name are read as sources are
				p.overlay[abs] = f.Data
			}
			if p.main == "" && strings.HasSuffix(f.Name, suffix) {
				p.main = name + "/" + f.Name
			}
			if inModule, ok := strings.CutPrefix(f.Name, "modules/"); ok {
				p.files[inModule] = string(f.Data) // as messages name it
				continue
			}
			p.files[name+"/"+f.Name] = string(f.Data)
		}
	}
	if p.main == "" {
		t.Fatalf("%s has no workflow", file)
	}
	p.slow = strings.Contains(p.files[p.main], "python:")
	return p
}

// binary is a file that is not text, which a case has as hexadecimal digits with comments that begin with ;.
func binary(t *testing.T, text []byte) (out []byte) {
	t.Helper()
	for line := range strings.Lines(string(text)) {
		digits, _, _ := strings.Cut(line, ";")
		part, err := hexadecimal.DecodeString(strings.Join(strings.Fields(digits), ""))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, part...)
	}
	return out
}

func exampleProject(t *testing.T, main string) *project {
	t.Helper()
	dir := filepath.Dir(main)
	p := &project{name: strings.TrimSuffix(filepath.Base(main), suffix), main: main, files: map[string]string{}, dir: dir}
	p.path = module + strings.TrimPrefix(dir, "../..")
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(name, ".go") {
			return err
		}
		text, err := os.ReadFile(name)
		p.files[filepath.ToSlash(name)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	p.slow = strings.Contains(p.files[main], "python:")
	// A library is not a workflow; it is part of the projects that include it.
	if !strings.Contains(p.files[main], "\nnodes:") {
		p.wrong = true
	}
	return p
}

// slowUnderRace leaves a campaign to the run without the race detector: the compiler does one thing after the other.
func slowUnderRace(t *testing.T) {
	if raceEnabled && !full() {
		t.Skip("nothing here is concurrent")
	}
}

var shared struct {
	once sync.Once
	list []*project
}

// valid are the projects that compile. All tests have the same ones: what is known of their Go packages is kept.
func valid(t *testing.T) []*project {
	t.Helper()
	slowUnderRace(t)
	shared.once.Do(func() {
		shared.list = slices.DeleteFunc(corpus(t), func(p *project) bool { return p.wrong })
	})
	if len(shared.list) < 60 {
		t.Fatalf("%d projects", len(shared.list))
	}
	return shared.list
}

// number is a deterministic choice made by text.
func number(text string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	return h ^ h>>29
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
