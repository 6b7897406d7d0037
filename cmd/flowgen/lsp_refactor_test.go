package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
)

type lspAction struct {
	Title, Kind string
	Data        json.RawMessage
	Edit        struct {
		DocumentChanges []struct {
			Kind, URI    string
			TextDocument struct{ URI string }
			Edits        []lspEdit
		}
	}
}

// taking are the abilities of a client that gets refactorings.
var taking = object{
	"workspace":    object{"workspaceEdit": object{"documentChanges": true, "resourceOperations": []string{"create"}}},
	"textDocument": object{"codeAction": object{"dataSupport": true, "resolveSupport": object{"properties": []string{"edit"}}}},
}

// take asks for the refactoring of a title at a word, and for its edit.
func (e *editor) take(name, word, title string) (lspAction, error) {
	e.t.Helper()
	return e.takeAt(name, word, 1, title)
}

func (e *editor) takeAt(name, word string, skip int, title string) (lspAction, error) {
	e.t.Helper()
	p := e.on(name, word, 0, skip)
	var titles []string
	for _, a := range answer[[]json.RawMessage](e.t, e.ask("textDocument/codeAction", object{"textDocument": p["textDocument"], "range": object{"start": p["position"], "end": p["position"]}, "context": object{"diagnostics": []any{}}})) {
		one := answer[lspAction](e.t, a)
		titles = append(titles, one.Title)
		if one.Title != title {
			continue
		}
		raw, err := e.try("codeAction/resolve", a)
		if err != nil {
			return one, err
		}
		return answer[lspAction](e.t, raw), nil
	}
	e.t.Fatalf("at %s: %q", word, titles)
	return lspAction{}, nil
}

// created is the text of the file that an action creates.
func (a lspAction) created(t *testing.T, name string) string {
	t.Helper()
	d := a.Edit.DocumentChanges
	for i := 0; i+1 < len(d); i++ {
		if d[i].Kind == "create" && strings.HasSuffix(d[i].URI, "/"+name) && d[i+1].TextDocument.URI == d[i].URI && len(d[i+1].Edits) == 1 {
			return d[i+1].Edits[0].NewText
		}
	}
	t.Fatalf("%s: %s is not created: %+v", a.Title, name, a.Edit)
	return ""
}

// ticketFiles are a graph of Stargraph with its tool.
var ticketFiles = map[string]string{"graph.yaml": `# Looks at tickets.

id: tickets # the name
state:
  # what somebody wrote
  text: str
  verdict: {type: str, route: true} # urgent?
nodes:
  look.up: {kind: tool, tool: desk.judge@2, inputs: {text: text}, out: verdict} # asks
  # nothing to do
  fin: {kind: halt}
routes:
  look.up: {now: done} # at once
`, "desk.py": `def judge(text: str) -> str:
    return "now" if "!!" in text else "later"
`, "flowgen.bindings.yaml": `flowgen: 1
tools:
  desk.judge@2: {python: "desk:judge", in: {text: string}, out: string, effects: none}
`}

