package codegen

import (
	"fmt"
	"go/scanner"
	"go/token"
	"slices"
	"strings"
	"unicode/utf8"
)

// Lines are broken when all is written: what a call or a struct is as text is known only then. Line breaks and commas are put
// between tokens, and never into text or a comment.

const (
	maxWidth  = 140 // columns of a line, without the text of string literals. A tab is four
	fillWidth = 120 // columns that lines are filled up to which are broken
	tabWidth  = 4
)

// wrapLines breaks the lines of formatted Go that are too long.
func wrapLines(src []byte) ([]byte, error) {
	long := false
	for line := range strings.Lines(string(src)) {
		long = long || len(line) > maxWidth-40 && utf8.RuneCountInString(line)+strings.Count(line, "\t")*(tabWidth-1) > maxWidth
	}
	if !long {
		return src, nil
	}
	w := &wrapper{src: src, breaks: map[int]string{}}
	for _, line := range w.lines() {
		indent := 0
		for i := line[0].pos - 1; i >= 0 && src[i] == '\t'; i-- {
			indent++
		}
		w.segment(line, indent)
	}
	if len(w.breaks) == 0 {
		return src, nil
	}
	out := make([]byte, 0, len(src)+len(w.breaks)*8)
	last := 0
	places := w.places()
	changed := make([]int, len(places))
	for i, at := range places {
		out = append(out, src[last:at]...)
		last, changed[i] = at, len(out)
		out = append(out, w.breaks[at]...)
	}
	out, err := formatGo(append(out, src[last:]...), changed)
	if err != nil {
		return nil, fmt.Errorf("generated code does not parse with its lines broken: %w", err)
	}
	return out, nil
}

// A wrapper breaks the lines of one file.
type wrapper struct {
	src    []byte
	breaks map[int]string // what to put where
}

func (w *wrapper) places() []int {
	var out []int
	for at := range w.breaks {
		out = append(out, at)
	}
	slices.Sort(out)
	return out
}

// A piece is a token.
type piece struct {
	tok      token.Token
	pos, end int
}

// lines are the tokens of each line.
func (w *wrapper) lines() [][]piece {
	var s scanner.Scanner
	set := token.NewFileSet()
	file := set.AddFile("", -1, len(w.src))
	s.Init(file, w.src, nil, 0)
	var out [][]piece
	last := 0
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return out
		}
		if tok == token.SEMICOLON && lit == "\n" {
			continue
		}
		at := file.Offset(pos)
		p := piece{tok, at, at + len(tok.String())}
		if tok.IsLiteral() {
			p.end = at + len(lit)
		}
		if line := file.Line(pos); line != last || len(out) == 0 {
			out, last = append(out, nil), line
		}
		out[len(out)-1] = append(out[len(out)-1], p)
	}
}

// width is how many columns tokens take, with the text of literals or without.
func (w *wrapper) width(line []piece, text bool) int {
	if len(line) == 0 {
		return 0
	}
	first, last := line[0], line[len(line)-1]
	n := 0
	at := first.pos
	for _, p := range line {
		if p.tok != token.STRING && p.tok != token.CHAR {
			continue
		}
		n += utf8.RuneCount(w.src[at:p.pos])
		lit := w.src[p.pos:p.end]
		if first, _, lines := strings.Cut(string(lit), "\n"); lines {
			lit = []byte(first)
		}
		if n += 2; text {
			n += utf8.RuneCount(lit) - 2
		}
		at = p.end
	}
	return n + utf8.RuneCount(w.src[at:last.end])
}

// A group is what is between brackets, or outside of all, with the places at which it can be broken.
type group struct {
	open, close int // tokens; -1: not in this line
	depth       int
	commas      []int // tokens
	ors, ands   []int
	sums        []int
	keyed       bool // it has keys
	nested      bool // an element is a composite literal
}

