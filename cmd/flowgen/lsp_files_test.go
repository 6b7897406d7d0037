package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// labels are what is offered behind a word of a file.
func (e *editor) labels(name, word string) (out []string) {
	e.t.Helper()
	for _, i := range answer[struct{ Items []struct{ Label string } }](e.t, e.ask("textDocument/completion", e.on(name, word, 0, len(word)))).Items {
		out = append(out, i.Label)
	}
	return out
}

// about is what a hover says of a place inside a word.
func (e *editor) about(name, word string, skip int) string {
	e.t.Helper()
	return answer[struct{ Contents struct{ Value string } }](e.t, e.ask("textDocument/hover", e.on(name, word, 0, skip))).Contents.Value
}

// TestLSPLinks: each name of a file that is there is a link: of libraries, flows, prompts, programs, schemas, documents and answers, and
// in tests that of their workflow. A name of nothing is none.
func TestLSPLinks(t *testing.T) {
	t.Parallel()
	e := edit(t, map[string]string{
		"lib/tools.flowgen.yaml": "flowgen: 1\nname: lib\ntools:\n  up: {starlark: up.star, in: {x: string}, out: string, effects: none}\n",
		"lib/up.star":            "def run(x):\n    return x\n",
		"child.flowgen.yaml":     "flowgen: 1\nname: child\nnodes:\n  a: {let: 1}\noutput: {a: $a}\n",
		"prompts/ask.md":         "Hello {{ who }}\n", "db.sql": "create table orders (id integer primary key);\n",
		"answers.yaml": "answers:\n  - {text: hi}\n", "main.test.yaml": "flowgen: 1\nworkflow: main.flowgen.yaml\ncases:\n  one: {input: {who: x}}\n",
	})
	const name = "main.flowgen.yaml"
	e.open(name, `flowgen: 1
name: main
include: [lib/tools.flowgen.yaml]
input: {who: string}
secrets: [DB]
models: {m: {model: "scripted:answers.yaml"}}
tools:
  rows: {sql: {db: DB, schema: db.sql, query: "select id from orders"}}
  gone: {starlark: gone.star, in: {x: string}, out: string, effects: none}
nodes:
  ask: {llm: m, prompt: {file: prompts/ask.md}, with: {who: $input.who}}
  up: {tool: lib.up, with: {x: $ask}}
  child: {flow: child.flowgen.yaml}
  rows: {tool: rows}
  gone: {tool: gone, with: {x: $up}}
output: {a: $gone, n: $rows, c: $child}
`)
	e.diagnostics(name)
	links := func(name string) (out []string) {
		for _, l := range answer[[]struct {
			Range  lspRange
			Target string
		}](t, e.ask("textDocument/documentLink", object{"textDocument": object{"uri": e.uri(name)}})) {
			out = append(out, e.text(name, l.Range)+" "+strings.TrimPrefix(l.Target, e.uri(".")+"/"))
		}
		slices.Sort(out)
		return out
	}
	want := []string{"child.flowgen.yaml child.flowgen.yaml", "db.sql db.sql", "lib/tools.flowgen.yaml lib/tools.flowgen.yaml", "prompts/ask.md prompts/ask.md", "scripted:answers.yaml answers.yaml"}
	if got := links(name); !slices.Equal(got, want) {
		t.Errorf("links: %q", got)
	}
	e.openDisk("lib/tools.flowgen.yaml")
	e.diagnostics("lib/tools.flowgen.yaml")
	if got := links("lib/tools.flowgen.yaml"); !slices.Equal(got, []string{"up.star lib/up.star"}) {
		t.Errorf("links of the library: %q", got)
	}
	e.openDisk("main.test.yaml")
	e.diagnostics("main.test.yaml")
	if got := links("main.test.yaml"); !slices.Equal(got, []string{"main.flowgen.yaml main.flowgen.yaml"}) {
		t.Errorf("links of the test: %q", got)
	}
	if got := e.places(answer[[]lspLocation](t, e.ask("textDocument/definition", e.on(name, "lib/tools", 0, 2)))); !slices.Equal(got, []string{"lib/tools.flowgen.yaml:1 "}) {
		t.Errorf("definition of a library: %q", got)
	}
}

