package diag

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/ir/source"
)

// TextOptions says for whom Text writes.
type TextOptions struct {
	Color bool // ANSI colours
	Width int  // columns of the terminal; longer source lines are cut around the span. 0 means 120, less than 40 means 40
}

// Text writes the diagnostics for people, each with the line it is about and a mark under the very characters, and
// ends with Summary. An empty list writes nothing. Nothing from a file or a message reaches the terminal raw: control
// characters and those that change the direction of text are shown as escapes.
func Text(w io.Writer, list []Diagnostic, opts TextOptions) error {
	if len(list) == 0 {
		return nil
	}
	r := renderer{width: opts.Width, color: opts.Color}
	if r.width <= 0 {
		r.width = 120
	}
	r.width = max(r.width, 40)
	for i := range list {
		r.diagnostic(&list[i])
		r.buf.WriteByte('\n')
	}
	r.buf.WriteString(Summary(list))
	r.buf.WriteByte('\n')
	_, err := io.WriteString(w, r.buf.String())
	return err
}

// Summary counts: "2 errors, 1 warning". It is empty for an empty list.
func Summary(list []Diagnostic) string {
	var n [Note + 1]int
	fixable := 0
	for i := range list {
		n[list[i].Severity]++
		if len(list[i].Fixes) > 0 && list[i].Severity != Note {
			fixable++
		}
	}
	var parts []string
	for s, count := range n {
		if count == 0 {
			continue
		}
		plural := "s"
		if count == 1 {
			plural = ""
		}
		parts = append(parts, fmt.Sprintf("%d %s%s", count, Severity(s), plural))
	}
	if fixable > 0 {
		parts = append(parts, fmt.Sprintf("%d can be fixed by `flowgen check --fix`", fixable))
	}
	return strings.Join(parts, ", ")
}

// ANSI styles.
const (
	bold   = "\x1b[1m"
	red    = "\x1b[1;31m"
	yellow = "\x1b[1;33m"
	blue   = "\x1b[1;34m"
	cyan   = "\x1b[1;36m"
	reset  = "\x1b[0m"
)

func (s Severity) style() string { return [...]string{red, yellow, cyan}[s] }

// A renderer writes into a buffer; it is used for one list.
type renderer struct {
	buf   strings.Builder
	width int
	color bool
}

func (r *renderer) styled(style, text string) string {
	if !r.color || text == "" {
		return text
	}
	return style + text + reset
}

// line writes one line of output without trailing blanks.
func (r *renderer) line(text string) {
	r.buf.WriteString(strings.TrimRight(text, " "))
	r.buf.WriteByte('\n')
}

func (r *renderer) diagnostic(d *Diagnostic) {
	head := d.Severity.String()
	if d.Code != "" {
		head += "[" + string(d.Code) + "]"
	}
	r.line(r.styled(d.Severity.style(), head) + r.styled(bold, ": "+printable(d.Message)))

	gutter := 0
	for _, s := range append([]source.Span{d.Span}, relatedSpans(d.Related)...) {
		if hasSnippet(s) {
			gutter = max(gutter, len(strconv.Itoa(s.Start().Line)))
		}
	}
	pad := strings.Repeat(" ", gutter)
	bar := r.styled(blue, pad+" |")
	note := r.styled(blue, pad+" =") + " "

	if !d.Span.IsZero() {
		r.line(pad + r.styled(blue, "-->") + " " + place(d.Span))
		if hasSnippet(d.Span) {
			r.line(bar)
			r.snippet(gutter, d.Span, "^", d.Severity.style(), "")
		}
	}
	for _, rel := range d.Related {
		label := printable(rel.Message)
		switch {
		case rel.Span.IsZero():
			r.line(note + "note: " + label)
			continue
		case !hasSnippet(rel.Span):
			r.line(note + "note: " + label + ": " + place(rel.Span))
			continue
		case rel.Span.File.Name != fileName(d.Span):
			r.line(pad + r.styled(blue, ":::") + " " + place(rel.Span))
		}
		r.line(bar)
		r.snippet(gutter, rel.Span, "-", blue, label)
	}
	for i, text := range helpLines(d) {
		if i == 0 {
			r.line(note + "help: " + printable(text))
			continue
		}
		r.line(pad + "         " + printable(text))
	}
}