// TestLSPRefactorings: a missing prompt, a first test and a converted file are created, and nothing is written over what is there.
func TestLSPRefactorings(t *testing.T) {
	t.Parallel()
	e := editFor(t, edit(t, ticketFiles).dir, nil, taking)
	const name = "ask.flowgen.yaml"
	e.open(name, "flowgen: 1\nname: ask\ninput: {who: string, n: int, all: list<string>}\nmodels: {fast: {model: \"openai:gpt-4o-mini\"}}\nsecrets: [OPENAI_API_KEY]\nnodes:\n  ask: {llm: fast, prompt: {file: prompts/ask.md}}\noutput: {text: $ask}\n")
	if got := e.diagnostics(name); len(got) == 0 {
		t.Fatal("no diagnostic of the missing prompt")
	}
	a, err := e.take(name, "prompts/ask.md", "create prompts/ask.md")
	if err != nil {
		t.Fatal(err)
	}
	if got := a.created(t, "prompts/ask.md"); got == "" {
		t.Error("an empty prompt")
	}
	e.replace(name, "{file: prompts/ask.md}", "\"Hello {{ input.who }}\"")
	e.diagnostics(name)
	if a, err = e.take(name, "name: ask", "create a test file"); err != nil {
		t.Fatal(err)
	}
	if got := a.created(t, "ask.test.yaml"); !strings.Contains(got, `input: {who: "", n: 0, all: []}`) {
		t.Errorf("test file: %s", got)
	}
	const buffer = "ask.test.yaml" // which is on no disk
	e.open(buffer, strings.Replace(a.created(t, buffer), "n: 0", "n: many", 1))
	if got := e.diagnostics(buffer); len(got) != 1 {
		t.Errorf("a wrong test file in a buffer: %v", got)
	}
	e.replace(buffer, "n: many", "n: 1")
	if got := e.diagnostics(buffer); len(got) != 0 {
		t.Errorf("a right test file in a buffer: %v", got)
	}
	e.openDisk("graph.yaml")
	e.diagnostics("graph.yaml")
	if a, err = e.take("graph.yaml", "nodes:", "convert the file to flowgen's own language"); err != nil {
		t.Fatal(err)
	}
	if got := a.created(t, "graph.flowgen.yaml"); !strings.Contains(got, "\nflowgen: 1\n") || !strings.Contains(got, "tool: desk.judge@2") {
		t.Errorf("converted: %s", got)
	}
	if err := os.WriteFile(filepath.Join(e.dir, "graph.flowgen.yaml"), []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := e.take("graph.yaml", "nodes:", "convert the file to flowgen's own language"); err == nil || !strings.Contains(err.Error(), "exists") {
		t.Errorf("a file that is there: %v", err)
	}
}

// TestLSPMaterialize: calls of an agent that the last run has recorded become nodes, but not those of its model and not those whose input
// was redacted. What is only in the editor is kept.
func TestLSPMaterialize(t *testing.T) {
	t.Parallel()
	arc, err := txtar.ParseFile(filepath.Join("testdata", "script", "materialize.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range arc.Files {
		files[f.Name] = string(f.Data)
	}
	const name = "w.flowgen.yaml"
	e := editFor(t, edit(t, map[string]string{name: files["orig.yaml"], "sub.flowgen.yaml": files["sub.flowgen.yaml"], "search.star": files["search.star"],
		".flowgen/runs/w-20260102T030405000-9f3c/journal.jsonl": sealedLines(t, files["r.jsonl"])}).dir, nil, taking)
	e.openDisk(name)
	e.diagnostics(name)
	e.replace(name, "# It looks", "# unsaved: it looks")
	a, err := e.take(name, "agent: finder", "make a node of the recorded call review[1]/search")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range a.Edit.DocumentChanges {
		e.apply(lspEdits{map[string][]lspEdit{d.TextDocument.URI: d.Edits}})
	}
	text := e.texts[name]
	if !strings.Contains(text, "# unsaved: it looks") || !strings.Contains(text, "\n  search: {tool: w.search@1, with: {q: second}}\n") || !strings.Contains(text, "\n  - review -> search\n") {
		t.Errorf("with the node: %s", text)
	}
	if _, err := e.take(name, "agent: finder", "make a node of the recorded call review[2]/search"); err == nil || !strings.Contains(err.Error(), "contained a secret") {
		t.Errorf("a call with a redacted input: %v", err)
	}
	p := e.on(name, "agent: finder", 0, 1)
	if all := string(e.ask("textDocument/codeAction", object{"textDocument": p["textDocument"], "range": object{"start": p["position"], "end": p["position"]}, "context": object{"diagnostics": []any{}}})); strings.Contains(all, "/model") {
		t.Errorf("a call of a model is offered: %s", all)
	}
}

// sealedLines are lines of a journal as a run writes them, with their sums.
func sealedLines(t *testing.T, lines string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "log")
	log, _, err := wal.Open(wal.OS, name, wal.Buffered)
	if err != nil {
		t.Fatal(err)
	}
	for l := range strings.Lines(lines) {
		if err := log.Append([]byte(strings.TrimSuffix(l, "\n")), false); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
