package native_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/flowgen-dev/flowgen/ir/bind"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser"
)

// casesFlow is what the cases are about.
const casesFlow = `flowgen: 1
name: w
input: {name: string, n: {type: int, default: 1}}
state: {seen: {type: list<string>, merge: append}}
tools: {up: {command: [cat], in: {text: string}, stdin: "{{ text }}", out: string, effects: none}}
nodes:
  ask: {human: "Sure?", out: bool}
  one: {tool: up, with: {text: $input.name}, set: {seen: ["$one"]}}
  each: {map: $state.seen, as: s, max_items: 3, do: {tool: up, with: {text: $s}}}
edges:
  - {from: ask, to: one, when: ask}
  - one -> each
output: {text: "$default(one, \"\")", all: "$default(each, [])"}
`

type casesFiles struct{ text string }

func (f casesFiles) ReadFile(name string) ([]byte, error) {
	if filepath.Base(name) == "w.flowgen.yaml" {
		return []byte(casesFlow), nil
	}
	return []byte(f.text), nil
}

// FuzzCases: no text makes the parser of test files or their checker panic, every place and fix lies inside the file, and
// what passes has a workflow and cassettes inside of its folder.
func FuzzCases(f *testing.F) {
	paths, _ := filepath.Glob("../../examples/*/*.test.yaml")
	for _, p := range paths {
		data, err := os.ReadFile(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
	for _, text := range []string{
		"flowgen: 1\ncases:\n  a:\n    input: {name: x}\n    answers: {ask: true}\n    want: {output: {text: x, all: {$size: 1}}, state: {seen: [x]}, calls: {one: {times: 1}, \"each[*]/up\": null}, order: [ask, one], cost: {usd: \"0\"}}\n",
		"flowgen: 1\ncases: {a: {input: {name: x, n: 9223372036854775808}, cassette: ../x, want: {error: {code: TIMEOUT, node: one, message: {$matches: \"(\"}}}}}\n",
		"flowgen: 1\nworkflow: /etc/passwd\ncases: {a: , B: 1, c: {want: {calls: {\"each[99999999999]/up\": {}, \"each[0]\": {}, ask/x: {}, \"#\": {}}}}}\n",
		"cases: &a {x: *a}\n", "flowgen: 1\ncases: {a: {want: {output: {text: {$contains: {$contains: [x]}}}}}}\n",
	} {
		f.Add(text)
	}
	var sink diag.Sink
	wf := parser.Parse(casesFiles{}, "w.flowgen.yaml", &sink)
	bind.Resolve(wf, bind.Options{Dir: "."}, &sink)
	program := check.Check(wf, &sink)
	if program == nil {
		f.Fatal(sink.List())
	}
	f.Fuzz(func(t *testing.T, text string) {
		var sink diag.Sink
		cases := parser.ParseCases(casesFiles{text}, "w.test.yaml", &sink)
		if cases == nil {
			if !sink.HasErrors() {
				t.Fatal("neither cases nor an error")
			}
			return
		}
		checked := check.CheckCases(program, cases, &sink)
		inside := func(s source.Span) {
			if s.File != nil && (s.Lo < 0 || s.Hi < s.Lo || s.Hi > len(s.File.Text)) {
				t.Fatalf("span %d-%d of %d bytes", s.Lo, s.Hi, len(s.File.Text))
			}
		}
		for _, d := range sink.List() {
			if _, ok := diag.Explain(d.Code); !ok || d.Message == "" || d.Span.IsZero() {
				t.Fatalf("a diagnostic without code, message or place: %+v", d)
			}
			inside(d.Span)
			for _, x := range d.Fixes {
				for _, e := range x.Edits {
					inside(e.Span)
				}
			}
		}
		if sink.HasErrors() || checked == nil {
			return
		}
		for _, c := range cases.Cases {
			if !filepath.IsLocal(c.Cassette.Name) || !filepath.IsLocal(cases.Workflow.Name) {
				t.Fatalf("%q of %q", c.Cassette.Name, cases.Workflow.Name)
			}
		}
	})
}
