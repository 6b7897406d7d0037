// Package parser turns workflow files into the IR: it reads files, finds out which dialect they are written in, hands
// them to the dialect's package, and follows what they include and which workflows they run.
package parser

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/flowgen-dev/flowgen/internal/files"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// Files is where workflow files come from. Names are slash-separated, relative to where the command runs, or absolute.
type Files interface {
	ReadFile(name string) ([]byte, error)
}

// Parse reads a workflow file with everything it names. All mistakes go to sink. The workflow is nil only when the file
// cannot be read, is not YAML, or is in no known dialect; otherwise it holds what could be read.
func Parse(files Files, name string, sink *diag.Sink) *ir.Workflow {
	return ParseAs(files, name, Options{}, sink)
}

// ParseAs is Parse with what the user says about the file.
func ParseAs(files Files, name string, opts Options, sink *diag.Sink) *ir.Workflow {
	l := &loader{files: files, sink: sink, opts: opts, trees: map[string]*tree{}, flows: map[string]*ir.Workflow{}}
	return l.workflow(path.Clean(name), ir.Ident{Name: name})
}

// A loader reads each file once. It is the native.Loader.
type loader struct {
	files   Files
	sink    *diag.Sink
	opts    Options
	texts   map[string]*source.File // files of text by name; nil when one cannot be read
	trees   map[string]*tree
	flows   map[string]*ir.Workflow // parsed; nil while being parsed or when it cannot be
	prompts map[string]*prompt      // prompt files by name
	locks   map[string]*source.File // lock files by name; nil when there is none
	inside  map[string]moduleFile   // what names of files of Go modules stand for
	open    []string                // workflows being parsed, outermost first

	asked, size int  // how many files were asked for, and how large those are that were read
	full        bool // a limit was reached, and reported
}

// The limits of what one workflow names, itself included. A file of a few bytes must not make the compiler read a disk.
const (
	maxFiles = 1000
	maxTotal = 8 * yamlnode.MaxBytes
)

// limited reports, once, that no more files are read.
func (l *loader) limited(ref ir.Ident) bool {
	l.asked++
	if l.asked <= maxFiles && l.size <= maxTotal {
		return false
	}
	if !l.full {
		l.full = true
		l.sink.Report(diag.Diagnostic{Code: diag.YAMLLimit, Span: ref.Span, Message: fmt.Sprintf("this workflow names more than %d files, or more than %d MiB of them", maxFiles, maxTotal>>20),
			Help: "use fewer and smaller files"})
	}
	return true
}

// A tree is a file that was read; root is nil when it is not YAML.
type tree struct {
	file *source.File
	root *yamlnode.Node

	merges []yamlnode.Problem // its merge keys, which only some dialects have
}

// unmerged reports the merge keys of a file that may have none.
func (l *loader) unmerged(t *tree) {
	for _, p := range t.merges {
		l.sink.Report(yamlDiagnostic(p))
	}
	t.merges = nil
}

// Include implements native.Loader.
func (l *loader) Include(from *source.File, ref ir.Ident) (*yamlnode.Node, *source.File) {
	name, ok := l.workflowFile(from, ref)
	if !ok {
		return nil, nil
	}
	t := l.read(name, ref)
	if t == nil {
		return nil, nil
	}
	return t.root, t.file
}

// Answers implements native.Loader.
func (l *loader) Answers(from *source.File, ref ir.Ident) (*yamlnode.Node, *source.File) {
	name, ok := l.resolve(from, ref)
	if !ok {
		return nil, nil
	}
	t := l.read(name, ref)
	if t == nil {
		return nil, nil
	}
	return t.root, t.file
}

// Flow implements native.Loader.
func (l *loader) Flow(from *source.File, ref ir.Ident) *ir.Workflow {
	name, ok := l.workflowFile(from, ref)
	if !ok {
		return nil
	}
	return l.workflow(name, ref)
}

// workflow parses the workflow in a file, or returns it when that was done. ref is where the file is named; its span is
// zero for the file the user named.
func (l *loader) workflow(name string, ref ir.Ident) *ir.Workflow {
	w := l.parsed(name, ref)
	if w != nil && w.Library && !ref.Span.IsZero() {
		l.sink.Report(diag.Diagnostic{Code: diag.MissingKey, Span: ref.Span, Message: fmt.Sprintf("%s has no nodes to run: it is a library", path.Base(name)),
			Help: "write it under `include:`, or name a workflow"})
		return nil
	}
	return w
}

// parsed is workflow for files of all kinds.
func (l *loader) parsed(name string, ref ir.Ident) *ir.Workflow {
	for i, o := range l.open {
		if o == name {
			l.recursive(l.open[i:], name, ref)
			return nil
		}
	}
	if w, done := l.flows[name]; done {
		return w
	}
	l.flows[name] = nil
	t := l.tree(name, ref)
	if t == nil || t.root == nil {
		return nil
	}
	d := l.language(t)
	if d == nil || !d.merges {
		l.unmerged(t)
	} else {
		yamlnode.Merge(t.root)
	}
	if d == nil {
		return nil
	}
	if t.file.Module != "" && d.name != "native" {
		l.foreignLanguage(t)
		return nil
	}
	l.open = append(l.open, name)
	w := d.parse(t.root, t.file, l, l.sink)
	w.Provided = provided()
	l.lock(w)
	l.open = l.open[:len(l.open)-1]
	l.flows[name] = w
	return w
}

