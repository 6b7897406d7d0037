package source

import "testing"

func TestTextAt(t *testing.T) {
	// p: "aé\u00e9 \\b\
	//     c  '"
	f := NewFile("t.yaml", "p: \"aé\\u00e9 \\\\b\\\n    c  '\"")
	v := "aéé \\bc  '"
	m := []int{4, 5, 6, 7, 7, 13, 14, 16, 23, 24, 25, 26, 27}
	quoted := Text{Value: v, Span: Span{f, 3, 28}, Offsets: func() []int { return m }}
	block := NewFile("t.yaml", "|\n  ab\n\n  c\n")
	literal := Text{Value: "ab\n\nc\n", Span: Span{block, 0, 11}, Offsets: func() []int { return []int{4, 5, 6, 7, 10, 11, 11} }}
	for _, c := range []struct {
		name   string
		text   Text
		lo, hi int
		want   string
	}{
		{"one byte", quoted, 0, 1, "a"},
		{"two bytes", quoted, 1, 3, "é"},
		{"escape", quoted, 3, 5, `\u00e9`},
		{"mixed", quoted, 0, 5, `aé\u00e9`},
		{"escaped backslash", quoted, 6, 7, `\\`},
		{"before an escaped break", quoted, 7, 8, "b"},
		{"after it", quoted, 8, 9, "c"},
		{"across it", quoted, 7, 9, "b\\\n    c"},
		{"quote as text", quoted, 11, 12, "'"},
		{"empty", quoted, 8, 8, ""},
		{"end", quoted, 12, 12, ""},
		{"beyond", quoted, 11, 99, "'"},
		{"before", quoted, -3, 1, "a"},
		{"line of a block", literal, 0, 2, "ab"},
		{"break of a block", literal, 2, 3, ""},
		{"all of a block", literal, 0, 6, "ab\n\n  c"},
		{"verbatim", Text{Value: "c  ", Span: Span{f, 23, 26}}, 0, 2, "c "},
		{"opaque", Text{Value: "xyz", Span: Span{f, 3, 28}, Opaque: true}, 0, 1, f.Text[3:]},
		{"no map", Text{Value: "xyz", Span: Span{f, 3, 28}, Offsets: func() []int { return nil }}, 0, 1, f.Text[3:]},
	} {
		if got := c.text.At(c.lo, c.hi); got.Text() != c.want {
			t.Errorf("%s: %d..%d %q, want %q", c.name, got.Lo, got.Hi, got.Text(), c.want)
		}
	}
	if got := (Text{Value: "abc"}).At(0, 1); !got.IsZero() {
		t.Errorf("text from nowhere is at %+v", got)
	}
}

func TestPos(t *testing.T) {
	f := NewFile("t.yaml", "\ufeffaé\r\nb\r\rc\n日x")
	for _, c := range []struct {
		off       int
		line, col int
		text      string
	}{
		{3, 1, 1, "a"}, {4, 1, 2, "é"}, {6, 1, 3, "\r"}, {8, 2, 1, "b"}, {9, 2, 2, "\r"}, {10, 3, 1, "\r"}, {11, 4, 1, "c"},
		{13, 5, 1, "日"}, {16, 5, 2, "x"}, {17, 5, 3, ""},
	} {
		if got := f.Pos(c.off); got != (Pos{c.line, c.col}) {
			t.Errorf("offset %d is at %+v, want %d:%d", c.off, got, c.line, c.col)
		}
		if got := f.Offset(c.line, c.col); got != c.off {
			t.Errorf("%d:%d is offset %d, want %d", c.line, c.col, got, c.off)
		}
	}
	if f.Pos(0) != (Pos{1, 1}) || f.Pos(-1) != (Pos{1, 1}) || f.Pos(99) != (Pos{5, 3}) {
		t.Error("offsets outside the file are not clamped")
	}
	if f.Lines() != 5 || f.Line(1) != "\ufeffaé" || f.Line(3) != "" || f.Line(5) != "日x" || f.Line(6) != "" || f.Line(0) != "" {
		t.Errorf("lines %q", []string{f.Line(1), f.Line(2), f.Line(3), f.Line(4), f.Line(5)})
	}
	if f.Offset(0, 1) != 0 || f.Offset(9, 1) != 17 || f.Offset(2, 9) != 9 || f.Offset(1, 1) != 3 {
		t.Error("places outside the file are not clamped")
	}
	s := Span{f, 3, 9}
	if s.Sub(1, 99).Text() != "é\r\nb" || s.Sub(-1, 1).Text() != "a" || s.Sub(3, 2).Text() != "" {
		t.Errorf("sub %q", s.Sub(1, 99).Text())
	}
	if (Span{}).Text() != "" || !(Span{}).IsZero() || (Span{}).Start() != (Pos{}) || (Span{}).End() != (Pos{}) {
		t.Error("the zero span is somewhere")
	}
}
