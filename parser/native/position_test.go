package native_test

import (
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/parser"
)

// styles are the ways to write a scalar after a key that is indented by six blanks; %s is text without special
// characters.
var styles = map[string]string{
	"plain":              "é %s",
	"plain, folded":      "é\n        %s",
	"single":             "'é ''x'' %s'",
	"double":             `"é \"\t\u00e9\x41 %s"`,
	"double, folded":     "\"é \\\n        %s\n\n        x\"",
	"literal":            "|\n        é\n          %s\n        x",
	"literal, indicator": "|2-\n          é\n        %s",
	"literal, keep":      "|+\n\n\n        é %s\n\n",
	"folded":             ">\n        é\n        %s\n\n        x",
	"folded, more":       ">-\n        é\n          x\n        %s",
	"tagged":             "!!str |\n        é %s",
	"anchored":           "&a 'é %s'",
}

// TestPositions puts a mistake into text of each style: the caret must stand under it.
func TestPositions(t *testing.T) {
	cases := []struct{ name, head, mistake, wrong, tail string }{
		{"template", "nodes:\n  a:\n    let:\n      text: ", "{{ input.é }}", "é", ""},
		{"filter", "nodes:\n  a:\n    let:\n      text: ", "{{ input | jsn }}", "jsn", ""},
		{"prompt", "nodes:\n  a:\n    llm: fast\n    system_: {}\n    prompt: ", "{{ x | jsn }}", "jsn", ""},
		{"stdin", "nodes: {a: {let: {b: 1}}}\ntools:\n  t:\n    command: [x]\n    stdin: ", "{{ x.3 }}", "3", ""},
	}
	for _, c := range cases {
		for name, style := range styles {
			for _, eol := range []string{"\n", "\r\n"} {
				for _, bom := range []string{"", "\ufeff"} {
					text := "flowgen: 1\nname: x\ndescription: é\n" + c.head + strings.Replace(style, "%s", c.mistake, 1) + "\n" + c.tail
					text = bom + strings.ReplaceAll(text, "\n", eol)
					var sink diag.Sink
					parser.Parse(memory{"f": text}, "f", &sink)
					want := strings.Index(text, c.mistake) + strings.Index(c.mistake, c.wrong)
					found := false
					for _, d := range sink.List() {
						if d.Code >= "FG0200" && d.Code < "FG0300" {
							found = true
							if d.Span.Lo != want || !strings.HasPrefix(d.Span.Text(), c.wrong[:1]) {
								t.Errorf("%s, %s, %q: %s at %v %q, want offset %d", c.name, name, eol, d.Message, d.Span.Start(), d.Span.Text(), want)
							}
						}
					}
					if !found {
						t.Errorf("%s, %s: not reported in\n%s", c.name, name, text)
					}
				}
			}
		}
	}
}

// TestPositionsOfNames puts names into the middle of scalars of each style.
func TestPositionsOfNames(t *testing.T) {
	edge := map[string]string{
		"plain":   "aa -> bb, cc",
		"folds":   "aa ->\n    bb, cc",
		"single":  "'aa -> bb, cc'",
		"double":  `"\x61a -> bb\x2c cc"`,
		"literal": "|\n    aa -> bb, cc\n",
		"folded":  ">-\n    aa ->\n    bb, cc\n",
	}
	for name, style := range edge {
		text := "flowgen: 1\nname: x\ndescription: é\nnodes: {aa: {let: {x: 1}}}\nedges:\n  - " + style + "\n"
		var sink diag.Sink
		w := parser.Parse(memory{"f": text}, "f", &sink)
		if sink.HasErrors() {
			t.Fatalf("%s: %s", name, sink.List()[0].Message)
		}
		e := w.Body.Edges[0]
		for _, id := range append([]ir.Ident{e.From}, e.To...) {
			got := id.Span.Text()
			if got != id.Name && got != `\x61a` {
				t.Errorf("%s: %q stands at %q", name, id.Name, got)
			}
		}
	}
	types := map[string]string{
		"plain":   "list<map<Findng>>",
		"double":  `"list<\x6dap<Findng>>"`,
		"literal": "|-\n    list<map<Findng>>",
		"folded":  ">-\n    list<\n    map<\n    Findng\n    >>",
	}
	for name, style := range types {
		text := "flowgen: 1\nname: x\ndescription: é\ntypes: {Finding: {e: int}}\nnodes: {aa: {let: {x: 1}}}\ninput:\n  e: " + style + "\n"
		var sink diag.Sink
		parser.Parse(memory{"f": text}, "f", &sink)
		if n := sink.Errors(); n != 1 || sink.List()[0].Code != diag.UnknownType {
			t.Fatalf("%s: %d errors", name, n)
		}
		d := sink.List()[0]
		if d.Span.Text() != "Findng" {
			t.Errorf("%s: the caret is under %q", name, d.Span.Text())
		}
		fixed := text[:d.Fixes[0].Edits[0].Span.Lo] + d.Fixes[0].Edits[0].New + text[d.Fixes[0].Edits[0].Span.Hi:]
		var again diag.Sink
		parser.Parse(memory{"f": fixed}, "f", &again)
		if again.HasErrors() {
			t.Errorf("%s: the fix does not mend it: %s", name, again.List()[0].Message)
		}
	}
}
