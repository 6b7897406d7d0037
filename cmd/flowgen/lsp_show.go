package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"time"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/lsp"
	"github.com/flowgen-dev/flowgen/internal/files"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/manifest"
	"github.com/flowgen-dev/flowgen/ir/plan"
	"github.com/flowgen-dev/flowgen/runtime/cli"
)

// generatedUnsaved is the Go that `flowgen generate` would write for what is in an editor. It writes nothing.
func generatedUnsaved(name string, from lsp.Inputs) (string, error) {
	one := &app{stderr: io.Discard}
	c, err := one.unsavedProgram(name, from)
	if err != nil {
		return "", err
	}
	sink := &diag.Sink{}
	list, err := one.outputs([]*compiled{c}, generation{}, sink)
	if err != nil {
		return "", err
	}
	if len(list) == 0 {
		return "", fmt.Errorf("no Go code was generated for %s: %s", name, firstOf(sink.List()))
	}
	return string(list[0].text), nil
}

// graphUnsaved is what `flowgen graph` draws of it.
func graphUnsaved(name string, from lsp.Inputs) (string, error) {
	one := &app{stderr: io.Discard}
	c, err := one.unsavedProgram(name, from)
	if err != nil {
		return "", err
	}
	var out, wrong bytes.Buffer
	if code := cli.Graph(&out, &wrong, described(c.program), []string{"--format", "mermaid"}); code != 0 {
		return "", fmt.Errorf("%s", bytes.TrimSpace(wrong.Bytes()))
	}
	return out.String(), nil
}

// planUnsaved is what `flowgen plan` prints of it.
func planUnsaved(name string, from lsp.Inputs) (string, error) {
	c, err := (&app{stderr: io.Discard}).unsavedProgram(name, from)
	if err != nil {
		return "", err
	}
	return cli.PlanText(plan.Why(c.program).JSON())
}

// manifestUnsaved is what `flowgen manifest` prints of it.
func manifestUnsaved(name string, from lsp.Inputs) (string, error) {
	c, err := (&app{stderr: io.Discard}).unsavedProgram(name, from)
	if err != nil {
		return "", err
	}
	return cli.ManifestText(manifest.Of(c.program).JSON())
}

func (a *app) unsavedProgram(name string, from lsp.Inputs) (*compiled, error) {
	d := unsavedDisk(from)
	c := a.compile(d, name)
	a.cases(d, c)
	if c.program == nil {
		return nil, fmt.Errorf("%s has mistakes: %s", name, firstOf(c.list))
	}
	return c, nil
}

func firstOf(list []diag.Diagnostic) string {
	for _, d := range list {
		if d.Severity == diag.Error {
			return d.Message
		}
	}
	return "it has nothing to run"
}

// lastRuns reads recorded runs for hovers and lenses, again only when their folder has changed.
type lastRuns struct {
	at   map[string]time.Time // of the folder when it was read
	runs map[string]*lsp.Run
}

// of is the last run of a workflow, recorded beside its file or in the folder of the workspace; nil when there is none.
func (l *lastRuns) of(name, workflow string) *lsp.Run {
	for _, dir := range []string{path.Dir(name), "."} {
		folder := path.Join(dir, ".flowgen", "runs")
		info, err := files.Lstat(filepath.FromSlash(folder))
		if err != nil {
			continue
		}
		key := folder + "\x00" + workflow
		if info.ModTime() != l.at[key] {
			l.at[key], l.runs[key] = info.ModTime(), readLastRun(folder, workflow)
		}
		if run := l.runs[key]; run != nil {
			return run
		}
	}
	return nil
}

func readLastRun(folder, workflow string) *lsp.Run {
	inspect := func(v any, args ...string) bool {
		var out bytes.Buffer
		return cli.Inspect(&out, io.Discard, append(args, "--format", "json", "--runs", folder)) == exitClean && json.Unmarshal(out.Bytes(), v) == nil
	}
	var list []struct {
		ID, Workflow, Outcome string
		Begin                 time.Time
	}
	if !inspect(&list) {
		return nil
	}
	run := &lsp.Run{Folder: folder, Values: map[string]string{}}
	var begin time.Time
	for _, r := range list {
		if r.Workflow == workflow && r.Begin.After(begin) {
			begin, run.ID, run.Outcome = r.Begin, r.ID, r.Outcome
		}
	}
	var whole struct {
		Calls []struct{ Key, State, Tool string }
	}
	if run.ID == "" || !inspect(&whole, run.ID) {
		return nil
	}
	if run.Outcome == "" {
		run.Outcome = "not finished"
	}
	for _, c := range whole.Calls {
		if c.State == "done" {
			run.Calls = append(run.Calls, lsp.Call{Key: c.Key, Tool: c.Tool})
		}
		var records []struct{ Output json.RawMessage }
		if c.State == "done" && len(run.Values) < maxShownCalls && inspect(&records, run.ID, c.Key) && len(records) > 0 {
			run.Values[c.Key] = string(records[len(records)-1].Output)
		}
	}
	return run
}

// maxShownCalls is how many calls of a run are read for hovers.
const maxShownCalls = 200
