package parser

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/native"
)

// Modules are Files that have those of Go modules as well.
type Modules interface {
	Files
	// FindModule is the module of a file with an import path, as path@version, and the file's name there.
	FindModule(file string) (module, rel string, err error)
	// ReadModule reads a file of a module that was found.
	ReadModule(module, rel string) ([]byte, error)
}

// inModule begins the names by which a workflow knows files of modules. No name of the project's files has a colon.
const inModule = "go:"

// A moduleFile is a file of a module.
type moduleFile struct{ module, rel string }

// inModules is the file of a module that a native workflow includes or runs; another file's name stays to be resolved.
func (l *loader) inModules(from *source.File, ref ir.Ident) (name string, is, ok bool) {
	file, is := strings.CutPrefix(ref.Name, inModule)
	if t := l.trees[key(from)]; !is || t == nil || t.root.Entry("flowgen") == nil {
		return "", false, false
	}
	report := func(message, help string) {
		l.sink.Report(diag.Diagnostic{Code: diag.ModuleFile, Span: ref.Span, Message: message, Help: help})
	}
	modules, can := l.files.(Modules)
	switch {
	case !can:
		report("files of Go modules cannot be read here", "compile the workflow with the flowgen command")
		return "", true, false
	case !strings.HasSuffix(file, native.Suffix):
		report("of a Go module, only files whose names end in `"+native.Suffix+"` are included or run", "rename the file in its module, or copy it into the project")
		return "", true, false
	}
	module, rel, err := modules.FindModule(file)
	if err != nil {
		var advice interface{ Help() string }
		help := ""
		if errors.As(err, &advice) {
			help = advice.Help()
		}
		report("cannot use "+ref.Name+": "+err.Error(), help)
		return "", true, false
	}
	return l.moduleName(module, rel), true, true
}

// moduleName is the name of a file of a module.
func (l *loader) moduleName(module, rel string) string {
	name := inModule + module + "/" + rel
	if l.inside == nil {
		l.inside = map[string]moduleFile{}
	}
	l.inside[name] = moduleFile{module, rel}
	return name
}

// beside is the name of a file that a file of a module names: one of the same module.
func (l *loader) beside(from *source.File, ref ir.Ident) (string, bool) {
	rel := path.Join(path.Dir(l.inside[key(from)].rel), ref.Name)
	if !filepath.IsLocal(filepath.FromSlash(rel)) {
		l.sink.Report(diag.Diagnostic{Code: diag.ModuleFile, Span: ref.Span, Message: "this file is not in module " + from.Module + ", whose files name files of the module alone",
			Help: "move the file into the module, or name its own module as in `go:` and its path"})
		return "", false
	}
	return l.moduleName(from.Module, rel), true
}

// key is the name by which the loader knows a file that was read.
func key(f *source.File) string {
	if f.Module != "" {
		return inModule + f.Name
	}
	return f.Name
}

// readFile reads a file of the project or of a module.
func (l *loader) readFile(name string) ([]byte, error) {
	if in, ok := l.inside[name]; ok {
		return l.files.(Modules).ReadModule(in.module, in.rel)
	}
	return l.files.ReadFile(name)
}

// newFile is the file of a name with its text.
func (l *loader) newFile(name, text string) *source.File {
	in, foreign := l.inside[name]
	if !foreign {
		return source.NewFile(name, text)
	}
	f := source.NewFile(strings.TrimPrefix(name, inModule), text)
	f.Module = in.module
	return f
}

// noModuleFile reports a file of a module that cannot be read.
func (l *loader) noModuleFile(name string, at source.Span, err error) {
	var advice interface{ Help() string }
	d := cannotRead(diag.ModuleFile, strings.TrimPrefix(name, inModule), at, err)
	switch {
	case errors.As(err, &advice):
		d.Message, d.Help = err.Error(), advice.Help()
	case errors.Is(err, fs.ErrNotExist):
		d.Message = "module " + l.inside[name].module + " has no file " + l.inside[name].rel
		d.Help = "the version is that of go.mod: see which files it has, or `go get` another one"
	}
	l.sink.Report(d)
}

// foreignLanguage reports a file of a module that is in the language of a dialect, whose sources lie in the project.
func (l *loader) foreignLanguage(t *tree) {
	l.sink.Report(diag.Diagnostic{Code: diag.ModuleFile, Span: dialect.Head(t.root), Message: "of a Go module, only files of flowgen's own language are included or run",
		Help: "convert it with `flowgen convert`, or copy it into the project"})
}
