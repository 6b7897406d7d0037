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
)

// TestLSPFixes: each fix of `flowgen check` is a quick fix with the same edits, and "fix all", taken until it is offered no more, leaves
// the texts that `check --fix` leaves. LONG=1 takes all goldens with mistakes; else it takes every tenth, and goes on until it has seen
// enough fixes, since a new golden changes which ones those are.
func TestLSPFixes(t *testing.T) {
	t.Parallel()
	goldens, err := filepath.Glob(filepath.Join("..", "..", "golden", "native", "*_wrong.txtar"))
	if err != nil || len(goldens) < 40 {
		t.Fatalf("%d goldens, %v", len(goldens), err)
	}
	const every, enough = 10, 5
	fixes, seen := 0, 0
	for first := range every {
		for i := first; i < len(goldens); i += every {
			if os.Getenv("LONG") == "" && seen > len(goldens)/every && fixes >= enough {
				break
			}
			seen++
			fixes += editGolden(t, goldens[i]).fixed(filepath.Base(goldens[i]))
		}
	}
	t.Logf("%d fixes in %d goldens", fixes, seen)
	if fixes < enough {
		t.Errorf("%d fixes", fixes)
	}
}

// quickFix is an action with edits.
type quickFix struct {
	Title, Kind string
	Edit        struct{ Changes map[string][]lspEdit }
}

// fixed compares the fixes of the files with those of the command, and returns how many there are.
func (e *editor) fixed(golden string) (fixes int) {
	t := e.t
	command := func(args ...string) []byte {
		cmd := exec.Command("flowgen", args...)
		cmd.Dir = e.dir
		out, _ := cmd.Output() // it fails because of the mistakes
		return out
	}
	var list []struct {
		File  string
		Range *struct{ Start, End struct{ Offset int } }
		Fixes []struct {
			Title string
			Edits []struct {
				File, New string
				Range     struct{ Start, End struct{ Offset int } }
			}
		}
	}
	if err := json.Unmarshal(command("check", "--format", "json"), &list); err != nil {
		t.Fatalf("%s: %v", golden, err)
	}
	e.openAll()
	e.messages()
	e.loaded()
	for _, d := range list {
		if e.texts[d.File] == "" || d.Range == nil {
			continue
		}
		actions := e.actions(d.File, d.Range.Start.Offset, "quickfix")
		for _, f := range d.Fixes {
			fixes++
			want := map[string][]lspEdit{}
			for _, x := range f.Edits {
				text := e.texts[x.File]
				want[e.uri(x.File)] = append(want[e.uri(x.File)], lspEdit{lspRange{at(text, x.Range.Start.Offset), at(text, x.Range.End.Offset)}, x.New})
			}
			if !slices.ContainsFunc(actions, func(a quickFix) bool { return a.Title == f.Title && fmt.Sprint(a.Edit.Changes) == fmt.Sprint(want) }) {
				t.Errorf("%s: %s is not among %v", golden, f.Title, actions)
			}
		}
	}
	for range 20 {
		again := false
		for _, name := range slices.Sorted(mapsKeys(e.texts)) {
			for _, a := range e.actions(name, 0, "source.fixAll") {
				e.apply(lspEdits{a.Edit.Changes})
				again = true
			}
		}
		if !again {
			break
		}
	}
	command("check", "--fix")
	for name, text := range e.texts {
		if disk, err := os.ReadFile(filepath.Join(e.dir, filepath.FromSlash(name))); err != nil || string(disk) != text {
			t.Errorf("%s: after all fixes %s is\n%s\nand `check --fix` leaves\n%s", golden, name, text, disk)
		}
	}
	return fixes
}

// actions are those of a kind at an offset.
func (e *editor) actions(name string, off int, kind string) []quickFix {
	e.t.Helper()
	p := at(e.texts[name], off)
	return slices.DeleteFunc(answer[[]quickFix](e.t, e.ask("textDocument/codeAction", object{"textDocument": object{"uri": e.uri(name)},
		"range": object{"start": p, "end": p}, "context": object{"diagnostics": []any{}, "only": []string{kind}}})),
		func(a quickFix) bool { return !strings.HasPrefix(a.Kind, kind) })
}
