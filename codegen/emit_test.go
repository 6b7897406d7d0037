package codegen

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// dangerous are the functions and methods of jennifer that write text as it is. The value says what has to be in front
// of their arguments: the functions that let nothing else through.
var dangerous = map[string][]string{
	"Id": {"ident"}, "Dot": {"ident"}, "Op": {"operator", "numeral", "expression"}, "Qual": {"importPath", "ident"},
	"ImportName": {"importPath", "ident"}, "ImportAlias": {"importPath", "ident"}, "NewFile": {"ident"}, "NewFilePath": {"importPath"},
	"NewFilePathName": {"importPath", "ident"}, "Anon": {"importPath"},
	"Comment": {"plainComment"}, "HeaderComment": {"plainComment", "ident"}, "PackageComment": {"plainComment", "ident"},
	"Commentf": {}, "CgoPreamble": {}, "Tag": {}, "ImportNames": {}, "PackagePrefix": {},
	"Lit": {}, "Options": {},
}

// wrappers are the files in which text is made harmless.
var wrappers = []string{"emit.go", "quote.go", "comments.go", "embed.go"}

// TestWrapped reads this package: whatever text reaches jennifer is a constant, or comes out of one of the functions that
// make it harmless.
func TestWrapped(t *testing.T) {
	found, looked := unwrapped(t, nil)
	for _, f := range found {
		t.Error(f)
	}
	t.Logf("%d calls that write text", looked)
	if looked < 400 {
		t.Error("the test does not see the calls")
	}
}

// TestWrappedSees: the test above finds what it looks for.
func TestWrappedSees(t *testing.T) {
	file, err := filepath.Abs("seen.go")
	if err != nil {
		t.Fatal(err)
	}
	text := `package codegen

import "github.com/dave/jennifer/jen"

func seen(name string) {
	jen.Id(name)
	jen.Id("a" + name)
	jen.Var().Id(name)
	jen.Op(name)
	jen.Op(ident(name))
	jen.Qual(name, "X")
	jen.Qual("x", name)
	jen.Comment(name)
	jen.Comment(plainComment(name))
	jen.Comment("// " + name)
	jen.Commentf("%s", name)
	jen.Lit(name)
	jen.Tag(map[string]string{"json": name})
	raw := jen.Id
	raw(name)
	jen.Custom(jen.Options{Open: name})

	jen.Id("a").Op("+").Id(ident(name)).Dot(ident(name))
	jen.Op(operator(name)).Lit(3).Lit(len(name))
	jen.Comment("a " + plainComment(name) + ".")
	jen.Qual(importPath(name), ident(name)).Custom(jen.Options{Open: "("})
}
`
	found, _ := unwrapped(t, map[string][]byte{file: []byte(text)})
	if len(found) != 15 {
		t.Errorf("%d found:\n%s", len(found), strings.Join(found, "\n"))
	}
}

// unwrapped lists the calls that may write text as it is.
func unwrapped(t *testing.T, overlay map[string][]byte) (found []string, looked int) {
	t.Helper()
	pkgs, err := packages.Load(&packages.Config{
		Mode:    packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedSyntax,
		Overlay: overlay,
	}, ".")
	if err != nil || len(pkgs) != 1 || len(pkgs[0].Errors) > 0 {
		t.Fatal(err, pkgs)
	}
	r := &reader{p: pkgs[0]}
	for _, f := range r.p.Syntax {
		if !slices.Contains(wrappers, filepath.Base(r.p.Fset.Position(f.Pos()).Filename)) {
			ast.Inspect(f, r.visit)
		}
	}
	return r.found, r.looked
}

type reader struct {
	p      *packages.Package
	called map[*ast.Ident]bool
	found  []string
	looked int
}

func (r *reader) report(n ast.Node, format string, args ...any) {
	at := r.p.Fset.Position(n.Pos())
	r.found = append(r.found, fmt.Sprintf("%s:%d: ", filepath.Base(at.Filename), at.Line)+fmt.Sprintf(format, args...))
}

func (r *reader) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		if sel, ok := n.Fun.(*ast.SelectorExpr); ok && r.jennifers(sel.Sel) {
			if r.called == nil {
				r.called = map[*ast.Ident]bool{}
			}
			r.called[sel.Sel] = true
			r.call(n, sel.Sel.Name)
		}
	case *ast.Ident:
		if r.jennifers(n) && !r.called[n] {
			r.report(n, "%s is not called here, but handed on", n.Name)
		}
	case *ast.CompositeLit:
		if named, ok := r.p.TypesInfo.TypeOf(n).(*types.Named); ok && named.Obj().Name() == "Options" && named.Obj().Pkg().Path() == jennifer {
			for _, e := range n.Elts {
				r.text(n, "Options", e.(*ast.KeyValueExpr).Value)
			}
		}
	}
	return true
}

