package codegen

import (
	"bytes"
	"go/format"
	"runtime"
	"slices"
	"sync"
)

// leastPart is how many bytes a part has at least: a file of less than two is formatted as a whole. It is a variable for tests.
var leastPart = 32 << 10

// formatGo is format.Source of a file, in parts that are formatted at the same time: gofmt looks at no more than a declaration
// and the lines next to it. Go that does not parse in parts is formatted as a whole, for the error. changed are the places, in
// their order, at which formatted Go was changed; nil is for Go that is not formatted.
func formatGo(src []byte, changed []int) ([]byte, error) {
	procs := runtime.GOMAXPROCS(0)
	if len(src) < 2*leastPart {
		return format.Source(src)
	}
	parts := cut(src, max(leastPart, len(src)/(4*procs)))
	var order []*part
	for i := range parts {
		p := &parts[i]
		end := p.at + len(p.text)
		here := 0
		for here < len(changed) && changed[here] < end {
			here++
		}
		if again := here > 0 || p.spec && len(order) > 0 && order[len(order)-1] == &parts[i-1]; changed != nil && !again {
			p.out = append(bytes.Clone(bytes.Trim(p.text, "\n")), '\n')
			continue
		}
		if changed != nil {
			changed = changed[here:]
		}
		order = append(order, p) // specs behind a changed one may stand otherwise now
	}
	slices.SortStableFunc(order, func(a, b *part) int { return len(b.text) - len(a.text) })
	work := make(chan *part)
	var all sync.WaitGroup
	for range min(procs, len(order)) {
		all.Go(func() {
			for p := range work {
				p.format()
			}
		})
	}
	for _, p := range order {
		work <- p
	}
	close(work)
	all.Wait()
	var out bytes.Buffer
	out.Grow(len(src) + len(src)/4)
	for i, p := range parts {
		if p.err != nil {
			return format.Source(src)
		}
		if i > 0 && !p.spec {
			out.WriteByte('\n') // the empty line at which the text was cut
		}
		out.Write(p.out)
	}
	return out.Bytes(), nil
}

// A part is a piece of a file: declarations, or a part of those between the brackets of one `var ( )`.
type part struct {
	at   int // in the file
	text []byte
	spec bool // it goes on with the specs of the part before
	more bool // the part after it does
	out  []byte
	err  error
}

func (p *part) format() {
	text := p.text
	if p.spec {
		text = append([]byte("var (\n"), bytes.TrimSpace(text)...)
	}
	if p.more {
		text = append(bytes.Clone(text), "\n)"...)
	}
	if p.out, p.err = format.Source(append(bytes.TrimSpace(text), '\n')); p.err != nil {
		return
	}
	if p.spec {
		p.out = bytes.TrimPrefix(p.out, []byte("var (\n"))
	}
	if p.more {
		p.out = bytes.TrimSuffix(p.out, []byte(")\n"))
	}
}

// cut divides a file into parts of at least that many bytes, the last one excepted: at an empty line outside of all brackets before
// a declaration, and behind a spec of more than one line in the brackets of a `var ( )`, where gofmt aligns nothing with what
// comes before.
func cut(src []byte, least int) []part {
	var out []part
	from, begun := 0, false     // begun: the imports are behind
	specs, tall := false, false // we are between the brackets of a `var ( )`; the last spec has several lines
	add := func(to int, inside bool) {
		p := part{at: from, text: src[from:to], more: inside}
		if len(out) > 0 {
			p.spec = out[len(out)-1].more
		}
		out, from = append(out, p), to
	}
	depth := 0
	for i := 0; i < len(src); i++ {
		switch c := src[i]; c {
		case '"', '\'', '`':
			i = literalEnd(src, i)
		case '/':
			i = commentEnd(src, i)
		case '(', '[', '{':
			if depth++; depth == 1 && c == '(' && bytes.HasSuffix(src[:i], []byte("\nvar ")) {
				specs = true
			}
		case ')', ']', '}':
			if depth--; depth == 0 {
				specs = false
			}
		case '\n':
			rest := src[i+1:]
			switch {
			case depth == 0 && declares(rest):
				begun = begun || !bytes.HasPrefix(rest, []byte("//"))
				if begun && i-from >= least && src[i-1] == '\n' && len(rest) >= leastPart {
					add(i, false)
				}
			case depth == 1 && specs:
				if tall && begun && i-from >= least && len(rest) >= leastPart {
					add(i, true)
				}
				tall = false
			case depth > 1:
				tall = true
			}
		}
	}
	add(len(src), false)
	return out
}

// declares reports whether a line begins with what declares something, or with a comment.
func declares(line []byte) bool {
	for _, word := range []string{"func ", "var ", "type ", "const ", "//"} {
		if bytes.HasPrefix(line, []byte(word)) {
			return true
		}
	}
	return false
}

// literalEnd is where the text or character ends that begins at i.
func literalEnd(src []byte, i int) int {
	quote := src[i]
	for i++; i < len(src) && src[i] != quote; i++ {
		if src[i] == '\\' && quote != '`' {
			i++
		}
	}
	return i
}

// commentEnd is where the comment ends that begins at i, before its line break; i when none does.
func commentEnd(src []byte, i int) int {
	end := []byte("\n")
	switch {
	case bytes.HasPrefix(src[i:], []byte("//")):
	case bytes.HasPrefix(src[i:], []byte("/*")):
		end = []byte("*/")
	default:
		return i
	}
	n := bytes.Index(src[i+2:], end)
	if n < 0 {
		return len(src)
	}
	if i += 2 + n; end[0] == '*' {
		return i + 1
	}
	return i - 1
}
