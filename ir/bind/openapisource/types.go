package openapisource

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/flowgen-dev/flowgen/ir/bind/foreign"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// maxSchemas bounds how many schemas are looked at for one operation, references counted each time they are followed.
const maxSchemas = 50_000

// A reading makes types of the schemas of one direction. What has no type of ours becomes any: the service checks it.
type reading struct {
	d    *Document
	in   bool // what is sent: without readOnly properties; else without writeOnly ones
	left int
	path []*openapi3.Schema // being read
	cut  int                // how often a circle was cut
	done map[*openapi3.Schema]*schema.Type
}

// reading is that of a direction. All operations share one, so that they share types.
func (d *Document) reading(in bool) *reading {
	r := d.read[in]
	if r == nil {
		r = &reading{d: d, in: in, done: map[*openapi3.Schema]*schema.Type{}}
		d.read[in] = r
	}
	r.left = maxSchemas
	return r
}

// typ is the type of a schema.
func (r *reading) typ(ref *openapi3.SchemaRef) *schema.Type {
	if r.left--; r.left < 0 || ref == nil || ref.Value == nil {
		return schema.AnyType
	}
	s := ref.Value
	if t := r.done[s]; t != nil {
		return t
	}
	if slices.Contains(r.path, s) || len(r.path) > 2*maxDepth {
		r.cut++
		return schema.AnyType
	}
	before := r.cut
	r.path = append(r.path, s)
	t := r.plain(s)
	r.path = r.path[:len(r.path)-1]
	if (s.Nullable || s.Type.IncludesNull()) && t.Kind != schema.Any && t.Kind != schema.Null {
		t = schema.OptOf(t, "it may be null")
	}
	if before == r.cut { // a type with a circle in it depends on where it was entered
		r.done[s] = t
	}
	return t
}

// maxDepth is how deep types may be nested.
const maxDepth = 32

func (r *reading) plain(s *openapi3.Schema) *schema.Type {
	if t := constants(s); t != nil {
		return t
	}
	shape, ok := r.flatten(s, 0)
	switch {
	case !ok:
		return schema.AnyType
	case shape.one != nil:
		return r.typ(shape.one)
	case len(shape.either) > 0 && shape.onlyTag():
		if shape.by != nil {
			if t := r.union(shape.either, shape.by); t != nil {
				return t
			}
		}
		if len(shape.props) == 0 {
			return r.either(shape.either)
		}
		return schema.AnyType
	case len(shape.either) > 0 && !onlyConditions(shape.either):
		return schema.AnyType
	case len(shape.props) > 0:
		return r.object(shape)
	}
	names := slices.DeleteFunc(slices.Clone(s.Type.Slice()), func(n string) bool { return n == "null" })
	switch {
	case len(names) == 0 && s.Type.IncludesNull():
		return schema.NullType
	case len(names) == 0 && shape.object:
		names = []string{"object"}
	case len(names) != 1:
		return schema.AnyType
	}
	switch names[0] {
	case "string":
		return text(s)
	case "integer":
		return schema.IntType
	case "number":
		return schema.FloatType
	case "boolean":
		return schema.BoolType
	case "array":
		if s.Items == nil || len(s.PrefixItems) > 0 {
			return schema.ListOf(schema.AnyType)
		}
		return schema.ListOf(r.typ(s.Items))
	case "object":
		if shape.more.Schema != nil {
			return schema.MapOf(r.typ(shape.more.Schema))
		}
		if shape.more.Has != nil && !*shape.more.Has {
			return &schema.Type{Kind: schema.Struct}
		}
		return schema.MapOf(schema.AnyType)
	}
	return schema.AnyType
}

// text is the type of a string with its format. Other formats than these are patterns of text.
func text(s *openapi3.Schema) *schema.Type {
	switch {
	case s.Format == "date-time":
		return schema.TimeType
	case s.Format == "byte", s.ContentEncoding == "base64":
		return schema.BytesType
	}
	return schema.StringType
}

// constants is the type of `enum` and `const`, nil when there is neither.
func constants(s *openapi3.Schema) *schema.Type {
	values := s.Enum
	if s.Const != nil {
		values = []any{s.Const}
	}
	if len(values) == 0 {
		return nil
	}
	words, kinds, null := schema.EnumOf(), map[schema.Kind]bool{}, s.Nullable || s.Type.IncludesNull()
	for _, v := range values {
		switch v := v.(type) {
		case nil:
			null = true
		case string:
			kinds[schema.Enum] = true
			foreign.AddValue(words, v)
		case bool:
			kinds[schema.Bool] = true
		case float64, json.Number:
			if s.Type.Includes("integer") {
				kinds[schema.Int] = true
			} else {
				kinds[schema.Float] = true
			}
		default:
			return schema.AnyType
		}
	}
	t := schema.AnyType
	if len(kinds) == 1 {
		t = map[schema.Kind]*schema.Type{schema.Enum: words, schema.Bool: schema.BoolType, schema.Int: schema.IntType, schema.Float: schema.FloatType}[slices.Collect(maps.Keys(kinds))[0]]
	}
	if null && t.Kind != schema.Any {
		return schema.OptOf(t, "it may be null")
	}
	return t
}

// A shape is an object with those that allOf puts into it.
type shape struct {
	props    openapi3.Schemas
	required map[string]bool
	more     openapi3.AdditionalProperties
	object   bool
	either   openapi3.SchemaRefs     // anyOf or oneOf
	by       *openapi3.Discriminator // of either
	one      *openapi3.SchemaRef     // allOf of one schema that is not an object, with notes
}

