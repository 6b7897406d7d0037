package lsp

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/index"
	"github.com/flowgen-dev/flowgen/internal/files"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// symbolKinds are the kinds of the protocol.
var symbolKinds = map[index.Kind]int{
	index.Flow: 2, index.Node: 12, index.Tool: 12, index.Type: 23, index.Model: 19, index.Agent: 5, index.Server: 9, index.Secret: 20,
	index.Input: 8, index.State: 8, index.Output: 8, index.Field: 8, index.Variable: 13, index.Case: 24, index.File: 1, index.Function: 12,
}

// outlined are the kinds that stand in outlines; fields inside others are found by their names.
var outlined = []index.Kind{index.Node, index.Tool, index.Type, index.Model, index.Agent, index.Server, index.Secret, index.Input, index.State, index.Output, index.Case}

func (s *server) documentSymbols(params *json.RawMessage) (any, error) {
	c, _, err := s.at(params)
	out := []symbol{}
	if err != nil || c.doc == nil {
		return out, err
	}
	var flat []symbol
	for _, r := range c.roots {
		if r.index == nil || len(flat) > 0 {
			continue
		}
		for _, n := range r.index.Names {
			if n.At.File == nil || nameOfFile(n.At.File.Name) != c.name || n.Body.File == nil || !slices.Contains(outlined, n.Kind) || n.At.File.Text != c.doc.text.s {
				continue
			}
			sel := s.ws.span(n.At)
			whole := sel
			if n.Body.Lo <= n.At.Lo && n.At.Hi <= n.Body.Hi {
				whole = s.ws.span(n.Body)
			} else if n.At.Hi <= n.Body.Lo {
				whole = span{sel.Start, s.ws.span(n.Body).End}
			}
			detail := string(n.Kind)
			if n.Type != nil && n.Type.Kind != schema.Invalid {
				detail += " " + n.Type.String()
			}
			flat = append(flat, symbol{Name: n.Text, Detail: detail, Kind: symbolKinds[n.Kind], Range: whole, Selection: sel})
		}
	}
	return nest(flat), nil
}

// nest puts symbols into those around them.
func nest(flat []symbol) []symbol {
	slices.SortStableFunc(flat, func(a, b symbol) int {
		if c := compare(a.Range.Start, b.Range.Start); c != 0 {
			return c
		}
		return compare(b.Range.End, a.Range.End)
	})
	var build func(i int, end *position) ([]symbol, int)
	build = func(i int, end *position) ([]symbol, int) {
		out := []symbol{}
		for i < len(flat) && (end == nil || compare(flat[i].Range.End, *end) <= 0) {
			x := flat[i]
			x.Children, i = build(i+1, &flat[i].Range.End)
			out = append(out, x)
		}
		return out, i
	}
	out, _ := build(0, nil)
	return out
}

func compare(a, b position) int {
	if a.Line != b.Line {
		return a.Line - b.Line
	}
	return a.Character - b.Character
}

const maxSymbols = 1000

func (s *server) workspaceSymbols(params *json.RawMessage) (any, error) {
	p, err := decode[positionParams](params)
	out := []workspaceSymbol{}
	if err != nil {
		return out, err
	}
	s.ws.settle()
	seen := map[string]bool{}
	for _, r := range sortedRoots(s.ws.roots) {
		if r.index == nil {
			continue
		}
		for _, n := range r.index.Names {
			if n.At.File == nil || n.Body.File == nil || seen[n.Key()] || n.Kind == index.Field || n.Kind == index.Variable || !fuzzy(n.Text, p.Query) {
				continue
			}
			seen[n.Key()] = true
			out = append(out, workspaceSymbol{Name: n.Text, Kind: symbolKinds[n.Kind], Location: s.ws.location(n.At), Container: nameOfFile(n.At.File.Name)})
			if len(out) == maxSymbols {
				return out, nil
			}
		}
	}
	return out, nil
}

// fuzzy reports whether a name has the letters of a query in their order.
func fuzzy(name, query string) bool {
	name = strings.ToLower(name)
	for _, r := range strings.ToLower(query) {
		i := strings.IndexRune(name, r)
		if i < 0 {
			return false
		}
		name = name[i+len(string(r)):]
	}
	return true
}

func (s *server) folding(params *json.RawMessage) (any, error) {
	p, err := decode[positionParams](params)
	out := []foldingRange{}
	d := s.ws.docs[nameOf(p.TextDocument.URI)]
	if err != nil || d == nil || !isOurs(nameOf(p.TextDocument.URI)) {
		return out, err
	}
	return folds(d.text), nil
}

// folds are the lines that are indented deeper than the line before them.
func folds(t *text) []foldingRange {
	out := []foldingRange{}
	type open struct{ line, indent int }
	var stack []open
	last := 0
	shut := func(indent int) {
		for len(stack) > 0 && stack[len(stack)-1].indent >= indent {
			o := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if last > o.line {
				out = append(out, foldingRange{o.line, last})
			}
		}
	}
	for line := range t.lines {
		s := t.s[t.lines[line]:t.end(line)]
		if strings.TrimSpace(s) == "" {
			continue
		}
		indent := len(s) - len(strings.TrimLeft(s, " "))
		shut(indent)
		stack = append(stack, open{line, indent})
		last = line
	}
	shut(0)
	slices.SortFunc(out, func(a, b foldingRange) int { return a.StartLine - b.StartLine })
	return out
}

func (s *server) links(params *json.RawMessage) (any, error) {
	c, _, err := s.at(params)
	out := []documentLink{}
	if err != nil || c.doc == nil {
		return out, err
	}
	for _, r := range c.roots {
		if r.index == nil {
			continue
		}
		for _, l := range r.index.Links {
			file := nameOfFile(l.File)
			if nameOfFile(l.At.File.Name) != c.name || l.At.File.Text != c.doc.text.s || !s.isFile(c, file) {
				continue
			}
			link := documentLink{s.ws.span(l.At), s.ws.uri(file)}
			if !slices.Contains(out, link) {
				out = append(out, link)
			}
		}
	}
	return out, nil
}

// isFile reports whether a file of the project is there, on the disk or in a buffer.
func (s *server) isFile(c cursor, name string) bool {
	if s.ws.docs[name] != nil {
		return true
	}
	project := files.Project(filepath.FromSlash(c.name))
	info, err := project.Stat(filepath.FromSlash(name))
	return err == nil && info.Mode().IsRegular()
}
