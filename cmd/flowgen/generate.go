package main

import (
	"bytes"
	"fmt"
	"go/token"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/atomicfile"
	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/program"
	"github.com/flowgen-dev/flowgen/codegen"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
)

func (a *app) generateCommand() *cobra.Command {
	var dir, pkg string
	var check bool
	cmd := &cobra.Command{
		Use:   "generate [FILE|FOLDER...]",
		Short: "Write the Go of workflows; without arguments, of all in the current folder",
		Long: "Generate writes <name>_flow.go beside <name>" + suffix + ", or into another folder with -o. The code joins the package that is\n" +
			"already there, or else begins one named after the workflow. A file is written only when it changes.\n\n" +
			"    //go:generate go tool flowgen generate triage" + suffix,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			if pkg != "" && !token.IsIdentifier(pkg) {
				return usage("--package %q is not a Go package name", pkg)
			}
			names, found, err := workflows(args)
			if err != nil {
				return err
			}
			return a.generate(names, found, dir, pkg, check)
		},
	}
	cmd.Flags().StringVarP(&dir, "output", "o", "", "folder to write to, made if needed")
	cmd.Flags().StringVar(&pkg, "package", "", "package name, in place of the one found in the folder")
	cmd.Flags().BoolVar(&check, "check", false, "write nothing; fail if a file is not what would be written")
	_ = cmd.MarkFlagDirname("output")
	return cmd
}

// generate compiles all before it writes any: a mistake in one workflow leaves every file as it was.
func (a *app) generate(names []string, found bool, dir, pkg string, check bool) error {
	list := a.compileAll(names, found)
	diags := merged(list)
	if failed(diags, false) != nil {
		return a.report(diags, false)
	}
	sink := &diag.Sink{}
	type output struct {
		c    *compiled
		to   target
		text []byte
	}
	var outputs []output
	taken := map[string]*compiled{} // by folder, which can hold one package
	for _, c := range list {
		to, ok, err := place(c, dir, pkg, sink)
		if err != nil {
			return err
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
		importPath, err := program.ImportPath(filepath.Dir(to.file))
		if err != nil {
			return err
		}
		text, err := a.emit(c, codegen.Options{Package: to.pkg, Path: importPath})
		if err != nil {
			return err
		}
		outputs = append(outputs, output{c, to, text})
		if check {
			if d := staleness(c, to, text); d != nil {
				sink.Report(*d)
			}
		}
	}
	diags = append(diags, sink.List()...)
	if err := a.report(diags, false); err != nil || check {
		return err
	}
	for _, o := range outputs {
		if bytes.Equal(o.text, o.to.existing) {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(o.to.file), 0o777); err != nil {
			return err
		}
		if err := atomicfile.Write(o.to.file, o.text); err != nil {
			return err
		}
		fmt.Fprintf(a.stderr, "flowgen: wrote %s\n", filepath.ToSlash(o.to.file))
	}
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

// staleness compares what is on disk with what would be written, and points at the first line that differs.
func staleness(c *compiled, to target, text []byte) *diag.Diagnostic {
	if to.existing != nil && normalEnds(text) == normalEnds(to.existing) {
		return nil // a checkout may have its own line ends
	}
	name := filepath.ToSlash(to.file)
	d := &diag.Diagnostic{Code: diag.Stale, Span: wholeFile(to.file), Help: "run `flowgen generate " + c.name + "`"}
	if to.existing == nil {
		d.Message = name + " does not exist"
		return d
	}
	d.Message = name + " is stale"
	f := source.NewFile(name, string(to.existing))
	old, now := strings.Split(normalEnds(to.existing), "\n"), strings.Split(normalEnds(text), "\n")
	for i, line := range old {
		if i >= len(now) || line != now[i] {
			lo := f.Offset(i+1, 1)
			d.Span = source.Span{File: f, Lo: lo, Hi: lo + len(line)}
			if i < len(now) {
				d.Message += ": this line would be `" + strings.TrimSpace(now[i]) + "`"
			} else {
				d.Message += ": this line would not be there"
			}
			return d
		}
	}
	d.Message += ": lines are missing at its end"
	return d
}
