// Package diag is how the compiler speaks to people: diagnostics with exact spans, stable codes, help, related places
// and edits, collected in a Sink and rendered as text, JSON, commands for GitHub Actions, or SARIF.
package diag

import (
	"cmp"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir/source"
)

// Severity of a diagnostic. Warnings never change what is generated.
type Severity uint8

// Errors make a command fail; warnings do so only with --strict.
const (
	Error Severity = iota
	Warning
	Note
)

func (s Severity) String() string { return [...]string{"error", "warning", "note"}[s] }

// A Diagnostic says what is wrong at one place and what to do.
type Diagnostic struct {
	Severity Severity
	Code     Code
	Message  string      // lower case, no full stop: what is wrong here
	Span     source.Span // the smallest wrong text; zero when no file is to blame
	Related  []Related   // at most two: the other half of a conflict
	Help     string      // what to do, when one answer is right
	Fixes    []Fix       // edits that a tool can apply; the first is the best
}

// Related is another place that has to do with the mistake.
type Related struct {
	Span    source.Span
	Message string
}

// A Fix makes the mistake go away. Title is a verb phrase.
type Fix struct {
	Title string
	Edits []Edit
}

// An Edit replaces the text of a span.
type Edit struct {
	Span source.Span
	New  string
}

// Replace is the fix that puts text where span is. Where a quoted word stands, text is quoted in the same way: in JSON every
// word is.
func Replace(span source.Span, text string) Fix {
	return Fix{Title: "replace with `" + text + "`", Edits: []Edit{{span, asQuoted(span.Text(), text)}}}
}

// ReplaceIn is Replace for a part of a text of a file: what the quotes around the text need escaped is escaped.
func ReplaceIn(t source.Text, span source.Span, text string) Fix {
	fix := Replace(span, text)
	edit := &fix.Edits[0]
	switch whole := span.Text(); {
	case t.Quote == 0 || quotedBy(whole, t.Quote) && span.Lo <= t.Span.Lo && span.Hi >= t.Span.Hi: // with its quotes
	case t.Quote == '"':
		edit.New = strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text)
	default:
		edit.New = strings.ReplaceAll(text, "'", "''")
	}
	return fix
}

// asQuoted gives text the quotes that old has, unless it has some.
func asQuoted(old, text string) string {
	switch {
	case quotedBy(text, '"') || quotedBy(text, '\''):
	case quotedBy(old, '\''):
		return "'" + strings.ReplaceAll(text, "'", "''") + "'"
	case quotedBy(old, '"'):
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
	}
	return text
}

func quotedBy(s string, quote byte) bool {
	return len(s) > 1 && s[0] == quote && s[len(s)-1] == quote
}

// A Sink collects diagnostics. It is not safe for concurrent use; passes run one after the other.
type Sink struct {
	list   []Diagnostic
	seen   map[mistake]bool
	errors int
}

// maxNotes is how many warnings and notes of a workflow are kept: a file of many small mistakes would fill a terminal, and memory.
const maxNotes = 500

// mistake is what makes two diagnostics one.
type mistake struct {
	code    Code
	span    source.Span
	message string
}

// Report adds d. A second diagnostic of the same code at the same place is the same mistake and is dropped,
// as are warnings and notes after the first 500.
func (s *Sink) Report(d Diagnostic) {
	m := mistake{d.Code, d.Span, d.Message}
	if s.seen[m] || d.Severity != Error && len(s.list)-s.errors >= maxNotes {
		return
	}
	if s.seen == nil {
		s.seen = map[mistake]bool{}
	}
	s.seen[m] = true
	if d.Severity == Error {
		s.errors++
	}
	s.list = append(s.list, d)
}

// HasErrors reports whether any error, as opposed to warnings, was reported.
func (s *Sink) HasErrors() bool { return s.errors > 0 }

// Errors counts the errors.
func (s *Sink) Errors() int { return s.errors }

// List returns all diagnostics in file order: by file name, then by place, errors before warnings at the same place.
func (s *Sink) List() []Diagnostic {
	out := slices.Clone(s.list)
	name := func(d Diagnostic) string {
		if d.Span.File == nil {
			return ""
		}
		return d.Span.File.Name
	}
	slices.SortStableFunc(out, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(name(a), name(b)), cmp.Compare(a.Span.Lo, b.Span.Lo), cmp.Compare(a.Severity, b.Severity))
	})
	return out
}

// Last is the code of the diagnostic reported last, "" when there is none.
func (s *Sink) Last() Code {
	if len(s.list) == 0 {
		return ""
	}
	return s.list[len(s.list)-1].Code
}

// Relate adds places to the diagnostic reported last, up to the two that a diagnostic may have.
func (s *Sink) Relate(places []Related) {
	if len(s.list) == 0 {
		return
	}
	last := &s.list[len(s.list)-1]
	for _, p := range places {
		if len(last.Related) < 2 && !slices.Contains(last.Related, p) {
			last.Related = append(last.Related, p)
		}
	}
}
