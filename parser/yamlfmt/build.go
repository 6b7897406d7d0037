package yamlfmt

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// A comment of the file.
type comment struct {
	text  string // # included
	lo    int
	col   int  // bytes before it on its line
	blank bool // an empty line is above it
	alone bool // nothing else is on its line
}

// A document is a file with its comments at what they are about.
type document struct {
	prolog []comment // before the marker
	marker bool      // --- begins the document
	header []comment // about the file rather than about its first entry
	moved  bool      // another entry is the first now
	root   *collection
}

// A collection is a mapping or a sequence.
type collection struct {
	node  *yamlnode.Node
	items []*item
	foot  []comment // after the last item
	open  bool      // the author broke the line after the bracket
}

// An item is an entry of a mapping or an element of a sequence.
type item struct {
	lead  []comment // above it
	blank bool      // an empty line is above the item itself
	key   *yamlnode.Node
	value *yamlnode.Node
	sub   *collection // the value, when it is one written here
	head  string      // comment on the line of the key, when the value begins below it
	line  string      // comment after the value
}

// scan finds the comments: outside of scalars, # begins one at the start of a token.
func scan(src string, root *yamlnode.Node) []comment {
	type span struct{ lo, hi int }
	var scalars []span
	var walk func(n *yamlnode.Node)
	walk = func(n *yamlnode.Node) {
		if !n.Alias.IsZero() {
			return
		}
		for _, e := range n.Entries {
			walk(e.Key)
			walk(e.Value)
		}
		for _, it := range n.Items {
			walk(it)
		}
		if n.Kind != yamlnode.Scalar && n.Kind != yamlnode.Null || n.Span.Lo == n.Span.Hi {
			return
		}
		lo := n.Span.Lo
		if b, ok := n.BlockText(); ok && b.Comment != "" && n.Span.Hi > lo+len(b.Header) {
			at := lo + len(b.Header)
			scalars = append(scalars, span{lo, at})
			lo = yamlnode.EndOfLine(src, at) // the comment is between the indicators and the text
		}
		scalars = append(scalars, span{lo, n.Span.Hi})
	}
	walk(root)
	slices.SortFunc(scalars, func(a, b span) int { return cmp.Compare(a.lo, b.lo) })
	var out []comment
	at := 0
	for _, s := range append(scalars, span{len(src), len(src)}) {
		for at < s.lo {
			if src[at] != '#' || at > 0 && !strings.ContainsRune(" \t\r\n,[]{}", rune(src[at-1])) {
				at++
				continue
			}
			end := yamlnode.EndOfLine(src, at)
			lo := yamlnode.StartOfLine(src, at)
			out = append(out, comment{strings.TrimRight(src[at:end], " \t"), at, at - lo, blankAbove(src, lo), strings.TrimLeft(src[lo:at], " \t") == ""})
			at = end
		}
		at = max(at, s.hi)
	}
	return out
}

// blankAbove reports whether the line above the one that starts at lo is empty.
func blankAbove(src string, lo int) bool {
	if lo == 0 {
		return false
	}
	end := lo - 1
	if src[end] == '\n' && end > 0 && src[end-1] == '\r' {
		end--
	}
	return strings.TrimLeft(src[yamlnode.StartOfLine(src, end):end], " \t") == ""
}

type builder struct {
	src      string
	lines    []int // where each begins; lines may be megabytes long, so that they are not looked for again and again
	comments []comment
}

func newBuilder(src string, root *yamlnode.Node) *builder {
	b := &builder{src: src, lines: []int{0}, comments: scan(src, root)}
	if strings.HasPrefix(src, "\ufeff") {
		b.lines[0] = len("\ufeff")
	}
	for at := yamlnode.EndOfLine(src, 0); at < len(src); at = yamlnode.EndOfLine(src, at) {
		at += yamlnode.LineBreak(src, at)
		b.lines = append(b.lines, at)
	}
	return b
}

// lineOf is where the line of an offset begins.
func (b *builder) lineOf(off int) int {
	i, found := slices.BinarySearch(b.lines, off)
	if !found {
		i--
	}
	return b.lines[max(i, 0)]
}

