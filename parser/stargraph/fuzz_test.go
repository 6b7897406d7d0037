package stargraph_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/flowgen-dev/flowgen/codegen"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/goname"
	"github.com/flowgen-dev/flowgen/parser"
)

// files are a graph and its bindings.
type files struct{ text, bindings string }

func (f files) ReadFile(name string) ([]byte, error) {
	switch name {
	case "graph.yaml":
		return []byte(f.text), nil
	case "flowgen.bindings.yaml":
		return []byte(f.bindings), nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// FuzzGraph: whatever a file holds, its diagnostics have places in it, and what has no mistakes becomes Go.
func FuzzGraph(f *testing.F) {
	names, err := filepath.Glob("../../golden/stargraph/*.txtar")
	if err != nil || len(names) == 0 {
		f.Fatal("no seeds", err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		graph, bindings := "", "flowgen: 1"
		for _, file := range txtar.Parse(text).Files {
			switch file.Name {
			case "graph.yaml":
				graph = string(file.Data)
			case "flowgen.bindings.yaml":
				bindings = string(file.Data)
			}
		}
		f.Add(graph, bindings, strings.HasPrefix(string(text), "compat: upstream"))
	}
	f.Fuzz(func(t *testing.T, text, bindings string, upstream bool) {
		opts := parser.Options{Dialect: "stargraph"}
		if upstream {
			opts.Compat = parser.Upstream
		}
		sink := &diag.Sink{}
		wf := parser.ParseAs(files{text, bindings}, "graph.yaml", opts, sink)
		for _, d := range sink.List() {
			if s := d.Span; s.File != nil && (s.Lo < 0 || s.Hi < s.Lo || s.Hi > len(s.File.Text)) {
				t.Fatalf("%s: no place in the file: %+v", d.Code, s)
			}
		}
		if wf == nil || sink.HasErrors() {
			return
		}
		_ = ir.Dump(wf)
		for _, t := range wf.Tools { // binding asks the go command and reads files, which are not there
			if g, ok := t.Binding.(*ir.GoTool); !ok || g.Func.Bind == nil {
				return
			}
		}
		p := check.Check(wf, sink)
		if p == nil || sink.HasErrors() {
			return
		}
		if _, err := codegen.Generate(p, codegen.Options{Package: goname.Package(wf.Name.Name)}); err != nil {
			t.Fatal(err)
		}
	})
}
