package jsonschema_test

import (
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/dynamic/jsonschema"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// TestWords: errors say where and what.
func TestWords(t *testing.T) {
	for _, tt := range []struct{ schema, value, want string }{
		{`{"properties": {"a/b": {"items": {"type": "string"}}}}`, `{"a/b": ["x", 1]}`, "/a~1b/1: must be string"},
		{`{"required": ["n"]}`, `{}`, "/: must have the property n"},
		{`{"$ref": "#/none"}`, `{}`, "/: the schema has no #/none"},
		{`{"$ref": "#"}`, `{}`, "/: the schema is nested too deep"},
		{`{`, `{}`, "the schema is not valid JSON"},
		{`{"items": [{"type": "string"}], "additionalItems": false}`, `["a", 1]`, "/1: nothing may be here"}, // of draft 7
		{`{"pattern": "(?<=x)"}`, `"y"`, ""},
	} {
		v, err := value.Parse([]byte(tt.value))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := jsonschema.Check([]byte(tt.schema), v); err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, tt.want) || (got == "") != (tt.want == "") {
			t.Errorf("%s under %s: got %q, want %q", tt.value, tt.schema, got, tt.want)
		}
	}
}
