package hostile

import (
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	goparser "go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/flowgen-dev/flowgen/codegen"
	"github.com/flowgen-dev/flowgen/ir/goname"
)

// A typeChecker checks generated packages as the compiler of Go does, in this process: what they import it reads from
// export data, once.
type typeChecker struct {
	fset    *token.FileSet
	exports map[string]string // file of export data by import path
	from    types.Importer
}

func newTypeChecker() *typeChecker {
	c := &typeChecker{fset: token.NewFileSet(), exports: map[string]string{}}
	c.from = importer.ForCompiler(c.fset, "gc", func(path string) (io.ReadCloser, error) {
		if c.exports[path] == "" {
			return nil, fmt.Errorf("no export data of %s", path)
		}
		return os.Open(c.exports[path])
	})
	return c
}

// learn builds packages and all that they import.
func (c *typeChecker) learn(overlay map[string][]byte, patterns []string) error {
	pkgs, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedExportFile | packages.NeedImports | packages.NeedDeps, Dir: "../..", Overlay: overlay}, patterns...)
	if err != nil {
		return err
	}
	packages.Visit(pkgs, nil, func(p *packages.Package) { c.exports[p.PkgPath] = p.ExportFile })
	return nil
}

// A generatedPackage is what flowgen generate writes into a folder, and what is there already.
type generatedPackage struct {
	code   []byte
	assets []codegen.Asset
}

// own are the Go files of the folder that a project's code goes to, without tests and generated ones, and the name of their
// package.
func (p *project) own(fset *token.FileSet) (files []*ast.File, name string) {
	folder, err := filepath.Abs(filepath.Join(p.dir, map[bool]string{true: path.Dir(p.main)}[p.inside]))
	if err != nil {
		panic(err)
	}
	texts := map[string][]byte{}
	entries, _ := os.ReadDir(folder)
	for _, e := range entries {
		if text, err := os.ReadFile(filepath.Join(folder, e.Name())); err == nil {
			texts[filepath.Join(folder, e.Name())] = text
		}
	}
	maps.Copy(texts, p.overlay)
	for _, file := range sortedKeys(texts) {
		if filepath.Dir(file) != folder || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") || strings.HasSuffix(file, "_flow.go") {
			continue
		}
		f, err := goparser.ParseFile(fset, file, texts[file], goparser.SkipObjectResolution|goparser.ParseComments)
		if err != nil {
			continue
		}
		files, name = append(files, f), f.Name.Name
	}
	return files, name
}

// write makes the Go of a program.
func (p *project) write(r *result, own string) (code []byte, assets []codegen.Asset, err error) {
	pkg := own
	if pkg == "" {
		pkg = goname.Package(r.workflow.Name.Name)
	}
	opts := codegen.Options{Package: pkg, Path: p.path, Name: "x_flow"}
	if code, err = codegen.Generate(r.program, opts); err != nil {
		return nil, nil, err
	}
	return code, codegen.Assets(r.program, opts), nil
}

// check type-checks a generated file together with the project's own, and holds what it embeds to what is there.
func (c *typeChecker) check(importPath string, code []byte, assets []codegen.Asset, own []*ast.File) error {
	f, err := goparser.ParseFile(c.fset, "x_flow.go", code, goparser.SkipObjectResolution|goparser.ParseComments)
	if err != nil {
		return err
	}
	var first error
	config := types.Config{Importer: c.from, Error: func(err error) {
		var at types.Error
		if errors.As(err, &at) && c.fset.Position(at.Pos).Filename != "x_flow.go" && !strings.Contains(at.Msg, "redeclared") {
			return // code of the project that uses a name of the workflow before it was changed
		}
		if first == nil {
			first = err
		}
	}}
	_, _ = config.Check(importPath, c.fset, append([]*ast.File{f}, own...), nil)
	if first != nil {
		return first
	}
	return embedded(f, assets)
}

// embedded reports the first embed pattern that matches none of the assets.
func embedded(f *ast.File, assets []codegen.Asset) error {
	for _, g := range f.Comments {
		for _, line := range g.List {
			patterns, ok := strings.CutPrefix(line.Text, "//go:embed ")
			if !ok {
				continue
			}
			for _, pattern := range strings.Fields(patterns) {
				if text, err := strconv.Unquote(pattern); err == nil {
					pattern = text
				}
				pattern = strings.TrimPrefix(pattern, "all:")
				if !slices.ContainsFunc(assets, func(a codegen.Asset) bool {
					ok, _ := path.Match(pattern, a.Name)
					return ok || strings.HasPrefix(a.Name, pattern+"/")
				}) {
					return fmt.Errorf("nothing matches %s", line.Text)
				}
			}
		}
	}
	return nil
}

// importsOf are the import paths of a generated file.
func importsOf(code []byte) []string {
	f, err := goparser.ParseFile(token.NewFileSet(), "x.go", code, goparser.ImportsOnly)
	if err != nil {
		return nil
	}
	var out []string
	for _, s := range f.Imports {
		if path, err := strconv.Unquote(s.Path.Value); err == nil {
			out = append(out, path)
		}
	}
	return out
}
