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

	"golang.org/x/tools/txtar"
)

// TestLSPParity: an editor sees of goldens, whole and without one of their lines, what `flowgen check` says of the same text on the disk:
// codes, severities, texts and places. LONG=1 takes all goldens and more lines.
func TestLSPParity(t *testing.T) {
	t.Parallel()
	every, lines := 50, 3
	if os.Getenv("LONG") != "" {
		every, lines = 1, 12
	}
	goldens, err := filepath.Glob(filepath.Join("..", "..", "golden", "native", "*.txtar"))
	if err != nil || len(goldens) < 100 {
		t.Fatalf("%d goldens, %v", len(goldens), err)
	}
	compared := 0
	for i, name := range goldens {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files := map[string]string{}
		for _, f := range archive.Files {
			if ext := filepath.Ext(f.Name); ext == ".yaml" || ext == ".md" || ext == ".txt" {
				files[f.Name] = string(f.Data)
			}
		}
		var flows []string
		goes := false
		for _, f := range slices.Sorted(mapsKeys(files)) {
			if strings.HasSuffix(f, suffix) {
				flows = append(flows, f)
			}
			goes = goes || strings.Contains(files[f], "go:") || strings.ContainsAny(files[f], "\r\x00")
		}
		if i%every != 0 || len(flows) == 0 || goes { // Go packages come later to an editor
			continue
		}
		e := edit(t, files)
		for _, f := range flows {
			e.open(f, files[f])
		}
		e.compare(flows, name)
		text := files[flows[0]]
		all := strings.SplitAfter(text, "\n")
		for n := range min(lines, len(all)) {
			at := (n*len(all)/lines + i) % len(all)
			e.whole(flows[0], strings.Join(slices.Delete(slices.Clone(all), at, at+1), ""))
			e.compare(flows, fmt.Sprintf("%s without line %d", name, at+1))
			compared++
		}
		e.ask("shutdown", nil)
		e.tell("exit", nil)
		_ = e.cmd.Wait()
	}
	t.Logf("%d files without a line", compared)
	if compared < 6 {
		t.Errorf("only %d files", compared)
	}
}

// whole gives a file another text, in the buffer and on the disk.
func (e *editor) whole(name, text string) {
	e.t.Helper()
	e.versions[name]++
	e.texts[name] = text
	if err := os.WriteFile(filepath.Join(e.dir, filepath.FromSlash(name)), []byte(text), 0o666); err != nil {
		e.t.Fatal(err)
	}
	e.tell("textDocument/didChange", object{"textDocument": object{"uri": e.uri(name), "version": e.versions[name]}, "contentChanges": []object{{"text": text}}})
}

// compare holds what is published of files to what `flowgen check` says.
func (e *editor) compare(names []string, what string) {
	e.t.Helper()
	e.ask("workspace/symbol", object{"query": "no such name"}) // all workflows are compiled
	for _, name := range names {
		e.whole(name, e.texts[name])
	}
	got := map[string][]string{}
	for len(got) < len(names) {
		p := <-e.published
		for _, name := range names {
			if p.URI != e.uri(name) || p.Version == nil || *p.Version != e.versions[name] {
				continue
			}
			got[name] = []string{}
			for _, d := range p.Diagnostics {
				got[name] = append(got[name], fmt.Sprint(d.Severity, d.Code, d.Range, d.Message))
			}
		}
	}
	cmd := exec.Command("flowgen", "check", "--format", "json")
	cmd.Dir = e.dir
	out, _ := cmd.Output()
	var list []struct {
		Severity, Code, Message, Help, File string
		Range                               *struct{ Start, End struct{ Offset int } }
	}
	if err := json.Unmarshal(out, &list); err != nil {
		e.t.Fatalf("%s: %v: %s", what, err, out)
	}
	want := map[string][]string{}
	for _, d := range list {
		if !slices.Contains(names, d.File) {
			continue // a document that they name
		}
		r := lspRange{}
		if d.Range != nil {
			r = lspRange{at(e.texts[d.File], d.Range.Start.Offset), at(e.texts[d.File], d.Range.End.Offset)}
		}
		if d.Help != "" {
			d.Message += "\n" + d.Help
		}
		severity := 1 + slices.Index([]string{"error", "warning", "note"}, d.Severity)
		want[d.File] = append(want[d.File], fmt.Sprint(severity, d.Code, r, d.Message))
	}
	for _, name := range names {
		slices.Sort(got[name])
		slices.Sort(want[name])
		if !slices.Equal(got[name], want[name]) {
			e.t.Errorf("%s, %s: the editor sees\n%s\ncheck says\n%s", what, name, strings.Join(got[name], "\n"), strings.Join(want[name], "\n"))
		}
	}
}
