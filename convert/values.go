package convert

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/convert/doc"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// Ref is an expression of the native language, made of what is at a place; zero: of nothing.
func Ref(text string, at ...source.Span) *ir.Expr {
	e := &ir.Expr{Text: source.Text{Value: text}}
	for _, span := range at {
		e.Text.Span = span
	}
	return e
}

// Number is an integer.
func Number(n int) *ir.Scalar { return constant("!!int", strconv.Itoa(n)) }

// Object is a mapping that the conversion makes.
func Object(entries ...*ir.Entry) *ir.Object { return &ir.Object{Entries: entries} }

// Struct is the type of a mapping.
func Struct(fields ...*schema.Field) *schema.Type {
	return &schema.Type{Kind: schema.Struct, Fields: fields}
}

// Field is a field that the conversion makes.
func Field(name string, t *schema.Type) *schema.Field { return &schema.Field{Name: name, Type: t} }

// Duration is a time that the conversion makes.
func Duration(d time.Duration) *ir.Duration { return &ir.Duration{Value: d} }

// Edge leads from a node to others. at is where the file writes it.
func Edge(from string, at source.Span, to ...string) *ir.Edge {
	return &ir.Edge{From: Name(from), To: Names(to...), Span: at}
}

// When is an edge with a condition.
func When(from, to, when string, at source.Span) *ir.Edge {
	return &ir.Edge{From: Name(from), To: Names(to), When: Ref(when), Span: at}
}

// Text is text of the native language, with expressions in it, made of what is at a place.
func Text(text string, at ...source.Span) *ir.Template {
	return &ir.Template{Text: Ref(text, at...).Text}
}

// Literal is constant text.
func Literal(text string) *ir.Scalar { return constant("!!str", text) }

func constant(tag, text string) *ir.Scalar {
	return &ir.Scalar{Tag: tag, Text: source.Text{Value: text}}
}

// Pair is an entry that the conversion makes.
func Pair(key string, v ir.Value) *ir.Entry { return &ir.Entry{Key: Name(key), Value: v} }

// Name is a name that the conversion makes.
func Name(name string) ir.Ident { return ir.Ident{Name: name} }

// Names are names that the conversion makes.
func Names(names ...string) (list []ir.Ident) {
	for _, n := range names {
		list = append(list, Name(n))
	}
	return list
}

// With is the arguments of a call; nil: none.
func With(entries ...*ir.Entry) *ir.With {
	if len(entries) == 0 {
		return nil
	}
	return &ir.With{Entries: entries}
}

// Call is the call of a Go function.
func Call(name string, with ...*ir.Entry) *ir.GoCall {
	return &ir.GoCall{Func: Go(name).Func, With: With(with...)}
}

// Go is the binding of a Go function.
func Go(name string) *ir.GoTool { return &ir.GoTool{Func: &ir.GoFunc{Ref: Name(name)}} }

// Set writes an expression to a state field.
func Set(field, expr string) *ir.Set { return &ir.Set{Field: Name(field), Value: Ref(expr)} }

// Rewrite is a list or a mapping with each of its values made anew; any other value as it is.
func Rewrite(v ir.Value, f func(ir.Value) ir.Value) ir.Value {
	switch v := v.(type) {
	case *ir.List:
		l := &ir.List{Span: v.Span}
		for _, it := range v.Items {
			l.Items = append(l.Items, f(it))
		}
		return l
	case *ir.Object:
		m := &ir.Object{Span: v.Span}
		for _, e := range v.Entries {
			m.Entries = append(m.Entries, &ir.Entry{Key: e.Key, Value: f(e.Value)})
		}
		return m
	}
	return v
}

// TypeOf is the type of a constant.
func TypeOf(v *ir.Scalar) *schema.Type {
	switch v.Tag {
	case "!!int":
		return schema.IntType
	case "!!float":
		return schema.FloatType
	case "!!bool":
		return schema.BoolType
	case "!!null":
		return schema.AnyType
	}
	return schema.StringType
}

