package codegen

import (
	"go/ast"
	"go/constant"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"strconv"
	"strings"
	"testing"

	"github.com/dave/jennifer/jen"
	"pgregory.net/rapid"
)

func TestQuote(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"", `""`},
		{"a\"b", `"a\"b"`},
		{"line\n", `"line\n"`},
		{"two\nlines", `"two\nlines"`},
		{"three\n\nlines\nhere", "`three\n\nlines\nhere`"},
		{"three\nlines\nhere\n", "`three\nlines\nhere\n`"},
		{"tick `\nline\n\nline", "\"tick `\\n\" +\n\t\"line\\n\" +\n\t\"\\n\" +\n\t\"line\""},
		{"cr\r\nline\nline\n", "\"cr\\r\\n\" +\n\t\"line\\n\" +\n\t\"line\\n\""},
		{"nul\x00\nline\nline", "\"nul\\x00\\n\" +\n\t\"line\\n\" +\n\t\"line\""},
		{"bad\xff\nline\nline", "\"bad\\xff\\n\" +\n\t\"line\\n\" +\n\t\"line\""},
		{"rtl\u202e\nline\nline", "\"rtl\\u202e\\n\" +\n\t\"line\\n\" +\n\t\"line\""},
		{"first\n//go:generate x\nlast\n", "\"first\\n\" +\n\t\"//go:generate x\\n\" +\n\t\"last\\n\""},
		{"a ``\nb" + strings.Repeat("\nc", quoteMaxLines), strconv.Quote("a ``\nb" + strings.Repeat("\nc", quoteMaxLines))},
		{"# a\n# b\n# c\n#", "\"# a\\n\" +\n\t\"# b\\n\" +\n\t\"# c\\n\" +\n\t\"#\""},
		{"é\n日\n本", "`é\n日\n本`"},
		{"replaced \ufffd\nline\nline", "`replaced \ufffd\nline\nline`"},
	} {
		if got := jen.Add(quote(tt.in)).GoString(); got != tt.want {
			t.Errorf("%q: got %s, want %s", tt.in, got, tt.want)
		}
	}
}

// TestQuoteMeans: a line that means something to programs that read Go files line by line is in no raw string, whatever
// blanks are in front of it and wherever in the text it stands.
func TestQuoteMeans(t *testing.T) {
	for _, line := range []string{
		"//go:generate touch x", "//go:generate\ttouch x", "//go:build ignore", "// +build ignore", "//line x.go:1", "/*line x.go:1*/", "//export F", "//nolint", "// x", "/* x",
		"#cgo LDFLAGS: -x", "#include <x.h>", "#!/bin/sh", "-- x.go --", "<<<<<<< HEAD", "|||||||", "=======", ">>>>>>> main",
		"vim: set x:", "see vi:x", "a\tvim700: x", "Vim>800:x", "# ex: x", "x -*- mode: x -*-", "-*-*-", "// kate: x y;", "Local Variables:",
	} {
		for _, text := range []string{line + "\na\nb", "a\n" + line + "\nb", "a\nb\n" + line, "a\nb\n \t" + line + " \nc\n"} {
			if got := jen.Add(quote(text)).GoString(); strings.Contains(got, "`") {
				t.Errorf("%q: got %s", text, got)
			}
			if got := jen.Add(quoteOne(text)).GoString(); strings.Contains(got, "`") {
				t.Errorf("%q: got %s", text, got)
			}
		}
	}
	for _, line := range []string{"# Heading", "## Heading", "#", "a // b", "https://x", "/path", "- x --", "--", "---", "<<<", "====", "> quote", "| a | b |", "* x", "index: x", "movi:", "e.g. ex :", "- *-", "local variables", "Kate: hello"} {
		if got := jen.Add(quote("a\n" + line + "\nb\n")).GoString(); got != "`a\n"+line+"\nb\n`" {
			t.Errorf("%q: got %s", line, got)
		}
	}
}

