package lsp

import (
	"encoding/json"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/index"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser"
	"github.com/flowgen-dev/flowgen/parser/native"
)

// Kinds of completions.
const (
	itemMethod   = 2
	itemFunction = 3
	itemField    = 5
	itemVar      = 6
	itemKey      = 10
	itemEnum     = 12
	itemFile     = 17
	itemRef      = 18
	itemFolder   = 19
	itemType     = 22
)

func (s *server) completion(params *json.RawMessage) (any, error) {
	p, err := decode[positionParams](params)
	out := completionList{Items: []completionItem{}}
	name := nameOf(p.TextDocument.URI)
	d := s.ws.docs[name]
	if err != nil || d == nil || !isOurs(name) {
		return out, err
	}
	c := cursor{name: name, doc: d, off: d.text.offset(p.Position), roots: s.ws.fresh(name)}
	at := outline(d.text.s, c.off)
	if isYAML(name) && !c.native() {
		out.Items = s.ofDialect(c, at)
		return out, nil
	}
	if items, lo, ok := sqlNames(c, at); ok {
		out.Items = edits(c, lo, c.off, items)
		return out, nil
	}
	if items, lo := s.quotedWords(c); items != nil {
		out.Items = edits(c, lo, c.off, items)
		return out, nil
	}
	if lo, ok := inExpression(d.text.s[:c.off], at, isYAML(name)); ok {
		out.Items = s.expressions(c, lo)
		return out, nil
	}
	if isYAML(name) {
		out.Items = s.structure(c, at)
	}
	return out, nil
}

func isYAML(name string) bool { ext := filepath.Ext(name); return ext == ".yaml" || ext == ".yml" }

// native reports whether a file is of flowgen's own language, as far as is known.
func (c cursor) native() bool {
	if path.Base(c.name) == parser.BindingsName {
		return true
	}
	for _, r := range c.roots {
		if r.result != nil && r.result.Workflow != nil && r.result.Workflow.Public {
			return false
		}
	}
	return true
}

// word is where the identifier that ends at the cursor begins.
func word(s string) int {
	i := len(s)
	for i > 0 && (s[i-1] == '_' || s[i-1] >= 'a' && s[i-1] <= 'z' || s[i-1] >= 'A' && s[i-1] <= 'Z' || s[i-1] >= '0' && s[i-1] <= '9') {
		i--
	}
	return i
}

// maxTemplate is how far before a cursor the beginning of a template is looked for.
const maxTemplate = 2000

// inExpression reports whether text ends in an expression, and where the name begins that is being written.
func inExpression(text string, at spot, yaml bool) (lo int, ok bool) {
	lo = word(text)
	tail := text[max(0, len(text)-maxTemplate):]
	if i := strings.LastIndex(tail, "{{"); i >= 0 && !strings.Contains(tail[i:], "}}") {
		return lo, true
	}
	if !yaml || !at.value {
		return lo, false
	}
	w := strings.TrimLeft(at.word, `"'`)
	if strings.HasPrefix(w, "$") {
		return lo, true
	}
	_, forms := parser.Place("", at.steps, nil)
	return lo, slices.ContainsFunc(forms, func(f native.Form) bool { return f.Kind == native.FormExpr })
}

// marker is the end of a name that is at the cursor while it is compiled. Nobody writes it.
const marker = "zqx7_"

// expressions are the names that can follow at the cursor. The file is compiled with a name there: what the checker then says of
// its surroundings is what can be written, in scope and of the right type.
func (s *server) expressions(c cursor, lo int) []completionItem {
	text := c.doc.text.s
	hi := c.off
	for hi < len(text) && word(text[:hi+1]) == lo {
		hi++
	}
	shut := ""
	line := text[hi:]
	if i := strings.IndexAny(line, "\r\n"); i >= 0 {
		line = line[:i]
	}
	if i := strings.LastIndex(text[:lo], "{{"); i >= 0 && !strings.Contains(text[i:lo], "}}") && !strings.Contains(line, "}}") {
		shut = " }}"
	}
	in := s.ws.inputs()
	in.Unsaved[c.name] = text[:lo] + "a" + marker + shut + text[hi:]
	var items []completionItem
	in.Look = func(n *expr.Node, env expr.Env) {
		n.Walk(func(n *expr.Node) bool {
			if len(items) > 0 || n.Text != "a"+marker {
				return true
			}
			switch n.Op {
			case expr.Name:
				items = names(env)
			case expr.Field, expr.OptField:
				items = members(n.Kids[0])
			}
			return true
		})
	}
	for _, r := range c.roots {
		if len(items) == 0 {
			s.guard("completing", func() bool { s.opts.Compile(r.name, in); return true })
		}
	}
	if len(items) == 0 {
		items = s.remembered(c, lo)
	}
	return edits(c, lo, c.off, items)
}

// names are what an expression can begin with, in scope first.
func names(env expr.Env) []completionItem {
	var out []completionItem
	seen := map[string]bool{}
	for _, name := range append(env.Names(), "input", "state", "now") {
		if seen[name] {
			continue
		}
		seen[name] = true
		sym := env.Lookup(name)
		if sym == nil || sym.Problem != nil || sym.Type == nil || name == "state" && len(sym.Type.Fields) == 0 {
			continue
		}
		out = append(out, completionItem{Label: name, Kind: itemVar, Detail: sym.Type.String(), SortText: "0" + name, Documentation: why(sym.Type)})
	}
	return append(out, functions()...)
}

