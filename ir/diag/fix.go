package diag

import (
	"cmp"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir/source"
)

// A Fixed file is what a file becomes when fixes are applied.
type Fixed struct {
	File *source.File
	Text string
}

// ApplyFixes applies the first fix of each error and warning, in the order of the list, and returns the files that
// change, by name, and how many fixes went in. A fix that touches what an earlier one touched is left out as a whole:
// checking again offers it anew if it is still needed. Notes are never applied, and nothing to a file of a Go module.
func ApplyFixes(list []Diagnostic) (files []Fixed, applied int) {
	byFile := map[string]*edits{}
	for i := range list {
		d := &list[i]
		if d.Severity == Note || len(d.Fixes) == 0 {
			continue
		}
		if accept(byFile, d.Fixes[0].Edits) {
			applied++
		}
	}
	for _, e := range byFile {
		files = append(files, Fixed{e.file, e.apply()})
	}
	slices.SortFunc(files, func(a, b Fixed) int { return cmp.Compare(a.File.Name, b.File.Name) })
	return files, applied
}

// edits of one file, none overlapping another.
type edits struct {
	file *source.File
	list []Edit
}

// accept takes all edits of a fix or none.
func accept(byFile map[string]*edits, fix []Edit) bool {
	var fresh []Edit
	for _, e := range fix {
		s := e.Span
		if s.File == nil || s.File.Module != "" || s.Lo < 0 || s.Hi < s.Lo || s.Hi > len(s.File.Text) {
			return false
		}
		known := byFile[s.File.Name]
		if known == nil {
			known = &edits{file: s.File}
		}
		// A file that several workflows include is read several times; it is the same file while its text is.
		if known.file.Text != s.File.Text {
			return false
		}
		if slices.ContainsFunc(known.list, func(o Edit) bool { return sameEdit(o, e) }) {
			continue
		}
		if slices.ContainsFunc(known.list, func(o Edit) bool { return overlap(o.Span, s) }) ||
			slices.ContainsFunc(fresh, func(o Edit) bool { return o.Span.File.Name == s.File.Name && overlap(o.Span, s) }) {
			return false
		}
		fresh = append(fresh, e)
	}
	for _, e := range fresh {
		known := byFile[e.Span.File.Name]
		if known == nil {
			known = &edits{file: e.Span.File}
			byFile[e.Span.File.Name] = known
		}
		known.list = append(known.list, e)
	}
	return len(fresh) > 0
}

func sameEdit(a, b Edit) bool {
	return a.Span.Lo == b.Span.Lo && a.Span.Hi == b.Span.Hi && a.New == b.New
}

// overlap is also true for two spans with the same start: of two insertions at one place the order would be a guess.
func overlap(a, b source.Span) bool { return a.Lo == b.Lo || a.Lo < b.Hi && b.Lo < a.Hi }

func (e *edits) apply() string {
	slices.SortFunc(e.list, func(a, b Edit) int { return cmp.Compare(a.Span.Lo, b.Span.Lo) })
	var b strings.Builder
	at := 0
	for _, edit := range e.list {
		b.WriteString(e.file.Text[at:edit.Span.Lo])
		b.WriteString(edit.New)
		at = edit.Span.Hi
	}
	b.WriteString(e.file.Text[at:])
	return b.String()
}
