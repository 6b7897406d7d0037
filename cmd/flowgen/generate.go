package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/atomicfile"
	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/program"
	"github.com/flowgen-dev/flowgen/codegen"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/bind"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
)

func (a *app) generateCommand() *cobra.Command {
	var o generation
	cmd := &cobra.Command{
		Use:   "generate [FILE|FOLDER...]",
		Short: "Generate the Go code of workflows; without arguments, of all in the current folder",
		Long: "Generate writes <name>_flow.go for <name>" + suffix + ": next to it if that folder has Go files, whose package\n" +
			"the code joins, or the name of the workflow's package; otherwise into a folder of that name; with -o into another\n" +
			"folder. Later calls write the file where it is. A file is written only when it changes; bundled modules of removed\n" +
			"tools are deleted. For a workflow with test cases next to it, <name>_flow_test.go is written, which runs them with\n" +
			"go test. With --fakes, <name>_flow_fakes.go is written, too: functions that replace its tools in Go tests. Later\n" +
			"runs of generate keep that file up to date.\n\n" + foldersHelp + "\n\n" +
			"    //go:generate go tool flowgen generate triage" + suffix,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			if o.pkg != "" && !token.IsIdentifier(o.pkg) {
				return usage("--package %q is not a Go package name", o.pkg)
			}
			_, err := engineMain(o.engine, false)
			if err != nil {
				return err
			}
			if o.write, err = diagnosticsAs(o.format); err != nil {
				return err
			}
			names, found, err := workflows(args)
			if err != nil {
				return err
			}
			return a.generate(names, found, o)
		},
	}
	cmd.Flags().StringVarP(&o.dir, "output", "o", "", "folder to write to, created if needed")
	cmd.Flags().StringVar(&o.pkg, "package", "", "package name, instead of the one found in the folder")
	cmd.Flags().BoolVar(&o.check, "check", false, "write nothing; fail if a file is stale")
	cmd.Flags().StringVar(&o.engine, "engine", "", "list the tools and models in the code, for workers of an engine: temporal; later calls keep the list")
	cmd.Flags().BoolVar(&o.fakes, "fakes", false, "also write <name>_flow_fakes.go, for Go tests without the tools")
	formatFlag(cmd, &o.format, "text", "json", "github", "sarif")
	_ = cmd.MarkFlagDirname("output")
	return cmd
}

// A generation is how generate was called.
type generation struct {
	dir, pkg string                                   // "" for those of the workflow
	check    bool                                     // write nothing, and compare
	fakes    bool                                     // write fakes where there are none yet
	engine   string                                   // that makes calls in other processes, so that the code lists them; "": none
	format   string                                   // of diagnostics
	write    func(io.Writer, []diag.Diagnostic) error // for machines; nil: as text
}

// reportAs prints diagnostics and returns errReported when they make the command fail.
func (a *app) reportAs(how generation, list []diag.Diagnostic) error {
	if how.write == nil {
		return a.report(list, false)
	}
	if err := how.write(a.stdout, list); err != nil {
		return err
	}
	return failed(list, false)
}

// An output is a file that generate writes, or compares.
type output struct {
	target
	from   *compiled
	text   []byte
	assets []output // what the Go embeds, and its test
}

