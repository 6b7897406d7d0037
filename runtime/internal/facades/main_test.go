package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each exported name of core is promised by one facade, and the files are what the generator writes.
func TestFacades(t *testing.T) {
	core, err := load("../../core")
	if err != nil {
		t.Fatal(err)
	}
	var promised []string
	for _, f := range facades {
		for _, n := range f.names() {
			promised = append(promised, n.core)
		}
		want, err := core.write(f)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join("../../core", f.dir, "facade.go"))
		if err != nil || string(got) != string(want) {
			t.Errorf("package %s is stale: go generate in runtime/core (%v)", f.pkg, err)
		}
	}
	slices.Sort(promised)
	if d := cmp.Diff(core.exported(), promised); d != "" {
		t.Errorf("exported by core (-) and promised by one facade (+):\n%s", d)
	}
}

// A facade is read from the top: it has few names, a page and an example.
func TestFacadesAreSmall(t *testing.T) {
	for _, f := range append([]facade{{dir: "../value", pkg: "value", most: 90}, {dir: "../redact", pkg: "redact", most: 90}, {dir: "../usage", pkg: "usage", most: 90}}, facades...) {
		names, page, example := look(t, filepath.Join("../../core", f.dir))
		if len(names) > f.most {
			t.Errorf("package %s exports %d names, more than %d", f.pkg, len(names), f.most)
		}
		if page < 300 {
			t.Errorf("the page of package %s has %d bytes", f.pkg, page)
		}
		if !example {
			t.Errorf("package %s has no Example", f.pkg)
		}
		t.Logf("%s: %d names", f.pkg, len(names))
	}
}

// look returns what a package exports, how long its comment is, and whether its tests have an Example.
func look(t *testing.T, dir string) (names []string, page int, example bool) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		isTest := strings.HasSuffix(name, "_test.go")
		if !isTest {
			page += len(f.Doc.Text())
		}
		for _, d := range f.Decls {
			for _, n := range declared(d) {
				switch {
				case isTest:
					example = example || n == "Example"
				case ast.IsExported(n):
					names = append(names, n)
				}
			}
		}
	}
	return names, page, example
}

func declared(d ast.Decl) []string {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return []string{d.Name.Name}
		}
	case *ast.GenDecl:
		var out []string
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				out = append(out, s.Name.Name)
			case *ast.ValueSpec:
				for _, n := range s.Names {
					out = append(out, n.Name)
				}
			}
		}
		return out
	}
	return nil
}
