package schema_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/ir/schema"
)

func TestJSONSchema(t *testing.T) {
	one, ten := 1.0, 10.0
	named := func(t *schema.Type, name, doc string) *schema.Type {
		c := *t
		c.Decl = &schema.Decl{Name: name, Description: doc, Type: &c}
		return &c
	}
	finding := named(&schema.Type{Kind: schema.Struct, Fields: []*schema.Field{
		{Name: "path", Type: schema.StringType, Description: "where <it> is", Pattern: `^a"b\$`, Min: &one},
		{Name: "line", Type: schema.IntType, Default: &schema.Default{JSON: "1"}, Max: &ten},
		{Name: "sev", Type: schema.OptOf(schema.EnumOf("low", "high"), "")},
	}}, "Finding", "what was found")
	tests := []struct {
		t    *schema.Type
		want string
	}{
		{schema.AnyType, ``},
		{schema.InvalidType, ``},
		{nil, ``},
		{schema.NullType, `"type":"null"`},
		{schema.BoolType, `"type":"boolean"`},
		{schema.FloatType, `"type":"number"`},
		{schema.BytesType, `"type":"string","contentEncoding":"base64"`},
		{schema.TimeType, `"type":"string","format":"date-time"`},
		{schema.DurationType, `"type":"string","pattern":"^-?([0-9]+(\\.[0-9]*)?(ns|us|µs|ms|s|m|h))+$|^0$"`},
		{schema.EmptyType, `"type":"object","properties":{},"required":[],"additionalProperties":false`},
		{schema.MapOf(schema.ListOf(schema.IntType)), `"type":"object","additionalProperties":{"type":"array","items":{"type":"integer"}}`},
		{schema.EnumOf("a", `"`), `"enum":["a","\""]`},
		{finding, `"title":"Finding","description":"what was found","type":"object","properties":{` +
			`"path":{"type":"string","description":"where <it> is","minLength":1,"pattern":"^a\"b\\$"},` +
			`"line":{"type":"integer","default":1,"maximum":10},` +
			`"sev":{"anyOf":[{"enum":["low","high"]},{"type":"null"}]}},"required":["path"],"additionalProperties":false`},
		{&schema.Type{Kind: schema.Struct, Fields: []*schema.Field{{Name: "f", Type: named(schema.StringType, "T", "type's"), Description: "field's"}}},
			`"type":"object","properties":{"f":{"title":"T","type":"string","description":"field's"}},"required":["f"],"additionalProperties":false`},
	}
	for _, tt := range tests {
		want := `{"$schema":"https://json-schema.org/draft/2020-12/schema"`
		if tt.want != "" {
			want += "," + tt.want
		}
		got := schema.JSONSchema(tt.t)
		if diff := cmp.Diff(want+"}", got); diff != "" {
			t.Errorf("%s: %s", tt.t, diff)
		}
		if !json.Valid([]byte(got)) || got != schema.JSONSchema(tt.t) || strings.Contains(got, "\n") {
			t.Errorf("%s: %s", tt.t, got)
		}
	}
}
