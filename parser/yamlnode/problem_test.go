package yamlnode

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/ir/source"
)

// describe is one problem on one line: kind, place, the text blamed, what else is pointed at, message, fixed file.
func describe(p Problem) string {
	at := p.Span.Start()
	s := fmt.Sprintf("%s %d:%d %q", p.Kind, at.Line, at.Col, p.Span.Text())
	for _, r := range p.Related {
		s += fmt.Sprintf(" (%d:%d %q)", r.Start().Line, r.Start().Col, r.Text())
	}
	s += ": " + p.Message
	if p.Fix != nil {
		s += " => " + apply(p)
	}
	return s
}

func apply(p Problem) string {
	text := p.Fix.Span.File.Text
	return text[:p.Fix.Span.Lo] + p.Fix.New + text[p.Fix.Span.Hi:]
}

var problemCases = []struct {
	src  string
	want []string
}{
	{"x: {{ a }}", []string{"UnquotedTemplate 1:4 \"{{ a }}\": `{{` needs quotes => x: \"{{ a }}\""}},
	{"x: {{ a }} text", []string{"UnquotedTemplate 1:4 \"{{ a }}\": `{{` needs quotes => x: \"{{ a }} text\""}},
	{"x: {{ a }} text: b\ny: 1", []string{"UnquotedTemplate 1:4 \"{{ a }}\": `{{` needs quotes => x: \"{{ a }} text: b\"\ny: 1"}},
	{"x: {{ a[0] }}", []string{"UnquotedTemplate 1:4 \"{{ a[0] }}\": `{{` needs quotes => x: \"{{ a[0] }}\""}},
	{"x: {{ a[\"k\"] }} and {{ b }}", []string{"UnquotedTemplate 1:4 \"{{ a[\\\"k\\\"] }}\": `{{` needs quotes => x: '{{ a[\"k\"] }} and {{ b }}'"}},
	{"x: {{ a | json }} # comment", []string{"UnquotedTemplate 1:4 \"{{ a | json }}\": `{{` needs quotes => x: \"{{ a | json }}\" # comment"}},
	{"- {{ a }}", []string{"UnquotedTemplate 1:3 \"{{ a }}\": `{{` needs quotes => - \"{{ a }}\""}},
	{"- {{ a }} - b", []string{"UnquotedTemplate 1:3 \"{{ a }}\": `{{` needs quotes => - \"{{ a }} - b\""}},
	{"{{ a }}: v", []string{"UnquotedTemplate 1:1 \"{{ a }}\": `{{` needs quotes"}},
	{"x: {a: {{ x }}, b: 1}", []string{"UnquotedTemplate 1:8 \"{{ x }}\": `{{` needs quotes => x: {a: \"{{ x }}\", b: 1}"}},
	{"x: {a: text {{ x }}, b: 2}", []string{"UnquotedTemplate 1:13 \"{{ x }}\": `{{` needs quotes => x: {a: \"text {{ x }}\", b: 2}"}},
	{"x: {a: {{ x[0] }} z, b: 2}", []string{"UnquotedTemplate 1:8 \"{{ x[0] }}\": `{{` needs quotes => x: {a: \"{{ x[0] }} z\", b: 2}"}},
	{"x: {{ a\ny: 1", []string{"UnquotedTemplate 1:4 \"{{\": `{{` needs quotes"}},
	{"x: {{ a\n  }} b", []string{"Syntax 2:6 \"b\" (1:1 \"x:\"): unexpected text after the value"}},
	{"x: [{{ a }}, {{ b, c }}]", []string{"UnquotedTemplate 1:5 \"{{ a }}\": `{{` needs quotes => x: [\"{{ a }}\", {{ b, c }}]", "UnquotedTemplate 1:14 \"{{ b, c }}\": `{{` needs quotes => x: [{{ a }}, \"{{ b, c }}\"]"}},
	{"x: a: b", []string{"CutText 1:5 \":\": `: ` is not allowed inside unquoted text => x: \"a: b\""}},
	{"x: text {{ a ? b : c }}", []string{"CutText 1:18 \":\": `: ` is not allowed inside unquoted text => x: \"text {{ a ? b : c }}\""}},
	{"x: $a ? b : c", []string{"CutText 1:11 \":\": `: ` is not allowed inside unquoted text => x: \"$a ? b : c\""}},
	{"x: $a ? b : c # why", []string{"CutText 1:11 \":\": `: ` is not allowed inside unquoted text"}},
	{"- $a ? b : c", []string{"CutText 1:10 \":\": `: ` ends this unquoted expression and makes it a key => - \"$a ? b : c\""}},
	{"x: [$a ? 1 : 2]", []string{"CutText 1:12 \":\": `: ` ends this unquoted expression and makes it a key => x: [\"$a ? 1 : 2\"]"}},
	{"x: {a: $x ? 1 : 2}", []string{"CutText 1:15 \":\": this ends an unquoted expression: it is inside [ ] or { } => x: {a: \"$x ? 1 : 2\"}"}},
	{"x: {a: $f(x, y), b: 1}", []string{"CutText 1:12 \",\": `,` ends this unquoted expression: it is inside [ ] or { } => x: {a: \"$f(x, y)\", b: 1}"}},
	{"x: [$f(x, [1, 2]), $g]", []string{"CutText 1:17 \")\": this ends an unquoted expression: it is inside [ ] or { } => x: [\"$f(x, [1, 2])\", $g]"}},
	{"x: [$a[0], $b]", []string{"CutText 1:7 \"[\": this ends an unquoted expression: it is inside [ ] or { } => x: [\"$a[0]\", $b]"}},
	{"x: {a: $a[0].b, c: 1}", []string{"CutText 1:10 \"[\": this ends an unquoted expression: it is inside [ ] or { } => x: {a: \"$a[0].b\", c: 1}"}},
	{"x: $a == \"q #1\"", []string{"CutText 1:13 \"#\": ` #` starts a comment and cuts this unquoted expression => x: '$a == \"q #1\"'"}},
	{"x: $a # fine", []string{}},
	{"x: $a == 1 # it's fine", []string{}},
	{"x: text {{ a # b }}", []string{"CutText 1:14 \"#\": ` #` starts a comment and cuts this unquoted expression => x: \"text {{ a # b }}\""}},
	{"x: text {{ \"a #\" }}", []string{"CutText 1:15 \"#\": ` #` starts a comment and cuts this unquoted expression => x: 'text {{ \"a #\" }}'"}},
	{"x: $f(\n  a #b\n", []string{"CutText 2:5 \"#\": ` #` starts a comment and cuts this unquoted expression"}},
	{"x: it's {{ a }} ok", []string{}},
	{"x: @foo", []string{"Syntax 1:4 \"@\": unquoted text cannot begin with `@` => x: \"@foo\""}},
	{"x: `a` b", []string{"Syntax 1:4 \"`\": unquoted text cannot begin with a backquote => x: \"`a` b\""}},
	{"x: %foo", []string{"Syntax 1:4 \"%\": unquoted text cannot begin with `%` => x: \"%foo\""}},
	{"x: *foo bar", []string{"UnknownAnchor 1:4 \"*foo\": no anchor is named `foo`"}},
	{"x: * bar", []string{"Syntax 1:4 \"*\": `*` needs a name"}},
	{"x: - y", []string{"Syntax 1:4 \"-\": a list item cannot be here"}},
	{"x: \"a\" b", []string{"Syntax 1:8 \"b\": text after the closing quote"}},
	{"x: 'it's'", []string{"Syntax 1:8 \"s'\": text after the closing quote"}},
	{"x: 'abc\ny: 1", []string{"Syntax 1:4 \"'\": this quote is never closed"}},
	{"x:\n\ty: 1", []string{"TabIndent 2:1 \"\\t\": a tab is used as indentation"}},
	{"x:\n  y: 1\n \tz: 2", []string{"TabIndent 3:2 \"\\t\": a tab is used as indentation"}},
	{"a: 1\n  b: 2", []string{"Syntax 2:3 \"b\": a key cannot be here: the value above is already complete"}},
	{"a:\n    b: 1\n  c: 2", []string{"Syntax 3:3 \"c:\" (1:1 \"a:\"): this line is indented unlike the lines it belongs with"}},
	{"x: [1, 2\ny: 3", []string{"Syntax 1:4 \"[\" (2:2 \":\"): this `[` is never closed"}},
	{"x: {a: 1\ny: 2", []string{"Syntax 1:4 \"{\" (2:2 \":\"): this `{` is never closed"}},
	{"x: !foo bar", []string{"UnknownTag 1:4 \"!foo\": unknown tag `!foo`"}},
	{"x: !foo {a: 1}", []string{"UnknownTag 1:4 \"!foo\": unknown tag `!foo`"}},
	{"x: !!int foo", []string{}},
	{"!<a b> x", []string{"UnknownTag 1:1 \"!<a\": this is not a valid tag"}},
	{"%YAML 1.3\n---\na: 1", []string{"Syntax 1:1 \"%YAML\": YAML directives are not supported"}},
	{"a: 1\n---\nb: 2", []string{"MultipleDocuments 2:1 \"---\": a second document starts here"}},
	{"a: 1\n...\nb", []string{"MultipleDocuments 3:1 \"b\": a second document starts here"}},
	{"a: 1\n}", []string{"Syntax 2:1 \"}\": nothing is open that `}` could close"}},
	{"x: |\n a\n  b\nc", []string{"Syntax 4:1 \"c\": this line is not `key: value`"}},
	{"x: |\n    a\n  {{ b }}\ny: 1", []string{"UnquotedTemplate 3:3 \"{{ b }}\": `{{` needs quotes"}},
	{"x: |x\n a", []string{"Syntax 1:5 \"x\" (1:4 \"|x\"): text on the line of `|` or `>`"}},
	{"- a\nb: 1", []string{"Syntax 2:1 \"b:\" (1:1 \"-\"): a key where a list item is expected"}},
	{"a: 1\n- b", []string{"Syntax 2:1 \"-\" (1:1 \"a:\"): a list item where a key is expected"}},
	{"x: \"\\q\"", []string{"Syntax 1:5 \"\\\\q\": unknown escape `\\q` in double quotes"}},
	{"x: \"\\ud83d\\ude00\"", []string{"Syntax 1:5 \"\\\\u\": this is not a character escape"}},
	{"x: \"\\u12\"", []string{"Syntax 1:5 \"\\\\u\": this is not a character escape"}},
	{"x: a\ny\nz: 1", []string{"Syntax 2:1 \"y\": this line is not `key: value`"}},
	{"x: &a [*a]", []string{"AliasCycle 1:8 \"*a\": `*a` is inside what it stands for"}},
	{"x: &a {b: {c: *a}}", []string{"AliasCycle 1:15 \"*a\": `*a` is inside what it stands for"}},
	{"", []string{"Empty 1:1 \"\": the file is empty"}},
	{"# c", []string{"Empty 1:1 \"\": the file is empty"}},
	{"---", []string{"Empty 1:1 \"\": the file is empty"}},
	{"~", []string{}},
	{"  x: 1\n y: 2", []string{"Syntax 2:2 \"y:\": this line is indented unlike the lines it belongs with"}},
	{"<<: {a: 1}", []string{"MergeKey 1:1 \"<<\": merge keys are not supported"}},
	{"\"<<\": 1", []string{}},
	{"x: |\n\ta", []string{"TabIndent 2:1 \"\\t\": a tab is used as indentation"}},
	{"x: [a]: b", []string{"Syntax 1:7 \":\": a second `: ` on one line"}},
	{"[a]: b", []string{"NonScalarKey 1:1 \"[a]\": a sequence cannot be a key"}},
	{"{a: b}: c", []string{"NonScalarKey 1:1 \"{a: b}\": a mapping cannot be a key"}},
	{"? [a]\n: b", []string{"NonScalarKey 1:3 \"[a]\": a sequence cannot be a key"}},
	{": b", []string{"NonScalarKey 1:1 \":\": a key is missing before `:`"}},
	{"a: *x", []string{"UnknownAnchor 1:4 \"*x\": no anchor is named `x`"}},
	{"a: 1\nb: 2\na: 3", []string{"DuplicateKey 3:1 \"a\" (1:1 \"a\"): the key `a` is defined twice"}},
	{"{a: 1, \"a\": 2, 'a': 3}", []string{"DuplicateKey 1:8 \"\\\"a\\\"\" (1:2 \"a\"): the key `a` is defined twice", "DuplicateKey 1:16 \"'a'\" (1:2 \"a\"): the key `a` is defined twice"}},
	{"&k a: 1\nb: &v {x: 1}\n*k : 2\nc: *v", []string{"DuplicateKey 3:1 \"*k\" (1:4 \"a\"): the key `a` is defined twice"}},
	{"!e!x a", []string{"UnknownTag 1:1 \"!e!x\": this is not a valid tag"}},
	{"x: & b", []string{"Syntax 1:4 \"&\": `&` needs a name"}},
	{"x: !", []string{}},
	{"x: \"a\": b", []string{"Syntax 1:7 \":\": a second `: ` on one line"}},
	{"x: [a, b: c: d]", []string{"Syntax 1:12 \":\" (1:4 \"[\"): expected `,` or `]`"}},
	{"x: ? y", []string{"Syntax 1:4 \"?\": `? ` cannot be here"}},
	{"k: v\n\"abc\nd\": 1", []string{"Syntax 3:1 \"d\\\"\": a key cannot be here: the value above is already complete"}},
	{"with: {url: http://x/{y}, n: 1}", []string{"Syntax 1:22 \"{y},\" (1:7 \"{\"): expected `,` or `}`"}},
	{"when: $a.b == \"x: y\"", []string{"CutText 1:17 \":\": `: ` is not allowed inside unquoted text => when: '$a.b == \"x: y\"'"}},
	{"when: a == \"x: y\"", []string{"CutText 1:14 \":\": `: ` is not allowed inside unquoted text => when: 'a == \"x: y\"'"}},
	{"x: list<{a: int, b: string}>", []string{"CutText 1:11 \":\": `: ` is not allowed inside unquoted text"}},
	{"x: opt<list<{a: int}>>", []string{"CutText 1:15 \":\": `: ` is not allowed inside unquoted text"}},
	{"x: {y: map<{a: int}>}", []string{"Syntax 1:12 \"{a:\" (1:4 \"{\"): expected `,` or `}`"}},
	{"x: \"unclosed", []string{"Syntax 1:4 \"\\\"\": this quote is never closed"}},
	{"x: [unclosed", []string{"Syntax 1:4 \"[\" (1:12 \"d\"): this `[` is never closed"}},
	{"x: ${{ a }}", []string{}},
	{"x: $$a: b", []string{"CutText 1:7 \":\": `: ` is not allowed inside unquoted text => x: \"$$a: b\""}},
	{"if: a ? b", []string{}},
	{"x: {{ a }}: b", []string{"UnquotedTemplate 1:4 \"{{ a }}\": `{{` needs quotes => x: \"{{ a }}: b\""}},
	{"- {{ a }}: b", []string{"UnquotedTemplate 1:3 \"{{ a }}\": `{{` needs quotes"}},
	{"- t {{ a ? b : c }}\n- x", []string{"CutText 1:14 \":\": `: ` ends this unquoted expression and makes it a key => - \"t {{ a ? b : c }}\"\n- x"}},
	{"x: {a: $x b: 2}", []string{"Syntax 1:12 \":\" (1:4 \"{\"): expected `,` or `}`"}},
	{"x: {\n  a: 1,\n  b 2\n  c: 3}", []string{}},
	{"x: $f(a # c", []string{"CutText 1:9 \"#\": ` #` starts a comment and cuts this unquoted expression"}},
	{"x: $f(a # c)", []string{"CutText 1:9 \"#\": ` #` starts a comment and cuts this unquoted expression => x: \"$f(a # c)\""}},
	{"%FOO bar\n---\na: 1", []string{"Syntax 1:5 \"\": YAML directives are not supported"}},
	{"%YAML 1.1\n---\na: 1", []string{}},
	{"x: [a, {{ b }} c]", []string{"UnquotedTemplate 1:8 \"{{ b }}\": `{{` needs quotes => x: [a, \"{{ b }} c\"]"}},
	{"x: [a,\n  {{ b }} c]", []string{"UnquotedTemplate 2:3 \"{{ b }}\": `{{` needs quotes => x: [a,\n  \"{{ b }} c\"]"}},
	{"x: {{ a, b }}\n", []string{"UnquotedTemplate 1:4 \"{{ a, b }}\": `{{` needs quotes => x: \"{{ a, b }}\"\n"}},
	{"x: {{ a }} # b\ny: {{ c }}", []string{"UnquotedTemplate 1:4 \"{{ a }}\": `{{` needs quotes => x: \"{{ a }}\" # b\ny: {{ c }}", "UnquotedTemplate 2:4 \"{{ c }}\": `{{` needs quotes => x: {{ a }} # b\ny: \"{{ c }}\""}},
	{"x: {{\"a\": 1}: 2}", []string{"NonScalarKey 1:5 \"{\\\"a\\\": 1}\": a mapping cannot be a key"}},
	{"x: {a: \"{{ b }}\", c: {{ d }}}", []string{"UnquotedTemplate 1:22 \"{{ d }}\": `{{` needs quotes => x: {a: \"{{ b }}\", c: \"{{ d }}\"}"}},
	{"? {{ a }}\n: b", []string{"UnquotedTemplate 1:3 \"{{ a }}\": `{{` needs quotes"}},
	{"x: {{}}", []string{"UnquotedTemplate 1:4 \"{{}}\": `{{` needs quotes => x: \"{{}}\""}},
	{"x: {{{{ a }}}}", []string{"UnquotedTemplate 1:4 \"{{{{ a }}}}\": `{{` needs quotes => x: \"{{{{ a }}}}\""}},
	{"x: $a[\"b\"]", []string{}},
	{"x: [\"$a\" == $b[0]]", []string{"Syntax 1:10 \"==\" (1:4 \"[\"): expected `,` or `]`"}},
	{"x: {a: b}}\n", []string{"Syntax 1:10 \"}\": nothing is open that `}` could close"}},
	{"- a\n b\n- - c\n -d", []string{"Syntax 4:2 \"-d\" (1:1 \"-\"): a key where a list item is expected"}},
	{"a:\n  - b\n c: d", []string{"Syntax 3:2 \"c:\" (1:1 \"a:\"): this line is indented unlike the lines it belongs with"}},
}

