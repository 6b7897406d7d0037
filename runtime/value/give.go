package value

import (
	"math"
	"reflect"
	"slices"
	"sync"
	"unicode/utf8"
	"unsafe"
)

// EntriesAt appends the entries of the map that Of has below a key of a struct, and says whether there is something and of
// what kind it is; null and values other than maps have no entries. v stays where it is: nothing keeps it.
func EntriesAt[T any](to []Entry, v *T, key string) (_ []Entry, kind Kind, present bool, err error) {
	if g := giverOf(reflect.TypeFor[T]()); g.kind == aStruct {
		f, ok := g.field(key)
		if !ok {
			return to, NullKind, false, nil
		}
		if out, kind, ok := f.giveEntries(unsafe.Add(unsafe.Pointer(v), f.at), to); ok {
			return out, kind, true, nil
		}
	}
	return entriesAt(to, *v, key)
}

// At is what Of has below a key, and whether there is something. v stays where it is.
func At[T any](v *T, key string) (Value, bool, error) {
	if g := giverOf(reflect.TypeFor[T]()); g.kind == aStruct {
		f, ok := g.field(key)
		if !ok {
			return Value{}, false, nil
		}
		if out, ok := f.give(unsafe.Add(unsafe.Pointer(v), f.at), 1); ok {
			return out, true, nil
		}
	}
	return at(*v, key)
}

// entriesAt is EntriesAt of a copy, which can leave the stack.
//
//go:noinline
func entriesAt[T any](to []Entry, v T, key string) ([]Entry, Kind, bool, error) {
	m, present, err := at(v, key)
	if m.Kind() == MapKind {
		for i, k := range m.tree.keys {
			to = append(to, Entry{k, m.tree.items[i]})
		}
	}
	return to, m.Kind(), present, err
}

// at is At of a copy. Of a struct it converts that field alone.
//
//go:noinline
func at[T any](v T, key string) (Value, bool, error) {
	rv := reflect.ValueOf(&v).Elem()
	f := formOf(rv.Type())
	if f.kind != formWalk || rv.Kind() != reflect.Struct {
		whole, err := Of(v)
		part, ok := whole.Get(key)
		return part, ok, err
	}
	i := slices.Index(f.keys, key)
	if i < 0 {
		return Value{}, false, nil
	}
	part, err := convert(rv.Field(f.index[i]), f.fields[i], 1)
	return part, err == nil, err
}

// A giver is what a taker is in the other direction: values of the type are read where they stand, without looking at the
// type. What is byText goes by way of Of.
type giver taker

var givers sync.Map // reflect.Type -> *giver

func giverOf(t reflect.Type) *giver {
	if g, ok := givers.Load(t); ok {
		return g.(*giver)
	}
	g := (*giver)(giverIn(t, map[reflect.Type]*taker{}))
	givers.Store(t, g)
	return g
}

// giverIn finds the giver of a type, as takerIn.
func giverIn(t reflect.Type, seen map[reflect.Type]*taker) *taker {
	if s := seen[t]; s != nil {
		return s
	}
	s := &taker{typ: t}
	seen[t] = s
	f := formOf(t)
	switch {
	case f.kind == formValue:
		s.kind = aValue
		return s
	case f.kind == formJSON:
		return s
	}
	switch s.kind = scalarKind(t); t.Kind() {
	case reflect.Pointer:
		if formOf(t.Elem()).kind != formJSON { // methods of the pointer count
			s.kind, s.elem = aPointer, giverIn(t.Elem(), seen)
		}
	case reflect.Struct:
		s.kind = aStruct
		for i, at := range f.index {
			in := t.Field(at)
			s.fields = append(s.fields, takerField{name: f.keys[i], at: in.Offset, taker: giverIn(in.Type, seen)})
		}
	}
	return s
}

// A giverField is a field of a giver.
type giverField struct {
	*giver
	at uintptr
}

func (g *giver) field(name string) (giverField, bool) {
	for i := range g.fields {
		if f := &g.fields[i]; f.name == name {
			return giverField{(*giver)(f.taker), f.at}, true
		}
	}
	return giverField{}, false
}

// give is the value at p where that is plain.
func (g *giver) give(p unsafe.Pointer, depth int) (Value, bool) {
	switch g.kind {
	case aValue:
		return *(*Value)(p), true
	case aBool:
		return Bool(*(*bool)(p)), true
	case aString:
		s := *(*string)(p)
		return String(s), utf8.ValidString(s)
	case aFloat:
		f := *(*float64)(p)
		return Float(f), !math.IsNaN(f) && !math.IsInf(f, 0)
	case anInt:
		return Int(g.int(p)), true
	case aPointer:
		to := *(*unsafe.Pointer)(p)
		if to == nil {
			return Value{}, true
		}
		return (*giver)(g.elem).give(to, depth+1)
	case aStruct:
		return g.giveStruct(p, depth)
	}
	return Value{}, false
}

func (g *giver) int(p unsafe.Pointer) int64 {
	switch g.typ.Size() {
	case 1:
		return int64(*(*int8)(p))
	case 2:
		return int64(*(*int16)(p))
	case 4:
		return int64(*(*int32)(p))
	}
	return *(*int64)(p)
}

func (g *giver) giveStruct(p unsafe.Pointer, depth int) (Value, bool) {
	if depth > maxPlain {
		return Value{}, false
	}
	f := formOf(g.typ)
	t := newStruct(len(g.fields))
	t.keys, t.place = f.keys, f.place
	for i := range g.fields {
		x := &g.fields[i]
		v, ok := (*giver)(x.taker).give(unsafe.Add(p, x.at), depth+1)
		if !ok {
			return Value{}, false
		}
		t.items[i] = v
	}
	return Value{tree: t}, true
}

// giveEntries appends what is in the struct at p, which may be behind pointers.
func (g *giver) giveEntries(p unsafe.Pointer, to []Entry) ([]Entry, Kind, bool) {
	for g.kind == aPointer {
		if p = *(*unsafe.Pointer)(p); p == nil {
			return to, NullKind, true
		}
		g = (*giver)(g.elem)
	}
	if g.kind != aStruct {
		return to, NullKind, false
	}
	for i := range g.fields {
		f := &g.fields[i]
		v, ok := (*giver)(f.taker).give(unsafe.Add(p, f.at), 1)
		if !ok {
			return to, NullKind, false
		}
		to = append(to, Entry{f.name, v})
	}
	return to, MapKind, true
}
