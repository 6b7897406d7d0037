package yamlfmt

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// An emitter writes lines. Comments are kept apart until all are known, to be aligned.
type emitter struct {
	rules Rules
	lines []line
	begun string // what is on the line that the next item begins on: "- "
	kept  bool   // the last line is text that keeps the empty lines after it
}

type line struct {
	text    string
	comment string
}

func (e *emitter) add(text, comment string) {
	e.lines = append(e.lines, line{text, comment})
	e.kept = false
}

// gap writes an empty line, but none at the top of the file, after another, and where it would become part of a text.
func (e *emitter) gap() {
	if n := len(e.lines); n > 0 && !e.kept && e.lines[n-1] != (line{}) {
		e.add("", "")
	}
}

// above writes comments on lines of their own. first says whether there may be an empty line above them.
func (e *emitter) above(list []comment, indent string, first bool) {
	for i, c := range list {
		if c.blank && (first || i > 0) {
			e.gap()
		}
		e.add(indent+c.text, "")
	}
}

func (e *emitter) document(d *document) error {
	e.above(d.prolog, "", true)
	if d.marker {
		e.add("---", "")
	}
	e.above(d.header, "", true)
	if len(d.header) > 0 && (d.moved || len(d.root.items) == 0 || d.root.items[0].separate()) {
		e.gap()
	}
	if p := props(d.root.node); p != "" {
		e.add(p, "")
	}
	if len(d.root.items) == 0 {
		e.above(d.root.foot, "", true)
		e.add("{}", "")
		return nil
	}
	return e.collection(d.root, "")
}

// separate reports whether an item had an empty line above it.
func (it *item) separate() bool {
	if len(it.lead) > 0 {
		return it.lead[0].blank
	}
	return it.blank
}

// collection writes the items of a block.
func (e *emitter) collection(c *collection, indent string) error {
	for i, it := range c.items {
		e.above(it.lead, indent, i > 0)
		if it.blank && (i > 0 || len(it.lead) > 0) {
			e.gap()
		}
		start := indent
		if e.begun != "" {
			start, e.begun = e.begun, ""
		}
		if it.key == nil {
			start += "-"
		} else {
			key, err := e.key(it.key)
			if err != nil {
				return err
			}
			start += key
		}
		if err := e.value(it, start, indent); err != nil {
			return err
		}
	}
	e.above(c.foot, indent, true)
	return nil
}

// key is a key with its colon.
func (e *emitter) key(n *yamlnode.Node) (string, error) {
	if !n.Alias.IsZero() {
		return n.Alias.Text() + " :", nil
	}
	text := n.Span.Text()
	if strings.ContainsAny(text, "\r\n") || n.Style == yamlnode.Literal || n.Style == yamlnode.Folded {
		return "", errors.New("a key of several lines cannot be formatted")
	}
	if text == "" {
		text = n.Text.Value
	}
	return join(props(n), text) + ":", nil
}

// value writes the value of an item after what is before it on its line.
func (e *emitter) value(it *item, start, indent string) error {
	n := it.value
	if !n.Alias.IsZero() {
		e.add(start+" "+n.Alias.Text(), it.line)
		return nil
	}
	if it.sub == nil {
		return e.scalar(it, start, indent+"  ")
	}
	head := join(start, props(n))
	if text, ok := it.sub.inline(Width - utf8.RuneCountInString(head) - 1); ok {
		e.add(head+" "+text, it.line)
		return nil
	}
	comment := it.head
	if comment == "" {
		comment = it.line
	}
	if it.key == nil && head == start {
		if comment != "" {
			e.moveUp(comment, indent)
		}
		e.begun = start + " "
		return e.collection(it.sub, indent+"  ")
	}
	e.add(head, comment)
	return e.collection(it.sub, indent+"  ")
}

// moveUp puts the comment of a list element that begins with its first entry above it.
func (e *emitter) moveUp(text, indent string) { e.add(indent+text, "") }

func (e *emitter) scalar(it *item, start, indent string) error {
	n := it.value
	if b, ok := n.BlockText(); ok {
		e.block(n, b, start, indent)
		return nil
	}
	if n.Style == yamlnode.Literal || n.Style == yamlnode.Folded {
		return errors.New("a text cannot be formatted")
	}
	lines := splitLines(n.Span.Text())
	text := join(join(start, props(n)), lines[0])
	for _, l := range lines[1:] {
		e.add(text, "")
		text = ""
		if l = strings.TrimLeft(l, " \t"); l != "" {
			text = indent + l
		}
	}
	e.add(text, it.line)
	return nil
}