// TestQuoteProperty: the expression is a constant that is exactly the text, in a file whose lines mean nothing.
func TestQuoteProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
			rapid.StringMatching("[a`\"\\\\\n\r\t{} \uFFFD\u2028*/]*"),
			rapid.StringMatching("(//go:generate x|//|/\\*|#|#cgo|--| x --|=======|vim: x|vi:|ex: x|-[*]-|[*]-|kate: x|Local Variables:|\n|\n|\r|\t| |a|`|\uFEFF|\u2028)*")).Draw(t, "s")
		file := jen.NewFile("p")
		file.Const().Id("s").Op("=").Add(quote(s))
		file.Const().Id("one").Op("=").Add(quoteOne(s))
		var b strings.Builder
		if err := file.Render(&b); err != nil {
			t.Fatal(err)
		}
		fset := token.NewFileSet()
		tree, err := parser.ParseFile(fset, "p.go", b.String(), parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := tree.Decls[1].(*ast.GenDecl).Specs[0].(*ast.ValueSpec).Values[0].(*ast.BasicLit); !ok || len(tree.Decls) != 2 {
			t.Fatal("not a literal")
		}
		pkg, err := new(types.Config).Check("p", fset, []*ast.File{tree}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"s", "one"} {
			if got := constant.StringVal(pkg.Scope().Lookup(name).(*types.Const).Val()); got != s {
				t.Fatalf("%q became %q", s, got)
			}
		}
		for line := range strings.Lines(b.String()) {
			if quoteMeans(line) {
				t.Fatalf("%q: line %q", s, line)
			}
		}
	})
}

func TestComment(t *testing.T) {
	long := strings.Repeat("word ", 50)
	for _, tt := range []struct{ in, want string }{
		{"", "//"},
		{"one", "// one"},
		{"one\ntwo\r\nthree\u2028four", "// one\n// two\n// three\n// four"},
		{"end */ of", "// end */ of"},
		{"go:build ignore", "// 'go:build ignore"},
		{"+build ignore", "// '+build ignore"},
		{"a\nnolint:all\n#nosec\nlint:ignore SA1 x", "// a\n// 'nolint:all\n// '#nosec\n// 'lint:ignore SA1 x"},
		{"//go:embed x\n// nolint", "// '//go:embed x\n// '// nolint"},
		{"https://x: a\n# Heading", "// https://x: a\n// # Heading"},
		{"a\x00b\u202ec", "// a b c"},
		{"vim: set x:\na ex: x -*-*-\nskate: x kate: y\n/* Local Variables: */", "// vim : set x:\n// a ex : x - *- *-\n// skate: x kate : y\n// /* Local Variables : */"},
		{long, "// " + strings.TrimSpace(strings.Repeat("word ", 22)) + "\n// " + strings.TrimSpace(strings.Repeat("word ", 22)) + "\n// word word word word word word"},
	} {
		if got := jen.Add(comment(tt.in)).GoString(); got != tt.want {
			t.Errorf("%q: got %s, want %s", tt.in, got, tt.want)
		}
	}
}

// TestCommentProperty: nothing but comments is added, none of them a directive, and gofmt changes nothing.
func TestCommentProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.StringMatching("(go:build |line |[+]build |export |\n|\r|\\*/|/\\*|//|[#] |-|[a-z ]|vim: |vi:|ex:|-[*]|Local Variables:|\u2028|\t)*")).Draw(t, "s")
		file := jen.NewFile("p")
		file.Add(comment(s))
		file.Var().Id("s").Op("=").Lit(1)
		var b strings.Builder
		if err := file.Render(&b); err != nil {
			t.Fatal(err)
		}
		tree, err := parser.ParseFile(token.NewFileSet(), "p.go", b.String(), parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if len(tree.Decls) != 1 {
			t.Fatalf("%q: %s", s, b.String())
		}
		for _, g := range tree.Comments {
			for _, c := range g.List {
				if c.Text != "//" && !strings.HasPrefix(c.Text, "// ") && !strings.HasPrefix(c.Text, "//\t") {
					t.Fatalf("%q: comment %q", s, c.Text)
				}
				if strings.HasPrefix(c.Text, "// +build") || hasMode(c.Text) {
					t.Fatalf("%q: directive %q", s, c.Text)
				}
			}
		}
		again, err := format.Source([]byte(b.String()))
		if err != nil || string(again) != b.String() {
			t.Fatalf("%q: gofmt changes %q to %q, %v", s, b.String(), again, err)
		}
	})
}

func TestQuoteOne(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{`{"a":"b\n"}`, "`{\"a\":\"b\\n\"}`"},
		{"{\"a\":\"`\"}", `"{\"a\":\"` + "`" + `\"}"`},
		{"{\"a\":\"\u202e\"}", `"{\"a\":\"\u202e\"}"`},
	} {
		if got := jen.Add(quoteOne(tt.in)).GoString(); got != tt.want {
			t.Errorf("%q: got %s, want %s", tt.in, got, tt.want)
		}
	}
}
