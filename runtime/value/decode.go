package value

import (
	"encoding"
	"encoding/base64"
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"time"
)

// Decode reads JSON that comes from outside: a command's output, a run's input. Duplicate keys, unknown fields, missing
// fields (every field that is not a pointer and has no default tag), null for anything but an optional, wrong types, numbers
// out of range, invalid UTF-8, nesting beyond 1000 and text after the value are errors; then Validate applies. The error
// is a *ToolError with VALIDATION_ERROR that names the path. On error *v is unchanged.
//
// A field's tag default:"<json>" gives the value of an absent field. Fields with omitempty or omitzero may be absent.
// A time.Duration is a number of nanoseconds, or text such as "1m30s".
func Decode[T any](data []byte, v *T) error { return decode(data, v, false) }

func decode[T any](data []byte, v *T, open bool) error {
	d := &struct { // one allocation
		decoder
		fresh T
	}{decoder: decoder{scanner: scanner{b: data}, open: open}}
	d.at = d.room[:0]
	fresh := reflect.ValueOf(&d.fresh).Elem()
	err := d.decode(fresh)
	if err == nil {
		err = d.end()
	}
	if d.first != nil {
		err = d.first
		if len(d.wrong) > 1 {
			err = violations(d.wrong)
		}
	}
	if err == nil {
		err = (&walker{}).all(fresh, nil)
	}
	if err != nil {
		return err
	}
	*v = d.fresh
	return nil
}

// DecodeKnown is Decode, but leaves out fields that a struct does not have: for services that may say more tomorrow.
func DecodeKnown[T any](data []byte, v *T) error { return decode(data, v, true) }

type decoder struct {
	scanner
	at   path
	open bool // unknown fields are left out
	room [4]step

	first *ToolError  // of the mistakes below the root
	wrong []violation // all of them, up to a bound
}

// pathOf is where a mistake is; empty: it is about the value itself.
func pathOf(err *ToolError) string {
	at, ok := err.Details.Get("path")
	if !ok {
		return ""
	}
	return at.String()
}

// keep notes a mistake, after which reading goes on unless there are enough of them.
func (d *decoder) keep(err *ToolError) *ToolError {
	if d.first == nil {
		d.first = err
	}
	d.wrong = append(d.wrong, violation{pathOf(err), err.Message})
	if len(d.wrong) < maxViolations {
		return nil
	}
	return err
}

// passOver keeps a mistake in a key and goes on behind its value.
func (d *decoder) passOver(err *ToolError) *ToolError {
	if err = d.keep(err); err == nil {
		_, err = d.skip()
	}
	return err
}

func (d *decoder) decode(v reflect.Value) *ToolError {
	t := v.Type()
	c := d.peek()
	if t == valueType {
		w, err := d.value()
		if err == nil {
			v.Set(reflect.ValueOf(w))
		}
		return err
	}
	if u := unionOf(t); u != nil {
		return d.variant(v, u, c)
	}
	if c == 'n' && !reflect.PointerTo(t).Implements(nullableType) {
		return d.null(v)
	}
	if t.Kind() == reflect.Pointer {
		v.Set(reflect.New(t.Elem()))
		return d.decode(v.Elem())
	}
	if reflect.PointerTo(t).Implements(unmarshalerType) {
		return d.foreign(v, c)
	}
	if t == durationType && c == '"' {
		return d.duration(v)
	}
	if reflect.PointerTo(t).Implements(textType) {
		return d.textual(v, c)
	}
	switch {
	case t.Kind() == reflect.Struct:
		return d.fields(v, c)
	case t.Kind() == reflect.Map && t.Key().Kind() == reflect.String:
		return d.dict(v, c)
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return d.bytes(v, c)
	case t.Kind() == reflect.Slice, t.Kind() == reflect.Array:
		return d.list(v, c)
	}
	return d.scalar(v, c)
}

// expected is the error of a value of the wrong type.
func (d *decoder) expected(what string, c byte) *ToolError {
	given := "null"
	switch {
	case c == 0:
		return d.unexpected("a value")
	case c == '{':
		given = "an object"
	case c == '[':
		given = "a list"
	case c == '"':
		given = "a string"
	case c == 't' || c == 'f':
		given = "a bool"
	case c == '-' || c >= '0' && c <= '9':
		given = "a number"
	case c != 'n':
		return d.unexpected("a value")
	}
	return d.at.fault("%s expected, %s given", what, given)
}

