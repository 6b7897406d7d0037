package golden_test

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/tools/go/packages"

	"github.com/flowgen-dev/flowgen/codegen"
)

// loaded type-checks the generated code of all good cases in one go.
func loaded(t *testing.T) map[*testcase]*packages.Package {
	t.Helper()
	overlay := map[string][]byte{}
	byPath := map[string]*testcase{}
	var patterns []string
	for _, c := range corpus(t) {
		if c.code == "" {
			continue
		}
		for name, text := range c.made() {
			overlay[name] = text
		}
		fakes, err := codegen.Fakes(c.program, c.options())
		if err != nil {
			t.Errorf("%s: fakes: %v", c.name, err)
		}
		overlay[c.virtual(strings.TrimSuffix(c.output(), ".go")+"_fakes.go")] = fakes
		byPath[c.path()] = c
		patterns = append(patterns, c.path())
	}
	pkgs, err := packages.Load(&packages.Config{
		Mode:    packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedSyntax,
		Overlay: overlay,
	}, patterns...)
	if err != nil {
		t.Fatal(err)
	}
	out := map[*testcase]*packages.Package{}
	for _, p := range pkgs {
		if c := byPath[p.PkgPath]; c != nil {
			out[c] = p
		}
	}
	if len(out) != len(patterns) {
		t.Fatalf("the go command found %d of %d packages", len(out), len(patterns))
	}
	return out
}

// TestCode holds the generated code of every case to the rules: it compiles, and it is what a person would write.
func TestCode(t *testing.T) {
	lines, wide := 0, 0
	pkgs := loaded(t)
	for _, c := range corpus(t) {
		p := pkgs[c]
		if p == nil {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			for _, e := range p.Errors {
				t.Error(e)
			}
			for _, f := range p.Syntax {
				if strings.HasSuffix(p.Fset.Position(f.Pos()).Filename, c.output()) {
					(&codeRules{t: t, p: p}).file(f)
				}
			}
		})
		for line := range strings.Lines(c.code) {
			lines++
			if utf8.RuneCountInString(strings.ReplaceAll(line, "\t", "    ")) > 130 {
				wide++
			}
		}
	}
	t.Logf("%d lines of Go, %d of them over 130 columns", lines, wide)
	if wide*50 > lines {
		t.Errorf("%d of %d lines are over 130 columns", wide, lines)
	}
}

// codeRules are what no generated file may do (core.md, Runtime API): a body takes everything from its Run.
type codeRules struct {
	t *testing.T
	p *packages.Package
}

func (r *codeRules) errorf(n ast.Node, format string, args ...any) {
	r.t.Helper()
	pos := r.p.Fset.Position(n.Pos())
	r.t.Errorf("line %d: "+format, append([]any{pos.Line}, args...)...)
}

// clashing are the names of packages that a user's package may not have in a generated file.
var clashing = []string{"context", "base64", "slices", "regexp", "strconv", "strings", "time", "utf8", "runtime", "exectool", "bytes", "tool"}

func (r *codeRules) file(f *ast.File) {
	for _, spec := range f.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		if slices.Contains([]string{"os", "reflect", "math/rand", "math/rand/v2", "crypto/rand", "sync", "unsafe"}, path) {
			r.errorf(spec, "imports %s", path)
		}
		if spec.Name == nil || spec.Name.Name == "_" && slices.Contains([]string{"embed", "github.com/flowgen-dev/flowgen/runtime/pattern"}, path) {
			continue
		}
		name := r.p.Imports[path].Name
		if spec.Name.Name != "user"+name || !slices.Contains(clashing, name) && r.p.Types.Scope().Lookup(name) == nil {
			r.errorf(spec, "imports %s as %s", path, spec.Name.Name)
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if r.p.TypesInfo.Uses[n] == types.Universe.Lookup("any") {
				r.errorf(n, "any")
			}
		case *ast.InterfaceType: // but for that of a union, which has one method of its own
			if n.Methods.NumFields() != 1 || !strings.HasPrefix(n.Methods.List[0].Names[0].Name, "tagOf") {
				r.errorf(n, "an interface")
			}
		}
		return true
	})
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Name.Name != "New" && fn.Name.Name != "Run" {
			r.body(fn.Body)
		}
	}
}

// body is a workflow's function.
func (r *codeRules) body(b *ast.BlockStmt) {
	ast.Inspect(b, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt, *ast.SelectStmt, *ast.SendStmt, *ast.ChanType:
			r.errorf(n, "%T in a body", n)
		case *ast.DeferStmt: // the one that tells tests about the state, and the one that undoes a failed run
			if f, ok := n.Call.Fun.(*ast.SelectorExpr); !ok || f.Sel.Name != "EndState" && f.Sel.Name != "Undo" {
				r.errorf(n, "%T in a body", n)
			}
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				r.errorf(n, "a receive in a body")
			}
		case *ast.RangeStmt:
			if _, ok := r.p.TypesInfo.TypeOf(n.X).Underlying().(*types.Map); ok {
				r.errorf(n, "range over a map in a body")
			}
		case *ast.Ident:
			if obj := r.p.TypesInfo.Uses[n]; obj != nil {
				r.use(n, obj)
			}
		}
		return true
	})
}

var clock = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTicker", "NewTimer"}

func (r *codeRules) use(n *ast.Ident, obj types.Object) {
	if named, ok := obj.Type().(*types.Named); ok && named.Obj().Name() == "Context" && named.Obj().Pkg().Path() == "context" {
		r.errorf(n, "%s is a context in a body", n.Name)
	}
	if obj.Pkg() == nil || obj.Parent() != obj.Pkg().Scope() {
		return
	}
	switch path := obj.Pkg().Path(); {
	case path == "time" && slices.Contains(clock, obj.Name()), path == "context":
		r.errorf(n, "%s.%s in a body", path, obj.Name())
	}
}

var flowFunc = regexp.MustCompile(`(?m)^func (\(w \*Workflow\) Body|\w+Flow)\(`)

// TestBodies: the rules above look at something in every case.
func TestBodies(t *testing.T) {
	for _, c := range corpus(t) {
		if c.code != "" && !flowFunc.MatchString(c.code) {
			t.Errorf("%s: no body", c.name)
		}
	}
}