// take removes the comments before an offset.
func (b *builder) take(until int) []comment {
	n := 0
	for n < len(b.comments) && b.comments[n].lo < until {
		n++
	}
	out := b.comments[:n:n]
	b.comments = b.comments[n:]
	return out
}

// beside removes the next comment if it follows on the line of an offset, before another.
func (b *builder) beside(after, before int) string {
	if len(b.comments) == 0 {
		return ""
	}
	c := b.comments[0]
	if c.lo < after || c.lo >= before || strings.ContainsAny(b.src[after:c.lo], "\r\n") {
		return ""
	}
	b.comments = b.comments[1:]
	return c.text
}

func (b *builder) document(root *yamlnode.Node) (*document, error) {
	doc := &document{}
	first := root.Span.Lo
	for at := 0; at < first; {
		end := yamlnode.EndOfLine(b.src, at)
		switch line := strings.TrimPrefix(b.src[at:end], "\ufeff"); {
		case strings.HasPrefix(line, "%"):
			return nil, errors.New("a YAML directive cannot be formatted")
		case strings.HasPrefix(line, "---"):
			doc.marker = true
			doc.prolog = b.take(at)
		}
		at = end + max(1, yamlnode.LineBreak(b.src, end))
	}
	doc.root = b.collection(root, place{limit: len(b.src), next: -1, parent: -1})
	doc.root.foot = append(doc.root.foot, b.take(len(b.src))...)
	if len(doc.root.items) > 0 {
		doc.header, doc.root.items[0].lead = header(doc.root.items[0])
	}
	return doc, nil
}

// header splits the comments at the top: those up to the last empty line, and lines for editors and shells, are about
// the file.
func header(first *item) (about, lead []comment) {
	n := 0
	for i, c := range first.lead {
		below := first.blank
		if i+1 < len(first.lead) {
			below = first.lead[i+1].blank
		}
		if below || strings.HasPrefix(c.text, "#!") || strings.HasPrefix(c.text, "# yaml-language-server:") {
			n = i + 1
		}
	}
	return first.lead[:n], first.lead[n:]
}

// A place is what surrounds a collection.
type place struct {
	limit  int // where the next thing after it begins
	next   int // in which column that is; -1 for the end of the file
	parent int // column of the mapping around it, or -1
	flow   bool
}

func (b *builder) column(off int) int { return off - b.lineOf(off) }

func (b *builder) collection(n *yamlnode.Node, at place) *collection {
	c := &collection{node: n}
	flow := at.flow || n.Style == yamlnode.Flow
	col := b.column(n.Span.Lo)
	if flow && n.Span.Hi > n.Span.Lo && strings.IndexByte("{[", b.src[n.Span.Lo]) >= 0 {
		after := n.Span.Lo + 1
		for after < len(b.src) && (b.src[after] == ' ' || b.src[after] == '\t') {
			after++
		}
		c.open = yamlnode.LineBreak(b.src, after) > 0
	}
	for _, e := range n.Entries {
		c.items = append(c.items, &item{key: e.Key, value: e.Value})
	}
	for _, it := range n.Items {
		c.items = append(c.items, &item{value: it})
	}
	inside := place{next: col, parent: col, flow: flow}
	if n.Kind == yamlnode.Sequence {
		inside.parent = -1
	}
	for i, it := range c.items {
		inside.limit = n.Span.Hi
		if !flow {
			inside.limit, inside.next = at.limit, at.next
		}
		if i+1 < len(c.items) {
			inside.limit, inside.next = c.items[i+1].start(), col
		}
		b.item(it, inside)
	}
	if flow {
		c.foot = b.take(n.Span.Hi)
		return c
	}
	if n.Kind == yamlnode.Sequence && col == at.parent {
		col++ // a list that is not indented has the column of the keys around it
	}
	for len(b.comments) > 0 {
		x := b.comments[0]
		if x.lo >= at.limit || x.col < col || x.col <= at.next || !x.alone {
			break
		}
		c.foot = append(c.foot, x)
		b.comments = b.comments[1:]
	}
	return c
}

// start is where an item begins, tags and anchors not counted.
func (it *item) start() int {
	if it.key != nil {
		return it.key.Place().Lo
	}
	return it.value.Place().Lo
}

