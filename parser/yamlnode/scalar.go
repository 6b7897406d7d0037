package yamlnode

import (
	"strings"
	"unicode/utf8"
)

// mapScalar walks the source of a scalar and its decoded value together. start is the offset of its first byte (quote,
// block indicator or text). With record set, m holds for each byte of val and one past its end the offset it comes
// from; end is one past the last byte of content, the closing quote not included. The value directs the walk, so
// neither chomping nor indentation indicators need parsing. A walk that does not meet the value reports !ok.
func mapScalar(src string, start int, style Style, val string, record bool) (m []int, end int, ok bool) {
	w := walker{src: src, p: start, val: val, end: start, record: record}
	if record {
		w.m = make([]int, 0, len(val)+1)
	}
	switch style {
	case Literal, Folded:
		ok = w.block(style == Folded)
	case SingleQuoted, DoubleQuoted:
		q := byte('\'')
		if style == DoubleQuoted {
			q = '"'
		}
		if start >= len(src) || src[start] != q {
			return nil, start, false
		}
		w.p++
		ok = w.flow(q)
	case Plain:
		ok = w.flow(0)
	}
	if !ok {
		return nil, start, false
	}
	if record {
		w.m = append(w.m, w.p)
	}
	return w.m, w.end, true
}

// A walker is at src[p] and val[i].
type walker struct {
	src, val string
	p, i     int
	end      int // one past the last byte that is content, as opposed to line breaks
	m        []int
	record   bool
}

// put takes n bytes of the value that come from the source offset at.
func (w *walker) put(n, at int) {
	w.i += n
	if w.record {
		for ; n > 0; n-- {
			w.m = append(w.m, at)
		}
	}
}

// copy takes n bytes that are the same in source and value.
func (w *walker) copy(n int) {
	if w.record {
		for k := range n {
			w.m = append(w.m, w.p+k)
		}
	}
	w.i += n
	w.p += n
	if n > 0 {
		w.end = w.p
	}
}

// flow walks plain (quote 0) and quoted scalars.
func (w *walker) flow(quote byte) bool {
	for w.i < len(w.val) {
		if w.p >= len(w.src) {
			return false
		}
		if q := skipBlanks(w.src, w.p); LineBreak(w.src, q) > 0 {
			if !w.fold(q) {
				return false
			}
			continue
		} else if q > w.p { // all at once: looking for the break again at each of them would be quadratic
			if !strings.HasPrefix(w.val[w.i:], w.src[w.p:q]) {
				return false
			}
			w.copy(q - w.p)
			continue
		}
		switch c := w.src[w.p]; {
		case quote == '\'' && c == '\'':
			if !strings.HasPrefix(w.src[w.p:], "''") || w.val[w.i] != '\'' {
				return false
			}
			w.put(1, w.p)
			w.p += 2
		case quote == '"' && c == '"':
			return false
		case quote == '"' && c == '\\':
			if !w.escape() {
				return false
			}
		default:
			if w.val[w.i] != c {
				return false
			}
			w.copy(1)
		}
	}
	w.end = max(w.end, w.p)
	return true
}

// fold walks the blanks before the break at q, the break, and the blank lines and indentation after it: one break is a
// space in the value, more are one newline less.
func (w *walker) fold(q int) bool {
	first, breaks := w.p, 0
	at := []int{}
	for {
		if n := LineBreak(w.src, q); n > 0 {
			at = append(at, q)
			breaks++
			q += n
		} else if e := skipBlanks(w.src, q); e > q {
			q = e
		} else {
			break
		}
	}
	w.p = q
	at[0] = first
	if breaks == 1 {
		if w.val[w.i] != ' ' {
			return false
		}
		w.put(1, first)
		return true
	}
	for k := range breaks - 1 {
		if w.i >= len(w.val) || w.val[w.i] != '\n' {
			return false
		}
		w.put(1, at[k])
	}
	return true
}

// escape walks a backslash sequence of a double-quoted scalar.
func (w *walker) escape() bool {
	if n := LineBreak(w.src, w.p+1); n > 0 {
		// An escaped break joins the lines; blank lines after it still count one newline each.
		w.p = skipBlanks(w.src, w.p+1+n)
		for LineBreak(w.src, w.p) > 0 && w.i < len(w.val) && w.val[w.i] == '\n' {
			w.put(1, w.p)
			w.p = skipBlanks(w.src, w.p+LineBreak(w.src, w.p))
		}
		return true
	}
	n, s := decodeEscape(w.src[w.p:])
	if n == 0 || !strings.HasPrefix(w.val[w.i:], s) {
		return false
	}
	w.put(len(s), w.p)
	w.p += n
	return true
}

