package hostile

import (
	"bytes"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/codegen"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/goname"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser"
)

// TestLineEnds: how lines end, and a byte order mark, change no byte of the generated code.
func TestLineEnds(t *testing.T) {
	crlf := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
	variants := []func(string) string{
		crlf,
		func(s string) string { return "\ufeff" + s },
		func(s string) string { return "\ufeff" + crlf(s) },
		func(s string) string { // an editor that ends some lines so and some otherwise
			var b strings.Builder
			for i, line := range strings.SplitAfter(s, "\n") {
				if i%2 == 0 {
					line = crlf(line)
				}
				b.WriteString(line)
			}
			return b.String()
		},
	}
	n := 0
	for _, p := range valid(t) {
		if strings.Contains(p.files[p.main], "\r") || !full() && p.inside && number(p.name)%4 != 0 {
			continue
		}
		want := codeOf(t, p, p.files)
		for i, variant := range variants {
			files := maps.Clone(p.files)
			for name, text := range files {
				if strings.HasSuffix(name, ".yaml") { // a lock is written by flowgen, and nobody edits it
					files[name] = variant(text)
				}
			}
			if got := codeOf(t, p, files); !bytes.Equal(got, want) {
				t.Errorf("%s: variant %d gives other code", p.name, i)
			}
			n++
		}
	}
	t.Logf("%d files", n)
	if n < pick(60, 60, 250) {
		t.Error("too few")
	}
}

func codeOf(t *testing.T, p *project, files map[string]string) []byte {
	t.Helper()
	r := p.compileFiles(files)
	if r.program == nil {
		t.Errorf("%s: %d errors: %s", p.name, r.errors(), r.list[0].Message)
		return nil
	}
	code, err := codegen.Generate(r.program, codegen.Options{Package: goname.Package(r.workflow.Name.Name)})
	if err != nil {
		t.Errorf("%s: %v", p.name, err)
	}
	return code
}

// characters that a file cannot hold: they hide text, move it, or end lines for some programs only.
var characters = []string{
	"\r", "\x00", "\x01", "\x07", "\x08", "\x0b", "\x0c", "\x1b", "\x7f", "\u0080", "\u0085", "\u009f", "\u2028", "\u2029",
	"\u202a", "\u202b", "\u202c", "\u202d", "\u202e", "\u2066", "\u2067", "\u2068", "\u2069", "\ufeff", "\ufffe", "\uffff",
	"\x80", "\xbf", "\xc0\xaf", "\xc1\x81", "\xe0\x80\xaf", "\xed\xa0\x80", "\xed\xbf\xbf", "\xf0\x80\x80\xaf", "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "\xfe", "\xff", "\xe2\x28", "\xf0\x9f",
}

// TestCharacters: such a character is refused at its line and column, in whatever it stands.
func TestCharacters(t *testing.T) {
	places := []string{
		"flowgen: 1\nname: x\nnodes: {é: {let: {n: 1}}} # é@ é\n",
		"flowgen: 1\nname: x\nno@des: {n: {let: {n: 1}}}\n",
		"flowgen: 1\nname: x\nnodes: {n: {let: {n: a @b}}}\n",
		"flowgen: 1\nname: x\nnodes: {n: {let: {n: \"a @b\"}}}\n",
		"flowgen: 1\nname: x\nnodes: {n: {let: {n: 'é @b'}}}\n",
		"flowgen: 1\nname: x\nnodes:\n  n:\n    let:\n      n: |\n        text @ text\n",
		"flowgen: 1\n@ \nname: x\nnodes: {n: {let: {n: 1}}}\n",
	}
	n := 0
	for _, place := range places {
		before, after, _ := strings.Cut(place, "@")
		lines := strings.Split(before, "\n")
		want := fmt.Sprintf("%d:%d", len(lines), len([]rune(lines[len(lines)-1]))+1)
		for _, c := range characters {
			n++
			sink := &diag.Sink{}
			parser.Parse(memory{"x.flowgen.yaml": before + c + after}, "x.flowgen.yaml", sink)
			list := sink.List()
			if len(list) != 1 || list[0].Code != diag.YAMLCharacter {
				t.Errorf("%q in %q: %v", c, place, list)
				continue
			}
			at := list[0].Span.Start()
			if got := fmt.Sprintf("%d:%d", at.Line, at.Col); got != want {
				t.Errorf("%q in %q at %s, not %s", c, place, got, want)
			}
		}
	}
	t.Logf("%d characters, %d cases", len(characters), n)
	if n < 40 {
		t.Error("too few")
	}
	if _, problems := parseYAML(source.NewFile("x", "a: \"\\u2028 \\x85 \\u202e \\ufeff \\0\"\n")); len(problems) > 0 {
		t.Error("escapes are refused", problems)
	}
}
