package diag_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
)

func TestApplyFixes(t *testing.T) {
	a := source.NewFile("a.yaml", "one two three\r\n")
	again := source.NewFile("a.yaml", a.Text)
	other := source.NewFile("a.yaml", "changed meanwhile")
	b := source.NewFile("b.yaml", "four")
	edit := func(f *source.File, old, text string) diag.Edit {
		lo := strings.Index(f.Text, old)
		return diag.Edit{Span: source.Span{File: f, Lo: lo, Hi: lo + len(old)}, New: text}
	}
	insert := func(f *source.File, before, text string) diag.Edit {
		e := edit(f, before, text)
		e.Span.Hi = e.Span.Lo
		return e
	}
	mistake := func(edits ...diag.Edit) diag.Diagnostic {
		return diag.Diagnostic{Fixes: []diag.Fix{{Title: "fix", Edits: edits}, {Title: "worse", Edits: []diag.Edit{edit(b, "four", "no")}}}}
	}
	note := mistake(edit(a, "one", "NOTE"))
	note.Severity = diag.Note

	tests := []struct {
		name    string
		list    []diag.Diagnostic
		want    map[string]string
		applied int
	}{
		{"none", []diag.Diagnostic{{Message: "no fix"}, note}, map[string]string{}, 0},
		{"two in one file, in any order", []diag.Diagnostic{mistake(edit(a, "three", "3")), mistake(edit(a, "one", ""))}, map[string]string{"a.yaml": " two 3\r\n"}, 2},
		{"overlap is left out as a whole", []diag.Diagnostic{mistake(edit(a, "one two", "x")), mistake(edit(b, "four", "4"), edit(a, "two", "2"))}, map[string]string{"a.yaml": "x three\r\n"}, 1},
		{"neighbours do not overlap", []diag.Diagnostic{mistake(edit(a, "one ", "x")), mistake(edit(a, "two", "2"))}, map[string]string{"a.yaml": "x2 three\r\n"}, 2},
		{"two insertions at one place", []diag.Diagnostic{mistake(insert(a, "two", "x ")), mistake(insert(a, "two", "y "))}, map[string]string{"a.yaml": "one x two three\r\n"}, 1},
		{"the same mistake seen from two workflows", []diag.Diagnostic{mistake(edit(a, "one", "1")), mistake(edit(again, "one", "1"))}, map[string]string{"a.yaml": "1 two three\r\n"}, 1},
		{"a file that changed meanwhile", []diag.Diagnostic{mistake(edit(a, "one", "1")), mistake(edit(other, "changed", "x"))}, map[string]string{"a.yaml": "1 two three\r\n"}, 1},
		{"edits of one fix that overlap", []diag.Diagnostic{mistake(edit(a, "one two", "x"), edit(a, "two", "2"))}, map[string]string{}, 0},
		{"outside the file", []diag.Diagnostic{mistake(diag.Edit{Span: source.Span{File: b, Lo: 2, Hi: 9}})}, map[string]string{}, 0},
		{"two files", []diag.Diagnostic{mistake(edit(b, "four", "4"), edit(a, "two", "2"))}, map[string]string{"a.yaml": "one 2 three\r\n", "b.yaml": "4"}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files, applied := diag.ApplyFixes(tt.list)
			got := map[string]string{}
			for _, f := range files {
				got[f.File.Name] = f.Text
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || applied != tt.applied {
				t.Errorf("applied %d, want %d; files -want +got\n%s", applied, tt.applied, diff)
			}
		})
	}
}

func TestJSON(t *testing.T) {
	span := mark("a.yaml", "é: «x <b>»\n")
	var b strings.Builder
	err := diag.JSON(&b, []diag.Diagnostic{
		{Code: "FG0301", Message: "m <b>", Span: span, Help: "h", Fixes: []diag.Fix{diag.Replace(span, "y")}, Related: []diag.Related{{Span: span, Message: "r"}}},
		{Severity: diag.Warning, Message: "nowhere"},
	})
	if err != nil {
		t.Fatal(err)
	}
	rng := `"range":{"start":{"line":1,"column":4,"offset":4},"end":{"line":1,"column":9,"offset":9}}`
	want := `[{"severity":"error","code":"FG0301","message":"m <b>","file":"a.yaml",` + rng + `,"related":[{"file":"a.yaml",` + rng + `,"message":"r"}],` +
		`"help":"h","fixes":[{"title":"replace with ` + "`y`" + `","edits":[{"file":"a.yaml",` + rng + `,"new":"y"}]}]},` +
		`{"severity":"warning","code":"","message":"nowhere","file":"","range":null,"related":[],"help":"","fixes":[]}]`
	squeeze := func(s string) string {
		var out strings.Builder
		quoted := false
		for i := range len(s) {
			if s[i] == '"' && s[i-1] != '\\' {
				quoted = !quoted
			}
			if quoted || s[i] != ' ' && s[i] != '\n' {
				out.WriteByte(s[i])
			}
		}
		return out.String()
	}
	if diff := cmp.Diff(want, squeeze(b.String())); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}

	b.Reset()
	if err := diag.JSON(&b, nil); err != nil || b.String() != "[]\n" {
		t.Errorf("empty list: %q %v", b.String(), err)
	}
}
