package yamlnode

import (
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/ir/source"
)

const marker = "{{ fetch.x }}"

// M stands for the marker.
var scalarCases = []struct{ name, src string }{
	{"literal", "p: |\n  line é one\n\n    more M\n  end\n"},
	{"literal keep", "p: |+\n  a M\n\n\nq: 1\n"},
	{"literal strip no eof newline", "p: |-\n  a\n  b M"},
	{"literal no eof newline", "p: |\n  a\n  b M"},
	{"literal indicator", "p: |2\n    two extra M\n  z\n"},
	{"literal indicator chomp comment", "p: |+2 # note\n    x\n  M\n"},
	{"literal leading blanks", "p: |\n\n  \n  a M\n"},
	{"literal CRLF", "p: |\r\n  a é\r\n\r\n  b M\r\n"},
	{"literal tab content", "p: |\n  \ta\tM\n  \t\n  zM\n"},
	{"literal nested seq", "a:\n- b:\n  - |\n    x 日本 M\n  - y\n"},
	{"literal seq same indent", "a:\n- |\n  M\n"},
	{"literal at top", "|\n M\n  x\n"},
	{"literal anchor tag", "p: &anc !!str |\n  a M\n"},
	{"literal tag on its own line", "p: !!str # c\n  &a\n  |\n  a M\n"},
	{"literal astral", "k😀: |\n  😀😀 M\n"},
	{"literal trailing blanks", "p: |\n  a M  \n     \n  b M\n    \nq: 1\n"},
	{"literal deep text after shallow", "p: |1\n     M\n    M\n M\n"},
	{"folded", "p: >\n  a b\n  c M\n\n  d M\n  e\n"},
	{"folded more indented", "p: >\n  a\n    * x M\n    * y\n\n  b M\n  c\n"},
	{"folded blank runs", "p: >+\n\n\n  a\n\n\n  b M\n\n\n"},
	{"folded CRLF", "p: >-\r\n  a\r\n  b M\r\n\r\n  c M\r\n"},
	{"folded CRLF and blank", "p: >-\r\n  a\r\n  b M\r\n\r\n  c M\r\n"},
	{"folded more indented first", "p: >1\n   a M\n b\n  c M\n"},
	{"folded trailing spaces", "p: >\n  a  \n  b M \n  \n  cM\n"},
	{"folded tab line", "p: >\n  a\n  \tb M\n  c M\n"},
	{"folded across the template", "p: >\n  {{ a |\n  b }} M\n"},
	{"plain", "p: a é [x] M # no\n"},
	{"plain multi", "p: a é\n  b M\n\n   c M\n"},
	{"plain multi trailing blanks", "p: a M  \n  b M\t\n\n   c M \n"},
	{"plain multi CRLF tab", "p: a\t\r\n \t b M\r\n  \r\n  c M\r\n"},
	{"plain in flow multi", "p: [a\n  b fetch.x, {k: c\n d fetch.x}]\n"},
	{"plain key unicode", "日本 fetch.x: 1\n"},
	{"single", "p: 'it''s M é'\n"},
	{"single only quotes", "p: '''M'''\n"},
	{"single multi", "p: 'a ''\n  b M\n\n  c '' M'\n"},
	{"single blank ends", "p: ' \n  a M \n '\n"},
	{"double escapes", `p: "a\t\u00e9\x41\U0001F600 \"q\" M\n\\M\\"` + "\n"},
	{"double every escape", `p: "\0\a\b\t\n\v\f\r\e\ \"\/\\\N\_\L\PM"` + "\n"},
	{"double multi", "p: \"a\n  b M\n\n\n  c M\"\n"},
	{"double continuation", "p: \"a \\\n   b M \\\n  \\  c M\\n\n  d M\"\n"},
	{"double continuation blank", "p: \"a\\\n\n  b M\"\n"},
	{"double continuation after marker", "p: \"M\\\n  M\"\n"},
	{"double CRLF", "p: \"a\r\n  b M\\r\\n\r\n\r\n  c M\"\r\n"},
	{"double in flow", "p: [\"M\", {\"k M\": \"M\"}, 'M']\n"},
	{"bom", "\ufeffp: 'é M'\nq: |\n  M\n"},
	{"bom first line only", "\ufeffp: a M\n"},
	{"mixed breaks", "p: |\r\n  a M\n  b M\n  c M\r\n"},
	{"tag then newline", "p: !!str\n  'a M'\n"},
	{"verbatim tag", "p: !<tag:yaml.org,2002:str> 'a M'\n"},
	{"anchor plain", "p: &x a M\nq: 1\n"},
	{"anchors and tags in flow", "p: [&a 'M', !!str 'M', &b !!str \"M\"]\n"},
	{"explicit keys", "? |\n  a M\n: |\n  b M\n"},
	{"document start", "---\n# c\np: |\n # not comment M\n x\n...\n"},
	{"comment dedented", "a:\n  p: |\n    x M\n # comment\n  q: 'M'\n"},
	{"empty strings", "p: ''\nq: \"\"\nr:\ns: |\nt: 'M'\n"},
	{"literal only blanks keep", "p: |+\n\n\nq: 'M'\n"},
	{"tab after indicator", "p: |\t\n  a M\n"},
	{"tab separators", "p:\t'M'\nq:\t|\n  M\n"},
	{"many on one line", "p: {a: 'é M', b: \"日 M\", c: '😀 M'}\n"},
}

