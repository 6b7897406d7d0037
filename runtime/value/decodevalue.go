package value

import (
	"math"
	"reflect"
	"sync"
	"unicode/utf8"
	"unsafe"
)

// DecodeValue is DecodeKnown of the JSON of a value. Values that fit plainly are taken over without their text; all others,
// and all errors, are those of the text.
func DecodeValue[T any](v Value, out *T) error {
	var fresh T
	if !takerOf(reflect.TypeFor[T]()).take(unsafe.Pointer(&fresh), v, 0) {
		text, err := v.MarshalJSON()
		if err != nil {
			return err
		}
		return DecodeKnown(text, out)
	}
	*out = fresh
	return nil
}

// DecodeFields is DecodeValue of a map that is not there yet, for the struct T: get finds what is under a key of it, and under a
// key of the one map in it that is not there either. ok is false where the map has to be made, for a value that does not fit
// plainly or an error. get is not called any more when it returns.
func DecodeFields[T any](inner string, get func(in, key string) (Value, bool)) (out T, ok bool) {
	s := takerOf(reflect.TypeFor[T]())
	return out, s.kind == aStruct && s.takeFound(unsafe.Pointer(&out), "", inner, get)
}

// takeFound is takeFields of a map that is not there.
func (s *taker) takeFound(p unsafe.Pointer, in, inner string, get func(in, key string) (Value, bool)) bool {
	for i := range s.fields {
		f := &s.fields[i]
		if inner != "" && f.name == inner {
			if f.kind != aStruct || !f.takeFound(unsafe.Add(p, f.at), inner, "", get) {
				return false
			}
			continue
		}
		v, ok := get(in, f.name)
		switch {
		case ok && f.take(unsafe.Add(p, f.at), v, 2):
		case ok || !f.optional:
			return false
		}
	}
	return true
}

// maxPlain is how deep values are taken over without their text.
const maxPlain = 100

// A taker is what a type takes of values, found once: a value that fits is taken over without looking at the type.
type taker struct {
	kind   takerKind
	typ    reflect.Type
	fields []takerField
	elem   *taker // of a pointer, slice or map
}

// A takerField is one of a struct, and where in it that is.
type takerField struct {
	name     string
	at       uintptr
	optional bool
	*taker
}

type takerKind uint8

const (
	byText takerKind = iota // it is left to the JSON of the value
	aValue
	aBool
	aString
	aFloat
	anInt
	aStruct
	aPointer
	aSlice
	aMap
)

var takers sync.Map // reflect.Type -> *taker

func takerOf(t reflect.Type) *taker {
	if s, ok := takers.Load(t); ok {
		return s.(*taker)
	}
	s := takerIn(t, map[reflect.Type]*taker{})
	takers.Store(t, s)
	return s
}

// scalarKind is the kind of a type without parts; byText for others.
func scalarKind(t reflect.Type) takerKind {
	switch t.Kind() {
	case reflect.Bool:
		return aBool
	case reflect.String:
		return aString
	case reflect.Float64:
		return aFloat
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return anInt
	}
	return byText
}

// takerIn finds the taker of a type. seen has those that are being looked at: a type may lead to itself.
func takerIn(t reflect.Type, seen map[reflect.Type]*taker) *taker {
	if s := seen[t]; s != nil {
		return s
	}
	s := &taker{typ: t}
	seen[t] = s
	if t == valueType {
		s.kind = aValue
		return s
	}
	if p := reflect.PointerTo(t); t == durationType || p.Implements(nullableType) || p.Implements(unmarshalerType) || p.Implements(textType) {
		return s
	}
	switch s.kind = scalarKind(t); t.Kind() {
	case reflect.Pointer:
		s.kind, s.elem = aPointer, takerIn(t.Elem(), seen)
	case reflect.Slice:
		if t.Elem().Kind() != reflect.Uint8 {
			s.kind, s.elem = aSlice, takerIn(t.Elem(), seen)
		}
	case reflect.Map:
		if t.Key().Kind() == reflect.String {
			s.kind, s.elem = aMap, takerIn(t.Elem(), seen)
		}
	case reflect.Struct:
		s.kind = aStruct
		for _, f := range fieldsOf(t) {
			if f.rule != nil { // its error names the place
				s.kind = byText
			}
			at, in := uintptr(0), t
			for _, i := range f.index {
				at, in = at+in.Field(i).Offset, in.Field(i).Type
			}
			s.fields = append(s.fields, takerField{f.name, at, f.optional && !f.hasDef, takerIn(in, seen)})
		}
	}
	return s
}