// value is a value as it is written where values are read.
func (c *Converter) value(v ir.Value) doc.Value {
	switch v := v.(type) {
	case *ir.Expr:
		if text, ok := constantText(v.Text.Value); ok {
			return doc.Spell(doc.Data(text))
		}
		return doc.Scalar(doc.Quoted("$" + c.expr(v.Text.Value, v.Node, 0)))
	case *ir.Template:
		if v.Tmpl == nil {
			return doc.Spell(v.Text.Value)
		}
		return doc.Spell(c.template(v))
	case *ir.Scalar:
		switch v.Tag {
		case "!!int", "!!float", "!!bool":
			return doc.Scalar(v.Text.Value)
		case "!!null":
			return doc.Scalar("null")
		}
		return doc.Spell(doc.Data(v.Text.Value))
	case *ir.List:
		l := &doc.List{Flow: true}
		for _, it := range v.Items {
			l.Add(c.value(it), it.Source())
		}
		return l
	case *ir.Object:
		return c.object(v.Entries)
	}
	c.Refuse(v.Source(), "", "this value cannot be written in the native language")
	return doc.Scalar("null")
}

// constantText is the text of an expression that is nothing but a string without escapes.
func constantText(expr string) (text string, ok bool) {
	if len(expr) < 2 || expr[0] != '"' || strings.ContainsAny(expr[1:len(expr)-1], "\"\\") || expr[len(expr)-1] != '"' {
		return "", false
	}
	return expr[1 : len(expr)-1], true
}

func (c *Converter) object(entries []*ir.Entry) *doc.Mapping {
	m := doc.Flow()
	for _, e := range entries {
		m.Add(doc.Quoted(e.Key.Name), c.value(e.Value), Join(e.Key.Span, e.Value.Source()))
	}
	return m
}

// expr is an expression with the native ids of nodes. Offsets of names count from by; where a name is not at its offset, it is
// the first of the text.
func (c *Converter) expr(text string, n *expr.Node, by int) string {
	if n == nil || !c.Dialect {
		return text
	}
	for _, r := range slices.Backward(n.Refs()) {
		lo := r.Lo - by
		if lo < 0 || lo > len(text) || !strings.HasPrefix(text[lo:], r.Text) {
			lo = strings.Index(text, r.Text)
		}
		if id, ok := c.IDs[r.Text]; ok && lo >= 0 {
			text = text[:lo] + id + text[lo+len(r.Text):]
		}
	}
	return text
}

// template is text with expressions.
func (c *Converter) template(t *ir.Template) string {
	var b strings.Builder
	for i, s := range t.Tmpl.Segments {
		if s.Expr == nil {
			b.WriteString(literal(t.Tmpl, i))
			continue
		}
		if s.Filter == expr.PyText {
			c.Refuse(t.Text.Span, "make its text in a node before it: `go: "+PyText+"`", "%s is written as Python writes it, for which the native language has no filter", s.Expr)
		}
		b.WriteString(c.expr(t.Text.Value[s.Lo:s.Hi], s.Expr, s.Lo))
	}
	return b.String()
}

// literal is a literal segment of a template. A brace before an expression is an expression of its own.
func literal(t *expr.Template, i int) string {
	text := t.Segments[i].Lit
	if i+1 < len(t.Segments) && t.Segments[i+1].Expr != nil && strings.HasSuffix(text, "{") {
		return doc.Braces(strings.TrimSuffix(text, "{")) + `{{ "{" }}`
	}
	return doc.Braces(text)
}

// fromJSON is a constant of a declaration, such as a default.
func fromJSON(text string) doc.Value {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	return decoded(dec)
}

func decoded(dec *json.Decoder) doc.Value {
	tok, _ := dec.Token()
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
			m.Add(doc.Quoted(name), decoded(dec), source.Span{})
		}
		_, _ = dec.Token()
		return m
	case json.Number:
		return doc.Scalar(tok.String())
	case string:
		return doc.Scalar(doc.Quoted(tok))
	case bool:
		return doc.Scalar(strconv.FormatBool(tok))
	}
	return doc.Scalar("null")
}
