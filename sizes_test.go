package flowgen_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestSizes: a file of the product is at most 600 lines long, a function 80. Tests, generated code, what is tested with it and
// benchmarks are no part of the product.
func TestSizes(t *testing.T) {
	list, err := exec.Command("git", "ls-files", "-z", "*.go").Output()
	if err != nil {
		t.Skip("not in a clone of the repository: ", err)
	}
	read := 0
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		top, _, _ := strings.Cut(name, "/")
		if strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, "_flow.go") || strings.Contains(name, "testdata/") || top == "bench" || top == "golden" {
			continue
		}
		text, err := os.ReadFile(filepath.FromSlash(name))
		if os.IsNotExist(err) { // deleted, and not committed yet
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		read++
		if lines := strings.Count(string(text), "\n"); lines > 600 {
			t.Errorf("%s has %d lines", name, lines)
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				if lines := set.Position(f.End()).Line - set.Position(f.Pos()).Line + 1; lines > 80 {
					t.Errorf("%s: %s has %d lines", set.Position(f.Pos()), f.Name.Name, lines)
				}
			}
		}
	}
	if read < 300 {
		t.Errorf("%d files were read", read)
	}
}
