// Package plain makes text from outside safe to print on one line of a terminal.
package plain

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Line returns s as one printable line of at most limit runes (limit <= 0
// means no bound). Whole ANSI escape sequences disappear, because colours are
// noise rather than content; line breaks and tabs become one space; every
// other character that moves the cursor, reorders text or hides it is shown as
// \x1b or \u202e, so that a reader sees that it was there; bytes that are not
// UTF-8 become U+FFFD. A text that was cut ends with an ellipsis.
func Line(s string, limit int) string {
	if limit <= 0 {
		limit = math.MaxInt
	}
	if len(s) <= limit && printableASCII(s) {
		return s
	}
	var b strings.Builder
	n := 0 // runes written
	for i := 0; i < len(s); {
		if size := escape(s[i:]); size > 0 {
			i += size
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		text, width := show(r, s[i:i+size])
		// The last place is kept for the ellipsis unless this rune ends the text.
		if n+width > limit || n+width == limit && strip(s[i+size:]) != "" {
			b.WriteString("…")
			return b.String()
		}
		b.WriteString(text)
		n += width
		i += size
	}
	return b.String()
}

// strip returns s without the escape sequences it starts with.
func strip(s string) string {
	for {
		size := escape(s)
		if size == 0 {
			return s
		}
		s = s[size:]
	}
}

func show(r rune, raw string) (string, int) {
	switch {
	case r == '\t' || r == '\n' || r == '\r':
		return " ", 1
	case r == utf8.RuneError:
		return "\uFFFD", 1
	case r < 0x20 || r >= 0x7f && r < 0xa0:
		t := "\\x" + strconv.FormatInt(int64(r)+0x100, 16)[1:]
		return t, len(t)
	case Hidden(r):
		t := strconv.FormatInt(int64(r), 16)
		t = "\\u" + strings.Repeat("0", max(0, 4-len(t))) + t
		return t, len(t)
	}
	return raw, 1
}

// Hidden reports whether r is one of the characters that reorder or hide text:
// bidirectional controls, line and paragraph separators, the byte order mark,
// zero-width spaces, interlinear annotations and tags. Joiners, which scripts
// and emoji need, are not among them.
func Hidden(r rune) bool {
	switch {
	case r < 0xad:
		return false
	case r == 0xad, r == 0x61c, r == 0x180e, r == 0x200b, r == 0x200e, r == 0x200f, r == 0xfeff:
		return true
	case r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f, r >= 0xfff9 && r <= 0xfffb:
		return true
	}
	return r >= 0xe0000 && r <= 0xe007f
}

// maxEscape bounds an escape sequence, so that looking for the end of one that
// never ends costs little.
const maxEscape = 1 << 10

// escape returns the length of the ANSI escape sequence s starts with, or 0.
// An unfinished sequence is none: its escape character is then shown.
func escape(s string) int {
	if len(s) < 2 || s[0] != 0x1b {
		return 0
	}
	s = s[:min(len(s), maxEscape)]
	switch s[1] {
	case '[': // CSI: parameters, intermediates, one final byte
		i := 2
		for i < len(s) && s[i] >= 0x20 && s[i] <= 0x3f {
			i++
		}
		if i < len(s) && s[i] >= 0x40 && s[i] <= 0x7e {
			return i + 1
		}
	case ']', 'P', 'X', '^', '_': // OSC, DCS and friends: up to BEL or ST, on one line
		for i := 2; i < len(s) && s[i] != '\n'; i++ {
			if s[i] == 0x07 {
				return i + 1
			}
			if s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\' {
				return i + 2
			}
		}
	}
	return 0
}

func printableASCII(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] >= 0x7f {
			return false
		}
	}
	return true
}
