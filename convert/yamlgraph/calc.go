package yamlgraph

import (
	"strings"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/convert/doc"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlgraph"
)

// nowhere reports whether a value is a place in a field that the state does not have: it is always missing.
func (g *graph) nowhere(v ir.Value) bool {
	r, is := v.(*dialect.Reference)
	return is && r.Root == "state" && len(r.Path) > 0 && g.shapes[r.Path[0]] == nil && !g.isAuto(r.Path[0])
}

// fits reports whether a constant is one of a type; what is not a constant does for all that is known.
func fits(v ir.Value, t *schema.Type) bool {
	switch v := v.(type) {
	case *ir.List:
		return t.Kind == schema.List || t.Kind == schema.Any
	case *ir.Object:
		return t.Kind == schema.Map || t.Kind == schema.Any
	case *ir.Scalar:
		own := convert.TypeOf(v)
		return own.Kind == schema.Any || own.Kind == t.Kind || own.Kind == schema.Int && t.Kind == schema.Float || t.Kind == schema.Any
	}
	return true
}

// useValue says what a value of a passthrough is made of. A name inside of text may be missing.
func (g *graph) useValue(v ir.Value) {
	m, is := v.(*dialect.Mixed)
	if !is {
		dialect.ValueReferences(v, func(r *dialect.Reference) {
			switch {
			case g.nowhere(r):
			case g.untyped && r.Root == "state":
				g.reads[g.at] = append(g.reads[g.at], r.Path[0])
			default:
				g.use(r, nil)
			}
		})
		return
	}
	for _, s := range m.Segments {
		if s.Ref != nil && s.Ref.Root == "state" && len(s.Ref.Path) == 1 && g.shapes[s.Ref.Path[0]] != nil {
			g.reads[g.at] = append(g.reads[g.at], s.Ref.Path[0])
		} else if s.Ref != nil && !g.nowhere(s.Ref) {
			g.use(s.Ref, nil)
		}
	}
}

// mixed is text with names in it. One that is missing stays as it is written.
func (g *graph) mixed(m *dialect.Mixed) ir.Value {
	var b strings.Builder
	for _, s := range m.Segments {
		if s.Ref == nil {
			b.WriteString(doc.Braces(s.Lit))
			continue
		}
		written := "{state." + strings.Join(s.Ref.Path, ".") + "}"
		if s.Ref.Missing == dialect.MissingKeep && g.nowhere(s.Ref) {
			b.WriteString(doc.Braces(written))
			continue
		}
		place, typ := g.field(s.Ref)
		if s.Ref.Missing == dialect.MissingKeep && s.Ref.Root == "state" && !g.nowhere(s.Ref) && (typ == nil || typ.Kind != schema.String && (typ.Kind != schema.Int || !g.there(s.Ref)) || g.loose[s.Ref.Path[0]]) {
			b.WriteString("{{ " + g.filled(s.Ref, written) + " }}")
			continue
		}
		switch {
		case typ == nil || typ.Kind != schema.String && typ.Kind != schema.Int:
			g.Refuse(s.Ref.Text.Span, "make the text in a python node", "only text and integers are written into text")
		case g.there(s.Ref):
			b.WriteString("{{ " + place + " }}")
		case s.Ref.Missing != dialect.MissingKeep || typ.Kind != schema.String:
			g.Refuse(s.Ref.Text.Span, "let a node before it write the field", "%s may be missing in this text", written)
		default:
			b.WriteString("{{ default(" + place + ", " + doc.Escaped(written) + ") }}")
		}
	}
	return convert.Text(b.String(), m.Text.Span)
}

// filled is a node that writes a value as Python does, and where there is none, what is written in its place.
func (g *graph) filled(r *dialect.Reference, written string) string {
	p, id := g.part(g.at), g.IDs[g.at.ID.Name]+"_"+r.Path[0]+"_text"
	var of ir.Value = convert.Ref(g.path(&dialect.Reference{Root: "state", Path: r.Path[:1]}, ""))
	if len(r.Path) > 1 {
		at := g.located(id, of, r.Path[1:])
		p.before = append(p.before, step{Node: at})
		of = convert.Ref(at.ID.Name)
	}
	n := g.call(id, "Filled", convert.Pair("of", of), convert.Pair("written", convert.Literal(written)))
	p.before = append(p.before, step{Node: n})
	return n.ID.Name
}

// field is a field of the state with its declared type; nil when it is another place.
func (g *graph) field(r *dialect.Reference) (string, *schema.Type) {
	if r.Root != "state" || len(r.Path) != 1 || g.shapes[r.Path[0]] == nil {
		return "", nil
	}
	sh := g.shapes[r.Path[0]]
	if len(sh.parts) > 0 || sh.item != nil || sh.wants != nil && !schema.Equal(sh.wants, sh.declared) {
		return "", nil // its type is another
	}
	return g.path(r, ""), sh.declared
}

// there reports whether a field has a value when the node that is looked at runs.
func (g *graph) there(r *dialect.Reference) bool {
	if g.written(r.Path[0]) {
		return !g.absent(r, g.at) && !g.Opt[r.Path[0]]
	}
	return g.shapes[r.Path[0]].used()
}

// calculated is a calculation as an expression with its type, nil where Python means something else or fails.
func (g *graph) calculated(v ir.Value, item string) (string, *schema.Type) {
	switch v := v.(type) {
	case *ir.Scalar:
		if v.Tag == "!!str" {
			return doc.Escaped(v.Text.Value), schema.StringType
		}
		if t := convert.TypeOf(v); t.Kind == schema.Int || t.Kind == schema.Float {
			return v.Text.Value, t
		}
	case *dialect.Reference:
		if place, t := g.field(v); t != nil && g.there(v) && !g.loose[v.Path[0]] {
			return place, t
		}
	case *ir.List:
		var items []string
		for _, it := range v.Items {
			text, t := g.calculated(it, item)
			if t == nil {
				return "", nil
			}
			items = append(items, text)
		}
		return "[" + strings.Join(items, ", ") + "]", schema.ListOf(schema.AnyType)
	case *yamlgraph.Calc:
		a, at := g.calculated(v.Left, item)
		b, bt := g.calculated(v.Right, item)
		if at == nil || bt == nil {
			return "", nil
		}
		if c, is := v.Right.(*yamlgraph.Calc); is && (v.Op != "+" || c.Op == "-") {
			b = "(" + b + ")"
		}
		if c, is := v.Left.(*yamlgraph.Calc); is && v.Op == "*" && c.Op != "*" {
			a = "(" + a + ")"
		}
		text := a + " " + v.Op + " " + b
		number := func(t *schema.Type) bool { return t.Kind == schema.Int || t.Kind == schema.Float }
		switch {
		case v.Op == "/":
		case number(at) && number(bt) && (at.Kind == schema.Float || bt.Kind == schema.Float):
			return text, schema.FloatType
		case number(at) && number(bt), v.Op == "+" && at.Kind == bt.Kind && (at.Kind == schema.String || at.Kind == schema.List):
			return text, at
		}
	}
	return "", nil
}
