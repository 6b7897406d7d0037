package lsp

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/index"
	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// typeOfChain is the type of names with dots between them, as far as the last text that could be read says; nil: unknown.
func (c cursor) typeOfChain(chain string) *schema.Type {
	path := strings.Split(strings.ReplaceAll(chain, "?", ""), ".")
	for _, r := range c.roots {
		if r.index == nil {
			continue
		}
		for _, n := range r.index.Names {
			rest := path[1:]
			switch {
			case (n.Kind == index.Node || n.Kind == index.Variable) && n.Text == path[0]:
			case len(path) > 1 && n.Text == path[1] && (path[0] == "input" && n.Kind == index.Input || path[0] == "state" && n.Kind == index.State):
				rest = path[2:]
			default:
				continue
			}
			t := n.Type
			for _, f := range rest {
				if t == nil {
					break
				}
				field := t.Present().Field(f)
				if t = nil; field != nil {
					t = field.Type
				}
			}
			if t != nil {
				return t.Present()
			}
		}
	}
	return nil
}

var (
	compared = lazyregexp.New(`([a-z_][A-Za-z0-9_?.]*) *[!=]= *(["'])([A-Za-z0-9_-]*)$`)
	switched = lazyregexp.New(`switch: *["']?\$?([a-z_][A-Za-z0-9_?.]*)`)
)

// quotedWords are the values of an enum at a quote that is compared with one; nil where there is none.
func (s *server) quotedWords(c cursor) (items []completionItem, lo int) {
	text := c.doc.text.s
	before := text[max(0, c.off-maxTemplate):c.off]
	before = before[strings.LastIndexByte(before, '\n')+1:]
	m := compared.FindStringSubmatch(before)
	if m == nil {
		return nil, 0
	}
	t := c.typeOfChain(m[1])
	if t == nil || t.Kind != schema.Enum {
		return nil, 0
	}
	for _, v := range t.Values {
		items = append(items, completionItem{Label: v, Kind: itemEnum})
	}
	return items, c.off - len(m[3])
}

// cases are the values of a switch that have no target yet.
func (s *server) cases(c cursor, at spot) []completionItem {
	n := len(at.steps)
	if n < 2 || at.steps[n-1].Key != "cases" || !slices.Contains(at.steps[n-1].Beside, "switch") {
		return nil
	}
	found := switched.FindAllStringSubmatch(c.doc.text.s[max(0, c.off-maxTemplate):c.off], -1)
	if len(found) == 0 {
		return nil
	}
	t := c.typeOfChain(found[len(found)-1][1])
	if t == nil {
		return nil
	}
	values := t.Values
	if t.Kind == schema.Bool {
		values = []string{"true", "false"}
	}
	var out []completionItem
	for _, v := range values {
		if !slices.Contains(at.beside, v) {
			out = append(out, completionItem{Label: v, Kind: itemEnum, SortText: "0" + v, TextEdit: &textEdit{NewText: v + ": "}})
		}
	}
	return out
}
