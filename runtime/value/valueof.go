package value

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// ValueOf converts any value of a journalled type: it is the value that its JSON reads as, but that floats stay floats.
// NaN, infinities and what has no JSON are errors.
func Of(v any) (Value, error) {
	if w, ok := v.(Value); ok {
		return w, nil
	}
	rv := reflect.ValueOf(v)
	if !rv.IsValid() {
		return Value{}, nil
	}
	return convert(rv, formOf(rv.Type()), 0)
}

// convert walks a value. Types with a JSON form of their own, and structs whose tags say more than a name, go by way of
// encoding/json.
func convert(v reflect.Value, f *form, depth int) (Value, error) {
	if depth > maxDepth {
		return Value{}, errTooDeep
	}
	switch f.kind {
	case formValue:
		return v.Interface().(Value), nil
	case formJSON:
		return throughJSON(v)
	}
	switch v.Kind() {
	case reflect.Bool:
		return Bool(v.Bool()), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return Int(v.Int()), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		if u := v.Uint(); u <= math.MaxInt64 {
			return Int(int64(u)), nil
		}
		return throughJSON(v)
	case reflect.Float64:
		return finiteValue(v.Float())
	case reflect.String:
		if s := v.String(); utf8.ValidString(s) {
			return String(s), nil
		}
		return throughJSON(v)
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return Value{}, nil
		}
		in := v.Elem()
		inner := formOf(in.Type())
		if v.Kind() == reflect.Pointer && inner.kind == formJSON { // methods of the pointer count
			return throughJSON(v)
		}
		return convert(in, inner, depth+1)
	case reflect.Slice, reflect.Array:
		return convertList(v, depth)
	case reflect.Map:
		return convertMap(v, depth)
	}
	return convertStruct(v, f, depth)
}

func finiteValue(f float64) (Value, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return Value{}, errNotFinite
	}
	return Float(f), nil
}

func throughJSON(v reflect.Value) (Value, error) {
	b, err := json.Marshal(v.Interface())
	if err != nil {
		return Value{}, err
	}
	return Parse(b)
}

func convertList(v reflect.Value, depth int) (_ Value, err error) {
	if v.Kind() == reflect.Slice && v.IsNil() {
		return Value{}, nil
	}
	t, inner := &valueTree{kind: ListKind, items: make([]Value, v.Len())}, formOf(v.Type().Elem())
	for i := range t.items {
		if t.items[i], err = convert(v.Index(i), inner, depth+1); err != nil {
			return Value{}, err
		}
	}
	return Value{tree: t}, nil
}

// convertMap puts the keys in the order of encoding/json.
func convertMap(v reflect.Value, depth int) (Value, error) {
	if v.IsNil() {
		return Value{}, nil
	}
	keys := make([]string, 0, v.Len())
	for it := v.MapRange(); it.Next(); {
		k := it.Key().String()
		if !utf8.ValidString(k) {
			return throughJSON(v)
		}
		keys = append(keys, k)
	}
	slices.Sort(keys)
	entries, inner := make([]Entry, len(keys)), formOf(v.Type().Elem())
	for i, k := range keys {
		x, err := convert(v.MapIndex(reflect.ValueOf(k).Convert(v.Type().Key())), inner, depth+1)
		if err != nil {
			return Value{}, err
		}
		entries[i] = Entry{k, x}
	}
	return Map(entries...), nil
}

func convertStruct(v reflect.Value, f *form, depth int) (_ Value, err error) {
	t := newStruct(len(f.index))
	t.keys, t.place = f.keys, f.place
	for i, at := range f.index {
		if t.items[i], err = convert(v.Field(at), f.fields[i], depth+1); err != nil {
			return Value{}, err
		}
	}
	return Value{tree: t}, nil
}

// newStruct makes a map with room for n items; where that is little, in one allocation.
func newStruct(n int) *valueTree {
	switch {
	case n == 1:
		t := &struct {
			valueTree
			items [1]Value
		}{}
		t.valueTree = valueTree{kind: MapKind, items: t.items[:]}
		return &t.valueTree
	case n <= tinyMap:
		t := &struct {
			valueTree
			items [tinyMap]Value
		}{}
		t.valueTree = valueTree{kind: MapKind, items: t.items[:n:n]}
		return &t.valueTree
	}
	return &valueTree{kind: MapKind, items: make([]Value, n)}
}

// form is how values of a type are converted. The keys of a struct are shared by all its values: nobody changes them.
type form struct {
	kind   formKind
	index  []int // fields of a struct
	fields []*form
	keys   []string
	place  map[string]int
}

type formKind uint8

const (
	formWalk  formKind = iota // by its kind
	formValue                 // it is a Value
	formJSON                  // by way of encoding/json
)

var forms sync.Map // reflect.Type -> *form

func formOf(t reflect.Type) *form {
	if f, ok := forms.Load(t); ok {
		return f.(*form)
	}
	f := makeForm(t)
	forms.Store(t, f)
	return f
}

func makeForm(t reflect.Type) *form {
	if t == valueType {
		return &form{kind: formValue}
	}
	if t.Kind() != reflect.Interface && t.Kind() != reflect.Pointer && (Opaque(t) || t.Implements(textMarshalerType) || reflect.PointerTo(t).Implements(marshalerType)) {
		return &form{kind: formJSON}
	}
	switch t.Kind() {
	case reflect.Struct:
		return structForm(t)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return &form{kind: formJSON}
		}
	case reflect.Map:
		if t.Key().Kind() != reflect.String || t.Key().Implements(textMarshalerType) {
			return &form{kind: formJSON}
		}
	case reflect.Float32, reflect.Complex64, reflect.Complex128, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return &form{kind: formJSON} // a float32 is shorter in its own precision; the others have no JSON, which it says
	}
	return &form{}
}

// structForm lists the fields of a struct. One whose fields are embedded, may be left out or have another form is left to
// encoding/json.
func structForm(t reflect.Type) *form {
	f := &form{place: map[string]int{}}
	for i := range t.NumField() {
		sf := t.Field(i)
		tag := sf.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		switch {
		case tag == "-" || !sf.IsExported() && !sf.Anonymous:
			continue
		case sf.Anonymous || options != "" || name != "" && !plainKey(name):
			return &form{kind: formJSON}
		case name == "":
			name = sf.Name
		}
		if _, dup := f.place[name]; dup {
			return &form{kind: formJSON}
		}
		f.place[name] = len(f.keys)
		f.keys, f.index, f.fields = append(f.keys, name), append(f.index, i), append(f.fields, formOf(sf.Type))
	}
	if len(f.keys) <= smallMap {
		f.place = nil
	}
	return f
}
