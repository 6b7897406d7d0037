package bind

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/flowgen-dev/flowgen/ir/source"
)

// goFiles are the Go files that declare what the workflow names. Export data has neither comments nor columns, so the
// one file of a declaration is parsed, and nothing else.
type goFiles struct {
	*loader
	prefix string // folder of the workflow file, as the user typed it
	files  map[string]*goFile
}

// A goFile is one parsed Go file; errors in it are tolerated.
type goFile struct {
	text   *source.File
	name   string // relative to the workflow's folder where it can be
	fset   *token.FileSet
	syntax *ast.File
}

func newGoFiles(l *loader, prefix string) *goFiles {
	return &goFiles{loader: l, prefix: prefix, files: map[string]*goFile{}}
}

// open parses a file of a package; nil when it cannot be read.
func (g *goFiles) open(name, pkgPath string) *goFile {
	if f, ok := g.files[name]; ok {
		return f
	}
	g.files[name] = nil
	text, err := g.read(name)
	if err != nil {
		return nil
	}
	fset := token.NewFileSet()
	syntax, _ := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if syntax == nil {
		return nil
	}
	shown, typed := g.display(name, pkgPath)
	f := &goFile{text: source.NewFile(typed, string(text)), name: shown, fset: fset, syntax: syntax}
	g.files[name] = f
	return f
}

// display is the name of a file relative to the workflow's folder, and as the user would type it. Files outside of the
// module are named by their import path: where they are differs from machine to machine.
func (g *goFiles) display(name, pkgPath string) (shown, typed string) {
	if g.root != "" {
		if in, err := filepath.Rel(g.root, name); err == nil && in != ".." && !strings.HasPrefix(in, ".."+string(filepath.Separator)) {
			if rel, err := filepath.Rel(g.opts.Dir, name); err == nil {
				rel = filepath.ToSlash(rel)
				return rel, path.Join(g.prefix, rel)
			}
		}
	}
	p := pkgPath + "/" + filepath.Base(name)
	return p, p
}

// declaring is the file that declares obj, whose place fset knows; nil when it cannot be found or read.
func (g *goFiles) declaring(obj types.Object, fset *token.FileSet) *goFile {
	if obj == nil || obj.Pkg() == nil || fset == nil || !obj.Pos().IsValid() {
		return nil
	}
	name := fset.Position(obj.Pos()).Filename
	if name == "" {
		return nil
	}
	// Export data of the standard library says $GOROOT; with -trimpath other files have no folder either.
	if p := g.byPath(obj.Pkg().Path()); p != nil && p.Dir != "" && !filepath.IsAbs(name) {
		name = filepath.Join(p.Dir, filepath.Base(name))
	}
	if !filepath.IsAbs(name) {
		return nil
	}
	return g.open(name, obj.Pkg().Path())
}

func (l *loader) byPath(p string) *packages.Package {
	for _, pattern := range sortedKeys(l.byPattern) {
		if pkg := l.byPattern[pattern]; pkg != nil && pkg.PkgPath == p && pkg.Types != nil && pkg.Name != "" {
			return pkg
		}
	}
	return nil
}

// span is the name or whatever token is at a line and a column in bytes, both from 1.
func (f *goFile) span(line, col int) source.Span {
	lo := f.text.Offset(line, 1)
	lo = min(lo+max(col, 1)-1, lo+len(f.text.Line(line)))
	hi := lo
	for hi < len(f.text.Text) && isNameByte(f.text.Text[hi]) {
		hi++
	}
	if hi == lo && hi < len(f.text.Text) && f.text.Text[hi] != '\n' && f.text.Text[hi] != '\r' {
		hi++
	}
	return source.Span{File: f.text, Lo: lo, Hi: hi}
}

func isNameByte(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 0x80
}

func (f *goFile) ident(id *ast.Ident) source.Span {
	lo := f.fset.PositionFor(id.Pos(), false).Offset
	return source.Span{File: f.text, Lo: lo, Hi: min(lo+len(id.Name), len(f.text.Text))}
}

// pos is "file:line:col" of a span, the column in characters.
func (f *goFile) pos(s source.Span) string {
	p := s.Start()
	return f.name + ":" + strconv.Itoa(p.Line) + ":" + strconv.Itoa(p.Col)
}

// function finds the declaration of a package-level function.
func (f *goFile) function(name string) *ast.FuncDecl {
	if f == nil {
		return nil
	}
	for _, d := range f.syntax.Decls {
		if d, ok := d.(*ast.FuncDecl); ok && d.Recv == nil && d.Name.Name == name {
			return d
		}
	}
	return nil
}

// typ finds the declaration of a package-level type.
func (f *goFile) typ(name string) *ast.TypeSpec {
	if f == nil {
		return nil
	}
	for _, d := range f.syntax.Decls {
		if d, ok := d.(*ast.GenDecl); ok && d.Tok == token.TYPE {
			for _, s := range d.Specs {
				if s, ok := s.(*ast.TypeSpec); ok && s.Name.Name == name {
					return s
				}
			}
		}
	}
	return nil
}

// field finds a field of a struct type by its Go name.
func (f *goFile) field(typeName, name string) (field *ast.Field, id *ast.Ident) {
	spec := f.typ(typeName)
	if spec == nil {
		return nil, nil
	}
	st, ok := spec.Type.(*ast.StructType)
	if !ok {
		return nil, nil
	}
	for _, field := range st.Fields.List {
		for _, id := range field.Names {
			if id.Name == name {
				return field, id
			}
		}
		if id := embeddedName(field); id != nil && id.Name == name {
			return field, id
		}
	}
	return nil, nil
}

// embeddedName is the identifier that names an embedded field; nil when the field is not embedded.
func embeddedName(field *ast.Field) *ast.Ident {
	if len(field.Names) > 0 {
		return nil
	}
	for e := field.Type; ; {
		switch t := e.(type) {
		case *ast.Ident:
			return t
		case *ast.StarExpr:
			e = t.X
		case *ast.IndexExpr:
			e = t.X
		case *ast.IndexListExpr:
			e = t.X
		case *ast.SelectorExpr:
			return t.Sel
		default:
			return nil
		}
	}
}

// generatedMark begins the Go files that flowgen generates.
const generatedMark = "// Code generated by flowgen"

// writtenByFlowgen reports whether the file is one that flowgen generates.
func (f *goFile) writtenByFlowgen() bool {
	return f != nil && strings.HasPrefix(f.text.Text, generatedMark)
}

// describe is the first paragraph of a doc comment on one line, without the name it starts with by Go's custom.
func describe(name string, comments ...*ast.CommentGroup) string {
	for _, c := range comments {
		text := strings.TrimSpace(c.Text())
		if text == "" {
			continue
		}
		text, _, _ = strings.Cut(text, "\n\n")
		text = strings.Join(strings.Fields(text), " ")
		if rest, ok := strings.CutPrefix(text, name+" "); ok {
			text = rest
			for _, verb := range []string{"is ", "are "} {
				text = strings.TrimPrefix(text, verb)
			}
		}
		return text
	}
	return ""
}