// block writes a literal or folded scalar. It says how deep it is indented only where that cannot be seen.
func (e *emitter) block(n *yamlnode.Node, b yamlnode.BlockText, start, indent string) {
	header := b.Header[:1]
	for _, l := range b.Lines {
		if l != "" {
			if l[0] == ' ' {
				header += "2"
			}
			break
		}
	}
	header += strings.Trim(b.Header[1:], "0123456789")
	e.add(join(join(start, props(n)), header), b.Comment)
	for _, l := range b.Lines {
		if l != "" {
			l = indent + l
		}
		e.add(l, "")
	}
	e.kept = strings.Contains(header, "+")
}

// props are the tag and the anchor of a node.
func props(n *yamlnode.Node) string {
	p := ""
	if n.Anchor != "" {
		p = "&" + n.Anchor
	}
	if n.Explicit {
		p = join(p, n.Tag)
	}
	return p
}

// join puts a blank between two texts.
func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + " " + b
}

func splitLines(s string) []string {
	return strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s), "\n")
}

// inline is the collection in brackets, if it may be there: it was written so, fits, and has nothing in it that asks
// for lines of its own.
func (c *collection) inline(room int) (string, bool) {
	brackets := "{}"
	if c.node.Kind == yamlnode.Sequence {
		brackets = "[]"
	}
	if len(c.items) == 0 {
		return brackets, true
	}
	if c.node.Style != yamlnode.Flow || c.open || len(c.foot) > 0 {
		return "", false
	}
	var b strings.Builder
	b.WriteByte(brackets[0])
	width := 2
	for i, it := range c.items {
		if i > 0 {
			b.WriteString(", ")
			width += 2
		}
		text, ok := it.inline(room - width)
		if !ok {
			return "", false
		}
		if width += utf8.RuneCountInString(text); width > room {
			return "", false
		}
		b.WriteString(text)
	}
	b.WriteByte(brackets[1])
	return b.String(), true
}

// apart reports unquoted text that some readers of YAML end at its `?` where it is between brackets: on a line of its own all
// read it alike.
func apart(n *yamlnode.Node) bool {
	return n.Kind == yamlnode.Scalar && n.Style == yamlnode.Plain && strings.Contains(n.Text.Value, "?")
}

// inline is an item between brackets.
func (it *item) inline(room int) (string, bool) {
	if len(it.lead) > 0 || it.head != "" || it.line != "" {
		return "", false
	}
	n, text := it.value, ""
	switch {
	case !n.Alias.IsZero():
		text = n.Alias.Text()
	case it.sub != nil:
		inside, ok := it.sub.inline(room)
		if !ok {
			return "", false
		}
		text = join(props(n), inside)
	default:
		text = n.Span.Text()
		if strings.ContainsAny(text, "\r\n") || apart(n) || n.Style == yamlnode.Literal || n.Style == yamlnode.Folded || text == "" && props(n) != "" {
			return "", false
		}
		text = join(props(n), text)
	}
	if it.key == nil {
		return text, text != ""
	}
	key, err := (&emitter{}).key(it.key)
	if err != nil || apart(it.key) {
		return "", false
	}
	if text == "" {
		return strings.TrimSuffix(key, ":"), true
	}
	return key + " " + text, true
}

// farApart is how many columns comments on neighbouring lines may be moved to be aligned.
const farApart = 40

// text joins the lines and aligns the comments of neighbours.
func (e *emitter) text(crlf bool) string {
	end := "\n"
	if crlf {
		end = "\r\n"
	}
	var b strings.Builder
	for i := 0; i < len(e.lines); {
		run := 1
		if e.lines[i].comment != "" {
			for i+run < len(e.lines) && e.lines[i+run].comment != "" {
				run++
			}
		}
		least, most := 1<<30, 0
		for _, l := range e.lines[i : i+run] {
			w := utf8.RuneCountInString(l.text)
			least, most = min(least, w), max(most, w)
		}
		for _, l := range e.lines[i : i+run] {
			b.WriteString(l.text)
			if l.comment != "" {
				pad := 2
				if most-least <= farApart {
					pad += most - utf8.RuneCountInString(l.text)
				}
				b.WriteString(strings.Repeat(" ", pad) + l.comment)
			}
			b.WriteString(end)
		}
		i += run
	}
	return b.String()
}
