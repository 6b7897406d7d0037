package redact

import (
	"encoding/json"
	"reflect"
	"strconv"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Output takes secrets out of the output of a tool, which ptr points to, before it becomes data of the workflow. again
// makes *ptr a copy of itself that shares nothing with what the tool may still hold.
func (r *Redactor) Output(ptr any, again func() error) error {
	if s, ok := ptr.(*string); ok {
		*s = r.Text(*s)
		return nil
	}
	v := reflect.ValueOf(ptr).Elem()
	if !r.foundAt(v) {
		return nil
	}
	if err := again(); err != nil {
		return value.Invalid("output: %v", err)
	}
	if r.take(v); r.foundAt(v) {
		return value.Errorf(value.PolicyDenied, "output: there is a secret in it that cannot be taken out")
	}
	return nil
}

// foundAt reports whether there is a secret in v.
func (r *Redactor) foundAt(v reflect.Value) bool {
	t := v.Type()
	switch {
	case t == reflect.TypeFor[value.Value]():
		return r.foundIn(v.Interface().(value.Value))
	case t == reflect.TypeFor[time.Time]() || t == reflect.TypeFor[time.Duration]():
		return false
	case t.Kind() != reflect.Pointer && value.Opaque(t):
		b, err := json.Marshal(v.Interface())
		return err != nil || r.FoundBytes(b)
	}
	switch v.Kind() {
	case reflect.String:
		return r.Found(v.String())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return r.numeric && r.values[strconv.FormatInt(v.Int(), 10)]
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return r.numeric && r.values[strconv.FormatUint(v.Uint(), 10)]
	case reflect.Float32, reflect.Float64:
		return r.numeric && r.values[value.JSON(v.Float())]
	case reflect.Pointer, reflect.Interface:
		return !v.IsNil() && r.foundAt(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanInterface() && r.foundAt(f) { // unlike the type's field this costs nothing
				return true
			}
		}
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 && v.Kind() == reflect.Slice {
			return r.FoundBytes(v.Bytes())
		}
		for i := range v.Len() {
			if r.foundAt(v.Index(i)) {
				return true
			}
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			if r.foundAt(it.Key()) || r.foundAt(it.Value()) {
				return true
			}
		}
	}
	return false
}

// take takes secrets out of v, which can be set.
func (r *Redactor) take(v reflect.Value) {
	t := v.Type()
	switch {
	case t == reflect.TypeFor[value.Value]():
		v.Set(reflect.ValueOf(r.Value(v.Interface().(value.Value))))
		return
	case t.Kind() != reflect.Pointer && value.Opaque(t):
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(r.Text(v.String()))
	case reflect.Pointer:
		if !v.IsNil() {
			r.take(v.Elem())
		}
	case reflect.Interface:
		if !v.IsNil() {
			clean := reflect.New(v.Elem().Type()).Elem()
			clean.Set(v.Elem())
			r.take(clean)
			v.Set(clean)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if t.Field(i).IsExported() {
				r.take(v.Field(i))
			}
		}
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 && v.Kind() == reflect.Slice {
			v.SetBytes([]byte(r.Text(string(v.Bytes()))))
			return
		}
		for i := range v.Len() {
			r.take(v.Index(i))
		}
	case reflect.Map:
		if v.IsNil() {
			return
		}
		clean := reflect.MakeMapWithSize(t, v.Len())
		for it := v.MapRange(); it.Next(); {
			key, val := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
			key.Set(it.Key())
			val.Set(it.Value())
			r.take(key)
			r.take(val)
			clean.SetMapIndex(key, val)
		}
		v.Set(clean)
	}
}
