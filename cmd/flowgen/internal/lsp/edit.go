package lsp

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/parser"
)

func (s *server) formatting(params *json.RawMessage) (any, error) {
	p, err := decode[positionParams](params)
	name := nameOf(p.TextDocument.URI)
	d := s.ws.docs[name]
	if err != nil || d == nil {
		return []textEdit{}, err
	}
	out, err := s.opts.Format(name, d.text.s)
	if err != nil || out == "" || out == d.text.s {
		return []textEdit{}, nil // what is wrong with it is a diagnostic
	}
	return []textEdit{d.text.edit(out)}, nil
}

// edit is the smallest edit of whole lines that makes another text of t.
func (t *text) edit(out string) textEdit {
	lo := 0
	for i := 0; i < len(t.s) && i < len(out) && t.s[i] == out[i]; i++ {
		if t.s[i] == '\n' {
			lo = i + 1
		}
	}
	end := 0 // equal bytes at the end, of whole lines
	for i := 1; i <= len(t.s)-lo && i <= len(out)-lo && t.s[len(t.s)-i] == out[len(out)-i]; i++ {
		if i == len(t.s)-lo || t.s[len(t.s)-i-1] == '\n' {
			if i == len(out)-lo || out[len(out)-i-1] == '\n' {
				end = i
			}
		}
	}
	return textEdit{t.span(lo, len(t.s)-end), out[lo : len(out)-end]}
}

func (s *server) codeActions(params *json.RawMessage) (any, error) {
	p, err := decode[codeActionParams](params)
	out := []codeAction{}
	name := nameOf(p.TextDocument.URI)
	d := s.ws.docs[name]
	if err != nil || d == nil {
		return out, err
	}
	wants := func(kind string) bool {
		return len(p.Context.Only) == 0 || slices.ContainsFunc(p.Context.Only, func(o string) bool { return kind == o || strings.HasPrefix(kind, o+".") })
	}
	lo, hi := d.text.offset(p.Range.Start), d.text.offset(p.Range.End)
	var all []diag.Diagnostic
	for _, r := range s.ws.fresh(name) {
		for _, x := range r.list {
			if len(x.Fixes) == 0 || fileOf(x, r.name) != name || slices.ContainsFunc(all, func(o diag.Diagnostic) bool { return sameMistake(o, x) }) {
				continue
			}
			all = append(all, x)
		}
	}
	if wants("quickfix") {
		for _, x := range all {
			if x.Span.Hi < lo || hi < x.Span.Lo {
				continue
			}
			for i, f := range x.Fixes {
				if edit, ok := s.ws.workspaceEdit(f.Edits); ok {
					out = append(out, codeAction{Title: f.Title, Kind: "quickfix", Diagnostics: []diagnostic{s.ws.diagnostic(x)}, Preferred: i == 0, Edit: edit})
				}
			}
		}
	}
	if wants("source.fixAll") && len(all) > 0 {
		files, n := parser.ApplyFixes(all)
		edit := workspaceEdit{map[string][]textEdit{}}
		for _, f := range files {
			file := nameOfFile(f.File.Name)
			if o := s.ws.docs[file]; o != nil && o.text.s != f.File.Text {
				return out, nil
			}
			edit.Changes[s.ws.uri(file)] = []textEdit{newText(f.File.Text, s.ws.utf8).edit(f.Text)}
		}
		if n > 0 {
			out = append(out, codeAction{Title: "apply all fixes of flowgen", Kind: "source.fixAll", Edit: edit})
		}
	}
	return out, nil
}

// workspaceEdit is the edits of a fix; it is not ok where the text of an open file is another one.
func (w *workspace) workspaceEdit(edits []diag.Edit) (out workspaceEdit, ok bool) {
	out.Changes = map[string][]textEdit{}
	for _, e := range edits {
		if e.Span.File == nil || e.Span.File.Module != "" {
			return out, false
		}
		file := nameOfFile(e.Span.File.Name)
		if d := w.docs[file]; d != nil && d.text.s != e.Span.File.Text {
			return out, false
		}
		uri := w.uri(file)
		out.Changes[uri] = append(out.Changes[uri], textEdit{w.span(e.Span), e.New})
	}
	return out, len(edits) > 0
}
