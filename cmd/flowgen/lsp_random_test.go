package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/tools/txtar"
)

// TestLSPRandomEdits: after random edits, cut ends and deleted lines, most of which make no YAML, the server says of a file what one says
// that has opened the result: the same diagnostics and the same symbols. Every request at any place gets an answer. LSP_EDITS=100000 makes
// so many edits, of all goldens, and others with each LSP_SEED.
func TestLSPRandomEdits(t *testing.T) {
	t.Parallel()
	rounds, edits := 12, 6
	corpus := []string{shop}
	if n, err := strconv.Atoi(os.Getenv("LSP_EDITS")); err == nil {
		rounds = n / edits
		corpus = append(corpus, goldenFlows(t)...)
	}
	const name = "shop.flowgen.yaml"
	files := map[string]string{"prompts/ask.md": "x"}
	old := edit(t, files)
	old.open(name, shop)
	old.diagnostics(name)
	fresh := edit(t, files)
	seed, _ := strconv.Atoi(os.Getenv("LSP_SEED"))
	r := rand.New(rand.NewPCG(1, uint64(2+seed)))
	pieces := []string{"", "", "\n", "  ", "{", "}", "[", "]", ":", "- ", "$", "{{ ", " }}", "\"", "'", "#", "|", "&a ", "*a", "😀", "é", "\t", "\r\n", "nodes:", "first", "score.", "\u2028", "<<: ", "? ", "%", "!!int ", "---\n"}
	begun := time.Now()
	memory := 0
	for round := range rounds {
		for range edits {
			text := old.texts[name]
			lo := r.IntN(len(text) + 1)
			hi := min(len(text), lo+r.IntN(12))
			piece := pieces[r.IntN(len(pieces))]
			switch r.IntN(20) {
			case 0: // all behind the cursor is gone
				hi, piece = len(text), ""
			case 1: // the line is gone
				lo = strings.LastIndexByte(text[:lo], '\n') + 1
				hi, piece = len(text), ""
				if i := strings.IndexByte(text[lo:], '\n'); i >= 0 {
					hi = lo + i + 1
				}
			}
			for lo > 0 && lo < len(text) && !utf8.RuneStart(text[lo]) {
				lo--
			}
			for hi < len(text) && !utf8.RuneStart(text[hi]) {
				hi++
			}
			old.versions[name]++
			old.texts[name] = text[:lo] + piece + text[hi:]
			change := object{"text": piece, "range": object{"start": at(text, lo), "end": at(text, hi)}}
			if strings.Contains(text, "\r") { // counting lines is for the server to do
				change = object{"text": old.texts[name]}
			}
			old.tell("textDocument/didChange", object{"textDocument": object{"uri": old.uri(name), "version": old.versions[name]}, "contentChanges": []object{change}})
		}
		for _, method := range []string{"definition", "references", "hover", "completion", "documentHighlight", "prepareRename", "formatting", "foldingRange", "documentLink", "codeAction", "semanticTokens/full", "inlayHint", "selectionRange"} {
			where := lspPosition{r.IntN(40) - 1, r.IntN(60) - 1}
			p := object{"textDocument": object{"uri": old.uri(name)}, "position": where, "positions": []lspPosition{where}, "range": lspRange{where, lspPosition{where.Line + 3, 9}}, "context": object{}}
			if _, err := old.try("textDocument/"+method, p); err != nil && (strings.Contains(err.Error(), "fault") || !strings.HasPrefix(method, "prepareRename")) {
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
			old.texts[name] = corpus[(round/8)%len(corpus)]
			old.tell("textDocument/didChange", object{"textDocument": object{"uri": old.uri(name), "version": old.versions[name]}, "contentChanges": []object{{"text": old.texts[name]}}})
		}
		if round == rounds/10 {
			memory = int(1024 * old.megabytes())
		}
	}
	t.Logf("%d edits in %v, resident memory %d KB after a tenth of them, %d KB at the end", rounds*edits, time.Since(begun).Round(time.Second), memory, int(1024*old.megabytes()))
}

// goldenFlows are the workflows of the goldens that name no Go, whose packages come when they are loaded.
func goldenFlows(t *testing.T) (out []string) {
	t.Helper()
	goldens, err := filepath.Glob(filepath.Join("..", "..", "golden", "native", "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, golden := range goldens {
		archive, err := txtar.ParseFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			if text := string(f.Data); strings.HasSuffix(f.Name, suffix) && !strings.Contains(text, "go:") && utf8.ValidString(text) {
				out = append(out, text)
			}
		}
	}
	return out
}

// TestLSPBrokenTexts: where all behind the cursor is broken, the name that stood there is still offered, in at least 95 of 100 texts.
// LSP_EDITS takes all goldens, else it is a few.
func TestLSPBrokenTexts(t *testing.T) {
	t.Parallel()
	corpus := []string{shop, greet}
	if os.Getenv("LSP_EDITS") != "" {
		corpus = goldenFlows(t)
	}
	e := edit(t, nil)
	const name = "broken.flowgen.yaml"
	e.open(name, greet)
	whole := func(text string) {
		e.versions[name]++
		e.texts[name] = text
		e.tell("textDocument/didChange", object{"textDocument": object{"uri": e.uri(name), "version": e.versions[name]}, "contentChanges": []object{{"text": text}}})
	}
	garbage := []string{"", "\n  x: {", "\n\t- [", " }} {{ ", "\n<<<<<<< HEAD\n", "\": '\n"}
	offered, all := 0, 0
	for i, text := range corpus {
		for n, m := range reads.FindAllStringSubmatchIndex(text, -1) {
			word := text[m[2]:m[3]]
			whole(text)
			has := func() bool {
				p := object{"textDocument": object{"uri": e.uri(name)}, "position": at(e.texts[name], m[2])}
				for _, item := range answer[struct{ Items []struct{ Label string } }](t, e.ask("textDocument/completion", p)).Items {
					if item.Label == word {
						return true
					}
				}
				return false
			}
			if !has() {
				continue // nothing is offered in the whole text either: a comment, or no expression
			}
			all++
			if whole(text[:m[2]] + garbage[(i+n)%len(garbage)]); has() {
				offered++
			} else if os.Getenv("LSP_EDITS") != "" {
				t.Logf("%q is not offered behind %q before %q", word, text[max(0, m[2]-40):m[2]], garbage[(i+n)%len(garbage)])
			}
		}
	}
	t.Logf("%d of %d names are offered", offered, all)
	if all == 0 || offered*100 < all*95 {
		t.Errorf("%d of %d names are offered", offered, all)
	}
}

// reads is a name that an expression begins with.
var reads = regexp.MustCompile(`(?:\$|\{\{ )([a-z_]+)\b`)

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
