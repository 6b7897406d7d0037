package main

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
)

type lspEdit struct {
	Range   lspRange
	NewText string
}

type lspEdits struct{ Changes map[string][]lspEdit }

// apply makes edits in the editor's texts and tells the server; files that are not open are opened first.
func (e *editor) apply(edits lspEdits) {
	e.t.Helper()
	for uri, list := range edits.Changes {
		name := strings.TrimPrefix(uri, e.uri(".")+"/")
		if _, open := e.texts[name]; !open {
			e.openDisk(name)
		}
		text := e.texts[name]
		type part struct {
			lo, hi int
			text   string
		}
		var parts []part
		for _, c := range list {
			parts = append(parts, part{offsetOf(text, c.Range.Start), offsetOf(text, c.Range.End), c.NewText})
		}
		slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(b.lo, a.lo) })
		for i, p := range parts {
			if p.lo < 0 || p.hi < p.lo || i > 0 && p.hi > parts[i-1].lo {
				e.t.Fatalf("%s: edit %d..%d", name, p.lo, p.hi)
			}
			text = text[:p.lo] + p.text + text[p.hi:]
		}
		e.versions[name]++
		e.texts[name] = text
		e.tell("textDocument/didChange", object{"textDocument": object{"uri": uri, "version": e.versions[name]}, "contentChanges": []object{{"text": text}}})
	}
}

func offsetOf(text string, p lspPosition) int {
	off := 0
	for range p.Line {
		i := strings.IndexByte(text[off:], '\n')
		if i < 0 {
			return -1
		}
		off += i + 1
	}
	for units := 0; units < p.Character; {
		if off >= len(text) || text[off] == '\n' {
			return -1
		}
		r, size := []rune(text[off:])[0], 0
		if units++; r > 0xffff {
			units++
		}
		size = len(string(r))
		off += size
	}
	return off
}

var identifier = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)

// TestLSPIdentifiers: of each identifier of examples and goldens, those of other engines too, the definition is among the references, and
// a rename there and back gives the same bytes in all files. LONG=1 takes all, else some of them; LSP_ONLY, those whose path matches it.
func TestLSPIdentifiers(t *testing.T) {
	t.Parallel()
	every, examples := 60, []string{"triage"}
	if os.Getenv("LONG") != "" {
		every, examples = 1, []string{"triage", "incident", "cookbook", "hello", "release-notes", "api-report", "orders", "service"}
	}
	only := regexp.MustCompile(os.Getenv("LSP_ONLY"))
	var names, renames, refusals atomic.Int64
	test := func(t *testing.T, name string, start func(t *testing.T) *editor) {
		if only.MatchString(name) {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				n, r, refused := start(t).identifiers()
				names.Add(int64(n))
				renames.Add(int64(r))
				refusals.Add(int64(refused))
			})
		}
	}
	t.Run("all", func(t *testing.T) {
		goldens := 0
		for _, folder := range []string{"native", "openexpertise", "sirenspec", "stargraph", "yamlgraph"} {
			list, err := filepath.Glob(filepath.Join("..", "..", "golden", folder, "*.txtar"))
			if err != nil || len(list) < 50 {
				t.Fatal(err, folder, list)
			}
			for _, name := range list {
				if goldens++; goldens%every == 0 {
					test(t, folder+"/"+filepath.Base(name), func(t *testing.T) *editor { return editGolden(t, name) })
				}
			}
		}
		for _, example := range examples {
			test(t, "examples/"+example, func(t *testing.T) *editor {
				dir, err := filepath.Abs(filepath.Join("..", "..", "examples", example))
				if err != nil {
					t.Fatal(err)
				}
				return editIn(t, dir) // nothing is saved
			})
		}
	})
	t.Logf("%d names, %d renames, %d refusals", names.Load(), renames.Load(), refusals.Load())
	if renames.Load()*3 < refusals.Load() { // most are of other engines, whose names flowgen changes only where it knows all places
		t.Error("too many refusals")
	}
}

// editGolden edits the files of a golden, in a module of their own.
func editGolden(t *testing.T, name string) *editor {
	archive, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"go.mod": "module example.com/golden\n\ngo 1.25\n"}
	for _, f := range archive.Files {
		if !strings.HasPrefix(f.Name, "want/") {
			files[f.Name] = string(f.Data)
		}
	}
	return edit(t, files)
}

