package expr

import (
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/ir/schema"
)

// FuzzExpr: whatever the text, nothing panics, every span lies inside it, and what parses prints and parses again.
func FuzzExpr(f *testing.F) {
	data, err := os.ReadFile("testdata/problems.txt")
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if line != "\n" && line[0] != ' ' && line[0] != '#' {
			f.Add(strings.TrimPrefix(strings.TrimSuffix(line, "\n"), "text "))
		}
	}
	f.Add("tasks.filter(t, t.url != null && t.url.startsWith('h')).map(t, t.n * 2 + 1).exists(n, n in [1, 2])")
	f.Add("first(post.url, alt.url, input.tag) == default(post?.meta?.note, \"\")")
	f.Add("a {{ input.names | join(\", \") }} b {{ \"{{\" }}")
	f.Add("(input.names + ['a'] + []).sortBy(n, -size(n) / 2 % 3).chunk(2).flatten().slice(0, 1).filter(x, x != null)")
	f.Add("default(math.greatest(tasks.map(t, t.n)), math.least(1, 2.5)) / tasks.map(t, t.score).sum() // 2")
	f.Add("string(input.pr).split('-').distinct().sort().reverse() + math.foo(math).trim().replace('a')")
	f.Add(strings.Repeat("(", 500))
	f.Add(strings.Repeat("!", 500) + "a")
	f.Add(strings.Repeat("1+", 500) + "1")
	f.Add("\xff\"\xff\"\x00“\xff")
	f.Fuzz(func(t *testing.T, src string) {
		n, probs := Parse(src)
		inside(t, src, probs)
		if len(probs) == 0 && n.Op == Bad {
			t.Fatalf("%q: bad without a problem", src)
		}
		n.Walk(func(n *Node) bool {
			if n.Lo < 0 || n.Lo > n.Hi || n.Hi > len(src) || n.NameLo < n.Lo && n.Op != Macro || n.NameLo > n.NameHi || n.NameHi > n.Hi {
				t.Fatalf("%q: span %d-%d, name %d-%d of %s", src, n.Lo, n.Hi, n.NameLo, n.NameHi, n)
			}
			return true
		})
		if n.Op != Bad {
			text := n.String()
			again, problems := Parse(text)
			if len(problems) > 0 || again.String() != text {
				t.Fatalf("%q prints as %q, which parses as %q %v", src, text, again, problems)
			}
		}
		inside(t, src, Check(n, newEnv(), nil))
		inside(t, src, CheckExpect(n, newEnv(), FactsOf(n, true), schema.ListOf(schema.FloatType)))

		tmpl, probs := ParseTemplate(src)
		inside(t, src, probs)
		inside(t, src, CheckTemplate(tmpl, newEnv(), nil))
		pos := 0
		for _, s := range tmpl.Segments {
			if s.Lo != pos || s.Hi <= s.Lo {
				t.Fatalf("%q: segment %d-%d after %d", src, s.Lo, s.Hi, pos)
			}
			pos = s.Hi
		}
		if pos != len(src) {
			t.Fatalf("%q: segments end at %d", src, pos)
		}
	})
}

func inside(t *testing.T, src string, probs []Problem) {
	t.Helper()
	for _, p := range probs {
		if p.Lo < 0 || p.Lo > p.Hi || p.Hi > len(src) {
			t.Fatalf("%q: %s at %d-%d: %s", src, p.Code, p.Lo, p.Hi, p.Message)
		}
		if p.Code == "" || p.Message == "" {
			t.Fatalf("%q: empty problem %+v", src, p)
		}
		if utf8.ValidString(src) && !(utf8.ValidString(src[:p.Lo]) && utf8.ValidString(src[:p.Hi])) {
			t.Fatalf("%q: %s at %d-%d splits a character", src, p.Code, p.Lo, p.Hi)
		}
	}
}