const jennifer = "github.com/dave/jennifer/jen"

// jennifers reports whether a name is one of the dangerous functions.
func (r *reader) jennifers(id *ast.Ident) bool {
	fn, ok := r.p.TypesInfo.Uses[id].(*types.Func)
	_, is := dangerous[id.Name]
	return ok && is && fn.Pkg() != nil && fn.Pkg().Path() == jennifer
}

func (r *reader) call(call *ast.CallExpr, name string) {
	r.looked++
	if name == "Tag" {
		r.report(call, "Tag writes what it is given")
		return
	}
	for _, arg := range call.Args {
		r.text(call, name, arg)
	}
}

// text judges one argument.
func (r *reader) text(at ast.Node, name string, arg ast.Expr) {
	basic, ok := r.p.TypesInfo.TypeOf(arg).Underlying().(*types.Basic)
	if ok && basic.Info()&types.IsString == 0 || r.harmless(arg, dangerous[name]) {
		return
	}
	if joined, ok := arg.(*ast.BinaryExpr); ok && strings.HasSuffix(name, "Comment") && r.harmlessJoin(joined, dangerous[name]) {
		return
	}
	if strings.HasSuffix(name, "Comment") && r.p.TypesInfo.Types[arg].Value != nil {
		return
	}
	r.report(at, "%s of text that is neither a constant nor out of %v", name, dangerous[name])
}

// harmless is a constant, or a call of one of the functions; a whole comment never is, for it can begin with slashes.
func (r *reader) harmless(e ast.Expr, by []string) bool {
	if r.p.TypesInfo.Types[e].Value != nil {
		return true
	}
	call, ok := e.(*ast.CallExpr)
	if !ok || slices.Contains(by, "plainComment") {
		return false
	}
	id, ok := call.Fun.(*ast.Ident)
	return ok && slices.Contains(by, id.Name)
}

// harmlessJoin is text that begins with a constant and goes on with harmless pieces.
func (r *reader) harmlessJoin(e *ast.BinaryExpr, by []string) bool {
	piece := func(e ast.Expr) bool {
		call, ok := e.(*ast.CallExpr)
		if !ok {
			return r.p.TypesInfo.Types[e].Value != nil
		}
		id, ok := call.Fun.(*ast.Ident)
		return ok && slices.Contains(append([]string{"ident"}, by...), id.Name)
	}
	if e.Op != token.ADD || !piece(e.Y) {
		return false
	}
	if left, ok := e.X.(*ast.BinaryExpr); ok {
		return r.harmlessJoin(left, by)
	}
	return r.p.TypesInfo.Types[e.X].Value != nil
}

// TestRefused: what is not a name, operator, number or path is not written.
func TestRefused(t *testing.T) {
	for name, f := range map[string]func(){
		"ident empty": func() { ident("") }, "ident line": func() { ident("a\nb") }, "ident keyword": func() { ident("func") }, "ident dot": func() { ident("a.b") },
		"operator": func() { operator("+ 1") }, "operator comment": func() { operator("//") },
		"numeral": func() { numeral("1; x") }, "numeral inf": func() { numeral("Inf") }, "numeral hex": func() { numeral("0x1") }, "numeral empty": func() { numeral("") },
		"expression": func() { expression("a; b") }, "expression comment": func() { expression("a // \n b") },
		"path C": func() { importPath("C") }, "path unsafe": func() { importPath("unsafe") }, "path quote": func() { importPath("a\"b") }, "path line": func() { importPath("a\nb") },
	} {
		t.Run(name, func(t *testing.T) {
			err := func() (err error) {
				defer recovered(&err)
				f()
				return nil
			}()
			if err == nil || !strings.Contains(err.Error(), "cannot write") {
				t.Errorf("not refused: %v", err)
			}
		})
	}
	if ident("fetchURL")+operator("&&")+numeral("-1.5e+30")+expression("a.B[0]")+importPath("gopkg.in/yaml.v3")+importPath("") == "" {
		t.Error("harmless text is refused")
	}
}