// identifiers are how many words of the files lead to a declaration, and how many of these are renamed, or refused.
func (e *editor) identifiers() (names, renames, refusals int) {
	t := e.t
	files := e.openAll()
	mistakes := e.messages()
	e.loaded()
	for _, name := range files {
		text := e.texts[name]
		for _, m := range identifier.FindAllStringIndex(text, -1) {
			p := object{"textDocument": object{"uri": e.uri(name)}, "position": at(text, m[0]), "context": object{"includeDeclaration": true}}
			def := answer[[]lspLocation](t, e.ask("textDocument/definition", p))
			if len(def) == 0 {
				continue
			}
			names++
			here := lspLocation{e.uri(name), lspRange{at(text, m[0]), at(text, m[1])}}
			refs := answer[[]lspLocation](t, e.ask("textDocument/references", p))
			covers := func(l lspLocation) bool {
				return l.URI == here.URI && l.Range.Start.Line == here.Range.Start.Line && l.Range.Start.Character <= here.Range.Start.Character && l.Range.End.Character >= here.Range.Start.Character
			}
			if !slices.ContainsFunc(refs, covers) {
				t.Errorf("%s: the references to %q at %v do not have it: %v", name, text[m[0]:m[1]], here.Range, refs)
			}
			if e.renameThereAndBack(p, name, text[m[0]:m[1]], mistakes) {
				renames++
			} else {
				refusals++
			}
		}
	}
	e.ask("shutdown", nil)
	e.tell("exit", nil)
	_ = e.cmd.Wait()
	return names, renames, refusals
}

