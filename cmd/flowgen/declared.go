package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"

	"github.com/flowgen-dev/flowgen/internal/files"
)

// declared returns the names that files of a package in dir declare, its tests included, but for those that flowgen wrote.
// Of a file with syntax errors it has the names before them.
func declared(dir, pkg string) map[string]bool {
	entries, err := files.List(dir)
	if err != nil {
		return nil // a folder that does not exist yet has no package
	}
	out := map[string]bool{}
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() || filepath.Ext(name) != ".go" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
			continue
		}
		text, err := readOwn(filepath.Join(dir, name))
		if err != nil || ignored(text) || isGenerated(text) {
			continue
		}
		if f, _ := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution); f != nil && f.Name.Name == pkg {
			for _, d := range f.Decls {
				declares(d, out)
			}
		}
	}
	return out
}

// declares adds the names of a declaration.
func declares(d ast.Decl, out map[string]bool) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			out[d.Name.Name] = true
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				out[s.Name.Name] = true
			case *ast.ValueSpec:
				for _, id := range s.Names {
					out[id.Name] = true
				}
			}
		}
	}
}