// scalars returns all scalars of a tree in file order, without those reached through aliases.
func scalars(n *Node) []*Node {
	var out []*Node
	var walk func(*Node)
	walk = func(n *Node) {
		if n == nil || !n.Alias.IsZero() {
			return
		}
		if n.Kind == Scalar || n.Kind == Null {
			out = append(out, n)
		}
		for _, e := range n.Entries {
			walk(e.Key)
			walk(e.Value)
		}
		for _, c := range n.Items {
			walk(c)
		}
	}
	walk(n)
	return out
}

// naivePos counts lines and columns the slow way.
func naivePos(text string, off int) source.Pos {
	p := source.Pos{Line: 1, Col: 1}
	rs := []rune(strings.TrimPrefix(text, "\ufeff"))
	at := len(text) - len(strings.TrimPrefix(text, "\ufeff"))
	for i, r := range rs {
		if at >= off {
			break
		}
		at += len(string(r))
		p.Col++
		if r == '\n' || r == '\r' && (i+1 >= len(rs) || rs[i+1] != '\n') {
			p.Line++
			p.Col = 1
		}
	}
	return p
}

func indexAll(s, sub string) (at []int) {
	for i := 0; ; {
		j := strings.Index(s[i:], sub)
		if j < 0 {
			return at
		}
		at = append(at, i+j)
		i += j + len(sub)
	}
}

func TestScalarPositions(t *testing.T) {
	for _, c := range scalarCases {
		t.Run(c.name, func(t *testing.T) {
			f := source.NewFile("t.yaml", strings.ReplaceAll(c.src, "M", marker))
			root, problems := Parse(f)
			if len(problems) > 0 {
				t.Fatalf("problems: %+v", problems)
			}
			for _, mark := range []string{"fetch.x", "fetch", "x }}"} {
				want := indexAll(f.Text, mark)
				k := 0
				for _, n := range scalars(root) {
					for _, i := range indexAll(n.Text.Value, mark) {
						got := n.Text.At(i, i+len(mark))
						if k >= len(want) || got.Lo != want[k] || got.Text() != mark {
							t.Fatalf("%s %q at %d of %q: span %d..%d %q, want one of %d", n.Style, mark, i, n.Text.Value, got.Lo, got.Hi, got.Text(), want)
						}
						if p := naivePos(f.Text, want[k]); got.Start() != p {
							t.Errorf("%q at %+v, want %+v", mark, got.Start(), p)
						}
						k++
					}
				}
				if k != len(want) {
					t.Errorf("%q found %d times, stands %d times in the file", mark, k, len(want))
				}
			}
			checkTree(t, root)
		})
	}
}

