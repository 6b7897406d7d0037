package yamlgraph

import (
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

var (
	wholeRef = lazyregexp.New(`^\{state\.([A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)*)\}$`)
	bareRef  = lazyregexp.New(`^\{[A-Za-z_][A-Za-z0-9_.]*\}$`)
)

// value reads what stands for a value: text that is a reference as a whole, or a constant. Text with references inside of
// it, and references inside of lists and maps, are what the engine takes them for: text.
func (p *parser) value(n *yamlnode.Node) ir.Value {
	if n.Kind == yamlnode.Scalar && p.Schema.Tag(n) == "!!str" {
		return p.text(n)
	}
	return p.constant(n)
}

func (p *parser) text(n *yamlnode.Node) ir.Value {
	s := n.Text.Value
	if m := wholeRef.FindStringSubmatch(s); m != nil {
		return p.reference(n.Text, m[1])
	}
	if c := p.calculate(n); c != nil {
		return c
	}
	switch {
	case strings.HasPrefix(s, "{state.") && strings.HasSuffix(s, "}"):
		p.Warn(diag.IgnoredKey, n.Span, "make one value of it in a python node", "this is null: the engine reads all of it as one path")
		return &ir.Scalar{Text: n.Text, Tag: "!!null"}
	case inText.MatchString(s):
		return p.interpolate(n)
	case bareRef.MatchString(s):
		p.Warn(diag.IgnoredKey, n.Span, "write `{state."+strings.Trim(s, "{}")+"}`", "this stays text: a reference begins with `state.`")
	}
	return p.constant(n)
}

// reference is a path into the state, or into the item of the map around.
func (p *parser) reference(t source.Text, dotted string) *dialect.Reference {
	r := &dialect.Reference{Text: t, Root: "state", Path: strings.Split(dotted, "."), Missing: dialect.MissingNull}
	if r.Path[0] == p.item && p.item != "" {
		r.Root, r.Path = "item", r.Path[1:]
		return r
	}
	p.named(r.Path[0], t.Span)
	return r
}

// named makes a field that every state has one of this state, when the file asks for it.
func (p *parser) named(name string, at source.Span) {
	if typ := always[name]; typ != nil {
		p.field(ir.Ident{Name: name, Span: at}, typ)
	}
}

// constant reads a value without references.
func (p *parser) constant(n *yamlnode.Node) ir.Value {
	switch n.Kind {
	case yamlnode.Mapping:
		o := &ir.Object{Span: n.Span}
		for _, e := range n.Entries {
			o.Entries = append(o.Entries, &ir.Entry{Key: ir.Ident{Name: e.Key.Text.Value, Span: e.Key.Span}, Value: p.inside(e.Value)})
		}
		return o
	case yamlnode.Sequence:
		l := &ir.List{Span: n.Span}
		for _, it := range n.Items {
			l.Items = append(l.Items, p.inside(it))
		}
		return l
	}
	return p.scalar(n)
}

func (p *parser) inside(n *yamlnode.Node) ir.Value {
	if n.Kind == yamlnode.Scalar && strings.Contains(n.Text.Value, "{state.") {
		p.Warn(diag.IgnoredKey, n.Span, "give the reference a variable of its own", "this stays text: the engine does not look for references in lists and maps")
	}
	return p.constant(n)
}

// scalar reads a constant. Numbers and booleans get the spelling of JSON.
func (p *parser) scalar(n *yamlnode.Node) *ir.Scalar {
	s := &ir.Scalar{Text: n.Text, Tag: p.Schema.Tag(n)}
	switch s.Tag {
	case "!!int", "!!float":
		p.Number(s, n, yamlnode.Number11)
	case "!!bool":
		v, _ := yamlnode.Bool11(n.Text.Value)
		s.Text.Value = strconv.FormatBool(v)
	}
	return s
}
