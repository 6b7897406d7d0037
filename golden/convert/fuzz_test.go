package convert_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
	"golang.org/x/tools/txtar"
)

// FuzzConvert: a file that compiles is refused with a place and a reason, or becomes a native file that compiles, in
// canonical layout, with a node for each node and all comments. The tools are those of the case that the file was made of.
func FuzzConvert(f *testing.F) {
	all, err := load()
	if err != nil {
		f.Fatal(err)
	}
	for i, c := range all {
		f.Add(i, c.find(roots[c.dialect]))
	}
	f.Fuzz(func(t *testing.T, i int, text string) {
		if len(text) > 1<<14 {
			t.Skip()
		}
		holds(t, all[uint(i)%uint(len(all))], text)
	})
}

// TestLines: the same for cases without one of their lines, each sixteenth of them; with LONG=1 each eighth; with CAMPAIGN=full each fourth.
func TestLines(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles hundreds of files")
	}
	step, enough := 16, 5
	switch {
	case os.Getenv("CAMPAIGN") == "full":
		step, enough = 4, 20
	case os.Getenv("LONG") != "":
		step, enough = 8, 10
	}
	converted := 0
	for _, c := range cases(t) {
		if c.text == "" {
			continue
		}
		t.Run(c.dir, func(t *testing.T) {
			lines := strings.SplitAfter(c.find(roots[c.dialect]), "\n")
			for i := len(lines) % step; i < len(lines); i += step {
				if holds(t, c, strings.Join(slices.Concat(lines[:i], lines[i+1:]), "")) {
					converted++
				}
			}
		})
	}
	if converted < enough {
		t.Error("only", converted, "of the files with a line less are converted")
	}
}

// holds reports whether a text in place of a case's own is converted, and fails the test when it is not as it has to be.
func holds(t *testing.T, of *testcase, text string) bool {
	t.Helper()
	c := &testcase{dialect: of.dialect, name: of.name, dir: of.dir, archive: &txtar.Archive{Files: slices.Clone(of.archive.Files)}}
	for j := range c.archive.Files {
		if c.archive.Files[j].Name == roots[c.dialect] {
			c.archive.Files[j].Data = []byte(text)
		}
	}
	p, _ := c.compile(c, c.dir+"/"+roots[c.dialect], parser.Options{})
	if p == nil {
		return false
	}
	sink := &diag.Sink{}
	written := with{c, map[string]string{}}
	out, ok, err := convert.Workflow(p, parser.Conversion(c.dialect), c.dir+"/"+c.native(), convert.Compiler{Check: func(made ...*source.File) []diag.Diagnostic {
		_, list := c.compile(written, written.put(made), parser.Options{})
		return list
	}, Texts: goTexts}, sink)
	switch {
	case err != nil:
		t.Fatal(err)
	case !ok:
		errors := slices.DeleteFunc(slices.Clone(sink.List()), func(d diag.Diagnostic) bool { return d.Severity != diag.Error })
		if len(errors) == 0 {
			t.Fatal("refused without a word")
		}
		for _, d := range errors {
			if d.Code != diag.NotConverted || d.Span.File == nil || d.Span.File.Name != c.dir+"/"+roots[c.dialect] && !strings.HasPrefix(d.Span.File.Name, c.dir+"/") {
				t.Errorf("%s at %v: %s", d.Code, d.Span, d.Message)
			}
		}
		return false
	}
	native := source.NewFile(c.native(), out.Text)
	if formatted, ok, err := parser.Format(native, &diag.Sink{}); err != nil || !ok || formatted != out.Text {
		t.Error("not in canonical layout", err)
	}
	again, list := c.compile(written, c.dir+"/"+c.native(), parser.Options{})
	if again == nil {
		t.Fatalf("the native file does not compile: %v\n%s", list, out.Text)
	}
	var ids, inside []string
	for _, n := range again.WF.Body.Nodes {
		ids = append(ids, n.ID.Name)
		var do ir.Body
		switch v := n.Verb.(type) {
		case *ir.Map:
			do = v.Do
		case *ir.Loop:
			do = v.Do
		}
		for _, m := range do.Nodes {
			inside = append(inside, m.ID.Name)
		}
	}
	inOrder(t, p.WF.Body.Nodes, out.Nodes, ids, inside)
	if from, to := comments(t, "dialect", text), comments(t, "native", out.Text); !slices.Equal(from, to) {
		t.Errorf("comments %q became %q in\n%s", from, to, out.Text)
	}
	return true
}

