// Package jsonschema_test holds the runtime's JSON Schema to another implementation, which its module does not require.
package jsonschema_test

import (
	"encoding/json"
	"testing"

	oracle "github.com/google/jsonschema-go/jsonschema"

	"github.com/flowgen-dev/flowgen/runtime/dynamic/jsonschema"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

var schemas = []string{
	`true`, `false`, `{}`, `{"type": "string"}`, `{"type": ["string", "null"]}`, `{"type": "integer"}`, `{"type": "number", "minimum": 0, "maximum": 1}`,
	`{"exclusiveMinimum": 0, "exclusiveMaximum": 2, "multipleOf": 0.5}`, `{"enum": ["a", 1, null, [1.0]]}`, `{"const": {"a": 1}}`,
	`{"type": "string", "minLength": 2, "maxLength": 3, "pattern": "^[a-zé]+$"}`, `{"type": "array", "items": {"type": "number"}, "minItems": 1, "maxItems": 2, "uniqueItems": true}`,
	`{"prefixItems": [{"type": "string"}], "items": {"type": "number"}}`, `{"contains": {"const": 1}}`,
	`{"type": "object", "required": ["a"], "properties": {"a": {"type": "number"}, "b": {"$ref": "#/$defs/x"}}, "additionalProperties": false, "$defs": {"x": {"type": "boolean"}}}`,
	`{"additionalProperties": {"type": "number"}, "patternProperties": {"^x": {"type": "string"}}, "minProperties": 1, "maxProperties": 2}`,
	`{"anyOf": [{"type": "number"}, {"minLength": 2}]}`, `{"oneOf": [{"type": "number"}, {"minimum": 1}]}`, `{"allOf": [{"type": "number"}, {"not": {"const": 1}}]}`,
	`{"if": {"type": "string"}, "then": {"minLength": 2}, "else": {"type": "null"}}`,
}

var values = []string{`null`, `true`, `0`, `1`, `1.0`, `0.5`, `-3`, `1e30`, `""`, `"a"`, `"éa"`, `"abcd"`, `[]`, `[1]`, `[1, 1.5]`, `[1, 1]`, `[1.0, 2]`, `["a", 1]`, `["a", "b"]`, `{}`, `{"a": 1}`, `{"a": "x"}`,
	`{"a": 1, "b": true}`, `{"a": 1, "b": 1}`, `{"a": 1, "c": 1}`, `{"x": "s"}`, `{"x": 1}`, `{"a": 1, "b": 2, "c": 3}`}

// TestOracle holds the package to another implementation: every value under every schema.
func TestOracle(t *testing.T) {
	n := 0
	for _, text := range schemas {
		var s oracle.Schema
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			t.Fatal(text, err)
		}
		resolved, err := s.Resolve(nil)
		if err != nil {
			t.Fatal(text, err)
		}
		for _, val := range values {
			var x any
			if err := json.Unmarshal([]byte(val), &x); err != nil {
				t.Fatal(err)
			}
			v, err := value.Parse([]byte(val))
			if err != nil {
				t.Fatal(err)
			}
			n++
			want, got := resolved.Validate(x), jsonschema.Check([]byte(text), v)
			if (want == nil) != (got == nil) {
				t.Errorf("%s under %s: got %v, want %v", val, text, got, want)
			}
		}
	}
	if n < 500 {
		t.Error("too few")
	}
}