// decodeEscape decodes the escape sequence at the start of s: its length, 0 if it is none, and what it stands for.
func decodeEscape(s string) (n int, v string) {
	if len(s) < 2 {
		return 0, ""
	}
	const keys, values = "0abt\tnvfre \"/\\", "\x00\a\b\t\t\n\v\f\r\x1b \"/\\"
	if i := strings.IndexByte(keys, s[1]); i >= 0 {
		return 2, values[i : i+1]
	}
	digits := 0
	switch s[1] {
	case 'N':
		return 2, "\u0085"
	case '_':
		return 2, "\u00a0"
	case 'L':
		return 2, "\u2028"
	case 'P':
		return 2, "\u2029"
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	}
	if digits == 0 || len(s) < 2+digits {
		return 0, ""
	}
	r := uint32(0)
	for _, c := range []byte(s[2 : 2+digits]) {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, ""
		}
		r = r<<4 | uint32(c)
	}
	if r > utf8.MaxRune || !utf8.ValidRune(rune(r)) {
		return 0, ""
	}
	return 2 + digits, string(rune(r))
}

// block walks literal and folded scalars: each line of the source is its indentation and then a piece of the value.
func (w *walker) block(folded bool) bool {
	if w.p >= len(w.src) || w.src[w.p] != '|' && w.src[w.p] != '>' {
		return false
	}
	w.p = EndOfLine(w.src, w.p)
	w.p += LineBreak(w.src, w.p)
	indent := blockIndent(w.src, w.p, w.val)
	for w.i < len(w.val) {
		if w.p >= len(w.src) { // the break that the last line of the file lacks
			if w.val[w.i:] != "\n" {
				return false
			}
			w.put(1, w.p)
			return true
		}
		w.p += min(countSpaces(w.src, w.p), indent)
		line := w.src[w.p:EndOfLine(w.src, w.p)]
		if !strings.HasPrefix(w.val[w.i:], line) {
			return false
		}
		w.copy(len(line))
		if w.i >= len(w.val) {
			return true
		}
		n := LineBreak(w.src, w.p)
		switch c := w.val[w.i]; {
		case folded && c == '\n' && n > 0 && w.foldBlank(n, indent):
		case c == '\n', folded && c == ' ':
			w.put(1, w.p)
			w.p += n
		default:
			return false
		}
	}
	return true
}

// foldBlank walks a break of n bytes and the blank lines after it if the break is the one that folding swallows: between
// two lines of text, k blank lines give exactly k newlines.
func (w *walker) foldBlank(n, indent int) bool {
	k := 0
	for p := w.p + n; p < len(w.src); k++ {
		p += min(countSpaces(w.src, p), indent)
		b := LineBreak(w.src, p)
		if b == 0 {
			break
		}
		p += b
	}
	newlines := 0
	for w.i+newlines < len(w.val) && w.val[w.i+newlines] == '\n' && newlines <= k {
		newlines++
	}
	if k == 0 || newlines != k || w.i+k >= len(w.val) {
		return false
	}
	w.p += n
	for range k {
		w.p += min(countSpaces(w.src, w.p), indent)
		w.put(1, w.p)
		w.p += LineBreak(w.src, w.p)
	}
	return true
}

// blockIndent is the number of leading spaces that are not part of the value of a block scalar whose lines start at p:
// those of the first line that has some in the value, or text, less those it has there. Lines before it are empty on
// both sides. If there is no such line the value is line breaks only and all spaces are indentation.
func blockIndent(src string, p int, val string) int {
	for v := 0; p < len(src); {
		have, want := countSpaces(src, p), countSpaces(val, v)
		if v+want < len(val) && val[v+want] != '\n' || want > 0 {
			return max(0, have-want)
		}
		if v >= len(val) {
			break
		}
		v++
		p = EndOfLine(src, p)
		p += LineBreak(src, p)
	}
	return len(src)
}

func skipBlanks(s string, p int) int {
	for p < len(s) && (s[p] == ' ' || s[p] == '\t') {
		p++
	}
	return p
}

func countSpaces(s string, p int) int {
	n := 0
	for p+n < len(s) && s[p+n] == ' ' {
		n++
	}
	return n
}
