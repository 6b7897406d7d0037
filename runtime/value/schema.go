package value

import (
	"encoding/json"
	"math"
	"reflect"
	"strconv"
)

// Schemas makes JSON Schemas (draft 2020-12) of types: of what Decode takes, by the same tags. Named structs below the type itself
// are in Defs, by names that are taken once. The zero value is for use, by one goroutine.
type Schemas struct {
	// Ref is what references begin with; "" is #/$defs/.
	Ref string
	// Encoded is for what is written instead of what is read: fields with defaults are always there then.
	Encoded bool
	Defs    map[string]map[string]any

	names map[reflect.Type]string
}

// Of is the schema of a type, for an encoder of JSON.
func (s *Schemas) Of(t reflect.Type) map[string]any {
	if t.Kind() == reflect.Struct && !Opaque(t) {
		return s.fields(t)
	}
	return s.of(t, nil)
}

func (s *Schemas) of(t reflect.Type, r *rule) map[string]any {
	switch {
	case t.Kind() == reflect.Pointer && !Opaque(t):
		return map[string]any{"anyOf": []any{s.of(t.Elem(), r), map[string]any{"type": "null"}}}
	case t == timeType:
		return map[string]any{"type": "string", "format": "date-time"}
	case t == durationType:
		return map[string]any{"type": []string{"string", "integer"}, "description": `a duration such as "1m30s", or nanoseconds`}
	case unionOf(t) != nil:
		return s.variants(unionOf(t))
	case Opaque(t) || t.Kind() == reflect.Interface:
		return map[string]any{}
	}
	switch t.Kind() {
	case reflect.Struct:
		return map[string]any{"$ref": s.ref(t)}
	case reflect.Map:
		return r.sized(map[string]any{"type": "object", "additionalProperties": s.of(t.Elem(), r.inner())}, "Properties")
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return map[string]any{"type": "string", "contentEncoding": "base64"}
		}
		return r.sized(map[string]any{"type": "array", "items": s.of(t.Elem(), r.inner())}, "Items")
	case reflect.String:
		out := r.sized(map[string]any{"type": "string"}, "Length")
		if r != nil && r.enum != nil {
			out["enum"] = r.enum
		}
		if r != nil && r.pattern != nil {
			out["pattern"] = r.pattern.String()
		}
		return out
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Float32, reflect.Float64:
		return r.sized(map[string]any{"type": "number"}, "imum")
	}
	out := map[string]any{"type": "integer"}
	if t.Kind() == reflect.Int64 || t.Kind() == reflect.Int {
		out["format"] = "int64"
		out["minimum"], out["maximum"] = json.Number(strconv.FormatInt(math.MinInt64, 10)), json.Number(strconv.FormatInt(math.MaxInt64, 10))
	}
	return r.sized(out, "imum")
}

// sized adds the bounds of a rule, by keywords such as minLength.
func (r *rule) sized(to map[string]any, what string) map[string]any {
	if r == nil {
		return to
	}
	if r.min != nil {
		to["min"+what] = json.Number(r.min.text)
	}
	if r.max != nil {
		to["max"+what] = json.Number(r.max.text)
	}
	return to
}

// ref is where the schema of a struct is.
func (s *Schemas) ref(t reflect.Type) string {
	if s.names == nil {
		s.names = map[reflect.Type]string{}
	}
	if s.Defs == nil {
		s.Defs = map[string]map[string]any{}
	}
	name, ok := s.names[t]
	if !ok {
		base := t.Name()
		if base == "" {
			base = "Struct"
		}
		name = base
		for n := 2; s.Defs[name] != nil; n++ {
			name = base + strconv.Itoa(n)
		}
		s.names[t] = name
		s.Defs[name] = map[string]any{} // taken, also for itself below
		s.Defs[name] = s.fields(t)
	}
	if s.Ref == "" {
		return "#/$defs/" + name
	}
	return s.Ref + name
}

func (s *Schemas) fields(t reflect.Type) map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, f := range fieldsOf(t) {
		p := s.of(t.FieldByIndex(f.index).Type, f.rule)
		if f.hasDef && json.Valid([]byte(f.fallback)) && p["$ref"] == nil {
			p["default"] = json.RawMessage(f.fallback)
		}
		properties[f.name] = p
		if !f.optional && (!f.hasDef || s.Encoded) {
			required = append(required, f.name)
		}
	}
	return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

func (s *Schemas) variants(u *union) map[string]any {
	var list []any
	mapping := map[string]string{}
	for _, tag := range u.tags() {
		ref := s.ref(u.variants[tag])
		mapping[tag] = ref
		list = append(list, map[string]any{"$ref": ref})
	}
	return map[string]any{"oneOf": list, "discriminator": map[string]any{"propertyName": u.by, "mapping": mapping}}
}
