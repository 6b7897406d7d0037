package redact_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/redact"
)

const behind = "-token-value" // none of its bytes continues an escape

// Each escape stands for the first byte or character of a secret.
func TestRedactorEscapes(t *testing.T) {
	for _, tt := range []struct {
		first  string
		spelt  []string
		others []string // do not stand for it
	}{
		{"\a", []string{`\a`, `\7`, `\007`, `\x07`}, nil},
		{"\b", []string{`\b`, `\010`}, nil}, {"\t", []string{`\t`}, nil}, {"\n", []string{`\n`}, nil},
		{"\v", []string{`\v`}, nil}, {"\f", []string{`\f`}, nil}, {"\r", []string{`\r`}, nil}, {"\x1b", []string{`\e`, `\033`}, nil},
		{"\x00", []string{`\0`, `\000`, "%00", "&#0;"}, []string{`\udd00`}},
		{"A", []string{`\x41`, `\101`, `\u0041`, `\U00000041`, `\u{41}`, "%41", "%u0041", "&#65;", "&#x41;", "&#X41;"}, []string{`\u00041`, "&#x41", "%4"}},
		{"@", []string{`\100`, `\@`}, []string{`\400`}}, {"!", []string{`\!`, `\041`}, nil}, {"[", []string{`\[`}, nil},
		{"&", []string{"&amp;"}, nil}, {"<", []string{"&lt;"}, nil}, {"'", []string{"&apos;", "''", `'\''`, `'"'"'`, `\'`}, nil}, {`"`, []string{"&quot;", `""`}, nil},
		{" ", []string{"+", "%20"}, nil},
		{"\x7f", []string{`\x7f`, `\177`}, []string{`\udc7f`}},
		{"\x80", []string{`\x80`, `\200`, "%80", `\udc80`, "&#56448;"}, nil},
		{"\u0080", []string{`\x80`, "%80", `\u0080`}, []string{`\udc80`}},
		{"\xff", []string{`\xff`, `\377`, "%ff", `\udcff`}, []string{`\udd00`}},
		{"\u00ff", []string{`\xff`, "%ff", `\377`}, []string{`\udcff`}},
		{"é", []string{`\xe9`, "%e9", `\u00e9`, "%u00e9", "&#233;", "%c3%a9"}, []string{`\u00e8`, `\u00ea`, "&#232;"}},
		{"\u0fff", []string{`\u0fff`}, []string{`\u00fff`}}, {"\uffff", []string{`\uffff`}, []string{`\u0ffff`}},
		{"\U00010000", []string{`\ud800\udc00`, "%ud800%udc00", `\u10000`, `\u{10000}`}, []string{`\ud800\udbff`}},
		{"\U0001f600", []string{`\ud83d\ude00`, "%ud83d%ude00", `\u1f600`, `\u01f600`, `\U0001f600`, "&#128512;"}, []string{`\ud83d%ude00`, `\ud83d\ue000`, `\ud83d`}},
		{"\U0010ffff", []string{`\udbff\udfff`, `\u10ffff`, `\U0010FFFF`}, nil},
		{"\U00010400", []string{`\ud801\udc00`}, []string{`\ud800\ue000`, `\udc01\udc00`}},
	} {
		r := redact.New(tt.first + behind)
		for _, s := range tt.spelt {
			if got := r.Text("<" + s + behind + ">"); got != "<[redacted]>" {
				t.Errorf("%q for %q: %q", s, tt.first, got)
			}
		}
		for _, s := range tt.others {
			if text := "<" + s + behind + ">"; r.Text(text) != text {
				t.Errorf("%q is read as %q: %q", s, tt.first, r.Text(text))
			}
		}
	}
}

// A backslash before what it does not escape stands for itself.
func TestRedactorBackslashForItself(t *testing.T) {
	for _, c := range []string{"A", "Z", "z", "8", "9", "\x80", "é"} {
		r := redact.New(c + behind)
		if got := r.Text(`<\` + c + behind + ">"); got != `<\[redacted]>` {
			t.Errorf("%q: %q", c, got)
		}
	}
}

// hidden spells a byte as an escape, n times.
func hidden(c byte, n int) string {
	s := string([]byte{c})
	for range n {
		s = fmt.Sprintf("%%%02x", s[0]) + s[1:]
	}
	return s
}

// Each character of an escape may be an escape of an escape itself. Three in each other are read and no more, because each
// of them costs time.
func TestRedactorEscapesInEscapes(t *testing.T) {
	for escape, first := range map[string]string{
		`\x41`: "A", `\101`: "A", `\041`: "!", `\u0041`: "A", `\U00000041`: "A", `\u{41}`: "A", "%41": "A", "%u0041": "A", "&#65;": "A", "&#x41;": "A",
		"&amp;": "&", "&lt;": "<", `\ud83d\ude00`: "\U0001f600", "%ud83d%ude00": "\U0001f600", "''": "'", `'\''`: "'", `'"'"'`: "'",
	} {
		r := redact.New(first + behind)
		for i := range escape {
			for deep := 1; deep <= 3; deep++ {
				text := "<" + escape[:i] + hidden(escape[i], deep) + escape[i+1:] + behind + ">"
				got, want := r.Text(text), "<[redacted]>"
				if escape == "''" && i == 1 && deep == 2 {
					want = "<'[redacted]>" // the hidden quote is the one of the secret
				}
				if deep < 3 && got != want || deep == 3 && strings.HasPrefix(got, "<[redacted]") {
					t.Errorf("%q in %q, %d deep: %q is %q", escape[i], escape, deep, text, got)
				}
			}
		}
	}
	r := redact.New("<" + behind)
	for _, s := range []string{"%3c", "%253c", "%25253c", "&amp;lt;", "&amp;amp;lt;", `\\u003c`, `\\\\u003c`, `\u005cu003c`, "%5cu003c", "%26lt;", "&#37;3c"} {
		if got := r.Text("(" + s + behind + ")"); got != "([redacted])" {
			t.Errorf("%q: %q", s, got)
		}
		in := base64.StdEncoding.EncodeToString([]byte("   " + s + behind + "   "))
		if got := r.Text(in + strings.Repeat(" z", 300)); !strings.Contains(got, "[redacted]") {
			t.Errorf("%q in base64: %q", s, got)
		}
	}
}
