// Package core tests the constructs that translators of dialects make their workflows of. A test language without a
// parser: its programs are built in Go, printed, checked, emitted, and run under the simulator.
package core

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/flowgen-dev/flowgen/codegen"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/plan"
)

var update = flag.Bool("update", false, "rewrite the files below testdata, and fail")

// A program is one of the test language: what it is for, how it is built, and the inputs that it is run with.
type program struct {
	name, about string
	build       func(l *language)
	inputs      []string
}

// compiled is a program with what was made of it.
type compiled struct {
	*program
	wf     *ir.Workflow
	diag   string
	p      *check.Program
	code   string
	assets []codegen.Asset
}

// compile checks a program and writes its Go. A Fault is returned as an error.
func (p *program) compile() (c *compiled, err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *check.Fault:
			err = p
		default:
			panic(p)
		}
	}()
	l := newLanguage(p.name)
	p.build(l)
	c = &compiled{program: p, wf: l.done()}
	sink := &diag.Sink{}
	c.p = check.Check(c.wf, sink)
	for _, d := range sink.List() {
		c.diag += fmt.Sprintf("%s: %s\n", d.Severity, d.Message)
	}
	if c.p == nil {
		return c, nil
	}
	opts := codegen.Options{Package: p.name, Path: casePath + p.name}
	code, err := codegen.Generate(c.p, opts)
	c.code, c.assets = string(code), codegen.Assets(c.p, opts)
	return c, err
}

const casePath = "github.com/flowgen-dev/flowgen/golden/core/cases/"

// TestCore compares what is printed, reported, planned and emitted with what testdata has.
func TestCore(t *testing.T) {
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			c, err := p.compile()
			if err != nil {
				t.Fatal(err)
			}
			f := open(t, p)
			f.compare(t, "core", ir.Dump(c.wf))
			f.compare(t, "diag", c.diag)
			if c.p != nil {
				f.compare(t, "plan", indented(t, plan.Of(c.p)))
			}
			f.compare(t, "flow.go", c.code)
			f.save(t)
			again, err := p.compile()
			if err != nil || again.code != c.code {
				t.Errorf("generated twice, the code differs: %v", err)
			}
		})
	}
}

func indented(t *testing.T, v any) string {
	t.Helper()
	out, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(out) + "\n"
}

// file is what testdata has of a program.
type file struct {
	name    string
	archive *txtar.Archive
	changed bool
}

func open(t *testing.T, p *program) *file {
	t.Helper()
	f := &file{name: filepath.Join("testdata", p.name+".txtar"), archive: &txtar.Archive{}}
	data, err := os.ReadFile(f.name)
	if err == nil {
		f.archive = txtar.Parse(data)
	} else if !*update {
		t.Fatal(err)
	}
	f.archive.Comment = []byte(p.about + "\n")
	return f
}

func (f *file) section(name string) string {
	for _, s := range f.archive.Files {
		if s.Name == name {
			return string(s.Data)
		}
	}
	return ""
}

func (f *file) compare(t *testing.T, section, made string) {
	t.Helper()
	want := f.section(section)
	if want == made {
		return
	}
	if !*update {
		t.Errorf("%s (-want +made):\n%s", section, cmp.Diff(strings.Split(want, "\n"), strings.Split(made, "\n")))
		return
	}
	t.Errorf("%s is rewritten: read the difference and run again", section)
	f.changed = true
	for i := range f.archive.Files {
		if f.archive.Files[i].Name == section {
			f.archive.Files[i].Data = []byte(made)
			return
		}
	}
	f.archive.Files = append(f.archive.Files, txtar.File{Name: section, Data: []byte(made)})
}

func (f *file) save(t *testing.T) {
	t.Helper()
	if !f.changed {
		return
	}
	if err := os.WriteFile(f.name, txtar.Format(f.archive), 0o644); err != nil {
		t.Fatal(err)
	}
}

// seeds is how many schedules, each with and without faults, the simulator tries for every run.
const seeds = 20

type request struct {
	Case   string            `json:"case"`
	Seeds  int               `json:"seeds"`
	Inputs []json.RawMessage `json:"inputs"`
}

type report struct {
	Case     string            `json:"case"`
	Runs     []json.RawMessage `json:"runs"`
	Problems []string          `json:"problems"`
}

// TestRuns runs every program directly, recorded, replayed and under the simulator, as the goldens of dialects are.
func TestRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("links a program")
	}
	byName := map[string]*program{}
	var requests []request
	made := map[string][]byte{}
	var imports, adds strings.Builder
	for i, p := range programs {
		c, err := p.compile()
		if err != nil {
			t.Fatalf("%s: %v", p.name, err)
		}
		if c.code == "" {
			continue
		}
		byName[p.name] = p
		r := request{Case: p.name, Seeds: seeds}
		for _, in := range p.inputs {
			r.Inputs = append(r.Inputs, json.RawMessage(in))
		}
		requests = append(requests, r)
		made[filepath.Join("cases", p.name, "flow.go")] = []byte(c.code)
		for _, a := range c.assets {
			made[filepath.Join("cases", p.name, a.Name)] = a.Data
		}
		fmt.Fprintf(&imports, "\tc%d %q\n", i, casePath+p.name)
		fmt.Fprintf(&adds, "\tadd(%q, c%d.Info, c%d.New)\n", p.name, i, i)
	}
	made[filepath.Join("program", "cases.go")] = fmt.Appendf(nil, "package main\n\nimport (\n%s)\n\nfunc init() {\n%s}\n", imports.String(), adds.String())
	sources, err := filepath.Glob("../testdata/program/*.go")
	if err != nil || len(sources) == 0 {
		t.Fatal("no program", err)
	}
	for _, name := range sources {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		made[filepath.Join("program", filepath.Base(name))] = text
	}
	for _, r := range ask(t, link(t, made), requests) {
		p := byName[r.Case]
		t.Run(p.name, func(t *testing.T) {
			for _, problem := range r.Problems {
				t.Error(problem)
			}
			f := open(t, p)
			f.compare(t, "run.json", indented(t, r.Runs))
			f.save(t)
		})
	}
}

// link builds the program of all programs.
func link(t *testing.T, made map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	replace := map[string]string{}
	for name, text := range made {
		virtual, err := filepath.Abs(name)
		if err != nil {
			t.Fatal(err)
		}
		replace[virtual] = filepath.Join(dir, fmt.Sprint(len(replace))+".go")
		if err := os.WriteFile(replace[virtual], text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	config, exe := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "program.exe")
	if err := os.WriteFile(config, overlay, 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-overlay", config, "-o", exe, "./program").CombinedOutput(); err != nil {
		t.Fatalf("the programs do not link: %v\n%s", err, out)
	}
	return exe
}

func ask(t *testing.T, exe string, requests []request) []report {
	t.Helper()
	in, err := json.Marshal(requests)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Dir = t.TempDir()
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(in), &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	var reports []report
	if err := json.Unmarshal(stdout.Bytes(), &reports); err != nil {
		t.Fatal(err)
	}
	return reports
}
