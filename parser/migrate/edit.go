package migrate

import (
	"strings"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/insert"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// replace puts text in the place of a span.
func (x *finder) replace(at source.Span, text string) {
	x.edits = append(x.edits, diag.Edit{Span: at, New: text})
}

// word replaces a scalar that is one of the words, and keeps its quotes.
func (x *finder) word(n *yamlnode.Node, words map[string]string) {
	if n == nil || n.Kind != yamlnode.Scalar && n.Kind != yamlnode.Null {
		return
	}
	old := n.Text.Value
	if n.Kind == yamlnode.Null {
		old = "null"
		if n.Span.Lo == n.Span.Hi {
			return
		}
	}
	if better, ok := words[old]; ok {
		x.edits = append(x.edits, diag.Replace(n.Span, better).Edits...)
	}
}

// rename replaces a key unless the new one is there too.
func (x *finder) rename(m *yamlnode.Node, old, better string) {
	if e := m.Entry(old); e != nil && m.Entry(better) == nil {
		x.edits = append(x.edits, diag.Replace(e.Key.Span, better).Edits...)
	}
}

// remove takes an entry out of a mapping that has others, with its line when it has one of its own. A comment on the line stays.
func (x *finder) remove(m *yamlnode.Node, e *yamlnode.Entry) {
	text := x.file.Text
	lo, hi := e.Key.Span.Lo, max(e.Value.Place().Hi, e.Key.Span.Hi)
	if m.Style == yamlnode.Flow {
		last := &m.Entries[len(m.Entries)-1] == e
		if first := &m.Entries[0] == e; !first && last { // with the comma before it
			lo = strings.LastIndexByte(text[:lo], ',')
		} else if i := strings.IndexByte(text[hi:], ','); i >= 0 && !last {
			hi += i + 1
			hi += len(text[hi:]) - len(strings.TrimLeft(text[hi:], " "))
		}
		x.replace(source.Span{Lo: lo, Hi: hi}, "")
		return
	}
	end := yamlnode.EndOfLine(text, hi)
	start := yamlnode.StartOfLine(text, lo)
	switch rest := strings.TrimSpace(text[hi:end]); {
	case strings.TrimSpace(text[start:lo]) != "": // after a dash: the next key takes its place
		if next := m.Entries[1].Key.Span.Lo; &m.Entries[0] == e {
			x.replace(source.Span{Lo: lo, Hi: next}, "")
		}
	case rest != "": // a comment
		x.replace(source.Span{Lo: lo, Hi: hi + len(text[hi:end]) - len(strings.TrimLeft(text[hi:end], " \t"))}, "")
	default:
		x.replace(source.Span{Lo: start, Hi: end + yamlnode.LineBreak(text, end)}, "")
	}
}

// add writes an entry behind another one of a mapping, in brackets or on a line of its own.
func (x *finder) add(m *yamlnode.Node, behind *yamlnode.Entry, key, value string) {
	text := x.file.Text
	hi := max(behind.Value.Place().Hi, behind.Key.Span.Hi)
	if m.Style == yamlnode.Flow {
		x.replace(source.Span{Lo: hi, Hi: hi}, ", "+key+": "+value)
		return
	}
	eol := "\n"
	if i := strings.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		eol = "\r\n"
	}
	indent := strings.Repeat(" ", behind.Key.Span.Lo-yamlnode.StartOfLine(text, behind.Key.Span.Lo))
	line := indent + key + ": " + value
	if hi > 0 && text[hi-1] == '\n' { // a block of text ends with its line
		x.replace(source.Span{Lo: hi, Hi: hi}, line+eol)
		return
	}
	end := yamlnode.EndOfLine(text, hi)
	x.replace(source.Span{Lo: end, Hi: end}, eol+line)
}

// expression writes an expression where YAML reads it as one scalar, in brackets too.
func expression(s string) string {
	if strings.ContainsAny(s, ",{}[]#\"'`%\\\n") || strings.Contains(s, ": ") || strings.HasSuffix(s, ":") || strings.ContainsAny(s[:1], "!&*?-|>@ ") ||
		strings.Contains(s, " ?") || strings.Contains(s, "?.") {
		return insert.Quote(s)
	}
	return s
}
