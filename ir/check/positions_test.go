package check_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/ir/diag"
)

// scalarStyles are the ways to write a value with a mistake in it: the name first_drat. at is the mistake as it stands
// in the file, where that differs.
var scalarStyles = []struct{ name, value, at string }{
	{name: "plain", value: `$first_drat.n`},
	{name: "plain over lines", value: "$first_draft.n\n        + first_drat.n"},
	{name: "plain after text of other widths", value: `$size("äöü日本🎉") + first_drat.n`},
	{name: "single quoted", value: `'$first_drat.n'`},
	{name: "single quoted template", value: `'it''s Größe ''{{ first_drat.n }}'' 日本'`},
	{name: "single quoted over lines", value: "'Grüße\n\n        an alle: {{ first_drat.n }}\n        🎉'"},
	{name: "double quoted", value: `"$first_drat.n"`},
	{name: "double quoted with escapes", value: `"\tGr\u00fc\xdfe \"{{ first_drat.n }}\" \U0001F389 日本"`},
	{name: "double quoted over lines", value: "\"Gr\\u00fcße \\\n        und\n\n        mehr {{ first_drat.n }} 🎉\""},
	{name: "an escape in the name", value: `"{{ \u0066irst\x5fdrat.n }}"`, at: `\u0066irst\x5fdrat`},
	{name: "literal", value: "|\n        Grüße 日本 🎉\n          und {{ first_drat.n }}!\n"},
	{name: "literal, indent said", value: "|2\n          Grüße\n        {{ first_drat.n }}\n"},
	{name: "literal, kept", value: "|+\n\n        Grüße\n\n        é {{ first_drat.n }}\n\n"},
	{name: "literal, stripped, indent said", value: "|2-\n\n        x\n        Grüße {{ first_drat.n }}\n"},
	{name: "literal expression over lines", value: "|\n        Summe: {{ first_draft.n +\n            first_drat.n }} €\n"},
	{name: "folded", value: ">\n        Grüße\n        an alle\n\n        é 日本 {{ first_drat.n }}\n"},
	{name: "folded, stripped", value: ">-\n        Grüße\n          mehr eingerückt\n        é {{ first_drat.n }} und\n        Schluss\n"},
	{name: "folded, indent said", value: ">2\n         Grüße\n        é {{ first_drat.n }}\n"},
	{name: "folded expression over lines", value: ">\n        Summe: {{ first_draft.n +\n        first_drat.n }} €\n"},
	{name: "in a list", value: "[Grüße, \"é {{ first_drat.n }}\"]"},
	{name: "in a mapping", value: "{ä: x, b: \"日本 {{ first_drat.n }}\"}"},
	{name: "an alias", value: "&x \"é {{ first_drat.n }}\""},
}

// TestPositions puts a mistake into every style of scalar, with line ends of both kinds, and wants it reported at its
// very characters: one message, the right line, the right column in characters, and a fix that mends it.
func TestPositions(t *testing.T) {
	for _, style := range scalarStyles {
		for _, ends := range []struct{ name, text string }{{"LF", "\n"}, {"CRLF", "\r\n"}, {"BOM", "\n"}} {
			t.Run(style.name+"/"+ends.name, func(t *testing.T) {
				at := style.at
				if at == "" {
					at = "first_drat"
				}
				text := "flowgen: 1\nname: positions\nnodes:\n  first_draft: {let: {n: 1}}\n  last:\n    let:\n      value: " +
					strings.TrimSuffix(style.value, "\n") + "\noutput: {v: $last.value}\n"
				text = strings.ReplaceAll(text, "\n", ends.text)
				if ends.name == "BOM" {
					text = "\ufeff" + text
				}
				checkPosition(t, text, at)
			})
		}
	}
}

// last is the place of the mistake: "first_drat" is also the beginning of "first_draft".
func mistake(text, at string) int {
	for from := 0; ; {
		i := strings.Index(text[from:], at)
		if i < 0 {
			return -1
		}
		i += from
		if !strings.HasPrefix(text[i+len(at):], "ft") {
			return i
		}
		from = i + 1
	}
}

func checkPosition(t *testing.T, text, at string) {
	t.Helper()
	offset := mistake(text, at)
	before := text[:offset]
	line := strings.Count(before, "\n") + 1
	col := utf8.RuneCountInString(strings.TrimPrefix(before[strings.LastIndex(before, "\n")+1:], "\ufeff")) + 1

	_, list := checked(memory{mainFile: text})
	if len(list) != 1 {
		t.Fatalf("%d diagnostics, want 1: %v\n%s", len(list), list, text)
	}
	d := list[0]
	if d.Code != diag.UnknownName || d.Span.Text() != at || d.Span.Lo != offset {
		t.Errorf("%s at %q, byte %d, want %q at %d: %s", d.Code, d.Span.Text(), d.Span.Lo, at, offset, d.Message)
	}
	if p := d.Span.Start(); p.Line != line || p.Col != col {
		t.Errorf("at %d:%d, want %d:%d", p.Line, p.Col, line, col)
	}
	var out bytes.Buffer
	if err := diag.Text(&out, list, diag.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("--> %s:%d:%d\n", mainFile, line, col); !strings.Contains(out.String(), want) {
		t.Errorf("%q is not in\n%s", want, out.String())
	}
	if carets := strings.Repeat("^", utf8.RuneCountInString(at)); !strings.Contains(out.String(), carets+"\n") {
		t.Errorf("%q is not in\n%s", carets, out.String())
	}
	if len(d.Fixes) == 0 {
		t.Fatal("no fix")
	}
	files, applied := diag.ApplyFixes(list)
	if applied != 1 || len(files) != 1 {
		t.Fatalf("%d fixes in %d files", applied, len(files))
	}
	if _, list := checked(memory{mainFile: files[0].Text}); len(list) != 0 {
		t.Errorf("after the fix: %v\n%s", list, files[0].Text)
	}
}
