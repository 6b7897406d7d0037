package value

import (
	"encoding/json"
	"reflect"
	"strconv"
	"sync"
)

// Unmarshal is json.Unmarshal for types that hold unions as well, which encoding/json cannot read.
func Unmarshal(data []byte, v any) error {
	to := reflect.ValueOf(v)
	if to.Kind() != reflect.Pointer || to.IsNil() || !holdsUnion(to.Type().Elem()) {
		return json.Unmarshal(data, v)
	}
	return restore(data, to.Elem())
}

// restore reads what encoding/json has written of a value.
func restore(data []byte, to reflect.Value) error {
	t := to.Type()
	null := string(data) == "null"
	switch u := unionOf(t); {
	case !holdsUnion(t):
		return json.Unmarshal(data, to.Addr().Interface())
	case null:
		to.SetZero()
		return nil
	case u != nil:
		return u.restore(data, to)
	}
	switch t.Kind() {
	case reflect.Pointer:
		to.Set(reflect.New(t.Elem()))
		return restore(data, to.Elem())
	case reflect.Slice, reflect.Array:
		var items []json.RawMessage
		if err := json.Unmarshal(data, &items); err != nil {
			return err
		}
		if t.Kind() == reflect.Slice {
			to.Set(reflect.MakeSlice(t, len(items), len(items)))
		}
		for i := range min(len(items), to.Len()) {
			if err := restore(items[i], to.Index(i)); err != nil {
				return err
			}
		}
		return nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return err
	}
	if t.Kind() == reflect.Map {
		to.Set(reflect.MakeMapWithSize(t, len(members)))
		for k, raw := range members {
			item := reflect.New(t.Elem()).Elem()
			if err := restore(raw, item); err != nil {
				return err
			}
			to.SetMapIndex(reflect.ValueOf(k).Convert(t.Key()), item)
		}
		return nil
	}
	for _, f := range fieldsOf(t) {
		if raw, ok := members[f.name]; ok {
			if err := restore(raw, to.FieldByIndex(f.index)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (u *union) restore(data []byte, to reflect.Value) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return err
	}
	var tag string
	if err := json.Unmarshal(members[u.by], &tag); err != nil || u.variants[tag] == nil {
		return Invalid("%s is %s, which is not a variant", u.by, strconv.Quote(Clip(string(members[u.by]), 80)))
	}
	fresh := reflect.New(u.variants[tag]).Elem()
	if err := restore(data, fresh); err != nil {
		return err
	}
	to.Set(fresh)
	return nil
}

var holders sync.Map // reflect.Type -> bool

// holdsUnion reports whether values of a type can hold one of a union.
func holdsUnion(t reflect.Type) bool {
	if is, ok := holders.Load(t); ok {
		return is.(bool)
	}
	is := findsUnion(t, map[reflect.Type]bool{})
	holders.Store(t, is)
	return is
}

func findsUnion(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] || Opaque(t) {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Interface:
		return unionOf(t) != nil
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return findsUnion(t.Elem(), seen)
	case reflect.Map:
		return t.Key().Kind() == reflect.String && findsUnion(t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			if sf := t.Field(i); sf.IsExported() && findsUnion(sf.Type, seen) {
				return true
			}
		}
	}
	return false
}
