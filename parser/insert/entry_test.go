package insert_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/parser/insert"
)

func TestEntry(t *testing.T) {
	pin := []insert.Field{{Name: "tool", Value: "t"}}
	for _, tt := range []struct{ name, text, want string }{
		{"block", "nodes:\n  a:\n    agent: m # model\n    tools: [t]\n  # of b\n  b: {tool: t}\n", "nodes:\n  a:\n    agent: m # model\n    tools: [t]\n    pins: {x: {tool: t}}\n  # of b\n  b: {tool: t}\n"},
		{"brackets", "nodes:\n  a: {agent: m, tools: [t]} # a\n", "nodes:\n  a: {agent: m, tools: [t], pins: {x: {tool: t}}} # a\n"},
		{"one more", "nodes:\n  a:\n    pins:\n      y: {tool: t} # y\n    agent: m\n", "nodes:\n  a:\n    pins:\n      y: {tool: t} # y\n      x: {tool: t}\n    agent: m\n"},
		{"one more in brackets", "nodes: {a: {agent: m, pins: {y: {tool: t}}}}", "nodes: {a: {agent: m, pins: {y: {tool: t}, x: {tool: t}}}}"},
		{"empty brackets", "nodes:\n  a: {agent: m, pins: {}}\n", "nodes:\n  a: {agent: m, pins: {x: {tool: t}}}\n"},
		{"a text last", "nodes:\r\n  a:\r\n    agent: m\r\n    prompt: |\r\n      one\r\n", "nodes:\r\n  a:\r\n    agent: m\r\n    prompt: |\r\n      one\r\n    pins: {x: {tool: t}}\r\n"},
	} {
		got, err := insert.Entry(tt.text, insert.Path(nil, "a"), "pins", "x", pin)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
	}
	for name, text := range map[string]string{"no YAML": "nodes: [", "no node": "nodes: {b: {}}", "an alias": "k: &k {agent: m}\nnodes: {a: *k}\n", "null": "nodes: {a: {pins: }}"} {
		if got, err := insert.Entry(text, insert.Path(nil, "a"), "pins", "x", pin); err == nil {
			t.Errorf("%s: %s", name, got)
		}
	}
	got, err := insert.Entry("nodes: {m: {map: $x, do: {nodes: {a: {agent: m}}}}}", insert.Path([]string{"m"}, "a"), "pins", "x", pin)
	if want := "nodes: {m: {map: $x, do: {nodes: {a: {agent: m, pins: {x: {tool: t}}}}}}}"; err != nil || got != want {
		t.Errorf("%s, %v", got, err)
	}
}