// TestLSPBindings: in flowgen.bindings.yaml the tools that the graph next to it calls and nobody knows are offered, a tool leads to the
// nodes that call it, and the graph's node back to the tool; mistakes of the file are shown in it.
func TestLSPBindings(t *testing.T) {
	t.Parallel()
	const first = "  first: {kind: tool, tool: desk.open@1, inputs: {text: text}, out: text}\n"
	graph := strings.Replace(ticketFiles["graph.yaml"], "nodes:\n", "nodes:\n"+first, 1)
	e := edit(t, map[string]string{"graph.yaml": graph, "desk.py": ticketFiles["desk.py"], "other.yaml": "a: 1\n"})
	const name = "flowgen.bindings.yaml"
	text := ticketFiles[name]
	e.open(name, text+"  de\n")
	if got := e.diagnostics(name); len(got) == 0 {
		t.Error("no mistake of an unfinished line")
	}
	e.ask("workspace/symbol", object{"query": "x"}) // what stands beside is read
	if got := e.labels(name, "none}\n  de"); !slices.Contains(got, "desk.open@1") || slices.Contains(got, "desk.judge@2") {
		t.Errorf("offered: %q", got)
	}
	e.replace(name, "  de\n", "")
	if got := e.labels(name, `python: "desk:`); !slices.Contains(got, "desk:judge") {
		t.Errorf("functions: %q", got)
	}
	e.openDisk("graph.yaml")
	if got := e.diagnostics("graph.yaml"); len(got) == 0 {
		t.Error("no mistake of a tool that is not bound")
	}
	e.replace("graph.yaml", first, "")
	if got := e.diagnostics("graph.yaml"); len(got) != 0 {
		t.Errorf("the graph: %q", got)
	}
	if got := e.about(name, "desk.judge@2", 3); !strings.Contains(got, "tool desk.judge@2: string") {
		t.Errorf("hover: %q", got)
	}
	at := e.on(name, "desk.judge@2", 0, 3)
	if got := e.places(answer[[]lspLocation](t, e.ask("textDocument/definition", at))); !slices.Equal(got, []string{"graph.yaml:9 desk.judge@2"}) {
		t.Errorf("definition: %q", got)
	}
	if got := e.places(answer[[]lspLocation](t, e.ask("textDocument/definition", e.on("graph.yaml", "desk.judge@2", 0, 3)))); !slices.Equal(got, []string{name + ":3 desk.judge@2"}) {
		t.Errorf("definition from the graph: %q", got)
	}
	e.replace(name, "out: string", "out: strin")
	if got := e.diagnostics(name); len(got) != 1 || !strings.Contains(got[0], " strin: ") {
		t.Errorf("diagnostics: %q", got)
	}
}

