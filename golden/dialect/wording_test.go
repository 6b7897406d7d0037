package dialect_test

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/parser"
)

// spoken are the dialects in the order of a row of wordings, with a file of each that has no mistakes.
var spoken = []struct{ name, file string }{
	{"native", `flowgen: 1
name: x
include: []
tools:
  t: {command: [ls], out: string, effects: reads}
nodes:
  a: {tool: t}
  b: {tool: t}
edges:
  - {from: a, to: b}
output: {text: $b}
`},
	{"openexpertise", `name: x
version: 0.1.0
state: {schema: {s: {type: object}}}
graph:
  nodes:
    - {id: a, kind: experience, impl: a.yaml, on_error: skip}
    - {id: b, kind: experience, impl: a.yaml, on_error: skip}
  edges:
    - {from: a, to: b}
`},
	{"sirenspec", `version: "0.1"
agents: {w: {model: "ollama:llama3.2", system: hi}}
nodes:
  a: {type: agent, agent: w, writes: output.a}
  b: {type: agent, agent: w, writes: output.b}
edges:
  - {from: a, to: b}
`},
	{"yamlgraph", `name: x
state: {s: str, r: str}
tools:
  t: {type: shell, command: ls}
nodes:
  a: {type: tool, tool: t, state_key: s}
  b: {type: tool, tool: t, state_key: r}
edges:
  - {from: START, to: a}
  - {from: a, to: b}
  - {from: b, to: END}
`},
	{"stargraph", `id: x
state: {s: str, r: str}
nodes:
  a: {kind: template, template: hi, out: s}
  b: {kind: template, template: ho, out: r}
routes: {a: b, b: done}
`},
}

// A wording is one mistake in all dialects: what is replaced in each file, and what is said of it, which differs by a noun at
// most. A dialect without the mistake has no edit.
type wording struct {
	mistake string
	edits   [5][2]string // in the order of spoken: what is replaced by what
	code    diag.Code
	message string // NOUN stands for that of the dialect
	nouns   [5]string
}

