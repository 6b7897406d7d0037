package main

import (
	"path"
	"path/filepath"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/bind"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser"
)

// A compiled workflow is what the front of the compiler made of one file.
type compiled struct {
	name      string
	workflow  *ir.Workflow   // nil when the file cannot be read
	program   *check.Program // nil when there are errors
	list      []diag.Diagnostic
	cases     []*check.Cases // test cases without mistakes; read only where they are asked for
	caseFiles []*ir.CaseFile // all files of test cases, with mistakes or without
	sources   []string       // files that tools in other languages were read from, or looked for
}

// compile runs parser, bind and check over the file of a workflow.
func (a *app) compile(files *disk, name string) *compiled {
	c := a.compileAny(files, name)
	if c.workflow != nil && c.workflow.Library {
		c.program = nil
		c.list = append(c.list, diag.Diagnostic{Code: diag.MissingKey, Span: source.Span{File: c.workflow.File}, Message: "this file has no nodes to run: it is a library",
			Help: "name a workflow that includes it, or add `nodes:`"})
	}
	return c
}

// compileAny is compile for workflows and for libraries, which are files that workflows include.
func (a *app) compileAny(files *disk, name string) *compiled {
	a.file = name
	sink := &diag.Sink{}
	c := &compiled{name: name}
	seen := func(name string) { c.sources = append(c.sources, name) }
	reading := a.reading
	python := bind.Python(bind.Options{Overlay: files.unsaved, Seen: seen})
	defer python.Close()
	reading.Python = python
	c.workflow = parser.ParseAs(files.project(name), name, reading, sink)
	if c.workflow != nil {
		dir := filepath.FromSlash(path.Dir(name))
		bind.Resolve(c.workflow, bind.Options{Dir: dir, Above: readable(name), Overlay: files.unsaved, Cache: files.packages, Later: files.later, Seen: seen}, sink)
		a.fillSlots(c.workflow)
		a.prices.fill(c.workflow)
		c.program = check.Watch(c.workflow, sink, files.look)
	}
	if sink.HasErrors() {
		c.program = nil
	}
	c.list = parser.SoundFixes(sink.List())
	a.file = ""
	return c
}

// merged is all diagnostics of several workflows in file order. A mistake in a file that two of them include is one.
func merged(list []*compiled) []diag.Diagnostic {
	type key struct {
		severity      diag.Severity
		code          diag.Code
		message, file string
		lo, hi        int
	}
	seen := map[key]bool{}
	sink := &diag.Sink{}
	for _, c := range list {
		for _, d := range c.list {
			k := key{d.Severity, d.Code, d.Message, "", d.Span.Lo, d.Span.Hi}
			if d.Span.File != nil {
				k.file = path.Clean(d.Span.File.Name)
			}
			if !seen[k] {
				seen[k] = true
				sink.Report(d)
			}
		}
	}
	return sink.List()
}

// report prints diagnostics for people and returns errReported when they make the command fail.
func (a *app) report(list []diag.Diagnostic, strict bool) error {
	if err := diag.Text(a.stderr, list, textOptions(a.stderr)); err != nil {
		return err
	}
	return failed(list, strict)
}

// failed is errReported when there is an error, or with strict a warning.
func failed(list []diag.Diagnostic, strict bool) error {
	for _, d := range list {
		if d.Severity == diag.Error || strict && d.Severity == diag.Warning {
			return errReported
		}
	}
	return nil
}