// item gives an item its comments, up to the end of its value and of the line of that.
func (b *builder) item(it *item, at place) {
	v := it.value
	it.lead = b.take(it.start())
	it.blank = blankAbove(b.src, b.lineOf(it.start()))
	collected := v.Alias.IsZero() && (v.Kind == yamlnode.Mapping || v.Kind == yamlnode.Sequence)
	block := collected && v.Style != yamlnode.Flow
	if block && it.key != nil {
		it.head = b.beside(it.key.Place().Hi, v.Span.Lo)
	}
	if !block && v.Place().Lo < v.Place().Hi {
		it.lead = append(it.lead, b.take(v.Place().Lo)...)
	}
	if text, ok := v.BlockText(); ok && v.Alias.IsZero() {
		it.head = text.Comment
		if it.head != "" && len(b.comments) > 0 && b.comments[0].lo < max(v.Span.Hi, yamlnode.EndOfLine(b.src, v.Span.Lo)) {
			b.comments = b.comments[1:]
		}
		return
	}
	if collected {
		it.sub = b.collection(v, at)
		it.settle()
	}
	if !block {
		end := v.Place().Hi
		if it.key != nil && v.Place().Lo == end { // an absent value is anywhere after its key
			end = it.key.Place().Hi
		}
		it.line = b.beside(end, at.limit)
	}
}

// settle moves comments that have no place of their own in what an item holds.
func (it *item) settle() {
	if len(it.sub.items) == 0 {
		it.lead = append(it.lead, it.sub.foot...)
		it.sub.foot = nil
		return
	}
	if first := it.sub.items[0]; it.key == nil && it.sub.node.Anchor == "" && !it.sub.node.Explicit {
		it.lead = append(it.lead, first.lead...) // `- ` and the first entry share a line
		first.lead, first.blank = nil, false
	}
}

// reorder sorts the entries of the file. A file in which an alias is in another entry than its anchor stays as it
// is: the anchor has to come first.
func (d *document) reorder(order []string) {
	if len(d.root.items) == 0 || d.root.tangled() {
		return
	}
	rank := func(it *item) int {
		if i := slices.Index(order, it.key.Text.Value); i >= 0 {
			return i
		}
		return len(order)
	}
	first := d.root.items[0]
	slices.SortStableFunc(d.root.items, func(a, b *item) int { return cmp.Compare(rank(a), rank(b)) })
	d.moved = d.root.items[0] != first
	if d.moved && len(d.header) > 0 { // the empty line above it was that below the header
		first.blank = first.blank && len(first.lead) > 0
		if len(first.lead) > 0 {
			first.lead[0].blank = false
		}
	}
}

func (c *collection) tangled() bool {
	var crosses func(n *yamlnode.Node, home *item) bool
	crosses = func(n *yamlnode.Node, home *item) bool {
		if !n.Alias.IsZero() {
			lo, hi := home.key.Span.Lo, home.value.Span.Hi
			return n.Span.Lo < lo || n.Span.Lo >= max(hi, lo+1)
		}
		return slices.ContainsFunc(n.Items, func(x *yamlnode.Node) bool { return crosses(x, home) }) ||
			slices.ContainsFunc(n.Entries, func(e yamlnode.Entry) bool { return crosses(e.Key, home) || crosses(e.Value, home) })
	}
	return slices.ContainsFunc(c.items, func(it *item) bool { return crosses(it.key, it) || crosses(it.value, it) })
}

// sorted is the tree with the entries of the file in their new order.
func (d *document) sorted() *yamlnode.Node {
	n := *d.root.node
	n.Entries = nil
	for _, it := range d.root.items {
		n.Entries = append(n.Entries, yamlnode.Entry{Key: it.key, Value: it.value})
	}
	return &n
}

// A Comment of a file: its text, # included, where it begins, and whether nothing else is on its line.
type Comment struct {
	Text  string
	Lo    int
	Alone bool
}

// Comments are all comments of a file whose tree is root, in their order.
func Comments(src string, root *yamlnode.Node) []Comment {
	var out []Comment
	for _, c := range scan(src, root) {
		out = append(out, Comment{c.text, c.lo, c.alone})
	}
	return out
}
