package pysource

import (
	"regexp"

	"github.com/flowgen-dev/flowgen/ir/schema"
)

// narrow gives the parameters of a function what the literal JSON Schema of its decorator says of them beyond their
// annotations: types, texts that are allowed, bounds and patterns. The engine holds arguments to it.
func narrow(in *schema.Type, given *node) {
	if given == nil || given.T != "dict" || in == nil || in.Kind != schema.Struct {
		return
	}
	properties := word(given.K, "properties")
	if properties == nil || properties.T != "dict" {
		return
	}
	for _, f := range in.Fields {
		p := word(properties.K, f.Name)
		if p == nil || p.T != "dict" {
			continue
		}
		inner := narrowed(f.Type.Present(), p)
		if f.Type.Kind == schema.Opt && inner != f.Type.Elem {
			f.Type = schema.OptOf(inner, "it may be null")
		} else if f.Type.Kind != schema.Opt {
			f.Type = inner
		}
		bounds(f, inner, p)
	}
}

// narrowed is the type of a parameter with a property's type and constants.
func narrowed(t *schema.Type, p *node) *schema.Type {
	if typ := word(p.K, "type"); t.Kind == schema.Any && typ != nil && typ.T == "str" {
		switch typ.S {
		case "string":
			t = schema.StringType
		case "integer":
			t = schema.IntType
		case "number":
			t = schema.FloatType
		case "boolean":
			t = schema.BoolType
		}
	}
	enum := word(p.K, "enum")
	if enum == nil || enum.T != "list" || len(enum.E) == 0 || t.Kind != schema.String {
		return t
	}
	e := &schema.Type{Kind: schema.Enum}
	for _, v := range enum.E {
		if v == nil || v.T != "str" {
			return t
		}
		e.Values = append(e.Values, v.S)
	}
	return e
}

// bounds gives a field the bounds and the pattern of a property.
func bounds(f *schema.Field, t *schema.Type, p *node) {
	least, most := "", ""
	switch t.Kind {
	case schema.Int, schema.Float:
		least, most = "minimum", "maximum"
	case schema.String:
		least, most = "minLength", "maxLength"
		if w := word(p.K, "pattern"); w != nil && w.T == "str" {
			if _, err := regexp.Compile(w.S); err == nil {
				f.Pattern = w.S
			}
		}
	case schema.List:
		least, most = "minItems", "maxItems"
	default:
		return
	}
	if v, ok := number(word(p.K, least)); ok {
		f.Min = &v
	}
	if v, ok := number(word(p.K, most)); ok {
		f.Max = &v
	}
}