func TestScalarSpans(t *testing.T) {
	for _, c := range []struct{ src, want string }{ // want: the text of the spans of the values, joined by ·
		{"p: 'it''s'  # c\n", "'it''s'"},
		{"p: !!str &a \"a\\\"\"\n", `"a\""`},
		{"p: plain text # c\nq: x", "plain text·x"},
		{"p: plain\n   more  \nq: x", "plain\n   more·x"},
		{"p: |\n  a\n  b\n\n\nq: x", "|\n  a\n  b·x"},
		{"p: |+\n  a\n\n\nq: x", "|+\n  a·x"},
		{"p: >-2 # c\n    a\n  b", ">-2 # c\n    a\n  b"},
		{"p: |+ # c\n\n\nq: x", "|+·x"},
		{"p:\nq: ~\nr: !!str\ns: &a\n", "·~··"},
		{"p: [a, 'b',{c: d} ]\nq: { }\n", "[a, 'b',{c: d} ]·{ }"},
		{"p: [ # c ]\n  a, # }\n  b: {? c, d : } # x\n  ,]\n", "[ # c ]\n  a, # }\n  b: {? c, d : } # x\n  ,]"},
		{"p: &a !!map\n  x: 1\n  y: |\n    z\nq:\n- a\n- - b\n  -\n", "x: 1\n  y: |\n    z·- a\n- - b\n  -"},
		{"p: &a\n  &k x: 1\nq: &s [ &t a ]\nr: *s\ns: [*a, *s ]", "&k x: 1·[ &t a ]·[ &t a ]·[*a, *s ]"},
		{"p: [a: b, {c: d}: e ]", "[a: b, {c: d}: e ]"},
	} {
		f := source.NewFile("t.yaml", c.src)
		root, problems := Parse(f)
		for _, p := range problems {
			if p.Kind != NonScalarKey {
				t.Fatalf("%q: %+v", c.src, p)
			}
		}
		var got []string
		for _, e := range root.Entries {
			got = append(got, e.Value.Span.Text())
		}
		if s := strings.Join(got, "·"); s != c.want {
			t.Errorf("%q\n got %q\nwant %q", c.src, s, c.want)
		}
		checkTree(t, root)
	}
}

// A value without an exact map is its whole scalar.
func TestOpaque(t *testing.T) {
	f := source.NewFile("t.yaml", "p: \"a b\"")
	p := &parser{file: f, src: f.Text}
	n := &Node{Kind: Scalar, Style: DoubleQuoted}
	p.text(n, "a c", 3)
	if got := n.Text.At(0, 1); got.Text() != `"a b"` {
		t.Errorf("got %q", got.Text())
	}
	n = &Node{Kind: Scalar, Style: Literal}
	p.text(n, "a c", 3)
	if got := n.Text.At(0, 1); !n.Text.Opaque || got.Text() != `"a b"` {
		t.Errorf("got %q", got.Text())
	}
}

// checkTree asserts what holds for every tree: spans inside the file and the parent, values that map inside their node.
func checkTree(t *testing.T, root *Node) {
	t.Helper()
	seen := map[*Node]bool{}
	var walk func(n *Node, in source.Span)
	walk = func(n *Node, in source.Span) {
		at := n.Place()
		if at.File == nil || at.Lo < in.Lo || at.Hi > in.Hi || at.Lo > at.Hi || at.Hi > len(at.File.Text) {
			t.Fatalf("%s %q %d..%d is not inside %d..%d", n.Kind, n.Text.Value, at.Lo, at.Hi, in.Lo, in.Hi)
		}
		if seen[n] || !n.Alias.IsZero() {
			return
		}
		seen[n] = true
		if n.Kind == Scalar || n.Kind == Null {
			if n.Text.Span != n.Span {
				t.Fatalf("text span %v, node span %v", n.Text.Span, n.Span)
			}
			for i := range n.Text.Value {
				if s := n.Text.At(i, i+1); s.Lo < n.Span.Lo || s.Hi > n.Span.Hi || s.Lo > s.Hi {
					t.Fatalf("byte %d of %q maps to %d..%d outside %d..%d", i, n.Text.Value, s.Lo, s.Hi, n.Span.Lo, n.Span.Hi)
				}
				if i > 200 {
					break
				}
			}
		}
		for _, e := range n.Entries {
			if e.Key.Kind != Scalar {
				t.Fatalf("key is a %s", e.Key.Kind)
			}
			walk(e.Key, n.Span)
			walk(e.Value, n.Span)
		}
		for _, c := range n.Items {
			walk(c, n.Span)
		}
	}
	if root != nil {
		walk(root, source.Span{Lo: 0, Hi: len(root.Span.File.Text)})
	}
}
