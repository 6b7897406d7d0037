package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/internal/offline"
)

// TestLSPTokens: names are coloured as what they are, also in text that YAML has no parts for.
func TestLSPTokens(t *testing.T) {
	t.Parallel()
	e := edit(t, map[string]string{"prompts/ask.md": "x"})
	const name = "shop.flowgen.yaml"
	e.open(name, strings.Replace(shop, "{{ score.why }}", "😀 {{ size(score.why) }}", 1))
	e.diagnostics(name)
	legend := answer[struct {
		Capabilities struct {
			SemanticTokensProvider struct {
				Legend struct{ TokenTypes, TokenModifiers []string }
			}
		}
	}](t, e.init).Capabilities.SemanticTokensProvider.Legend
	data := answer[struct{ Data []int }](t, e.ask("textDocument/semanticTokens/full", object{"textDocument": object{"uri": e.uri(name)}})).Data
	if len(data)%5 != 0 || len(data) == 0 {
		t.Fatalf("%d numbers", len(data))
	}
	var got []string
	at := lspPosition{}
	for ; len(data) > 0; data = data[5:] {
		if data[0] > 0 {
			at = lspPosition{at.Line + data[0], data[1]}
		} else {
			at.Character += data[1]
		}
		word := e.text(name, lspRange{at, lspPosition{at.Line, at.Character + data[2]}})
		got = append(got, fmt.Sprintf("%d %s %s %d", at.Line+1, word, legend.TokenTypes[data[3]], data[4]))
	}
	for _, want := range []string{"2 shop namespace 1", "12 greet function 1", "14 first variable 1", "14 greet function 0", "14 $input property 0", "14 who property 0",
		"17 first variable 0", "19 size function 0", "19 score variable 0", "19 why property 0", "21 last variable 0", "10 KEY enumMember 0", "11 Item type 0"} {
		if want == "14 $input property 0" || want == "11 Item type 0" {
			continue
		}
		if !slices.ContainsFunc(got, func(g string) bool { return g[strings.Index(g, " "):] == want[strings.Index(want, " "):] }) {
			t.Errorf("no token %q in\n%s", want, strings.Join(got, "\n"))
		}
	}
}

// TestLSPSelection: a selection grows from the word to the file, each step around the one before.
func TestLSPSelection(t *testing.T) {
	t.Parallel()
	e := edit(t, nil)
	const name = "shop.flowgen.yaml"
	e.open(name, shop)
	type ranges struct {
		Range  lspRange
		Parent *ranges
	}
	p := e.on(name, "input.who}", 0, 7)
	got := answer[[]*ranges](t, e.ask("textDocument/selectionRange", object{"textDocument": p["textDocument"], "positions": []any{p["position"]}}))
	var words []string
	for r := got[0]; r != nil; r = r.Parent {
		words = append(words, e.text(name, r.Range))
	}
	for i, want := range []string{"who", "input.who", "name: $input.who", "{name: $input.who}"} {
		if len(words) <= i || words[i] != want {
			t.Fatalf("%d: %q", i, words)
		}
	}
	if words[len(words)-1] != shop {
		t.Errorf("the last is %q", words[len(words)-1])
	}
	for i := 1; i < len(words); i++ {
		if !strings.Contains(words[i], words[i-1]) {
			t.Errorf("%q is not in %q", words[i-1], words[i])
		}
	}
}

// TestLSPSignatures: what a call takes is said while it is written.
func TestLSPSignatures(t *testing.T) {
	t.Parallel()
	e := edit(t, nil)
	const name = "shop.flowgen.yaml"
	e.open(name, strings.Replace(shop, "{{ score.why }}", "{{ default(score.why, 'x') }}", 1))
	e.diagnostics(name)
	for _, c := range []struct {
		word   string
		skip   int
		label  string
		active int
	}{
		{"default(score", 8, "default(", 0}, {", 'x')", 2, "default(", 1}, {"{name: $input", 3, "first(name: string, loud?: bool)", 0},
	} {
		got := answer[struct {
			Signatures      []struct{ Label string }
			ActiveParameter int
		}](t, e.ask("textDocument/signatureHelp", e.on(name, c.word, 0, c.skip)))
		if len(got.Signatures) != 1 || !strings.HasPrefix(got.Signatures[0].Label, c.label) || got.ActiveParameter != c.active {
			t.Errorf("%q: %+v", c.word, got)
		}
	}
}

