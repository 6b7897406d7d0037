package lsp

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/index"
	"github.com/flowgen-dev/flowgen/ir/bind/mcplock"
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
	if base := path.Base(c.name); base == mcplock.Name || base == parser.BindingsName { // of all workflows of a folder
		s.ws.settle()
	}
	if isOurs(c.name) {
		c.roots = s.ws.fresh(c.name)
	} else { // any workflow may call what stands there
		s.ws.settle()
		c.roots = sortedRoots(s.ws.roots)
	}
	return c, p, nil
}

// ref is what is at the cursor; nil when it is nothing that has a name, or its place is that of an earlier text.
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
	if all := c.locked(); len(all) > 0 {
		var out []location
		for _, l := range all {
			if at := s.ws.location(l.Name.At); !slices.Contains(out, at) {
				out = append(out, at)
			}
		}
		return out, nil
	}
	if err != nil || ref == nil || ref.Name.At.File == nil || !isOurs(c.name) {
		return nil, err
	}
	if uses := s.boundUses(c, ref); len(uses) > 0 {
		return uses, nil
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
	if err != nil || ref == nil || !isOurs(c.name) {
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
