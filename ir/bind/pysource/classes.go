package pysource

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir/bind/foreign"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// A classKey is a class on its way into Python or out of it: what has a default need not come in, and always comes out.
type classKey struct {
	stmt   *statement
	result bool
	answer bool
}

// A classType is the type of a class. A class that is used twice is one type.
type classType struct {
	typ  *schema.Type
	busy bool // it is being read: inside of itself it is any
}

// defined is the type of a class or of another name for a type.
func (r *reader) defined(sym symbol, depth int) *schema.Type {
	s := sym.stmt
	key := classKey{s, r.result, r.answer}
	if done := r.types[key]; done != nil {
		if done.busy {
			return schema.AnyType
		}
		return done.typ
	}
	c := &classType{busy: true}
	r.types[key] = c
	switch s.Kind {
	case "value":
		c.typ = r.alias(sym, depth)
	case "class":
		c.typ = r.class(sym, depth)
	default:
		c.typ = schema.AnyType
	}
	c.busy = false
	if other := r.types[classKey{s, !r.result, r.answer}]; other != nil && !other.busy && same(other.typ, c.typ) {
		c.typ = other.typ
	}
	return c.typ
}

// same tells types that are the same both ways, their defaults included.
func same(a, b *schema.Type) bool {
	if a == b {
		return true
	}
	if a.Kind != b.Kind || len(a.Fields) != len(b.Fields) || !slices.Equal(a.Values, b.Values) || (a.Elem == nil) != (b.Elem == nil) {
		return false
	}
	if a.Elem != nil && !same(a.Elem, b.Elem) {
		return false
	}
	for i, f := range a.Fields {
		g := b.Fields[i]
		if f.Name != g.Name || f.Omit != g.Omit || (f.Default == nil) != (g.Default == nil) || f.Default != nil && f.Default.JSON != g.Default.JSON || !same(f.Type, g.Type) {
			return false
		}
	}
	return true
}

// alias is the type of `Name = ...`.
func (r *reader) alias(sym symbol, depth int) *schema.Type {
	n := sym.stmt.Value
	if n == nil || n.T != "call" {
		return r.annotation(sym.in, n, depth+1)
	}
	module, name := split(r.qualify(sym.in, n.X, 0).name)
	if !known(module) || len(n.E) < 2 {
		return schema.AnyType
	}
	switch name {
	case "NewType":
		return r.annotation(sym.in, n.E[1], depth+1)
	case "TypedDict":
		if n.E[1].T != "dict" {
			return schema.AnyType
		}
		t := &schema.Type{Kind: schema.Struct}
		for _, k := range n.E[1].K {
			t.Fields = append(t.Fields, r.item(sym.in, k.Name, k.X, total(n.K), depth))
		}
		return t
	case "Enum", "StrEnum":
		if n.E[1].T == "list" && name == "StrEnum" {
			return schema.StringType
		}
	}
	return schema.AnyType
}

func total(words []keyword) bool {
	w := word(words, "total")
	return w == nil || w.T != "bool" || w.S == "true"
}

// item is a key of a TypedDict.
func (r *reader) item(m *module, name string, n *node, required bool, depth int) *schema.Field {
	f := &schema.Field{Name: name}
	for n != nil && (n.T == "sub" || n.T == "str" && n.X != nil) {
		inner := n.X
		if n.T == "sub" {
			mod, word := split(r.qualify(m, n.X, 0).name)
			if !known(mod) || len(n.E) == 0 || word != "Required" && word != "NotRequired" && word != "ReadOnly" {
				break
			}
			if word != "ReadOnly" {
				required = word == "Required"
			}
			inner = n.E[0]
		}
		n = inner
	}
	f.Type = r.annotation(m, n, depth+1)
	if !required {
		maybeMissing(f)
	}
	return f
}

// maybeMissing makes a field one that need not be there, and is not null when it is not.
func maybeMissing(f *schema.Field) {
	f.Type, f.Omit = schema.OptOf(f.Type, "it may be missing"), true
}

// class is the type of a class: a struct for a TypedDict or a dataclass, an enum for an Enum of texts, else any.
func (r *reader) class(sym symbol, depth int) *schema.Type {
	bases := r.ancestors(sym, 0)
	is := func(names ...string) bool {
		return slices.ContainsFunc(bases, func(b symbol) bool {
			module, name := split(b.name)
			return b.stmt == nil && known(module) && slices.Contains(names, name)
		})
	}
	switch {
	case is("TypedDict"):
		return r.typedDict(sym, bases, depth)
	case is("StrEnum"), is("Enum"):
		return r.enum(sym, is("StrEnum"))
	case is("IntEnum", "IntFlag"):
		return schema.IntType
	case r.isDataclass(sym):
		return r.dataclass(sym, bases, depth)
	case is("BaseModel"):
		return r.model(sym, bases, depth)
	case is("str"):
		return schema.StringType
	}
	return schema.AnyType
}

// ancestors are the classes that a class is made of, the nearest first; those of known modules by name.
func (r *reader) ancestors(sym symbol, depth int) []symbol {
	if depth > maxSteps {
		return nil
	}
	var out []symbol
	for _, b := range sym.stmt.Bases {
		if b != nil && b.T == "sub" { // Generic[T]
			b = b.X
		}
		base := r.qualify(sym.in, b, 0)
		if base.stmt != nil && (base.stmt.Kind != "class" || base.stmt == sym.stmt) || base.stmt == nil && base.name == "" {
			continue
		}
		out = append(out, base)
		if base.stmt != nil && len(out) < 100 {
			out = append(out, r.ancestors(base, depth+1)...)
		}
	}
	return out
}

