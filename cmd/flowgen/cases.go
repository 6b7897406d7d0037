package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/codegen"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/parser"
)

// cases reads the test cases of a workflow: of all files in its folder that are about it. What is wrong in them is reported
// with the workflow.
func (a *app) cases(d *disk, c *compiled) {
	if c.workflow == nil {
		return
	}
	for _, name := range d.caseFiles(c.name) {
		sink := &diag.Sink{}
		f := parser.ParseCases(d.project(name), name, sink)
		if f == nil && strings.TrimSuffix(name, casesSuffix) == stemOf(c.name) {
			c.list = append(c.list, sink.List()...)
		}
		if f == nil || f.Workflow.Name != path.Clean(c.name) {
			continue
		}
		c.caseFiles = append(c.caseFiles, f)
		if c.program != nil {
			if checked := check.CheckCases(c.program, f, sink); checked != nil && !sink.HasErrors() {
				c.cases = append(c.cases, checked)
			}
		}
		c.list = append(c.list, sink.List()...)
	}
}

// caseFiles are the files with test cases in the folder of a workflow, those that only an editor has among them.
func (d *disk) caseFiles(workflow string) (names []string) {
	dir := path.Dir(workflow)
	entries, err := d.project(workflow).ReadDir(dir)
	if err != nil {
		return nil // the workflow itself was read from elsewhere
	}
	for _, e := range entries {
		if !e.IsDir() && strings.HasSuffix(e.Name(), casesSuffix) {
			names = append(names, path.Join(dir, e.Name()))
		}
	}
	if d.unsaved == nil {
		return names
	}
	for name := range d.texts {
		if strings.HasSuffix(name, casesSuffix) && path.Dir(name) == dir && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// tested names in the place of files with test cases the workflows that they are about, with which they are checked.
func tested(d *disk, args []string) []string {
	var out []string
	for _, arg := range args {
		name := path.Clean(filepath.ToSlash(arg))
		if strings.HasSuffix(name, casesSuffix) {
			arg = filepath.FromSlash(strings.TrimSuffix(name, casesSuffix) + suffix)
			if f := parser.ParseCases(d.project(name), name, &diag.Sink{}); f != nil {
				arg = filepath.FromSlash(f.Workflow.Name)
			}
		}
		if !slices.Contains(out, arg) {
			out = append(out, arg)
		}
	}
	return out
}

// stemOf is the name of a workflow's file without what makes it one.
func stemOf(name string) string {
	if stem, ok := strings.CutSuffix(name, suffix); ok {
		return stem
	}
	return strings.TrimSuffix(strings.TrimSuffix(name, ".yaml"), ".yml")
}

// testOutput is the Go test of a workflow's cases, next to its Go; nil when there are none, or when it has no place.
func (a *app) testOutput(c *compiled, to target, sink *diag.Sink) (*output, error) {
	if len(c.cases) == 0 {
		return nil, nil
	}
	if slots := c.program.Slots(); len(slots) > 0 {
		sink.Report(diag.Diagnostic{Severity: diag.Warning, Code: diag.OpenSlot, Span: slots[0].Key.Span, Message: "the cases of " + c.cases[0].IR.File.Name + " get no Go test",
			Help: "write one that fills the slots of the workflow"})
		return nil, nil
	}
	home := filepath.Dir(to.file)
	file := testFile(to.file)
	existing, err := readOwn(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if existing != nil && !isGenerated(existing) {
		sink.Report(foreign(file, "rename it, so that the cases of "+c.cases[0].IR.File.Name+" get a Go test"))
		return nil, nil
	}
	from, err := way(home, filepath.Dir(filepath.FromSlash(c.name)))
	if err != nil {
		return nil, err
	}
	if from = filepath.ToSlash(from); from == "." {
		from = ""
	}
	a.file = c.name
	text, err := codegen.Tests(c.cases, codegen.Options{Package: to.pkg, Declared: declared(filepath.Dir(to.file), to.pkg)}, from)
	if err != nil {
		return nil, &fault{what: err.Error(), file: c.name}
	}
	a.file = ""
	return &output{target: target{file: file, pkg: to.pkg, existing: existing}, from: c, text: text}, nil
}

// way is how to get from one folder to another, which both may be named relative to the current one.
func way(from, to string) (string, error) {
	from, err := filepath.Abs(from)
	if err != nil {
		return "", err
	}
	to, err = filepath.Abs(to)
	if err != nil {
		return "", err
	}
	return filepath.Rel(from, to)
}

// testFile is the name of the Go test next to a generated file.
func testFile(flow string) string { return strings.TrimSuffix(flow, ".go") + "_test.go" }

// removeTest removes the Go test of a workflow that has no cases any more.
func (a *app) removeTest(o output) error {
	file := testFile(o.file)
	text, err := readOwn(file)
	if err != nil || len(o.from.cases) > 0 || !isGenerated(text) {
		return nil
	}
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	fmt.Fprintf(a.stderr, "flowgen: removed %s\n", oneLine(filepath.ToSlash(file)))
	return nil
}
