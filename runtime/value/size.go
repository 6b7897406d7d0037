package value

import (
	"reflect"
	"unsafe"
)

// Bounded reports whether the JSON of every value of type T is short: it has no text, list, map or dynamic value.
func Bounded[T any]() bool { return bounded(reflect.TypeFor[T]()) }

func bounded(t reflect.Type) bool {
	if Opaque(t) {
		return t == timeType
	}
	switch t.Kind() {
	case reflect.String, reflect.Slice, reflect.Map, reflect.Interface, reflect.Pointer: // a pointer may lead to its own type
		return false
	case reflect.Array:
		return t.Len() <= 64 && bounded(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if !bounded(t.Field(i).Type) {
				return false
			}
		}
	}
	return true
}

// Fits reports whether the JSON of what ptr points to surely has at most limit bytes, without encoding it. Values near the
// limit, maps and types with a JSON form of their own have to be encoded: it reports false. It does not allocate.
func Fits[T any](ptr *T, limit int) bool {
	if limit <= 0 {
		return false
	}
	if text, ok := any(ptr).(*string); ok {
		return len(*text) <= limit/escape-number
	}
	return spare(reflect.ValueOf(ptr).Elem(), limit, 0) >= 0
}

// A Size judges the size of values of type T. What can be known of a struct of texts and short values is found once, so that
// Fits adds up the lengths of its texts. The zero Size is Fits without a type known before.
type Size[T any] struct {
	flat  bool
	alone bool      // there is one text
	at    uintptr   // where that one is
	short int       // bytes of the JSON of a T whose texts are empty, at most
	texts []uintptr // where in a T the texts are
}

// SizeOf is the Size of T.
func SizeOf[T any]() Size[T] {
	const plenty = 1 << 40
	t := reflect.TypeFor[T]()
	if t.Kind() != reflect.Struct || Opaque(t) {
		return Size[T]{}
	}
	s := Size[T]{flat: true, short: plenty - spare(reflect.New(t).Elem(), plenty, 0)}
	if !s.add(t, 0) {
		return Size[T]{}
	}
	if len(s.texts) == 1 {
		s.alone, s.at = true, s.texts[0]
	}
	return s
}

// add takes in what varies in the fields of a struct at a place of a T.
func (s *Size[T]) add(t reflect.Type, at uintptr) bool {
	for i := range t.NumField() {
		switch f := t.Field(i); {
		case bounded(f.Type):
		case Opaque(f.Type):
			return false
		case f.Type.Kind() == reflect.String:
			s.texts = append(s.texts, at+f.Offset)
		case f.Type.Kind() == reflect.Struct:
			if !s.add(f.Type, at+f.Offset) {
				return false
			}
		case f.Type.Kind() == reflect.Pointer && bounded(f.Type.Elem()): // what it may lead to counts as if it did
			const plenty = 1 << 40
			s.short += plenty - spare(reflect.New(f.Type.Elem()), plenty, 0)
		default:
			return false
		}
	}
	return true
}

// Short reports whether Fits would be true of a T that has one text. Go inlines it.
func (s *Size[T]) Short(ptr *T, limit int) bool {
	return s.alone && escape*len(*(*string)(unsafe.Add(unsafe.Pointer(ptr), s.at))) <= limit-s.short
}

// Fits is the function Fits.
func (s *Size[T]) Fits(ptr *T, limit int) bool {
	if !s.flat {
		return Fits(ptr, limit)
	}
	left := limit - s.short
	for _, at := range s.texts {
		left -= escape * len(*(*string)(unsafe.Add(unsafe.Pointer(ptr), at))) // a reflect.Value costs as much as the call
	}
	return left >= 0
}

const (
	escape = 6  // the longest form of a byte of text
	number = 26 // the longest number, and what separates it
)

// spare returns what is left of so many bytes behind v, below 0 when that may be nothing.
func spare(v reflect.Value, left, depth int) int {
	if left < 0 || depth > maxDepth {
		return -1
	}
	switch v.Kind() {
	case reflect.String:
		return left - escape*v.Len() - number
	case reflect.Slice, reflect.Array:
		if bounded(v.Type().Elem()) && !Opaque(v.Type().Elem()) && v.Type().Elem().Kind() != reflect.Struct {
			return left - (v.Len()+1)*number
		}
		left -= number
		for i := 0; i < v.Len() && left >= 0; i++ {
			left = spare(v.Index(i), left, depth+1)
		}
		return left
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return left - number
		}
		return spare(v.Elem(), left-escape*number, depth+1) // a union writes its name
	case reflect.Map:
		if v.Len() > 0 { // what an iterator is made of escapes
			return -1
		}
		return left - number
	case reflect.Struct:
		if t := v.Type(); Opaque(t) {
			switch {
			case t == timeType:
				return left - 2*number
			case t == valueType:
				return spareValue(v, left, depth)
			}
			return -1
		}
		left -= number
		fs := fieldsOf(v.Type())
		for i := 0; i < len(fs) && left >= 0; i++ {
			left = spare(v.FieldByIndex(fs[i].index), left-len(fs[i].name)-4, depth+1)
		}
		return left
	}
	if Opaque(v.Type()) {
		return -1
	}
	return left - number
}

// spareValue is spare for a Value: what reflect reads does not escape.
func spareValue(v reflect.Value, left, depth int) int {
	const tree, text, kind, items, keys = 0, 2, 0, 1, 2 // of the fields of Value and valueTree
	if left -= number; depth > maxDepth {
		return -1
	}
	t := v.Field(tree)
	if t.IsNil() {
		return left
	}
	t = t.Elem()
	switch Kind(t.Field(kind).Uint()) {
	case StringKind:
		return left - escape*v.Field(text).Len()
	case ListKind, MapKind:
		for i := 0; i < t.Field(keys).Len() && left >= 0; i++ {
			left -= escape*t.Field(keys).Index(i).Len() + number
		}
		for i := 0; i < t.Field(items).Len() && left >= 0; i++ {
			left = spareValue(t.Field(items).Index(i), left, depth+1)
		}
	}
	return left
}
