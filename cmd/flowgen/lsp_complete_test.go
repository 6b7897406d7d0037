package main

import (
	"slices"
	"strings"
	"testing"
)

const shop = `flowgen: 1
name: shop
types:
  Item: {sku: string, price: float, tags: list<string>}
input:
  who: string
  items: list<Item>
state: {seen: {type: int, init: 0}}
secrets: [KEY]
models: {fast: {model: "openai:gpt-4o-mini", key: KEY, max_tokens: 50}}
tools:
  greet: {shell: "echo hi", in: {name: string, loud: {type: bool, default: false}}, out: string, effects: none}
nodes:
  first: {tool: greet, with: {name: $input.who}}
  score:
    llm: fast
    prompt: "Rate {{ first }}"
    out: {route: enum<keep|drop>, why: string}
  last: {let: "{{ score.why }}"}
edges:
  - first -> score -> last -> end
output: {text: $last}
`

// TestLSPCompletion: at each place, marked by a bar, the server offers these and not those.
func TestLSPCompletion(t *testing.T) {
	t.Parallel()
	e := edit(t, map[string]string{"prompts/ask.md": "x", "notes/words.py": "def count(text: str) -> int:\n    return 1\n\ndef _own():\n    pass\n",
		"tools/tools.go": "package tools\n\n// Search finds.\nfunc Search(text string) ([]string, error) { return nil, nil }\n\nfunc Watch(c chan int) {}\n\nfunc own() {}\n"})
	const name = "shop.flowgen.yaml"
	e.open(name, shop)
	e.diagnostics(name)
	for _, c := range []struct{ old, new, want, not string }{
		{"{{ score.why }}", "{{ score.| }}", "route why", "first input"},
		{"{{ score.why }}", "{{ score.|", "route why", "first input"},
		{"{{ score.why }}", "{{ | }}", "first score input size", "last"},
		{"{{ first }}", "{{ | }}", "first input", "score last"},
		{"$input.who}", "$input.|}", "who items", "first"},
		{"$input.who}", "$input.w|}", "who", "first"},
		{"{name: $input.who}", "{name: $input.who, |}", "loud", "name"},
		{"tool: greet", "tool: |", "greet", "fast first"},
		{"llm: fast", "llm: |", "fast", "greet"},
		{"key: KEY", "key: |", "KEY", "fast"},
		{"effects: none", "effects: |", "none reads writes external", "greet"},
		{"items: list<Item>", "items: |", "Item string list<>", "first"},
		{"    out: {route", "    | \n    out: {route", "reask with timeout retry when", "llm prompt parallel"},
		{"prompt: \"Rate {{ first }}\"", "prompt: {file: prompts/|}", "prompts/ask.md", "first"},
		{"    llm: fast\n", "    llm: fast\n    timeout: |\n", "30s 5m", "first"},
		{"edges:\n", "|\nedges:\n", "policy defaults agents", "nodes tools"},
		{"  last: {let", "  other: {|}\n  last: {let", "tool let map llm agent when", "shell"},
		{"- first -> score", "- first -> |", "score last end", "greet"},
		{"{shell: \"echo hi\",", "{go: ./|,", "./tools ./prompts", "./tools.Search"},
		{"{shell: \"echo hi\",", "{go: ./tools.|,", "./tools.Search", "./tools.Watch ./tools.own"},
		{"{shell: \"echo hi\",", "{python: notes.|,", "notes.words:", "notes.words:count"},
		{"{shell: \"echo hi\",", "{python: \"notes.words:|\",", "notes.words:count", "notes.words:_own"},
		{"edges:\n", "edges:\n  - {from: score, switch: score.route, cases: {keep: last, |}}\n", "drop", "keep who"},
		{"  last: {let", "  last: {when: score.route == \"|\", let", "keep drop", "score"},
		{"out: {route: enum<keep|drop>", "on_error: |\n    out: {route: enum<keep|drop>", "fail skip", "first"},
	} {
		i := strings.Index(c.new, "|")
		e.replace(name, c.old, c.new[:i]+c.new[i+1:])
		p := e.on(name, c.new[:i]+c.new[i+1:], 0, i)
		got := answer[struct {
			Items []struct {
				Label    string
				TextEdit lspEdit
			}
		}](t, e.ask("textDocument/completion", p))
		var labels []string
		for _, it := range got.Items {
			labels = append(labels, it.Label)
			if it.TextEdit.Range.End != p["position"] {
				t.Errorf("%q: the edit of %s ends at %v", c.new, it.Label, it.TextEdit.Range.End)
			}
		}
		for w := range strings.FieldsSeq(c.want) {
			if !slices.Contains(labels, w) {
				t.Errorf("%q: no %s in %q", c.new, w, labels)
			}
		}
		for w := range strings.FieldsSeq(c.not) {
			if slices.Contains(labels, w) {
				t.Errorf("%q: %s is offered", c.new, w)
			}
		}
		e.replace(name, c.new[:i]+c.new[i+1:], c.old)
		if e.texts[name] != shop {
			t.Fatal("the text is another one")
		}
	}
	e.replace(name, "$input.who}", "$input.whoo}")
	actions := answer[[]struct{ Title string }](t, e.ask("textDocument/codeAction", object{"textDocument": object{"uri": e.uri(name)}, "context": object{"diagnostics": []any{}},
		"range": lspRange{at(e.texts[name], strings.Index(e.texts[name], "whoo")), at(e.texts[name], strings.Index(e.texts[name], "whoo")+1)}}))
	if len(actions) == 0 {
		t.Errorf("no action fixes a name")
	}
	e.replace(name, "$input.whoo}", "$input.zzzz}")
	actions = answer[[]struct{ Title string }](t, e.ask("textDocument/codeAction", object{"textDocument": object{"uri": e.uri(name)}, "context": object{"diagnostics": []any{}},
		"range": lspRange{at(e.texts[name], strings.Index(e.texts[name], "zzzz")), at(e.texts[name], strings.Index(e.texts[name], "zzzz")+1)}}))
	if len(actions) != 2 || !slices.ContainsFunc(actions, func(a struct{ Title string }) bool { return a.Title == "change to items" }) {
		t.Errorf("choices: %v", actions)
	}
	e.replace(name, "$input.zzzz}", "$input.who}")
	hints := answer[[]struct{ Label string }](t, e.ask("textDocument/inlayHint", object{"textDocument": object{"uri": e.uri(name)}, "range": lspRange{End: lspPosition{100, 0}}}))
	if len(hints) != 3 || hints[1].Label != ": {route: enum<keep|drop>, why: string}" {
		t.Errorf("hints: %v", hints)
	}
	hover := func(word string, skip int) string {
		return answer[struct{ Contents struct{ Value string } }](t, e.ask("textDocument/hover", e.on(name, word, 0, skip))).Contents.Value
	}
	for _, c := range []struct {
		word, want string
		skip       int
	}{
		{"effects: none", "what a call does to the world", 2}, {"score.why", "score: {route: enum<keep|drop>, why: string}", 1}, {"score.why", "why: string", 7},
	} {
		if got := hover(c.word, c.skip); !strings.Contains(got, c.want) {
			t.Errorf("hover of %s: %q", c.word, got)
		}
	}
}

