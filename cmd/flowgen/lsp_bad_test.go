package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sourcegraph/jsonrpc2"
)

// TestLSPBadInput: lines that end with CR LF, columns in bytes, ranges that are the wrong way round or beyond the end, messages about files
// that are not open, and files that vanish and come back lead to no fault, no wrong place and no wrong edit.
func TestLSPBadInput(t *testing.T) {
	t.Parallel()
	const name = "ask.flowgen.yaml"
	flow := "flowgen: 1\nname: ask\ninput: {q: string}\nmodels: {m: {model: \"openai:gpt-4o-mini\", max_tokens: 10}}\nsecrets: [OPENAI_API_KEY]\n" +
		"nodes:\n  answer: {llm: m, prompt: {file: prompts/q.md}, with: {question: $input.q}}\n  end: {let: \"😀é {{ answer }}\"}\noutput: {a: $answer, b: $end}\n"
	flow = strings.ReplaceAll(flow, "end:", "last:")
	flow = strings.ReplaceAll(flow, "$end", "$last")
	crlf := strings.ReplaceAll(flow, "\n", "\r\n")
	for _, utf8 := range []bool{false, true} {
		encodings := []string{"utf-16"}
		if utf8 {
			encodings = []string{"utf-8"}
		}
		e := editFor(t, edit(t, map[string]string{"prompts/q.md": "Say: {{ question }}\n"}).dir, nil, object{"general": object{"positionEncodings": encodings}})
		where := func(off int) lspPosition { // of a text with CR LF
			line := strings.Count(crlf[:off], "\n")
			lead := crlf[strings.LastIndexByte(crlf[:off], '\n')+1 : off]
			if utf8 {
				return lspPosition{line, len(lead)}
			}
			return lspPosition{line, units(lead)}
		}
		e.tell("textDocument/didChange", object{"textDocument": object{"uri": e.uri(name), "version": 7}, "contentChanges": []object{{"text": "x"}}}) // it is not open
		e.tell("textDocument/didClose", object{"textDocument": object{"uri": e.uri(name)}})
		e.open(name, crlf)
		if got := e.raw(name); len(got) != 0 {
			t.Fatalf("diagnostics: %q", got)
		}
		// a rename keeps line ends, and finds the name behind characters of two units and of four bytes
		use := strings.Index(crlf, "{{ answer") + 3
		got := answer[lspEdits](t, e.ask("textDocument/rename", object{"textDocument": object{"uri": e.uri(name)}, "position": where(use + 1), "newName": "said"}))
		var at []lspPosition
		for _, c := range got.Changes[e.uri(name)] {
			if c.NewText != "said" || c.Range.End.Character-c.Range.Start.Character != len("answer") {
				t.Errorf("an edit: %+v", c)
			}
			at = append(at, c.Range.Start)
		}
		for _, want := range []int{strings.Index(crlf, "answer: {"), use, strings.Index(crlf, "$answer") + 1} {
			found := false
			for _, p := range at {
				found = found || p == where(want)
			}
			if !found || len(at) != 3 {
				t.Errorf("utf-8 %v: no edit at %v, but at %v", utf8, where(want), at)
			}
		}
		// formatting gives what `flowgen fmt` gives, and ends where the file ends
		for _, c := range answer[[]lspEdit](t, e.ask("textDocument/formatting", object{"textDocument": object{"uri": e.uri(name)}, "options": object{"tabSize": 2, "insertSpaces": true}})) {
			if c.Range.End.Line > strings.Count(crlf, "\n") {
				t.Errorf("formatting beyond the end: %+v", c.Range)
			}
		}
		// ranges the wrong way round, and beyond the end, change what lies between them
		e.versions[name]++
		lo, hi := where(strings.Index(crlf, "$answer")+1), where(strings.Index(crlf, "$answer")+7)
		e.tell("textDocument/didChange", object{"textDocument": object{"uri": e.uri(name), "version": e.versions[name]}, "contentChanges": []object{{"range": object{"start": hi, "end": lo}, "text": "answr"}}})
		if got := e.raw(name); len(got) != 1 || !strings.Contains(got[0], `"answr" is not defined`) {
			t.Errorf("a range the wrong way round: %q", got)
		}
		e.versions[name]++
		e.tell("textDocument/didChange", object{"textDocument": object{"uri": e.uri(name), "version": e.versions[name]}, "contentChanges": []object{
			{"range": object{"start": lo, "end": lspPosition{lo.Line, 1 << 30}}, "text": "answer, b: $last}"}, {"range": object{"start": lspPosition{1 << 30, 5}, "end": lspPosition{1 << 30, 9}}, "text": "# the end\r\n"}}})
		if got := e.raw(name); len(got) != 0 {
			t.Errorf("beyond the end: %q", got)
		}
		for _, p := range []lspPosition{{-1, -1}, {1 << 30, 1 << 30}, {2, 1 << 30}} {
			for _, method := range []string{"completion", "hover", "definition", "references", "signatureHelp", "prepareRename"} {
				if _, err := e.try("textDocument/"+method, object{"textDocument": object{"uri": e.uri(name)}, "position": p, "context": object{}}); err != nil && method != "prepareRename" {
					t.Errorf("%s at %v: %v", method, p, err)
				}
			}
		}
		// a file that vanishes is missed where it is named, and found when it is back
		prompt := filepath.Join(e.dir, "prompts", "q.md")
		changed := func() {
			e.tell("workspace/didChangeWatchedFiles", object{"changes": []object{{"uri": e.uri("prompts/q.md"), "type": 3}}})
		}
		if err := os.Rename(prompt, prompt+".bak"); err != nil {
			t.Fatal(err)
		}
		changed()
		if got := e.raw(name); len(got) == 0 || !strings.Contains(strings.Join(got, "\n"), "prompts/q.md") {
			t.Errorf("a prompt that is gone: %q", got)
		}
		if err := os.Rename(prompt+".bak", prompt); err != nil {
			t.Fatal(err)
		}
		changed()
		if got := e.raw(name); len(got) != 0 {
			t.Errorf("a prompt that is back: %q", got)
		}
		// the folder of the workspace itself is gone
		if err := os.RemoveAll(e.dir); err != nil {
			t.Fatal(err)
		}
		e.replaceAll(name, strings.Replace(crlf, "$answer,", "$answe,", 1))
		if got := e.raw(name); len(got) == 0 {
			t.Error("no diagnostics without a folder")
		}
		e.ask("textDocument/completion", object{"textDocument": object{"uri": e.uri(name)}, "position": lspPosition{1, 3}})
		e.ask("shutdown", nil)
		e.tell("exit", nil)
		if err := e.cmd.Wait(); err != nil {
			t.Errorf("exit: %v", err)
		}
	}
}

