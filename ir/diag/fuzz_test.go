package diag

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/ir/source"
)

// FuzzRender: whatever a file and a message hold, every format of diagnostics can be written; text holds no control
// characters but line ends, GitHub's commands stay one line each, and the rest is JSON.
func FuzzRender(f *testing.F) {
	f.Add("a: b\n", "what is wrong", "what to do", 0, 4)
	f.Add("a: \xff\x00\u202e\u2028\n\r\n\tx", "\x1b[31m %0A ::error::\n", "`\u202e`\r\n::warning::", 3, 9)
	f.Add("", "", "", -5, 99)
	f.Add(strings.Repeat("é\t", 3000), "long", "", 5000, 5010)
	f.Add("日本\u0301\U0001F468\u200d\U0001F469", "wide", "", 3, 6)
	f.Fuzz(func(t *testing.T, text, message, help string, lo, hi int) {
		file := source.NewFile("dir/a b.flowgen.yaml", text)
		lo = max(0, min(lo, len(text)))
		hi = max(lo, min(hi, len(text)))
		span := source.Span{File: file, Lo: lo, Hi: hi}
		list := []Diagnostic{
			{Code: YAMLSyntax, Message: message, Help: help, Span: span, Related: []Related{{Span: source.Span{File: file}, Message: help}}, Fixes: []Fix{Replace(span, message)}},
			{Code: Unused, Severity: Warning, Message: message},
		}
		var b bytes.Buffer
		if err := Text(&b, list, TextOptions{}); err != nil {
			t.Fatal(err)
		}
		if !utf8.Valid(b.Bytes()) {
			t.Errorf("text is not UTF-8: %q", b.String())
		}
		for _, r := range b.String() {
			if r < ' ' && r != '\n' || r == 0x7f || 0x80 <= r && r <= 0x9f || 0x202a <= r && r <= 0x202e || 0x2066 <= r && r <= 0x2069 {
				t.Fatalf("%U is written to a terminal: %q", r, b.String())
			}
		}
		b.Reset()
		if err := GitHub(&b, list, ""); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if !strings.HasPrefix(line, "::error ") && !strings.HasPrefix(line, "::warning ") && !strings.HasPrefix(line, "::error::") && !strings.HasPrefix(line, "::warning::") {
				t.Fatalf("a line of its own: %q", b.String())
			}
		}
		for name, write := range map[string]func(*bytes.Buffer) error{
			"json":  func(b *bytes.Buffer) error { return JSON(b, list) },
			"sarif": func(b *bytes.Buffer) error { return SARIF(b, list, SARIFOptions{}) },
		} {
			b.Reset()
			if err := write(&b); err != nil {
				t.Fatal(err)
			}
			dec := json.NewDecoder(&b)
			for dec.More() {
				var v any
				if err := dec.Decode(&v); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
		}
		fixed, _ := ApplyFixes(list)
		for _, x := range fixed {
			if want := text[:lo] + message + text[hi:]; x.Text != want {
				t.Fatalf("fixed to %q, want %q", x.Text, want)
			}
		}
		if near := Nearest(message, []string{help, text, "name"}); near != "" && near != help && near != text && near != "name" {
			t.Fatalf("nearest is %q", near)
		}
	})
}
