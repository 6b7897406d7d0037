package parser

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"strings"
	"sync"

	"github.com/flowgen-dev/flowgen/convert"
	fromopenexpertise "github.com/flowgen-dev/flowgen/convert/openexpertise"
	fromsirenspec "github.com/flowgen-dev/flowgen/convert/sirenspec"
	fromstargraph "github.com/flowgen-dev/flowgen/convert/stargraph"
	fromyamlgraph "github.com/flowgen-dev/flowgen/convert/yamlgraph"
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

// public are the public dialects, in the order in which they are tried. A dialect is its folders and its lines here.
var public = []struct {
	dialect.Language
	convert convert.Func
}{
	{openexpertise.Language, fromopenexpertise.Convert},
	{sirenspec.Language, fromsirenspec.Convert},
	{yamlgraph.Language, fromyamlgraph.Convert},
	{stargraph.Language, fromstargraph.Convert},
}

// Languages are the public dialects, in the order in which they are tried.
func Languages() []dialect.Language {
	var list []dialect.Language
	for _, d := range public {
		list = append(list, d.Language)
	}
	return list
}

// Conversion is the function that converts the workflows of a dialect; nil when it has none.
func Conversion(name string) convert.Func {
	for _, d := range public {
		if d.Name == name {
			return d.convert
		}
	}
	return nil
}

// provided is what the runtime packages of all dialects have for any workflow.
var provided = sync.OnceValue(func() *ir.Provided {
	all := &ir.Provided{Instead: map[string]string{}}
	for _, d := range public {
		if d.Provided != nil {
			all.Functions = append(all.Functions, d.Provided.Functions...)
			maps.Copy(all.Instead, d.Provided.Instead)
			all.Modules = append(all.Modules, d.Provided.Modules...)
		}
	}
	return all
})

// LanguageOf is the public dialect of a name; ok is false when there is none.
func LanguageOf(name string) (d dialect.Language, ok bool) {
	for _, d := range public {
		if d.Name == name {
			return d.Language, true
		}
	}
	return d, false
}

// A language is one that workflows are written in.
type language struct {
	name   string
	merges bool
	is     func(root *yamlnode.Node) bool
	parse  func(root *yamlnode.Node, f *source.File, load *loader, sink *diag.Sink) *ir.Workflow
	schema func() []byte
}

// languages are the native one and the public dialects, in the order in which they are tried.
var languages = sync.OnceValue(func() []language {
	all := []language{{name: "native", is: func(root *yamlnode.Node) bool { return root.Entry("flowgen") != nil }, schema: native.JSONSchema,
		parse: func(root *yamlnode.Node, f *source.File, load *loader, sink *diag.Sink) *ir.Workflow {
			return native.Parse(root, f, load, sink)
		}}}
	for _, d := range public {
		all = append(all, language{name: d.Name, merges: d.Merges, is: d.Is, schema: d.Schema,
			parse: func(root *yamlnode.Node, f *source.File, load *loader, sink *diag.Sink) *ir.Workflow {
				upstream, ok := d.Reads(load.opts.Compat)
				if !ok {
					sink.Report(diag.Diagnostic{Code: diag.NotSupported, Span: root.Span, Message: fmt.Sprintf("%s has no engine of the era %s", d.Name, load.opts.Compat), Help: "--compat takes " + strings.Join(compats([]dialect.Language{d.Language}), ", ")})
				}
				wf := d.Parse(root, f, load, dialect.Options{Upstream: upstream, Child: len(load.open) > 1, Root: load.open[0], Python: load.opts.Python, Tools: load.opts.Tools}, sink)
				wf.Public, wf.Origin = true, d.Name
				return wf
			}})
	}
	return all
})

// Options say how a file is read whose own words leave it open.
type Options struct {
	Dialect string            // one of Dialects; empty: the one whose shape the file has
	Compat  string            // one of Compats; empty: Documented
	Python  ir.PythonReader   // reads sources of Python that workflows name; nil: none are read
	Tools   map[string]string // files of tools by the names of the slots of a workflow that they are bound to, from where the command runs
}

// What holds where the page of a public dialect and its engine differ.
const (
	Documented = "documented"
	Upstream   = "upstream"
)

// Compats are the words that --compat takes: the two above, and the eras of engines.
func Compats() []string { return compats(Languages()) }

func compats(list []dialect.Language) []string {
	words := []string{Documented, Upstream}
	for _, l := range list {
		for _, e := range l.Eras {
			words = append(words, e.Name)
		}
	}
	return words
}

// Dialects are the names of all dialects.
func Dialects() []string {
	var names []string
	for _, d := range languages() {
		names = append(names, d.name)
	}
	return names
}

// detect finds the dialects whose shape a file has.
func detect(root *yamlnode.Node) []*language {
	var fit []*language
	for _, d := range languages() {
		if d.is(root) {
			fit = append(fit, &d)
		}
	}
	return fit
}

// language is the dialect of a file, nil after a message when it is none or more than one. What the user says holds for
// the file that the user names.
func (l *loader) language(t *tree) *language {
	if l.opts.Dialect != "" && len(l.open) == 0 {
		for _, d := range languages() {
			if d.name == l.opts.Dialect {
				return &d
			}
		}
	}
	fit := detect(t.root)
	switch len(fit) {
	case 0:
		if !l.misspelt(t) {
			l.unknown(t)
		}
		return nil
	case 1:
		return fit[0]
	}
	if l.misspelt(t) {
		return nil
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
		l.unreadable(name, ref.Span, err)
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
				l.unreadable(name, at, err)
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
