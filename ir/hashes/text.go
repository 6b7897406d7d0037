package hashes

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// text is what is hashed: lines of a word and quoted values, so that different content is different text.
type text struct{ b strings.Builder }

// line writes a line, unless all values are empty.
func (t *text) line(word string, values ...string) {
	if !slices.ContainsFunc(values, func(v string) bool { return v != "" }) {
		return
	}
	t.b.WriteString(word)
	for _, v := range values {
		t.b.WriteByte(' ')
		t.b.WriteString(strconv.Quote(v))
	}
	t.b.WriteByte('\n')
}

// mark writes a line that stands for itself.
func (t *text) mark(word string, is bool) {
	if is {
		t.b.WriteString(word + "\n")
	}
}

func (t *text) number(word string, n int64) {
	if n != 0 {
		t.line(word, strconv.FormatInt(n, 10))
	}
}

// sum is the hash of the text.
func (t *text) sum() string {
	h := sha256.Sum256([]byte(t.b.String()))
	return hex.EncodeToString(h[:8])
}

// value is data of the file: the same text for the same data, however it is laid out.
func value(v ir.Value) string {
	switch v := v.(type) {
	case *ir.Expr:
		if v == nil || v.Node == nil {
			return ""
		}
		return "$" + v.Node.String()
	case *ir.Template:
		return template(v)
	case *ir.Scalar:
		if v.Tag == "!!null" {
			return "null"
		}
		return v.Tag + strconv.Quote(v.Text.Value)
	case *ir.List:
		items := make([]string, len(v.Items))
		for i, x := range v.Items {
			items[i] = value(x)
		}
		return "[" + strings.Join(items, ",") + "]"
	case *ir.Object:
		entries := make([]string, len(v.Entries))
		for i, e := range v.Entries {
			entries[i] = strconv.Quote(e.Key.Name) + ":" + value(e.Value)
		}
		return "{" + strings.Join(entries, ",") + "}"
	}
	return ""
}

// template is text with its expressions in their canonical form; "" for none at all.
func template(v *ir.Template) string {
	if v == nil {
		return ""
	}
	if v.Tmpl == nil {
		return "t" + strconv.Quote(v.Text.Value)
	}
	var b, lit strings.Builder
	b.WriteByte('t')
	flush := func() {
		b.WriteString(strconv.Quote(lit.String()))
		lit.Reset()
	}
	for _, s := range v.Tmpl.Segments {
		if s.Expr == nil {
			lit.WriteString(s.Lit)
			continue
		}
		flush()
		b.WriteString("{{" + s.Expr.String() + filter(s) + "}}")
	}
	flush()
	return b.String()
}

func filter(s expr.Segment) string {
	if s.Filter == "" {
		return ""
	}
	return "|" + s.Filter + strconv.Quote(s.FilterArg)
}

// with writes the arguments of a call. Their order says nothing.
func (t *text) with(word string, w *ir.With) {
	if w == nil {
		return
	}
	entries := slices.Clone(w.Entries)
	slices.SortStableFunc(entries, func(a, b *ir.Entry) int { return strings.Compare(a.Key.Name, b.Key.Name) })
	for _, e := range entries {
		t.line(word, e.Key.Name, value(e.Value))
	}
}

func (t *text) pairs(word string, vars []ir.EnvVar) {
	for _, v := range vars {
		if v.Secret.Name != "" {
			t.line(word, v.Name.Name, "t"+strconv.Quote(v.Secret.Name))
			continue
		}
		t.line(word, v.Name.Name, template(v.Value))
	}
}

// params writes parameters of a request. An expression is what it is as the only part of a text.
func (t *text) params(word string, list []ir.Param) {
	one := func(v ir.Value) string {
		if x, ok := v.(*ir.Expr); ok && x.Node != nil {
			return template(&ir.Template{Tmpl: &expr.Template{Segments: []expr.Segment{{Expr: x.Node}}}})
		}
		return value(v)
	}
	for _, p := range list {
		l, several := p.Value.(*ir.List)
		if !several {
			if line := []string{p.Name.Name, one(p.Value)}; p.Join != "" {
				t.line(word, append(line, "joined", p.Join)...)
			} else {
				t.line(word, line...)
			}
			continue
		}
		items := []string{p.Name.Name, "list"}
		for _, v := range l.Items {
			items = append(items, one(v))
		}
		t.line(word, items...)
	}
}

func (t *text) duration(word string, d *ir.Duration) {
	if d != nil {
		t.line(word, d.Value.String())
	}
}

// typeKey is a type, and whether its descriptions count because a model receives them.
type typeKey struct {
	t    *schema.Type
	told bool
}

// typ is the hash of a type by its structure: two names for the same structure are the same.
func (m *maker) typ(t *schema.Type, told bool) string {
	if t == nil {
		return ""
	}
	key := typeKey{t, told}
	if have, ok := m.types[key]; ok {
		return have
	}
	m.types[key] = "recursive"
	var x text
	x.line("kind", t.Kind.String())
	if t.Go != nil && t.Go.Path == "" {
		x.line("go", t.Go.Name) // int32 is not int
	}
	if told && t.Decl != nil {
		x.line("is", t.Decl.Name, t.Decl.Description)
	}
	x.line("elem", m.typ(t.Elem, told))
	for _, v := range t.Values {
		x.line("value", strconv.Quote(v))
	}
	for _, f := range t.Fields {
		m.field(&x, "field", f, told)
	}
	for _, v := range t.Variants {
		x.line("variant", v.Tag, m.typ(v.Type, told))
	}
	x.mark("by "+t.By, t.By != "")
	m.types[key] = x.sum()
	return m.types[key]
}

// field writes a field with all that holds for its values.
func (m *maker) field(x *text, word string, f *schema.Field, told bool) {
	x.line(word, f.Name, m.typ(f.Type, told))
	if f.Default != nil {
		x.line("default", f.Default.JSON)
	}
	if f.Min != nil {
		x.line("min", strconv.FormatFloat(*f.Min, 'g', -1, 64))
	}
	if f.Max != nil {
		x.line("max", strconv.FormatFloat(*f.Max, 'g', -1, 64))
	}
	x.line("pattern", f.Pattern)
	x.mark("omit", f.Omit)
	if told {
		x.line("description", f.Description)
	}
}