func mapsKeys(m map[string]string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// openAll opens the files of the workspace that can name something, and returns their names.
func (e *editor) openAll() []string {
	e.t.Helper()
	err := filepath.WalkDir(e.dir, func(full string, d os.DirEntry, err error) error {
		name, _ := filepath.Rel(e.dir, full)
		if ext := filepath.Ext(name); err == nil && !d.IsDir() && (ext == ".yaml" || ext == ".md" && d.Name() != "README.md") {
			e.openDisk(filepath.ToSlash(name))
		}
		return err
	})
	if err != nil {
		e.t.Fatal(err)
	}
	return slices.Sorted(mapsKeys(e.texts))
}

var goPath = regexp.MustCompile(`go: (\./[A-Za-z0-9_/]+\.[A-Z])`)

// loaded waits until the Go functions that the files name are known: those of Go that is wrong never are.
func (e *editor) loaded() {
	for name, text := range e.texts {
		for _, m := range goPath.FindAllStringSubmatchIndex(text, 1) {
			p := object{"textDocument": object{"uri": e.uri(name)}, "position": at(text, m[2]+3)}
			for until := time.Now().Add(5 * time.Second); time.Now().Before(until) && len(answer[[]lspLocation](e.t, e.ask("textDocument/definition", p))) == 0; {
			}
		}
	}
}

// messages are those of the diagnostics of all open files.
func (e *editor) messages() (out []string) {
	e.t.Helper()
	for said := map[string]bool{}; len(said) < len(e.texts); {
		p := <-e.published
		for name := range e.texts {
			if p.URI == e.uri(name) && p.Version != nil && *p.Version == e.versions[name] {
				said[name] = true
			}
		}
		for _, d := range p.Diagnostics {
			what, _, _ := strings.Cut(d.Message, "\n")
			out = append(out, what)
		}
	}
	return out
}

// renameThereAndBack reports false where the server refuses. It refuses the way back where that brings one of the mistakes back.
func (e *editor) renameThereAndBack(p object, name, old string, mistakes []string) bool {
	e.t.Helper()
	where, err := e.try("textDocument/prepareRename", p)
	if err != nil || string(where) == "null" {
		return false
	}
	whole := answer[struct{ Placeholder string }](e.t, where).Placeholder
	p["newName"] = whole + "zq"
	raw, err := e.try("textDocument/rename", p)
	if err != nil {
		if os.Getenv("LSP_REFUSALS") != "" {
			e.t.Logf("%s %s: %v", name, old, err)
		}
		return false
	}
	before := map[string]string{}
	for k, v := range e.texts {
		before[k] = v
	}
	there := answer[lspEdits](e.t, raw)
	for uri := range there.Changes {
		if file := strings.TrimPrefix(uri, e.uri(".")+"/"); before[file] == "" {
			text, err := os.ReadFile(filepath.Join(e.dir, filepath.FromSlash(file)))
			if err != nil {
				e.t.Fatal(err)
			}
			before[file] = string(text)
		}
	}
	e.apply(there)
	// the cursor is still on the name: the edit before it on its line may have moved it
	was := p["position"].(lspPosition)
	line := was
	for _, c := range there.Changes[e.uri(name)] {
		if c.Range.Start.Line == was.Line && c.Range.End.Character <= was.Character && c.Range.Start != was {
			line.Character += len("zq")
		}
	}
	back := object{"textDocument": p["textDocument"], "position": line, "newName": whole}
	raw, err = e.try("textDocument/rename", back)
	if err != nil {
		if !slices.ContainsFunc(mistakes, func(m string) bool { return strings.Contains(err.Error(), ": "+m) }) {
			e.t.Errorf("%s: %s was renamed to %szq, but not back: %v", name, old, whole, err)
		}
		for file, text := range before {
			e.apply(lspEdits{map[string][]lspEdit{e.uri(file): {{lspRange{at(e.texts[file], 0), at(e.texts[file], len(e.texts[file]))}, text}}}})
		}
		return true
	}
	e.apply(answer[lspEdits](e.t, raw))
	for file, text := range e.texts {
		if text != before[file] {
			e.t.Errorf("%s: after a rename of %s there and back %s is\n%s", name, old, file, text)
		}
	}
	return true
}

// TestLSPRenameAgent: a node is renamed whose result has fields that nobody declares, as those of an agent.
func TestLSPRenameAgent(t *testing.T) {
	t.Parallel()
	e := edit(t, nil)
	const name = "ask.flowgen.yaml"
	e.open(name, "flowgen: 1\nname: ask\ninput: {q: string}\nmodels: {m: {model: \"openai:gpt-4o-mini\", max_tokens: 10}}\nsecrets: [OPENAI_API_KEY]\n"+
		"tools:\n  up: {command: [tr, a-z, A-Z], in: {text: string}, stdin: \"{{ text }}\", out: string, effects: none, sandbox: none}\n"+
		"nodes:\n  review: {agent: m, prompt: \"{{ input.q }}\", tools: [up], pins: {hit: {tool: up}}}\n  said: {let: $review.response}\noutput: {a: $said, b: $review.response}\n")
	e.diagnostics(name)
	p := e.on(name, "review", 0, 1)
	p["newName"] = "checked"
	e.apply(answer[lspEdits](t, e.ask("textDocument/rename", p)))
	if got := e.texts[name]; strings.Contains(got, "review") || strings.Count(got, "$checked.response") != 2 {
		t.Errorf("renamed:\n%s", got)
	}
	refs := e.places(answer[[]lspLocation](t, e.ask("textDocument/references", e.on(name, "response", 0, 1))))
	if len(refs) != 2 {
		t.Errorf("references of a field: %q", refs)
	}
}

// TestLSPRenameFlow: a workflow is renamed where it says its name, unless Go was generated that is called after it, and not a library
// whose name stands before those of its tools.
func TestLSPRenameFlow(t *testing.T) {
	t.Parallel()
	const name, lib = "greet.flowgen.yaml", "lib.flowgen.yaml"
	e := edit(t, map[string]string{lib: "flowgen: 1\nname: lib\ntools:\n  up: {command: [tr, a-z, A-Z], in: {text: string}, stdin: \"{{ text }}\", out: string, effects: none, sandbox: none}\n"})
	e.open(name, strings.Replace(strings.Replace(greet, "nodes:\n", "include: [lib.flowgen.yaml]\nnodes:\n  loud: {tool: lib.up, with: {text: $input.who}}\n", 1), "text: $end_it", "text: $end_it, loud: $loud", 1))
	if got := e.diagnostics(name); len(got) != 0 {
		t.Fatalf("diagnostics: %q", got)
	}
	p := e.on(name, "greet", 0, 1)
	p["newName"] = "welcome"
	e.apply(answer[lspEdits](t, e.ask("textDocument/rename", p)))
	if got := e.texts[name]; !strings.Contains(got, "\nname: welcome\n") {
		t.Errorf("renamed:\n%s", got)
	}
	if err := os.WriteFile(filepath.Join(e.dir, "greet_flow.go"), []byte("// Code generated by flowgen. DO NOT EDIT.\n// source: greet.flowgen.yaml\n\npackage welcome\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	p["newName"] = "hello"
	if _, err := e.try("textDocument/rename", p); err == nil || !strings.Contains(err.Error(), "greet_flow.go is generated from this file") {
		t.Errorf("with Go of that name: %v", err)
	}
	e.openDisk(lib)
	p = e.on(lib, "name: lib", 0, 7)
	p["newName"] = "base"
	if _, err := e.try("textDocument/rename", p); err == nil {
		t.Error("a library whose tools are used by its name is renamed")
	}
}