// TestLSPLock: an entry of flowgen.lock says which tool it is of and leads to it, and a lock file that is no use is marked where it is.
func TestLSPLock(t *testing.T) {
	t.Parallel()
	archive, err := txtar.ParseFile(filepath.Join("..", "..", "golden", "native", "mcp.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range archive.Files {
		files[f.Name] = string(f.Data)
	}
	const name = "flowgen.lock"
	e := edit(t, map[string]string{"mcp.flowgen.yaml": files["mcp.flowgen.yaml"], "child.flowgen.yaml": files["child.flowgen.yaml"], name: files[name]})
	e.openDisk(name)
	if got := e.diagnostics(name); len(got) != 0 {
		t.Fatalf("diagnostics: %q", got)
	}
	for word, want := range map[string][]string{"\"search\"": {"mcp.flowgen.yaml:10 find"}, "\"list-channels\"": {"mcp.flowgen.yaml:12 channels", "mcp.flowgen.yaml:14 peek"},
		"\"docs\"": {"mcp.flowgen.yaml:8 docs"}} {
		if got := e.places(answer[[]lspLocation](t, e.ask("textDocument/definition", e.on(name, word, 0, 2)))); !slices.Equal(got, want) {
			t.Errorf("definition of %s: %q", word, got)
		}
	}
	if got := e.about(name, "\"search\"", 2); !strings.Contains(got, "tool find: ") || !strings.Contains(got, "Searches the documentation.") {
		t.Errorf("hover of a tool: %q", got)
	}
	if got := e.about(name, "\"docs\"", 2); !strings.Contains(got, "server docs") {
		t.Errorf("hover of a server: %q", got)
	}
	e.replace(name, `"hash": "sha256:`, `"hash": "sha256:0`)
	if got := e.diagnostics(name); len(got) != 1 || !strings.Contains(got[0], "its hash does not match") {
		t.Errorf("a hash that is another: %q", got)
	}
	e.replace(name, "{", "[")
	if got := e.diagnostics(name); len(got) != 1 || !strings.Contains(got[0], "not JSON") {
		t.Errorf("no JSON: %q", got)
	}
}

// TestLSPSQL: a statement is completed with the tables and columns of the schema that the checker uses, also while it has a mistake, and
// they say their types.
func TestLSPSQL(t *testing.T) {
	t.Parallel()
	e := edit(t, map[string]string{"db/1.sql": "create table orders (id integer primary key, total real not null, note text);\ncreate table people (name text not null);\n"})
	const name = "shop.flowgen.yaml"
	e.open(name, `flowgen: 1
name: shop
secrets: [SHOP]
tools:
  orders:
    sql:
      db: SHOP
      schema: db
      query: |
        select o.id, o.total, o.note
        from orders o
        where o.total > {least}
    in: {least: float}
nodes:
  all: {tool: orders, with: {least: 1}}
output: {all: $all}
`)
	if got := e.diagnostics(name); len(got) != 0 {
		t.Fatalf("diagnostics: %q", got)
	}
	if got := e.about(name, "o.total", 3); !strings.Contains(got, "column orders.total: float") {
		t.Errorf("hover of a column: %q", got)
	}
	if got := e.about(name, "from orders", 6); !strings.Contains(got, "table orders") || !strings.Contains(got, "note: opt<string>") {
		t.Errorf("hover of a table: %q", got)
	}
	e.replace(name, "o.note\n", "o.\n")
	if got := e.diagnostics(name); len(got) == 0 {
		t.Error("no mistake")
	}
	if got := e.labels(name, "o.total, o."); !slices.Equal(got, []string{"id", "total", "note"}) {
		t.Errorf("columns: %q", got)
	}
	e.replace(name, "from orders o", "from p")
	if got := e.labels(name, "from p"); !slices.Contains(got, "people") || slices.Contains(got, "name") {
		t.Errorf("tables: %q", got)
	}
	e.replace(name, "{least}", "{le}")
	if got := e.labels(name, "> {le"); !slices.Equal(got, []string{"least"}) {
		t.Errorf("parameters: %q", got)
	}
}

// TestLSPUnwritten: what another engine's file has without writing its name, as a graph that is called like its file and a node that it
// begins with, has no place in the outline, and no word that says something else is taken for it.
func TestLSPUnwritten(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for name, text := range ticketFiles {
		files[name] = text
	}
	files["graph.yaml"] = "state:\n  text: str\n  verdict: {type: str, route: true}\nnodes:\n  shout: {kind: template, template: \"{text}!\", out: text}\n" +
		"  judge: {kind: tool, tool: desk.judge@2, inputs: {text: text}, out: verdict}\n  fin: {kind: halt}\nroutes:\n  judge: {later: shout, now: fin}\n"
	e := edit(t, files)
	const name = "graph.yaml"
	e.openDisk(name)
	if got := e.diagnostics(name); len(got) != 0 {
		t.Fatalf("diagnostics: %q", got)
	}
	type symbol struct {
		Name           string
		SelectionRange lspRange
	}
	for _, s := range answer[[]symbol](t, e.ask("textDocument/documentSymbol", object{"textDocument": object{"uri": e.uri(name)}})) {
		if got := e.text(name, s.SelectionRange); got != s.Name {
			t.Errorf("the symbol %s is at %q", s.Name, got)
		}
	}
	if got := e.about(name, "later", 2); got != "" {
		t.Errorf("hover of a word of a verdict: %s", got)
	}
	if got := e.about(name, "desk.judge@2", 2); !strings.Contains(got, "tool desk.judge@2") {
		t.Errorf("hover of a tool: %s", got)
	}
}