// take sets what p points to, which is zero, from v where that is plain; false leaves the value to its JSON.
func (s *taker) take(p unsafe.Pointer, v Value, depth int) bool {
	if s.kind == aValue {
		*(*Value)(p) = v
		return true
	}
	if s.kind == byText || depth > maxPlain {
		return false
	}
	if v.Kind() == NullKind {
		return s.kind == aPointer
	}
	switch s.kind {
	case aBool:
		*(*bool)(p) = v.Bool()
		return v.Kind() == BoolKind
	case aString:
		*(*string)(p) = v.text
		return v.Kind() == StringKind && utf8.ValidString(v.text)
	case aFloat:
		f := v.Float()
		*(*float64)(p) = f
		return (v.Kind() == IntKind || v.Kind() == FloatKind) && !math.IsNaN(f) && !math.IsInf(f, 0)
	case anInt:
		return v.Kind() == IntKind && s.takeInt(p, v.Int())
	case aStruct:
		return v.Kind() == MapKind && s.takeFields(p, v, depth)
	case aPointer:
		to := reflect.New(s.elem.typ).UnsafePointer()
		*(*unsafe.Pointer)(p) = to
		return s.elem.take(to, v, depth+1)
	case aSlice:
		return v.Kind() == ListKind && s.takeItems(p, v, depth)
	}
	return v.Kind() == MapKind && s.takeEntries(p, v, depth)
}

func (s *taker) takeInt(p unsafe.Pointer, n int64) bool {
	switch s.typ.Size() {
	case 1:
		*(*int8)(p) = int8(n)
		return int64(int8(n)) == n
	case 2:
		*(*int16)(p) = int16(n)
		return int64(int16(n)) == n
	case 4:
		*(*int32)(p) = int32(n)
		return int64(int32(n)) == n
	}
	*(*int64)(p) = n
	return true
}

func (s *taker) takeFields(p unsafe.Pointer, v Value, depth int) bool {
	for i := range s.fields {
		f := &s.fields[i]
		item, ok := v.Get(f.name)
		switch {
		case ok && f.take(unsafe.Add(p, f.at), item, depth+1):
		case ok || !f.optional:
			return false
		}
	}
	return true
}

func (s *taker) takeItems(p unsafe.Pointer, v Value, depth int) bool {
	all := reflect.MakeSlice(s.typ, v.Len(), v.Len())
	*(*struct {
		first    unsafe.Pointer
		len, cap int
	})(p) = struct {
		first    unsafe.Pointer
		len, cap int
	}{all.UnsafePointer(), v.Len(), v.Len()}
	for i := range v.Len() {
		if !s.elem.take(all.Index(i).Addr().UnsafePointer(), v.Index(i), depth+1) {
			return false
		}
	}
	return true
}

func (s *taker) takeEntries(p unsafe.Pointer, v Value, depth int) bool {
	all := reflect.MakeMapWithSize(s.typ, v.Len())
	*(*unsafe.Pointer)(p) = all.UnsafePointer()
	for i := range v.Len() {
		key, item := v.Key(i), reflect.New(s.elem.typ)
		if !utf8.ValidString(key) || !s.elem.take(item.UnsafePointer(), v.Index(i), depth+1) {
			return false
		}
		all.SetMapIndex(reflect.ValueOf(key).Convert(s.typ.Key()), item.Elem())
	}
	return true
}