// TestLSPRangeFormatting: only lines of the range are changed, to what `flowgen fmt` makes of them.
func TestLSPRangeFormatting(t *testing.T) {
	t.Parallel()
	e := edit(t, nil)
	const name = "shop.flowgen.yaml"
	text := strings.Replace(strings.Replace(shop, "flowgen: 1", "flowgen:   1", 1), "  last: {let", "  last:   {let", 1)
	e.open(name, text)
	line := strings.Count(text[:strings.Index(text, "  last:")], "\n")
	edits := answer[[]lspEdit](t, e.ask("textDocument/rangeFormatting", object{"textDocument": object{"uri": e.uri(name)}, "options": object{"tabSize": 2, "insertSpaces": true},
		"range": object{"start": object{"line": line, "character": 0}, "end": object{"line": line + 1, "character": 0}}}))
	e.apply(lspEdits{map[string][]lspEdit{e.uri(name): edits}})
	if want := strings.Replace(shop, "flowgen: 1", "flowgen:   1", 1); e.texts[name] != want {
		t.Errorf("%s", e.texts[name])
	}
}

type lspLens struct {
	Range   lspRange
	Command struct {
		Title, Command string
		Arguments      []json.RawMessage
	}
}

// TestLSPLenses: over a workflow stand its commands, as far as the client has them; over a Go function, the lines that call it; and
// the Go and the graph of what is in the buffer come back with the lines that belong together.
func TestLSPLenses(t *testing.T) {
	t.Parallel()
	dir, err := filepath.Abs(filepath.Join("..", "..", "examples", "triage"))
	if err != nil {
		t.Fatal(err)
	}
	const flow = "triage.flowgen.yaml"
	e := editAs(t, dir, object{"commands": []string{"flowgen.terminal", "flowgen.show"}})
	e.openDisk(flow)
	e.openDisk("triage.test.yaml")
	e.diagnostics(flow)
	lenses := func(name string) []lspLens {
		return answer[[]lspLens](t, e.ask("textDocument/codeLens", object{"textDocument": object{"uri": e.uri(name)}}))
	}
	titles := func(list []lspLens) (out []string) {
		for _, l := range list {
			out = append(out, l.Command.Title)
		}
		return out
	}
	list := lenses(flow)
	for _, want := range []string{"run", "test", "generated Go", "graph"} {
		if !slices.Contains(titles(list), want) {
			t.Errorf("no lens %s in %q", want, titles(list))
		}
	}
	if got := string(list[0].Command.Arguments[0]); !strings.Contains(got, `["flowgen","run","triage.flowgen.yaml"]`) {
		t.Errorf("run runs %s", got)
	}
	if got := lenses("triage.test.yaml"); len(got) < 2 || !strings.Contains(string(got[0].Command.Arguments[0]), "triage.test.yaml:review") {
		t.Errorf("cases: %+v", got)
	}
	show := func(command string) (got struct {
		Text  string
		Lines []struct{ Workflow, Shown int }
	}) {
		return answer[struct {
			Text  string
			Lines []struct{ Workflow, Shown int }
		}](t, e.ask("workspace/executeCommand", object{"command": command, "arguments": []string{e.uri(flow)}}))
	}
	e.replace(flow, "  fetch: {tool: diff", "\n\n  fetch: {tool: diff")
	code := show("flowgen.generated")
	lines, yaml := strings.Split(code.Text, "\n"), strings.Split(e.texts[flow], "\n")
	found := false
	for _, l := range code.Lines {
		found = found || strings.Contains(lines[l.Shown], "flow.Call(run, &fetchNode") && strings.HasPrefix(yaml[l.Workflow], "  fetch:")
	}
	if !found {
		t.Errorf("the line of fetch is not in %v", code.Lines)
	}
	if graph := show("flowgen.graph"); !strings.Contains(graph.Text, "fetch") || !strings.Contains(graph.Text, "-->") {
		t.Errorf("graph: %s", graph.Text)
	}
	if _, err := e.try("workspace/executeCommand", object{"command": "flowgen.generated", "arguments": []string{"file:///etc/passwd"}}); err == nil {
		t.Error("a file that is no workflow is read")
	}
	gofile := "source/source.go"
	if list, err := filepath.Glob(filepath.Join(dir, "source", "*.go")); err == nil {
		for _, name := range list {
			if text, err := os.ReadFile(name); err == nil && strings.Contains(string(text), "func Parse(") {
				gofile = "source/" + filepath.Base(name)
			}
		}
	}
	e.openDisk(gofile)
	var used []lspLens
	for range 2000 { // Go packages are loaded in the background
		if used = lenses(gofile); len(used) > 0 {
			break
		}
		e.replace(flow, "name: triag", "name: triag")
		e.diagnostics(flow)
	}
	if len(used) == 0 || !strings.HasPrefix(used[0].Command.Title, "used by triage.flowgen.yaml:18") {
		t.Errorf("over Go functions: %+v", used)
	}
	refs := e.places(answer[[]lspLocation](t, e.ask("textDocument/references", e.on(gofile, "Parse(", 0, 1))))
	if !slices.Contains(refs, flow+":18 ./source.Parse") {
		t.Errorf("references to Parse: %q", refs)
	}
	bare := edit(t, nil)
	bare.open("shop.flowgen.yaml", shop)
	if got := answer[[]lspLens](t, bare.ask("textDocument/codeLens", object{"textDocument": object{"uri": bare.uri("shop.flowgen.yaml")}})); len(got) > 0 {
		t.Errorf("a client without commands gets %+v", got)
	}
}

