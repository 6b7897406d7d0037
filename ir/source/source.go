// Package source holds the text of workflow files and positions in it.
//
// Everything in the compiler speaks in byte offsets. Lines and columns are computed once, when a user or an
// editor has to be told.
package source

import (
	"path"
	"sort"
	"strings"
	"unicode/utf8"
)

// A File is one input file. It is immutable and safe for concurrent use.
type File struct {
	Name  string // as the user would type it, slash-separated; never absolute unless the user wrote it so
	Text  string
	lines []int // offset of the first byte of each line

	// Module is the Go module that the file was read from, path@version, which Name begins with; "" for files of the project.
	// Files of modules are never written.
	Module string
}

// NewFile indexes text. Lines end at LF, CR LF or a lone CR, as YAML has it.
func NewFile(name, text string) *File {
	f := &File{Name: name, Text: text, lines: []int{0}}
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\n':
			f.lines = append(f.lines, i+1)
		case '\r':
			if i+1 < len(text) && text[i+1] == '\n' {
				i++
			}
			f.lines = append(f.lines, i+1)
		}
	}
	return f
}

// Short is the name of the file in programs, which are the same on every machine: without the folders of the project, but with
// the module of a file from elsewhere.
func (f *File) Short() string {
	if f.Module != "" {
		return f.Name
	}
	return path.Base(f.Name)
}

// Pos is a place as people count it: both from 1, the column in characters (code points).
type Pos struct{ Line, Col int }

// Pos converts a byte offset; offsets outside the file are clamped to it.
func (f *File) Pos(off int) Pos {
	off = max(0, min(off, len(f.Text)))
	n := sort.Search(len(f.lines), func(i int) bool { return f.lines[i] > off }) - 1
	lead := f.Text[f.lines[n]:off]
	if n == 0 {
		lead = strings.TrimPrefix(lead, "\ufeff")
	}
	return Pos{Line: n + 1, Col: utf8.RuneCountInString(lead) + 1}
}

// Offset converts a line and a column in characters, both from 1, to a byte offset inside that line.
func (f *File) Offset(line, col int) int {
	if line < 1 {
		return 0
	}
	if line > len(f.lines) {
		return len(f.Text)
	}
	off := f.lines[line-1]
	if line == 1 && strings.HasPrefix(f.Text, "\ufeff") {
		off += len("\ufeff")
	}
	end := off + len(f.Line(line))
	if line == 1 && strings.HasPrefix(f.Text, "\ufeff") {
		end = len("\ufeff") + len(strings.TrimPrefix(f.Line(1), "\ufeff"))
	}
	for ; col > 1 && off < end; col-- {
		_, n := utf8.DecodeRuneInString(f.Text[off:])
		off += n
	}
	return off
}

// Line returns line n, counted from 1, without its end.
func (f *File) Line(n int) string {
	if n < 1 || n > len(f.lines) {
		return ""
	}
	end := len(f.Text)
	if n < len(f.lines) {
		end = f.lines[n]
	}
	return strings.TrimRight(f.Text[f.lines[n-1]:end], "\r\n")
}

// Lines is the number of lines; an empty file has one.
func (f *File) Lines() int { return len(f.lines) }

// A Span is the half-open byte range [Lo, Hi) of a file. The zero Span is "no place".
type Span struct {
	File   *File
	Lo, Hi int
}

// IsZero reports whether the span points nowhere.
func (s Span) IsZero() bool { return s.File == nil }

// Text returns the bytes the span covers.
func (s Span) Text() string {
	if s.File == nil {
		return ""
	}
	return s.File.Text[s.Lo:s.Hi]
}

// Start is the position of the first character.
func (s Span) Start() Pos {
	if s.File == nil {
		return Pos{}
	}
	return s.File.Pos(s.Lo)
}

// End is the position just after the last character.
func (s Span) End() Pos {
	if s.File == nil {
		return Pos{}
	}
	return s.File.Pos(s.Hi)
}

// Sub returns the part [lo, hi) of the span, relative to its start and clamped to it.
func (s Span) Sub(lo, hi int) Span {
	n := s.Hi - s.Lo
	lo, hi = max(0, min(lo, n)), max(0, min(hi, n))
	return Span{s.File, s.Lo + lo, s.Lo + max(lo, hi)}
}
