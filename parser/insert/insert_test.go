package insert_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/insert"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

var short = []insert.Field{{Name: "tool", Value: "t@1"}, {Name: "with", Fields: []insert.Field{{Name: "q", Value: "x"}}}}

func TestNode(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		containers []string
		want       string
	}{
		{"block", "nodes:\n  a: {tool: t} # here\n  # of b\n  b: {tool: t}\n", nil, "nodes:\n  a: {tool: t} # here\n  x: {tool: t@1, with: {q: x}}\n  # of b\n  b: {tool: t}\n"},
		{"at the end", "nodes:\n    a:\n        tool: t", nil, "nodes:\n    a:\n        tool: t\n    x: {tool: t@1, with: {q: x}}\n"},
		{"CR LF", "nodes:\r\n  a: {tool: t}\r\n", nil, "nodes:\r\n  a: {tool: t}\r\n  x: {tool: t@1, with: {q: x}}\r\n"},
		{"a block of text", "nodes:\n  a:\n    prompt: |\n      one\n\n      two\nedges: []\n", nil,
			"nodes:\n  a:\n    prompt: |\n      one\n\n      two\n  x: {tool: t@1, with: {q: x}}\nedges: []\n"},
		{"a folded text at the end", "nodes:\n  a:\n    prompt: >-\n      one", nil, "nodes:\n  a:\n    prompt: >-\n      one\n  x: {tool: t@1, with: {q: x}}\n"},
		{"brackets", "nodes: {a: {tool: t}, b: {tool: t}}\n", nil, "nodes: {a: {tool: t}, x: {tool: t@1, with: {q: x}}, b: {tool: t}}\n"},
		{"brackets over lines", "nodes: {\n  a: {tool: t}, # one\n  b: {tool: t}\n}\n", nil, "nodes: {\n  a: {tool: t}, x: {tool: t@1, with: {q: x}}, # one\n  b: {tool: t}\n}\n"},
		{"an alias", "tools: {k: &k {tool: t}}\nnodes:\n  a: *k\n  b: {tool: t}\n", nil, "tools: {k: &k {tool: t}}\nnodes:\n  a: *k\n  x: {tool: t@1, with: {q: x}}\n  b: {tool: t}\n"},
		{"in a loop of a map", "nodes:\n  m:\n    do:\n      nodes:\n        l: {loop: {max: 2}, do: {nodes: {a: {tool: t}}}}\n", []string{"m", "l"},
			"nodes:\n  m:\n    do:\n      nodes:\n        l: {loop: {max: 2}, do: {nodes: {a: {tool: t}, x: {tool: t@1, with: {q: x}}}}}\n"},
	} {
		got, err := insert.Node(tt.text, tt.containers, "a", "x", short)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
	}
}

func TestLongNode(t *testing.T) {
	long := strings.Repeat("y", 100)
	got, err := insert.Node("nodes:\n  a: {tool: t}\n", nil, "a", "x", []insert.Field{{Name: "tool", Value: "t@1"},
		{Name: "with", Fields: []insert.Field{{Name: "p", Value: long}, {Name: "q", Value: long}}}, {Name: "retry", Value: "{attempts: 2}"}})
	want := "nodes:\n  a: {tool: t}\n  x:\n    tool: t@1\n    with:\n      p: " + long + "\n      q: " + long + "\n    retry: {attempts: 2}\n"
	if err != nil || got != want {
		t.Errorf("%v\n%s", err, cmp.Diff(want, got))
	}
}

func TestEdge(t *testing.T) {
	for text, want := range map[string]string{
		"edges:\n  - a -> b # one\nnodes: {}\n":         "edges:\n  - a -> b # one\n  - b -> x\nnodes: {}\n",
		"edges:\n- a -> b":                              "edges:\n- a -> b\n- b -> x\n",
		"edges: [a -> b, {from: a, to: c}] # e\n":       "edges: [a -> b, {from: a, to: c}, b -> x] # e\n",
		"edges:\n  -   from: a\n      to: b\nname: x\n": "edges:\n  -   from: a\n      to: b\n  - b -> x\nname: x\n",
	} {
		got, err := insert.Edge(text, nil, "b", "x")
		if err != nil || got != want {
			t.Errorf("%v %s", err, cmp.Diff(want, got))
		}
	}
}