// onlyTag reports whether there are no properties but the one that tells alternatives apart.
func (s *shape) onlyTag() bool {
	return len(s.props) == 0 || len(s.props) == 1 && s.by != nil && s.props[s.by.PropertyName] != nil
}

// flatten puts the parts of allOf together; ok is false for those that are not objects.
func (r *reading) flatten(s *openapi3.Schema, depth int) (out shape, ok bool) {
	if r.left--; r.left < 0 || depth > maxDepth {
		return out, false
	}
	out = shape{props: maps.Clone(s.Properties), required: map[string]bool{}, more: s.AdditionalProperties, either: slices.Concat(s.OneOf, s.AnyOf)}
	if s.Discriminator != nil && s.Discriminator.PropertyName != "" {
		out.by = s.Discriminator
	}
	if len(s.OneOf) > 0 && len(s.AnyOf) > 0 {
		return out, false
	}
	if out.props == nil {
		out.props = openapi3.Schemas{}
	}
	for _, name := range s.Required {
		out.required[name] = true
	}
	out.object = s.Type.Includes("object") || len(s.Properties) > 0
	var others []*openapi3.SchemaRef
	for _, part := range s.AllOf {
		if part.Value == nil || slices.Contains(r.path, part.Value) {
			return out, false
		}
		sub, ok := r.flatten(part.Value, depth+1)
		if !ok {
			return out, false
		}
		if !sub.object && len(sub.required) == 0 {
			if v := part.Value; sub.one != nil || v.Type != nil || len(v.Enum) > 0 || len(sub.either) > 0 {
				others = append(others, part)
			}
			continue
		}
		maps.Copy(out.props, sub.props)
		maps.Copy(out.required, sub.required)
		out.object = out.object || sub.object
		if sub.more.Schema != nil {
			out.more = sub.more
		}
		if len(sub.either) > 0 {
			if len(out.either) > 0 {
				return out, false
			}
			out.either, out.by = sub.either, sub.by
		}
	}
	if len(others) > 0 {
		if out.object || len(others) > 1 || len(out.either) > 0 {
			return out, false
		}
		out.one = others[0]
	}
	return out, true
}

// onlyConditions reports whether alternatives only say which properties there must be: the service checks that.
func onlyConditions(list openapi3.SchemaRefs) bool {
	return !slices.ContainsFunc(list, func(ref *openapi3.SchemaRef) bool {
		v := ref.Value
		return v == nil || len(v.Properties) > 0 || len(v.AllOf) > 0 || len(v.OneOf) > 0 || len(v.AnyOf) > 0 || ref.Ref != ""
	})
}

// either is the type of anyOf and oneOf: one alternative, with or without null, or several of one type. Structs that differ
// and have no discriminator are any: `types:` of a workflow can say which there are.
func (r *reading) either(list openapi3.SchemaRefs) *schema.Type {
	var types []*schema.Type
	null := false
	for _, ref := range list {
		t := r.typ(ref)
		if t.Kind == schema.Null || t.Kind == schema.Opt {
			null = true
		}
		if t = t.Present(); t.Kind != schema.Null {
			types = append(types, t)
		}
	}
	if len(types) == 0 {
		return schema.AnyType
	}
	t := types[0]
	for _, other := range types[1:] {
		if t.Kind != schema.Any {
			t = foreign.Either(t, other)
		}
	}
	if null && t.Kind != schema.Any {
		return schema.OptOf(t, "it may be null")
	}
	return t
}

// object is a struct of properties: the required ones first, each in the order of names, because the library does not keep that of
// the document.
func (r *reading) object(s shape) *schema.Type {
	t := &schema.Type{Kind: schema.Struct}
	var optional []*schema.Field
	for _, name := range slices.Sorted(maps.Keys(s.props)) {
		ref := s.props[name]
		if v := ref.Value; v != nil && (r.in && v.ReadOnly || !r.in && v.WriteOnly) {
			continue
		}
		f := r.field(name, ref, s.required[name])
		if f.Required() {
			t.Fields = append(t.Fields, f)
		} else {
			optional = append(optional, f)
		}
	}
	t.Fields = append(t.Fields, optional...)
	return t
}

// field is one property or parameter. An optional one is left out when it is absent.
func (r *reading) field(name string, ref *openapi3.SchemaRef, required bool) *schema.Field {
	f := &schema.Field{Name: name, Type: r.typ(ref)}
	if ref.Value != nil {
		f.Description = oneLine(ref.Value.Description)
		f.Span = r.d.span(ref.Value.Origin)
		r.bounds(f, ref.Value)
	}
	if required {
		return f
	}
	f.Type, f.Omit = schema.OptOf(f.Type, "the document does not require it"), r.in
	return f
}

// bounds takes over what a field's type can be held to. Patterns that are not RE2 are left to the service.
func (r *reading) bounds(f *schema.Field, s *openapi3.Schema) {
	length := func(least uint64, most *uint64) {
		if least > 0 {
			f.Min = number(least)
		}
		if most != nil {
			f.Max = number(*most)
		}
	}
	switch t := f.Type.Present(); t.Kind {
	case schema.Int, schema.Float:
		f.Min, f.Max = s.Min, s.Max
	case schema.String:
		length(s.MinLength, s.MaxLength)
		if _, err := regexp.Compile(s.Pattern); err == nil {
			f.Pattern = s.Pattern
		}
	case schema.List:
		length(s.MinItems, s.MaxItems)
	case schema.Map:
		length(s.MinProps, s.MaxProps)
	}
}

func number(n uint64) *float64 {
	x := float64(n)
	return &x
}

// oneLine is a description as a comment can hold it.
func oneLine(s string) string {
	const most = 300
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return s
}
