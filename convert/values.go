package convert

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// native is a value of the IR of the native language as it is written there.
func (c *converter) native(v ir.Value) value {
	switch v := v.(type) {
	case *ir.Expr:
		return scalar(quoted("$" + c.expr(v.Text.Value, v.Node)))
	case *ir.Template:
		return spell(c.template(v))
	case *ir.Scalar:
		return constant(v)
	case *ir.List:
		l := &list{flow: true}
		for _, it := range v.Items {
			l.add(c.native(it), it.Source())
		}
		return l
	case *ir.Object:
		m := flow()
		for _, e := range v.Entries {
			m.add(key(e.Key.Name), c.native(e.Value), join(e.Key.Span, e.Value.Source()))
		}
		return m
	}
	c.refuse(v.Source(), "", "this value cannot be written in the native language")
	return scalar("null")
}

// expr is an expression with the native ids of nodes.
func (c *converter) expr(text string, n *expr.Node) string {
	if n == nil {
		return text
	}
	refs := n.Refs()
	for i := len(refs) - 1; i >= 0; i-- {
		r := refs[i]
		if id, ok := c.ids[r.Text]; ok && r.Lo >= 0 && r.Hi <= len(text) && text[r.Lo:r.Hi] == r.Text {
			text = text[:r.Lo] + id + text[r.Hi:]
		}
	}
	return text
}

// template is text with expressions.
func (c *converter) template(t *ir.Template) string {
	var b strings.Builder
	for _, s := range t.Tmpl.Segments {
		if s.Expr == nil {
			b.WriteString(braces(s.Lit))
			continue
		}
		b.WriteString(c.expr(t.Text.Value[s.Lo:s.Hi], shifted(s.Expr, s.Lo, t.Text.Value[s.Lo:s.Hi])))
	}
	return b.String()
}

// shifted is an expression of a segment as one whose offsets count from the segment's beginning; nil when its names cannot
// be found there.
func shifted(n *expr.Node, by int, text string) *expr.Node {
	out := &expr.Node{Op: expr.ListLit}
	for _, r := range n.Refs() {
		lo := r.Lo - by
		if lo < 0 || lo+len(r.Text) > len(text) || text[lo:lo+len(r.Text)] != r.Text {
			if lo = strings.Index(text, r.Text); lo < 0 {
				continue
			}
		}
		out.Kids = append(out.Kids, &expr.Node{Op: expr.Name, Text: r.Text, Lo: lo, Hi: lo + len(r.Text)})
	}
	return out
}

// constant is a literal where values are read.
func constant(s *ir.Scalar) value {
	switch s.Tag {
	case "!!int", "!!float", "!!bool":
		return scalar(s.Text.Value)
	case "!!null":
		return scalar("null")
	}
	return spell(data(s.Text.Value))
}

// fromJSON is a constant of a declaration, such as a default.
func fromJSON(text string) value {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	v := decoded(dec)
	if v == nil {
		return scalar("null")
	}
	return v
}

func decoded(dec *json.Decoder) value {
	tok, err := dec.Token()
	if err != nil {
		return nil
	}
	switch tok := tok.(type) {
	case json.Delim:
		if tok == '[' {
			l := &list{flow: true}
			for dec.More() {
				l.add(decoded(dec), source.Span{})
			}
			_, _ = dec.Token() // the bracket that closes
			return l
		}
		m := flow()
		for dec.More() {
			k, _ := dec.Token()
			name, _ := k.(string)
			m.add(key(name), decoded(dec), source.Span{})
		}
		_, _ = dec.Token()
		return m
	case json.Number:
		return scalar(tok.String())
	case string:
		return scalar(quoted(tok))
	case bool:
		if tok {
			return scalar("true")
		}
		return scalar("false")
	}
	return scalar("null")
}

// typ is a type as it is written.
func (c *converter) typ(t *schema.Type, at source.Span) value {
	switch {
	case t.Decl != nil:
		return scalar(t.Decl.Name)
	case t.Go != nil && t.Go.Path != "" && !strings.HasPrefix(t.Go.Path, schema.RuntimePath):
		return scalar(quoted("go:" + t.Go.Path + "." + t.Go.Name))
	case t.Kind == schema.Struct:
		m := flow()
		for _, f := range t.Fields {
			m.add(f.Name, c.field(f), f.Span)
		}
		if t.Field("type") != nil {
			return flow(pair("type", m))
		}
		return m
	case (t.Kind == schema.List || t.Kind == schema.Map || t.Kind == schema.Opt) && anonymous(t.Elem):
		c.refuse(at, "", "the type %s has no spelling in the native language", t)
	}
	return scalar(quoted(t.String()))
}

// anonymous reports whether a struct without a name is part of a type.
func anonymous(t *schema.Type) bool {
	switch {
	case t.Decl != nil || t.Go != nil && t.Go.Path != "":
		return false
	case t.Kind == schema.Struct:
		return true
	case t.Elem != nil:
		return anonymous(t.Elem)
	}
	return false
}

// field is a declared field: its type, or a mapping with what else is said about it.
func (c *converter) field(f *schema.Field) value {
	typ := c.typ(f.Type, f.Span)
	if f.Default == nil && f.Description == "" && f.Min == nil && f.Max == nil && f.Pattern == "" {
		return typ
	}
	m := flow(pair("type", typ))
	if f.Default != nil {
		m.add("default", fromJSON(f.Default.JSON), f.Default.Span)
	}
	if f.Description != "" {
		m.add("description", spell(f.Description), source.Span{})
	}
	if f.Min != nil || f.Max != nil || f.Pattern != "" {
		c.refuse(f.Span, "", "the bounds of %s are not converted", f.Name)
	}
	return m
}

func number(n int) scalar { return scalar(strconv.Itoa(n)) }
