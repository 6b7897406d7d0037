package parser

import (
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/flowgen-dev/flowgen/internal/cputime"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// formatted formats text that can be.
func formatted(t testing.TB, text string) string {
	t.Helper()
	var sink diag.Sink
	out, ok, err := Format(source.NewFile("x", text), &sink)
	if err != nil || !ok {
		t.Fatalf("%v %v in\n%s", err, sink.List(), text)
	}
	return out
}

func TestFormat(t *testing.T) {
	in, err := os.ReadFile("testdata/format/in.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/format/out.yaml")
	if err != nil {
		t.Fatal(err)
	}
	got := formatted(t, string(in))
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(got, formatted(t, got)); diff != "" {
		t.Errorf("formatted again: %s", diff)
	}
}

func TestFormatDetails(t *testing.T) {
	const head = "flowgen: 1\nname: a\n"
	long := strings.Repeat("x", 50)
	tests := []struct{ name, in, want string }{
		{"nothing to do", head + "nodes: {}\n", head + "nodes: {}\n"},
		{"no line break at the end", head + "nodes: {}", head + "nodes: {}\n"},
		{"line ends of Windows stay", "name: a\r\nflowgen:  1\r\ndescription: |\r\n  x\r\n   y\r\n", "flowgen: 1\r\nname: a\r\ndescription: |\r\n  x\r\n   y\r\n"},
		{"byte order mark", "\ufeff" + head + " # c\n", head + "# c\n"},
		{"marker", "# c\n---\n# d\nname: a\nflowgen: 1\n...\n", "# c\n---\nflowgen: 1\n# d\nname: a\n"},
		{"order", "output: {}\nnodes: {}\nzzz: 1\nflowgen: 1\nname: a\n", "flowgen: 1\nname: a\nnodes: {}\noutput: {}\nzzz: 1\n"},
		{"comments move with their entry", "# of nodes\nnodes: {}\n# of flowgen\nflowgen: 1\n# end\n", "# of flowgen\nflowgen: 1\n# of nodes\nnodes: {}\n# end\n"},
		{"the head of the file stays", "# license\n\n# of nodes\nnodes: {}\nflowgen: 1\n", "# license\n\nflowgen: 1\n# of nodes\nnodes: {}\n"},
		{"an anchor stays before its alias", "nodes: &n {}\nx: *n\nflowgen: 1\n", "nodes: &n {}\nx: *n\nflowgen: 1\n"},
		{"an anchor of one entry", "nodes: {a: &n {}, b: *n}\nflowgen: 1\n", "flowgen: 1\nnodes: {a: &n {}, b: *n}\n"},
		{"alias as a key", head + "nodes: {a: &n b, *n : c}\n", head + "nodes: {a: &n b, *n : c}\n"},
		{"120 columns", head + "nodes: {a: " + long + ", b: " + strings.Repeat("y", 120-8-3-50-2-3-1) + "}\n", head + "nodes: {a: " + long + ", b: " + strings.Repeat("y", 120-8-3-50-2-3-1) + "}\n"},
		{"121 columns", head + "nodes: {a: " + long + ", b: " + strings.Repeat("y", 120-8-3-50-2-3) + "}\n", head + "nodes:\n  a: " + long + "\n  b: " + strings.Repeat("y", 120-8-3-50-2-3) + "\n"},
		{"characters are counted", head + "nodes: {a: " + strings.Repeat("ü", 108) + "}\n", head + "nodes: {a: " + strings.Repeat("ü", 108) + "}\n"},
		{"open brackets", head + "nodes: {\n a: [\n  b, c]}\n", head + "nodes:\n  a:\n    - b\n    - c\n"},
		{"brackets on several lines", head + "nodes: {a: b,\n  c: d}\n", head + "nodes: {a: b, c: d}\n"},
		{"a list of pairs", head + "nodes: {a: [b: c, {d: e}]}\n", head + "nodes: {a: [{b: c}, {d: e}]}\n"},
		{"absent values", head + "nodes:\n  a:\n  b: # c\n  d:   ~\n  e: {f, g: , h: null}\n", head + "nodes:\n  a:\n  b:  # c\n  d: ~\n  e: {f, g, h: null}\n"},
		{"comments in brackets", head + "nodes: {a: 1, # one\n  # two\n  b: 2 # three\n  # four\n}\n", head + "nodes:\n  a: 1  # one\n  # two\n  b: 2  # three\n  # four\n"},
		{"comment in empty brackets", head + "nodes: { # c\n}\n", head + "# c\nnodes: {}\n"},
		{"comment after a dash", head + "edges:\n- # c\n  a: b\n- d # e\n", head + "edges:\n  # c\n  - a: b\n  - d  # e\n"},
		{"list without indentation", head + "edges:\n- a\n# of nodes\nnodes: {}\n", head + "# of nodes\nnodes: {}\nedges:\n  - a\n"},
		{"comment before a value", head + "description: # c\n  text\n", head + "# c\ndescription: text\n"},
		{"text in lines", head + "description: 'a\n\n    b\n  c'\nnodes: {}\n", head + "description: 'a\n\n  b\n  c'\nnodes: {}\n"},
		{"block with an indent", head + "description: |4-\n      a\n\n     b\n", head + "description: |2-\n    a\n\n   b\n"},
		{"block that starts with empty lines", head + "description: >\n\n\n     a\n      b\n     c\n", head + "description: >\n\n\n  a\n   b\n  c\n"},
		{"kept lines", head + "description: |+\n    a\n\n\nnodes: {}\n", head + "description: |+\n  a\n\n\nnodes: {}\n"},
		{"empty block", head + "description: |\nnodes: {}\n", head + "description: |\nnodes: {}\n"},
		{"tags and anchors", head + "nodes: {a: !!str &x 5, b: &y   !!str 6}\n", head + "nodes: {a: &x !!str 5, b: &y !!str 6}\n"},
		{"anchors of blocks", head + "nodes: &n\n    a: &m # c\n        - b\n    c: !!map\n     d: e\n", head + "nodes: &n\n  a: &m  # c\n    - b\n  c: !!map\n    d: e\n"},
		{"aligned comments", head + "nodes: # c\n    a: 1  # x\n    longer: 2 # y\n\n    b: 3 # z\n", head + "nodes:       # c\n  a: 1       # x\n  longer: 2  # y\n\n  b: 3  # z\n"},
		{"a question mark in brackets", head + "nodes: {a: {b: $c?.d, e: [f]}, g: '$h?.i', j: {k?: 1}}\n", head + "nodes:\n  a:\n    b: $c?.d\n    e: [f]\n  g: '$h?.i'\n  j:\n    k?: 1\n"},
		{"a hash in text", head + "description: a#b \"# no\" # yes\nnodes: {'#': \"# no\"}\n", head + "description: a#b \"# no\"  # yes\nnodes: {'#': \"# no\"}\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := formatted(t, tt.in)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(got, formatted(t, got)); diff != "" {
				t.Errorf("formatted again: %s", diff)
			}
		})
	}
}

