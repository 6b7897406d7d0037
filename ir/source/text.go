package source

// A Text is a piece of text whose bytes came from a file, perhaps through escapes, folds and indentation: the decoded
// value of a YAML scalar, or a prompt file. Map is computed only when a diagnostic needs it.
type Text struct {
	Value string
	Span  Span // the entire scalar, quotes and block header included

	// Offsets gives, for each byte of Value and one past its end, the file offset it came from. Nil means that Value
	// stands verbatim at Span.Lo, or, when Opaque is set, that no byte-exact map exists.
	Offsets func() []int
	Opaque  bool

	Quote byte // what the scalar is quoted by, " or '; 0: nothing
}

// At maps the bytes [lo, hi) of the value to the file. Where no exact map exists it is the entire scalar.
func (t Text) At(lo, hi int) Span {
	if t.Opaque || t.Span.File == nil {
		return t.Span
	}
	lo, hi = max(0, min(lo, len(t.Value))), max(0, min(hi, len(t.Value)))
	if t.Offsets == nil {
		return Span{t.Span.File, t.Span.Lo + lo, t.Span.Lo + max(lo, hi)}
	}
	m := t.Offsets()
	if m == nil || len(m) != len(t.Value)+1 {
		return t.Span
	}
	if hi <= lo {
		return Span{t.Span.File, m[lo], m[lo]}
	}
	return Span{t.Span.File, m[lo], max(m[lo], min(t.end(m, hi), t.Span.Hi))}
}

// end is the file offset after the source of the byte before hi. It is not the source of the byte at hi: between the two
// may lie a fold, an indent or an escaped line break.
func (t Text) end(m []int, hi int) int {
	file, last, c := t.Span.File.Text, m[hi-1], t.Value[hi-1]
	switch {
	case last >= len(file):
		return last
	case file[last] == c && c != '\\' && c != '\'' && c != '\n':
		return last + 1 // the byte stands for itself; a doubled quote or backslash is two
	case m[hi] <= last: // in the middle of an escape that gives several bytes
		return last + 1
	}
	end := lineEnd(t.Span.File, last)
	if m[hi] <= end {
		return m[hi]
	}
	if end > last+1 && file[end-1] == '\\' {
		end-- // the backslash that escapes the line break
	}
	return end
}

// lineEnd is the offset of the end of the line that holds off, its break excluded (off itself if it is the break).
func lineEnd(f *File, off int) int {
	for off < len(f.Text) && f.Text[off] != '\n' && f.Text[off] != '\r' {
		off++
	}
	return off
}
