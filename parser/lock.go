package parser

import (
	"errors"
	"io/fs"
	"path"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// lockName is the name of the lock file, next to the workflow.
const lockName = "flowgen.lock"

// lock reads the lock file of a workflow that has a tool of a server, an OpenAPI document or a database. What it holds is for ir/bind to
// read; that there is none is for ir/check to say, at the tools it lacks.
func (l *loader) lock(w *ir.Workflow) {
	if w == nil || !asksForLock(w) {
		return
	}
	name := l.lockOf(w.File)
	f, done := l.locks[name]
	if !done {
		data, err := l.readFile(name)
		switch {
		case err == nil:
			f = l.newFile(name, string(data))
		case !errors.Is(err, fs.ErrNotExist):
			l.unreadable(name, source.Span{File: source.NewFile(name, "")}, err)
		}
		if l.locks == nil {
			l.locks = map[string]*source.File{}
		}
		l.locks[name] = f
	}
	w.Lock = f
}

// lockOf is the name of the lock file next to a workflow.
func (l *loader) lockOf(f *source.File) string {
	if f.Module != "" {
		return l.moduleName(f.Module, path.Join(path.Dir(l.inside[key(f)].rel), lockName))
	}
	return path.Join(path.Dir(f.Name), lockName)
}

func asksForLock(w *ir.Workflow) bool {
	for _, t := range w.Tools {
		switch t.Binding.(type) {
		case *ir.MCPTool, *ir.OpenAPITool, *ir.SQLTool:
			return true
		}
	}
	return false
}
