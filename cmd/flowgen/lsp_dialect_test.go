package main

import (
	"slices"
	"testing"
)

// TestLSPDialect: in a file of another engine, keys and words of its language and the names of its nodes are offered, and its mistakes
// are shown.
func TestLSPDialect(t *testing.T) {
	t.Parallel()
	text := "version: \"1.0\"\nname: hello\nstate:\n  topic: str\nnodes:\n  greet:\n    type: passthrough\n    output:\n      said: \"{state.topic}\"\nedges:\n  - from: START\n    to: greet\n  - from: greet\n    to: END\n"
	e := edit(t, nil)
	const name = "graph.yaml"
	e.open(name, text)
	for _, d := range e.diagnostics(name) {
		t.Logf("%s", d)
	}
	labels := func(old, new string, skip int) (out []string) {
		e.replace(name, old, new)
		defer e.replace(name, new, old)
		got := answer[struct{ Items []struct{ Label string } }](t, e.ask("textDocument/completion", e.on(name, new, 0, skip)))
		for _, i := range got.Items {
			out = append(out, i.Label)
		}
		return out
	}
	for _, c := range []struct {
		old, new string
		skip     int
		want     string
	}{
		{"edges:\n", "de\nedges:\n", 2, "defaults"},
		{"    type: passthrough\n", "    type: passthrough\n    req\n", 29, "requires"},
		{"    to: greet", "    to: gr", 10, "greet"},
	} {
		if got := labels(c.old, c.new, c.skip); !slices.Contains(got, c.want) {
			t.Errorf("%q: no %s in %q", c.new, c.want, got)
		}
	}
}
