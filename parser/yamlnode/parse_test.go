package yamlnode

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/internal/cputime"
	"github.com/flowgen-dev/flowgen/ir/source"
)

func TestTree(t *testing.T) {
	const src = `# head
name: hello # line
list:
- 1
- 2.5
- true
- ~
- "3"
- !!str 4
- 2024-01-02
- &a {k: v, empty: }
- *a
null: null
1: x
# foot
`
	root, problems := Parse(source.NewFile("t.yaml", src))
	if len(problems) > 0 {
		t.Fatalf("%+v", problems)
	}
	if got, want := show(root), "{name:hello list:[1 2.5 true ~ 3 4 2024-01-02 {k:v empty:} {k:v empty:}] null:null 1:x}"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	var tags []string
	for _, n := range root.Get("list").Items {
		s := n.Kind.String() + " " + n.Style.String() + " " + n.Tag
		if n.Explicit {
			s += " explicit"
		}
		tags = append(tags, s)
	}
	want := "scalar plain !!int|scalar plain !!float|scalar plain !!bool|null plain !!null|scalar double-quoted !!str|" +
		"scalar plain !!str explicit|scalar plain !!timestamp|mapping flow !!map|mapping flow !!map"
	if got := strings.Join(tags, "|"); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	list := root.Get("list").Items
	if original, alias := list[7], list[8]; alias.Entries[0] != original.Entries[0] || alias.Place().Text() != "*a" ||
		alias.Span != original.Span || original.Place() != original.Span {
		t.Errorf("alias %+v of %+v", alias, original)
	}
	if k := root.Entries[0].Key; k.HeadComment != "# head" || root.Get("name").LineComment != "# line" {
		t.Errorf("comments %q %q", k.HeadComment, root.Get("name").LineComment)
	}
	if k := root.Entry("null").Key; k.Kind != Scalar || root.Get("null").Kind != Null || root.Get("nope") != nil {
		t.Errorf("null key %+v", k)
	}
	checkTree(t, root)
}

func TestScreen(t *testing.T) {
	for _, c := range []struct {
		src, want string
		kind      ProblemKind
	}{
		{"a: \x00", "1:4", ForbiddenCharacter},
		{"a\x00:\x00 \x00", "1:2", ForbiddenCharacter},
		{"a: b\n# é \x1b[0m", "2:5", ForbiddenCharacter},
		{"a: \x7f", "1:4", ForbiddenCharacter},
		{"a: \u0085b", "1:4", ForbiddenCharacter},
		{"é: \"x\u2028y\"", "1:6", ForbiddenCharacter},
		{"a: 'x\u2029y'", "1:6", ForbiddenCharacter},
		{"a: |\r\n  x \u202e y", "2:5", ForbiddenCharacter},
		{"a: b\n\ufeffc: d", "2:1", ForbiddenCharacter},
		{"\ufeff\ufeffa: b", "1:1", ForbiddenCharacter},
		{"a: \uffff", "1:4", ForbiddenCharacter},
		{"a: \xff", "1:4", BadEncoding},
		{"a:\r\n  \xc3", "2:3", BadEncoding},
		{"a:\r  b", "1:3", ForbiddenCharacter},
		{"a: b\r", "1:5", ForbiddenCharacter},
		{"a: \"b\rc\"\r\n", "1:6", ForbiddenCharacter},
		{"a: \xed\xa0\x80", "1:4", BadEncoding},
		{"\xff\xfea\x00", "1:1", BadEncoding},
		{strings.Repeat("#\n", MaxBytes/2) + "#", "1:1", TooLarge},
	} {
		root, problems := Parse(source.NewFile("t.yaml", c.src))
		if root != nil || len(problems) != 1 {
			t.Fatalf("%.40q: tree %v, problems %+v", c.src, root != nil, problems)
		}
		p := problems[0]
		if at := fmt.Sprintf("%d:%d", p.Span.Start().Line, p.Span.Start().Col); p.Kind != c.kind || at != c.want || p.Help == "" {
			t.Errorf("%.40q: %s at %s, want %s at %s", c.src, p.Kind, at, c.kind, c.want)
		}
	}
}

func TestMaxNodes(t *testing.T) {
	f := source.NewFile("t.yaml", "[[], [], []]")
	if root, problems := parse(f, 4); root == nil || len(problems) > 0 {
		t.Errorf("4 nodes: %+v", problems)
	}
	root, problems := parse(f, 3)
	if root != nil || len(problems) != 1 || problems[0].Kind != TooLarge || problems[0].Span.Lo != 9 {
		t.Errorf("one too many: %+v", problems)
	}
}

func TestDepth(t *testing.T) {
	nest := func(n int, open, in, end string) string { return strings.Repeat(open, n) + in + strings.Repeat(end, n) }
	block := func(n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.Repeat(" ", i) + "a:\n")
		}
		return b.String() + strings.Repeat(" ", n) + "x"
	}
	for _, c := range []struct {
		name, src string
		ok        bool
	}{
		{"flow", nest(MaxDepth, "[", "x", "]"), true},
		{"flow too deep", nest(MaxDepth+1, "[", "x", "]"), false},
		{"flow far too deep", strings.Repeat("{a: [", 1<<17), false},
		{"block", block(MaxDepth), true},
		{"block too deep", block(MaxDepth + 1), false},
		{"block far too deep", strings.Repeat("- ", 1<<18), false},
		{"keys far too deep", strings.Repeat("? ", 1<<18), false},
		{"alias", "a: &a " + nest(50, "[", "x", "]") + "\nb: " + nest(MaxDepth-51, "[", "*a", "]"), true},
		{"alias too deep", "a: &a " + nest(50, "[", "x", "]") + "\nb: " + nest(MaxDepth-50, "[", "*a", "]"), false},
	} {
		root, problems := Parse(source.NewFile("t.yaml", c.src))
		if c.ok && (root == nil || len(problems) > 0) || !c.ok && (root != nil || len(problems) != 1 || problems[0].Kind != TooDeep) {
			t.Errorf("%s: tree %v, problems %+v", c.name, root != nil, problems)
		}
	}
}