// replaceAll gives a buffer another text.
func (e *editor) replaceAll(name, text string) {
	e.t.Helper()
	e.versions[name]++
	e.texts[name] = text
	e.tell("textDocument/didChange", object{"textDocument": object{"uri": e.uri(name), "version": e.versions[name]}, "contentChanges": []object{{"text": text}}})
}

// TestLSPOldEdits: a change that comes late, or twice, is of a text that is gone and changes nothing. Edits say of which version they
// are, where the client takes that, so that none is made in another text.
func TestLSPOldEdits(t *testing.T) {
	t.Parallel()
	e := editFor(t, edit(t, nil).dir, nil, object{"workspace": object{"workspaceEdit": object{"documentChanges": true}}})
	const name = "greet.flowgen.yaml"
	e.open(name, greet)
	if got := e.diagnostics(name); len(got) != 0 {
		t.Fatalf("diagnostics: %q", got)
	}
	e.versions[name] = 6
	e.replace(name, "$input.times", "$input.tims")
	late := func(version int, changes ...object) {
		e.tell("textDocument/didChange", object{"textDocument": object{"uri": e.uri(name), "version": version}, "contentChanges": changes})
	}
	where := object{"start": lspPosition{}, "end": lspPosition{1, 0}}
	late(3, object{"range": where, "text": ""})
	late(6, object{"text": "flowgen: [\n"})
	late(7, object{"range": where, "text": ""}) // again
	late(-1, object{"text": ""})
	if got := e.diagnostics(name); len(got) == 0 || !strings.Contains(got[0], " tims: ") {
		t.Errorf("after late changes: %q", got)
	}
	symbols := answer[[]struct{ Name string }](t, e.ask("textDocument/documentSymbol", object{"textDocument": object{"uri": e.uri(name)}}))
	if len(symbols) == 0 {
		t.Error("no symbols after late changes")
	}
	e.replace(name, "$input.tims", "$input.times")
	if got := e.diagnostics(name); len(got) != 0 {
		t.Errorf("after the next change: %q", got)
	}
	p := e.on(name, "line", 0, 1)
	p["newName"] = "row"
	got := answer[struct {
		Changes         map[string]any
		DocumentChanges []struct {
			TextDocument struct {
				URI     string
				Version *int
			}
			Edits []lspEdit
		}
	}](t, e.ask("textDocument/rename", p))
	if len(got.Changes) != 0 || len(got.DocumentChanges) != 1 || len(got.DocumentChanges[0].Edits) != 3 {
		t.Fatalf("a rename: %+v", got)
	}
	if v := got.DocumentChanges[0].TextDocument.Version; v == nil || *v != e.versions[name] {
		t.Errorf("the version of an edit: %v, want %d", v, e.versions[name])
	}
}

// TestLSPCancel: a request that was cancelled before its turn is not worked on, and says so.
func TestLSPCancel(t *testing.T) {
	t.Parallel()
	e := edit(t, nil)
	const name = "greet.flowgen.yaml"
	e.open(name, greet)
	id := jsonrpc2.ID{Num: 7001}
	e.tell("$/cancelRequest", object{"id": 7001})
	var out any
	err := e.conn.Call(t.Context(), "textDocument/hover", e.on(name, "line", 0, 1), &out, jsonrpc2.PickID(id))
	var wrong *jsonrpc2.Error
	if !errors.As(err, &wrong) || wrong.Code != -32800 {
		t.Errorf("a cancelled request: %v, %v", out, err)
	}
	if got := e.about(name, "line", 1); got == "" {
		t.Error("no hover afterwards")
	}
}