// functions are those of the language.
func functions() (out []completionItem) {
	for _, u := range expr.Usages() {
		if !u.Method {
			out = append(out, completionItem{Label: u.Name, Kind: itemMethod, Detail: u.Text, SortText: "9" + u.Name})
		}
	}
	return out
}

// parameters are the fields that a tool takes, inside of its declaration.
func (c cursor) parameters(lo int) []completionItem {
	at := outline(c.doc.text.s, lo)
	if len(at.steps) < 2 || at.steps[0].Key != "tools" {
		return nil
	}
	for _, r := range c.roots {
		if r.result == nil || r.result.Workflow == nil {
			continue
		}
		for _, t := range r.result.Workflow.Tools {
			if t.Key.Name == at.steps[1].Key && t.In != nil {
				return fieldsOf(t.In)
			}
		}
	}
	return nil
}

func why(t *schema.Type) *markup {
	if t.Kind == schema.Opt && t.Why != "" {
		return &markup{"plaintext", "may be absent: " + t.Why}
	}
	return nil
}

// members are the fields and methods of a value.
func members(n *expr.Node) []completionItem {
	var out []completionItem
	if n.Sym != nil {
		for name, m := range n.Sym.Members {
			if m.Problem == nil && m.Type != nil {
				out = append(out, completionItem{Label: name, Kind: itemField, Detail: m.Type.String(), SortText: "1" + name})
			}
		}
	}
	if n.Type != nil {
		out = append(out, fieldsOf(n.Type)...)
	}
	slices.SortFunc(out, func(a, b completionItem) int { return strings.Compare(a.SortText+a.Label, b.SortText+b.Label) })
	return out
}

func fieldsOf(t *schema.Type) []completionItem {
	var out []completionItem
	t = t.Present()
	for _, f := range t.Fields {
		item := completionItem{Label: f.Name, Kind: itemField, Detail: f.Type.String(), SortText: "0" + f.Name}
		if f.Description != "" {
			item.Documentation = &markup{"markdown", f.Description}
		}
		out = append(out, item)
	}
	if t.Kind == schema.String || t.Kind == schema.List || t.Kind == schema.Time {
		for _, u := range expr.Usages() {
			if u.Method && (u.Text == "" || strings.HasPrefix(u.Text, map[schema.Kind]string{schema.String: "s.", schema.List: "xs.", schema.Time: "t."}[t.Kind])) {
				out = append(out, completionItem{Label: u.Name, Kind: itemMethod, Detail: u.Text, SortText: "9" + u.Name})
			}
		}
	}
	return out
}

// remembered are names of the last text that could be read, where the present one cannot.
func (s *server) remembered(c cursor, lo int) []completionItem {
	var out []completionItem
	path := strings.Split(c.doc.text.s[chain(c.doc.text.s[:lo]):lo], ".")
	found := false // the names of one workflow are enough
	if len(path) == 1 {
		for _, name := range []string{"input", "state", "now"} {
			out = append(out, completionItem{Label: name, Kind: itemVar, SortText: "0" + name})
		}
		out = append(out, c.parameters(lo)...)
		out = append(out, functions()...)
	}
	for _, r := range c.roots {
		if r.index == nil || found {
			continue
		}
		for _, n := range r.index.Names {
			found = true
			switch {
			case len(path) == 1 && (n.Kind == index.Node || n.Kind == index.Variable && n.At.File != nil):
				out = append(out, completionItem{Label: n.Text, Kind: itemVar, SortText: "0" + n.Text})
			case len(path) > 1 && path[0] == "input" && n.Kind == index.Input && len(path) == 2, len(path) > 1 && path[0] == "state" && n.Kind == index.State && len(path) == 2:
				out = append(out, completionItem{Label: n.Text, Kind: itemField, SortText: "0" + n.Text})
			case len(path) > 1 && n.Kind == index.Node && n.Text == path[0] && n.Type != nil:
				t := n.Type
				for _, f := range path[1 : len(path)-1] {
					if g := t.Present().Field(strings.TrimSuffix(f, "?")); g != nil {
						t = g.Type
					}
				}
				out = append(out, fieldsOf(t)...)
			}
		}
	}
	return out
}

// chain is where the chain of names and dots begins that a text ends with.
func chain(s string) int {
	i := word(s)
	for i > 0 && (s[i-1] == '.' || s[i-1] == '?') {
		if s[i-1] == '?' {
			i--
			continue
		}
		i = word(s[:i-1])
		if i > 0 && s[i-1] == '?' {
			continue
		}
	}
	return i
}

// edits gives items the range that they replace.
func edits(c cursor, lo, hi int, items []completionItem) []completionItem {
	for i := range items {
		text := items[i].Label
		if e := items[i].TextEdit; e != nil {
			text = e.NewText
		}
		items[i].TextEdit = &textEdit{c.doc.text.span(lo, hi), text}
	}
	if items == nil {
		return []completionItem{}
	}
	return items
}