func TestRefused(t *testing.T) {
	for _, tt := range []struct {
		text       string
		containers []string
		want       string
	}{
		{"nodes: [", nil, "not valid YAML"},
		{"name: x\n", nil, "the workflow has no nodes"},
		{"nodes: {b: {}}\n", nil, "no node a"},
		{"nodes: {a: {}, x: {}}\n", nil, "node x already exists"},
		{"nodes: {m: {tool: t}}\n", []string{"m"}, "node m has no body"},
		{"b: &b {nodes: {a: {}}}\nnodes: {m: {do: *b}}\n", []string{"m"}, "of an anchor"},
		{"b: &b {a: {}}\nnodes: *b\n", nil, "of an anchor"},
	} {
		if got, err := insert.Node(tt.text, tt.containers, "a", "x", short); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %q, %v", tt.text, got, err)
		}
	}
}

func TestNodeFields(t *testing.T) {
	text := "nodes:\n  a:\n    tool: t\n    timeout: 5s\n    retry:\n      attempts: 3 # three\n      codes: [TIMEOUT]\n      base: \"10ms\"\n  m: {do: {tool: t, timeout: 1s}}\n"
	got, err := insert.NodeFields(text, nil, "a", "timeout", "retry", "catch")
	want := []insert.Field{{Name: "timeout", Value: "5s"}, {Name: "retry", Value: "{attempts: 3, codes: [TIMEOUT], base: \"10ms\"}"}}
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("%v %s", err, d)
	}
	got, err = insert.NodeFields(text, []string{"m"}, "", "timeout")
	if err != nil || len(got) != 1 || got[0].Value != "1s" {
		t.Errorf("%v %v", got, err)
	}
}

// Text of any kind comes back from YAML as it was, once the dollar and the expression are taken off; and what stands
// around an insertion does not change.
func TestText(t *testing.T) {
	piece := rapid.SampledFrom([]string{"$", "{{", "}}", "\"", "\\", "\n", "\t", ": ", " #", "a", "null", "true", "1", "é", "\u2028", "\U000e0041", "😀", "[", "}", ",", "-", "\x00", "*", "&", "!", "'"})
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(piece, 0, 6).Draw(t, "text"), "")
		before, after := "nodes:\n  a: {tool: t}\n", "  b: {tool: t}\n"
		text, err := insert.Node(before+after, nil, "a", "x", []insert.Field{{Name: "v", Value: insert.Text(s)}, {Name: insert.Key("k" + s), Value: "1"}})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(text, before) || !strings.HasSuffix(text, after) {
			t.Fatalf("more has changed:\n%s", text)
		}
		root, problems := yamlnode.Parse(source.NewFile("w", text))
		if len(problems) > 0 {
			t.Fatalf("%v\n%s", problems, text)
		}
		x := root.Get("nodes").Get("x")
		got := x.Get("v").Text.Value
		switch {
		case strings.Contains(s, "{{"):
			if strings.HasPrefix(got, "$") || strings.NewReplacer(`{{ "$" }}`, "$", `{{ "{{" }}`, "{{").Replace(got) != s {
				t.Fatalf("%q for %q", got, s)
			}
		case strings.HasPrefix(s, "$"):
			if got != "$"+s {
				t.Fatalf("%q for %q", got, s)
			}
		case got != s || x.Get("v").Tag != "!!str":
			t.Fatalf("%q %s for %q", got, x.Get("v").Tag, s)
		}
		if x.Get("k"+s) == nil {
			t.Fatalf("no key %q:\n%s", "k"+s, text)
		}
	})
}
