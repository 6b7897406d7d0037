package jinja

import (
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// TestLayout: filters that divide lists and lay text out give what those of Jinja2 give.
func TestLayout(t *testing.T) {
	parse := func(text string) dynamic.Field {
		v, err := value.Parse([]byte(text))
		if err != nil {
			t.Fatal(text, err)
		}
		return dynamic.Of(v)
	}
	for _, tt := range []struct{ filter, value, args, want string }{
		{"groupby", `[{"k": "b", "n": 1}, {"k": "a", "n": 2}, {"k": "B", "n": 3}]`, `["k"]`, `[["a", [{"k": "a", "n": 2}]], ["b", [{"k": "b", "n": 1}, {"k": "B", "n": 3}]]]`},
		{"groupby", `[{"k": 2}, {"n": 2}, {"k": 1}]`, `["k", 0]`, `[[0, [{"n": 2}]], [1, [{"k": 1}]], [2, [{"k": 2}]]]`},
		{"batch", `[1, 2, 3, 4, 5]`, `[2]`, `[[1, 2], [3, 4], [5]]`},
		{"batch", `[1, 2, 3]`, `[2, "-"]`, `[[1, 2], [3, "-"]]`},
		{"slice", `[1, 2, 3, 4, 5]`, `[3]`, `[[1, 2], [3, 4], [5]]`},
		{"slice", `[1, 2, 3, 4, 5]`, `[3, 0]`, `[[1, 2], [3, 4], [5, 0]]`},
		{"slice", `[1]`, `[2]`, `[[1], []]`},
		{"center", `"ab"`, `[7]`, `"   ab  "`},
		{"center", `"abc"`, `[6]`, `" abc  "`},
		{"center", `"abcdef"`, `[3]`, `"abcdef"`},
		{"center", `"é"`, `[4]`, `" é  "`},
		{"wordwrap", `"The quick brown fox jumps over the lazy dog"`, `[10]`, `"The quick\nbrown fox\njumps over\nthe lazy\ndog"`},
		{"wordwrap", `"a verylongwordindeed b"`, `[6]`, `"a very\nlongwo\nrdinde\ned b"`},
		{"wordwrap", `"a verylongwordindeed b"`, `[6, false]`, `"a\nverylongwordindeed\nb"`},
		{"wordwrap", `"one two\n\nthree four five"`, `[8]`, `"one two\n\nthree\nfour\nfive"`},
		{"wordwrap", `"well-known facts"`, `[6]`, `"well-\nknown\nfacts"`},
		{"wordwrap", `"  lead and trail  "`, `[7]`, `"  lead\nand\ntrail"`},
		{"wordwrap", `"x y"`, `[1]`, `"x\ny"`},
		{"wordwrap", `"aa bb"`, `[3, true, "|"]`, `"aa|bb"`},
		{"striptags", `"<p>a <b>b</b></p>\n <!-- c --> &amp; d"`, `[]`, `"a b & d"`},
		{"striptags", `"plain"`, `[]`, `"plain"`},
		{"urlencode", `"a b/c?d=é&e~f"`, `[]`, `"a%20b/c%3Fd%3D%C3%A9%26e~f"`},
		{"urlencode", `{"a": "x y", "b": 1}`, `[]`, `"a=x+y&b=1"`},
	} {
		args, _ := parse(tt.args).Items()
		var fields []dynamic.Field
		for _, a := range args {
			fields = append(fields, dynamic.Of(a))
		}
		var text Text
		got := text.Filter(tt.filter, parse(tt.value), fields...)
		if err := text.Err(); err != nil {
			t.Errorf("%s %s: %v", tt.filter, tt.value, err)
		} else if !Equal(got, parse(tt.want)) {
			b, _ := got.Value().MarshalJSON()
			t.Errorf("%s %s %s: %s, not %s", tt.filter, tt.value, tt.args, b, tt.want)
		}
	}
	for _, name := range []string{"batch", "slice", "wordwrap"} {
		var text Text
		if text.Filter(name, dynamic.Text("abc"), dynamic.Whole(0)); text.Err() == nil {
			t.Errorf("%s takes 0", name)
		}
	}
}
