package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// until are the diagnostics of an open file once they say something, or nothing with "": Go packages come later than the file.
func (e *editor) until(name, want string) []string {
	e.t.Helper()
	for {
		got := e.diagnostics(name)
		if want == "" && len(got) == 0 || want != "" && strings.Contains(strings.Join(got, "\n"), want) {
			return got
		}
	}
}

// save writes a file and says so, as an editor does.
func (e *editor) save(name, text string) {
	e.t.Helper()
	full := filepath.Join(e.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(full), 0o777); err != nil {
		e.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o666); err != nil {
		e.t.Fatal(err)
	}
	e.tell("workspace/didChangeWatchedFiles", object{"changes": []object{{"uri": e.uri(name), "type": 1}}})
}

// TestLSPStub: the Go function that a tool names and nobody has written is written with the signature that the workflow needs, into the
// package or into a folder that is not there yet; where that would not help, the reason is said.
func TestLSPStub(t *testing.T) {
	t.Parallel()
	e := editFor(t, edit(t, map[string]string{"go.mod": "module example.com/m\n\ngo 1.25\n", "tools/tools.go": "package tools\n\n// Taken is no function.\ntype Taken struct{}\n"}).dir, nil, taking)
	const name = "m.flowgen.yaml"
	e.open(name, `flowgen: 1
name: m
types: {Hit: {path: string, line: int}}
input: {text: string, n: int, since: time}
tools:
  search: {go: ./tools.Search, in: {q: string, limit: {type: int, default: 3}}, out: {hits: list<Hit>, took: duration}, effects: reads}
nodes:
  found: {tool: search, with: {q: $input.text}}
  said: {go: ./tools.Say, with: {type: "x", n: $input.n, list: $found.hits}}
output: {hits: $found.hits}
`)
	e.until(name, "package tools has no function `Search`")
	take := func(word, title string) string {
		t.Helper()
		a, err := e.take(name, word, title)
		if err != nil {
			t.Fatal(err)
		}
		file := "tools/" + strings.ToLower(strings.TrimPrefix(title, "write the Go function ")) + ".go"
		text := a.created(t, file)
		e.save(file, text)
		return text
	}
	want := `package tools

import (
	"context"
	"errors"
	"time"
)

// SearchIn is a part of what the workflow passes or expects.
type SearchIn struct {
	Q     string ` + "`json:\"q\"`" + `
	Limit int64  ` + "`json:\"limit,omitempty\"`" + `
}

// Hit is a part of what the workflow passes or expects.
type Hit struct {
	Path string ` + "`json:\"path\"`" + `
	Line int64  ` + "`json:\"line\"`" + `
}

// SearchOut is a part of what the workflow passes or expects.
type SearchOut struct {
	Hits []Hit         ` + "`json:\"hits\"`" + `
	Took time.Duration ` + "`json:\"took\"`" + `
}

// Search is the tool search of m.flowgen.yaml.
func Search(ctx context.Context, in SearchIn) (out SearchOut, err error) {
	return out, errors.New("Search is not written yet")
}
`
	if got := take("Search, in", "write the Go function Search"); got != want {
		t.Errorf("written:\n%q\nwant\n%q", got, want)
	}
	e.until(name, "has no function `Say`")
	if _, err := e.take(name, "Say, with", "write the Go function Say"); err == nil || !strings.Contains(err.Error(), "runtime/value") {
		t.Errorf("a module that does not have the type of any value: %v", err)
	}
	e.replace(name, `  said: {go: ./tools.Say, with: {type: "x", n: $input.n, list: $found.hits}}`, `  said: {go: ./say.Say, with: {type: "x", n: $input.n, hits: $found.hits}, set: {}}`)
	e.replace(name, ", set: {}", "")
	e.until(name, "no folder `./say`")
}