// generate compiles all before it writes any: a mistake in one workflow leaves every file as it was.
func (a *app) generate(names []string, found bool, how generation) error {
	stamp := a.stampFor(names, found, how)
	if stamp != nil && how.write == nil && stamp.Current() {
		return nil
	}
	files := newDisk()
	list := a.compileAll(files, names, found)
	diags := merged(list)
	if failed(diags, false) != nil {
		return a.reportAs(how, diags)
	}
	for _, c := range list {
		if c.workflow.Library && !found {
			fmt.Fprintf(a.stderr, "flowgen: %s is a library: its Go is that of the workflows that include it\n", oneLine(c.name))
		}
	}
	sink := &diag.Sink{}
	outputs, err := a.outputs(list, how, sink)
	if err != nil {
		return err
	}
	if how.check {
		for _, o := range outputs {
			o.compare(sink)
			for _, asset := range o.assets {
				asset.compare(sink)
			}
		}
	}
	diags = append(diags, sink.List()...)
	if err := a.reportAs(how, diags); err != nil || how.check {
		return err
	}
	unchanged := len(diags) == 0
	for _, o := range outputs {
		unchanged = unchanged && bytes.Equal(o.text, o.existing)
		for _, file := range append(o.assets, o) { // the Go last: it needs the others
			if err := a.write(file); err != nil {
				return err
			}
		}
		if err := errors.Join(a.removeStaleBundles(o), a.removeTest(o)); err != nil {
			return err
		}
	}
	if !unchanged {
		fmt.Fprint(a.stderr, unrequired(outputs))
	}
	if stamp != nil && unchanged {
		keep(stamp, files, outputs)
	}
	return nil
}

// stampFor is where it is remembered that all outputs of a call are up to date; nil when there is no cache.
func (a *app) stampFor(names []string, found bool, how generation) *program.Stamp {
	cache, err := a.cache()
	if err != nil {
		return nil
	}
	stamp, err := cache.Stamp(append([]string{fmt.Sprint(found, how.fakes), how.engine, how.dir, how.pkg}, names...)...)
	if err != nil {
		return nil
	}
	return stamp
}

// keep remembers that nothing had to be written. A stamp that cannot be kept costs only time.
func keep(stamp *program.Stamp, files *disk, outputs []output) {
	g := program.Generated{Files: files.names}
	for _, o := range outputs {
		if !traceable(o.from.workflow) {
			return
		}
		g.Outputs = append(g.Outputs, o.file)
		for _, asset := range o.assets {
			g.Outputs = append(g.Outputs, asset.file)
		}
		g.Folders = append(g.Folders, filepath.Dir(filepath.FromSlash(o.from.name)))
		g.Go = g.Go || bind.Needed(o.from.workflow)
	}
	_ = stamp.Keep(context.Background(), g)
}

// traceable tells whether all that a workflow is compiled from is known here: the files it was read from and Go packages.
// What functions in other languages and servers depend on is not.
func traceable(wf *ir.Workflow) bool {
	for _, t := range wf.Tools {
		switch b := t.Binding.(type) {
		case *ir.GoTool, *ir.CommandTool, *ir.SlotTool:
		case *ir.HTTPTool:
			if b.Document != nil {
				return false
			}
		default:
			return false
		}
	}
	for _, sub := range wf.Flows {
		if !traceable(sub) {
			return false
		}
	}
	return len(wf.Servers) == 0
}

// outputs emits all workflows. Those that have no place are reported to sink.
func (a *app) outputs(list []*compiled, how generation, sink *diag.Sink) ([]output, error) {
	var out []output
	taken := map[string]*compiled{} // by folder, which can hold one package
	for _, c := range list {
		if c.workflow.Library {
			continue
		}
		to, ok, err := place(c, how.dir, how.pkg, sink)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		home := filepath.Dir(to.file)
		if other := taken[home]; other != nil {
			sink.Report(clash(c, filepath.Join(home, outputName(other.name)), other.name))
			continue
		}
		taken[home] = c
		importPath, err := program.ImportPath(home)
		if err != nil {
			return nil, err
		}
		opts := codegen.Options{Package: to.pkg, Path: importPath, Name: stem(to.file), Declared: declared(home, to.pkg), Embeddable: embeddable(home),
			Calls: how.engine != "" || bytes.Contains(to.existing, []byte(codegen.CallsHeader))}
		text, err := a.emit(c, opts)
		if err != nil {
			return nil, err
		}
		o := output{to, c, text, nil}
		for _, asset := range codegen.Assets(c.program, opts) {
			file := filepath.Join(home, filepath.FromSlash(asset.Name))
			existing, err := readOwn(file)
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				return nil, err
			}
			if existing != nil && !strings.HasPrefix(normalEnds(existing), asset.Begins) {
				sink.Report(foreign(file, elsewhere))
				continue
			}
			o.assets = append(o.assets, output{target: target{file: file, existing: existing}, from: c, text: asset.Data})
		}
		test, err := a.testOutput(c, to, sink)
		if err != nil {
			return nil, err
		}
		if test != nil {
			o.assets = append(o.assets, *test)
		}
		fakes, err := a.fakesOutput(c, to, opts, how.fakes, sink)
		if err != nil {
			return nil, err
		}
		if fakes != nil {
			o.assets = append(o.assets, *fakes)
		}
		out = append(out, o)
	}
	return out, nil
}

