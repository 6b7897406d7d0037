package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/studio"
)

const letters = `flowgen: 1
name: letters
input: {names: {type: list<string>, default: [ada]}}
models: {m: "scripted:answers.yaml"}
tools:
  upper: {command: [tr, a-z, A-Z], in: {text: string}, stdin: "{{ text }}", out: string, effects: none}
nodes:
  plan: {llm: m, prompt: {file: prompts/plan.md}, with: {who: ada}} # from a file
  each:
    map: $input.names
    as: name
    do:
      nodes:
        loud: {tool: upper, with: {text: $name}} # in a map
      result: $loud
  shout: {map: $input.names, as: name, do: {tool: upper, with: {text: $name}}}
output: {plan: $plan, each: $each, shout: $shout}
`

const planPrompt = "---\nin: {who: string}\n---\nWrite to {{ who }}\n"

// TestEditNode: what a node says is edited in the file that says it. Nothing is written before it is wanted, nor with a new mistake.
func TestEditNode(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("prompts", 0o700); err != nil {
		t.Fatal(err)
	}
	was := map[string]string{"letters.flowgen.yaml": letters, "prompts/plan.md": planPrompt, "answers.yaml": "answers: [{text: Dear Ada}]\n"}
	for name, text := range was {
		if err := os.WriteFile(filepath.FromSlash(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := newStudioProject("")
	for _, tc := range []struct {
		op             studio.Operation
		said           studio.NodeText
		file, from, to string
	}{
		{studio.Operation{Node: "plan", Prompt: "Answer {{ who }}\n"}, studio.NodeText{Prompt: "Write to {{ who }}\n", With: "{who: ada}"}, "prompts/plan.md", "Write to", "Answer"},
		{studio.Operation{Node: "plan", With: "who: [grace"}, studio.NodeText{Prompt: "Answer {{ who }}\n", With: "{who: ada}"}, "", "node plan cannot be written", ""},
		{studio.Operation{Node: "plan", Prompt: "Answer {{ whom }}\n"}, studio.NodeText{Prompt: "Answer {{ who }}\n", With: "{who: ada}"}, "", "whom", ""},
		{studio.Operation{Node: "each/loud", With: "{text: hello}"}, studio.NodeText{Tool: "upper", With: "{text: $name}"}, "letters.flowgen.yaml", "{text: $name}} # in", "{text: hello}} # in"},
		{studio.Operation{Node: "each/loud", Tool: "lower"}, studio.NodeText{Tool: "upper", With: "{text: hello}"}, "", "lower", ""},
	} {
		tc.op.Kind, tc.op.File = studio.EditNode, "letters.flowgen.yaml"
		said, err := p.Node(tc.op.File, tc.op.Node)
		if err != nil || said.Prompt != tc.said.Prompt || said.Tool != tc.said.Tool || said.With != tc.said.With || len(said.Tools) != 1 {
			t.Errorf("node %s says %+v, %v", tc.op.Node, said, err)
		}
		texts, err := p.Overlay(tc.op)
		if tc.file == "" {
			if err == nil || !strings.Contains(err.Error(), tc.from) {
				t.Errorf("%+v: %v, %v", tc.op, texts, err)
			}
			if _, err := p.Propose(tc.op); err == nil {
				t.Errorf("%+v is proposed", tc.op)
			}
			continue
		}
		want := strings.Replace(was[tc.file], tc.from, tc.to, 1)
		if err != nil || len(texts) != 1 || texts[tc.file] != want {
			t.Errorf("%+v: %v, %v", tc.op, texts, err)
		}
		shown, err := p.Propose(tc.op)
		if err != nil {
			t.Fatal(err)
		}
		if now, err := os.ReadFile(filepath.FromSlash(tc.file)); err != nil || string(now) != was[tc.file] {
			t.Errorf("before it is wanted the file is %s, %v", now, err)
		}
		if _, err := p.Apply(tc.op, shown.Diff); err != nil {
			t.Fatal(err)
		}
		if now, err := os.ReadFile(filepath.FromSlash(tc.file)); err != nil || string(now) != want {
			t.Errorf("the file is %s, %v", now, err)
		}
		was[tc.file] = want
	}
	if _, err := p.Node("letters.flowgen.yaml", "plain"); err == nil || !strings.Contains(err.Error(), "no node plain") {
		t.Errorf("a node that is not there: %v", err)
	}
	if said, err := p.Node("letters.flowgen.yaml", "shout"); err != nil || said.Tool != "" {
		t.Errorf("a map: %+v, %v", said, err)
	}
}
