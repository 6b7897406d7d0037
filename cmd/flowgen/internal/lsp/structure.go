package lsp

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/index"
	"github.com/flowgen-dev/flowgen/internal/files"
	"github.com/flowgen-dev/flowgen/parser"
	"github.com/flowgen-dev/flowgen/parser/native"
)

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
			items = append(items, s.cases(c, at)...)
			items = append(items, bindable(c, at)...)
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
				item := completionItem{Label: n.Text, Kind: itemRef, Detail: strings.Join(append([]string{string(n.Kind)}, n.Notes...), "; "), SortText: "0" + n.Text}
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
	case native.FormGo:
		out = s.goFunctions(c, strings.Trim(at.word, "\"'"))
	case native.FormText:
		if at.key == "python" {
			out = s.pythonFunctions(c, strings.Trim(at.word, "\"'"))
		}
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
