package bind

import (
	"fmt"
	"go/ast"
	"go/build/constraint"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/internal/files"
	"github.com/flowgen-dev/flowgen/ir/diag"
)

// maxGoFields is the number of fields that a struct of the project may have, with those of the structs in it. The Go compiler
// visits each: 30 structs that each hold the one before twice would keep it busy for half an hour.
const maxGoFields = 1 << 17

// An expander counts the fields of struct types in the source of the project's packages, before the go command compiles them.
// Packages of other modules are not counted: the time limit of the go command holds for those.
type expander struct {
	*goFiles
	packages map[string]map[string]*expanding // by folder, then by name of the type
	generics int                              // uses of generic types that were counted
}

// An expanding is a type declaration and the fields that it expands to.
type expanding struct {
	spec   *ast.TypeSpec
	file   *goFile
	dir    string
	fields int // 0: not counted yet; -1: being counted, so that the type is recursive
}

// expands reports the first type of the package that ref names which has too many fields.
func (r *resolver) expands(f *ref) bool {
	if r.root == "" {
		return false
	}
	x := &expander{goFiles: r.files, packages: r.expanding}
	for _, pattern := range []string{f.pattern, f.owner} {
		dir := x.folder(pattern)
		if dir == "" {
			continue
		}
		all := x.types(dir)
		for _, name := range sortedKeys(all) {
			e := all[name]
			if x.named(e, nil) <= maxGoFields {
				continue
			}
			if !r.reported[dir] {
				r.reported[dir] = true
				r.fail(diag.Diagnostic{
					Code: diag.GoPackage, Span: f.pathSpan(),
					Message: fmt.Sprintf("the type %s.%s has more than %d fields, those of the structs in it included", e.file.syntax.Name.Name, name, maxGoFields),
					Help:    "use pointers or slices for some of its fields",
					Related: []diag.Related{{Span: e.file.ident(e.spec.Name), Message: "declared here"}},
				})
			}
			return true
		}
	}
	return false
}

// folder is the folder of a package of the project by what the go command is asked for; "" = not in the project.
func (x *expander) folder(pattern string) string {
	if rel, ok := relative(pattern); ok && pattern != "" {
		return filepath.Join(x.opts.Dir, filepath.FromSlash(rel))
	}
	if x.module == "" || pattern != x.module && !strings.HasPrefix(pattern, x.module+"/") {
		return ""
	}
	return filepath.Join(x.root, filepath.FromSlash(strings.TrimPrefix(pattern, x.module)))
}

// types are the types that the Go files of a folder declare. Build constraints are not looked at, but for files that no build
// has; of two declarations of one name the first counts.
func (x *expander) types(dir string) map[string]*expanding {
	if all, ok := x.packages[dir]; ok {
		return all
	}
	all := map[string]*expanding{}
	x.packages[dir] = all
	entries, err := files.Project(filepath.Join(x.opts.Dir, "x")).ReadDir(dir)
	if err != nil {
		return all
	}
	for _, e := range entries {
		name := e.Name()
		if path.Ext(name) != ".go" || strings.HasPrefix(name, "_") || strings.HasPrefix(name, ".") || strings.HasSuffix(name, "_test.go") && !x.opts.Tests {
			continue
		}
		file := x.open(filepath.Join(dir, name), "")
		if file == nil || ignored(file.syntax) {
			continue
		}
		for _, d := range file.syntax.Decls {
			if d, ok := d.(*ast.GenDecl); ok {
				for _, s := range d.Specs {
					if s, ok := s.(*ast.TypeSpec); ok && all[s.Name.Name] == nil {
						all[s.Name.Name] = &expanding{spec: s, file: file, dir: dir}
					}
				}
			}
		}
	}
	return all
}

func ignored(f *ast.File) bool {
	for _, g := range f.Comments {
		for _, c := range g.List {
			if c.Pos() < f.Package && constraint.IsGoBuild(c.Text) && strings.TrimSpace(strings.TrimPrefix(c.Text, "//go:build")) == "ignore" {
				return true
			}
		}
	}
	return false
}

// named is the number of fields of a declared type, whose type parameters have those of args.
func (x *expander) named(e *expanding, args []int) int {
	if e.fields != 0 && len(args) == 0 {
		return max(e.fields, 1)
	}
	if e.fields == -1 {
		return 1
	}
	was := e.fields
	e.fields = -1
	params := map[string]int{}
	if list := e.spec.TypeParams; list != nil {
		for _, field := range list.List {
			for _, id := range field.Names {
				n := 1
				if len(params) < len(args) {
					n = args[len(params)]
				}
				params[id.Name] = n
			}
		}
	}
	n := x.count(e.spec.Type, e, params)
	if e.fields = was; len(args) == 0 {
		e.fields = n
	}
	return n
}

// count is the number of fields of a type as e's file writes it; at most one more than are allowed.
func (x *expander) count(t ast.Expr, e *expanding, params map[string]int) int {
	switch t := t.(type) {
	case *ast.ParenExpr:
		return x.count(t.X, e, params)
	case *ast.ArrayType:
		if t.Len != nil {
			return x.count(t.Elt, e, params)
		}
	case *ast.StructType:
		n := 0
		for _, f := range t.Fields.List {
			n = min(n+max(len(f.Names), 1)*x.count(f.Type, e, params), maxGoFields+1)
		}
		return max(n, 1)
	case *ast.Ident:
		if n, ok := params[t.Name]; ok {
			return n
		}
		if of := x.types(e.dir)[t.Name]; of != nil {
			return x.named(of, nil)
		}
	case *ast.SelectorExpr:
		if of := x.imported(t, e.file); of != nil {
			return x.named(of, nil)
		}
	case *ast.IndexExpr:
		return x.generic(t.X, []ast.Expr{t.Index}, e, params)
	case *ast.IndexListExpr:
		return x.generic(t.X, t.Indices, e, params)
	}
	return 1
}

func (x *expander) generic(t ast.Expr, args []ast.Expr, e *expanding, params map[string]int) int {
	var of *expanding
	switch t := t.(type) {
	case *ast.Ident:
		of = x.types(e.dir)[t.Name]
	case *ast.SelectorExpr:
		of = x.imported(t, e.file)
	}
	if of == nil {
		return 1
	}
	if x.generics++; x.generics > maxGoFields { // each use is counted anew
		return maxGoFields + 1
	}
	counts := make([]int, len(args))
	for i, a := range args {
		counts[i] = x.count(a, e, params)
	}
	return x.named(of, counts)
}

// imported is a type of another package of the project; nil for others.
func (x *expander) imported(t *ast.SelectorExpr, file *goFile) *expanding {
	id, ok := t.X.(*ast.Ident)
	if !ok {
		return nil
	}
	for _, spec := range file.syntax.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		dir := x.folder(p)
		if dir == "" || spec.Name != nil && spec.Name.Name != id.Name {
			continue
		}
		all := x.types(dir)
		if of := all[t.Sel.Name]; of != nil && (spec.Name != nil || of.file.syntax.Name.Name == id.Name) {
			return of
		}
	}
	return nil
}
