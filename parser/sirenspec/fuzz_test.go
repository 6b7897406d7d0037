package sirenspec_test

import (
	"testing"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/sirenspec"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// FuzzParse: no file makes the reader panic, and what it says has a place in the file.
func FuzzParse(f *testing.F) {
	f.Add("version: \"0.1\"\nagents: {a: {model: \"ollama:x\", system: \"{{ b.output | default('x') }}\", guardrails: [injection]}}\nnodes:\n  b: {type: tool, tool: http, config: {url: \"{{ env.X }}/{{ a }}\", headers: {A: b}, timeout: 3}, retry: 2}\n  c: {agent: a, writes: output.x}\nedges: [{from: b, to: c, when: \"not (working.b.output == 'x' or 1 in output.x)\"}]\n")
	f.Add("nodes: {p: {type: tool, tool: python, config: {module: a.b, function: c, args: {x: [1, {y: \"{{inputs.message}}\"}]}}}}\nstate: {working: {a: 1}, output: {b: [2]}}\ninput: {message: hi}\n")
	f.Add("agents: {}\nnodes: {a: {}}\nedges: [{from: a, to: a, when: \"((((\"}]\n")
	f.Fuzz(func(t *testing.T, text string) {
		file := source.NewFile("w.yaml", text)
		root, problems := yamlnode.Parse(file)
		if root == nil || len(problems) > 0 {
			return
		}
		sink := &diag.Sink{}
		if wf := sirenspec.Parse(root, file, nil, dialect.Options{}, sink); wf == nil {
			t.Fatal("no workflow")
		}
		for _, d := range sink.List() {
			if d.Span.File != file || d.Span.Lo < 0 || d.Span.Hi > len(text) || d.Span.Lo > d.Span.Hi {
				t.Errorf("%s: %q has no place", d.Code, d.Message)
			}
		}
	})
}
