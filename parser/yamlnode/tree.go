package yamlnode

import (
	"fmt"
	"strings"
	"sync"

	"go.yaml.in/yaml/v4"
)

// A builder makes our tree of the library's. Each node of the file is visited once: built holds the result for aliases
// that come later, with the number of nodes and the nesting it stands for once aliases are expanded. A node that is
// there but not ready contains the alias that asks for it.
type builder struct {
	built      map[*yaml.Node]*built
	count      int // nodes of the file
	aliasNodes int // nodes added by aliases
	failed     bool
}

type built struct {
	node          *Node
	nodes, height int
	ready         bool
}

// place is where a node stands.
type place struct {
	depth  int
	inFlow bool // inside [ ] or { }
	key    bool // is a mapping key
}

// A part is a node under construction, with the expanded size of what it holds.
type part struct {
	node          *Node
	nodes, height int
	lo, hi        int  // where it stands, tag and anchor included; the alias itself if it is one
	joined        int  // end of text that was put together again, 0 if there was no need
	cut           bool // reported as text without quotes: of no use as a key
}

func (p *parser) tree(content *yaml.Node) *Node {
	p.loc = locator{file: p.file}
	p.build = builder{built: map[*yaml.Node]*built{}}
	root := p.node(content, place{})
	if p.build.failed {
		return nil
	}
	return root.node
}

// fail reports a problem that makes the tree useless.
func (p *parser) fail(pr Problem) part {
	if !p.build.failed {
		p.report(pr)
	}
	p.build.failed = true
	return part{node: &Node{Kind: Null, Span: pr.Span}, nodes: 1, lo: pr.Span.Lo, hi: pr.Span.Hi}
}

func (p *parser) node(n *yaml.Node, at place) part {
	lo := p.loc.offset(n.Line, n.Column)
	if p.build.failed {
		return part{node: &Node{Kind: Null, Span: p.span(lo, lo)}, lo: lo, hi: lo}
	}
	if p.build.count++; p.build.count > p.maxNodes {
		return p.fail(Problem{Kind: TooLarge, Span: p.span(lo, lo),
			Message: fmt.Sprintf("the file has more than %d values", p.maxNodes), Help: "split it and use include"})
	}
	if n.Kind == yaml.AliasNode {
		return p.alias(n, lo, at)
	}
	var entry *built
	if n.Anchor != "" {
		entry = &built{}
		p.build.built[n] = entry
	}
	var made part
	switch n.Kind {
	case yaml.MappingNode, yaml.SequenceNode:
		if at.depth >= MaxDepth {
			return p.fail(p.tooDeep(lo, lo+1))
		}
		made = p.collection(n, lo, at)
	default:
		made = p.scalar(n, lo, at)
	}
	made.lo = lo
	m := made.node
	m.Anchor = n.Anchor
	m.HeadComment, m.LineComment, m.FootComment = n.HeadComment, n.LineComment, n.FootComment
	if entry != nil {
		*entry = built{node: m, nodes: made.nodes, height: made.height, ready: true}
	}
	return made
}

func (p *parser) tooDeep(lo, hi int) Problem {
	return Problem{Kind: TooDeep, Span: p.span(lo, hi),
		Message: fmt.Sprintf("nested more than %d levels deep", MaxDepth), Help: "name the inner parts and refer to them"}
}

func (p *parser) alias(n *yaml.Node, lo int, at place) part {
	span := p.span(lo, lo+1+len(n.Value))
	target := p.build.built[n.Alias]
	switch {
	case target == nil: // the anchored node was not built, for example because it was a key we dropped
		return p.fail(Problem{Kind: UnknownAnchor, Span: span, Message: "`*" + n.Value + "` refers to nothing usable",
			Help: "define `&" + n.Value + "` before it"})
	case !target.ready:
		return p.fail(Problem{Kind: AliasCycle, Span: span, Message: "`*" + n.Value + "` is inside what it stands for",
			Help: "remove the alias: a value cannot contain itself"})
	case at.depth+target.height > MaxDepth:
		return p.fail(p.tooDeep(span.Lo, span.Hi))
	}
	if p.build.aliasNodes += target.nodes; p.build.aliasNodes > MaxAliasNodes {
		return p.fail(Problem{Kind: TooManyAliases, Span: span,
			Message: fmt.Sprintf("the aliases up to this one stand for more than %d values", MaxAliasNodes),
			Help:    "write the values out, or use fewer aliases of aliases"})
	}
	c := *target.node
	c.Alias, c.Anchor = span, ""
	c.HeadComment, c.LineComment, c.FootComment = n.HeadComment, n.LineComment, n.FootComment
	return part{node: &c, nodes: target.nodes, height: target.height, lo: lo, hi: span.Hi}
}

// properties returns the offset after the tag and anchor that n begins with at lo, and that of the content after them.
// An absent value has no content; it ends with its last property.
func (p *parser) properties(n *yaml.Node, lo int) (after, content int) {
	count := 0
	if n.Anchor != "" {
		count++
	}
	if explicitTag(n) {
		count++
	}
	after, content = lo, lo
	for ; count > 0 && content < len(p.src); count-- {
		switch p.src[content] {
		case '&':
			after = content + 1 + len(n.Anchor)
		case '!':
			after = p.endOfTag(content)
		default:
			return after, content
		}
		content = skipSpace(p.src, after)
	}
	return after, content
}