func TestAliasBudget(t *testing.T) {
	bomb := func(width, levels int) string {
		b := "a0: &a0 [" + strings.Repeat("x,", width) + "]\n"
		for i := 1; i < levels; i++ {
			b += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d,", i-1), width))
		}
		return b
	}
	for _, c := range []struct {
		name, src string
		ok        bool
	}{
		{"small", bomb(3, 4), true},
		{"laughs", bomb(10, 30), false},
		{"doubling", bomb(2, 60), false},
		{"many", "- &a x\n" + strings.Repeat("- *a\n", MaxAliasNodes), true},
		{"too many", "- &a x\n" + strings.Repeat("- *a\n", MaxAliasNodes+1), false},
	} {
		var root *Node
		var problems []Problem
		took := cputime.Of(func() { root, problems = Parse(source.NewFile("t.yaml", c.src)) })
		if c.ok && (root == nil || len(problems) > 0) || !c.ok && (root != nil || len(problems) != 1 || problems[0].Kind != TooManyAliases) {
			t.Errorf("%s: tree %v, problems %+v", c.name, root != nil, problems)
		}
		if took > 5*time.Second {
			t.Errorf("%s took %v", c.name, took)
		}
	}
}

// No shape of file may take more than linear time. The bound is far above what any of them needs and far below what
// quadratic time would take.
func TestLinear(t *testing.T) {
	rep := strings.Repeat
	for name, src := range map[string]string{
		"one line":      "{" + rep("é: x, ", 1<<15) + "}",
		"blanks":        "a: x" + rep(" ", 1<<19) + "y",
		"folds":         "a: 'x" + rep("\n", 1<<19) + "y'",
		"blank lines":   "a: >\n  x\n" + rep("\n", 1<<19) + "  y\n",
		"literal":       "a: |\n" + rep("  text {{ x }} é\n", 1<<15),
		"comments":      "a:\n" + rep("  # c\n", 1<<16) + "  b: 1\n" + rep("  # d\n\n", 1<<15),
		"duplicates":    rep("a: 1\n", 1<<15),
		"cut in flow":   "[" + rep("$a(,", 1<<14) + "]",
		"cut at hash":   rep("- $a( #\n", 1<<14),
		"cut keys":      "[" + rep("$a ? b: 1,", 1<<13) + "]",
		"templates":     "[" + rep("{{a}},", 1<<13) + "]",
		"open template": "a: {{ " + rep("b ", 1<<18),
		"colons":        "a: " + rep("b : ", 1<<17),
		"open dollar":   "[" + rep("$a ? b ", 1<<15) + ": 1]: 2",
	} {
		if d := cputime.Of(func() { Parse(source.NewFile("t.yaml", src)) }); d > 8*time.Second {
			t.Errorf("%s took %v", name, d)
		}
	}
}

// Many readers may map at once.
func TestConcurrentMap(t *testing.T) {
	root, _ := Parse(source.NewFile("t.yaml", "a: \"x\\ty {{ z }}\"\n"))
	done := make(chan string, 8)
	for range cap(done) {
		go func() { done <- root.Get("a").Text.At(7, 8).Text() }()
	}
	for range cap(done) {
		if got := <-done; got != "z" {
			t.Errorf("got %q", got)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	var s strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&s, "key%d: 'value {{ é }} %d'\n", i, i)
	}
	f := source.NewFile("t.yaml", s.String())
	b.SetBytes(int64(s.Len()))
	for b.Loop() {
		if _, problems := Parse(f); len(problems) > 0 {
			b.Fatal(problems)
		}
	}
}

// The keys of merged mappings are in the tree, those of the mapping itself win, then those of the first that has them.
func TestMerge(t *testing.T) {
	for _, tt := range []struct{ src, want string }{
		{"a: &a {x: 1, y: 2}\nb: {<<: *a, x: 3, z: 4}\n", "y=2 x=3 z=4"},
		{"a: &a {x: 1, y: 2}\nc: &c {y: 5, w: 6}\nb:\n  x: 3\n  <<: [*a, *c]\n", "y=2 w=6 x=3"},
		{"a: &a {x: 1}\nc: &c {<<: *a, y: 2}\nb: {<<: *c}\n", "x=1 y=2"},
		{"b: {<<: {x: 1}, x: 2}\n", "x=2"},
		{"b: {\"<<\": 1, x: 2}\n", "<<=1 x=2"},
		{"b: {<<: 1, x: 2}\n", "x=2"},
	} {
		root, _ := Parse(source.NewFile("t.yaml", tt.src))
		Merge(root)
		var got []string
		for _, e := range root.Get("b").Entries {
			got = append(got, e.Key.Text.Value+"="+e.Value.Text.Value)
			if e.Value.Span.Text() != e.Value.Text.Value {
				t.Errorf("%q: %q is at %q", tt.src, e.Value.Text.Value, e.Value.Span.Text())
			}
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%q: %s, want %s", tt.src, s, tt.want)
		}
	}
}
