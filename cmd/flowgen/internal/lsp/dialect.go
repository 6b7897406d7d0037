package lsp

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/index"
	"github.com/flowgen-dev/flowgen/parser"
)

// A shape is the part of a JSON Schema that says which keys and words a place has.
type shape struct {
	Description string            `json:"description"`
	Properties  map[string]*shape `json:"properties"`
	Required    []string          `json:"required"`
	Items       json.RawMessage   `json:"items"`
	More        json.RawMessage   `json:"additionalProperties"`
	AnyOf       []*shape          `json:"anyOf"`
	OneOf       []*shape          `json:"oneOf"`
	Enum        []any             `json:"enum"`
}

// alternatives are a shape and those that it is one of.
func (s *shape) alternatives() []*shape {
	if s == nil {
		return nil
	}
	out := []*shape{s}
	for _, o := range slices.Concat(s.AnyOf, s.OneOf) {
		out = append(out, o.alternatives()...)
	}
	return out
}

// inner is a shape in a schema that may be true or false instead.
func inner(raw json.RawMessage) *shape {
	var s shape
	if json.Unmarshal(raw, &s) != nil {
		return nil
	}
	return &s
}

// into follows a key, or an item of a list.
func into(at []*shape, key string) (out []*shape) {
	for _, s := range at {
		switch p := s.Properties[key]; {
		case key == "-":
			out = append(out, inner(s.Items).alternatives()...)
		case p != nil:
			out = append(out, p.alternatives()...)
		default:
			out = append(out, inner(s.More).alternatives()...)
		}
	}
	return out
}

// ofDialect are the keys and words that a file of a dialect can have at a place, by the schema that `flowgen schema` prints, and the names
// of its nodes and tools where a value is written.
func (s *server) ofDialect(c cursor, at spot) []completionItem {
	top := s.schema(c.dialect()).alternatives()
	for _, step := range at.steps {
		top = into(top, step.Key)
	}
	lo := c.off - len(at.word)
	var items []completionItem
	seen := map[string]bool{}
	for _, place := range top {
		if at.value {
			for _, v := range place.Enum {
				if word := fmt.Sprint(v); !seen[word] {
					seen[word] = true
					items = append(items, completionItem{Label: word, Kind: itemEnum, SortText: "0" + word})
				}
			}
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(place.Properties)) {
			if seen[key] || slices.Contains(at.beside, key) {
				continue
			}
			seen[key] = true
			rank := "1"
			if slices.Contains(place.Required, key) {
				rank = "0"
			}
			items = append(items, completionItem{Label: key, Kind: itemKey, SortText: rank + key, Documentation: &markup{"markdown", place.Properties[key].Description},
				TextEdit: &textEdit{NewText: key + ": "}})
		}
	}
	if at.value && len(items) == 0 && !strings.ContainsAny(at.word, "{}\"'") {
		if items = c.declared(index.Node, index.Tool); len(items) == 0 {
			items = written(c.doc.text.s)
		}
	}
	return edits(c, lo, c.off, items)
}

// written are the names that stand below `nodes:`, of languages whose nodes the index does not know: keys, or the `id` or `name` of items.
func written(text string) (out []completionItem) {
	inside, first := -1, -1 // indentation of `nodes:` and of what is below it
	for line := range strings.Lines(text) {
		rest := strings.TrimLeft(line, " ")
		indent := len(line) - len(rest)
		key, value, ok := strings.Cut(strings.TrimRight(strings.TrimPrefix(rest, "- "), "\r\n"), ":")
		switch {
		case strings.TrimSpace(rest) == "" || rest[0] == '#':
		case ok && key == "nodes" && strings.TrimSpace(value) == "":
			inside, first = indent, -1
		case inside < 0:
		case indent < inside || indent == inside && !strings.HasPrefix(rest, "- "):
			inside = -1
		default:
			if first < 0 {
				first = indent
			}
			name := ""
			if item := strings.HasPrefix(rest, "- "); item && (key == "id" || key == "name") {
				name = strings.Trim(strings.TrimSpace(value), "\"'")
			} else if !item && ok && indent == first {
				name = key
			}
			if name != "" && !strings.ContainsAny(name, " {}[]") {
				out = append(out, completionItem{Label: name, Kind: itemRef, Detail: "node", SortText: "0" + name})
			}
		}
	}
	return out
}

// dialect is the name of the language that a file is in; "native" for flowgen's own and where it is not known.
func (c cursor) dialect() string {
	for _, r := range c.roots {
		if r.result != nil && r.result.Workflow != nil && r.result.Workflow.Public {
			return r.result.Workflow.Origin
		}
	}
	return "native"
}

// schema is that of a dialect, read once.
func (s *server) schema(dialect string) *shape {
	if known := s.schemas[dialect]; known != nil {
		return known
	}
	out := inner(parser.JSONSchemaOf(dialect))
	if s.schemas == nil {
		s.schemas = map[string]*shape{}
	}
	s.schemas[dialect] = out
	return out
}
