package parser

import (
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/parser/native"
)

// Suffixes of the files that are found in folders.
const (
	WorkflowSuffix = native.WorkflowSuffix
	CasesSuffix    = native.CasesSuffix
)

// ParseCases reads a file of test cases. All mistakes go to sink. The result is nil only when the file cannot be read or is
// not YAML. Its workflow is named as the file itself was: relative to where the command runs, or absolute.
func ParseCases(files Files, name string, sink *diag.Sink) *ir.CaseFile {
	name = path.Clean(name)
	l := &loader{files: files, sink: sink, trees: map[string]*tree{}}
	t := l.read(name, ir.Ident{Name: name})
	if t == nil || t.root == nil {
		return nil
	}
	out := native.ParseCases(t.root, t.file, sink)
	out.Workflow.Name = path.Join(path.Dir(name), out.Workflow.Name)
	if out.Workflow.Span.IsZero() {
		out.Workflow.Name = beside(files, out.Workflow.Name)
	}
	return out
}

// beside is the workflow that a test file without `workflow` is about, which may be of a public dialect: of these names the
// first that there is.
func beside(files Files, name string) string {
	stem := strings.TrimSuffix(name, native.WorkflowSuffix)
	for _, try := range []string{name, stem + ".yaml", stem + ".yml"} {
		if _, err := files.ReadFile(try); !errors.Is(err, fs.ErrNotExist) {
			return try
		}
	}
	return name
}
