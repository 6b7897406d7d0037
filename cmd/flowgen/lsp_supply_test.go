package main

import (
	"strings"
	"testing"
)

// TestLSPSupply: what a diagnostic says is missing can be added: a secret, a bound of what answers cost or how long a call takes, a pin. With
// each the diagnostic is gone.
func TestLSPSupply(t *testing.T) {
	t.Parallel()
	e := editFor(t, edit(t, nil).dir, nil, taking)
	const name = "w.flowgen.yaml"
	e.open(name, `flowgen: 1
name: w
input: {q: string}
models:
  m:
    model: "groq:some-model"
    key: KEY
tools:
  up: {command: [tr, a-z, A-Z], in: {text: string}, stdin: "{{ text }}", out: string, effects: none, sandbox: none, timeout: unbounded}
  get: {http: {url: "https://example.com/{text}"}, auth: {bearer: TOK}, in: {text: string}, out: string, effects: reads}
nodes:
  review: {agent: m, prompt: "{{ input.q }}", tools: [up, get]}
output: {a: $review.shout, b: $review.loud, c: $review.response}
`)
	for i, c := range []struct{ word, title, gone, want string }{
		{"key: KEY", "declare the secret KEY", `secret "KEY"`, "\nname: w\nsecrets: [KEY]\n"},
		{"bearer: TOK", "declare the secret TOK", `secret "TOK"`, "\nsecrets: [KEY, TOK]\n"},
		{"timeout: unbounded", "change to 10m", "unbounded", "timeout: 10m}"},
		{"review.shout", "pin the last call of up as shout", `"shout"`, "{agent: m, pins: {shout: {tool: up}}, prompt"},
		{"review.loud", "pin the last call of get as loud", `"loud"`, "pins: {loud: {tool: get}, shout: {tool: up}}"},
		{`"groq:some-model"`, "add max_tokens: 1000", "is unbounded", "\n    model: \"groq:some-model\"\n    max_tokens: 1000\n"},
	} {
		before := strings.Join(e.diagnostics(name), "\n")
		if !strings.Contains(before, c.gone) {
			t.Fatalf("%d: no diagnostic of it: %s", i, before)
		}
		a, err := e.takeAt(name, c.word, len(c.word)-1, c.title)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range a.Edit.DocumentChanges {
			e.apply(lspEdits{map[string][]lspEdit{d.TextDocument.URI: d.Edits}})
		}
		if got := e.texts[name]; !strings.Contains(got, c.want) {
			t.Fatalf("%s:\n%s", c.title, got)
		}
		if i < 5 {
			continue
		}
		if after := e.diagnostics(name); len(after) > 0 {
			t.Errorf("at last: %q", after)
		}
	}
}
