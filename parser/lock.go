package parser

import (
	"errors"
	"io/fs"
	"path"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// lockName is the name of the lock file, beside the workflow.
const lockName = "flowgen.lock"

// lock reads the lock file of a workflow that has a tool of a server. What it holds is for ir/bind to read; that there
// is none is for ir/check to say, at the tools it lacks.
func (l *loader) lock(w *ir.Workflow) {
	if w == nil || !asksForLock(w) {
		return
	}
	name := path.Join(path.Dir(w.File.Name), lockName)
	f, done := l.locks[name]
	if !done {
		data, err := l.files.ReadFile(name)
		switch {
		case err == nil:
			f = source.NewFile(name, string(data))
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

func asksForLock(w *ir.Workflow) bool {
	for _, t := range w.Tools {
		if _, ok := t.Binding.(*ir.MCPTool); ok {
			return true
		}
	}
	return false
}
