package value

import (
	"math"
	"reflect"
	"sync"
	"unicode/utf8"
)

// DecodeValue is DecodeKnown of the JSON of a value. Values that fit plainly are taken over without their text; all others,
// and all errors, are those of the text.
func DecodeValue[T any](v Value, out *T) error {
	fresh := new(T)
	if !fits(reflect.ValueOf(fresh).Elem(), v, 0) {
		text, err := v.MarshalJSON()
		if err != nil {
			return err
		}
		return DecodeKnown(text, out)
	}
	*out = *fresh
	return nil
}

// maxPlain is how deep values are taken over without their text.
const maxPlain = 100

// own tells types with decoders of their own: reflect.Type -> bool.
var own sync.Map

func hasDecoder(t reflect.Type) bool {
	if is, ok := own.Load(t); ok {
		return is.(bool)
	}
	p := reflect.PointerTo(t)
	is := t == durationType || p.Implements(nullableType) || p.Implements(unmarshalerType) || p.Implements(textType)
	own.Store(t, is)
	return is
}

// fits sets to from v where that is plain; false leaves the value to its JSON. to is zero before.
func fits(to reflect.Value, v Value, depth int) bool {
	t := to.Type()
	if t == valueType {
		*to.Addr().Interface().(*Value) = v
		return true
	}
	if depth > maxPlain || hasDecoder(t) {
		return false
	}
	if v.kind == NullKind {
		return t.Kind() == reflect.Pointer
	}
	switch t.Kind() {
	case reflect.Pointer:
		to.Set(reflect.New(t.Elem()))
		return fits(to.Elem(), v, depth+1)
	case reflect.Struct:
		return v.kind == MapKind && structFits(to, v, depth)
	case reflect.Map:
		return v.kind == MapKind && t.Key().Kind() == reflect.String && mapFits(to, v, depth)
	case reflect.Slice:
		return v.kind == ListKind && t.Elem().Kind() != reflect.Uint8 && sliceFits(to, v, depth)
	case reflect.String:
		if v.kind != StringKind || !utf8.ValidString(v.String()) {
			return false
		}
		to.SetString(v.String())
		return true
	case reflect.Bool:
		to.SetBool(v.kind == BoolKind && v.Bool())
		return v.kind == BoolKind
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if v.kind != IntKind || to.OverflowInt(v.Int()) {
			return false
		}
		to.SetInt(v.Int())
		return true
	case reflect.Float64:
		f := v.Float()
		to.SetFloat(f)
		return (v.kind == IntKind || v.kind == FloatKind) && !math.IsNaN(f) && !math.IsInf(f, 0)
	}
	return false
}

func structFits(to reflect.Value, v Value, depth int) bool {
	fs := fieldsOf(to.Type())
	for i := range fs {
		f := &fs[i]
		if f.rule != nil {
			return false // its error names the place
		}
		item, ok := v.Get(f.name)
		if !ok {
			if f.hasDef || !f.optional {
				return false
			}
			continue
		}
		if !fits(to.FieldByIndex(f.index), item, depth+1) {
			return false
		}
	}
	return true
}

func mapFits(to reflect.Value, v Value, depth int) bool {
	t := to.Type()
	to.Set(reflect.MakeMapWithSize(t, v.Len()))
	for i, key := range v.Keys() {
		item := reflect.New(t.Elem()).Elem()
		if !utf8.ValidString(key) || !fits(item, v.Index(i), depth+1) {
			return false
		}
		to.SetMapIndex(reflect.ValueOf(key).Convert(t.Key()), item)
	}
	return true
}

func sliceFits(to reflect.Value, v Value, depth int) bool {
	to.Set(reflect.MakeSlice(to.Type(), v.Len(), v.Len()))
	for i := range v.Len() {
		if !fits(to.Index(i), v.Index(i), depth+1) {
			return false
		}
	}
	return true
}
