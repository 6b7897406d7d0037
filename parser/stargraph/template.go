package stargraph

import (
	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

var placeholder = lazyregexp.New(`\{\{|\}\}|\{([^{}]*)\}|[{}]`)

// templateNode reads Python's format over bare names of fields.
func (p *parser) templateNode(x *node, m dialect.Mapping) {
	n := m.Get("template")
	if _, ok := p.Text(n, "`template`"); !ok {
		return
	}
	t := n.Text
	var text []piece
	last := 0
	lit := func(s string) {
		if s != "" {
			text = append(text, piece{segment: segment{lit: s}})
		}
	}
	for _, at := range placeholder.FindAllStringSubmatchIndex(t.Value, -1) {
		lit(t.Value[last:at[0]])
		last = at[1]
		switch whole := t.Value[at[0]:at[1]]; {
		case whole == "{{" || whole == "}}":
			lit(whole[:1])
		case at[2] < 0:
			p.Error(diag.BadLiteral, t.At(at[0], at[1]), "write `{{` or `}}` for a brace that is text", "this brace has no other end")
		default:
			if pc, ok := p.formatField(t, at[2], at[3]); ok {
				text = append(text, pc)
			}
		}
	}
	lit(t.Value[last:])
	out, ok := p.Text(m.Get("out"), "`out`")
	if !ok {
		return
	}
	f := p.result(out, schema.StringType)
	p.keeps(f, schema.StringType)
	x.lower = func() []*ir.Node { return p.formatted(x, t, text, out, f) }
}

// A piece of a template is text, or a field in a format.
type piece struct {
	segment
	format string // a conversion and a format of Python, as in !r:>8
	at     source.Span
}

var formatForm = lazyregexp.New(`^([A-Za-z_][A-Za-z0-9_]*)((?:![rsa])?(?::([^{}]*))?)$`)

// formatField reads what is between braces: the name of a field, and perhaps how it is written.
func (p *parser) formatField(t source.Text, lo, hi int) (piece, bool) {
	at := t.At(lo-1, hi+1)
	name := t.Value[lo:hi]
	m := formatForm.FindStringSubmatch(name)
	if m == nil {
		p.Error(diag.BadLiteral, at, "write `{field}`, `{field!r}` or `{field:>8}`", "the engine takes bare names of fields in templates, no paths, no positions")
		return piece{}, false
	}
	id := ir.Ident{Name: m[1], Span: t.At(lo, lo+len(m[1]))}
	f := p.read(id, schema.StringType)
	if f == nil {
		return piece{}, false
	}
	pc := piece{segment{field: f}, m[2], at}
	if m[2] == ":" {
		pc.format = ""
	}
	if why := wrongFormat(pc.format, f.typ); why != "" {
		p.Error(diag.BadLiteral, at, "", "%s", why)
		return piece{}, false
	}
	return pc, true
}

// formatSpec is Python's format: fill and align, sign, z, #, 0, width, grouping, precision, type.
var formatSpec = lazyregexp.New(`^(?:.?[<>=^])?[-+ ]?z?#?0?([0-9]*)[,_]?(\.[0-9]+)?([bcdeEfFgGnosxX%]?)$`)

// formatTypes are the last letters of formats by what they write.
var formatTypes = map[schema.Kind]string{schema.String: "s", schema.Int: "bcdoxXneEfFgG%", schema.Bool: "bcdoxXneEfFgG%", schema.Float: "eEfFgGn%"}

// wrongFormat says what is wrong with a format of a value of a type; empty: nothing that can be known.
func wrongFormat(format string, typ *schema.Type) string {
	spec := format
	if len(spec) >= 2 && spec[0] == '!' {
		spec, typ = spec[2:], schema.StringType
	}
	if spec == "" {
		return ""
	}
	spec = spec[1:]
	m := formatSpec.FindStringSubmatch(spec)
	switch {
	case spec == "":
		return ""
	case m == nil:
		return "`" + spec + "` is not a Python format"
	case len(m[1]) > 4 || len(m[2]) > 4:
		return "a width or a precision of a format is below 1000"
	case typ == nil || typ.Kind == schema.Any:
		return ""
	}
	if letters, ok := formatTypes[typ.Kind]; ok && m[3] != "" && !containsByte(letters, m[3][0]) {
		return "Python has no format `" + m[3] + "` for a field of the type " + typ.String()
	}
	return ""
}

func containsByte(s string, c byte) bool {
	for i := range len(s) {
		if s[i] == c {
			return true
		}
	}
	return false
}

// formatted makes the steps of a template: one for every field whose text is not the same in Python and here, the last of
// which writes the whole.
func (p *parser) formatted(x *node, t source.Text, text []piece, out ir.Ident, f *field) []*ir.Node {
	var steps []*ir.Node
	w := newWriter(t.Span)
	for _, pc := range text {
		if pc.field == nil || pc.format == "" && (pc.field.typ.Kind == schema.String || pc.field.typ.Kind == schema.Int && !pc.field.optional) {
			w.segment(pc.segment)
			continue
		}
		id := x.id
		if len(steps) > 0 {
			id = p.part(x, pc.field.id.Name)
		}
		steps = append(steps, pc.step(id, x.at.Span))
		w.value(nameNode(id.Name), id.Name, "")
	}
	if len(steps) == 0 {
		steps = []*ir.Node{{ID: x.id, Verb: &ir.Let{}, Span: x.at.Span}}
	}
	steps[len(steps)-1].Set = []*ir.Set{{Field: ir.Ident{Name: f.id.Name, Span: out.Span}, Value: w.template()}}
	return steps
}

// formats are the functions that write values as Python does, by the types that they write.
var formats = map[schema.Kind]string{schema.String: "FormatString", schema.Int: "FormatInt", schema.Float: "FormatFloat", schema.Bool: "FormatBool", schema.Bytes: "FormatBytes"}

// step writes a field.
func (pc piece) step(id ir.Ident, at source.Span) *ir.Node {
	if pc.field.texts != nil && !pc.field.optional && pc.field.typ.Kind == schema.Enum {
		return pc.member(id, at)
	}
	typ, name := pc.field.typ, formats[pc.field.typ.Kind]
	value := ir.Value(reference(pc.at, pc.field.path()))
	switch {
	case typ.Kind == schema.String && pc.field.optional:
		value = reference(pc.at, "default("+pc.field.path()+`, "")`)
	case name == "" || pc.field.optional:
		typ, name = schema.AnyType, "FormatValue"
	}
	f := runtimeFunc(pc.at, runtimePackage, name, "writes a value as Python does.", schema.StringType, param("value", typ), param("format", schema.StringType))
	w := &ir.With{Span: pc.at, Entries: []*ir.Entry{{Key: ir.Ident{Name: "value", Span: pc.at}, Value: value}, {Key: ir.Ident{Name: "format", Span: pc.at}, Value: text(pc.format, pc.at)}}}
	return &ir.Node{ID: id, Verb: &ir.GoCall{Func: f, With: w}, Span: at}
}

// member writes the member of an Enum that a field has.
func (pc piece) member(id ir.Ident, at source.Span) *ir.Node {
	names := &ir.Object{Span: pc.at}
	for i, v := range pc.field.typ.Values {
		names.Entries = append(names.Entries, &ir.Entry{Key: ir.Ident{Name: v, Span: pc.at}, Value: text(pc.field.texts[i], pc.at)})
	}
	w := &ir.With{Span: pc.at, Entries: []*ir.Entry{{Key: ir.Ident{Name: "member", Span: pc.at}, Value: reference(pc.at, pc.field.path())},
		{Key: ir.Ident{Name: "format", Span: pc.at}, Value: text(pc.format, pc.at)}, {Key: ir.Ident{Name: "names", Span: pc.at}, Value: names}}}
	f := runtimeFunc(pc.at, runtimePackage, "FormatMember", "writes a member of an Enum as Python does.", schema.StringType, param("member", schema.StringType), param("format", schema.StringType), param("names", schema.MapOf(schema.StringType)))
	return &ir.Node{ID: id, Verb: &ir.GoCall{Func: f, With: w}, Span: at}
}
