package lsp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/index"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser"
)

// A cursor is a place in an open file and what is known there.
type cursor struct {
	name  string
	doc   *document
	off   int
	roots []*root
}

// at reads the place that a request is about. doc is nil when the file is not open.
func (s *server) at(params *json.RawMessage) (c cursor, p positionParams, err error) {
	if p, err = decode[positionParams](params); err != nil {
		return c, p, err
	}
	c.name = nameOf(p.TextDocument.URI)
	if c.doc = s.ws.docs[c.name]; c.doc == nil {
		return c, p, nil
	}
	c.off = c.doc.text.offset(p.Position)
	c.roots = s.ws.fresh(c.name)
	return c, p, nil
}

// ref is what stands at the cursor; nil when it is nothing that has a name, or its place is that of an earlier text.
func (c cursor) ref() *index.Ref {
	for _, r := range c.roots {
		if r.index == nil {
			continue
		}
		if ref := r.index.At(c.name, c.off); ref != nil && c.current(ref.At) {
			return ref
		}
	}
	return nil
}

// current reports whether a place has the same text in the buffer as when it was found.
func (c cursor) current(at source.Span) bool {
	s := c.doc.text.s
	return at.Hi <= len(s) && s[at.Lo:at.Hi] == at.Text() && (s == at.File.Text || s[:at.Hi] == at.File.Text[:at.Hi])
}

func (s *server) definition(params *json.RawMessage) (any, error) {
	c, _, err := s.at(params)
	ref := c.ref()
	if err != nil || ref == nil || ref.Name.At.File == nil {
		return nil, err
	}
	return []location{s.ws.location(ref.Name.At)}, nil
}

func (s *server) typeDefinition(params *json.RawMessage) (any, error) {
	c, _, err := s.at(params)
	ref := c.ref()
	if err != nil || ref == nil {
		return nil, err
	}
	t := ref.Type
	if t == nil {
		t = ref.Name.Type
	}
	if t == nil {
		return nil, nil
	}
	if t = t.Leaf(); t.Decl == nil || t.Decl.Span.File == nil {
		return nil, nil
	}
	return []location{s.ws.location(t.Decl.Span)}, nil
}

// everywhere lists the references to a name in all workflows, each place once.
func (w *workspace) everywhere(key string) []index.Ref {
	w.settle()
	var out []index.Ref
	seen := map[string]bool{}
	for _, r := range sortedRoots(w.roots) {
		if r.index == nil {
			continue
		}
		for _, ref := range r.index.To(key) {
			at := fmt.Sprint(nameOfFile(ref.At.File.Name), ref.At.Lo, ref.At.Hi)
			if !seen[at] {
				seen[at] = true
				out = append(out, ref)
			}
		}
	}
	return out
}

func (s *server) references(params *json.RawMessage) (any, error) {
	c, p, err := s.at(params)
	ref := c.ref()
	if err != nil || ref == nil {
		return []location{}, err
	}
	out := []location{}
	for _, r := range s.ws.everywhere(ref.Name.Key()) {
		if !r.Declares || p.Context.IncludeDeclaration {
			out = append(out, s.ws.location(r.At))
		}
	}
	return out, nil
}

func (s *server) highlights(params *json.RawMessage) (any, error) {
	c, _, err := s.at(params)
	ref := c.ref()
	out := []highlight{}
	if err != nil || ref == nil {
		return out, err
	}
	for _, root := range c.roots {
		if root.index == nil {
			continue
		}
		for _, r := range root.index.To(ref.Name.Key()) {
			if nameOfFile(r.At.File.Name) != c.name {
				continue
			}
			h := highlight{Range: s.ws.span(r.At), Kind: 2}
			if r.Declares || r.Writes {
				h.Kind = 3
			}
			if !slices.Contains(out, h) {
				out = append(out, h)
			}
		}
	}
	return out, nil
}

func (s *server) hover(params *json.RawMessage) (any, error) {
	c, _, err := s.at(params)
	if err != nil || c.doc == nil {
		return nil, err
	}
	ref := c.ref()
	if ref == nil {
		return s.hoverKey(c)
	}
	return hover{Contents: markup{"markdown", describe(ref)}, Range: s.ws.span(ref.At)}, nil
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
	if err != nil || d == nil {
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
		for _, ref := range r.index.Refs {
			if ref.Name.Kind != index.File || nameOfFile(ref.At.File.Name) != c.name || ref.At.File.Text != c.doc.text.s {
				continue
			}
			link := documentLink{s.ws.span(ref.At), s.ws.uri(nameOfFile(ref.Name.Text))}
			if !slices.Contains(out, link) {
				out = append(out, link)
			}
		}
	}
	return out, nil
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
