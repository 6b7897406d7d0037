package bind

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/flowgen-dev/flowgen/internal/files"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// maxCode bounds the source that one function's hash reads.
const maxCode = 32 << 20

// codeOf is the hash of the code of a function: of all declarations of its module that it can reach by name. Comments,
// layout, positions, names of files and what flowgen has generated do not count. The code of a module that the go.mod
// requires is its version; that of the standard library and of flowgen's runtime is "", since they are part of the toolchain.
func (r *resolver) codeOf(pkg *packages.Package, function string) string {
	m := pkg.Module
	if m == nil || r.opts.Later || m.Path == schema.RuntimePath || strings.HasPrefix(m.Path, schema.RuntimePath+"/") {
		return ""
	}
	dir := m.Dir
	switch {
	case m.Replace != nil && m.Replace.Version != "":
		return m.Replace.Path + "@" + m.Replace.Version
	case m.Replace == nil && m.Version != "":
		return m.Path + "@" + m.Version
	case dir == "":
		return ""
	}
	if sum, ok := r.opts.Cache.code(dir, pkg.PkgPath, function); ok {
		return sum
	}
	w := &codeWalk{loader: r.loader, module: m.Path, dir: dir, packages: map[string]*codePackage{}, seen: map[ast.Decl]bool{}}
	w.name(w.open(pkg.PkgPath), function)
	sum := w.sum()
	r.opts.Cache.keepCode(dir, pkg.PkgPath, function, sum)
	return sum
}

// A codeWalk collects what a function can reach. It takes more than the compiler would: every declaration of a package that has
// a name which is in the code, with all methods of its types.
type codeWalk struct {
	*loader
	module, dir string
	packages    map[string]*codePackage // by import path; nil: none of the module
	seen        map[ast.Decl]bool
	texts       []string
	read        int
}

type codePackage struct {
	path, name string
	named      map[string][]codeDecl // package-level names, and the methods of types
	always     []codeDecl            // init functions, and variables without a name
	blank      []string              // imports for their effects
	begun      bool
}

type codeDecl struct {
	ast.Decl
	file *codeFile
}

type codeFile struct {
	text    []byte
	fset    *token.FileSet
	imports []codeImport
}

type codeImport struct{ name, path string } // name is "" for the package's own

// open parses a package of the module; nil for others.
func (w *codeWalk) open(importPath string) *codePackage {
	if p, ok := w.packages[importPath]; ok {
		return p
	}
	w.packages[importPath] = nil
	rel, ok := strings.CutPrefix(importPath, w.module)
	if !ok || rel != "" && rel[0] != '/' {
		return nil
	}
	dir := w.dir
	for _, part := range strings.FieldsFunc(rel, func(r rune) bool { return r == '/' }) {
		dir = filepath.Join(dir, part)
		if files.Exists(filepath.Join(dir, "go.mod")) { // another module
			return nil
		}
	}
	p := &codePackage{path: importPath, named: map[string][]codeDecl{}}
	for _, name := range w.goFiles(dir) {
		text, err := w.loader.read(name)
		if err != nil || w.read+len(text) > maxCode {
			continue
		}
		w.read += len(text)
		p.add(text)
	}
	w.packages[importPath] = p
	return p
}

// goFiles are the Go files of a package that are not tests, for whatever platform.
func (w *codeWalk) goFiles(dir string) (names []string) {
	roots := files.Project(filepath.Join(w.opts.Dir, "x"))
	if !roots.Hold(dir) {
		roots = w.loader.packages()
	}
	list, _ := roots.ReadDir(dir) // without them the go command has said what is wrong
	for _, e := range list {
		names = append(names, filepath.Join(dir, e.Name()))
	}
	for name := range w.opts.Overlay {
		if filepath.Dir(name) == dir {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool {
		base := filepath.Base(name)
		return !strings.HasSuffix(base, ".go") || strings.HasSuffix(base, "_test.go") || base[0] == '_' || base[0] == '.'
	})
}

// add enters the declarations of a file.
func (p *codePackage) add(text []byte) {
	if strings.HasPrefix(string(text), generatedMark) {
		return
	}
	fset := token.NewFileSet()
	syntax, _ := parser.ParseFile(fset, "", text, parser.ParseComments|parser.SkipObjectResolution)
	if syntax == nil || syntax.Name == nil {
		return
	}
	p.name = syntax.Name.Name
	f := &codeFile{text: text, fset: fset}
	for _, i := range syntax.Imports {
		x := codeImport{path: strings.Trim(i.Path.Value, "\"`")}
		if i.Name != nil {
			x.name = i.Name.Name
		}
		if x.name == "_" {
			p.blank = append(p.blank, x.path)
		}
		f.imports = append(f.imports, x)
	}
	for _, d := range syntax.Decls {
		of := codeDecl{d, f}
		enter := func(id *ast.Ident) {
			if id.Name == "_" || id.Name == "init" {
				p.always = append(p.always, of)
			} else {
				p.named[id.Name] = append(p.named[id.Name], of)
			}
		}
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				enter(d.Name)
			} else if id := receiver(d); id != nil {
				enter(id)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					enter(s.Name)
				case *ast.ValueSpec:
					for _, id := range s.Names {
						enter(id)
					}
				}
			}
		}
	}
}

