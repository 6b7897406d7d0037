package diag

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/ir/source"
)

type jsonDiagnostic struct {
	Severity string        `json:"severity"`
	Code     Code          `json:"code"`
	Message  string        `json:"message"`
	File     string        `json:"file"`
	Range    *jsonRange    `json:"range"`
	Related  []jsonRelated `json:"related"`
	Help     string        `json:"help"`
	Fixes    []jsonFix     `json:"fixes"`
}

type jsonRange struct {
	Start jsonPos `json:"start"`
	End   jsonPos `json:"end"`
}

type jsonPos struct {
	Line   int `json:"line"`
	Column int `json:"column"`
	Offset int `json:"offset"`
}

type jsonRelated struct {
	File    string     `json:"file"`
	Range   *jsonRange `json:"range"`
	Message string     `json:"message"`
}

type jsonFix struct {
	Title string     `json:"title"`
	Edits []jsonEdit `json:"edits"`
}

type jsonEdit struct {
	File  string     `json:"file"`
	Range *jsonRange `json:"range"`
	New   string     `json:"new"`
}

// JSON writes the diagnostics for machines: one array with an object each. Lines and columns count from 1, columns in
// characters; offsets are bytes from 0; ends are exclusive. Every key is always present: range is null and file empty
// where there is no place, lists are empty rather than null.
func JSON(w io.Writer, list []Diagnostic) error {
	out := make([]jsonDiagnostic, len(list))
	for i := range list {
		d := &list[i]
		file, rng := jsonPlace(d.Span)
		j := jsonDiagnostic{
			Severity: d.Severity.String(), Code: d.Code, Message: d.Message, File: file, Range: rng, Help: d.Help,
			Related: make([]jsonRelated, len(d.Related)), Fixes: make([]jsonFix, len(d.Fixes)),
		}
		for k, r := range d.Related {
			file, rng := jsonPlace(r.Span)
			j.Related[k] = jsonRelated{file, rng, r.Message}
		}
		for k, f := range d.Fixes {
			j.Fixes[k] = jsonFix{f.Title, make([]jsonEdit, len(f.Edits))}
			for e, edit := range f.Edits {
				file, rng := jsonPlace(edit.Span)
				j.Fixes[k].Edits[e] = jsonEdit{file, rng, edit.New}
			}
		}
		out[i] = j
	}
	return writeJSON(w, out)
}

// writeJSON writes v for programs and terminals: characters that could move a cursor or hide text, which JSON allows as
// they are, are escaped. The value is the same.
func writeJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	var out []byte
	for _, r := range b.String() { // valid UTF-8, and its ASCII controls are escaped but for DEL
		if r < 0x7f || !hidden(r) {
			out = utf8.AppendRune(out, r)
			continue
		}
		for _, u := range utf16.AppendRune(nil, r) {
			out = fmt.Appendf(out, `\u%04x`, u)
		}
	}
	_, err := w.Write(out)
	return err
}

func jsonPlace(s source.Span) (file string, rng *jsonRange) {
	if s.File == nil {
		return "", nil
	}
	pos := func(off int) jsonPos {
		p := s.File.Pos(off)
		return jsonPos{p.Line, p.Col, off}
	}
	return s.File.Name, &jsonRange{pos(s.Lo), pos(s.Hi)}
}
