package yamlnode

import "strings"

// A BlockText is a literal or folded scalar as it is written.
type BlockText struct {
	Header  string   // the indicators: "|", ">-", "|2+"
	Comment string   // after the indicators, # included
	Lines   []string // without indentation; those at the end that chomping drops are left out
}

// BlockText returns the source of a literal or folded scalar. ok is false for every other node, and for text whose place
// in the file is not known byte by byte.
func (n *Node) BlockText() (b BlockText, ok bool) {
	if n.Kind != Scalar || n.Style != Literal && n.Style != Folded || n.Text.Opaque {
		return b, false
	}
	src, value := n.Span.File.Text, n.Text.Value
	p := &parser{src: src}
	end := p.endOfHeader(n.Span.Lo, n.Style)
	b.Header = src[n.Span.Lo:end]
	at := EndOfLine(src, end)
	b.Comment = strings.TrimSpace(src[end:at])
	at += LineBreak(src, at)
	indent := blockIndent(src, at, value)
	for at < n.Span.Hi {
		at += min(countSpaces(src, at), indent)
		e := EndOfLine(src, at)
		b.Lines = append(b.Lines, src[at:e])
		at = e + LineBreak(src, e)
	}
	if !strings.Contains(b.Header, "+") {
		return b, true
	}
	kept := len(value) - len(strings.TrimRight(value, "\n"))
	if len(b.Lines) > 0 {
		kept-- // the break that ends the last line
	}
	for ; kept > 0; kept-- {
		b.Lines = append(b.Lines, "")
	}
	return b, true
}