// read returns the tree of a file, or nil when no such file. What is wrong in it is reported once.
func (l *loader) read(name string, ref ir.Ident) *tree {
	t := l.tree(name, ref)
	if t != nil {
		l.unmerged(t)
	}
	return t
}

// tree is read for files that may have merge keys.
func (l *loader) tree(name string, ref ir.Ident) *tree {
	if t, done := l.trees[name]; done {
		return t
	}
	if l.limited(ref) {
		return nil
	}
	data, err := l.readFile(name)
	l.size += len(data)
	if err != nil {
		l.unreadable(name, ref.Span, err)
		return nil
	}
	t := &tree{file: l.newFile(name, string(data))}
	l.trees[name] = t
	root, problems := yamlnode.Parse(t.file)
	for _, p := range problems {
		if p.Kind == yamlnode.MergeKey {
			t.merges = append(t.merges, p)
			continue
		}
		l.sink.Report(yamlDiagnostic(p))
	}
	if size := textSize(root); size > maxText {
		l.sink.Report(diag.Diagnostic{
			Code: diag.YAMLLimit, Span: source.Span{File: t.file}, Message: "aliases repeat too much text", Help: "write long text once, in a prompt or a `let` field",
		})
		root = nil
	}
	t.root = root
	return t
}

// unreadable reports a file that cannot be read, where it is named.
func (l *loader) unreadable(name string, at source.Span, err error) {
	if _, foreign := l.inside[name]; foreign {
		l.noModuleFile(name, at, err)
		return
	}
	d := cannotRead(diag.CannotRead, name, at, err)
	if !at.IsZero() && errors.Is(err, fs.ErrNotExist) {
		d.Help = "names are relative to the folder of the file that contains them"
	}
	l.sink.Report(d)
}

func cannotRead(code diag.Code, name string, at source.Span, err error) diag.Diagnostic {
	return diag.Diagnostic{Code: code, Span: at, Message: "cannot read " + name + ": " + files.Reason(err)}
}

// maxText bounds the text of a file with its aliases expanded. yamlnode bounds how many nodes aliases add, not how long
// they are.
const maxText = 4 * yamlnode.MaxBytes

func textSize(n *yamlnode.Node) int {
	if n == nil {
		return 0
	}
	size := len(n.Text.Value)
	for _, e := range n.Entries {
		size += textSize(e.Key) + textSize(e.Value)
	}
	for _, it := range n.Items {
		size += textSize(it)
	}
	for _, m := range n.Merges {
		size += textSize(m)
	}
	return size
}

// workflowFile is resolve for files that are included or run, which may be in Go modules.
func (l *loader) workflowFile(from *source.File, ref ir.Ident) (string, bool) {
	if name, is, ok := l.inModules(from, ref); is {
		return name, ok
	}
	return l.resolve(from, ref)
}

// resolve makes the name of a file out of how another file calls it.
func (l *loader) resolve(from *source.File, ref ir.Ident) (string, bool) {
	switch {
	case ref.Name == "" || strings.ContainsAny(ref.Name, "\x00\n\r"):
		l.sink.Report(yamlnode.NoFileName(ref.Span))
		return "", false
	case strings.Contains(ref.Name, "://"):
		l.sink.Report(diag.Diagnostic{Code: diag.CannotRead, Span: ref.Span, Message: "files are not fetched from the network", Help: "download it and name the copy"})
		return "", false
	case strings.Contains(ref.Name, `\`):
		fixed := strings.ReplaceAll(ref.Name, `\`, "/")
		l.sink.Report(diag.Diagnostic{Code: diag.CannotRead, Span: ref.Span, Message: "file names use `/` on every system", Help: "replace with `" + fixed + "`"})
		return "", false
	case path.IsAbs(ref.Name), strings.Contains(ref.Name, ":"): // a drive of Windows, or a stream
		l.sink.Report(diag.Diagnostic{Code: diag.CannotRead, Span: ref.Span, Message: "file names are relative to the folder of the file that contains them", Help: "move the file into the project, and write its relative name"})
		return "", false
	}
	if from.Module != "" {
		return l.beside(from, ref)
	}
	return path.Join(path.Dir(from.Name), ref.Name), true
}

// recursive reports a workflow that runs itself.
func (l *loader) recursive(cycle []string, name string, ref ir.Ident) {
	names := make([]string, 0, len(cycle)+1)
	for _, n := range cycle {
		names = append(names, path.Base(n))
	}
	l.sink.Report(diag.Diagnostic{
		Code: diag.RecursiveFlow, Span: ref.Span, Message: "a workflow cannot run itself: " + strings.Join(append(names, path.Base(name)), " -> "),
		Help: "repeat with `loop`, or with a `map`",
	})
}

func (l *loader) unknown(t *tree) {
	at := t.root.Span
	if i := strings.IndexAny(at.Text(), "\r\n"); i >= 0 {
		at = at.Sub(0, i)
	}
	l.sink.Report(diag.Diagnostic{
		Code: diag.UnknownLanguage, Span: at, Message: "this is not a workflow: no dialect has these keys", Help: "start a native file with `flowgen: 1`; select another language with `--dialect`",
	})
}
