package diag

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A cell is one character of a source line as a terminal shows it.
type cell struct {
	text  string
	width int // columns; 0 for marks that combine with the character before
	off   int // byte offset in the line
}

const tabWidth = 4

// expand lays out a line: tabs become blanks up to the next multiple of tabWidth, and what would confuse or attack a
// terminal becomes an escape.
func expand(line string) []cell {
	cells := make([]cell, 0, len(line))
	col := 0
	for off := 0; off < len(line); {
		r, n := utf8.DecodeRuneInString(line[off:])
		c := cell{off: off}
		switch {
		case r == '\t':
			c.width = tabWidth - col%tabWidth
			c.text = strings.Repeat(" ", c.width)
		case r == utf8.RuneError && n == 1:
			c.text = fmt.Sprintf(`\x%02x`, line[off])
			c.width = len(c.text)
		case hidden(r):
			c.text = escape(r)
			c.width = len(c.text)
		default:
			c.text, c.width = line[off:off+n], columns(r)
		}
		cells = append(cells, c)
		col += c.width
		off += n
	}
	return cells
}

// Printable makes text from a file safe to print on one line of a terminal: what has no picture of its own is shown as
// an escape.
func Printable(text string) string { return printable(text) }

// printable makes text safe to print on one line.
func printable(text string) string {
	clean := true
	for _, r := range text {
		if hidden(r) || r == utf8.RuneError {
			clean = false
			break
		}
	}
	if clean {
		return text
	}
	var b strings.Builder
	for _, c := range expand(text) {
		b.WriteString(c.text)
	}
	return b.String()
}

// hidden tells characters that have no picture of their own: controls, line separators, and format characters, which
// include those that reorder text. Joiners stay: scripts and emoji need them.
func hidden(r rune) bool {
	const zwnj, zwj = '\u200c', '\u200d'
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) && r != zwnj && r != zwj
}

func escape(r rune) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r < 0x80:
		return fmt.Sprintf(`\x%02x`, r)
	case r <= 0xffff:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}

// wide is East Asian Wide and Fullwidth (UAX 11), emoji included, in coarse ranges: a terminal may differ by a column
// in places nobody writes workflows in.
var wide = [][2]rune{
	{0x1100, 0x115f}, {0x231a, 0x231b}, {0x2329, 0x232a}, {0x23e9, 0x23ec}, {0x23f0, 0x23f0}, {0x23f3, 0x23f3},
	{0x25fd, 0x25fe}, {0x2614, 0x2615}, {0x2648, 0x2653}, {0x267f, 0x267f}, {0x2693, 0x2693}, {0x26a1, 0x26a1},
	{0x26aa, 0x26ab}, {0x26bd, 0x26be}, {0x26c4, 0x26c5}, {0x26ce, 0x26ce}, {0x26d4, 0x26d4}, {0x26ea, 0x26ea},
	{0x26f2, 0x26f3}, {0x26f5, 0x26f5}, {0x26fa, 0x26fa}, {0x26fd, 0x26fd}, {0x2705, 0x2705}, {0x270a, 0x270b},
	{0x2728, 0x2728}, {0x274c, 0x274c}, {0x274e, 0x274e}, {0x2753, 0x2755}, {0x2757, 0x2757}, {0x2795, 0x2797},
	{0x27b0, 0x27b0}, {0x27bf, 0x27bf}, {0x2b1b, 0x2b1c}, {0x2b50, 0x2b50}, {0x2b55, 0x2b55}, {0x2e80, 0x303e},
	{0x3041, 0x33ff}, {0x3400, 0x4dbf}, {0x4e00, 0x9fff}, {0xa000, 0xa4cf}, {0xa960, 0xa97f}, {0xac00, 0xd7a3},
	{0xf900, 0xfaff}, {0xfe10, 0xfe19}, {0xfe30, 0xfe6f}, {0xff01, 0xff60}, {0xffe0, 0xffe6}, {0x16fe0, 0x18cff},
	{0x1aff0, 0x1b2ff}, {0x1f004, 0x1f004}, {0x1f0cf, 0x1f0cf}, {0x1f18e, 0x1f18e}, {0x1f191, 0x1f19a},
	{0x1f200, 0x1f320}, {0x1f32d, 0x1f335}, {0x1f337, 0x1f37c}, {0x1f37e, 0x1f393}, {0x1f3a0, 0x1f3ca},
	{0x1f3cf, 0x1f3d3}, {0x1f3e0, 0x1f3f0}, {0x1f3f4, 0x1f3f4}, {0x1f3f8, 0x1f43e}, {0x1f440, 0x1f440},
	{0x1f442, 0x1f4fc}, {0x1f4ff, 0x1f53d}, {0x1f54b, 0x1f54e}, {0x1f550, 0x1f567}, {0x1f57a, 0x1f57a},
	{0x1f595, 0x1f596}, {0x1f5a4, 0x1f5a4}, {0x1f5fb, 0x1f64f}, {0x1f680, 0x1f6c5}, {0x1f6cc, 0x1f6cc},
	{0x1f6d0, 0x1f6d2}, {0x1f6d5, 0x1f6d7}, {0x1f6dc, 0x1f6df}, {0x1f6eb, 0x1f6ec}, {0x1f6f4, 0x1f6fc},
	{0x1f7e0, 0x1f7eb}, {0x1f90c, 0x1f93a}, {0x1f93c, 0x1f945}, {0x1f947, 0x1f9ff}, {0x1fa70, 0x1faff},
	{0x20000, 0x2fffd}, {0x30000, 0x3fffd},
}

// columns is how many columns a visible character takes.
func columns(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me), r == '\u200c', r == '\u200d', r >= 0x1160 && r <= 0x11ff:
		return 0 // combining marks, joiners, and the vowels and finals of a composed Hangul syllable
	}
	lo, hi := 0, len(wide)
	for lo < hi {
		mid := (lo + hi) / 2
		if wide[mid][1] < r {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < len(wide) && r >= wide[lo][0] {
		return 2
	}
	return 1
}
