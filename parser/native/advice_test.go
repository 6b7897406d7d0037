package native_test

import (
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/parser"
)

// TestAdvice: what people and models write instead, and the help that they get. No help is applied that changes the meaning.
func TestAdvice(t *testing.T) {
	const head = "flowgen: 1\nname: a\n"
	node := func(text string) string {
		return head + "models: {m: \"ollama:x\"}\nnodes:\n  n: {" + text + "}\n"
	}
	input := func(typ string) string {
		return head + "input: {x: " + typ + "}\nnodes:\n  n: {let: {x: 1}}\n"
	}
	for _, tt := range []struct {
		text, help string
		fixed      bool // `check --fix` applies it
	}{
		{input("dict"), "`map<any>`", false},
		{input("array"), "`list<any>`", false},
		{input("date"), "`string`", false},
		{input("\"Optional[str]\""), "`opt<string>`", false},
		{node("llm: m, user: hi"), "`prompt:`", false},
		{node("llm: m, prompt: hi, user: {n: 3}"), "`prompt:`", false},
		{node("sleep: 10s"), "`wait:`", false},
		{head + "constants: {a: 1}\nnodes: {n: {let: {x: 1}}}\n", "`let` node", false},
		{node("agent: m, prompt: hi, max_iterations: 3"), "under `policy:`", false},
		{node("llm: m, prompt: hi, temperature: 0.5"), "of the model", false},
		{node("llm: m, prompt: hi, max_tokens: 5"), "of the model", false},
		{node("llm: m, prompt: hi, output: {x: int}"), "`out:`", false},
		{node("llm: m, prompt: hi, prmpt: x"), "the keys of", false},
		{node("llm: m, promt: hi"), "replace with `prompt`", true},
		{node("llm: m, prompt: hi, wth: {x: 1}"), "replace with `with`", true},
		{node("llm: m, prompt: hi, sett: x"), "`set` is the nearest key", false},
		{node("llm: m, prompt: hi, timeuot: {x: 1}"), "`timeout` is the nearest key", false},
	} {
		list := adviceOf(t, tt.text)
		if len(list) == 0 {
			t.Errorf("%s: nothing is reported", tt.text)
			continue
		}
		d := list[0]
		if !strings.Contains(d.Help, tt.help) || (len(d.Fixes) > 0) != tt.fixed {
			t.Errorf("%s: %s: %s (%d fixes)", tt.text, d.Message, d.Help, len(d.Fixes))
		}
	}
}

func adviceOf(t *testing.T, text string) []diag.Diagnostic {
	t.Helper()
	sink := &diag.Sink{}
	parser.Parse(memory{mainFile: text}, mainFile, sink)
	return sink.List()
}