func TestProblems(t *testing.T) {
	for _, c := range problemCases {
		t.Run(c.src, func(t *testing.T) {
			root, problems := Parse(source.NewFile("t.yaml", c.src))
			got := []string{}
			for _, p := range problems {
				got = append(got, describe(p))
				if p.Help == "" || strings.HasSuffix(p.Help, ".") || strings.HasSuffix(p.Message, ".") {
					t.Errorf("message %q, help %q", p.Message, p.Help)
				}
				if p.Fix == nil {
					continue
				}
				_, after := Parse(source.NewFile("t.yaml", apply(p)))
				if len(after) != len(problems)-1 {
					t.Errorf("the fix gives %q with %+v", apply(p), after)
				}
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
			checkTree(t, root)
		})
	}
}

// What YAML read as something else is put together again, so that one mistake gives one message.
func TestJoined(t *testing.T) {
	for _, c := range []struct{ src, want string }{ // want: the values of the top keys
		{"x: {{ a }}\ny: 1\n", "{{ a }}|1"},
		{"x: [{{ a, b }}, c]\n", "[{{ a, b }} c]"},
		{"x: {a: $f(x, [y], z), b: 1}\n", "{a:$f(x, [y], z) b:1}"},
		{"x: [$f(x, y), c]\n", "[$f(x, y) c]"},
		{"x:\n- $a ? b : c\n- d\n", "[$a ? b : c d]"},
		{"x: [$a ? 1 : 2, b]\n", "[$a ? 1 : 2 b]"},
		{"x: text {{ a # b }}\n", "text {{ a # b }}"},
		{"x: !!str $a == \"q #1\"  \n", "$a == \"q #1\""},
		{"x: {{ a }}: b\n", ""},
	} {
		root, problems := Parse(source.NewFile("t.yaml", c.src))
		if len(problems) != 1 {
			t.Fatalf("%q: %+v", c.src, problems)
		}
		var got []string
		if root != nil {
			for _, e := range root.Entries {
				got = append(got, show(e.Value))
			}
		}
		if s := strings.Join(got, "|"); s != c.want {
			t.Errorf("%q: got %q, want %q", c.src, s, c.want)
		}
		for _, n := range scalars(root) {
			if n.Text.Value != n.Text.At(0, len(n.Text.Value)).Text() {
				t.Errorf("%q: %q maps to %q", c.src, n.Text.Value, n.Text.At(0, len(n.Text.Value)).Text())
			}
		}
	}
}

// show writes a tree on one line.
func show(n *Node) string {
	var parts []string
	switch n.Kind {
	case Mapping:
		for _, e := range n.Entries {
			parts = append(parts, e.Key.Text.Value+":"+show(e.Value))
		}
		return "{" + strings.Join(parts, " ") + "}"
	case Sequence:
		for _, c := range n.Items {
			parts = append(parts, show(c))
		}
		return "[" + strings.Join(parts, " ") + "]"
	}
	return n.Text.Value
}
