package openai

import (
	"bytes"
	"encoding/json"
	"slices"
)

// strict returns the schema in the form that OpenAI's strict mode asks for, in which answers are held to it: every
// object closed, every property required, optional ones nullable. Schemas that cannot be put so, such as maps, free
// values and properties with a default, come back as they are, and then it is false.
func strict(schema json.RawMessage) (json.RawMessage, bool) {
	d := json.NewDecoder(bytes.NewReader(schema))
	d.UseNumber()
	var doc any
	if d.Decode(&doc) != nil {
		return schema, false
	}
	if root, ok := doc.(map[string]any); !ok || root["type"] != "object" || !closed(doc) {
		return schema, false
	}
	return encode(doc), true
}

// taken are the keywords that strict mode understands.
var taken = []string{"$defs", "$ref", "additionalProperties", "anyOf", "const", "description", "enum", "exclusiveMaximum", "exclusiveMinimum",
	"format", "items", "maxItems", "maximum", "minItems", "minimum", "multipleOf", "pattern", "properties", "required", "title", "type"}

// closed makes a schema strict in place, if that can be done.
func closed(v any) bool {
	s, ok := v.(map[string]any)
	if !ok || len(s) == 0 {
		return false // true and {} are any value
	}
	delete(s, "$schema")
	for key := range s {
		if !slices.Contains(taken, key) {
			return false
		}
	}
	for _, key := range []string{"$defs"} {
		if defs, ok := s[key].(map[string]any); ok {
			for _, d := range defs {
				if !closed(d) {
					return false
				}
			}
		}
	}
	if list, ok := s["anyOf"].([]any); ok {
		for _, x := range list {
			if !closed(x) {
				return false
			}
		}
		return true
	}
	if s["$ref"] != nil || s["enum"] != nil || s["const"] != nil {
		return true
	}
	switch s["type"] {
	case "array":
		return closed(s["items"])
	case "object":
		return closeObject(s)
	case nil:
		return false
	}
	return true
}

func closeObject(s map[string]any) bool {
	if open, ok := s["additionalProperties"]; ok && open != false {
		return false
	}
	s["additionalProperties"] = false
	properties, _ := s["properties"].(map[string]any)
	var required []any
	if list, ok := s["required"].([]any); ok {
		required = list
	}
	names := make([]string, 0, len(properties))
	for name, p := range properties {
		if !closed(p) {
			return false
		}
		if !slices.Contains(required, any(name)) {
			properties[name] = map[string]any{"anyOf": []any{p, map[string]any{"type": "null"}}}
		}
		names = append(names, name)
	}
	slices.Sort(names)
	all := make([]any, len(names))
	for i, n := range names {
		all[i] = n
	}
	s["required"], s["properties"] = all, properties
	if properties == nil {
		s["properties"] = map[string]any{}
	}
	return true
}