var wordings = []wording{
	{"an unknown node in an edge", [5][2]string{{"to: b", "to: bb"}, {"to: b", "to: bb"}, {"to: b", "to: bb"}, {"to: b", "to: bb"}, {"a: b,", "a: bb,"}},
		diag.UnknownName, `node "bb" is not defined`, [5]string{}},
	{"a key that is not known", [5][2]string{{"to: b", "to: b, colour: 1"}, {"to: b", "to: b, colour: 1"}, {}, {}, {"{kind: template, template: hi", "{colour: 1, kind: template, template: hi"}},
		diag.UnknownKey, "unknown key `colour` in NOUN", [5]string{"an edge", "an edge", "", "", "a node of the kind template"}},
	{"a key that the engine ignores", [5][2]string{{}, {"impl: a.yaml,", "impl: a.yaml, colour: 1,"}, {"type: agent,", "type: agent, colour: 1,"}, {"type: tool,", "type: tool, colour: 1,"}, {}},
		diag.IgnoredKey, "unknown key `colour` in NOUN (ignored)", [5]string{"", "an experience node", "an agent node", "a tool node", ""}},
	{"a required key that is missing", [5][2]string{{"command: [ls]", "http: {}"}, {"impl: a.yaml, ", ""}, {`model: "ollama:llama3.2", `, ""}, {"command: ls", "timeout: 3"}, {"template: hi, ", ""}},
		diag.MissingKey, "NOUN", [5]string{"a request needs the key `url`", "an experience node needs the key `impl`", "an agent needs the key `model`", "a shell tool needs the key `command`", "a node of the kind template needs the key `template`"}},
	{"a node that is text", [5][2]string{{"{tool: t}", "hello"}, {"{id: a, kind: experience, impl: a.yaml, on_error: skip}", "a"}, {"{type: agent, agent: w, writes: output.a}", "hello"}, {"{type: tool, tool: t, state_key: s}", "hello"}, {"{kind: template, template: hi, out: s}", "hello"}},
		diag.WrongShape, "a node is a mappingNOUN`", [5]string{" with a verb, this is the value `hello", ", this is the value `a", ", this is the value `hello", ", this is the value `hello", ", this is the value `hello"}},
	{"a list where text is expected", [5][2]string{{"name: x", "name: [x]"}, {"name: x", "name: [x]"}, {"system: hi", "system: [hi]"}, {"name: x", "name: [x]"}, {"id: x", "id: [x]"}},
		diag.WrongShape, "NOUN is text, this is a list", [5]string{"the name of a workflow", "the name of an experience", "`system`", "the name of a graph", "the name of a graph"}},
	{"a word that is none of those", [5][2]string{{"effects: reads", "effects: some"}, {"on_error: skip", "on_error: some"}, {"type: agent", "type: some"}, {"type: shell", "type: some"}, {"kind: template", "kind: some"}},
		diag.UnknownWord, "NOUN cannot be `some`", [5]string{"`effects`", "the policy of `on_error`", "the type of a node", "the type of a tool", "the kind of a node"}},
	{"a number that is none", [5][2]string{{"a: {tool: t}", "a: {tool: t, retry: {attempts: x}}"}, {"on_error: skip", "on_error: {policy: retry, attempts: x}"}, {"edges:", "budget: {max_tokens: x}\nedges:"}, {"edges:", "config: {recursion_limit: x}\nedges:"}, {}},
		diag.BadLiteral, "NOUN is an integer, not `x`", [5]string{"`attempts`", "`attempts`", "`max_tokens`", "`recursion_limit`", ""}},
	{"a number that is too small", [5][2]string{{"a: {tool: t}", "a: {tool: t, retry: {attempts: 0}}"}, {"on_error: skip", "on_error: {policy: retry, attempts: 0}"}, {"edges:", "budget: {max_tokens: 0}\nedges:"}, {"edges:", "config: {recursion_limit: 0}\nedges:"}, {}},
		diag.BadLiteral, "NOUN", [5]string{"`attempts` is a number from 1 to 2147483647", "`attempts` is a number from 1 to 20", "`max_tokens` is a number from 1 to 1125899906842624", "`recursion_limit` is a number from 1 to 1000000", ""}},
	{"a key twice", [5][2]string{{"name: x", "name: x\nname: y"}, {"name: x", "name: x\nname: y"}, {"edges:", "version: \"0.1\"\nedges:"}, {"name: x", "name: x\nname: y"}, {"id: x", "id: x\nid: y"}},
		diag.YAMLDuplicate, "the key `NOUN` is defined twice", [5]string{"name", "name", "version", "name", "id"}},
	{"two nodes of one id", [5][2]string{{}, {"  edges:", "    - {id: a, kind: experience, impl: a.yaml, on_error: skip}\n  edges:"}, {}, {}, {"state: {s: str, r: str}\nnodes:\n  a: {kind: template, template: hi, out: s}\n  b: {kind: template, template: ho, out: r}\nroutes: {a: b, b: done}", "ir_version: \"1.0.0\"\nnodes:\n  - {id: a, kind: halt}\n  - {id: a, kind: halt}"}},
		diag.DuplicateName, `node "a" is declared twice`, [5]string{}},
	{"nodes in a circle", [5][2]string{{"to: b}", "to: b}\n  - {from: b, to: a}"}, {"to: b}", "to: b}\n    - {from: b, to: a}"}, {"to: b}", "to: b}\n  - {from: b, to: a}"}, {}, {}},
		diag.Cycle, "these nodes wait for each other: a -> b -> a", [5]string{}},
	{"a tool that is not declared", [5][2]string{{"a: {tool: t}", "a: {tool: no}"}, {}, {}, {"tool: t,", "tool: no,"}, {}},
		diag.UnknownTool, `tool "no" is not declared`, [5]string{}},
	{"a file that is not there", [5][2]string{{"include: []", "include: [no.yaml]"}, {"impl: a.yaml", "impl: no.yaml"}, {"{type: agent, agent: w, writes: output.a}", "{type: workflow, ref: no.yaml}"}, {"{type: tool, tool: t, state_key: s}", "{type: subgraph, graph: no.yaml}"}, {"{kind: template, template: hi, out: s}", "{kind: subgraph, spec: no.yaml}"}},
		diag.CannotRead, "cannot read no.yaml: no such file", [5]string{}},
	{"no nodes", [5][2]string{{"nodes:\n  a: {tool: t}\n  b: {tool: t}\nedges:\n  - {from: a, to: b}\noutput: {text: $b}", "nodes: {}"},
		{"nodes:\n    - {id: a, kind: experience, impl: a.yaml, on_error: skip}\n    - {id: b, kind: experience, impl: a.yaml, on_error: skip}\n  edges:\n    - {from: a, to: b}", "nodes: []\n  edges: []"},
		{"nodes:\n  a: {type: agent, agent: w, writes: output.a}\n  b: {type: agent, agent: w, writes: output.b}\nedges:\n  - {from: a, to: b}", "nodes: {}"},
		{"nodes:\n  a: {type: tool, tool: t, state_key: s}\n  b: {type: tool, tool: t, state_key: r}\nedges:\n  - {from: START, to: a}\n  - {from: a, to: b}\n  - {from: b, to: END}", "nodes: {}\nedges: [{from: START, to: END}]"},
		{"nodes:\n  a: {kind: template, template: hi, out: s}\n  b: {kind: template, template: ho, out: r}\nroutes: {a: b, b: done}", "nodes: {}\nroutes: {}"}},
		diag.MissingKey, "the file has no nodes", [5]string{}},
}

