package mcplock

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
)

// invisible tells characters that nobody sees, or that change the order of others, wherever they stand: controls and
// separators of lines, format characters, tags, the variation selectors by which bytes can be smuggled, and letters
// without a picture. Line breaks and tabs are text.
func invisible(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r == '\r' || joiner(r) || r == emojiStyle || r == textStyle:
		return false
	case r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0100 && r <= 0xe01ef, // variation selectors
		r == 0x034f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x2800, r == 0x3164, r == 0xffa0:
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Cs, unicode.Co)
}

const (
	emojiStyle = '\ufe0f' // the character before it is shown as a picture
	textStyle  = '\ufe0e'
)

// joiner tells the zero-width joiner and non-joiner, which emoji and some scripts need.
func joiner(r rune) bool { return r == '\u200c' || r == '\u200d' }

// reveal shows a text with escapes for what is hidden in it, and tells whether anything is. Joiners and the selectors of
// emoji count as hidden where they have no use: after ASCII, except for the keycaps, and after one another.
func reveal(text string) (shown string, hidden bool) {
	var b strings.Builder
	var before rune
	for _, r := range text {
		useless := false
		switch {
		case joiner(r):
			useless = before < 0x80 || joiner(before)
		case r == emojiStyle || r == textStyle:
			keycap := before >= '0' && before <= '9' || before == '#' || before == '*'
			useless = before < 0x80 && !keycap || before == emojiStyle || before == textStyle
		}
		if useless || invisible(r) {
			hidden = true
			escape(&b, r)
		} else {
			b.WriteRune(r)
		}
		before = r
	}
	return b.String(), hidden
}

// escape writes a character as JSON escapes it.
func escape(b *strings.Builder, r rune) {
	for _, u := range utf16.Encode([]rune{r}) {
		fmt.Fprintf(b, `\u%04x`, u)
	}
}

// escaped is JSON in which hidden characters stand as escapes. They are in strings only.
func escaped(text string) string {
	var b strings.Builder
	for _, r := range text {
		if invisible(r) {
			escape(&b, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