func (d *decoder) null(v reflect.Value) *ToolError {
	if w, err := d.word(); err != nil || w != "null" {
		return err
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		v.SetZero()
		return nil
	}
	return d.expected(typeWord(v.Type()), 'n')
}

func typeWord(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "a bool"
	case reflect.String:
		return "a string"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Struct, reflect.Map:
		if t == timeType {
			return "a time"
		}
		return "an object"
	case reflect.Slice, reflect.Array:
		return "a list"
	}
	return "an integer"
}

// foreign leaves the value to its type's own decoder.
func (d *decoder) foreign(v reflect.Value, c byte) *ToolError {
	raw, err := d.skip()
	if err != nil {
		return err
	}
	if uerr := v.Addr().Interface().(json.Unmarshaler).UnmarshalJSON(raw); uerr != nil {
		if v.Type() == timeType && c != '"' {
			return d.expected("a time", c)
		}
		return d.at.fault("%s", Clip(uerr.Error(), 200))
	}
	return nil
}

func (d *decoder) textual(v reflect.Value, c byte) *ToolError {
	if c != '"' {
		return d.expected("a string", c)
	}
	s, err := d.str()
	if err != nil {
		return err
	}
	if uerr := v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(s)); uerr != nil {
		return d.at.fault("%s", Clip(uerr.Error(), 200))
	}
	return nil
}

func (d *decoder) duration(v reflect.Value) *ToolError {
	s, err := d.str()
	if err != nil {
		return err
	}
	n, perr := time.ParseDuration(s)
	if perr != nil {
		return d.at.fault("%s is not a duration", strconv.Quote(Clip(s, 80)))
	}
	v.SetInt(int64(n))
	return nil
}

func (d *decoder) bytes(v reflect.Value, c byte) *ToolError {
	if c != '"' {
		return d.expected("a string in base64", c)
	}
	s, err := d.str()
	if err != nil {
		return err
	}
	b, berr := base64.StdEncoding.DecodeString(s)
	if berr != nil {
		return d.at.fault("the string is not base64")
	}
	v.SetBytes(b)
	return nil
}

func (d *decoder) scalar(v reflect.Value, c byte) *ToolError {
	number := c == '-' || c >= '0' && c <= '9'
	switch {
	case v.Kind() == reflect.String && c == '"':
		s, err := d.str()
		v.SetString(s)
		return err
	case v.Kind() == reflect.Bool && (c == 't' || c == 'f'):
		w, err := d.word()
		v.SetBool(w == "true")
		return err
	case number && (v.CanInt() || v.CanUint() || v.CanFloat()):
		return d.numeric(v)
	case v.Kind() == reflect.Interface && v.NumMethod() == 0:
		return d.dynamic(v)
	case v.Kind() == reflect.String, v.Kind() == reflect.Bool, v.CanInt(), v.CanUint(), v.CanFloat():
		return d.expected(typeWord(v.Type()), c)
	}
	return d.at.fault("values of type %s cannot be read", v.Type())
}

// dynamic fills an any field of a Go type; checks and depth are those of a Value.
func (d *decoder) dynamic(v reflect.Value) *ToolError {
	start := d.i
	if _, err := d.value(); err != nil {
		return err
	}
	var x any
	if err := json.Unmarshal(d.b[start:d.i], &x); err != nil {
		return d.at.fault("%s", Clip(err.Error(), 200))
	}
	v.Set(reflect.ValueOf(x))
	return nil
}

