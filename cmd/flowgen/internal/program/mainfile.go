package program

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/origin"
	"github.com/flowgen-dev/flowgen/internal/files"
)

// mainFile is the whole hand-written part of a program.
const mainFile = `package main

import (
	"` + origin.Runtime + `/%[1]s"
%[2]s)

func main() { %[3]s.Main(%[4]sInfo, %[4]sNew) }
`

// mainPackage is the leaf of the runtime whose Main the program calls, by its name below the runtime.
func (s *Source) mainPackage() string { return cmp.Or(s.Main, "cli") }

// mainText is the main of the program; importPath is where the workflow is, "" for next to it.
func (s *Source) mainText(importPath string) []byte {
	leaf, imported, qualifier := s.mainPackage(), "", ""
	if s.exemplified() {
		imported += "\t" + strconv.Quote(servingPackage) + "\n"
	}
	for _, store := range s.Stores {
		imported += "\t_ " + strconv.Quote(origin.Runtime+"/"+store) + "\n"
	}
	if importPath != "" {
		imported += "\n\tworkflow " + strconv.Quote(importPath) + "\n"
		qualifier = "workflow."
	}
	return append(fmt.Appendf(nil, mainFile, leaf, imported, path.Base(leaf), qualifier), s.examplesText()...)
}

const servingPackage = origin.Runtime + "/serving"

// exemplified reports whether the program has examples of one of its workflows, which it serves.
func (s *Source) exemplified() bool {
	return slices.Contains(s.Stores, "serve/command") && slices.ContainsFunc(s.all(), func(one *Source) bool { return one.Examples != nil })
}

// examplesText is what gives the program its examples; empty: there are none.
func (s *Source) examplesText() string {
	if !s.exemplified() {
		return ""
	}
	text := "\nfunc init() {\n"
	for _, one := range s.all() {
		if one.Examples != nil {
			text += "\tserving.Examples(" + strconv.Quote(one.Examples[0]) + ", " + strconv.Quote(one.Examples[1]) + ")\n"
		}
	}
	return text + "}\n"
}

// HasMain reports whether a folder has a program that was written for the workflow whose generated file is output: a main package with that
// file, and a func main that calls the command line of the runtime.
func HasMain(dir, output string) bool {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || !slices.Contains(names, filepath.Join(dir, output)) {
		return false
	}
	has := false
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := files.Read(name, files.Max)
		if err != nil {
			return false
		}
		f, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
		if err != nil || f.Name.Name != "main" {
			return false
		}
		if slices.ContainsFunc(f.Decls, func(d ast.Decl) bool { _, ok := mainFunc(d); return ok }) {
			has = filepath.Base(name) != output && imports(text, origin.Runtime+"/cli")
		}
	}
	return has
}

// withoutMain renames func main of a Go file; ok is false when it has none.
func withoutMain(text []byte) (renamed []byte, ok bool) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", text, parser.SkipObjectResolution)
	if err != nil {
		return nil, false
	}
	for _, d := range f.Decls {
		if at, found := mainFunc(d); found {
			off := fset.Position(at).Offset
			return bytes.Join([][]byte{text[:off], text[off+len("main"):]}, []byte("mainBesideFlowgen")), true
		}
	}
	return nil, false
}

// runtimePackages are the packages of flowgen's runtime that a program imports, whose generated file is flow.
func (s *Source) runtimePackages(flow []byte) []string {
	out := []string{origin.Runtime + "/" + s.mainPackage()}
	for _, store := range s.Stores {
		out = append(out, origin.Runtime+"/"+store)
	}
	if s.exemplified() {
		out = append(out, servingPackage)
	}
	f, err := parser.ParseFile(token.NewFileSet(), "", flow, parser.ImportsOnly)
	if err != nil {
		return out // the compiler will say it better
	}
	for _, i := range f.Imports {
		if name, err := strconv.Unquote(i.Path.Value); err == nil && strings.HasPrefix(name, origin.Runtime+"/") {
			out = append(out, name)
		}
	}
	return out
}

// imports tells whether a generated file imports a path.
func imports(text []byte, importPath string) bool {
	f, err := parser.ParseFile(token.NewFileSet(), "", text, parser.ImportsOnly)
	if err != nil {
		return false // the compiler will say it better
	}
	for _, i := range f.Imports {
		if p, err := strconv.Unquote(i.Path.Value); err == nil && p == importPath {
			return true
		}
	}
	return false
}

// mainFunc is the place of the name in `func main()`.
func mainFunc(d ast.Decl) (token.Pos, bool) {
	f, ok := d.(*ast.FuncDecl)
	if !ok || f.Recv != nil || f.Name.Name != "main" {
		return token.NoPos, false
	}
	return f.Name.Pos(), true
}