// groups are those of a line.
func groups(line []piece) []*group {
	top := &group{open: -1, close: -1}
	out, stack := []*group{top}, []*group{top}
	list := line[0].tok == token.CASE || line[0].tok == token.RETURN // commas outside of all brackets are those of a list
	for i, p := range line {
		in := stack[len(stack)-1]
		switch p.tok {
		case token.LPAREN, token.LBRACE, token.LBRACK:
			if p.tok == token.LBRACE && in.open >= 0 && line[in.open].tok == token.LBRACE {
				in.nested = true
			}
			g := &group{open: i, close: -1, depth: len(stack)}
			out, stack = append(out, g), append(stack, g)
		case token.RPAREN, token.RBRACE, token.RBRACK:
			if in == top { // of brackets that begin above: what follows is among others
				list = true
				continue
			}
			in.close = i
			stack = stack[:len(stack)-1]
		case token.COMMA:
			if in != top || list {
				in.commas = append(in.commas, i)
			}
		case token.LOR:
			in.ors = append(in.ors, i)
		case token.LAND:
			in.ands = append(in.ands, i)
		case token.ADD:
			in.sums = append(in.sums, i)
		case token.COLON:
			in.keyed = true
		}
	}
	return out
}

// at are the places at which a group is broken: the operators or commas that bind least.
func (g *group) at() []int {
	for _, list := range [][]int{g.commas, g.ors, g.ands, g.sums} {
		if len(list) > 0 {
			return list
		}
	}
	return nil
}

// literal reports whether a group is a composite literal that is in one line.
func (g *group) literal(line []piece) bool {
	if g.open < 0 || g.close < 0 || line[g.open].tok != token.LBRACE || g.close == g.open+1 {
		return false
	}
	if g.open == 0 {
		return true // an element of a list
	}
	switch line[g.open-1].tok {
	case token.IDENT:
		return true
	case token.RBRACK, token.LBRACE, token.COMMA, token.COLON:
		return true
	}
	return false
}

// segment breaks tokens that are too long for a line, in the outermost brackets where that is possible.
func (w *wrapper) segment(line []piece, indent int) {
	if len(line) == 0 || indent*tabWidth+w.width(line, false) <= maxWidth {
		return
	}
	var best *group
	for _, g := range groups(line) {
		if at := g.at(); len(at) == 0 && !g.literal(line) || len(at) == 1 && at[0] == len(line)-1 {
			continue
		}
		if best == nil || g.depth < best.depth || g.depth == best.depth && w.size(line, g) > w.size(line, best) {
			best = g
		}
	}
	switch {
	case best == nil:
	case best.literal(line) && (best.keyed || best.nested || len(best.commas) == 0):
		w.expand(line, best, indent)
	default:
		w.fill(line, best.at(), indent)
	}
}

func (w *wrapper) size(line []piece, g *group) int {
	from, to := max(g.open, 0), len(line)-1
	if g.close >= 0 {
		to = g.close
	}
	return w.width(line[from:to+1], true)
}

// fill breaks a line after some of its tokens, so that as much as possible is in each.
func (w *wrapper) fill(line []piece, at []int, indent int) {
	from, last := 0, -1 // where the line begins, and the last token after which it may be broken
	width := func(to int) int { return indent*tabWidth + w.width(line[from:to+1], true) }
	flush := func(to int) {
		w.breaks[line[to].end] = "\n"
		w.segment(line[from:to+1], indent)
		if from == 0 {
			indent++
		}
		from = to + 1
	}
	for _, i := range append(slices.Clone(at), len(line)-1) {
		if last >= from && width(i) > fillWidth {
			flush(last)
		}
		last = i
	}
	w.segment(line[from:], indent)
}

// expand gives each element of a composite literal a line.
func (w *wrapper) expand(line []piece, g *group, indent int) {
	from := g.open + 1
	w.breaks[line[g.open].end] = "\n"
	w.segment(line[:g.open+1], indent)
	for _, i := range g.commas {
		w.breaks[line[i].end] = "\n"
		w.segment(line[from:i+1], indent+1)
		from = i + 1
	}
	w.breaks[line[g.close-1].end] = ",\n"
	w.segment(line[from:g.close], indent+1)
	w.segment(line[g.close:], indent)
}
