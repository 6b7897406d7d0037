package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
)

// Object is a JSON object that keeps the order of its keys: models write the fields of an answer in the order in which
// its schema has them, and an author puts what has to be thought of first at the beginning.
type Object struct {
	keys   []string
	values map[string]any
}

// Get returns the value of a key, nil when it is not there.
func (o *Object) Get(key string) any { return o.values[key] }

// Has reports whether a key is there.
func (o *Object) Has(key string) bool { _, ok := o.values[key]; return ok }

// Keys returns the keys in their order, in a slice of the caller's own.
func (o *Object) Keys() []string { return slices.Clone(o.keys) }

// Set sets a key; a new one comes last.
func (o *Object) Set(key string, v any) {
	if o.values == nil {
		o.values = map[string]any{}
	}
	if _, ok := o.values[key]; !ok {
		o.keys = append(o.keys, key)
	}
	o.values[key] = v
}

// Delete removes a key.
func (o *Object) Delete(key string) {
	if _, ok := o.values[key]; ok {
		delete(o.values, key)
		o.keys = slices.DeleteFunc(o.keys, func(k string) bool { return k == key })
	}
}

// MarshalJSON implements json.Marshaler.
func (o *Object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, k := range o.keys {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(Encode(k))
		b.WriteByte(':')
		b.Write(Encode(o.values[k]))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Encode is JSON without the escapes for HTML. v is of texts, numbers and valid raw JSON, which always encode.
func Encode(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
	return bytes.TrimRight(b.Bytes(), "\n")
}

// deepest bounds the nesting of a schema.
const deepest = 100

var errDeep = errors.New("nested too deeply")

// ParseSchema reads a schema: objects are *Object, numbers json.Number. It reports whether it is one.
func ParseSchema(schema json.RawMessage) (any, bool) {
	d := json.NewDecoder(bytes.NewReader(schema))
	d.UseNumber()
	v, err := parse(d, 0)
	if err != nil {
		return nil, false
	}
	_, err = d.Token()
	return v, err == io.EOF
}

func parse(d *json.Decoder, depth int) (any, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	open, ok := t.(json.Delim)
	if !ok {
		return t, nil
	}
	if depth == deepest {
		return nil, errDeep
	}
	if open == '[' {
		list := []any{}
		for d.More() {
			v, err := parse(d, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err = d.Token()
		return list, err
	}
	o := &Object{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		v, err := parse(d, depth+1)
		if err != nil {
			return nil, err
		}
		o.Set(key.(string), v) // the decoder takes no other keys
	}
	_, err = d.Token()
	return o, err
}

// A Dialect is what a provider takes of JSON Schema.
type Dialect struct {
	Keywords    []string // taken as they are
	Formats     []string // values of format that are taken; nil: all
	ConstAsEnum bool     // const has to be written as an enum of one value
	Occupied    bool     // minItems may be 0 or 1 only
}

// The keywords under which other schemas stand.
var (
	inMaps  = []string{"properties", "$defs", "definitions", "patternProperties", "dependentSchemas"}
	inLists = []string{"anyOf", "oneOf", "allOf", "prefixItems"}
	inPlace = []string{"items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else"}

	// silent keywords say nothing about values.
	silent = []string{"$schema", "$id", "$anchor", "$comment", "title", "examples", "readOnly", "writeOnly", "deprecated"}
)

// Limit takes what the dialect does not take out of a schema, in place. What says something about values goes to the
// description, which is where models read it: answers and arguments are validated in any case.
func (d *Dialect) Limit(v any) {
	o, ok := v.(*Object)
	if !ok {
		return
	}
	if d.ConstAsEnum && o.Has("const") && !o.Has("enum") {
		o.Set("enum", []any{o.Get("const")})
		o.Delete("const")
	}
	if one, ok := o.Get("oneOf").([]any); ok && !slices.Contains(d.Keywords, "oneOf") && !o.Has("anyOf") {
		o.Set("anyOf", one)
		o.Delete("oneOf")
	}
	var notes []string
	for _, key := range o.Keys() {
		value := o.Get(key)
		if d.takes(key, value) {
			d.below(key, value)
			continue
		}
		o.Delete(key)
		if !slices.Contains(silent, key) {
			notes = append(notes, key+": "+string(Encode(value)))
		}
	}
	if len(notes) > 0 {
		about, _ := o.Get("description").(string)
		if about != "" {
			about += " "
		}
		o.Set("description", about+"("+strings.Join(notes, ", ")+")")
	}
}

func (d *Dialect) takes(key string, value any) bool {
	if !slices.Contains(d.Keywords, key) {
		return false
	}
	switch key {
	case "format":
		name, ok := value.(string)
		return ok && (d.Formats == nil || slices.Contains(d.Formats, name))
	case "minItems":
		n, ok := value.(json.Number)
		return !d.Occupied || ok && (n == "0" || n == "1")
	}
	return true
}

func (d *Dialect) below(key string, value any) {
	switch {
	case slices.Contains(inMaps, key):
		if o, ok := value.(*Object); ok {
			for _, k := range o.Keys() {
				d.Limit(o.Get(k))
			}
		}
	case slices.Contains(inLists, key):
		if list, ok := value.([]any); ok {
			for _, x := range list {
				d.Limit(x)
			}
		}
	case slices.Contains(inPlace, key):
		d.Limit(value)
	}
}

// Close closes every object of a schema, in place, as structured output asks for: additionalProperties is false. It
// reports false for schemas that cannot be closed, such as maps and free values, which may be changed in part then.
// object, when it is not nil, sees each object after that.
func Close(v any, object func(*Object)) bool {
	o, ok := v.(*Object)
	if !ok || len(o.keys) == 0 {
		return false // true and {} are any value
	}
	for _, key := range []string{"$defs", "definitions"} {
		if defs, ok := o.Get(key).(*Object); ok {
			for _, k := range defs.keys {
				if !Close(defs.Get(k), object) {
					return false
				}
			}
		}
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		if list, ok := o.Get(key).([]any); ok {
			for _, x := range list {
				if !Close(x, object) {
					return false
				}
			}
			return len(list) > 0
		}
	}
	if o.Has("$ref") || o.Has("enum") || o.Has("const") {
		return true
	}
	switch kind := o.Get("type").(type) {
	case string:
		switch kind {
		case "array":
			return Close(o.Get("items"), object)
		case "object":
			return closeObject(o, object)
		}
		return true
	case []any:
		return !slices.Contains(kind, any("object")) && !slices.Contains(kind, any("array"))
	}
	return false
}

func closeObject(o *Object, object func(*Object)) bool {
	if o.Has("additionalProperties") && o.Get("additionalProperties") != false {
		return false
	}
	properties, ok := o.Get("properties").(*Object)
	if !ok && !o.Has("additionalProperties") {
		return false // a map: closed, it would be {} always
	}
	if !ok {
		properties = &Object{}
		o.Set("properties", properties)
	}
	for _, k := range properties.keys {
		if !Close(properties.Get(k), object) {
			return false
		}
	}
	o.Set("additionalProperties", false)
	if object != nil {
		object(o)
	}
	return true
}
