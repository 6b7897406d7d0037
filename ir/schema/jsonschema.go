package schema

import (
	"bytes"
	"encoding/json"
	"strings"
)

// JSONSchema is the type as a JSON Schema (draft 2020-12) of its values in JSON: one line, the same bytes for the same
// type. Fields without default that are not optional are required; named types are written out where they are used.
// An unknown type, after a mistake, accepts everything.
func JSONSchema(t *Type) string {
	w := &schemaWriter{}
	w.open()
	w.member("$schema", "https://json-schema.org/draft/2020-12/schema")
	w.typ(t)
	w.close()
	return w.b.String()
}

type schemaWriter struct {
	b     bytes.Buffer
	first bool
}

func (w *schemaWriter) open() {
	w.b.WriteByte('{')
	w.first = true
}

func (w *schemaWriter) close() {
	w.b.WriteByte('}')
	w.first = false
}

func (w *schemaWriter) key(name string) {
	if !w.first {
		w.b.WriteByte(',')
	}
	w.first = false
	w.json(name)
	w.b.WriteByte(':')
}

// json writes a value of the writer's own making, which can always be encoded.
func (w *schemaWriter) json(v any) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	w.b.WriteString(strings.TrimSuffix(b.String(), "\n"))
}

func (w *schemaWriter) member(name string, v any) {
	w.key(name)
	w.json(v)
}

// inner writes a schema as the value of a key.
func (w *schemaWriter) inner(name string, f func()) {
	w.key(name)
	w.open()
	f()
	w.close()
}

// typ writes the members of the schema of a type.
func (w *schemaWriter) typ(t *Type) {
	if t == nil {
		return
	}
	if t.Decl != nil {
		w.member("title", t.Decl.Name)
		if t.Decl.Description != "" {
			w.member("description", t.Decl.Description)
		}
	}
	switch t.Kind {
	case Null:
		w.member("type", "null")
	case Bool:
		w.member("type", "boolean")
	case Int:
		w.member("type", "integer")
	case Float:
		w.member("type", "number")
	case String:
		w.member("type", "string")
	case Bytes:
		w.member("type", "string")
		w.member("contentEncoding", "base64")
	case Time:
		w.member("type", "string")
		w.member("format", "date-time")
	case Duration:
		w.member("type", "string")
		w.member("pattern", `^-?([0-9]+(\.[0-9]*)?(ns|us|µs|ms|s|m|h))+$|^0$`)
	case Enum:
		w.member("enum", append([]string{}, t.Values...))
	case List:
		w.member("type", "array")
		w.inner("items", func() { w.typ(t.Elem) })
	case Map:
		w.member("type", "object")
		w.inner("additionalProperties", func() { w.typ(t.Elem) })
	case Opt:
		w.key("anyOf")
		w.b.WriteByte('[')
		w.open()
		w.typ(t.Elem)
		w.close()
		w.b.WriteString(`,{"type":"null"}]`)
	case Struct:
		w.fields(t)
	}
}

func (w *schemaWriter) fields(t *Type) {
	w.member("type", "object")
	required := []string{}
	w.inner("properties", func() {
		for _, f := range t.Fields {
			w.inner(f.Name, func() { w.field(f) })
			if f.Required() {
				required = append(required, f.Name)
			}
		}
	})
	w.member("required", required)
	w.member("additionalProperties", false)
}

// field writes the type of a field, then what the field adds. A bound that the type has no keyword for is left to the
// tool; of an optional field they stand beside the alternatives and say nothing about null.
func (w *schemaWriter) field(f *Field) {
	t := f.Type
	named := t != nil && t.Decl != nil && t.Decl.Description != ""
	if f.Description != "" && named { // that of the field says more
		c, d := *t, *t.Decl
		d.Description = ""
		c.Decl = &d
		t = &c
	}
	w.typ(t)
	if f.Description != "" {
		w.member("description", f.Description)
	}
	if f.Default != nil && json.Valid([]byte(f.Default.JSON)) {
		w.member("default", json.RawMessage(f.Default.JSON))
	}
	if t == nil {
		return
	}
	words := map[Kind][2]string{
		Int: {"minimum", "maximum"}, Float: {"minimum", "maximum"}, String: {"minLength", "maxLength"},
		List: {"minItems", "maxItems"}, Map: {"minProperties", "maxProperties"},
	}[t.Present().Kind]
	if f.Min != nil && words[0] != "" {
		w.member(words[0], *f.Min)
	}
	if f.Max != nil && words[1] != "" {
		w.member(words[1], *f.Max)
	}
	if f.Pattern != "" && t.Present().Kind == String {
		w.member("pattern", f.Pattern)
	}
}
