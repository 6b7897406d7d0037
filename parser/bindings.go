package parser

import (
	"errors"
	"io/fs"
	"path"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/parser/native"
)

// BindingsName is the file next to a workflow of a public dialect that says what the tools it names are: a library of the
// native language.
const BindingsName = "flowgen.bindings.yaml"

// Bindings implements dialect.Loader.
func (l *loader) Bindings(wf *ir.Workflow) {
	name := path.Join(path.Dir(wf.File.Name), BindingsName)
	if _, err := l.files.ReadFile(name); errors.Is(err, fs.ErrNotExist) {
		return
	}
	if t := l.read(name, ir.Ident{Name: BindingsName}); t != nil && t.root != nil {
		native.Library(t.root, t.file, wf, l, l.sink)
	}
}
