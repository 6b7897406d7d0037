package lsp

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/index"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser"
)

func (s *server) hover(params *json.RawMessage) (any, error) {
	c, _, err := s.at(params)
	if err != nil || c.doc == nil || !isOurs(c.name) {
		return nil, err
	}
	ref := c.ref()
	if all := c.locked(); len(all) > 0 {
		ref = all[0]
	}
	if h := s.hoverSQL(c); h != nil {
		return h, nil
	}
	if ref == nil {
		return s.hoverKey(c)
	}
	return hover{Contents: markup{"markdown", describe(ref) + s.lastValue(c, ref)}, Range: s.ws.span(ref.At)}, nil
}

// describe is what a person is told of a name.
func describe(ref *index.Ref) string {
	n := ref.Name
	t := ref.Type
	if t == nil {
		t = n.Type
	}
	var b strings.Builder
	fmt.Fprintf(&b, "```flowgen\n%s %s", n.Kind, n.Text)
	if t != nil && t.Kind != schema.Invalid {
		fmt.Fprintf(&b, ": %s", t)
	}
	b.WriteString("\n```\n")
	if t != nil && t.Kind == schema.Opt && t.Why != "" {
		fmt.Fprintf(&b, "\nIt may be absent: %s.\n", t.Why)
	}
	if n.Doc != "" {
		fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(n.Doc))
	}
	for i, note := range n.Notes {
		if i == 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "- %s\n", note)
	}
	if t != nil {
		if s := t.Leaf(); s.Kind == schema.Struct && len(s.Fields) > 0 {
			b.WriteString("\n")
			for i, f := range s.Fields {
				if i == 20 {
					fmt.Fprintf(&b, "- and %d more\n", len(s.Fields)-i)
					break
				}
				fmt.Fprintf(&b, "- `%s: %s`", f.Name, f.Type)
				if f.Description != "" {
					fmt.Fprintf(&b, " %s", f.Description)
				}
				b.WriteString("\n")
			}
		}
	}
	return b.String()
}

// maxValue is how much of a recorded value a hover shows.
const maxValue = 300

// lastValue is what a node gave in the last recorded run. Journals hold no secrets.
func (s *server) lastValue(c cursor, ref *index.Ref) string {
	if ref.Name.Kind != index.Node {
		return ""
	}
	for _, r := range c.roots {
		run := s.lastRun(r)
		if run == nil || run.Values[ref.Name.Text] == "" {
			continue
		}
		value := strings.ToValidUTF8(run.Values[ref.Name.Text], "?")
		if list := []rune(value); len(list) > maxValue {
			value = string(list[:maxValue]) + "..."
		}
		return fmt.Sprintf("\nIn the last run:\n```json\n%s\n```\n", strings.ReplaceAll(value, "`", "'"))
	}
	return ""
}

// hoverKey is what a key of the language means.
func (s *server) hoverKey(c cursor) (any, error) {
	text := c.doc.text.s
	lo, hi := word(text[:c.off]), c.off
	for hi < len(text) && word(text[:hi+1]) == lo && hi-lo < 100 {
		hi++
	}
	if !isYAML(c.name) || !c.native() || lo == hi || !strings.HasPrefix(text[hi:], ":") {
		return nil, nil
	}
	at := outline(text, lo)
	keys, _ := parser.Place(c.name, at.steps, at.beside)
	for _, k := range keys {
		if k.Name == text[lo:hi] && !at.value {
			return hover{Contents: markup{"markdown", "`" + k.Name + "`: " + k.Doc}, Range: c.doc.text.span(lo, hi)}, nil
		}
	}
	return nil, nil
}
