package stargraph

import (
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// A member is a part of the value of a state field, as in `{{state.found.hits[0].title}}`.
type member struct {
	field *field
	path  []string
	at    source.Span
	id    ir.Ident // of the step that reads it; empty: the type of the field has it
}

// memberOf files a member for the node that is being read; nil when the path is empty.
func (p *parser) memberOf(f *field, path string, at source.Span) *member {
	if path == "" {
		return nil
	}
	m := &member{field: f, at: at, path: strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' })}
	p.reading.members = append(p.reading.members, m)
	return m
}

// membersOf makes the steps that read the members which types do not know. The first has the node's id, and what the node
// itself does gets another.
func (p *parser) membersOf(x *node) []*ir.Node {
	var list []*ir.Node
	id := x.id
	for _, m := range x.members {
		if m.typed() {
			continue
		}
		if m.id = id; len(list) > 0 {
			m.id = p.part(x, m.field.id.Name)
		}
		list = append(list, m.step(x.at.Span))
	}
	if len(list) > 0 {
		x.id = p.part(x, "call")
	}
	return list
}

// typed reports whether the type of a field has a member for certain.
func (m *member) typed() bool {
	t := m.field.typ
	if m.field.optional {
		return false
	}
	for _, name := range m.path {
		f := (*schema.Field)(nil)
		if t.Kind == schema.Struct {
			f = t.Field(name)
		}
		if f == nil || !fieldForm.MatchString(name) {
			return false
		}
		t = f.Type
	}
	return true
}

// fitting reports a part of a tool's result whose type, as its source says it, no value of the argument has.
func (p *parser) fitting(m *member, want *schema.Type) {
	f := m.field
	if len(f.results) != 1 || f.declared || f.input {
		return
	}
	have := f.results[0]
	for _, name := range m.path {
		if have = memberType(have, name); have == nil {
			return
		}
	}
	have, want = have.Present(), want.Present()
	if scalar(have) && scalar(want) && !schema.Assignable(have, want) {
		p.Error(diag.TypeMismatch, m.at, "convert it in Python, or take another part", "this is %s, but the argument is %s", have, want)
	}
}

// scalar reports whether a type is text, a number or a boolean.
func scalar(t *schema.Type) bool {
	return t.Kind == schema.String || t.Kind == schema.Int || t.Kind == schema.Float || t.Kind == schema.Bool
}

// step reads a member when the node runs.
func (m *member) step(at source.Span) *ir.Node {
	names := &ir.List{Span: m.at}
	for _, name := range m.path {
		names.Items = append(names.Items, text(name, m.at))
	}
	f := runtimeFunc(m.at, runtimePackage, "Member", "reads a part of a value.", schema.AnyType, param("v", schema.AnyType), param("path", schema.ListOf(schema.StringType)))
	w := &ir.With{Span: m.at, Entries: []*ir.Entry{{Key: ir.Ident{Name: "v", Span: m.at}, Value: reference(m.at, m.field.path())}, {Key: ir.Ident{Name: "path", Span: m.at}, Value: names}}}
	return &ir.Node{ID: m.id, Verb: &ir.GoCall{Func: f, With: w}, Span: at}
}

// value is a field or a member of it.
func (s segment) value(at source.Span) *ir.Expr {
	switch {
	case s.member == nil:
		return reference(at, s.field.path())
	case s.member.id.Name != "":
		return result(at, s.member.id.Name)
	}
	return reference(at, s.field.path()+"."+strings.Join(s.member.path, "."))
}
