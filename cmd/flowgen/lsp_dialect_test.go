package main

import (
	"path/filepath"
	"slices"
	"strings"
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

// TestLSPDialectRename: a node of another engine's workflow is renamed where flowgen knows all that is written; where its name also
// stands at a place that flowgen cannot tell, nothing is, and the place is named.
func TestLSPDialectRename(t *testing.T) {
	t.Parallel()
	open := func(folder, name string) *editor {
		dir, err := filepath.Abs(filepath.Join("..", "..", "bench", "dialect", folder))
		if err != nil {
			t.Fatal(err)
		}
		e := editIn(t, dir)
		e.openDisk(name)
		e.diagnostics(name)
		return e
	}
	const name = "experience.yaml"
	e := open("openexpertise", name)
	before := e.texts[name]
	p := e.on(name, "n01", 0, 1)
	p["newName"] = "second"
	e.apply(answer[lspEdits](t, e.ask("textDocument/rename", p)))
	if got := e.texts[name]; strings.Count(got, "second") != 3 || strings.ReplaceAll(got, "second", "n01") != before {
		t.Errorf("renamed:\n%s", got)
	}
	if got := e.diagnostics(name); len(got) > 0 {
		t.Errorf("after the rename: %q", got)
	}
	other := open("yamlgraph", "graph.yaml")
	p = other.on("graph.yaml", "n01", 0, 1)
	p["newName"] = "second"
	if _, err := other.try("textDocument/rename", p); err == nil || !strings.Contains(err.Error(), "n01 also occurs in graph.yaml:28, where flowgen cannot resolve it") {
		t.Errorf("a name that text holds too: %v", err)
	}
}