// typedDict has the keys of its bases, then its own.
func (r *reader) typedDict(sym symbol, bases []symbol, depth int) *schema.Type {
	t := &schema.Type{Kind: schema.Struct}
	for _, b := range slices.Backward(append([]symbol{sym}, bases...)) {
		if b.stmt == nil {
			continue
		}
		for _, p := range b.stmt.Params {
			if p.Type == nil {
				continue
			}
			f := r.item(b.in, p.Name, p.Type, total(b.stmt.Words), depth)
			f.Span = p.At.in(b.in.file.Source, p.Name)
			foreign.Put(t, f)
		}
	}
	return t
}

// enum is the values of an Enum whose members are texts. auto() of a StrEnum is the member's name in lower case.
func (r *reader) enum(sym symbol, text bool) *schema.Type {
	t := &schema.Type{Kind: schema.Enum}
	var texts []string // what str() makes of the members
	for _, p := range sym.stmt.Params {
		switch v := p.Default; {
		case p.Type != nil || strings.HasPrefix(p.Name, "_") || v == nil:
			continue
		case v.T == "str":
			if foreign.AddValue(t, v.S); len(t.Values) > len(texts) { // another name of a member is not a member
				texts = append(texts, sym.stmt.Name+"."+p.Name)
			}
		case v.T == "call" && text && r.auto(sym.in, v):
			foreign.AddValue(t, strings.ToLower(p.Name))
		default:
			return schema.AnyType
		}
	}
	if len(t.Values) == 0 {
		return schema.AnyType
	}
	if !text && !slices.ContainsFunc(sym.stmt.Methods, func(m *method) bool { return m.Name == "__str__" || m.Name == "__format__" }) {
		r.texts[t] = texts
	}
	return t
}

// is tells whether an expression names something of a known module.
func (r *reader) is(m *module, n *node, name string) bool {
	module, last := split(r.qualify(m, n, 0).name)
	return last == name && known(module)
}

func (r *reader) auto(m *module, n *node) bool {
	return r.is(m, n.X, "auto")
}

func (r *reader) isDataclass(sym symbol) bool { return r.dataclassMark(sym) != nil }

// dataclassMark is the decorator that makes a class a dataclass.
func (r *reader) dataclassMark(sym symbol) *node {
	for _, mark := range sym.stmt.Marks {
		n := mark
		if n != nil && n.T == "call" {
			n = n.X
		}
		if r.is(sym.in, n, "dataclass") {
			return mark
		}
	}
	return nil
}

// dataclass has the fields of its bases that are dataclasses, then its own. A field with a default may be left out.
func (r *reader) dataclass(sym symbol, bases []symbol, depth int) *schema.Type {
	t := &schema.Type{Kind: schema.Struct}
	for _, b := range slices.Backward(append([]symbol{sym}, bases...)) {
		if b.stmt == nil || !r.isDataclass(b) {
			continue
		}
		for _, p := range b.stmt.Params {
			if p.Type == nil || r.classVariable(b.in, p.Type) {
				continue
			}
			f := &schema.Field{Name: p.Name, Type: r.annotation(b.in, p.Type, depth+1), Span: p.At.in(b.in.file.Source, p.Name)}
			if r.result || !withDefault(p.Default) {
				foreign.Put(t, f)
				continue
			}
			if init := initOnly(p.Default); init != nil && init.T == "bool" && init.S == "false" {
				return schema.AnyType // a field that comes out and does not go in
			}
			give(f, p.Default)
			foreign.Put(t, f)
		}
	}
	return t
}

func (r *reader) classVariable(m *module, n *node) bool {
	if n.T == "sub" {
		n = n.X
	}
	return r.is(m, n, "ClassVar")
}

// withDefault tells whether the value of a dataclass field is a default: field() alone is none.
func withDefault(n *node) bool {
	if n == nil {
		return false
	}
	if n.T == "call" && (n.X.S == "field") {
		return word(n.K, "default") != nil || word(n.K, "default_factory") != nil || initOnly(n) != nil
	}
	return true
}

func initOnly(n *node) *node {
	if n.T == "call" && n.X.S == "field" {
		return word(n.K, "init")
	}
	return nil
}

// model is the fields of a pydantic model and its bases. One with other names on the way in or out is any.
func (r *reader) model(sym symbol, bases []symbol, depth int) *schema.Type {
	t := &schema.Type{Kind: schema.Struct}
	for _, b := range slices.Backward(append([]symbol{sym}, bases...)) {
		if b.stmt == nil {
			continue
		}
		for _, p := range b.stmt.Params {
			if p.Type == nil || strings.HasPrefix(p.Name, "_") || p.Name == "model_config" || r.classVariable(b.in, p.Type) {
				continue
			}
			f := &schema.Field{Name: p.Name, Type: r.annotation(b.in, p.Type, depth+1), Span: p.At.in(b.in.file.Source, p.Name)}
			if r.answer {
				r.said(b.in, f, p)
				foreign.Put(t, f)
				continue
			}
			given := p.Default
			if n := given; n != nil && n.T == "call" && n.X != nil && n.X.S == "Field" {
				for _, k := range []string{"alias", "validation_alias", "serialization_alias", "exclude"} {
					if word(n.K, k) != nil {
						return schema.AnyType
					}
				}
				switch {
				case word(n.K, "default") != nil:
					given = word(n.K, "default")
				case word(n.K, "default_factory") == nil && len(n.E) == 0:
					given = nil
				case len(n.E) > 0:
					given = n.E[0]
				}
				if given != nil && given.T == "" && given.S == "..." {
					given = nil
				}
			}
			if given != nil && !r.result {
				give(f, given)
			}
			foreign.Put(t, f)
		}
	}
	return t
}