// receiver is the type that a method belongs to.
func receiver(d *ast.FuncDecl) *ast.Ident {
	if len(d.Recv.List) == 0 {
		return nil
	}
	for e := d.Recv.List[0].Type; ; {
		switch t := e.(type) {
		case *ast.Ident:
			return t
		case *ast.StarExpr:
			e = t.X
		case *ast.ParenExpr:
			e = t.X
		case *ast.IndexExpr:
			e = t.X
		case *ast.IndexListExpr:
			e = t.X
		default:
			return nil
		}
	}
}

// name takes all that a package declares by a name.
func (w *codeWalk) name(p *codePackage, name string) {
	if p == nil || len(p.named[name]) == 0 {
		return
	}
	w.begin(p)
	w.decls(p, p.named[name])
}

// begin takes what runs when a package is loaded.
func (w *codeWalk) begin(p *codePackage) {
	if p == nil || p.begun {
		return
	}
	p.begun = true
	w.decls(p, p.always)
	for _, path := range p.blank {
		w.begin(w.open(path))
	}
}

func (w *codeWalk) decls(p *codePackage, decls []codeDecl) {
	for _, d := range decls {
		if w.seen[d.Decl] {
			continue
		}
		w.seen[d.Decl] = true
		w.texts = append(w.texts, p.path+"\n"+d.tokens())
		ast.Inspect(d.Decl, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok {
					w.imported(d.file, x.Name, n.Sel.Name)
				}
			case *ast.Ident:
				w.name(p, n.Name)
				w.imported(d.file, ".", n.Name)
			}
			return true
		})
	}
}

// imported takes a name of the package that a file has imported as as; "." for those whose names it has without one.
func (w *codeWalk) imported(f *codeFile, as, name string) {
	for _, i := range f.imports {
		if i.name != "" && i.name != as || i.name == "" && as == "." {
			continue
		}
		if p := w.open(i.path); p != nil && (i.name == as || p.name == as) {
			w.name(p, name)
		}
	}
}

// tokens is the text of a declaration without comments and layout, but for directives such as go:embed.
func (d codeDecl) tokens() string {
	var b strings.Builder
	if g, ok := d.Decl.(*ast.GenDecl); ok && g.Doc != nil {
		for _, c := range g.Doc.List {
			if strings.HasPrefix(c.Text, "//go:") {
				b.WriteString(c.Text + "\n")
			}
		}
	}
	lo, hi := d.file.fset.PositionFor(d.Pos(), false).Offset, d.file.fset.PositionFor(d.End(), false).Offset
	text := d.file.text[lo:min(hi, len(d.file.text))]
	var s scanner.Scanner
	fset := token.NewFileSet()
	s.Init(fset.AddFile("", -1, len(text)), text, nil, 0)
	parted := "" // a separator, which counts unless a bracket closes: that depends on the layout
	for {
		_, tok, lit := s.Scan()
		switch tok {
		case token.EOF:
			return b.String()
		case token.SEMICOLON, token.COMMA:
			parted = tok.String()
			continue
		case token.RPAREN, token.RBRACE, token.RBRACK:
			parted = ""
		}
		b.WriteString(parted + " " + cmp.Or(lit, tok.String()))
		parted = ""
	}
}

// sum is the hash of what was taken, in no order of files.
func (w *codeWalk) sum() string {
	if len(w.texts) == 0 { // its source cannot be read
		return ""
	}
	slices.Sort(w.texts)
	h := sha256.New()
	for _, t := range w.texts {
		_, _ = h.Write([]byte(t + "\x00"))
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
