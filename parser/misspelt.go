package parser

import (
	"encoding/json"
	"slices"
	"sync"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// misspelt reports the key without which a file would have the shape of one dialect, if there is such a key: one that is nearly a
// key of that dialect at its place, and with which the file is of that dialect alone.
func (l *loader) misspelt(t *tree) bool {
	for i, d := range languages() {
		s := &speller{root: t.root, language: d.name, keys: maxKeys, left: maxSpellings}
		if s.below(t.root, keyTables()[i:i+1], 0); s.found != nil {
			l.sink.Report(diag.Diagnostic{Code: diag.UnknownLanguage, Span: s.found.Span, Message: "this is not a workflow: no dialect has the key `" + s.found.Text.Value + "` here",
				Help: "replace with `" + s.meant + "`", Fixes: []diag.Fix{diag.Replace(s.found.Span, s.meant)}})
			return true
		}
	}
	return false
}

// keyTables are the JSON Schemas of all languages, in their order.
var keyTables = sync.OnceValue(func() []any {
	var all []any
	for _, d := range languages() {
		var table any
		_ = json.Unmarshal(d.schema(), &table) // one that is none knows no key
		all = append(all, table)
	}
	return all
})

const (
	maxSpellings = 100  // keys that are tried
	maxKeys      = 2000 // keys and items that are looked at
	maxKeyDepth  = 6    // where they are
	longestKey   = 60
)

// A speller looks for the key.
type speller struct {
	root     *yamlnode.Node
	language string
	keys     int // and items that may still be looked at
	left     int // keys that may still be tried

	found *yamlnode.Node
	meant string
}

// below looks among the keys of n, and of what is in it, which JSON Schemas describe.
func (s *speller) below(n *yamlnode.Node, schemas []any, depth int) {
	if n == nil || depth > maxKeyDepth || s.found != nil {
		return
	}
	if s.keys -= len(n.Entries) + len(n.Items); s.keys < 0 {
		return
	}
	var parts []map[string]any
	schemas = slices.Clone(schemas)
	for len(schemas) > 0 && len(parts) < maxSpellings {
		if one, ok := schemas[0].(map[string]any); ok {
			choices, _ := one["anyOf"].([]any)
			parts, schemas = append(parts, one), append(schemas, choices...)
		}
		schemas = schemas[1:]
	}
	for _, item := range n.Items {
		s.below(item, each(parts, "items"), depth+1)
	}
	var known []string
	fields := map[string][]any{}
	for _, p := range parts {
		properties, _ := p["properties"].(map[string]any)
		for name, schema := range properties {
			if n.Entry(name) == nil && fields[name] == nil {
				known = append(known, name)
			}
			fields[name] = append(fields[name], schema)
		}
	}
	for _, e := range n.Entries {
		schemas, ok := fields[e.Key.Text.Value]
		if !ok {
			s.try(e.Key, known)
			schemas = each(parts, "additionalProperties")
		}
		s.below(e.Value, schemas, depth+1)
	}
}

// try finds the key when the file is one of the language with a known one in its place.
func (s *speller) try(key *yamlnode.Node, known []string) {
	name := key.Text.Value
	if s.found != nil || s.left == 0 || len(name) > longestKey {
		return
	}
	near := diag.Nearest(name, known)
	if near == "" || !diag.Close(name, near) {
		return
	}
	s.left--
	key.Text.Value = near
	if fit := detect(s.root); len(fit) == 1 && fit[0].name == s.language {
		s.found, s.meant = key, near
	}
	key.Text.Value = name
}

// each is what schemas say under a key.
func each(parts []map[string]any, key string) []any {
	var out []any
	for _, p := range parts {
		out = append(out, p[key])
	}
	return out
}
