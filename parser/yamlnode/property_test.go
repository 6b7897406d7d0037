package yamlnode

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/flowgen-dev/flowgen/ir/source"
)

// A scalarWriter writes random scalars whose letters are all different, so that each has one right place.
type scalarWriter struct {
	t    *rapid.T
	next rune
	nl   string
	b    strings.Builder
}

func (w *scalarWriter) n(lo, hi int) int { return rapid.IntRange(lo, hi).Draw(w.t, "n") }

func (w *scalarWriter) of(options ...string) string {
	return rapid.SampledFrom(options).Draw(w.t, "of")
}

func (w *scalarWriter) blanks(lo, hi int) string { return strings.Repeat(" ", w.n(lo, hi)) }

func (w *scalarWriter) word() string {
	s := ""
	for range w.n(1, 3) {
		s += string(w.next)
		w.next++
	}
	return s
}

func (w *scalarWriter) flow(quote string) {
	w.b.WriteString(quote)
	if quote == "" {
		w.b.WriteString(w.word())
	}
	for range w.n(1, 8) {
		switch x := w.n(0, 9); {
		case x < 3:
			w.b.WriteString(w.word())
		case x < 5:
			w.b.WriteString(w.blanks(1, 2) + w.word())
		case x == 5:
			w.b.WriteString("\t")
		case x < 8:
			w.b.WriteString(w.blanks(0, 2))
			for range w.n(1, 3) {
				w.b.WriteString(w.nl + w.blanks(0, 3))
			}
			w.b.WriteString("    " + w.word())
		case quote == "'":
			w.b.WriteString("''")
		case quote == `"`:
			w.b.WriteString(w.of(`\n`, `\"`, `\ `, `\`+w.nl+"   ", `\u00e9`, `\\`, `\`+w.nl+w.nl+"   ", `\t`, `\U0001F600`, `\x41`))
		}
	}
	w.b.WriteString(quote + w.nl)
}

func (w *scalarWriter) block(indicator string) {
	indent := w.n(3, 5)
	in, chomp := strings.Repeat(" ", indent), w.of("", "-", "+")
	number := ""
	if w.n(0, 3) == 0 {
		number = string(rune('0' + indent))
	}
	w.b.WriteString(indicator + w.of(number+chomp, chomp+number) + w.of("", " ", " # c", "\t") + w.nl)
	for range w.n(1, 8) {
		switch w.n(0, 6) {
		case 0:
			w.b.WriteString(w.blanks(0, indent+1))
		case 1:
			w.b.WriteString(in + w.blanks(1, 3) + w.word() + " " + w.word())
		case 2:
			w.b.WriteString(in + "\t" + w.word())
		case 3:
			w.b.WriteString(in + w.word() + " ")
		default:
			w.b.WriteString(in + w.word() + " # " + w.word())
		}
		w.b.WriteString(w.nl)
	}
}

// Every letter of every scalar that the library accepts maps to the one place where it stands.
func TestScalarProperty(t *testing.T) {
	accepted := 0
	rapid.Check(t, func(t *rapid.T) {
		w := &scalarWriter{t: t, next: 0x4e00, nl: rapid.SampledFrom([]string{"\n", "\r\n", "\r"}).Draw(t, "nl")}
		w.b.WriteString(w.of("", "\ufeff"))
		w.b.WriteString(w.of("p: ", "- ", "a:"+w.nl+"- b: ", "p: &a ", "p: !!str ", "p:\t", "p: !!str # c"+w.nl+"  &a ", "p: [a]"+w.nl+"é: "))
		switch style := w.of("", "'", `"`, "|", ">"); style {
		case "|", ">":
			w.block(style)
		default:
			w.flow(style)
		}
		src := w.b.String()
		root, _ := Parse(source.NewFile("t.yaml", src))
		if root != nil {
			accepted++
		}
		for _, n := range scalars(root) {
			if n.Text.Opaque {
				t.Fatalf("%s %q has no map in %q", n.Style, n.Text.Value, src)
			}
			for i, r := range n.Text.Value {
				if r < 0x4e00 || r > 0x9fff {
					continue
				}
				at := n.Text.At(i, i+3)
				if at.Lo != strings.IndexRune(src, r) || at.Text() != string(r) {
					t.Fatalf("%q of %q is at %d %q in %q", r, n.Text.Value, at.Lo, at.Text(), src)
				}
			}
		}
	})
	if accepted < 20 && !testing.Short() { // rapid tries fewer then
		t.Errorf("only %d of the files were YAML", accepted)
	}
}
