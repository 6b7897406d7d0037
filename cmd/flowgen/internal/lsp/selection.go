package lsp

import (
	"encoding/json"
	"slices"
	"strings"
)

type selectionParams struct {
	TextDocument textDocument `json:"textDocument"`
	Positions    []position   `json:"positions"`
}

type selectionRange struct {
	Range  span            `json:"range"`
	Parent *selectionRange `json:"parent,omitempty"`
}

// maxPositions is how many cursors of an editor get ranges.
const maxPositions = 1000

// selections are, for each cursor, the ranges around it from the word to the whole file. They are found in the text alone, so that there
// are some in files that cannot be read.
func (s *server) selections(params *json.RawMessage) (any, error) {
	p, err := decode[selectionParams](params)
	out := []selectionRange{}
	d := s.ws.docs[nameOf(p.TextDocument.URI)]
	if err != nil || d == nil {
		return out, err
	}
	for _, at := range p.Positions[:min(len(p.Positions), maxPositions)] {
		out = append(out, *around(d.text, d.text.offset(at)))
	}
	return out, nil
}

// around nests the ranges about an offset.
func around(t *text, off int) *selectionRange {
	list := append(inLine(t, off), blocks(t, off)...)
	list = append(list, place{0, len(t.s)})
	slices.SortStableFunc(list, func(a, b place) int { return (a.hi - a.lo) - (b.hi - b.lo) })
	var nested []place
	for _, p := range list {
		if p.lo > off || off > p.hi {
			continue
		}
		if n := len(nested); n == 0 || p != nested[n-1] && p.lo <= nested[n-1].lo && nested[n-1].hi <= p.hi {
			nested = append(nested, p)
		}
	}
	var out *selectionRange
	for _, p := range slices.Backward(nested) {
		out = &selectionRange{Range: t.span(p.lo, p.hi), Parent: out}
	}
	return out
}

// inLine are the word, the chain of names, what is in brackets or quotes, the value and the line.
func inLine(t *text, off int) []place {
	line := t.position(off).Line
	lo, end := t.lines[line], t.end(line)
	off = min(off, end)
	s := t.s[lo:end]
	at := off - lo
	var out []place
	add := func(a, b int) { out = append(out, place{lo + a, lo + b}) }
	isWord := func(c byte) bool { return word(string(c)) == 0 }
	for _, more := range []string{"", ".?"} {
		a, b := at, at
		for a > 0 && (isWord(s[a-1]) || strings.IndexByte(more, s[a-1]) >= 0) {
			a--
		}
		for b < len(s) && (isWord(s[b]) || strings.IndexByte(more, s[b]) >= 0) {
			b++
		}
		if a < b {
			add(a, b)
		}
	}
	type bracket struct {
		at   int
		shut byte
	}
	var stack []bracket
	shuts := map[byte]byte{'(': ')', '[': ']', '{': '}'}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case shuts[c] != 0:
			stack = append(stack, bracket{i, shuts[c]})
		case c == ')' || c == ']' || c == '}':
			if n := len(stack); n > 0 && stack[n-1].shut == c {
				from := stack[n-1].at
				stack = stack[:n-1]
				if from < at && at <= i {
					add(from+1, i)
				}
				if from <= at && at <= i+1 {
					add(from, i+1)
				}
			}
		}
	}
	indent := len(s) - len(strings.TrimLeft(s, " "))
	if i := strings.Index(s, ": "); i >= 0 && at >= i+2 {
		add(i+2, len(s))
	}
	if at >= indent {
		add(indent, len(s))
	}
	return append(out, place{lo, end})
}

// blocks are the blocks of deeper indentation around an offset, each with the line it belongs to.
func blocks(t *text, off int) []place {
	line := t.position(off).Line
	var out []place
	for _, f := range folds(t) {
		if f.StartLine <= line && line <= f.EndLine {
			out = append(out, place{t.lines[f.StartLine], t.end(f.EndLine)})
		}
	}
	return out
}