// What is not YAML, or no workflow, is not formatted and is told.
func TestFormatRefuses(t *testing.T) {
	for text, code := range map[string]diag.Code{
		"flowgen: 1\n\tname: a\n":       diag.YAMLTab,
		"flowgen: 1\nflowgen: 1\n":      diag.YAMLDuplicate,
		"flowgen: 1\na: {{ b }}\n":      diag.YAMLQuote,
		"a: 1\n":                        diag.UnknownLanguage,
		"- flowgen\n":                   diag.UnknownLanguage,
		"":                              diag.YAMLSyntax,
		"flowgen: 1\na: &x {b: *x}\n":   diag.YAMLAnchor,
		"flowgen: 1\n---\nflowgen: 1\n": diag.YAMLDocuments,
	} {
		var sink diag.Sink
		out, ok, err := Format(source.NewFile("x", text), &sink)
		if ok || out != "" || err != nil || len(sink.List()) == 0 || sink.List()[0].Code != code {
			t.Errorf("%q: %t %q %v %v", text, ok, out, err, sink.List())
		}
	}
	// Valid YAML that no workflow has.
	for _, text := range []string{"flowgen: 1\n? |\n  a\n: b\n", "flowgen: 1\n\"a\\\n  b\": c\n"} {
		var sink diag.Sink
		if out, ok, _ := Format(source.NewFile("x", text), &sink); ok && out == "" {
			t.Errorf("%q: nothing", text)
		}
	}
}

// dump is what the parser understands of a workflow; "" when it has mistakes.
func dump(name string, files memory) string {
	var sink diag.Sink
	w := Parse(files, name, &sink)
	if w == nil || sink.HasErrors() {
		return ""
	}
	return ir.Dump(w)
}

