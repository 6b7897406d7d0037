package yamlnode

import (
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/flowgen-dev/flowgen/ir/source"
)

// collection builds a mapping or a sequence that begins at lo.
func (p *parser) collection(n *yaml.Node, lo int, at place) part {
	_, content := p.properties(n, lo)
	m := &Node{Kind: Sequence, Style: Block}
	if n.Kind == yaml.MappingNode {
		m.Kind = Mapping
	}
	if n.Style&yaml.FlowStyle != 0 {
		m.Style = Flow
	}
	p.tag(m, n, lo)
	reported := len(p.problems)
	inside := place{depth: at.depth + 1, inFlow: at.inFlow || m.Style == Flow}
	made := part{node: m, nodes: 1, height: 1}
	all := extent{lo: content, hi: content}
	if m.Kind == Mapping {
		p.entries(n, &made, &all, inside)
	} else {
		for _, c := range n.Content {
			if all.swallows(p, c) {
				continue
			}
			item := p.node(c, inside)
			all.add(item)
			made.hold(item)
			m.Items = append(m.Items, item.node)
		}
	}
	made.hi = all.hi
	if m.Style == Flow && !all.pair(p.src, content) {
		made.hi = p.closing(content, all.hi)
	}
	m.Span = p.span(all.lo, made.hi)
	if m.Kind == Mapping && !p.build.failed {
		return p.unquoted(made, n, all, at, reported)
	}
	return made
}

// hold adds the size of a child.
func (made *part) hold(child part) {
	made.nodes += child.nodes
	made.height = max(made.height, 1+child.height)
}

// An extent is the range of the children of a collection.
type extent struct {
	lo, hi int
	any    bool
	first  part
	joined int  // end of the last text that was put together again
	cut    bool // the last key was cut from its expression
}

func (e *extent) add(c part) {
	if !e.any {
		e.any, e.first = true, c
	}
	e.lo, e.hi, e.joined = min(e.lo, c.lo), max(e.hi, c.hi), max(e.joined, c.joined)
}

// swallows reports whether c lies in text that belongs to a child before it: the rest of an expression that the library
// cut at a comma.
func (e *extent) swallows(p *parser, c *yaml.Node) bool {
	return e.joined > 0 && p.loc.offset(c.Line, c.Column) < e.joined
}

// pair reports whether a flow mapping has no braces of its own: `[key: value]`.
func (e *extent) pair(src string, lo int) bool {
	if lo >= len(src) || src[lo] != '{' && src[lo] != '[' {
		return true
	}
	return e.any && e.first.lo <= lo
}

// closing is the offset after the bracket that closes the flow collection at lo, whose last child ends at hi.
func (p *parser) closing(lo, hi int) int {
	i := max(hi, lo+1)
	for i = skipSpace(p.src, i); i < len(p.src); i = skipSpace(p.src, i+1) {
		switch p.src[i] {
		case ',', ':', '?':
		case ']', '}':
			return i + 1
		default:
			return hi
		}
	}
	return hi
}

// entries builds the entries of a mapping: keys are scalars, each one once.
func (p *parser) entries(n *yaml.Node, made *part, all *extent, inside place) {
	first := make(map[string]*Node, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		if all.swallows(p, n.Content[i]) {
			continue
		}
		at := inside
		at.key = true
		key := p.node(n.Content[i], at)
		all.add(key)
		value := p.node(n.Content[i+1], inside)
		all.add(value)
		made.hold(key)
		made.hold(value)
		all.cut = key.cut
		if !key.cut && !p.build.failed && n.Content[i].ShortTag() == "!!merge" {
			made.node.Merges = append(made.node.Merges, p.merged(key.node, value.node)...)
			continue
		}
		if p.usableKey(n.Content[i], key, first) {
			made.node.Entries = append(made.node.Entries, Entry{key.node, value.node})
		}
	}
}

// merged are the mappings that a merge key brings.
func (p *parser) merged(key, value *Node) []*Node {
	p.report(Problem{Kind: MergeKey, Span: key.Place(), Message: "merge keys are not supported",
		Help: "write the keys out, or move the shared part to a file and use include; quote \"<<\" if it is a name"})
	list := []*Node{value}
	if value.Kind == Sequence {
		list = value.Items
	}
	for _, m := range list {
		if m.Kind != Mapping {
			p.report(Problem{Kind: NonScalarKey, Span: m.Place(), Message: "`<<` takes a mapping, or a list of mappings", Help: "name the anchor of a mapping: `<<: *name`"})
			return nil
		}
	}
	return list
}

// usableKey reports what is wrong with a key; entries with such keys are dropped.
func (p *parser) usableKey(n *yaml.Node, key part, first map[string]*Node) bool {
	k := key.node
	name := k.Text.Value
	switch {
	case key.cut, p.build.failed: // reported already
		return false
	case k.Kind != Scalar:
		p.report(Problem{Kind: NonScalarKey, Span: k.Place(), Message: "a " + k.Kind.String() + " cannot be a key",
			Help: "use a name as the key, or put the text in quotes"})
		return false
	case name == "" && k.Style == Plain:
		p.report(Problem{Kind: NonScalarKey, Span: p.span(k.Span.Lo, k.Span.Lo+1), Message: "a key is missing before `:`",
			Help: "write a name before the colon"})
		return false
	}
	if old := first[name]; old != nil {
		p.report(Problem{Kind: DuplicateKey, Span: k.Place(), Related: []source.Span{old.Place()},
			Message: "the key `" + shorten(name) + "` is defined twice", Help: "remove or rename one of the two"})
		return false
	}
	first[name] = k
	return true
}

// shorten makes text fit in a message.
func shorten(s string) string {
	s = strings.Map(func(r rune) rune {
		if forbidden(r) != "" {
			return ' '
		}
		return r
	}, s)
	if r := []rune(s); len(r) > 60 {
		return string(r[:59]) + "…"
	}
	return s
}
