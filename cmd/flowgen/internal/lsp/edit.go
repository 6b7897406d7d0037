package lsp

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/parser"
	"github.com/flowgen-dev/flowgen/runtime/editdistance"
)

func (s *server) formatting(params *json.RawMessage) (any, error) {
	p, err := decode[positionParams](params)
	name := nameOf(p.TextDocument.URI)
	d := s.ws.docs[name]
	if err != nil || d == nil || !isYAML(name) {
		return []textEdit{}, err
	}
	out, err := s.opts.Format(name, d.text.s)
	if err != nil || out == "" || out == d.text.s {
		return []textEdit{}, nil // what is wrong with it is a diagnostic
	}
	return []textEdit{d.text.edit(out)}, nil
}

// rangeFormatting is what formatting changes of the lines of a range, or of several. A change that goes beyond them is left out.
func (s *server) rangeFormatting(params *json.RawMessage) (any, error) {
	p, err := decode[positionParams](params)
	name := nameOf(p.TextDocument.URI)
	d := s.ws.docs[name]
	if err != nil || d == nil || !isYAML(name) {
		return []textEdit{}, err
	}
	out, err := s.opts.Format(name, d.text.s)
	if err != nil || out == "" {
		return []textEdit{}, nil
	}
	if p.Ranges == nil {
		p.Ranges = []span{p.Range}
	}
	edits := []textEdit{}
	lines := strings.SplitAfter(d.text.s, "\n")
	starts := make([]int, len(lines)+1) // their offsets, and the end: the last line has no break behind it
	for i, line := range lines {
		starts[i+1] = starts[i] + len(line)
	}
	for _, h := range hunks(lines, strings.SplitAfter(out, "\n")) {
		at := d.text.span(starts[h.lo], starts[h.hi])
		if slices.ContainsFunc(p.Ranges, func(r span) bool { return at.linesOf(r) }) {
			edits = append(edits, textEdit{at, h.text})
		}
	}
	return edits, nil
}

// linesOf reports whether s is of the lines of r only.
func (s span) linesOf(r span) bool {
	end := r.End.Line
	if r.End.Character > 0 || end == r.Start.Line {
		end++
	}
	return s.Start.Line >= r.Start.Line && (s.End.Line < end || s.End.Line == end && s.End.Character == 0)
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
				if edit, ok := s.ws.fix(f.Edits); ok {
					out = append(out, codeAction{Title: f.Title, Kind: "quickfix", Diagnostics: []diagnostic{s.ws.diagnostic(x)}, Preferred: i == 0, Edit: edit})
				}
			}
		}
	}
	if wants("quickfix") {
		out = append(out, s.choices(name, d, lo, hi)...)
	}
	if s.resolves {
		out = append(out, s.offered(cursor{name: name, doc: d, off: lo, roots: s.ws.rootsOf(name)}, p, wants)...)
	}
	if wants("source.fixAll") && len(all) > 0 {
		files, n := parser.ApplyFixes(all)
		edits := map[string][]textEdit{}
		for _, f := range files {
			file := nameOfFile(f.File.Name)
			if o := s.ws.docs[file]; o != nil && o.text.s != f.File.Text {
				return out, nil
			}
			edits[file] = []textEdit{newText(f.File.Text, s.ws.utf8).edit(f.Text)}
		}
		if n > 0 {
			out = append(out, codeAction{Title: "apply all fixes of flowgen", Kind: "source.fixAll", Edit: s.ws.edits(edits)})
		}
	}
	return out, nil
}

// maxChoices is how many names are offered in the place of one that does not exist.
const maxChoices = 5

// choices are the names that could stand in the place of one that is wrong, where flowgen does not know which of them was meant.
func (s *server) choices(name string, d *document, lo, hi int) []codeAction {
	var out []codeAction
	for _, r := range s.ws.rootsOf(name) {
		for _, x := range r.list {
			at := x.Span
			if at.File == nil || len(x.Fixes) > 0 || x.Severity != diag.Error || fileOf(x, r.name) != name || at.File.Text != d.text.s || at.Hi < lo || hi < at.Lo {
				continue
			}
			if word(d.text.s[:at.Hi]) != at.Lo || at.Lo == at.Hi {
				continue // no name
			}
			c := cursor{name: name, doc: d, off: at.Hi, roots: s.ws.rootsOf(name)}
			items := s.expressions(c, at.Lo)
			likeness := func(label string) int { return editdistance.Of([]rune(label), []rune(at.Text()), 100) }
			items = slices.DeleteFunc(items, func(i completionItem) bool { return i.Label == at.Text() || i.Kind == itemMethod })
			slices.SortStableFunc(items, func(a, b completionItem) int { return likeness(a.Label) - likeness(b.Label) })
			for _, i := range items[:min(len(items), maxChoices)] {
				out = append(out, codeAction{Title: "change to " + i.Label, Kind: "quickfix", Diagnostics: []diagnostic{s.ws.diagnostic(x)},
					Edit: s.ws.edits(map[string][]textEdit{name: {{d.text.span(at.Lo, at.Hi), i.Label}}})})
			}
			if len(out) > 0 {
				return out
			}
		}
	}
	return out
}

// fix is the edits of a fix; it is not ok where the text of an open file is another one.
func (w *workspace) fix(list []diag.Edit) (*workspaceEdit, bool) {
	edits := map[string][]textEdit{}
	for _, e := range list {
		if e.Span.File == nil || e.Span.File.Module != "" {
			return nil, false
		}
		file := nameOfFile(e.Span.File.Name)
		if d := w.docs[file]; d != nil && d.text.s != e.Span.File.Text {
			return nil, false
		}
		edits[file] = append(edits[file], textEdit{w.span(e.Span), e.New})
	}
	return w.edits(edits), len(edits) > 0
}

// edits is what the client is sent of edits by the names of files. A client that takes versions makes them in the texts only that they
// were computed of.
func (w *workspace) edits(files map[string][]textEdit) *workspaceEdit {
	out := &workspaceEdit{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if w.versioned {
			out.Documents = append(out.Documents, documentEdit{w.identify(name), files[name]})
			continue
		}
		if out.Changes == nil {
			out.Changes = map[string][]textEdit{}
		}
		out.Changes[w.uri(name)] = files[name]
	}
	return out
}

// identify names a file and the version of the text that it has, if it is open.
func (w *workspace) identify(name string) versioned {
	out := versioned{URI: w.uri(name)}
	if d := w.docs[name]; d != nil {
		out.Version = &d.version
	}
	return out
}