// TestFormatKeepsMeaning: every good file means the same when it is formatted, and is then as it should be.
func TestFormatKeepsMeaning(t *testing.T) {
	for name, files := range good(t) {
		out := formatted(t, files[name])
		if again := formatted(t, out); again != out {
			t.Errorf("%s formatted again: %s", name, cmp.Diff(out, again))
		}
		changed := memory{}
		for n, s := range files {
			changed[n] = s
		}
		changed[name] = out
		if diff := cmp.Diff(dump(name, files), dump(name, changed)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// The examples and starters are formatted.
func TestFormatIsUsed(t *testing.T) {
	for name, files := range good(t) {
		if !strings.HasPrefix(name, "../") {
			continue
		}
		if diff := cmp.Diff(files[name], formatted(t, files[name])); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestFormatScrambled scrambles layout and comments of good files. What is still valid is formatted without losing
// anything (Format itself compares) and stays as it is when formatted again.
func TestFormatScrambled(t *testing.T) {
	var texts []string
	for name, files := range good(t) {
		texts = append(texts, files[name])
	}
	slices.Sort(texts)
	tried, valid := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		text := scramble(rapid.SampledFrom(texts).Draw(t, "text"), rapid.Uint64().Draw(t, "seed"))
		var sink diag.Sink
		out, ok, err := Format(source.NewFile("x", text), &sink)
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		tried++
		if !ok {
			return
		}
		valid++
		again, ok, err := Format(source.NewFile("x", out), &sink)
		if err != nil || !ok || again != out {
			t.Fatalf("formatted again: %v\n%s\nof\n%s", err, cmp.Diff(out, again), text)
		}
	})
	if valid < tried/4 {
		t.Errorf("only %d of %d scrambled files were valid", valid, tried)
	}
}

// scramble puts comments, empty lines and blanks into a file, deepens blocks, and breaks brackets.
func scramble(text string, seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 1))
	lines := strings.Split(text, "\n")
	var out []string
	for _, l := range lines {
		indent := l[:len(l)-len(strings.TrimLeft(l, " "))]
		switch r.IntN(12) {
		case 0:
			out = append(out, indent+"# before")
		case 1:
			out = append(out, "")
		case 2:
			out = append(out, indent+strings.Repeat(" ", r.IntN(4))+"# deeper", strings.Repeat(" ", r.IntN(3)))
		case 3:
			l += strings.Repeat(" ", 1+r.IntN(3)) + "# beside"
		case 4:
			l = strings.Replace(l, ", ", ",\n"+indent+"    ", 1+r.IntN(3))
		case 5:
			l = strings.Replace(l, "{", "{ # in\n"+indent+"   ", 1)
		case 6:
			l = strings.Replace(l, ": ", ":   ", r.IntN(4))
		case 7:
			l = strings.Replace(l, ": {", ": &a"+string(rune('a'+r.IntN(20)))+" {", 1)
		case 8:
			l = strings.Replace(l, "[", "[\n"+indent+"    ", 1)
		}
		out = append(out, l)
	}
	if r.IntN(3) == 0 {
		for i, l := range out {
			trimmed := strings.TrimLeft(l, " ")
			out[i] = strings.Repeat(" ", (len(l)-len(trimmed))*2) + trimmed
		}
	}
	end := "\n"
	if r.IntN(8) == 0 {
		end = "\r\n"
	}
	return strings.Join(out, end)
}

// TestFormatLongLines: the time does not grow with the square of a line.
func TestFormatLongLines(t *testing.T) {
	long := "flowgen: 1\nnodes: [" + strings.Repeat("{}, {a: b}, ", 60_000) + "]\n"
	var out string
	took := cputime.Of(func() { out = formatted(t, long) })
	if strings.Count(out, "\n") != 120_002 {
		t.Errorf("%d lines", strings.Count(out, "\n"))
	}
	if took > 20*time.Second {
		t.Errorf("took %s", took)
	}
}

// FuzzFormat: any file is formatted or refused, and what is formatted is stable.
func FuzzFormat(f *testing.F) {
	for name, files := range good(f) {
		f.Add(files[name])
	}
	f.Add("flowgen: 1\na: !!str &b |+\n c\n\nd: *b\n? e\n: [f: g, {h}]\n")
	f.Fuzz(func(t *testing.T, text string) {
		var sink diag.Sink
		out, ok, err := Format(source.NewFile("x", text), &sink)
		if err != nil || !ok {
			return
		}
		again, ok, err := Format(source.NewFile("x", out), &sink)
		if err != nil || !ok || again != out {
			t.Fatalf("formatted again: %t %v\n%s\nof\n%q", ok, err, cmp.Diff(out, again), text)
		}
	})
}
