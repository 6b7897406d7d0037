package lsp

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// A text maps between the offsets of a file and the positions of the protocol, whose columns are UTF-16 code units, or bytes
// where the client prefers these. Lines end at LF, CR LF or a lone CR. It is immutable.
type text struct {
	s     string
	bytes bool // columns are bytes
	lines []int
}

func newText(s string, bytes bool) *text {
	t := &text{s: s, bytes: bytes, lines: []int{0}}
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\r':
			if i+1 < len(s) && s[i+1] == '\n' {
				i++
			}
			t.lines = append(t.lines, i+1)
		case '\n':
			t.lines = append(t.lines, i+1)
		}
	}
	return t
}

// offset is the byte that a position is at; positions beyond the text are clamped to their line, or to its end.
func (t *text) offset(p position) int {
	switch {
	case p.Line < 0 || p.Line == 0 && p.Character < 0:
		return 0
	case p.Line >= len(t.lines):
		return len(t.s)
	}
	at, end := t.lines[p.Line], t.end(p.Line)
	for n := p.Character; n > 0 && at < end; {
		r, size := utf8.DecodeRuneInString(t.s[at:end])
		units := 1
		switch {
		case t.bytes:
			units = size
		case r > 0xffff:
			units = 2
		}
		if units > n {
			break // in the middle of a character: before it
		}
		n -= units
		at += size
	}
	return at
}

// end is the offset of the end of a line, without its break.
func (t *text) end(line int) int {
	if line+1 >= len(t.lines) {
		return len(t.s)
	}
	lo, end := t.lines[line], t.lines[line+1]
	return lo + len(strings.TrimRight(t.s[lo:end], "\r\n"))
}

// position is where an offset is; one beyond the text is its end, one inside a line break the end of its line.
func (t *text) position(off int) position {
	off = max(0, min(off, len(t.s)))
	line := sort.Search(len(t.lines), func(i int) bool { return t.lines[i] > off }) - 1
	lead := t.s[t.lines[line]:min(off, t.end(line))]
	p := position{Line: line, Character: len(lead)}
	if t.bytes {
		return p
	}
	p.Character = 0
	for _, r := range lead {
		p.Character++
		if r > 0xffff {
			p.Character++
		}
	}
	return p
}

func (t *text) span(lo, hi int) span { return span{t.position(lo), t.position(hi)} }

// apply makes the text after changes, each of which is told in positions of the text after the one before.
func (t *text) apply(list []change) *text {
	for _, c := range list {
		if c.Range == nil {
			t = newText(c.Text, t.bytes)
			continue
		}
		lo, hi := t.offset(c.Range.Start), t.offset(c.Range.End)
		if hi < lo {
			lo, hi = hi, lo
		}
		t = newText(t.s[:lo]+c.Text+t.s[hi:], t.bytes)
	}
	return t
}
