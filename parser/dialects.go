package parser

import (
	"errors"
	"io/fs"
	"path"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/native"
	"github.com/flowgen-dev/flowgen/parser/openexpertise"
	"github.com/flowgen-dev/flowgen/parser/sirenspec"
	"github.com/flowgen-dev/flowgen/parser/stargraph"
	"github.com/flowgen-dev/flowgen/parser/yamlgraph"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// A language is one that workflows are written in.
type language struct {
	name  string
	is    func(root *yamlnode.Node) bool // whether a tree has the shape of the dialect
	parse func(root *yamlnode.Node, f *source.File, load *loader, sink *diag.Sink) *ir.Workflow

	schema func() []byte // nil: there is none
	merges bool          // `<<` merges mappings, as in YAML 1.1
}

// dialects in the order in which they are tried. A dialect is a folder and a line here.
var dialects = []language{
	{"native", func(root *yamlnode.Node) bool { return root.Entry("flowgen") != nil }, func(root *yamlnode.Node, f *source.File, load *loader, sink *diag.Sink) *ir.Workflow {
		return native.Parse(root, f, load, sink)
	}, native.JSONSchema, false},
	{openexpertise.Name, openexpertise.Is, public(openexpertise.Parse), openexpertise.Schema, false},
	{sirenspec.Name, sirenspec.Is, public(sirenspec.Parse), sirenspec.Schema, true},
	{yamlgraph.Name, yamlgraph.Is, public(yamlgraph.Parse), yamlgraph.Schema, true},
	{stargraph.Name, stargraph.Is, public(stargraph.Parse), stargraph.Schema, true},
}

// public adapts the reader of a public dialect.
func public(parse func(*yamlnode.Node, *source.File, dialect.Loader, dialect.Options, *diag.Sink) *ir.Workflow) func(*yamlnode.Node, *source.File, *loader, *diag.Sink) *ir.Workflow {
	return func(root *yamlnode.Node, f *source.File, load *loader, sink *diag.Sink) *ir.Workflow {
		wf := parse(root, f, load, dialect.Options{Upstream: load.opts.Compat == Upstream, Child: len(load.open) > 1, Python: load.opts.Python, Tools: load.opts.Tools}, sink)
		wf.Public = true
		return wf
	}
}

// Options say how a file is read whose own words leave it open.
type Options struct {
	Dialect string            // one of Dialects; empty: the one whose shape the file has
	Compat  string            // Documented, which empty means, or Upstream
	Python  ir.PythonReader   // reads sources of Python that workflows name; nil: none are read
	Tools   map[string]string // files of tools by the names of the slots of a workflow that they are bound to, from where the command runs
}

// What holds where the page of a public dialect and its engine differ.
const (
	Documented = "documented"
	Upstream   = "upstream"
)

// Dialects are the names of all dialects.
func Dialects() []string {
	var names []string
	for _, d := range dialects {
		names = append(names, d.name)
	}
	return names
}

// detect finds the dialects whose shape a file has.
func detect(root *yamlnode.Node) []*language {
	var fit []*language
	for i := range dialects {
		if dialects[i].is(root) {
			fit = append(fit, &dialects[i])
		}
	}
	return fit
}

// language is the dialect of a file, nil after a message when it is none or more than one. What the user says holds for
// the file that the user names.
func (l *loader) language(t *tree) *language {
	if l.opts.Dialect != "" && len(l.open) == 0 {
		for i := range dialects {
			if dialects[i].name == l.opts.Dialect {
				return &dialects[i]
			}
		}
	}
	fit := detect(t.root)
	switch len(fit) {
	case 0:
		l.unknown(t)
		return nil
	case 1:
		return fit[0]
	}
	l.sink.Report(diag.Diagnostic{Code: diag.AmbiguousDialect, Span: dialect.Head(t.root),
		Message: "this file has the shape of " + fit[0].name + " and of " + fit[1].name, Help: "say which it is with `--dialect " + fit[0].name + "` or `--dialect " + fit[1].name + "`"})
	return nil
}

// FlowNear implements dialect.Loader.
func (l *loader) FlowNear(from *source.File, ref ir.Ident, here bool) (*ir.Workflow, bool) {
	near, ok := l.resolve(from, ref)
	if !ok {
		return nil, false
	}
	names := []string{near, path.Clean(ref.Name)}
	if here {
		names[0], names[1] = names[1], names[0]
	}
	for _, name := range names {
		if _, err := l.files.ReadFile(name); !errors.Is(err, fs.ErrNotExist) {
			return l.workflow(name, ref), name == near
		}
	}
	return l.workflow(near, ref), true
}

// Text implements dialect.Loader.
func (l *loader) Text(from *source.File, ref ir.Ident) (*source.File, bool) {
	name, ok := l.resolve(from, ref)
	if !ok {
		return nil, false
	}
	if f, done := l.texts[name]; done {
		return f, f != nil
	}
	if l.limited(ref) {
		return nil, false
	}
	if l.texts == nil {
		l.texts = map[string]*source.File{}
	}
	l.texts[name] = nil
	data, err := l.files.ReadFile(name)
	l.size += len(data)
	if err != nil {
		l.unreadable(name, ref, err)
		return nil, false
	}
	l.texts[name] = source.NewFile(name, string(data))
	return l.texts[name], true
}

// Find implements dialect.Loader.
func (l *loader) Find(at source.Span, names ...string) (*yamlnode.Node, *source.File) {
	for _, name := range names {
		if t, done := l.trees[name]; done {
			return t.root, t.file
		}
		if l.limited(ir.Ident{Name: name, Span: at}) {
			return nil, nil
		}
		if _, err := l.files.ReadFile(name); err != nil {
			if errors.Is(err, fs.ErrPermission) {
				l.unreadable(name, ir.Ident{Name: name, Span: at}, err)
				return nil, nil
			}
			continue
		}
		if t := l.read(name, ir.Ident{Name: name, Span: at}); t != nil {
			return t.root, t.file
		}
		return nil, nil
	}
	return nil, nil
}
