package lsp

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/index"
	"github.com/flowgen-dev/flowgen/internal/files"
	"github.com/flowgen-dev/flowgen/ir/bind/mcplock"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/parser"
)

// siblings are the YAML files next to one: a file of bindings is read by workflows in other engines' languages, which have no ending of
// their own.
func siblings(name string) (out []string) {
	folder := path.Dir(name)
	entries, err := files.Project(filepath.FromSlash(name)).ReadDir(filepath.FromSlash(folder))
	if err != nil {
		return nil
	}
	for _, e := range entries {
		other := path.Join(folder, e.Name())
		if !e.IsDir() && isYAML(other) && other != path.Clean(name) && !strings.HasSuffix(other, parser.CasesSuffix) && len(out) < maxSources {
			out = append(out, other)
		}
	}
	return out
}

// bindable are the names of tools that workflows call, and that a file of bindings says nothing of yet: those that nobody knows first.
func bindable(c cursor, at spot) []completionItem {
	if path.Base(c.name) != parser.BindingsName || len(at.steps) != 1 || at.steps[0].Key != "tools" {
		return nil
	}
	var out []completionItem
	seen := map[string]bool{}
	add := func(name, rank, detail string) {
		if name == "" || seen[name] || slices.Contains(at.beside, name) || strings.ContainsAny(name, " \n\"'{}[]") {
			return
		}
		seen[name] = true
		key := name
		if strings.Contains(name, ":") {
			key = `"` + name + `"`
		}
		out = append(out, completionItem{Label: name, Kind: itemFunction, Detail: detail, SortText: rank + name, TextEdit: &textEdit{NewText: key + ": "}})
	}
	for _, r := range c.roots {
		if r.name == c.name {
			continue
		}
		for _, d := range r.list {
			if d.Code == diag.UnknownTool && d.Span.File != nil {
				add(strings.Trim(d.Span.Text(), `"'`), "0", "not bound: "+d.Message)
			}
		}
		if r.result == nil || r.result.Workflow == nil {
			continue
		}
		for _, t := range r.result.Workflow.Tools {
			if t.File == nil || nameOfFile(t.File.Name) != c.name {
				add(t.FullName(), "1", "in the place of what "+path.Base(r.name)+" calls")
			}
		}
	}
	return out
}

// boundUses are the places of workflows that call a tool of a file of bindings, where the cursor is on its name there.
func (s *server) boundUses(c cursor, ref *index.Ref) (out []location) {
	if path.Base(c.name) != parser.BindingsName || !ref.Declares || ref.Name.Kind != index.Tool {
		return nil
	}
	for _, r := range s.ws.everywhere(ref.Name.Key()) {
		if !r.Declares && nameOfFile(r.At.File.Name) != c.name {
			out = append(out, s.ws.location(r.At))
		}
	}
	return out
}

// locked are the tools and servers of the entry of a lock file that the cursor is at, as uses of them.
func (c cursor) locked() (out []*index.Ref) {
	if path.Base(c.name) != mcplock.Name {
		return nil
	}
	for _, r := range c.roots {
		if r.index == nil {
			continue
		}
		for i, l := range r.index.Locked {
			if nameOfFile(l.At.File.Name) == c.name && l.At.Lo <= c.off && c.off <= l.At.Hi && c.current(l.At) {
				out = append(out, &r.index.Locked[i])
			}
		}
	}
	return out
}