// snippet writes the first line of a span and marks under it.
func (r *renderer) snippet(gutter int, s source.Span, mark, style, label string) {
	start := s.Start()
	lineLo := s.File.Offset(start.Line, 1)
	text := strings.TrimPrefix(s.File.Line(start.Line), "\ufeff")
	lo := min(max(s.Lo-lineLo, 0), len(text))
	hi := min(max(s.Hi-lineLo, lo), len(text))
	shown, col, width := window(text, lo, hi, r.width-gutter-3)

	number := r.styled(blue, fmt.Sprintf("%*d |", gutter, start.Line))
	blank := r.styled(blue, strings.Repeat(" ", gutter)+" |")
	r.line(number + " " + shown)
	marks := strings.Repeat(mark, max(width, 1))
	if label != "" {
		marks += " " + label
	}
	r.line(blank + " " + strings.Repeat(" ", col) + r.styled(style, marks))
	if lineHi := lineLo + len(text); s.Hi > lineHi && strings.TrimSpace(s.File.Text[lineHi:s.Hi]) != "" {
		r.line(r.styled(blue, "..."))
	}
}

// hasSnippet is false for spans of files that have no text: they could not be read.
func hasSnippet(s source.Span) bool { return s.File != nil && s.File.Text != "" }

func fileName(s source.Span) string {
	if s.File == nil {
		return ""
	}
	return s.File.Name
}

func place(s source.Span) string {
	if !hasSnippet(s) {
		return printable(s.File.Name)
	}
	p := s.Start()
	return fmt.Sprintf("%s:%d:%d", printable(s.File.Name), p.Line, p.Col)
}

func relatedSpans(list []Related) []source.Span {
	out := make([]source.Span, len(list))
	for i := range list {
		out[i] = list[i].Span
	}
	return out
}

// longLine is how many bytes on either side of a span are looked at; the rest of a longer line cannot be seen anyway.
const longLine = 4096

// window fits a line into width columns and returns what to show, and the column and width of the marks for the bytes
// [lo, hi) in it. What is cut is shown as "...".
func window(line string, lo, hi, width int) (shown string, col, marks int) {
	const dots = "..."
	cutLeft, cutRight := false, false
	if hi-lo > longLine {
		hi = lo + longLine
	}
	if from := runeStart(line, lo-longLine); from > 0 {
		line, lo, hi, cutLeft = line[from:], lo-from, hi-from, true
	}
	if to := runeStart(line, hi+longLine); to < len(line) {
		line, cutRight = line[:to], true
	}

	cells := expand(line)
	total, spanCol, spanEnd := measure(cells, lo, hi)

	// [left, right) are the columns to show. The span stays in view, with a third of the room before it.
	left, right := 0, total
	if total > width {
		room := width - 2*len(dots)
		left = max(0, min(spanCol-room/3, total-room))
		if spanCol < room && spanEnd <= room {
			left = 0
		}
		right = min(total, left+room)
	}
	shown, col, marks = cut(cells, left, right), spanCol-left, min(spanEnd, right)-spanCol
	if cutLeft || left > 0 {
		shown, col = dots+shown, col+len(dots)
	}
	if cutRight || right < total {
		shown += dots
	}
	return shown, col, marks
}

// measure is the width of a line, and the columns at which the bytes [lo, hi) begin and end.
func measure(cells []cell, lo, hi int) (total, from, to int) {
	for _, c := range cells {
		if c.off < lo {
			from = total + c.width
		}
		if c.off < hi {
			to = total + c.width
		}
		total += c.width
	}
	return total, from, max(from, to)
}

// cut is what is seen of a line between two columns.
func cut(cells []cell, left, right int) string {
	var b strings.Builder
	at := 0
	for _, c := range cells {
		switch {
		case at >= left && at+c.width <= right:
			b.WriteString(c.text)
		case at < right && at+c.width > left: // a wide character over the edge
			b.WriteString(strings.Repeat(" ", min(at+c.width, right)-max(at, left)))
		}
		at += c.width
	}
	return b.String()
}

// runeStart clamps off to the line and moves it back to the start of a character.
func runeStart(line string, off int) int {
	if off <= 0 {
		return 0
	}
	if off >= len(line) {
		return len(line)
	}
	for i := 0; i < utf8.UTFMax-1 && off > 0 && !utf8.RuneStart(line[off]); i++ {
		off--
	}
	return off
}