func (d *decoder) numeric(v reflect.Value) *ToolError {
	text, integer, err := d.number()
	if err != nil {
		return err
	}
	if v.CanFloat() {
		f, ferr := strconv.ParseFloat(string(text), v.Type().Bits())
		if ferr != nil || math.IsInf(f, 0) {
			return d.at.fault("%s is out of range", Clip(string(text), 40))
		}
		v.SetFloat(f)
		return nil
	}
	if !integer {
		return d.at.fault("an integer expected, %s given", Clip(string(text), 40))
	}
	if v.CanInt() {
		n, nerr := strconv.ParseInt(string(text), 10, v.Type().Bits())
		if nerr != nil {
			return d.at.fault("%s is out of range", Clip(string(text), 40))
		}
		v.SetInt(n)
		return nil
	}
	n, nerr := strconv.ParseUint(string(text), 10, v.Type().Bits())
	if nerr != nil {
		return d.at.fault("%s is out of range", Clip(string(text), 40))
	}
	v.SetUint(n)
	return nil
}

func (d *decoder) list(v reflect.Value, c byte) *ToolError {
	if c != '[' {
		return d.expected("a list", c)
	}
	n := 0
	if v.Kind() == reflect.Slice {
		v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	}
	err := d.array(func(i int) *ToolError {
		n++
		if v.Kind() == reflect.Array {
			if i >= v.Len() {
				return d.at.fault("has more than %d items", v.Len())
			}
			return d.below(step{index: i}, v.Index(i))
		}
		if i == v.Cap() {
			v.Grow(max(i, 4))
		}
		v.SetLen(i + 1)
		return d.below(step{index: i}, v.Index(i))
	})
	if err == nil && n < v.Len() {
		return d.at.fault("has %s, %d needed", count(n, "item"), v.Len())
	}
	return err
}

func (d *decoder) below(s step, v reflect.Value) *ToolError {
	d.at = append(d.at, s)
	start, depth := d.i, d.depth
	err := d.decode(v)
	d.at = d.at[:len(d.at)-1]
	if err != nil && len(d.wrong) < maxViolations {
		d.i, d.depth = start, depth
		if _, broken := d.skip(); broken == nil { // JSON, but of the wrong type
			return d.keep(err)
		}
	}
	return err
}

func (d *decoder) dict(v reflect.Value, c byte) *ToolError {
	if c != '{' {
		return d.expected("an object", c)
	}
	t := v.Type()
	v.Set(reflect.MakeMap(t))
	return d.object(func(text []byte) *ToolError {
		key := string(text)
		k := reflect.ValueOf(key).Convert(t.Key())
		if v.MapIndex(k).IsValid() {
			return d.at.fault("the key %s appears twice", strconv.Quote(Clip(key, 80)))
		}
		item := reflect.New(t.Elem()).Elem()
		if err := d.below(step{key: key, named: true}, item); err != nil {
			return err
		}
		v.SetMapIndex(k, item)
		return nil
	})
}

func (d *decoder) fields(v reflect.Value, c byte) *ToolError {
	if c != '{' {
		return d.expected("an object", c)
	}
	fs := fieldsOf(v.Type())
	seen := make([]bool, len(fs))
	err := d.object(func(key []byte) *ToolError {
		for i := range fs {
			if fs[i].name != string(key) {
				continue
			}
			if seen[i] {
				return d.passOver(d.at.fault("the key %s appears twice", strconv.Quote(fs[i].name)))
			}
			seen[i] = true
			return d.below(step{key: fs[i].name, named: true}, v.FieldByIndex(fs[i].index))
		}
		if d.open {
			_, err := d.skip()
			return err
		}
		return d.passOver(d.at.fault("unknown field %s", strconv.Quote(Clip(string(key), 80))))
	})
	if err != nil {
		return err
	}
	for i := range fs {
		if !seen[i] {
			if err := d.absent(v.FieldByIndex(fs[i].index), &fs[i]); err != nil {
				if err = d.keep(err); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// absent gives a field that the text does not mention its value.
func (d *decoder) absent(v reflect.Value, f *field) *ToolError {
	if f.hasDef {
		def := &decoder{scanner: scanner{b: []byte(f.fallback)}, at: append(d.at, step{key: f.name, named: true})}
		err := def.decode(v)
		if err == nil {
			err = def.first
		}
		if err == nil {
			err = def.end()
		}
		if err != nil {
			err.Message = "default: " + err.Message
		}
		return err
	}
	if f.optional {
		return nil
	}
	return d.at.fault("field %s is missing", strconv.Quote(f.name))
}
