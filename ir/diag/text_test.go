package diag_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// mark makes a file from text in which « and » stand around the span.
func mark(name, text string) source.Span {
	lo := strings.Index(text, "«")
	text = strings.Replace(text, "«", "", 1)
	hi := strings.Index(text, "»")
	text = strings.Replace(text, "»", "", 1)
	return source.Span{File: source.NewFile(name, text), Lo: lo, Hi: hi}
}

func in(s source.Span, part string) source.Span {
	lo := strings.Index(s.File.Text, part)
	return source.Span{File: s.File, Lo: lo, Hi: lo + len(part)}
}

func render(t *testing.T, opts diag.TextOptions, list ...diag.Diagnostic) string {
	t.Helper()
	var b strings.Builder
	if err := diag.Text(&b, list, opts); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestText(t *testing.T) {
	triage := mark("triage.flowgen.yaml", strings.Repeat("#\n", 6)+"  first_draft:\n"+strings.Repeat("#\n", 5)+"      {{ «first_drat» }}\n")
	long := mark("long.yaml", "prompt: "+strings.Repeat("a very long line ", 20)+"«mistake»"+strings.Repeat(" and more of it", 20)+"\n")
	tests := []struct {
		name string
		opts diag.TextOptions
		list []diag.Diagnostic
		want string
	}{
		{name: "nothing"},
		{
			name: "the sample of the language document",
			list: []diag.Diagnostic{{
				Code: "FG0301", Message: `node "first_drat" is not defined`, Span: triage, Fixes: []diag.Fix{diag.Replace(triage, "first_draft")},
			}},
			want: `
error[FG0301]: node "first_drat" is not defined
  --> triage.flowgen.yaml:13:10
   |
13 |       {{ first_drat }}
   |          ^^^^^^^^^^
   = help: replace with ${first_draft}$

1 error, 1 can be fixed by $flowgen check --fix$
`,
		},
		{
			name: "related place in the same file",
			list: []diag.Diagnostic{{
				Code: "FG0301", Message: `node "first_drat" is not defined`, Span: triage, Help: "replace it",
				Related: []diag.Related{{Span: in(triage, "first_draft"), Message: "a node with a similar name is defined here"}},
			}},
			want: `
error[FG0301]: node "first_drat" is not defined
  --> triage.flowgen.yaml:13:10
   |
13 |       {{ first_drat }}
   |          ^^^^^^^^^^
   |
 7 |   first_draft:
   |   ----------- a node with a similar name is defined here
   = help: replace it

1 error
`,
		},
		{
			name: "related places elsewhere, without text, nowhere",
			list: []diag.Diagnostic{{
				Severity: diag.Warning, Code: "FG0601", Message: "clash", Span: mark("a.yaml", "«x»: 1"),
				Related: []diag.Related{
					{Span: mark("b.go", strings.Repeat("\n", 99)+"func «F»()"), Message: "declared here"},
					{Span: source.Span{File: source.NewFile("gone.go", "")}, Message: "and here"},
					{Message: "somewhere"},
				},
				Help: "first line\nsecond line",
			}},
			want: `
warning[FG0601]: clash
   --> a.yaml:1:1
    |
  1 | x: 1
    | ^
   ::: b.go:100:6
    |
100 | func F()
    |      - declared here
    = note: and here: gone.go
    = note: somewhere
    = help: first line
            second line

1 warning
`,
		},
		{
			name: "no place, and a file that cannot be read",
			list: []diag.Diagnostic{
				{Message: "nothing to check", Help: "name a file"},
				{Message: "no such file", Span: source.Span{File: source.NewFile("x.yaml", "")}},
			},
			want: `
error: nothing to check
 = help: name a file

error: no such file
--> x.yaml

2 errors
`,
		},
		{
			name: "tabs, wide and combining characters",
			list: []diag.Diagnostic{
				{Message: "tab", Span: mark("t", "a\tb: «\tc»")},
				{Message: "wide", Span: mark("w", "日本: «語»é e\u0301 👍")},
				{Message: "after wide", Span: mark("w", "日本語e\u0301👍🏽 «x»")},
			},
			want: `
error: tab
 --> t:1:6
  |
1 | a   b:  c
  |        ^^

error: wide
 --> w:1:5
  |
1 | 日本: 語é é 👍
  |       ^^

error: after wide
 --> w:1:9
  |
1 | 日本語é👍🏽 x
  |             ^

3 errors
`,
		},
		{
			name: "hostile characters",
			list: []diag.Diagnostic{
				{Message: "esc \x1b[2J\nand \u202e", Span: mark("a\x07b", "x: \x1b[31m«\u202eevil\x00»\xff y"), Help: "\u2066"},
			},
			want: `
error: esc \x1b[2J\nand \u202e
 --> a\x07b:1:9
  |
1 | x: \x1b[31m\u202eevil\x00\xff y
  |            ^^^^^^^^^^^^^^
  = help: \u2066

1 error
`,
		},
		{
			name: "several lines, CRLF, byte order mark",
			list: []diag.Diagnostic{
				{Message: "list", Span: mark("a", "\ufeffx: «[1,\r\n  2]»\r\n")},
				{Message: "only the break", Span: mark("a", "x: «|\r\n»\r\ny: 1")},
				{Severity: diag.Note, Message: "at the end of a line", Span: mark("a", "x: 1«»\r\n")},
				{Severity: diag.Warning, Message: "at the end of the file", Span: mark("a", "x: 1\n«»")},
			},
			want: `
error: list
 --> a:1:4
  |
1 | x: [1,
  |    ^^^
...

error: only the break
 --> a:1:4
  |
1 | x: |
  |    ^

note: at the end of a line
 --> a:1:5
  |
1 | x: 1
  |     ^

warning: at the end of the file
 --> a:2:1
  |
2 |
  | ^

2 errors, 1 warning, 1 note
`,
		},
		{
			name: "long lines are cut around the span",
			opts: diag.TextOptions{Width: 60},
			list: []diag.Diagnostic{
				{Message: "middle", Span: long},
				{Message: "start", Span: in(long, "prompt")},
				{Message: "all of it", Span: source.Span{File: long.File, Lo: 0, Hi: len(long.File.Text) - 1}},
			},
			want: `
error: middle
 --> long.yaml:1:349
  |
1 | ... very long line mistake and more of it and more of...
  |                    ^^^^^^^

error: start
 --> long.yaml:1:1
  |
1 | prompt: a very long line a very long line a very l...
  | ^^^^^^

error: all of it
 --> long.yaml:1:1
  |
1 | prompt: a very long line a very long line a very l...
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

3 errors
`,
		},
		{
			name: "colour",
			opts: diag.TextOptions{Color: true},
			list: []diag.Diagnostic{{Code: "FG0001", Message: "bad", Span: mark("a", "«x»")}},
			want: "\n\x1b[1;31merror[FG0001]\x1b[0m\x1b[1m: bad\x1b[0m\n \x1b[1;34m-->\x1b[0m a:1:1\n\x1b[1;34m  |\x1b[0m\n" +
				"\x1b[1;34m1 |\x1b[0m x\n\x1b[1;34m  |\x1b[0m \x1b[1;31m^\x1b[0m\n\n1 error\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := strings.TrimPrefix(strings.NewReplacer("${", "`", "}$", "`", "$", "`").Replace(tt.want), "\n")
			if diff := cmp.Diff(want, render(t, tt.opts, tt.list...)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// Whatever a file holds, the marks stay inside the width and nothing but printable text is written.
func TestTextHostile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.SampledFrom([]rune("a\t日\u0301\x1b\r\n\u202e👍 ")), 0, 300, -1),
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "text")
		f := source.NewFile("f", text)
		lo := rapid.IntRange(0, len(text)).Draw(t, "lo")
		hi := rapid.IntRange(lo, len(text)).Draw(t, "hi")
		span := source.Span{File: f, Lo: lo, Hi: hi}
		var b strings.Builder
		err := diag.Text(&b, []diag.Diagnostic{{Message: text, Span: span, Help: text, Related: []diag.Related{{Span: span, Message: "m"}}}}, diag.TextOptions{Width: 40})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range b.String() {
			if r != '\n' && (r < ' ' || r == 0x7f || r == '\u202e') {
				t.Fatalf("%q has %q", b.String(), r)
			}
		}
		for _, line := range strings.Split(b.String(), "\n") {
			if _, marks, ok := strings.Cut(line, " | "); ok && strings.Trim(marks, " ^") == "" && len(line) > 41 {
				t.Fatalf("marks leave the width: %q", line)
			}
		}
	})
}
