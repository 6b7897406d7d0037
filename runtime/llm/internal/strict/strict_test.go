package strict

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// schemas draws schemas of the kinds that workflows and servers of tools have.
func schemas(t *rapid.T, depth int) map[string]any {
	s := map[string]any{}
	kinds := []string{"string", "integer", "number", "boolean", "enum", "const"}
	if depth > 0 {
		kinds = append(kinds, "object", "object", "array", "anyOf", "map", "any")
	}
	switch kind := rapid.SampledFrom(kinds).Draw(t, "kind"); kind {
	case "object":
		s["type"] = "object"
		properties, required := map[string]any{}, []any{}
		for i := range rapid.IntRange(0, 3).Draw(t, "properties") {
			name := fmt.Sprint("p", i)
			properties[name] = schemas(t, depth-1)
			if rapid.Bool().Draw(t, "required") {
				required = append(required, name)
			}
		}
		s["properties"], s["required"] = properties, required
	case "array":
		s["type"], s["items"] = "array", schemas(t, depth-1)
	case "anyOf":
		s["anyOf"] = []any{schemas(t, depth-1), map[string]any{"type": "null"}}
	case "map":
		s["type"], s["additionalProperties"] = "object", schemas(t, depth-1)
	case "any":
	case "enum":
		s["enum"] = []any{"a", "b"}
	case "const":
		s["const"] = 1.0
	default:
		s["type"] = kind
	}
	for key, value := range map[string]any{"description": "D.", "minLength": 1.0, "uniqueItems": true, "title": "T", "default": "x"} {
		rare := 4
		if key == "default" {
			rare = 40
		}
		if len(s) > 0 && rapid.IntRange(0, rare).Draw(t, key) == 0 {
			s[key] = value
		}
	}
	return s
}

// Types that a schema has more than once stay below $defs; names there are no keywords.
func TestStrictSharedSchemas(t *testing.T) {
	schema := `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{` +
		`"a":{"$ref":"#/$defs/default"},"b":{"anyOf":[{"$ref":"#/$defs/default"}],"description":"other"}},"required":["a"],"additionalProperties":false,` +
		`"$defs":{"default":{"type":"object","properties":{"x":{"type":"string","minLength":1},"y":{"type":"integer"}},"required":["x"],"additionalProperties":false}}}`
	want := `{"type":"object","properties":{` +
		`"a":{"$ref":"#/$defs/default"},"b":{"anyOf":[{"anyOf":[{"$ref":"#/$defs/default"}],"description":"other"},{"type":"null"}]}},"required":["a","b"],"additionalProperties":false,` +
		`"$defs":{"default":{"type":"object","properties":{"x":{"type":"string","description":"(minLength: 1)"},"y":{"anyOf":[{"type":"integer"},{"type":"null"}]}},"required":["x","y"],"additionalProperties":false}}}`
	got, ok := strict(json.RawMessage(schema))
	if diff := cmp.Diff(want, string(got)); diff != "" || !ok {
		t.Errorf("strict %v (-want +got):\n%s", ok, diff)
	}
}

// A schema is strict when it follows all rules of the mode, and otherwise comes back byte for byte; no property is lost.
func TestStrictSchemas(t *testing.T) {
	tried, made := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		s := map[string]any{"type": "object", "properties": map[string]any{"a": schemas(t, 3)}, "required": []any{}}
		text, _ := json.Marshal(s)
		tried++
		got, ok := strict(text)
		if !ok {
			if string(got) != string(text) {
				t.Fatalf("%s has become %s", text, got)
			}
			return
		}
		made++
		var out map[string]any
		if err := json.Unmarshal(got, &out); err != nil {
			t.Fatal(err)
		}
		rules(t, out)
		if diff := cmp.Diff(names(s), names(out)); diff != "" {
			t.Fatalf("properties (-want +got):\n%s", diff)
		}
		again, ok := strict(got)
		if !ok || string(again) != string(got) {
			t.Fatalf("%s is not strict: %s", got, again)
		}
	})
	if made < tried/10 {
		t.Errorf("%d of %d are strict", made, tried)
	}
}

// rules are those of https://platform.openai.com/docs/guides/structured-outputs.
func rules(t *rapid.T, v any) {
	s, ok := v.(map[string]any)
	if !ok || len(s) == 0 {
		t.Fatalf("%v is any value", v)
	}
	for key := range s {
		if !slices.Contains(taken.Keywords, key) {
			t.Fatalf("%s is not taken", key)
		}
	}
	if list, ok := s["anyOf"].([]any); ok {
		for _, x := range list {
			rules(t, x)
		}
	}
	if items, ok := s["items"]; ok {
		rules(t, items)
	}
	if s["type"] != "object" {
		return
	}
	properties := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	if s["additionalProperties"] != false || len(required) != len(properties) {
		t.Fatalf("%v is not closed", s)
	}
	for name, p := range properties {
		if !slices.Contains(required, any(name)) {
			t.Fatalf("%s is not required", name)
		}
		rules(t, p)
	}
}

// names are the names of all properties, with their paths.
func names(v any) []string {
	list := []string{}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		s, _ := v.(map[string]any)
		for name, p := range orEmpty(s["properties"]) {
			list = append(list, path+"/"+name)
			walk(path+"/"+name, p)
		}
		walk2 := func(x any) {
			if x != nil {
				walk(path, x)
			}
		}
		walk2(s["items"])
		alternatives, _ := s["anyOf"].([]any)
		for _, x := range alternatives {
			walk2(x)
		}
	}
	walk("", v)
	slices.Sort(list)
	return list
}

func orEmpty(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

// What may be null already is not made so once more.
func TestStrictNullable(t *testing.T) {
	got, ok := strict(json.RawMessage(`{"type":"object","properties":{"n":{"anyOf":[{"type":"integer"},{"type":"null"}]},"m":{"type":"integer"}},"required":[],"additionalProperties":false}`))
	want := `{"type":"object","properties":{"n":{"anyOf":[{"type":"integer"},{"type":"null"}]},"m":{"anyOf":[{"type":"integer"},{"type":"null"}]}},"required":["n","m"],"additionalProperties":false}`
	if !ok || string(got) != want {
		t.Errorf("%v, %s", ok, got)
	}
}

// OpenAI refuses a request with a longer description of a tool.
func TestDescriptions(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 "",
		strings.Repeat("é", longest):       strings.Repeat("é", longest),
		strings.Repeat("é", longest+1):     strings.Repeat("é", longest-1) + "…",
		strings.Repeat("wor ds ", longest): strings.TrimSuffix(strings.Repeat("wor ds ", longest)[:longest-1], " w") + "…",
	} {
		if got := Description(text); got != want {
			t.Errorf("%q", got)
		}
	}
}
