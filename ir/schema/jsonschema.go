package schema

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// JSONSchema is the type as a JSON Schema (draft 2020-12) of its values in JSON: one line, the same bytes for the same
// type. Fields without default that are not optional are required. A named type is written once: in place, or below $defs
// when it is used again. An unknown type, after a mistake, accepts everything.
func JSONSchema(t *Type) string {
	w := &schemaWriter{uses: map[*Type]int{}, names: map[*Type]string{}, taken: map[string]bool{}}
	w.count(t)
	w.open()
	w.member("$schema", "https://json-schema.org/draft/2020-12/schema")
	w.typ(t)
	if len(w.defs) > 0 {
		w.inner("$defs", func() {
			for i := 0; i < len(w.defs); i++ { // each may bring others
				w.inner(w.names[w.defs[i]], func() { w.typ(w.defs[i]) })
			}
		})
	}
	w.close()
	return w.b.String()
}

type schemaWriter struct {
	b     bytes.Buffer
	first bool

	uses  map[*Type]int    // of named types
	defs  []*Type          // those below $defs, in the order of their first use
	names map[*Type]string // of defs
	taken map[string]bool  // names of defs
}

// count counts the uses of named types.
func (w *schemaWriter) count(t *Type) {
	if t == nil {
		return
	}
	if typeName(t) != "" {
		if w.uses[t]++; w.uses[t] > 1 {
			return
		}
	}
	w.count(t.Elem)
	for _, v := range t.Variants {
		w.count(v.Type)
	}
	for _, f := range t.Fields {
		w.count(f.Type)
	}
}

// typeName is the name of a type whose schema is worth sharing, "" for others.
func typeName(t *Type) string {
	switch {
	case t.Kind != Struct && t.Kind != Union && t.Kind != Enum && t.Kind != List && t.Kind != Map:
		return ""
	case t.Decl != nil:
		return t.Decl.Name
	case t.Go != nil:
		return t.Go.Name
	}
	return ""
}

// ref is where the schema of a type is that is used more than once, "" for others.
func (w *schemaWriter) ref(t *Type) string {
	if t == nil || w.uses[t] < 2 {
		return ""
	}
	name := w.names[t]
	if name == "" {
		name = typeName(t)
		for i := 2; w.taken[name]; i++ { // types of two Go packages
			name = typeName(t) + strconv.Itoa(i)
		}
		w.names[t], w.taken[name] = name, true
		w.defs = append(w.defs, t)
	}
	return "#/$defs/" + name
}

// part writes the members of the schema of a type within another one.
func (w *schemaWriter) part(t *Type) {
	if ref := w.ref(t); ref != "" {
		w.member("$ref", ref)
		return
	}
	w.typ(t)
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
		w.inner("items", func() { w.part(t.Elem) })
	case Map:
		w.member("type", "object")
		w.inner("additionalProperties", func() { w.part(t.Elem) })
	case Opt:
		w.key("anyOf")
		w.b.WriteByte('[')
		w.open()
		w.part(t.Elem)
		w.close()
		w.b.WriteString(`,{"type":"null"}]`)
	case Struct:
		w.fields(t)
	case Union:
		w.variants(t)
	}
}

// variants writes a union. `discriminator` is a keyword of OpenAPI, which others ignore; the field is an enum of one value in each
// variant, which all understand.
func (w *schemaWriter) variants(t *Type) {
	w.key("oneOf")
	w.b.WriteByte('[')
	for i, v := range t.Variants {
		if i > 0 {
			w.b.WriteByte(',')
		}
		w.open()
		w.part(v.Type)
		w.close()
	}
	w.b.WriteByte(']')
	w.inner("discriminator", func() { w.member("propertyName", t.By) })
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
// tool; of an optional field they are next to the alternatives and say nothing about null. Providers take nothing next to
// $ref, so that it is the one alternative then.
func (w *schemaWriter) field(f *Field) {
	t := f.Type
	ref := w.ref(t)
	switch {
	case ref != "" && f.adds():
		w.key("anyOf")
		w.b.WriteByte('[')
		w.open()
		w.member("$ref", ref)
		w.close()
		w.b.WriteByte(']')
	case ref == "" && f.Description != "" && t != nil && t.Decl != nil && t.Decl.Description != "": // that of the field says more
		c, d := *t, *t.Decl
		d.Description = ""
		c.Decl = &d
		w.typ(&c)
	default:
		w.part(t)
	}
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

// adds reports whether the field says more than its type.
func (f *Field) adds() bool {
	return f.Description != "" || f.Default != nil || f.Min != nil || f.Max != nil || f.Pattern != ""
}