// write puts an output where it belongs, unless that is there already.
func (a *app) write(o output) error {
	if bytes.Equal(o.text, o.existing) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(o.file), 0o777); err != nil {
		return err
	}
	if err := atomicfile.Write(o.file, o.text); err != nil {
		return err
	}
	fmt.Fprintf(a.stderr, "flowgen: wrote %s\n", oneLine(filepath.ToSlash(o.file)))
	return nil
}

// emit is codegen with its errors as faults: what check accepted can be emitted.
func (a *app) emit(c *compiled, opts codegen.Options) ([]byte, error) {
	a.file = c.name
	text, err := codegen.Generate(c.program, opts)
	if err != nil {
		return nil, &fault{what: err.Error(), file: c.name}
	}
	a.file = ""
	return text, nil
}

// compare reports an output that is not what is on disk, at the first line that differs.
func (o output) compare(sink *diag.Sink) {
	if o.existing != nil && normalEnds(o.text) == normalEnds(o.existing) {
		return // a checkout may have its own line ends
	}
	name := filepath.ToSlash(o.file)
	d := diag.Diagnostic{Code: diag.Stale, Span: wholeFile(o.file), Help: "run `flowgen generate " + o.from.name + "`"}
	if o.existing == nil {
		d.Message = name + " does not exist"
	} else {
		var why string
		d.Span, why = firstDifference(name, string(o.existing), normalEnds(o.text))
		d.Message = name + " is stale: " + why
	}
	sink.Report(d)
}

// longLine is the length of a line that is not shown whole, such as the plan that a program carries.
const longLine = 160

// longDifference is where a line begins to differ from what it would be, and what it would be there.
func longDifference(line source.Span, want string) (source.Span, string) {
	old, at := line.Text(), 0
	for at < min(len(old), len(want)) && old[at] == want[at] {
		at++
	}
	start := func(i int) int { // of the character that byte i of want belongs to
		for i > 0 && i < len(want) && !utf8.RuneStart(want[i]) {
			i--
		}
		return i
	}
	from, to := start(max(0, at-longLine/4)), start(min(len(want), at+longLine/4))
	shown := want[from:to]
	if from > 0 {
		shown = "..." + shown
	}
	if to < len(want) {
		shown += "..."
	}
	at = start(at)
	_, width := utf8.DecodeRuneInString(old[at:])
	return source.Span{File: line.File, Lo: line.Lo + at, Hi: line.Lo + at + width}, "here it would be `" + shown + "`"
}

// firstDifference is the first line of old that now has otherwise.
func firstDifference(name, old, now string) (source.Span, string) {
	f := source.NewFile(name, old)
	want := strings.Split(now, "\n")
	for i := range f.Lines() {
		line := f.Line(i + 1)
		lo := f.Offset(i+1, 1)
		span := source.Span{File: f, Lo: lo, Hi: lo + len(line)}
		switch {
		case i >= len(want):
			return span, "this line would not be there"
		case line != want[i]:
			if len(line) > longLine || len(want[i]) > longLine {
				return longDifference(span, want[i])
			}
			return span, "this line would be `" + strings.TrimSpace(want[i]) + "`"
		}
	}
	return source.Span{File: f, Lo: len(old), Hi: len(old)}, "lines are missing at its end"
}
