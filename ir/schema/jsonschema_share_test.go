package schema_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/flowgen-dev/flowgen/ir/schema"
)

// declare gives a type a name.
func declare(name, doc string, t schema.Type) *schema.Type {
	t.Decl = &schema.Decl{Name: name, Description: doc, Type: &t}
	return &t
}

func structOf(fields ...*schema.Field) schema.Type {
	return schema.Type{Kind: schema.Struct, Fields: fields}
}

// A named type that is used again is written once; what a field says of it stands beside the one alternative.
func TestSharedSchemas(t *testing.T) {
	place := declare("Place", "where", structOf(&schema.Field{Name: "x", Type: schema.IntType}))
	level := declare("Level", "", schema.Type{Kind: schema.Enum, Values: []string{"low", "high"}})
	once := declare("Once", "", structOf(&schema.Field{Name: "at", Type: place}))
	foreign := func(path string) *schema.Type {
		return &schema.Type{Kind: schema.Struct, Go: &schema.Go{Path: path, Name: "Place"}}
	}
	a, b := foreign("x/a"), foreign("x/b")
	all := structOf(
		&schema.Field{Name: "a", Type: place},
		&schema.Field{Name: "b", Type: place, Description: "to"},
		&schema.Field{Name: "c", Type: schema.OptOf(place, "")},
		&schema.Field{Name: "d", Type: schema.ListOf(level)},
		&schema.Field{Name: "e", Type: level, Default: &schema.Default{JSON: `"low"`}},
		&schema.Field{Name: "f", Type: once},
		&schema.Field{Name: "g", Type: schema.MapOf(a)},
		&schema.Field{Name: "h", Type: a},
		&schema.Field{Name: "i", Type: schema.ListOf(b)},
		&schema.Field{Name: "j", Type: b},
	)
	want := `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{` +
		`"a":{"$ref":"#/$defs/Place"},` +
		`"b":{"anyOf":[{"$ref":"#/$defs/Place"}],"description":"to"},` +
		`"c":{"anyOf":[{"$ref":"#/$defs/Place"},{"type":"null"}]},` +
		`"d":{"type":"array","items":{"$ref":"#/$defs/Level"}},` +
		`"e":{"anyOf":[{"$ref":"#/$defs/Level"}],"default":"low"},` +
		`"f":{"title":"Once","type":"object","properties":{"at":{"$ref":"#/$defs/Place"}},"required":["at"],"additionalProperties":false},` +
		`"g":{"type":"object","additionalProperties":{"$ref":"#/$defs/Place2"}},` +
		`"h":{"$ref":"#/$defs/Place2"},` +
		`"i":{"type":"array","items":{"$ref":"#/$defs/Place3"}},` +
		`"j":{"$ref":"#/$defs/Place3"}` +
		`},"required":["a","b","d","f","g","h","i","j"],"additionalProperties":false,"$defs":{` +
		`"Place":{"title":"Place","description":"where","type":"object","properties":{"x":{"type":"integer"}},"required":["x"],"additionalProperties":false},` +
		`"Level":{"title":"Level","enum":["low","high"]},` +
		`"Place2":{"type":"object","properties":{},"required":[],"additionalProperties":false},` +
		`"Place3":{"type":"object","properties":{},"required":[],"additionalProperties":false}}}`
	if diff := cmp.Diff(want, schema.JSONSchema(&all)); diff != "" {
		t.Error(diff)
	}
}

// Types that name others four times grow by one schema with each level, not fourfold.
func TestSharedSchemasGrowLinearly(t *testing.T) {
	size := func(levels int) int {
		t := declare("T0", "", structOf(&schema.Field{Name: "a", Type: schema.StringType}))
		for i := range levels {
			t = declare(fmt.Sprintf("T%d", i+1), "", structOf(
				&schema.Field{Name: "a", Type: t}, &schema.Field{Name: "b", Type: t, Description: "said"},
				&schema.Field{Name: "c", Type: schema.OptOf(t, "")}, &schema.Field{Name: "d", Type: schema.ListOf(t)}))
		}
		return len(schema.JSONSchema(t))
	}
	if one, all := size(2)-size(1), size(31)-size(1); all > 30*(one+20) {
		t.Errorf("one level has %d bytes, 30 have %d", one, all)
	}
}

// With the references put in place the schema is the one of the same type without any sharing.
func TestSharedSchemasSayTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pool := []*schema.Type{schema.StringType, schema.IntType, schema.BytesType, schema.AnyType}
		one := func() *schema.Type { return rapid.SampledFrom(pool).Draw(t, "type") }
		for i := range rapid.IntRange(1, 8).Draw(t, "types") {
			var x schema.Type
			switch rapid.IntRange(0, 4).Draw(t, "kind") {
			case 0:
				x = *schema.ListOf(one())
			case 1:
				x = *schema.MapOf(one())
			case 2:
				x = *schema.EnumOf("a", "b")
			case 3:
				x = *schema.OptOf(one(), "")
			default:
				for k := range rapid.IntRange(0, 4).Draw(t, "fields") {
					f := &schema.Field{Name: string(rune('a' + k)), Type: one()}
					if rapid.Bool().Draw(t, "described") {
						f.Description = "of the field"
					}
					if rapid.IntRange(0, 3).Draw(t, "default") == 0 {
						f.Default = &schema.Default{JSON: "null"}
					}
					x.Fields = append(x.Fields, f)
				}
				x.Kind = schema.Struct
			}
			if rapid.Bool().Draw(t, "named") {
				pool = append(pool, declare(fmt.Sprintf("N%d", i), rapid.SampledFrom([]string{"", "of the type"}).Draw(t, "doc"), x))
			} else {
				pool = append(pool, &x)
			}
		}
		shared, apart := pool[len(pool)-1], unshared(pool[len(pool)-1])
		var got, want map[string]any
		if err := json.Unmarshal([]byte(schema.JSONSchema(shared)), &got); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(schema.JSONSchema(apart)), &want); err != nil {
			t.Fatal(err)
		}
		if want["$defs"] != nil {
			t.Fatalf("shares: %v", want)
		}
		defs, _ := got["$defs"].(map[string]any)
		delete(got, "$defs")
		if diff := cmp.Diff(want, inPlace(got, defs)); diff != "" {
			t.Fatalf("%s\n%s", schema.JSONSchema(shared), diff)
		}
	})
}

// unshared is the type with a copy of each type for each of its uses.
func unshared(t *schema.Type) *schema.Type {
	if t == nil {
		return nil
	}
	c := *t
	c.Elem = unshared(t.Elem)
	c.Fields = nil
	for _, f := range t.Fields {
		g := *f
		g.Type = unshared(f.Type)
		c.Fields = append(c.Fields, &g)
	}
	return &c
}

// inPlace puts what is below $defs where it is referred to.
func inPlace(v any, defs map[string]any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = inPlace(v[i], defs)
		}
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok {
			if len(v) > 1 {
				return "something beside " + ref
			}
			to, _ := json.Marshal(defs[strings.TrimPrefix(ref, "#/$defs/")])
			var c any
			_ = json.Unmarshal(to, &c)
			return inPlace(c, defs)
		}
		for k := range v {
			v[k] = inPlace(v[k], defs)
		}
		if one, ok := v["anyOf"].([]any); ok && len(one) == 1 {
			of := one[0].(map[string]any)
			delete(v, "anyOf")
			for k, x := range of {
				if _, said := v[k]; !said { // the description of the field says more
					v[k] = x
				}
			}
		}
	}
	return v
}
