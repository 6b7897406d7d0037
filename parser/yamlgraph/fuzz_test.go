package yamlgraph_test

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/codegen"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/goname"
	"github.com/flowgen-dev/flowgen/parser"
	"golang.org/x/tools/txtar"
)

// file is the text of a graph.
type file string

func (f file) ReadFile(name string) ([]byte, error) {
	switch {
	case name == "graph.yaml":
		return []byte(f), nil
	case strings.HasSuffix(name, ".yaml") && !strings.Contains(string(f), "type: subgraph"): // a prompt
		return []byte("system: \"{topic} {% if topic %}{{ topic }}{% endif %}\"\nuser: \"{topic}\"\nschema:\n  name: Answer\n  fields:\n    tone: {type: str}\n"), nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// FuzzGraph: whatever a file holds, its diagnostics have places in it, and what has no mistakes becomes Go.
func FuzzGraph(f *testing.F) {
	names, err := filepath.Glob("../../golden/yamlgraph/*.txtar")
	if err != nil || len(names) == 0 {
		f.Fatal("no seeds", err)
	}
	for _, name := range names {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, part := range archive.Files {
			if part.Name == "graph.yaml" {
				f.Add(string(part.Data), strings.HasPrefix(string(archive.Comment), "compat: upstream"))
			}
		}
	}
	f.Fuzz(func(t *testing.T, text string, upstream bool) {
		opts := parser.Options{Dialect: "yamlgraph"}
		if upstream {
			opts.Compat = parser.Upstream
		}
		sink := &diag.Sink{}
		wf := parser.ParseAs(file(text), "graph.yaml", opts, sink)
		for _, d := range sink.List() {
			if s := d.Span; s.File != nil && (s.Lo < 0 || s.Hi < s.Lo || s.Hi > len(s.File.Text)) {
				t.Fatalf("%s: no place in the file: %+v", d.Code, s)
			}
		}
		if wf == nil || sink.HasErrors() {
			return
		}
		_ = ir.Dump(wf)
		p := check.Check(wf, sink)
		if p == nil || sink.HasErrors() {
			return
		}
		if _, err := codegen.Generate(p, codegen.Options{Package: goname.Package(wf.Name.Name)}); err != nil {
			t.Fatal(err)
		}
	})
}
