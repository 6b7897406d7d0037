// Package yamlfmt writes YAML in one canonical layout. What the file means does not change: scalars keep their style and
// their text, comments, anchors and aliases stay, and what was written is read again and compared before it is returned.
//
// The layout:
//
//   - Two columns of indentation, lists in mappings included; one blank after `:`, `-` and `,`, none inside brackets.
//   - A mapping or list in brackets stays on its line when it fits into Width columns. It is written as a block, one
//     entry a line, when it does not, when the line breaks right after its opening bracket, when there is a comment in it,
//     text of several lines, or unquoted text with a `?`, which PyYAML refuses in brackets. A block is never put into brackets.
//   - At most one blank line between entries, where there was one; none at the start of a block and of the file.
//   - Comments before an entry are indented like it; those that follow an entry and are indented deeper than what comes
//     next stay in the block they are in. A comment on the line of an entry has two blanks before it; those on
//     neighbouring lines are aligned.
//   - Text of several lines is indented by two columns more than its key; where its lines break is the author's.
//   - The keys of the file itself are in the order of Rules.Order.
package yamlfmt

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// Width is how many columns a line with brackets may have, comments not counted.
const Width = 120

// Rules are what a language adds to YAML.
type Rules struct {
	Order []string // of the keys of the file; others come after them
}

// Format returns the text of the file in canonical layout. root is its tree, in which there were no problems. An error
// means that the file has something in it that cannot be formatted; it is never the user's mistake.
func Format(f *source.File, root *yamlnode.Node, rules Rules) (string, error) {
	if root.Kind != yamlnode.Mapping || !root.Alias.IsZero() {
		return "", errors.New("only a mapping can be formatted")
	}
	b := newBuilder(f.Text, root)
	doc, err := b.document(root)
	if err != nil {
		return "", err
	}
	doc.reorder(rules.Order)
	e := &emitter{rules: rules}
	if err := e.document(doc); err != nil {
		return "", err
	}
	text := e.text(crlf(f.Text))
	if err := same(f, doc, text); err != nil {
		return "", err
	}
	return text, nil
}

// crlf reports whether the lines of a file end with CR LF; that is for editors and version control, not for a formatter.
func crlf(text string) bool {
	i := strings.IndexByte(text, '\n')
	return i > 0 && text[i-1] == '\r'
}

// same reads what was written and compares it to what it was made of.
func same(f *source.File, doc *document, text string) error {
	out := source.NewFile(f.Name, text)
	root, problems := yamlnode.Parse(out)
	if root == nil || len(problems) > 0 {
		message := "nothing"
		if len(problems) > 0 {
			message = fmt.Sprintf("%s (%q)", problems[0].Message, problems[0].Span.Text())
		}
		return errors.New("the formatted text is not valid: " + message)
	}
	want, got := &printer{}, &printer{}
	want.node(doc.sorted())
	got.node(root)
	if w, g := want.b.String(), got.b.String(); w != g {
		return errors.New("the formatted text would mean something else: " + difference(w, g))
	}
	before, after := texts(scan(f.Text, doc.root.node)), texts(scan(text, root))
	if !slices.Equal(before, after) {
		return errors.New("the formatted text would lose a comment")
	}
	return nil
}

func texts(list []comment) []string {
	var out []string
	for _, c := range list {
		out = append(out, c.text)
	}
	slices.Sort(out)
	return out
}

func difference(a, b string) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	part := func(s string) string { return fmt.Sprintf("%.60q", s[max(0, min(i-20, len(s))):]) }
	return part(a) + " became " + part(b)
}

// A printer writes what a tree means, and how its scalars are written.
type printer struct {
	b strings.Builder
}

func (p *printer) node(n *yamlnode.Node) {
	if !n.Alias.IsZero() {
		fmt.Fprintf(&p.b, "%s ", n.Alias.Text())
		return
	}
	tag := ""
	if n.Explicit {
		tag = n.Tag
	}
	fmt.Fprintf(&p.b, "%s %q %q ", n.Kind, n.Anchor, tag)
	switch n.Kind {
	case yamlnode.Mapping:
		fmt.Fprint(&p.b, "{")
		for _, e := range n.Entries {
			p.node(e.Key)
			p.node(e.Value)
		}
		fmt.Fprint(&p.b, "} ")
	case yamlnode.Sequence:
		fmt.Fprint(&p.b, "[")
		for _, it := range n.Items {
			p.node(it)
		}
		fmt.Fprint(&p.b, "] ")
	default:
		fmt.Fprintf(&p.b, "%s %q ", n.Style, n.Text.Value)
	}
}