// TestLSPExtract: nodes that stand together become a flow of their own, with what it reads as input, what others read as output, and the
// declarations that it needs; the tests of the workflow name its calls in it. What would change the workflow's meaning is refused.
func TestLSPExtract(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"lib.flowgen.yaml": "flowgen: 1\nname: lib\ntools:\n  up: {starlark: up.star, in: {x: string}, out: string, effects: none}\n",
		"up.star":          "def up(x):\n    return x\n",
		"main.test.yaml":   "flowgen: 1\ncases:\n  one: {input: {who: x, all: []}, want: {calls: {ask: {times: 1}, scan: {times: 1}}}}\n",
	}
	e := editFor(t, edit(t, files).dir, nil, taking)
	const name = "main.flowgen.yaml"
	e.open(name, `flowgen: 1
name: main
include: [lib.flowgen.yaml]
types: {Item: {id: int, note: opt<string>}}
input: {who: string, all: list<Item>}
secrets: [OPENAI_API_KEY, OTHER]
models:
  m: {model: "openai:gpt-4o-mini", max_tokens: 10}
  other: {model: "openai:gpt-4o", max_tokens: 10, key: OTHER}
tools:
  # finds
  find: {command: [echo, "{{ text }}"], in: {text: string, items: list<Item>}, out: {hits: [{path: string}]}, effects: reads, sandbox: none}
state: {seen: list<string>}
nodes:
  first: {let: {text: "Hello, {{ input.who }}", n: 1}}
  # looks
  scan:
    tool: find
    with: {text: $first.text, items: $input.all} # here
  ask: {llm: m, prompt: "{{ size(scan.hits) }} of {{ first.n }}", when: $first.n > 0}
  up: {tool: lib.up, with: {x: $input.who}}
  last: {let: "{{ default(ask, \"\") }} {{ up }}", set: {seen: []}}
  more: {llm: other, prompt: x}
output: {a: $last, hits: $scan.hits, b: $more, n: "$size(state.seen)"}
`)
	if got := e.diagnostics(name); len(got) != 0 {
		t.Fatalf("diagnostics: %q", got)
	}
	take := func(from, to, title string) (lspAction, error) {
		t.Helper()
		text := e.texts[name]
		lo, hi := strings.Index(text, from), strings.Index(text, to)+len(to)
		where := object{"textDocument": object{"uri": e.uri(name)}, "range": object{"start": at(text, lo), "end": at(text, hi)}, "context": object{"diagnostics": []any{}, "only": []string{"refactor.extract"}}}
		list := answer[[]json.RawMessage](t, e.ask("textDocument/codeAction", where))
		if len(list) != 1 || answer[lspAction](t, list[0]).Title != title {
			t.Fatalf("%s: offered: %s", from, list)
		}
		raw, err := e.try("codeAction/resolve", list[0])
		if err != nil {
			return lspAction{}, err
		}
		return answer[lspAction](t, raw), nil
	}
	for _, c := range []struct{ from, to, title, why string }{
		{"up: {", "last: {", "move 2 nodes into a flow of their own", "node last sets state"},
		{"first: {", "Hello", "move node first into a flow of its own", ""},
		{"scan:\n", "ask: {", "move 2 nodes into a flow of their own", ""},
	} {
		a, err := take(c.from, c.to, c.title)
		if c.why != "" {
			if err == nil || !strings.Contains(err.Error(), c.why) {
				t.Errorf("%s: %v", c.title, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.from, err)
			continue
		}
		if c.from == "first: {" {
			if got := a.created(t, "main_run_first.flowgen.yaml"); strings.Contains(got, "include") || strings.Contains(got, "secrets") {
				t.Errorf("more than is needed:\n%s", got)
			}
			continue
		}
		const want = `flowgen: 1
name: main_scan_to_ask
types:
  ScanToAskItem: {id: int, note: opt<string>}
input:
  first: {text: string, n: int}
  all: list<ScanToAskItem>
secrets: [OPENAI_API_KEY]
models:
  m: {model: "openai:gpt-4o-mini", max_tokens: 10}
tools:
  find:
    command: [echo, "{{ text }}"]
    in: {text: string, items: list<ScanToAskItem>}
    out: {hits: [{path: string}]}
    effects: reads
    sandbox: none
nodes:
  scan:
    tool: find
    with: {text: $input.first.text, items: $input.all}  # here
  ask: {llm: m, prompt: "{{ size(scan.hits) }} of {{ input.first.n }}", when: $input.first.n > 0}
output:
  ask: $ask
  scan: $scan
`
		if got := a.created(t, "main_scan_to_ask.flowgen.yaml"); got != want {
			t.Errorf("the flow:\n%s", got)
		}
		e.save("main_scan_to_ask.flowgen.yaml", want)
		for _, d := range a.Edit.DocumentChanges {
			if d.Kind == "" && !strings.HasSuffix(d.TextDocument.URI, "_scan_to_ask.flowgen.yaml") {
				e.apply(lspEdits{map[string][]lspEdit{d.TextDocument.URI: d.Edits}})
			}
		}
		text := e.texts[name]
		if !strings.Contains(text, "\n  # looks\n  scan_to_ask: {flow: ./main_scan_to_ask.flowgen.yaml, with: {first: $first, all: $input.all}}\n  up: {") ||
			!strings.Contains(text, "default(scan_to_ask.ask,") || !strings.Contains(text, "hits: $scan_to_ask.scan.hits") {
			t.Errorf("the rest:\n%s", text)
		}
		if got := e.texts["main.test.yaml"]; !strings.Contains(got, "calls: {scan_to_ask/ask: {times: 1}, scan_to_ask/scan: {times: 1}}") {
			t.Errorf("the test: %s", got)
		}
		if got := e.diagnostics(name); len(got) != 1 || !strings.Contains(got[0], `tool "find" is not used`) {
			t.Errorf("afterwards: %q", got)
		}
	}
}
