package yamlnode

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/ir/source"
)

func seed(f *testing.F) {
	for _, c := range scalarCases {
		f.Add(strings.ReplaceAll(c.src, "M", marker))
	}
	for _, c := range problemCases {
		f.Add(c.src)
	}
}

// FuzzParse: no panic, spans inside the file and their parents, problems that can be shown, fixes that apply.
func FuzzParse(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, src string) {
		file := source.NewFile("t.yaml", src)
		root, problems := Parse(file)
		if root == nil && len(problems) == 0 {
			t.Fatal("no tree and no problem")
		}
		for _, p := range problems {
			for _, s := range append(p.Related, p.Span) {
				if s.File != file || s.Lo < 0 || s.Lo > s.Hi || s.Hi > len(src) {
					t.Fatalf("%s: span %d..%d", p.Kind, s.Lo, s.Hi)
				}
			}
			if p.Message == "" || p.Help == "" || !utf8.ValidString(p.Message) || strings.ContainsAny(p.Message, "\n\r") || p.Kind == LibraryFault {
				t.Fatalf("%s: %q, %q", p.Kind, p.Message, p.Help)
			}
			if p.Fix != nil {
				Parse(source.NewFile("t.yaml", apply(p)))
			}
		}
		checkTree(t, root)
	})
}

// FuzzScalarMap: every scalar has an exact map that never goes back, and the source of each byte decodes to it again.
func FuzzScalarMap(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, src string) {
		root, _ := Parse(source.NewFile("t.yaml", src))
		for _, n := range scalars(root) {
			checkMap(t, src, n)
		}
	})
}

func checkMap(t *testing.T, src string, n *Node) {
	v := n.Text.Value
	if n.Text.Offsets == nil {
		if n.Text.Opaque || n.Span.Text() != v {
			t.Fatalf("%s %q has no map in %q", n.Style, v, src)
		}
		return
	}
	m := n.Text.Offsets()
	if len(m) != len(v)+1 {
		t.Fatalf("%s %q has no map in %q", n.Style, v, src)
	}
	for i := 0; i < len(v); {
		if m[i+1] < m[i] {
			t.Fatalf("the map of %q goes back in %q", v, src)
		}
		r, w := utf8.DecodeRuneInString(v[i:])
		at := m[i]
		switch {
		case strings.HasPrefix(src[at:], v[i:i+w]) && !(n.Style == DoubleQuoted && r == '\\'):
		case r == '\n' && at == n.Span.Hi: // the breaks that end a block scalar
		case r == '\n' || r == ' ': // a fold, or the break that ends the file
			if q := skipBlanks(src, at); q < len(src) && LineBreak(src, q) == 0 && !escapes(src[at:], v[i:i+w]) {
				t.Fatalf("%q at %d of %q comes from %q in %q", r, i, v, src[at:], src)
			}
		case n.Style == DoubleQuoted && escapes(src[at:], v[i:i+w]):
		default:
			t.Fatalf("%q at %d of %q comes from %q in %q", r, i, v, src[at:], src)
		}
		i += w
	}
}

func escapes(src, v string) bool {
	n, s := decodeEscape(src)
	return n > 0 && s == v
}