// inOrder holds native ids to the nodes that they were made of, in their order where they are not inside of another. A node
// that has no name was left out, and told so.
func inOrder(t *testing.T, nodes []*ir.Node, names map[string]string, ids, inside []string) {
	t.Helper()
	at := 0
	for _, n := range nodes {
		if name := names[n.ID.Name]; name == "" || !slices.Contains(ids, name) && slices.Contains(inside, name) {
			continue
		}
		i := slices.Index(ids[at:], names[n.ID.Name])
		if i < 0 {
			t.Errorf("the node %q is missing, or not in its place, among %q", n.ID.Name, ids)
			return
		}
		at += i + 1
	}
}

// texts are those that a printer of YAML, of expressions and of templates gets wrong first.
var texts = []string{
	"a: b", "# no comment", "- x", "{a: 1}", "[x", "x, y", "$input.x", "$$", "{{ x }}", "}}", "'\"\\", "a\nb: c\n", " x ", "null", "on", "1e3", "0x1f", ".5", "*x", "&x", "!x", "%x", "|", "...", "---", "\u2028", "\x07", "%{x}", "é",
}

// TestTexts: the same for cases with a hostile text in place of one of their scalars, keys as well.
func TestTexts(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles hundreds of files")
	}
	step := 23
	switch {
	case os.Getenv("CAMPAIGN") == "full":
		step = 1
	case os.Getenv("LONG") != "":
		step = 7
	}
	at, converted := 0, 0
	for _, c := range cases(t) {
		if c.text == "" {
			continue
		}
		t.Run(c.dir, func(t *testing.T) {
			text := c.find(roots[c.dialect])
			root, _ := yamlnode.Parse(source.NewFile("case.yaml", text))
			for _, s := range scalars(root) {
				if at++; at%step == 0 && s.Style <= yamlnode.DoubleQuoted {
					if holds(t, c, text[:s.Span.Lo]+yamlnode.Quote(texts[at/step%len(texts)])+text[s.Span.Hi:]) {
						converted++
					}
				}
			}
		})
	}
	if converted < 10 {
		t.Error("only", converted, "of the files are converted")
	}
}

// scalars are those of a file, keys as well.
func scalars(n *yamlnode.Node) (list []*yamlnode.Node) {
	if n.Kind == yamlnode.Scalar {
		return []*yamlnode.Node{n}
	}
	for _, e := range n.Entries {
		list = append(list, append([]*yamlnode.Node{e.Key}, scalars(e.Value)...)...)
	}
	for _, it := range n.Items {
		list = append(list, scalars(it)...)
	}
	return list
}

// TestDiamonds: graphs with 2^40 ways through them take no longer than others of their size.
func TestDiamonds(t *testing.T) {
	const oe = "    - {id: %[1]s, kind: tool, impl: ./tools/greet.mjs, args: {name: World}, writes: [greeting]}\n"
	for name, p := range map[string]struct{ head, node, edges, edge, foot string }{
		"openexpertise/hello_tool": {"name: d\nversion: 0.1.0\nstate: {schema: {name: {type: string}, greeting: {type: string}}}\ngraph:\n  nodes:\n", oe, "  edges:\n", "    - {from: %s, to: %s}\n", ""},
		"sirenspec/route":          {"version: \"0.1\"\nagents:\n  a: {model: \"ollama:llama3.2\", system: \"\"}\nnodes:\n", "  %[1]s: {agent: a, writes: output.%[1]s}\n", "edges:\n", "  - {from: %s, to: %s}\n", "  - {from: e40, to: l0, when: 'output.e40 == \"no\"'}\n"},
		"yamlgraph/loop":           {"version: \"1.0\"\nname: d\nstate: {score: float}\nnodes:\n", "  %s: {type: passthrough, output: {score: 1.0}}\n", "edges:\n  - {from: START, to: e0}\n", "  - {from: %s, to: %s, condition: score < 0.5}\n", "  - {from: e1, to: e0, condition: score > 0.5}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			i := slices.IndexFunc(cases(t), func(c *testcase) bool { return c.dir == name })
			if dialect, _, _ := strings.Cut(name, "/"); i < 0 && !slices.ContainsFunc(cases(t), func(c *testcase) bool { return strings.HasPrefix(c.dir, dialect+"/") }) {
				t.Skip("this build has no dialect of that name")
			}
			var b, edges strings.Builder
			b.WriteString(p.head)
			for n := range 41 {
				fmt.Fprintf(&b, p.node, fmt.Sprint("e", n))
				if n == 40 {
					break
				}
				for _, side := range []string{"l", "r"} {
					fmt.Fprintf(&b, p.node, fmt.Sprint(side, n))
					fmt.Fprintf(&edges, p.edge, fmt.Sprint("e", n), fmt.Sprint(side, n))
					fmt.Fprintf(&edges, p.edge, fmt.Sprint(side, n), fmt.Sprint("e", n+1))
				}
			}
			holds(t, cases(t)[i], b.String()+p.edges+edges.String()+p.foot)
		})
	}
}
