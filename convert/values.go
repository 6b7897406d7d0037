package convert

import (
	"encoding/json"
	"strings"

	"github.com/flowgen-dev/flowgen/convert/doc"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// Native is a value of the IR of the native language as it is written there.
func (c *Converter) Native(v ir.Value) doc.Value {
	switch v := v.(type) {
	case *ir.Expr:
		return doc.Scalar(doc.Quoted("$" + c.Expr(v.Text.Value, v.Node)))
	case *ir.Template:
		return doc.Spell(c.template(v))
	case *ir.Scalar:
		return Constant(v)
	case *ir.List:
		l := &doc.List{Flow: true}
		for _, it := range v.Items {
			l.Add(c.Native(it), it.Source())
		}
		return l
	case *ir.Object:
		m := doc.Flow()
		for _, e := range v.Entries {
			m.Add(doc.Key(e.Key.Name), c.Native(e.Value), Join(e.Key.Span, e.Value.Source()))
		}
		return m
	}
	c.Refuse(v.Source(), "", "this value cannot be written in the native language")
	return doc.Scalar("null")
}

// Expr is an expression with the native ids of nodes.
func (c *Converter) Expr(text string, n *expr.Node) string {
	if n == nil {
		return text
	}
	refs := n.Refs()
	for i := len(refs) - 1; i >= 0; i-- {
		r := refs[i]
		if id, ok := c.IDs[r.Text]; ok && r.Lo >= 0 && r.Hi <= len(text) && text[r.Lo:r.Hi] == r.Text {
			text = text[:r.Lo] + id + text[r.Hi:]
		}
	}
	return text
}

// template is text with expressions.
func (c *Converter) template(t *ir.Template) string {
	var b strings.Builder
	for _, s := range t.Tmpl.Segments {
		if s.Expr == nil {
			b.WriteString(doc.Braces(s.Lit))
			continue
		}
		b.WriteString(c.Expr(t.Text.Value[s.Lo:s.Hi], shifted(s.Expr, s.Lo, t.Text.Value[s.Lo:s.Hi])))
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

// Constant is a literal where values are read.
func Constant(s *ir.Scalar) doc.Value {
	switch s.Tag {
	case "!!int", "!!float", "!!bool":
		return doc.Scalar(s.Text.Value)
	case "!!null":
		return doc.Scalar("null")
	}
	return doc.Spell(doc.Data(s.Text.Value))
}

// FromJSON is a constant of a declaration, such as a default.
func FromJSON(text string) doc.Value {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	v := decoded(dec)
	if v == nil {
		return doc.Scalar("null")
	}
	return v
}

func decoded(dec *json.Decoder) doc.Value {
	tok, err := dec.Token()
	if err != nil {
		return nil
	}
	switch tok := tok.(type) {
	case json.Delim:
		if tok == '[' {
			l := &doc.List{Flow: true}
			for dec.More() {
				l.Add(decoded(dec), source.Span{})
			}
			_, _ = dec.Token() // the bracket that closes
			return l
		}
		m := doc.Flow()
		for dec.More() {
			k, _ := dec.Token()
			name, _ := k.(string)
			m.Add(doc.Key(name), decoded(dec), source.Span{})
		}
		_, _ = dec.Token()
		return m
	case json.Number:
		return doc.Scalar(tok.String())
	case string:
		return doc.Scalar(doc.Quoted(tok))
	case bool:
		if tok {
			return doc.Scalar("true")
		}
		return doc.Scalar("false")
	}
	return doc.Scalar("null")
}

// Typ is a type as it is written.
func (c *Converter) Typ(t *schema.Type, at source.Span) doc.Value {
	switch {
	case t.Decl != nil:
		return doc.Scalar(t.Decl.Name)
	case t.Go != nil && t.Go.Path != "" && !strings.HasPrefix(t.Go.Path, schema.RuntimePath):
		return doc.Scalar(doc.Quoted("go:" + t.Go.Path + "." + t.Go.Name))
	case t.Kind == schema.Struct:
		m := doc.Flow()
		for _, f := range t.Fields {
			m.Add(f.Name, c.Field(f), f.Span)
		}
		if t.Field("type") != nil {
			return doc.Flow(doc.Pair("type", m))
		}
		return m
	case (t.Kind == schema.List || t.Kind == schema.Map || t.Kind == schema.Opt) && anonymous(t.Elem):
		c.Refuse(at, "", "the type %s has no spelling in the native language", t)
	}
	return doc.Scalar(doc.Quoted(t.String()))
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

// Field is a declared field: its type, or a mapping with what else is said about it.
func (c *Converter) Field(f *schema.Field) doc.Value {
	typ := c.Typ(f.Type, f.Span)
	if f.Default == nil && f.Description == "" && f.Min == nil && f.Max == nil && f.Pattern == "" {
		return typ
	}
	m := doc.Flow(doc.Pair("type", typ))
	if f.Default != nil {
		m.Add("default", FromJSON(f.Default.JSON), f.Default.Span)
	}
	if f.Description != "" {
		m.Add("description", doc.Spell(f.Description), source.Span{})
	}
	if f.Min != nil || f.Max != nil || f.Pattern != "" {
		c.Refuse(f.Span, "", "the bounds of %s are not converted", f.Name)
	}
	return m
}

// Condition is an expression where the language reads one without a `$`.
func Condition(text string) string {
	q := doc.Quoted("$" + text)
	if q == "$"+text && doc.PlainForm.MatchString(text) {
		return text
	}
	return doc.Quoted(text)
}

// WithUnlessEmpty adds arguments, if there are any.
func (c *Converter) WithUnlessEmpty(m, with *doc.Mapping, at source.Span) {
	if len(with.Entries) > 0 {
		m.Add("with", with, at)
	}
}

// Target is the native id of a node; the end of the workflow where there is none.
func (c *Converter) Target(id ir.Ident) string {
	if to, ok := c.IDs[id.Name]; ok {
		return to
	}
	return "end"
}
