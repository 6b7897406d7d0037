// Package strict puts tools and answers into the form that both interfaces of OpenAI ask for: schemas of the strict mode, and
// descriptions of bounded length.
package strict

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/runtime/llm/internal/wire"
)

// kept holds what strict has made: a program asks with the same few schemas again and again.
var kept struct {
	sync.Mutex
	made map[string]made
}

type made struct {
	schema json.RawMessage
	strict bool
}

// mostKept bounds kept for programs whose schemas are not their own.
const mostKept = 1000

// Schema returns a schema in the form that strict mode asks for, and true; or, where it has no such form, the schema and false.
func Schema(schema json.RawMessage) (json.RawMessage, bool) {
	kept.Lock()
	defer kept.Unlock()
	m, ok := kept.made[string(schema)]
	if !ok {
		m.schema, m.strict = strict(schema)
		if kept.made == nil || len(kept.made) >= mostKept {
			kept.made = map[string]made{}
		}
		kept.made[string(schema)] = m
	}
	return m.schema, m.strict
}

// strict returns the schema in the form that OpenAI's strict mode asks for, in which answers are held to it: every
// object closed, every property required, optional ones nullable, and keywords that the mode does not know in the
// descriptions. Schemas that cannot be put so, such as maps, free values and properties with a default, come back as
// they are, and then it is false.
func strict(schema json.RawMessage) (json.RawMessage, bool) {
	v, ok := wire.ParseSchema(schema)
	root, isObject := v.(*wire.Object)
	if !ok || !isObject || root.Get("type") != "object" || hasDefault(v) {
		return schema, false
	}
	taken.Limit(v)
	if !wire.Close(v, requireAll) {
		return schema, false
	}
	return wire.Encode(v), true
}

// taken is what strict mode takes.
var taken = wire.Dialect{
	Keywords: []string{"$defs", "$ref", "additionalProperties", "anyOf", "const", "description", "enum", "exclusiveMaximum", "exclusiveMinimum",
		"format", "items", "maxItems", "maximum", "minItems", "minimum", "multipleOf", "pattern", "properties", "required", "title", "type"},
	Formats: []string{"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"},
}

// requireAll makes optional properties required ones that may be null.
func requireAll(o *wire.Object) {
	properties, ok := o.Get("properties").(*wire.Object)
	if !ok {
		return
	}
	required, _ := o.Get("required").([]any)
	all := []any{}
	for _, name := range properties.Keys() {
		all = append(all, name)
		if slices.Contains(required, any(name)) || nullable(properties.Get(name)) {
			continue
		}
		either := &wire.Object{}
		null := &wire.Object{}
		null.Set("type", "null")
		either.Set("anyOf", []any{properties.Get(name), null})
		properties.Set(name, either)
	}
	o.Set("required", all)
}

// nullable reports whether null is one of the alternatives of a schema.
func nullable(schema any) bool {
	o, ok := schema.(*wire.Object)
	if !ok {
		return false
	}
	alternatives, _ := o.Get("anyOf").([]any)
	return slices.ContainsFunc(alternatives, func(v any) bool {
		null, ok := v.(*wire.Object)
		return ok && null.Get("type") == "null"
	})
}

// hasDefault reports whether a value may be left out in favour of another than null.
func hasDefault(v any) bool {
	switch v := v.(type) {
	case *wire.Object:
		for _, k := range v.Keys() {
			child := v.Get(k)
			if k == "properties" || k == "$defs" { // their keys are names
				if named, ok := child.(*wire.Object); ok {
					for _, name := range named.Keys() {
						if hasDefault(named.Get(name)) {
							return true
						}
					}
				}
				continue
			}
			if k == "default" || hasDefault(child) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, hasDefault)
	}
	return false
}

// longest is how many characters OpenAI takes of what a tool is said to do; with more it refuses the request. Servers of the
// Model Context Protocol write more.
const longest = 1024

// Description returns a description in at most that many characters.
func Description(description string) string {
	if utf8.RuneCountInString(description) <= longest {
		return description
	}
	cut := string([]rune(description)[:longest-1])
	if i := strings.LastIndexByte(cut, ' '); i > longest/2 {
		cut = cut[:i]
	}
	return cut + "…"
}
