package flowgen_test

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/tools/txtar"
)

// TestSizes: a file of the product is at most 600 lines long, a function 80. Tests, generated code, what is tested with it and
// benchmarks are not part of the product.
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

// TestWidths: no line of generated Go is longer than 140 columns, tabs being four, but for what its string literals hold.
func TestWidths(t *testing.T) {
	list, err := exec.Command("git", "ls-files", "-z", "*_flow.go", "*_flow_test.go", "golden/*.txtar").Output()
	if err != nil {
		t.Skip("not in a clone of the repository: ", err)
	}
	read := 0
	check := func(name string, text []byte) {
		read++
		for at, width := range widths(text) {
			if width > 140 {
				t.Errorf("%s:%d has %d columns", name, at, width)
			}
		}
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.FromSlash(name))
		switch {
		case os.IsNotExist(err): // deleted, and not committed yet
		case err != nil:
			t.Fatal(err)
		case strings.HasSuffix(name, ".go"):
			check(name, text)
		default:
			for _, f := range txtar.Parse(text).Files {
				if strings.HasSuffix(f.Name, "flow.go") {
					check(name+": "+f.Name, f.Data)
				}
			}
		}
	}
	if read < 150 {
		t.Errorf("%d files were read", read)
	}
}

// widths are the columns of the lines of a Go file, without the text of string literals.
func widths(text []byte) map[int]int {
	out := map[int]int{}
	for i, line := range strings.Split(string(text), "\n") {
		out[i+1] = utf8.RuneCountInString(line) + 3*strings.Count(line, "\t")
	}
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(text))
	s.Init(file, text, nil, 0)
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return out
		}
		if tok == token.STRING {
			for i, part := range strings.Split(lit, "\n") {
				out[file.Line(pos)+i] -= utf8.RuneCountInString(part) + 3*strings.Count(part, "\t")
			}
		}
	}
}
