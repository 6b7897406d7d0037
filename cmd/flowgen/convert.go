package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/atomicfile"
	"github.com/flowgen-dev/flowgen/codegen"
	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/internal/files"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser"
)

func (a *app) convertCommand() *cobra.Command {
	var dir string
	var force bool
	cmd := &cobra.Command{
		Use:   "convert FILE",
		Short: "Convert a workflow of a public dialect to flowgen's own language",
		Long: "Convert reads a file of a public dialect and writes an equivalent workflow in flowgen's own language: next to it, as\n" +
			"graph.flowgen.yaml for graph.yaml, or with -o into another folder, together with its modules, prompts and\n" +
			"bindings. Names and order of nodes, and comments, are preserved.\n\n" +
			"Anything that the language cannot express is an error at its line and column, with a replacement; then nothing is\n" +
			"written. Notes report changed names. docs/dialects.md defines \"equivalent\". Only --force replaces existing files.",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.convert(path.Clean(filepath.ToSlash(args[0])), dir, force)
		},
	}
	cmd.Flags().StringVarP(&dir, "output", "o", "", "folder to write to (default: the folder of the file)")
	cmd.Flags().BoolVar(&force, "force", false, "replace existing files")
	return cmd
}

// convert converts a file and writes what became of it.
func (a *app) convert(name, dir string, force bool) error {
	switch {
	case files.IsDir(filepath.FromSlash(name)):
		return usage("%s is a folder: name a file", name)
	case strings.HasSuffix(name, suffix):
		return usage("%s is in flowgen's own language already", name)
	case strings.HasSuffix(dir, ".yaml") && !files.IsDir(filepath.FromSlash(dir)):
		return usage("-o expects a folder, found %s", dir)
	}
	c, err := a.converted(newDisk(), name)
	if err != nil {
		return err
	}
	if err := a.report(c.list, false); err != nil || c.made == nil {
		return err
	}
	return a.writeConverted(c.native, c.made, dir, force)
}

// A conversion is what became of a file of a dialect.
type conversion struct {
	native *compiled
	made   []*source.File // the workflow is the last, behind those that it runs; nil: it cannot be converted
	list   []diag.Diagnostic
}

func (a *app) converted(disk *disk, name string) (*conversion, error) {
	from := a.compile(disk, name)
	c := &conversion{list: from.list}
	if from.program == nil {
		return c, nil
	}
	beside := strings.TrimSuffix(strings.TrimSuffix(name, path.Ext(name)), ".") + suffix
	reader := *a
	reader.reading = parser.Options{}
	sink := &diag.Sink{}
	a.file = name
	out, ok, err := convert.Workflow(from.program, parser.Conversion(from.program.WF.Origin), beside, convert.Compiler{Check: func(made ...*source.File) []diag.Diagnostic {
		for _, f := range made {
			disk.put(f)
		}
		c.native = reader.compile(disk, made[len(made)-1].Name)
		return c.native.list
	}, Texts: codeTexts}, sink)
	a.file = ""
	if err != nil {
		return nil, &fault{what: err.Error(), file: name}
	}
	c.list = append(c.list, sink.List()...)
	if ok {
		c.made = append(out.Flows, source.NewFile(beside, out.Text))
	}
	return c, nil
}

// codeTexts makes the Go file of text functions.
func codeTexts(name string, list []convert.TextFunc) (*source.File, error) {
	var functions []*ir.TextFunc
	null := map[*ir.TextFunc][]string{}
	for _, t := range list {
		functions, null[t.TextFunc] = append(functions, t.TextFunc), t.Null
	}
	src, err := codegen.Texts(functions, func(t *ir.TextFunc, param string) bool { return slices.Contains(null[t], param) }, codegen.Options{Package: path.Base(path.Dir(name)), Path: "texts"})
	return source.NewFile(name, string(src)), err
}

// put has a text stand for a file; the go command is told of those that it reads.
func (d *disk) put(f *source.File) {
	d.texts[f.Name] = []byte(f.Text)
	if path.Ext(f.Name) == ".go" {
		if d.unsaved == nil {
			d.unsaved = map[string][]byte{}
		}
		d.unsaved[abs(filepath.FromSlash(f.Name))] = []byte(f.Text)
	}
}

// writeConverted writes a native workflow, the last of made, with those that it runs, and with a folder of its own the files
// that it names.
func (a *app) writeConverted(native *compiled, made []*source.File, dir string, force bool) error {
	beside := made[len(made)-1].Name
	home := filepath.Dir(filepath.FromSlash(beside))
	type file struct {
		name string
		data []byte
	}
	var list []file
	if dir != "" {
		roots := files.Project(filepath.FromSlash(beside))
		for _, name := range named(native) {
			rel, err := filepath.Rel(abs(home), name)
			switch inside, _ := filepath.Rel(readable(beside)[0], name); {
			case err == nil && filepath.IsLocal(rel):
			case !filepath.IsLocal(inside): // of an interpreter
				continue
			default:
				return fmt.Errorf("%s is outside the folder of the workflow and is not copied: convert without -o", filepath.ToSlash(name))
			}
			if hidden(rel) || codegen.GoReads(filepath.ToSlash(rel)) { // git, editors and the go command act on such files
				return fmt.Errorf("%s is not copied: hidden files, and files that the go command reads, cannot be part of a workflow: rename it, or convert without -o", filepath.ToSlash(name))
			}
			data, err := roots.ReadFile(name, files.Max)
			if err != nil {
				return err
			}
			list = append(list, file{filepath.Join(dir, rel), data})
		}
	}
	for _, f := range made {
		target := filepath.FromSlash(f.Name)
		if dir != "" {
			rel, err := filepath.Rel(home, target)
			if err != nil || !filepath.IsLocal(rel) {
				return fmt.Errorf("%s is outside the folder of the workflow: convert without -o", f.Name)
			}
			target = filepath.Join(dir, rel)
		}
		list = append(list, file{target, []byte(f.Text)})
	}
	for _, f := range list {
		old, err := readOwn(f.name)
		switch {
		case errors.Is(err, fs.ErrNotExist), err == nil && (force || bytes.Equal(old, f.data)):
		case err != nil:
			return err
		default:
			return fmt.Errorf("%s exists and is not replaced; --force does that", filepath.ToSlash(f.name))
		}
	}
	for _, f := range list {
		if err := os.MkdirAll(filepath.Dir(f.name), 0o777); err != nil {
			return err
		}
		if err := atomicfile.Write(f.name, f.data); err != nil {
			return err
		}
		fmt.Fprintf(a.stderr, "flowgen: wrote %s\n", oneLine(filepath.ToSlash(f.name)))
	}
	return nil
}

// named are the absolute names of the files that a workflow is made of besides its own, each once.
func named(c *compiled) []string {
	var out []string
	add := func(name string) {
		if files.IsFile(name) && !slices.Contains(out, abs(name)) {
			out = append(out, abs(name))
		}
	}
	for _, f := range c.workflow.Includes {
		add(filepath.FromSlash(f.Name))
	}
	for _, name := range c.sources {
		add(name)
	}
	return out
}

func abs(name string) string {
	full, err := filepath.Abs(name)
	if err != nil {
		return name
	}
	return full
}
