package lsp

import (
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/index"
	"github.com/flowgen-dev/flowgen/internal/files"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser"
	"github.com/flowgen-dev/flowgen/parser/native"
)

// Kinds of completions.
const (
	itemMethod = 2
	itemField  = 5
	itemVar    = 6
	itemKey    = 10
	itemEnum   = 12
	itemFile   = 17
	itemRef    = 18
	itemType   = 22
)

func (s *server) completion(params *json.RawMessage) (any, error) {
	p, err := decode[positionParams](params)
	out := completionList{Items: []completionItem{}}
	name := nameOf(p.TextDocument.URI)
	d := s.ws.docs[name]
	if err != nil || d == nil {
		return out, err
	}
	c := cursor{name: name, doc: d, off: d.text.offset(p.Position), roots: s.ws.fresh(name)}
	if isYAML(name) && !c.native() {
		return out, nil
	}
	at := outline(d.text.s, c.off)
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

// marker is the end of a name that stands at the cursor while it is compiled. Nobody writes it.
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
	for _, u := range expr.Usages() {
		if !u.Method {
			out = append(out, completionItem{Label: u.Name, Kind: itemMethod, Detail: u.Text, SortText: "9" + u.Name})
		}
	}
	return out
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
	for _, r := range c.roots {
		if r.index == nil || len(out) > 0 {
			continue
		}
		for _, n := range r.index.Names {
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

// structure are the keys and words that the language has at a place.
func (s *server) structure(c cursor, at spot) []completionItem {
	keys, forms := parser.Place(c.name, at.steps, at.beside)
	lo := c.off - len(at.word)
	var items []completionItem
	if !at.value || slices.ContainsFunc(forms, func(f native.Form) bool { return f.Kind == native.FormShape }) && at.word == "" && len(at.steps) > 0 && at.steps[len(at.steps)-1].Key == "-" {
		for i, k := range keys {
			if slices.Contains(at.beside, k.Name) {
				continue
			}
			rank := 1
			if k.Required {
				rank = 0
			}
			items = append(items, completionItem{Label: k.Name, Kind: itemKey, Documentation: &markup{"markdown", k.Doc}, SortText: fmt.Sprintf("%d%03d", rank, i),
				TextEdit: &textEdit{NewText: k.Name + ": "}})
		}
		if !at.value {
			items = append(items, s.arguments(c, at)...)
			return edits(c, lo, c.off, items)
		}
	}
	for _, f := range forms {
		items = append(items, s.words(c, at, f)...)
	}
	if at.key != "" && slices.ContainsFunc(forms, func(f native.Form) bool { return f.Kind == native.FormText }) && isEdge(at) || isTarget(forms) {
		lo = word(c.doc.text.s[:c.off])
		items = append(items, c.declared(index.Node)...)
		items = append(items, completionItem{Label: "end", Kind: itemEnum, SortText: "9end"})
	}
	return edits(c, lo, c.off, items)
}

func isEdge(at spot) bool {
	return len(at.steps) >= 2 && at.steps[len(at.steps)-1].Key == "-" && at.steps[len(at.steps)-2].Key == "edges"
}

func isTarget(forms []native.Form) bool {
	return slices.ContainsFunc(forms, func(f native.Form) bool { return f.Kind == native.FormID }) && len(forms) == 2 && forms[1].Kind == native.FormList
}

// declared are the names of a kind that the workflow has.
func (c cursor) declared(kinds ...index.Kind) []completionItem {
	var out []completionItem
	seen := map[string]bool{}
	for _, r := range c.roots {
		if r.index == nil {
			continue
		}
		for _, n := range r.index.Names {
			if slices.Contains(kinds, n.Kind) && !seen[n.Text] {
				seen[n.Text] = true
				item := completionItem{Label: n.Text, Kind: itemRef, Detail: string(n.Kind), SortText: "0" + n.Text}
				if n.Doc != "" {
					item.Documentation = &markup{"markdown", n.Doc}
				}
				out = append(out, item)
			}
		}
	}
	return out
}

// references are the kinds of names that keys take.
var references = map[string][]index.Kind{
	"tool": {index.Tool}, "tools": {index.Tool}, "allow": {index.Tool}, "llm": {index.Model}, "model": {index.Model}, "agent": {index.Agent, index.Model},
	"secret": {index.Secret}, "bearer": {index.Secret}, "basic": {index.Secret}, "key": {index.Secret},
}

// words are the values of a form.
func (s *server) words(c cursor, at spot, f native.Form) []completionItem {
	var out []completionItem
	add := func(kind int, words ...string) {
		for _, w := range words {
			out = append(out, completionItem{Label: w, Kind: kind})
		}
	}
	switch f.Kind {
	case native.FormWord:
		add(itemEnum, f.Words...)
	case native.FormRef:
		out = c.declared(references[at.key]...)
	case native.FormType, native.FormField:
		add(itemType, parser.TypeWords()...)
		out = append(out, c.declared(index.Type)...)
	case native.FormDuration:
		add(itemEnum, "500ms", "1s", "5s", "30s", "1m", "5m", "1h", "1d")
	case native.FormSize:
		add(itemEnum, "64KiB", "1MiB", "16MiB")
	case native.FormPath:
		out = s.paths(c, at)
	}
	return out
}

// paths are the files that a name can go on to.
func (s *server) paths(c cursor, at spot) []completionItem {
	dir, _ := path.Split(strings.Trim(at.word, `"'`))
	if path.IsAbs(dir) {
		return nil
	}
	folder := path.Join(path.Dir(c.name), dir)
	if !files.Project(filepath.FromSlash(c.name)).Hold(filepath.FromSlash(path.Join(folder, "x"))) {
		return nil
	}
	entries, err := files.Project(filepath.FromSlash(c.name)).ReadDir(filepath.FromSlash(folder))
	if err != nil {
		return nil
	}
	var out []completionItem
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || len(out) > 500 {
			continue
		}
		label := dir + e.Name()
		if e.IsDir() {
			label += "/"
		}
		out = append(out, completionItem{Label: label, Kind: itemFile})
	}
	return out
}

// arguments are the fields of a call whose `with` the cursor is in.
func (s *server) arguments(c cursor, at spot) []completionItem {
	n := len(at.steps)
	if n < 2 || at.steps[n-1].Key != "with" {
		return nil
	}
	id := at.steps[n-2].Key
	var out []completionItem
	for _, r := range c.roots {
		if r.result == nil || r.result.Workflow == nil || len(out) > 0 {
			continue
		}
		in := index.InputOf(r.result.Workflow, id)
		if in == nil {
			continue
		}
		for _, item := range fieldsOf(in) {
			if item.Kind == itemField && !slices.Contains(at.beside, item.Label) {
				item.TextEdit = &textEdit{NewText: item.Label + ": "}
				out = append(out, item)
			}
		}
	}
	return out
}