// TestLSPTriggers: behind every character that makes a client ask for completion there is something to offer.
func TestLSPTriggers(t *testing.T) {
	t.Parallel()
	e := edit(t, map[string]string{"prompts/ask.md": "x"})
	const name = "shop.flowgen.yaml"
	e.open(name, shop)
	e.diagnostics(name)
	triggers := answer[struct {
		Capabilities struct {
			CompletionProvider struct{ TriggerCharacters []string }
		}
	}](t, e.init).Capabilities.CompletionProvider.TriggerCharacters
	tried := map[string]bool{}
	for _, c := range []struct{ old, new, want string }{
		{"$input.who", "$", "input"},
		{"$input.who", "$input.", "who"},
		{"let: \"{{ score.why }}", "let: \"{{", "score"},
		{"llm: fast", "llm: ", "fast"},
		{"\"Rate {{ first }}\"", "{file: prompts/", "prompts/ask.md"},
		{"items: list<Item>", "items: Item|", "string"},
		{"{{ score.why }}", "{{ score.why |", "first"},
		{"- first -> score", "- first -> [", "score"},
		{"{{ score.why }}", "{{ [", "score"},
		{"{{ score.why }}", "{{ score[", "score"},
		{"  last: {let", "  last: {when: score.route in [", "score"},
	} {
		last := c.new[len(c.new)-1:]
		if tried[last] = true; !slices.Contains(triggers, last) {
			t.Errorf("clients do not ask behind %q", last)
		}
		e.replace(name, c.old, c.new)
		got := answer[struct{ Items []struct{ Label string } }](t, e.ask("textDocument/completion", e.on(name, c.new, 0, len(c.new))))
		if !slices.ContainsFunc(got.Items, func(i struct{ Label string }) bool { return i.Label == c.want }) {
			t.Errorf("%q: no %s in %v", c.new, c.want, got.Items)
		}
		e.replace(name, c.new, c.old)
	}
	for _, c := range triggers {
		if !tried[c] {
			t.Errorf("%q was not tried", c)
		}
	}
}