// endOfTag is the offset after the tag at lo.
func (p *parser) endOfTag(lo int) int {
	if strings.HasPrefix(p.src[lo:], "!<") {
		if i := strings.IndexByte(p.src[lo:], '>'); i > 0 {
			return lo + i + 1
		}
	}
	if i := strings.IndexAny(p.src[lo:min(len(p.src), lo+1024)], " \t\r\n,[]{}"); i > 0 {
		return lo + i
	}
	for lo < len(p.src) && !strings.ContainsRune(" \t\r\n,[]{}", rune(p.src[lo])) {
		lo++
	}
	return lo
}

func explicitTag(n *yaml.Node) bool { return n.Style&yaml.TaggedStyle != 0 || n.Tag == "!" }

// skipSpace skips blanks, line breaks and comments.
func skipSpace(s string, p int) int {
	for p < len(s) {
		switch s[p] {
		case ' ', '\t', '\r', '\n':
			p++
		case '#':
			if p > 0 && !strings.ContainsRune(" \t\r\n,[]{}", rune(s[p-1])) {
				return p
			}
			p = EndOfLine(s, p)
		default:
			return p
		}
	}
	return p
}

var coreTags = map[string]bool{
	"!!str": true, "!!int": true, "!!float": true, "!!bool": true, "!!null": true, "!!binary": true, "!!timestamp": true,
	"!!map": true, "!!seq": true,
}

// tag gives m the tag of n and refuses those that only some other program understands.
func (p *parser) tag(m *Node, n *yaml.Node, lo int) {
	m.Tag, m.Explicit = n.ShortTag(), explicitTag(n)
	if !m.Explicit || coreTags[m.Tag] {
		return
	}
	at := lo
	if p.src[at] == '&' {
		at = skipSpace(p.src, at+1+len(n.Anchor))
	}
	p.report(Problem{Kind: UnknownTag, Span: p.span(at, p.endOfTag(at)), Message: "unknown tag `" + m.Tag + "`",
		Help: "remove the tag; if the `!` is part of the text, put the text in quotes"})
	m.Tag, m.Explicit = map[Kind]string{Mapping: "!!map", Sequence: "!!seq"}[m.Kind], false
	if m.Tag == "" {
		m.Tag = "!!str"
	}
}

func (p *parser) scalar(n *yaml.Node, lo int, at place) part {
	m := &Node{Kind: Scalar}
	after, content := p.properties(n, lo)
	switch {
	case n.Style&yaml.DoubleQuotedStyle != 0:
		m.Style = DoubleQuoted
	case n.Style&yaml.SingleQuotedStyle != 0:
		m.Style = SingleQuoted
	case n.Style&yaml.LiteralStyle != 0:
		m.Style = Literal
	case n.Style&yaml.FoldedStyle != 0:
		m.Style = Folded
	case n.Value == "":
		content = after
	}
	p.text(m, n.Value, content)
	p.tag(m, n, lo)
	if m.Tag == "!!null" && !at.key && isNull(n.Value) {
		m.Kind = Null
	}
	made := part{node: m, nodes: 1, hi: m.Span.Hi}
	if m.Style == Plain {
		p.checkCut(&made, at)
	}
	return made
}

func isNull(v string) bool {
	return v == "" || v == "~" || v == "null" || v == "Null" || v == "NULL"
}

// text sets span and text of a scalar whose content begins at lo.
func (p *parser) text(m *Node, val string, lo int) {
	src, style := p.src, m.Style
	hi, verbatim, opaque := lo, false, false
	switch style {
	case Plain:
		if verbatim = strings.HasPrefix(src[lo:], val); verbatim {
			hi = lo + len(val)
			break
		}
		fallthrough
	case Literal, Folded:
		_, end, ok := mapScalar(src, lo, style, val, false)
		hi, opaque = max(end, p.endOfHeader(lo, style)), !ok
		if !ok {
			hi = EndOfLine(src, lo)
		}
	default:
		hi = endOfQuoted(src, lo)
	}
	m.Span = p.span(lo, hi)
	m.Text.Value, m.Text.Span, m.Text.Opaque = val, m.Span, opaque
	if style == SingleQuoted || style == DoubleQuoted {
		m.Text.Quote = src[lo]
	}
	if !verbatim && !opaque {
		m.Text.Offsets = sync.OnceValue(func() []int {
			offsets, _, ok := mapScalar(src, lo, style, val, true)
			if !ok {
				return nil
			}
			for i := len(offsets) - 1; i >= 0 && offsets[i] > hi; i-- { // the breaks that end a block scalar
				offsets[i] = hi
			}
			return offsets
		})
	}
}

// endOfHeader is the offset after the indicators of a block scalar.
func (p *parser) endOfHeader(lo int, style Style) int {
	if style != Literal && style != Folded {
		return lo
	}
	for lo++; lo < len(p.src) && strings.IndexByte("+-0123456789", p.src[lo]) >= 0; {
		lo++
	}
	return lo
}

// endOfQuoted is the offset after the closing quote of the scalar at lo.
func endOfQuoted(s string, lo int) int {
	if lo >= len(s) {
		return lo
	}
	quote := s[lo]
	for i := lo + 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && quote == '"':
			i++
		case s[i] != quote:
		case quote == '\'' && i+1 < len(s) && s[i+1] == '\'':
			i++
		default:
			return i + 1
		}
	}
	return len(s)
}
