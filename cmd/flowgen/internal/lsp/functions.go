package lsp

import (
	"bytes"
	"go/ast"
	goparser "go/parser"
	"go/printer"
	gotoken "go/token"
	"path"
	"path/filepath"
	"strings"

	"github.com/flowgen-dev/flowgen/internal/files"
	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
)

// Bounds of what is read of a folder for names of functions.
const (
	maxSources = 300
	maxSource  = 1 << 20
)

// sources reads the files of a folder that have an ending, those in buffers as they are there.
func (s *server) sources(c cursor, folder, ending string) map[string]string {
	roots := files.Project(filepath.FromSlash(c.name))
	if !roots.Hold(filepath.FromSlash(path.Join(folder, "x"))) {
		return nil
	}
	entries, err := roots.ReadDir(filepath.FromSlash(folder))
	if err != nil {
		return nil
	}
	out := map[string]string{}
	for _, e := range entries {
		name := path.Join(folder, e.Name())
		if e.IsDir() || !strings.HasSuffix(name, ending) || strings.HasSuffix(name, "_test.go") || len(out) == maxSources {
			continue
		}
		if d := s.ws.docs[name]; d != nil {
			out[name] = d.text.s
		} else if text, err := roots.ReadFile(filepath.FromSlash(name), maxSource); err == nil {
			out[name] = string(text)
		}
	}
	return out
}

// goFunctions are the functions of a package in reach that a tool can be, or the folders that a path can go on to.
func (s *server) goFunctions(c cursor, written string) []completionItem {
	dot := strings.LastIndexByte(written, '.')
	if dot <= strings.LastIndexByte(written, '/') || !strings.HasPrefix(written, "./") && !strings.HasPrefix(written, "../") {
		return s.goFolders(c, written)
	}
	var out []completionItem
	for name, text := range s.sources(c, path.Join(path.Dir(c.name), written[:dot]), ".go") {
		fset := gotoken.NewFileSet()
		f, _ := goparser.ParseFile(fset, name, text, goparser.ParseComments|goparser.SkipObjectResolution)
		if f == nil {
			continue
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv != nil || !fn.Name.IsExported() || fn.Type.TypeParams != nil || !callable(fn.Type) {
				continue
			}
			var b bytes.Buffer
			_ = printer.Fprint(&b, fset, fn.Type)
			item := completionItem{Label: written[:dot+1] + fn.Name.Name, Kind: itemFunction, Detail: b.String()}
			if doc := strings.TrimSpace(fn.Doc.Text()); doc != "" {
				item.Documentation = &markup{"plaintext", doc}
			}
			out = append(out, item)
		}
	}
	return out
}

// callable reports whether a workflow can call a function of a type: it gives a value, an error, both or nothing, and takes data.
func callable(t *ast.FuncType) bool {
	var results []ast.Expr
	for _, f := range fieldsIn(t.Results) {
		for range max(1, len(f.Names)) {
			results = append(results, f.Type)
		}
	}
	if len(results) > 2 {
		return false
	}
	if len(results) == 2 {
		if id, ok := results[1].(*ast.Ident); !ok || id.Name != "error" {
			return false
		}
	}
	for _, f := range fieldsIn(t.Params) {
		switch f.Type.(type) {
		case *ast.ChanType, *ast.FuncType:
			return false
		}
	}
	return true
}

func fieldsIn(l *ast.FieldList) []*ast.Field {
	if l == nil {
		return nil
	}
	return l.List
}

// goFolders are the folders below the one that is written that may hold a package.
func (s *server) goFolders(c cursor, written string) []completionItem {
	if written != "" && written != "." && written != ".." && !strings.HasPrefix(written, "./") && !strings.HasPrefix(written, "../") {
		return nil
	}
	dir, _ := path.Split(written)
	if dir == "" {
		dir = "./"
	}
	folder := path.Join(path.Dir(c.name), dir)
	roots := files.Project(filepath.FromSlash(c.name))
	if !roots.Hold(filepath.FromSlash(path.Join(folder, "x"))) {
		return nil
	}
	entries, err := roots.ReadDir(filepath.FromSlash(folder))
	if err != nil {
		return nil
	}
	var out []completionItem
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && e.Name() != "testdata" && e.Name() != "node_modules" && len(out) < maxSources {
			out = append(out, completionItem{Label: dir + e.Name(), Kind: itemFolder})
		}
	}
	return out
}

var pythonFunction = lazyregexp.New(`(?m)^(?:async +)?def +([A-Za-z]\w*) *(\([^)]*\)(?: *-> *[^:\n]+)?)`)

// pythonFunctions are the modules beside the workflow, or behind a colon the functions of one.
func (s *server) pythonFunctions(c cursor, written string) []completionItem {
	module, _, named := strings.Cut(written, ":")
	folder := path.Join(path.Dir(c.name), path.Dir(strings.ReplaceAll(module, ".", "/")))
	prefix := module[:strings.LastIndexByte(module, '.')+1]
	var out []completionItem
	for name, text := range s.sources(c, folder, ".py") {
		stem := strings.TrimSuffix(path.Base(name), ".py")
		if !named {
			out = append(out, completionItem{Label: prefix + stem + ":", Kind: itemFile})
			continue
		}
		if prefix+stem != module {
			continue
		}
		for _, m := range pythonFunction.FindAllStringSubmatch(text, maxSources) {
			out = append(out, completionItem{Label: module + ":" + m[1], Kind: itemFunction, Detail: "def " + m[1] + m[2]})
		}
	}
	return out
}