// one are the files of a case of wordings.
type one map[string]string

func (o one) ReadFile(name string) ([]byte, error) {
	if text, ok := o[name]; ok {
		return []byte(text), nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

const childExperience = `name: child
version: 0.1.0
state: {schema: {rows: {type: array}}}
graph:
  nodes: [{id: rows, kind: dataset, source: {kind: file, uri: rows.json, format: json}, writes: [rows]}]
  edges: []
`

func said(dialect, text string) []string {
	sink := &diag.Sink{}
	if wf := parser.ParseAs(one{"x.yaml": text, "a.yaml": childExperience}, "x.yaml", parser.Options{Dialect: dialect}, sink); wf != nil {
		check.Check(wf, sink)
	}
	var out []string
	for _, d := range sink.List() {
		if d.Severity == diag.Error || d.Code == diag.IgnoredKey {
			out = append(out, string(d.Code)+" "+d.Message)
		}
	}
	return out
}

// TestWording: a mistake reads the same in every dialect, is one message, and the files are right without it.
func TestWording(t *testing.T) {
	there := func(name string) bool { return slices.Contains(parser.Dialects(), name) }
	for _, d := range spoken {
		if !there(d.name) {
			continue
		}
		if got := said(d.name, d.file); got != nil {
			t.Fatalf("%s without a mistake: %q", d.name, got)
		}
	}
	for _, w := range wordings {
		t.Run(w.mistake, func(t *testing.T) {
			spokenBy := 0
			for i, d := range spoken {
				from, to := w.edits[i][0], w.edits[i][1]
				if from == "" {
					continue
				}
				spokenBy++
				if !there(d.name) {
					continue
				}
				if !strings.Contains(d.file, from) {
					t.Fatalf("%s has no %q", d.name, from)
				}
				want := []string{string(w.code) + " " + strings.ReplaceAll(w.message, "NOUN", w.nouns[i])}
				if diff := cmp.Diff(want, said(d.name, strings.Replace(d.file, from, to, 1))); diff != "" {
					t.Errorf("%s (-want +made):\n%s", d.name, diff)
				}
			}
			if spokenBy < 2 {
				t.Error("a mistake of one dialect has nothing to be compared with")
			}
		})
	}
}
