package stargraph

import (
	"strings"

	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// An argument is what a node is given under a name: a constant, or text with fields in it.
type argument struct {
	key      ir.Ident
	constant ir.Value
	segments []segment
	text     source.Text
	late     []func() // write the fields that are inside of constant, when it is known what they are
}

// A segment is text, or a field of the state.
type segment struct {
	lit    string
	field  *field
	member *member // nil: the field itself
}

// whole reports whether an argument is a field as it is.
func (a *argument) whole() bool { return len(a.segments) == 1 && a.segments[0].field != nil }

// value is the argument in the IR.
func (a *argument) value() ir.Value {
	for _, f := range a.late {
		f()
	}
	switch {
	case a.whole():
		return a.segments[0].value(a.text.Span)
	case a.constant != nil:
		return a.constant
	}
	return mixed(a.text, a.segments)
}

// with are arguments of a call.
func with(at source.Span, args []*argument) *ir.With {
	w := &ir.With{Span: at}
	for _, a := range args {
		w.Entries = append(w.Entries, &ir.Entry{Key: a.key, Value: a.value()})
	}
	return w
}

// operand reads what a node works on: the name of a field or, in the form of the page, text with `{{state.field}}`. It is
// the field def when nothing is written. nil after a mistake.
func (p *parser) operand(x *node, n *yamlnode.Node, what, def string, typ *schema.Type) *argument {
	id := ir.Ident{Name: def, Span: x.kind.Span}
	text := source.Text{Value: def, Span: x.kind.Span, Opaque: true}
	if n != nil {
		var ok bool
		if id, ok = p.Text(n, what); !ok {
			return nil
		}
		text = n.Text
	}
	a := &argument{key: id, text: text}
	if strings.Contains(id.Name, "{{") {
		if !p.braces(id) {
			return nil
		}
		a.segments = p.segments(text, typ)
		return a
	}
	f := p.read(id, typ)
	if f == nil {
		return nil
	}
	a.segments = []segment{{field: f}}
	return a
}

// braces reports whether text with braces has a meaning: in the form of the page alone.
func (p *parser) braces(id ir.Ident) bool {
	if p.form != page {
		p.Error(diag.UnknownName, id.Span, "write the field's name alone", "the engine takes this for the name of a state field")
	}
	return p.form == page
}

var stateReference = lazyregexp.New(`\{\{\s*state\.([A-Za-z_][A-Za-z0-9_]*)((?:\.[A-Za-z0-9_-]+|\[[0-9]+\])*)\s*\}\}`)

// segments reads text with `{{state.field}}`. A field that is the entire text has the type that is asked for, one inside text
// is text.
func (p *parser) segments(t source.Text, typ *schema.Type) []segment {
	var out []segment
	last := 0
	found := stateReference.FindAllStringSubmatchIndex(t.Value, -1)
	for _, m := range found {
		p.plain(t, last, m[0], &out)
		want := schema.StringType
		if m[0] == 0 && m[1] == len(t.Value) {
			want = typ
		}
		path := t.Value[m[4]:m[5]]
		if path != "" {
			want = nil
		}
		if f := p.read(ir.Ident{Name: t.Value[m[2]:m[3]], Span: t.At(m[2], m[3])}, want); f != nil {
			out = append(out, segment{field: f, member: p.memberOf(f, path, t.At(m[2], m[5]))})
		}
		last = m[1]
	}
	p.plain(t, last, len(t.Value), &out)
	return out
}

// plain adds literal text.
func (p *parser) plain(t source.Text, lo, hi int, out *[]segment) {
	s := t.Value[lo:hi]
	if i := strings.Index(s, "{{"); i >= 0 {
		end := len(s)
		if j := strings.Index(s[i:], "}}"); j >= 0 {
			end = i + j + 2
		}
		p.Error(diag.NotSupported, t.At(lo+i, lo+end), "write `{{state.field}}`", "only fields of the state can be used in braces")
		return
	}
	if s != "" {
		*out = append(*out, segment{lit: s})
	}
}

// constant reads text that the engine takes as it stands.
func (p *parser) constant(n *yamlnode.Node, what string) (*argument, bool) {
	id, ok := p.Text(n, what)
	if !ok {
		return nil, false
	}
	return &argument{key: id, text: n.Text, segments: []segment{{lit: id.Name}}}, true
}

// reference is a typed value by its path.
func reference(at source.Span, path string) *ir.Expr {
	tree, _ := expr.Parse(path) // paths are made of names: there is nothing that could be wrong
	return &ir.Expr{Text: source.Text{Value: path, Span: at, Opaque: true}, Node: tree}
}

func (f *field) path() string {
	if f.written {
		return "state." + f.id.Name
	}
	return "input." + f.id.Name
}

// mixed is text with fields in it.
func mixed(t source.Text, segments []segment) *ir.Template {
	w := &writer{text: source.Text{Span: t.Span, Opaque: true}, tmpl: &expr.Template{}}
	for _, s := range segments {
		w.segment(s)
	}
	return w.template()
}

// A writer makes text with values in it.
type writer struct {
	text source.Text
	tmpl *expr.Template
}

func newWriter(at source.Span) *writer {
	return &writer{text: source.Text{Span: at, Opaque: true}, tmpl: &expr.Template{}}
}

func (w *writer) template() *ir.Template { return &ir.Template{Text: w.text, Tmpl: w.tmpl} }

func (w *writer) lit(s string) {
	if s == "" {
		return
	}
	lo := len(w.text.Value)
	w.text.Value += s
	w.tmpl.Segments = append(w.tmpl.Segments, expr.Segment{Lit: s, Lo: lo, Hi: len(w.text.Value)})
}

// value adds a value, whose source is for messages and dumps.
func (w *writer) value(tree *expr.Node, src, filter string) {
	lo := len(w.text.Value)
	if filter != "" {
		src += " | " + filter
	}
	w.text.Value += "{{ " + src + " }}"
	w.tmpl.Segments = append(w.tmpl.Segments, expr.Segment{Expr: tree, Filter: filter, Lo: lo, Hi: len(w.text.Value)})
}

func (w *writer) segment(s segment) {
	if s.field == nil {
		w.lit(s.lit)
		return
	}
	if s.member != nil {
		e := s.value(w.text.Span)
		w.value(e.Node, e.Text.Value, expr.PyText)
		return
	}
	path, filter := s.field.path(), ""
	if s.field.typ.Present().Kind == schema.Any {
		filter = expr.PyText // text is text
	} else if s.field.optional && s.field.typ.Kind == schema.String {
		path = "default(" + path + `, "")`
	} else if s.field.optional || !textual(s.field.typ) {
		filter = "json"
	}
	tree, _ := expr.Parse(path)
	w.value(tree, path, filter)
}

// textual reports whether values of a type have a text form of their own.
func textual(t *schema.Type) bool {
	switch t.Kind {
	case schema.String, schema.Enum, schema.Int, schema.Float, schema.Bool, schema.Bytes, schema.Time, schema.Duration:
		return true
	}
	return false
}

// result is the result of a node. Ids need not be what an expression takes for a name.
func result(at source.Span, id string) *ir.Expr {
	return &ir.Expr{Text: source.Text{Value: id, Span: at, Opaque: true}, Node: nameNode(id)}
}

func nameNode(id string) *expr.Node {
	return &expr.Node{Op: expr.Name, Text: id, Hi: len(id), NameHi: len(id)}
}

// resultField is a field of the result of a node.
func resultField(at source.Span, id, name string) *ir.Expr {
	src := id + "." + name
	n := &expr.Node{Op: expr.Field, Text: name, Kids: []*expr.Node{nameNode(id)}, Hi: len(src), NameLo: len(id) + 1, NameHi: len(src)}
	return &ir.Expr{Text: source.Text{Value: src, Span: at, Opaque: true}, Node: n}
}

// set writes a value of a type into a field. A field that is declared as text gets Python's text of the value, which rules
// compare; other types have to fit.
func (p *parser) set(f *field, at source.Span, v *ir.Expr, typ *schema.Type) *ir.Set {
	s := &ir.Set{Field: ir.Ident{Name: f.id.Name, Span: at}, Value: v}
	if f.typ.Kind == schema.String && typ.Kind != schema.String && typ.Kind != schema.Enum && !schema.Assignable(typ, f.typ) {
		w := newWriter(at)
		w.value(v.Node, v.Text.Value, expr.PyText)
		s.Value = w.template()
	}
	return s
}
