package bind

import (
	"testing"

	"github.com/flowgen-dev/flowgen/ir/schema"
)

func TestFits(t *testing.T) {
	enum := schema.EnumOf("a", "b")
	tests := []struct {
		text string
		typ  *schema.Type
		want bool
	}{
		{"true", schema.BoolType, true},
		{"null", schema.BoolType, false},
		{"1", schema.BoolType, false},
		{"-3", schema.IntType, true},
		{"3.5", schema.IntType, false},
		{"99999999999999999999", schema.IntType, false},
		{"3.5", schema.FloatType, true},
		{`"3"`, schema.FloatType, false},
		{`"x"`, schema.StringType, true},
		{"null", schema.StringType, false},
		{`"a"`, enum, true},
		{`"c"`, enum, false},
		{`"1m30s"`, schema.DurationType, true},
		{"90", schema.DurationType, false},
		{`"soon"`, schema.DurationType, false},
		{`"2026-01-02T03:04:05Z"`, schema.TimeType, true},
		{`"yesterday"`, schema.TimeType, false},
		{"null", schema.OptOf(schema.IntType, ""), true},
		{"1", schema.OptOf(schema.IntType, ""), true},
		{`"1"`, schema.OptOf(schema.IntType, ""), false},
		{"[1, 2]", schema.ListOf(schema.IntType), true},
		{"[1, true]", schema.ListOf(schema.IntType), false},
		{"{}", schema.ListOf(schema.IntType), false},
		{"null", schema.ListOf(schema.IntType), false},
		{"{}", schema.MapOf(schema.IntType), true},
		{"[]", schema.EmptyType, false},
		{"[{}]", schema.AnyType, true},
	}
	for _, tt := range tests {
		if got := fits([]byte(tt.text), tt.typ); got != tt.want {
			t.Errorf("fits(%s, %s) = %v", tt.text, tt.typ, got)
		}
	}
}

// What a field may be left out of JSON with must itself be a value of the field.
func TestZeroFits(t *testing.T) {
	for _, typ := range []*schema.Type{
		schema.BoolType, schema.IntType, schema.FloatType, schema.StringType, schema.BytesType,
		schema.ListOf(schema.IntType), schema.MapOf(schema.IntType),
	} {
		if d := zero(typ); d == nil || !fits([]byte(d.JSON), typ) {
			t.Errorf("zero(%s) = %v", typ, d)
		}
	}
	for _, typ := range []*schema.Type{schema.EnumOf("a"), schema.TimeType, schema.EmptyType, schema.AnyType} {
		if d := zero(typ); d != nil {
			t.Errorf("zero(%s) = %v", typ, d)
		}
	}
}

func TestValidName(t *testing.T) {
	for name, want := range map[string]bool{"a": true, "a-b.c": true, "größe": true, "": false, `a"b`: false, "a,b": false, `a\b`: false} {
		if validName(name) != want {
			t.Errorf("validName(%q) is not %v", name, want)
		}
	}
}
