package parser

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
)

const asking = "flowgen: 1\nname: a\nnodes: {n: {llm: \"ollama:x\", prompt: {file: p.md}}}\n"

func TestPromptFile(t *testing.T) {
	tests := []struct {
		name, file, system, text string
		takes                    []string
	}{
		{"text alone", "Hello.\n", "", "Hello.", nil},
		{"front matter", "---\nsystem: Be brief.\nin: {x: int}\n---\nHello {{ x }}.\n", "Be brief.", "Hello {{ x }}.", []string{"x"}},
		{"no end of the front matter", "---\nsystem: x\n", "", "---\nsystem: x", nil},
		{"empty front matter", "---\n---\nHello.", "", "Hello.", nil},
		{"comments in front matter", "---\n# nothing\n---\nHello.", "", "Hello.", nil},
		{"a rule further down", "Hello.\n\n---\n\nBye.\n", "", "Hello.\n\n---\n\nBye.", nil},
		{"a rule in the text", "---\nin: {x: int}\n---\n{{ x }}\n---\nBye.\n", "", "{{ x }}\n---\nBye.", []string{"x"}},
		{"a rule inside a text of the front matter", "---\nsystem: |\n  a\n  ---\n  b\n---\nHello.", "a\n---\nb\n", "Hello.", nil},
		{"empty lines around", "\n  \n  Hello.\n  you\n\n \n", "", "  Hello.\n  you", nil},
		{"line ends of Windows", "---\r\nsystem: x\r\n---\r\n\r\nHello\r\n{{ x }}.\r\n", "x", "Hello\n{{ x }}.", nil},
		{"byte order mark", "\ufeff---\nsystem: x\n---\nHello.", "x", "Hello.", nil},
		{"dollars", "$5 and $$5 and $x\n", "", "$5 and $$5 and $x", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var sink diag.Sink
			w := Parse(memory{"a.flowgen.yaml": asking, "p.md": tt.file}, "a.flowgen.yaml", &sink)
			if sink.HasErrors() {
				t.Fatal(sink.List())
			}
			p := w.Body.Nodes[0].Verb.(*ir.LLM).Prompt
			system := ""
			if p.System != nil {
				system = p.System.Text.Value
			}
			var takes []string
			if p.With != nil {
				takes = p.With.FieldNames()
			}
			if diff := cmp.Diff([]any{tt.system, tt.text, tt.takes}, []any{system, p.Text.Text.Value, takes}); diff != "" {
				t.Error(diff)
			}
			if len(w.Includes) != 1 || w.Includes[0].Name != "p.md" {
				t.Errorf("the program does not depend on the file: %v", w.Includes)
			}
		})
	}
}

// Mistakes in a prompt file are shown where they are.
func TestPromptFileWrong(t *testing.T) {
	tests := []struct {
		name, file string
		code       diag.Code
		line, col  int
		text       string
	}{
		{"template", "---\nsystem: x\n---\r\n\r\nGröße {{ x }},\r\n  日本 {{ x + }}\r\n", diag.ExprSyntax, 6, 13, ""},
		{"front matter", "---\nsystem: x\n sytem: y\n---\nHello.", diag.YAMLSyntax, 3, 0, ""},
		{"key", "---\nmodel: x\n---\nHello.", diag.UnknownKey, 2, 1, "model"},
		{"type", "\ufeff---\nin:\n  x: strng\n---\nHello {{ x }}.", diag.UnknownType, 3, 6, "strng"},
		{"list", "---\n- a\n---\nHello.", diag.WrongShape, 2, 1, "-"},
		{"expression", "---\nsystem: $x\n---\nHello.", diag.NotText, 2, 9, "$x"},
		{"duplicate", "---\nsystem: x\nsystem: y\n---\nHello.", diag.YAMLDuplicate, 3, 1, "system"},
		{"nothing", "---\nsystem: x\n---\n\n", diag.BadPrompt, 0, 0, ""},
		{"no text", "Hello\x00", diag.BadPrompt, 3, 0, "p.md"},
		{"no UTF-8", "Hello\xff", diag.BadPrompt, 3, 0, "p.md"},
		{"too large", strings.Repeat("a", maxPrompt+1), diag.BadPrompt, 3, 0, "p.md"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var sink diag.Sink
			twice := strings.Replace(asking, "nodes: {n:", "nodes: {m: {llm: \"ollama:x\", prompt: {file: p.md}}, n:", 1)
			w := Parse(memory{"a.flowgen.yaml": twice, "p.md": tt.file}, "a.flowgen.yaml", &sink)
			list := sink.List()
			if len(list) != 1 || w == nil {
				t.Fatalf("%d mistakes: %v", len(list), list)
			}
			d := list[0]
			at := d.Span.Start()
			if d.Code != tt.code || tt.line > 0 && at.Line != tt.line || tt.col > 0 && at.Col != tt.col || tt.text != "" && d.Span.Text() != tt.text {
				t.Errorf("%s at %v (%q): %s", d.Code, at, d.Span.Text(), d.Message)
			}
			if d.Span.File.Text != tt.file && d.Span.File.Name == "p.md" {
				t.Error("the place is in a part of the file, so that a fix would cut it")
			}
		})
	}
}
