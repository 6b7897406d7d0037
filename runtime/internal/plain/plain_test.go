package plain

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestLine(t *testing.T) {
	for _, tt := range []struct {
		name  string
		in    string
		limit int
		want  string
	}{
		{"plain", "fatal: not a git repository", 0, "fatal: not a git repository"},
		{"empty", "", 0, ""},
		{"unicode stays", "größe 日本 👩‍💻", 0, "größe 日本 👩‍💻"},
		{"breaks and tabs", "a\r\nb\tc", 0, "a  b c"},
		{"colour goes", "\x1b[31;1merror\x1b[0m: x", 0, "error: x"},
		{"title goes", "\x1b]0;owned\x07x\x1b]8;;http://e\x1b\\y", 0, "xy"},
		{"unfinished escape is shown", "a\x1b[31", 0, `a\x1b[31`},
		{"unfinished title is shown", "a\x1b]0;b\nc", 0, `a\x1b]0;b c`},
		{"c0, delete and c1", "\x00\x07\x08\x7f\u009b", 0, `\x00\x07\x08\x7f\x9b`},
		{"bidi", "a\u202eb\u2066c\u200f", 0, `a\u202eb\u2066c\u200f`},
		{"separators", "a\u2028b\u0085c", 0, `a\u2028b\x85c`},
		{"tags", "a\U000e0041", 0, `a\ue0041`},
		{"bom", "\ufeffa", 0, `\ufeffa`},
		{"not utf-8", "a\xff\xfeb", 0, "a\uFFFD\uFFFDb"},
		{"fits exactly", "abcd", 4, "abcd"},
		{"cut", "abcde", 4, "abc…"},
		{"cut before a wide escape", "ab\x00cd", 5, "ab…"},
		{"trailing colour is no reason to cut", "abcd\x1b[0m", 4, "abcd"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Line(tt.in, tt.limit); got != tt.want {
				t.Errorf("Line(%q, %d) = %q, want %q", tt.in, tt.limit, got, tt.want)
			}
		})
	}
}

func TestLineIsSafe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.SampledFrom([]string{"\x1b", "[", "]", "0m", "\x07", "\\", "\n", "a", "é", "\xff", "\u202e", "\u009b", "31"})).Draw(t, "parts")
		limit := rapid.IntRange(0, 20).Draw(t, "limit")
		got := Line(strings.Join(parts, ""), limit)
		if !utf8.ValidString(got) {
			t.Fatalf("%q is not valid UTF-8", got)
		}
		if n := utf8.RuneCountInString(got); limit > 0 && n > limit {
			t.Fatalf("%q has %d runes, more than %d", got, n, limit)
		}
		for _, r := range got {
			if r < 0x20 || r >= 0x7f && r < 0xa0 || Hidden(r) {
				t.Fatalf("%q holds %U", got, r)
			}
		}
	})
}
