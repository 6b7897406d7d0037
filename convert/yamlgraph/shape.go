package yamlgraph

import (
	"slices"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/convert/doc"
	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// A shape is what a value has to be for all that is done with it. Dialects do not declare what is in a dict; the native
// language does.
type shape struct {
	declared *schema.Type
	name     string // of its type, where it is an item
	wants    *schema.Type
	parts    []*shapePart
	item     *shape
	whole    bool // it is passed on as it is

	typ *schema.Type // once it is known
}

type shapePart struct {
	name string
	*shape
}

// used reports whether anything is done with the value.
func (s *shape) used() bool { return s.whole || s.wants != nil || len(s.parts) > 0 || s.item != nil }

// part is the shape of a field; nil when nothing is done with it.
func (s *shape) part(name string) *shape {
	if s != nil {
		for _, p := range s.parts {
			if p.name == name {
				return p.shape
			}
		}
	}
	return nil
}

// use finds the shape of a reference and says what it is wanted for: nil means that it is passed on.
func (g *graph) use(r *dialect.Reference, wants *schema.Type) *shape {
	path := r.Path
	var s *shape
	switch {
	case r.Root == "item":
		s = g.shapes["item "+g.at.ID.Name]
	case r.Root == "state" && len(path) > 0:
		g.reads[g.at] = append(g.reads[g.at], path[0])
		if s, path = g.shapes[path[0]], path[1:]; g.loose[r.Path[0]] {
			path = nil
		}
	}
	if s == nil {
		if name := strings.Join(r.Path, "."); r.Root == "state" && name != "" {
			g.Refuse(r.Text.Span, "declare it below `state`", "the state has no field %s, to which this refers", r.Path[0])
		} else {
			g.Refuse(r.Text.Span, "name a field of the state", "this refers to the state as a whole, or to nothing that is declared")
		}
		return nil
	}
	for _, name := range path {
		if !doc.FieldForm.MatchString(name) {
			g.Refuse(r.Text.Span, "write `xs[0]` in a native `let` node", "a place in a list has no counterpart")
			return nil
		}
		if s.part(name) == nil {
			s.parts = append(s.parts, &shapePart{name, &shape{}})
		}
		s = s.part(name)
	}
	if s.wants != nil && wants != nil && !schema.Equal(s.wants, wants) {
		g.Refuse(r.Text.Span, "read it with `parse` in the native file", "this is used in two ways that one type does not allow")
	}
	if wants != nil {
		s.wants = wants
	} else {
		s.whole = true
	}
	return s
}

var typeName = lazyregexp.New(`^[A-Z][A-Za-z0-9]*$`)

// shapeType is the type of a state field: as it is declared, or where the graph looks into it, as it is used.
func (g *graph) shapeType(name string, s *ir.State) *schema.Type {
	sh := g.shapes[name]
	for _, n := range g.tree.Nodes {
		if n.Token.Ask != nil && n.Schema != "" && slices.Contains(g.writes[n], name) {
			return g.answerType(n)
		}
	}
	if len(sh.parts) == 0 && sh.item == nil {
		typ := g.fieldType(name)
		if typ.Kind == schema.Any && sh.wants != nil {
			typ = sh.wants
		}
		return typ
	}
	word := titled(name)
	if at := g.Root.Get("state").Get(name); at != nil && typeName.MatchString(at.Text.Value) {
		word = at.Text.Value
	}
	return g.shaped(sh, word, s.Name.Span)
}

// fieldType is the type of a field into which nothing looks: as it is declared, and text where only text is written to it.
func (g *graph) fieldType(name string) *schema.Type {
	typ := g.shapes[name].declared
	if typ.Kind != schema.Any || g.writers(name) == 0 || g.starts[name] || g.seeded(name) {
		return typ
	}
	for _, n := range g.tree.Nodes {
		if a := n.Token.Ask; slices.Contains(g.writes[n], name) && (a == nil || a.JSON || n.Schema != "") {
			return typ
		}
	}
	return schema.StringType
}

// titled is a name as types are called.
func titled(name string) string {
	var b strings.Builder
	for _, w := range strings.Split(name, "_") {
		if w != "" {
			b.WriteString(strings.ToUpper(w[:1]) + w[1:])
		}
	}
	if b.Len() == 0 || b.String()[0] < 'A' || b.String()[0] > 'Z' {
		return "T" + b.String()
	}
	return b.String()
}

// shaped is the type of a shape, which is declared once, with a name when it has fields.
func (g *graph) shaped(s *shape, name string, at source.Span) *schema.Type {
	if s.typ == nil {
		s.typ = g.makeType(s, name, at)
	}
	return s.typ
}

func (g *graph) makeType(s *shape, name string, at source.Span) *schema.Type {
	switch {
	case s.item != nil && len(s.parts) > 0 || s.wants != nil && (len(s.parts) > 0 || s.item != nil && len(s.item.parts) > 0):
		g.Refuse(at, "", "%s is used in two ways that one type does not allow", name)
	case s.item != nil:
		return schema.ListOf(g.shaped(s.item, titled(s.item.name), at))
	case len(s.parts) > 0:
		t := convert.Struct()
		for _, p := range s.parts {
			t.Fields = append(t.Fields, convert.Field(p.name, g.shaped(p.shape, name+titled(p.name), at)))
		}
		t = g.declare(name, t)
		g.Note(at, "", "the fields of %s are those that the graph uses: data with others are refused, so add what else there is", t.Decl.Name)
		return t
	case s.wants != nil:
		return s.wants
	}
	return schema.AnyType
}

// declare names a type.
func (g *graph) declare(name string, t *schema.Type) *schema.Type {
	taken := func(name string) bool {
		return slices.ContainsFunc(g.Out.Types, func(d *schema.Decl) bool { return d.Name == name })
	}
	own := name
	for i := 2; taken(own); i++ {
		own = name + strconv.Itoa(i)
	}
	t.Decl = &schema.Decl{Type: t, Name: own}
	g.Out.Types = append(g.Out.Types, t.Decl)
	return t
}
