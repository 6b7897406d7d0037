package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestLSPRandomEdits: after random edits, most of which make no YAML, the server says of a file what one says that has opened the
// result: the same diagnostics and the same symbols. Every request at any place gets an answer. LONG=1 makes many more edits.
func TestLSPRandomEdits(t *testing.T) {
	t.Parallel()
	rounds, edits := 12, 6
	if os.Getenv("LONG") != "" {
		rounds = 2000
	}
	const name = "shop.flowgen.yaml"
	files := map[string]string{"prompts/ask.md": "x"}
	old := edit(t, files)
	old.open(name, shop)
	old.diagnostics(name)
	fresh := edit(t, files)
	r := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"", "", "\n", "  ", "{", "}", "[", "]", ":", "- ", "$", "{{ ", " }}", "\"", "'", "#", "|", "&a ", "*a", "😀", "é", "\t", "\r\n", "nodes:", "first", "score.", "\u2028", "<<: ", "? ", "%", "!!int ", "---\n"}
	for round := range rounds {
		for range edits {
			text := old.texts[name]
			lo := r.IntN(len(text) + 1)
			hi := min(len(text), lo+r.IntN(12))
			for lo > 0 && lo < len(text) && !utf8.RuneStart(text[lo]) {
				lo--
			}
			for hi < len(text) && !utf8.RuneStart(text[hi]) {
				hi++
			}
			if strings.ContainsRune(text[lo:hi], '\r') || lo > 0 && text[lo-1] == '\r' { // counting lines is for the server to do
				continue
			}
			piece := pieces[r.IntN(len(pieces))]
			if strings.Contains(text, "\r") {
				old.versions[name]++
				old.texts[name] = text[:lo] + piece + text[hi:]
				old.tell("textDocument/didChange", object{"textDocument": object{"uri": old.uri(name), "version": old.versions[name]}, "contentChanges": []object{{"text": old.texts[name]}}})
				continue
			}
			old.versions[name]++
			old.texts[name] = text[:lo] + piece + text[hi:]
			old.tell("textDocument/didChange", object{
				"textDocument":   object{"uri": old.uri(name), "version": old.versions[name]},
				"contentChanges": []object{{"range": object{"start": at(text, lo), "end": at(text, hi)}, "text": piece}},
			})
		}
		for _, method := range []string{"definition", "references", "hover", "completion", "documentHighlight", "prepareRename", "formatting", "foldingRange", "documentLink"} {
			p := object{"textDocument": object{"uri": old.uri(name)}, "position": lspPosition{r.IntN(40) - 1, r.IntN(60) - 1}, "context": object{}}
			if _, err := old.try("textDocument/"+method, p); err != nil && strings.Contains(err.Error(), "fault") {
				t.Errorf("round %d, %s: %v\n%s", round, method, err, old.texts[name])
			}
		}
		fresh.open(name, old.texts[name])
		got, want := old.raw(name), fresh.raw(name)
		if !slices.Equal(got, want) {
			t.Fatalf("round %d: after edits\n%s\nopened fresh\n%s\nof\n%s", round, strings.Join(got, "\n"), strings.Join(want, "\n"), old.texts[name])
		}
		doc := func(e *editor) string {
			return string(e.ask("textDocument/documentSymbol", object{"textDocument": object{"uri": e.uri(name)}}))
		}
		if a, b := doc(old), doc(fresh); a != b {
			t.Fatalf("round %d: symbols after edits\n%s\nopened fresh\n%s\nof\n%s", round, a, b, old.texts[name])
		}
		fresh.tell("textDocument/didClose", object{"textDocument": object{"uri": fresh.uri(name)}})
		if len(old.texts[name]) < 200 || round%8 == 7 {
			old.versions[name]++
			old.texts[name] = shop
			old.tell("textDocument/didChange", object{"textDocument": object{"uri": old.uri(name), "version": old.versions[name]}, "contentChanges": []object{{"text": shop}}})
		}
	}
}

// raw are the diagnostics of the present text of a file with their ranges, whatever these are.
func (e *editor) raw(name string) []string {
	e.t.Helper()
	for p := range e.published {
		if p.URI == e.uri(name) && p.Version != nil && *p.Version == e.versions[name] {
			out := []string{}
			for _, d := range p.Diagnostics {
				out = append(out, fmt.Sprint(d.Code, d.Range, d.Severity, d.Message))
			}
			return out
		}
	}
	return nil
}
