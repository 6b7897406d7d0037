package codegen

import (
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
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
		{"tick `\nline\nline", "\"tick `\\nline\\nline\""},
		{"cr\r\nline\nline", `"cr\r\nline\nline"`},
		{"nul\x00\nline\nline", `"nul\x00\nline\nline"`},
		{"bad\xff\nline\nline", `"bad\xff\nline\nline"`},
		{"rtl\u202e\nline\nline", `"rtl\u202e\nline\nline"`},
		{"bom\ufeff\nline\nline", `"bom\ufeff\nline\nline"`},
		{"é\n日\n本", "`é\n日\n本`"},
		{"replaced \ufffd\nline\nline", "`replaced \ufffd\nline\nline`"},
	} {
		if got := jen.Add(quote(tt.in)).GoString(); got != tt.want {
			t.Errorf("%q: got %s, want %s", tt.in, got, tt.want)
		}
	}
}

// TestQuoteProperty: the literal is one Go string literal that holds exactly the text.
func TestQuoteProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
			rapid.StringMatching("[a`\"\\\\\n\r\t{} \uFFFD\u2028*/]*")).Draw(t, "s")
		file := jen.NewFile("p")
		file.Var().Id("s").Op("=").Add(quote(s))
		var b strings.Builder
		if err := file.Render(&b); err != nil {
			t.Fatal(err)
		}
		tree, err := parser.ParseFile(token.NewFileSet(), "p.go", b.String(), parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		lit, ok := tree.Decls[0].(*ast.GenDecl).Specs[0].(*ast.ValueSpec).Values[0].(*ast.BasicLit)
		if !ok {
			t.Fatal("not a literal")
		}
		if got, err := strconv.Unquote(lit.Value); err != nil || got != s {
			t.Fatalf("%q became %q, %v", s, got, err)
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
		{"go:build ignore", "// go:build ignore"},
		{"+build ignore", "// '+build ignore"},
		{"a\x00b\u202ec", "// a b c"},
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
		s := rapid.OneOf(rapid.String(), rapid.StringMatching("(go:build |line |[+]build |export |\n|\r|\\*/|/\\*|//|[#] |-|[a-z ]|\u2028|\t)*")).Draw(t, "s")
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
				if strings.HasPrefix(c.Text, "// +build") {
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

func TestQuoteJSON(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{`{"a":"b\n"}`, "`{\"a\":\"b\\n\"}`"},
		{"{\"a\":\"`\"}", `"{\"a\":\"` + "`" + `\"}"`},
		{"{\"a\":\"\u202e\"}", `"{\"a\":\"\u202e\"}"`},
	} {
		if got := jen.Add(quoteJSON(tt.in)).GoString(); got != tt.want {
			t.Errorf("%q: got %s, want %s", tt.in, got, tt.want)
		}
	}
}
