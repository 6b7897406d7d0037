package codegen

import (
	"fmt"
	"go/format"
	"go/scanner"
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestWrapLines shows how long lines are broken.
func TestWrapLines(t *testing.T) {
	word := strings.Repeat("x", 30)
	for _, tc := range []struct{ name, line, want string }{
		{"short", "f(a, b)", "f(a, b)"},
		{"long text is no reason", `f(a, "` + word + word + word + word + word + `")`, `f(a, "` + word + word + word + word + word + `")`},
		{"arguments", "f(" + word + ", " + word + ", g(a, b), " + word + ", " + word + ")", "f(" + word + ", " + word + ", g(a, b), " + word + ",\n\t\t" + word + ")"},
		{"the outermost call", "f(g(" + word + ", " + word + "), h(" + word + ", " + word + ", " + word + "))", "f(g(" + word + ", " + word + "),\n\t\th(" + word + ", " + word + ", " + word + "))"},
		{"a struct", "v := T{A: " + word + ", B: " + word + ", C: " + word + ", D: []int{1, 2}, E: " + word + "}",
			"v := T{\n\t\tA: " + word + ",\n\t\tB: " + word + ",\n\t\tC: " + word + ",\n\t\tD: []int{1, 2},\n\t\tE: " + word + ",\n\t}"},
		{"a condition", "if " + word + "(a, b) && " + word + "(c) && " + word + "(d) && " + word + " {\n\t}", "if " + word + "(a, b) && " + word + "(c) && " + word + "(d) &&\n\t\t" + word + " {\n\t}"},
		{"or before and", "ok = " + word + " && " + word + " || " + word + " && " + word + " && a", "ok = " + word + " && " + word + " ||\n\t\t" + word + " && " + word + " && a"},
		{"text", "s := " + word + " + \" \" + " + word + " + " + word + "(a, b) + " + word + " + z", "s := " + word + " + \" \" + " + word + " + " + word + "(a, b) +\n\t\t" + word + " + z"},
		{"a function at the end", "e := f(a, bbbbbbbbb, func(" + word + " int, " + word + " int, " + word + " int) error {\n\t\treturn nil\n\t})",
			"e := f(a, bbbbbbbbb,\n\t\tfunc(" + word + " int, " + word + " int, " + word + " int) error {\n\t\t\treturn nil\n\t\t})"},
		{"after a struct", "f(T{\n\t\tA: 1,\n\t}, g(a, b), " + word + ", " + word + ", " + word + ", " + word + ")", "f(T{\n\t\tA: 1,\n\t}, g(a, b), " + word + ", " + word + ", " + word + ",\n\t\t" + word + ")"},
		{"a comment stays", "f(" + word + ", " + word + ", " + word + ", " + word + ", " + word + ") // a, b", "f(" + word + ", " + word + ", " + word + ",\n\t\t" + word + ", " + word + ") // a, b"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			file := func(line string) string { return "package p\n\nfunc _() {\n\t" + line + "\n}\n" }
			got, err := wrapLines([]byte(file(tc.line)))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(file(tc.want), string(got)); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestWrapKeeps: lines are broken, and nothing else changes, whatever the code is.
func TestWrapKeeps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var value func(deep int) string
		some := func(deep int, join string) string {
			var out []string
			for range rapid.IntRange(1, 5).Draw(t, "n") {
				out = append(out, value(deep-1))
			}
			return strings.Join(out, join)
		}
		value = func(deep int) string {
			kind := rapid.IntRange(0, 9).Draw(t, "kind")
			switch {
			case deep == 0 || kind < 2:
				return strings.Repeat("x", rapid.IntRange(1, 40).Draw(t, "len"))
			case kind == 2:
				return fmt.Sprintf("%q", strings.Repeat("a, b(", rapid.IntRange(0, 30).Draw(t, "text")))
			case kind == 3:
				return "`one, (\n\ttwo`"
			case kind == 4:
				return "T{A: " + some(deep, ", B: ") + "}"
			case kind == 5:
				return "[]T{" + some(deep, ", ") + "}"
			case kind == 6:
				return "(" + some(deep, rapid.SampledFrom([]string{" && ", " || ", " + "}).Draw(t, "op")) + ")"
			case kind == 7:
				return "func(a, b int) (int, error) {\n return " + some(deep, ", ") + "\n}"
			case kind == 8:
				return "m[" + value(deep-1) + "].f(" + some(deep, ", ") + ")"
			}
			return "f(" + some(deep, ", ") + ")"
		}
		src, err := format.Source([]byte("package p\n\nvar v = " + value(4) + "\n\nfunc _() {\n if v := f(" + value(3) + "); v {\n}\n}\n"))
		if err != nil {
			t.Fatal(err)
		}
		got, err := wrapLines(src)
		if err != nil {
			t.Fatalf("%v\n%s", err, src)
		}
		if d := cmp.Diff(tokensOf(src), tokensOf(got)); d != "" {
			t.Fatalf("%s\n%s", d, got)
		}
		again, err := wrapLines(src)
		if err != nil || string(again) != string(got) {
			t.Fatal("the same code is broken in two ways", err)
		}
	})
}

// tokensOf are the tokens of a file, without commas at the end of a list.
func tokensOf(src []byte) []string {
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile("", -1, len(src)), src, nil, 0)
	var out []string
	for {
		_, tok, lit := s.Scan()
		switch tok {
		case token.EOF:
			return out
		case token.SEMICOLON:
			continue
		case token.RBRACE, token.RPAREN, token.RBRACK:
			if n := len(out); n > 0 && out[n-1] == "," {
				out = slices.Delete(out, n-1, n)
			}
		}
		if lit == "" {
			lit = tok.String()
		}
		out = append(out, lit)
	}
}
