package native

import (
	"cmp"
	"regexp"
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// builtin are the types without parameters.
var builtin = map[string]*schema.Type{
	"string": schema.StringType, "int": schema.IntType, "float": schema.FloatType, "bool": schema.BoolType,
	"bytes": schema.BytesType, "time": schema.TimeType, "duration": schema.DurationType, "any": schema.AnyType,
	"Error": schema.ErrorType, "media": schema.MediaType, "Message": schema.MessageType,
}

// generic are the types with parameters.
var generic = []string{"list", "map", "opt", "enum"}

// whyOpt is the reason for absence of a value whose type is written as opt<T>.
const whyOpt = "it is declared optional"

// A declaration is an entry under `types:`, resolved when it is first needed.
type declaration struct {
	decl  *schema.Decl
	node  *yamlnode.Node
	state resolution
}

type resolution uint8

const (
	unresolved resolution = iota
	resolving
	resolved
)

// declareTypes files the names under `types:` of one file; resolveTypes reads their types once all files are in.
func (p *parser) declareTypes(n *yamlnode.Node) {
	p.each(n, "types", typeName, func(id ir.Ident, v *yamlnode.Node) {
		if builtin[id.Name] != nil && id.Name != "Message" { // files of today have one of their own, which goes first
			p.report(diag.BadName, id.Span, "choose another name", "a type name cannot be `%s`: that type is built in", id.Name)
			return
		}
		if first := p.decls[id.Name]; first != nil {
			p.clash("type", id, first.decl.Span)
			return
		}
		d := &declaration{decl: &schema.Decl{Name: id.Name, Span: id.Span, Type: schema.InvalidType}, node: v}
		p.decls[id.Name] = d
		p.order = append(p.order, d)
	})
}

func (p *parser) resolveTypes() {
	for _, d := range p.order {
		p.resolve(d)
		p.wf.Types = append(p.wf.Types, d.decl)
	}
}

func (p *parser) resolve(d *declaration) {
	if d.state != unresolved {
		return
	}
	d.state = resolving
	p.resolving = append(p.resolving, d)
	n := d.node
	if n.Kind == yamlnode.Mapping && n.Get("type") != nil {
		m, _ := p.mapping(n, shapeType)
		d.decl.Description = p.prose(m.get("description"), "the description")
		n = m.get("type")
	}
	var t *schema.Type
	if n != nil && n.Kind == yamlnode.Mapping && n.Get("oneof") != nil && n.Get("oneof").Kind == yamlnode.Mapping {
		t = p.union(n, d.decl)
	} else {
		t = p.typeOf(n)
	}
	if d.state == resolving { // else it contains itself, and is the poison type
		d.decl.Type = nameType(t, d.decl)
		d.state = resolved
	}
	p.resolving = p.resolving[:len(p.resolving)-1]
}

// nameType gives a type the name of its declaration. The type may have a name already, or be one of those that all
// workflows share, so it is copied; but not one that bind completes in place.
func nameType(t *schema.Type, d *schema.Decl) *schema.Type {
	switch {
	case t.Kind == schema.Invalid && t.Go == nil:
		return t
	case t.Kind == schema.Invalid:
		t.Decl = cmp.Or(t.Decl, d)
		return t
	}
	c := *t
	c.Decl = d
	return &c
}

// named is a use of a type under `types:`.
func (p *parser) named(d *declaration, at source.Span) *schema.Type {
	if d.state == resolving {
		from := slices.Index(p.resolving, d)
		message := "type " + d.decl.Name + " contains itself"
		for _, x := range p.resolving[from+1:] {
			message += ", through " + x.decl.Name
		}
		p.say(diag.Diagnostic{
			Code: diag.RecursiveType, Span: at, Message: message, Help: "use `any` where the depth is not known",
			Related: []diag.Related{{Span: d.decl.Span, Message: d.decl.Name + " is declared here"}},
		})
		for _, x := range p.resolving[from:] {
			x.state = resolved // one message for the cycle
		}
	}
	p.resolve(d)
	return d.decl.Type
}

// typeOf reads a type: text, a mapping that lists the fields of a struct, or a list with the one type of its items.
func (p *parser) typeOf(n *yamlnode.Node) *schema.Type {
	switch {
	case n == nil:
		return schema.InvalidType
	case n.Kind == yamlnode.Mapping && len(n.Entries) == 1 && p.listedEnum(n, n.Get("enum")):
		return schema.InvalidType
	case n.Kind == yamlnode.Mapping:
		return &schema.Type{Kind: schema.Struct, Fields: p.fields(n, "fields", fieldID)}
	case n.Kind == yamlnode.Scalar:
		return p.typeText(n.Text)
	case n.Kind == yamlnode.Sequence && len(n.Items) == 1:
		if elem := p.typeOf(n.Items[0]); elem.Kind != schema.Invalid || elem.Go != nil {
			return schema.ListOf(elem)
		}
		return schema.InvalidType
	case n.Kind == yamlnode.Sequence && p.listedEnum(n, n):
		return schema.InvalidType
	case n.Kind == yamlnode.Sequence:
		p.report(diag.WrongShape, headSpan(n), "write `[string]`, or `[{path: string, line: int}]`", "a list type has one type, that of its items, not %d", len(n.Items))
		return schema.InvalidType
	}
	p.wrongShape(n, "a type is text, a mapping of fields, or a list with one type", "")
	return schema.InvalidType
}

// listedEnum reports the words of an enum that are written as a list, at n.
func (p *parser) listedEnum(n, list *yamlnode.Node) bool {
	if list == nil || list.Kind != yamlnode.Sequence || len(list.Items) < 2 {
		return false
	}
	var words []string
	for _, x := range list.Items {
		if x.Kind != yamlnode.Scalar {
			return false
		}
		words = append(words, x.Text.Value)
	}
	spelling := yamlnode.EnumOf(words)
	if spelling == "" || p.typed(words) {
		return false
	}
	d := diag.Diagnostic{Code: diag.WrongShape, Span: headSpan(n), Message: "one of several words is not a list", Help: "write `" + spelling + "`"}
	if n.Style == yamlnode.Flow {
		d.Span, d.Help, d.Fixes = n.Span, "replace with `"+spelling+"`", []diag.Fix{diag.Replace(n.Span, spelling)}
	}
	p.say(d)
	return true
}

// fields reads the fields of a struct; key is where they stand.
func (p *parser) fields(n *yamlnode.Node, key string, rule naming) []*schema.Field {
	var out []*schema.Field
	p.each(n, key, rule, func(id ir.Ident, v *yamlnode.Node) {
		f := p.field(v)
		f.Name, f.Span = id.Name, id.Span
		out = append(out, f)
	})
	return out
}

// field reads a type, or the long form: a mapping that has the key type.
func (p *parser) field(n *yamlnode.Node) *schema.Field {
	if n == nil || n.Kind != yamlnode.Mapping || n.Get("type") == nil {
		return &schema.Field{Type: p.typeOf(n)}
	}
	m, _ := p.mapping(n, shapeField)
	f := &schema.Field{Type: p.typeOf(m.get("type")), Description: p.prose(m.get("description"), "the description")}
	if d := m.get("default"); d != nil {
		if c, ok := p.constant(d, "the default"); ok {
			f.Default = c
		} else {
			f.Default = &schema.Default{JSON: "null", Span: d.Span}
			f.Type = schema.InvalidType // nothing more is said about this field
		}
	}
	p.bounds(m, f)
	p.pattern(m, f)
	return f
}

// sized are the kinds that min and max bound: the value of numbers, the length of the rest.
var sized = []schema.Kind{schema.Int, schema.Float, schema.String, schema.Bytes, schema.List, schema.Map}

func (p *parser) bounds(m mapping, f *schema.Field) {
	kind := f.Type.Present().Kind
	for _, key := range []string{"min", "max"} {
		n := m.get(key)
		if n == nil {
			continue
		}
		if kind != schema.Invalid && !slices.Contains(sized, kind) {
			p.report(diag.BadConstraint, m.keys[key].Span, "", "`%s` does not fit type %s", key, f.Type)
			continue
		}
		v, ok := p.number(n, "`"+key+"`")
		switch {
		case !ok:
		case kind != schema.Float && kind != schema.Invalid && v != float64(int64(v)):
			p.report(diag.BadConstraint, n.Span, "", "`%s` of %s is an integer", key, article(kind))
		case kind != schema.Int && kind != schema.Float && kind != schema.Invalid && v < 0:
			p.report(diag.BadConstraint, n.Span, "", "`%s` of %s is a length: it is not negative", key, article(kind))
		case key == "min":
			f.Min = &v
		default:
			f.Max = &v
		}
	}
	if f.Min != nil && f.Max != nil && *f.Min > *f.Max {
		p.say(diag.Diagnostic{
			Code: diag.BadConstraint, Span: m.get("max").Span, Message: "`max` is less than `min`",
			Related: []diag.Related{{Span: m.get("min").Span, Message: "the minimum"}},
		})
		f.Min, f.Max = nil, nil
	}
}

func article(k schema.Kind) string {
	if k == schema.Int {
		return "an int"
	}
	return "a " + k.String()
}

func (p *parser) pattern(m mapping, f *schema.Field) {
	n := m.get("pattern")
	if n == nil {
		return
	}
	if k := f.Type.Present().Kind; k != schema.String && k != schema.Invalid {
		p.report(diag.BadConstraint, m.keys["pattern"].Span, "", "`pattern` does not fit type %s", f.Type)
		return
	}
	if n.Kind != yamlnode.Scalar {
		p.wrongShape(n, "`pattern` is text", "")
		return
	}
	// A pattern may well start with `$` or hold `{{`: it is a regular expression and never a template.
	if _, err := regexp.Compile(n.Text.Value); err != nil {
		p.report(diag.BadConstraint, textSpan(n.Text), "patterns are RE2 regular expressions: https://github.com/google/re2/wiki/Syntax", "%s", patternError(err))
		return
	}
	f.Pattern = n.Text.Value
}