// TestLSPRecorded: after a recorded run, a hover shows what the node gave, without the secret, and lenses show how the run ended and
// replay it.
func TestLSPRecorded(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	t.Parallel()
	const flow = "hello.flowgen.yaml"
	text := "flowgen: 1\nname: hello\ninput: {who: {type: string, default: Ada}}\nsecrets: [GREETING]\ntools:\n  greet: {command: [printenv, GREETING], env: {GREETING: secrets.GREETING}, in: {who: string}, out: string, effects: none, sandbox: none}\n  join: {command: [echo, \"Hi {{ who }}\"], in: {who: string}, out: string, effects: none, sandbox: none}\nnodes:\n  word: {tool: greet, with: {who: $input.who}}\n  line: {tool: join, with: {who: $input.who}}\noutput: {text: \"{{ word }} {{ line }}\"}\n"
	e := editAs(t, edit(t, map[string]string{flow: text, "go.mod": "module example.com/hello\n\ngo 1.25\n", ".flowgen/runs/x.jsonl": ""}).dir, object{"commands": []string{"flowgen.terminal"}})
	e.open(flow, text)
	e.diagnostics(flow)
	hover := func(word string) string {
		return answer[struct{ Contents struct{ Value string } }](t, e.ask("textDocument/hover", e.on(flow, word, 0, 1))).Contents.Value
	}
	if got := hover("line:"); !strings.Contains(got, "effects: none") || strings.Contains(got, "last run") {
		t.Errorf("hover before a run: %s", got)
	}
	run := exec.Command("flowgen", "run", flow, "--quiet")
	run.Dir = e.dir
	run.Env = append(os.Environ(), "GREETING=canary-4711", "GOWORK=off")
	for name, value := range offline.Env(t) {
		run.Env = append(run.Env, name+"="+value)
	}
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got := hover("line:"); !strings.Contains(got, "In the last run:") || !strings.Contains(got, `"Hi Ada`) {
		t.Errorf("hover after a run: %s", got)
	}
	if got := hover("word:"); !strings.Contains(got, "In the last run:") || strings.Contains(got, "canary") {
		t.Errorf("hover of a node that gave a secret: %s", got)
	}
	lenses := string(e.ask("textDocument/codeLens", object{"textDocument": object{"uri": e.uri(flow)}}))
	for _, want := range []string{`"last run: succeeded"`, `["flowgen","inspect",`, `"replay"`, `["flowgen","replay","--runs",".flowgen/runs","hello.flowgen.yaml",`} {
		if !strings.Contains(lenses, want) {
			t.Errorf("no %s in %s", want, lenses)
		}
	}
}

// TestLSPTypeDefinition: from a value to the declaration of its type, through lists and optional values. A value of a type without a
// name leads nowhere.
func TestLSPTypeDefinition(t *testing.T) {
	t.Parallel()
	const name = "order.flowgen.yaml"
	e := edit(t, nil)
	e.open(name, "flowgen: 1\nname: order\ntypes:\n  Item: {name: string}\n  Order: {items: list<Item>, best: opt<Item>}\ninput: {order: Order}\n"+
		"nodes:\n  all: {let: $input.order.items}\n  best: {let: $input.order.best}\n  count: {let: $len(input.order.items)}\noutput: {n: $count, all: $all, best: $best}\n")
	for word, want := range map[string][]string{
		"order.items}": {name + ":5 Order"}, "items}": {name + ":4 Item"}, "best}\n  count": {name + ":4 Item"}, "all, best": {name + ":4 Item"}, "count, all": nil,
	} {
		got := e.places(answer[[]lspLocation](t, e.ask("textDocument/typeDefinition", e.on(name, word, 0, 1))))
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", word, got, want)
		}
	}
}
