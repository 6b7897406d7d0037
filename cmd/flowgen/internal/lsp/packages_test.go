package lsp

import (
	"os"
	"testing"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/bind"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// TestGoPackagesByContent: Go packages are loaded for text that nothing was loaded for. Opening, saving and closing a file as it is, and
// taking an edit back, load nothing.
func TestGoPackagesByContent(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(text string) {
		if err := os.WriteFile("tools.go", []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("package tools\n")
	loads := 0
	loaded := map[*bind.Cache]bool{}
	w := newWorkspace(Options{Compile: func(name string, from Inputs) *Result {
		res := &Result{Workflow: &ir.Workflow{File: source.NewFile(name, "")}, Files: []string{name}}
		switch {
		case !from.Later:
			loads++
			loaded[from.Packages] = true
		case !loaded[from.Packages]:
			res.List = []diag.Diagnostic{{Code: diag.GoPackage, Message: bind.Loading, Span: source.Span{File: res.Workflow.File}}}
		}
		return res
	}})
	w.all = true
	settle := func(what string, want int) {
		t.Helper()
		for {
			w.settle()
			done := make(chan func(), 1)
			w.loadPackages(func(f func()) { done <- f })
			if !w.loading {
				break
			}
			(<-done)()
		}
		if loads != want {
			t.Errorf("%s: %d loads, want %d", what, loads, want)
		}
	}
	const uri = "file:tools.go"
	name := nameOf(uri)
	w.open("a.flowgen.yaml", 1, "flowgen: 1\n")
	settle("a workflow with Go", 1)
	open := func(text string) {
		w.docs["tools.go"] = &document{uri: uri, text: newText(text, false)}
		w.changed("tools.go")
	}
	open("package tools\n")
	settle("its Go file is opened ("+name+")", 1)
	open("package tools\n\nfunc A() {}\n")
	settle("and edited", 2)
	write("package tools\n\nfunc A() {}\n")
	w.onDisk("tools.go")
	settle("and saved", 2)
	open("package tools\n")
	settle("the edit is taken back", 2)
	open("package tools\n\nfunc A() {}\n")
	settle("and made again", 2)
	delete(w.docs, "tools.go")
	w.changed("tools.go")
	settle("and closed", 2)
	write("package tools\n\nfunc B() {}\n")
	w.onDisk("tools.go")
	settle("written by others", 3)
	w.onDisk("tools.go")
	settle("and touched", 3)
	if n := len(w.sources.caches); n != maxStates {
		t.Errorf("%d states are kept", n)
	}
}
