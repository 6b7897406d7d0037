package native

import (
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// What ToolSpec says of a tool beyond its binding: here what needs more than a word.

var idempotencyWords = []string{"call_id"}

// idempotency reads `call_id`, or text over the fields of the input.
func (p *parser) idempotency(t *ir.Tool, n *yamlnode.Node) {
	if n == nil {
		return
	}
	key := p.textOnly(n, "an idempotency key")
	if key == nil {
		return
	}
	t.Idempotency = true
	if key.Text.Value == idempotencyWords[0] {
		return
	}
	t.IdempotencyKey = key
	if key.Tmpl == nil {
		return // it was reported
	}
	if !slices.ContainsFunc(key.Tmpl.Segments, func(s expr.Segment) bool { return s.Expr != nil }) {
		t.Idempotency, t.IdempotencyKey = false, nil
		p.report(diag.BadLiteral, textSpan(key.Text), "write `call_id`, or a text that identifies the call: `\"order-{{ id }}\"`", "an idempotency key is the same for a repeated call and different for every other one, and `%s` is always the same", shorten(key.Text.Value))
	}
}

// examples reads a list of calls and results; check holds them to the tool's schemas.
func (p *parser) examples(t *ir.Tool, n *yamlnode.Node) {
	if n == nil {
		return
	}
	if n.Kind != yamlnode.Sequence {
		p.wrongShape(n, "`examples` is a list", "write `[{in: {q: x}, out: y}]`")
		return
	}
	for _, it := range n.Items {
		before := p.sink.Errors()
		m, ok := p.mapping(it, shapeExample)
		if !ok || p.sink.Errors() > before {
			continue // what it lacks may be what was misspelled
		}
		x := &ir.Example{Description: p.prose(m.get("description"), "the description"), Span: it.Span}
		if in := m.get("in"); in != nil {
			if in.Kind != yamlnode.Mapping {
				p.wrongShape(in, "`in` is a mapping from fields to values", "write `in: {q: x}`")
				continue
			}
			if x.InJSON, ok = p.constant(in, "an example"); !ok {
				continue
			}
			x.In = p.literal(in)
		}
		if out := m.get("out"); out != nil {
			if x.OutJSON, ok = p.constant(out, "an example"); !ok {
				continue
			}
			x.Out = p.literal(out)
		}
		t.Examples = append(t.Examples, x)
	}
}

// literal is a constant as a value with places: nothing in it is an expression. p.constant has reported what is wrong.
func (p *parser) literal(n *yamlnode.Node) ir.Value {
	switch n.Kind {
	case yamlnode.Sequence:
		l := &ir.List{Span: n.Span}
		for _, it := range n.Items {
			l.Items = append(l.Items, p.literal(it))
		}
		return l
	case yamlnode.Mapping:
		o := &ir.Object{Span: n.Span}
		for _, e := range n.Entries {
			o.Entries = append(o.Entries, &ir.Entry{Key: ir.Ident{Name: e.Key.Text.Value, Span: textSpan(e.Key.Text)}, Value: p.literal(e.Value)})
		}
		return o
	case yamlnode.Null:
		return &ir.Scalar{Text: n.Text, Tag: "!!null"}
	}
	return &ir.Scalar{Text: n.Text, Tag: n.Tag}
}

// capabilities reads permissions or grants. What they are compared by is their bytes, so that only bytes that everybody
// reads alike are allowed; the star at the end of a grant stands for any rest.
func (p *parser) capabilities(n *yamlnode.Node, what string, star bool) []string {
	var out []string
	for _, id := range p.refs(n, what) {
		help := "write it as in `tools:search`"
		if star {
			help += "; `tools:*` grants all that begin with `tools:`"
		}
		if !ir.IsCapability(id.Name, star) {
			p.report(diag.BadName, id.Span, help, "%s is made of ASCII letters, digits and `:`, `.`, `_`, `-`, `/`, `@`, not `%s`", what, shorten(id.Name))
			continue
		}
		out = append(out, id.Name)
	}
	return out
}
