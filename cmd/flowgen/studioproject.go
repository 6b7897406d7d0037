package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/atomicfile"
	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/index"
	"github.com/flowgen-dev/flowgen/codegen"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/hashes"
	"github.com/flowgen-dev/flowgen/ir/manifest"
	"github.com/flowgen-dev/flowgen/ir/plan"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser"
	"github.com/flowgen-dev/flowgen/runtime/cli"
	"github.com/flowgen-dev/flowgen/studio"
)

// studioProject is what commands say of the workflows of the current folder, for the page. A workflow is compiled again when a file
// that it was compiled from has changed.
type studioProject struct {
	runs string

	mu   sync.Mutex // one compilation at a time
	kept map[string]*keptWorkflow
	done []written // the newest last

	needs struct { // what Mark looks at, which does not wait for a compilation
		sync.Mutex
		files map[string][]string // of kept
	}
}

type keptWorkflow struct {
	*studio.Workflow
	mark  string   // of the files
	files []string // that were read or looked for
}

func newStudioProject(runs string) *studioProject {
	p := &studioProject{runs: runs, kept: map[string]*keptWorkflow{}}
	p.needs.files = map[string][]string{}
	return p
}

// Files implements studio.Project.
func (p *studioProject) Files() ([]string, error) { return below(".") }

// Mark implements studio.Project.
func (p *studioProject) Mark() (string, error) {
	files, err := p.Files()
	if err != nil {
		return "", err
	}
	p.needs.Lock()
	for _, list := range p.needs.files {
		files = append(files, list...)
	}
	p.needs.Unlock()
	slices.Sort(files)
	files = slices.Compact(files)
	return strings.Join(files, "\n") + "\n" + markOf(files), nil
}

// markOf is another text when one of the files has changed.
func markOf(files []string) string {
	var b strings.Builder
	for _, name := range files {
		if info, err := os.Stat(filepath.FromSlash(name)); err == nil {
			fmt.Fprintf(&b, "%d %d\n", info.Size(), info.ModTime().UnixNano())
		} else {
			b.WriteString("-\n")
		}
	}
	return b.String()
}

// Workflow implements studio.Project.
func (p *studioProject) Workflow(file string) (*studio.Workflow, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if k := p.kept[file]; k != nil && markOf(k.files) == k.mark {
		return k.Workflow, nil
	}
	disk := newDisk()
	disk.asked = map[string]bool{}
	one := &app{}
	var c *compiled
	_, err := one.guard(func() (*cobra.Command, error) {
		c = one.compileAny(disk, file)
		one.cases(disk, c)
		return nil, nil
	})
	if err != nil {
		return nil, err
	}
	k := &keptWorkflow{Workflow: shown(one, c, disk), files: append([]string{file}, c.sources...)}
	for name := range disk.asked {
		k.files = append(k.files, name)
	}
	slices.Sort(k.files)
	k.mark = markOf(k.files)
	p.kept[file] = k
	p.needs.Lock()
	p.needs.files[file] = k.files
	p.needs.Unlock()
	return k.Workflow, nil
}

// shown is what the page shows of a workflow.
func shown(one *app, c *compiled, disk *disk) *studio.Workflow {
	w := &studio.Workflow{File: c.name, Source: string(disk.texts[c.name]), Places: map[string]studio.Place{}, Agents: []studio.Agent{}, Secrets: []studio.UsedSecret{}}
	var list bytes.Buffer
	if diag.JSON(&list, c.list) == nil {
		w.Diagnostics = list.Bytes()
	}
	for _, d := range c.list {
		switch d.Severity {
		case diag.Error:
			w.Errors++
		case diag.Warning:
			w.Warnings++
		}
	}
	if c.workflow == nil {
		return w
	}
	w.Name, w.Description, w.Dialect = c.workflow.Name.Name, c.workflow.Description, c.workflow.Origin
	placesOf(&c.workflow.Body, "", w.Places)
	w.Input = json.RawMessage(schema.JSONSchema(&schema.Type{Kind: schema.Struct, Fields: c.workflow.Input}))
	agentsOf(c, &c.workflow.Body, "", &w.Agents)
	if c.program == nil || c.workflow.Library {
		return w
	}
	w.Info = described(c.program)
	w.OwnMain = hasMain(c.name)
	w.Hash = hashes.Of(c.program).Graph
	why := plan.Why(c.program)
	w.Plan, _ = cli.PlanText(why.JSON())
	w.AtMost, _ = json.Marshal(why.AtMost)
	touches := manifest.Of(c.program)
	w.Manifest, _ = cli.ManifestText(touches.JSON())
	for _, name := range touches.Secrets {
		w.Secrets = append(w.Secrets, secretOf(c.workflow, name))
	}
	if text, err := one.emit(c, codegen.Options{Package: "main", Name: stem(outputName(c.name))}); err == nil {
		w.Go = string(text)
	}
	return w
}

// placesOf files where nodes are written, by their paths.
func placesOf(body *ir.Body, path string, places map[string]studio.Place) {
	for _, n := range body.Nodes {
		full := strings.TrimPrefix(path+"/"+n.ID.Name, "/")
		if at := n.ID.Span; at.File != nil {
			start, end := at.Start(), at.End()
			if n.Span.File == at.File {
				end = n.Span.End()
			}
			places[full] = studio.Place{File: at.File.Name, Line: start.Line, Col: start.Col, End: end.Line}
		}
		if inner := inside(n); inner != nil {
			placesOf(inner, full, places)
		}
	}
}

// agentsOf lists the agents of a body and those inside of it.
func agentsOf(c *compiled, body *ir.Body, path string, list *[]studio.Agent) {
	for _, n := range body.Nodes {
		full := strings.TrimPrefix(path+"/"+n.ID.Name, "/")
		if agent, ok := n.Verb.(*ir.Agent); ok {
			*list = append(*list, agentOf(c, full, agent))
		}
		if inner := inside(n); inner != nil {
			agentsOf(c, inner, full, list)
		}
	}
}

func agentOf(c *compiled, node string, agent *ir.Agent) studio.Agent {
	wf := c.workflow
	out := studio.Agent{Node: node, Name: agent.Agent.Name, Model: agent.Model.Name, Tools: []studio.AgentTool{}, Pins: []studio.Pin{}, Policy: []string{}}
	shared := declaredAgent(wf, agent)
	on, pins, policy := agent.Tools, pinsOf(agent, shared), agent.Policy
	if shared != nil {
		if len(on) == 0 {
			on = shared.Agent.Tools
		}
		if policy == nil {
			policy = shared.Agent.Policy
		}
	}
	called := map[*ir.Tool]bool{}
	for _, t := range on {
		if tool := toolNamed(wf, t.Tool.Name); tool != nil {
			called[tool] = true
		}
	}
	for _, t := range wf.Tools {
		tool := studio.AgentTool{Name: t.Key.Name, FullName: t.FullName(), Description: t.Description, Category: t.Category, Tags: t.Tags, Version: t.Version, Effects: t.Effects.String(), On: called[t]}
		if t.State == "deprecated" || t.State == "blocked" {
			tool.Deprecated = t.State
		}
		if t.Auth != nil {
			name := t.Auth.Secret.Name
			tool.Secrets = append(tool.Secrets, studio.Secret{Name: name, Owner: ownerWords[secretFrom(wf, name)]})
		}
		out.Tools = append(out.Tools, tool)
	}
	var refs []index.Ref
	if len(pins) > 0 {
		refs = refsOf(c)
	}
	for _, pin := range pins {
		readers := placesOfRefs(pinReaders(refs, pin))
		out.Pins = append(out.Pins, studio.Pin{Name: pin.Name.Name, Tool: pin.Tool.Name, Strategy: pin.Strategy, OnMissing: missingWord(pin), Readers: readers})
	}
	if policy != nil {
		out.Policy = policyWords(policy)
	}
	out.Limits = limitsOf(policy)
	return out
}

// secretOf says who has a secret, and what sends it.
func secretOf(wf *ir.Workflow, name string) studio.UsedSecret {
	used := studio.UsedSecret{Secret: studio.Secret{Name: name, Owner: ownerWords[secretFrom(wf, name)]}, Users: []string{}}
	for _, t := range wf.Tools {
		if t.Auth != nil && t.Auth.Secret.Name == name {
			used.Users = append(used.Users, t.Key.Name)
		}
	}
	for _, m := range wf.Models {
		if check.ModelKey(wf, m) == name {
			used.Users = append(used.Users, "model "+m.Name.Name)
		}
	}
	return used
}

// ownerWords are what the page calls the places of secrets.
var ownerWords = map[string]string{"not set": "missing", ".env": "workspace", "/run/secrets": "organisation", "environment": "user"}

// limitsOf are the limits of a policy as files write them; those that are not written are empty.
func limitsOf(p *ir.Policy) []studio.Limit {
	var list []studio.Limit
	for _, key := range policyKeys {
		list = append(list, studio.Limit{Name: key})
	}
	if p == nil {
		return list
	}
	for i, n := range []*int64{p.MaxIterations, p.MaxToolCalls, p.MaxTokens} {
		if n != nil && *n == ir.Unbounded {
			list[i].Value = "unbounded"
		} else if n != nil {
			list[i].Value = strconv.FormatInt(*n, 10)
		}
	}
	list[3].Value = p.MaxCostUSD
	var effects []string
	for _, e := range p.Effects {
		effects = append(effects, e.String())
	}
	list[4].Value = strings.Join(effects, ", ")
	return list
}

func policyWords(p *ir.Policy) []string {
	out := []string{}
	for _, bound := range []struct {
		name string
		n    *int64
	}{{"turns", p.MaxIterations}, {"tool calls", p.MaxToolCalls}, {"tokens", p.MaxTokens}} {
		switch {
		case bound.n != nil && *bound.n == ir.Unbounded:
			out = append(out, bound.name+" without a bound")
		case bound.n != nil:
			out = append(out, fmt.Sprintf("at most %d %s", *bound.n, bound.name))
		}
	}
	if p.MaxCostUSD != "" {
		out = append(out, "at most $"+p.MaxCostUSD)
	}
	var effects []string
	for _, e := range p.Effects {
		effects = append(effects, e.String())
	}
	if len(effects) > 0 {
		out = append(out, "effects "+strings.Join(effects, ", "))
	}
	return out
}

// Propose implements studio.Project.
func (p *studioProject) Propose(op studio.Operation) (*studio.Edit, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.edit(op, true)
}

// Apply implements studio.Project.
func (p *studioProject) Apply(op studio.Operation, diff string) (*studio.Edit, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now, err := p.edit(op, true)
	if err != nil {
		return nil, err
	}
	if now.Diff != diff {
		return now, studio.ErrStale
	}
	return p.write(op, diff)
}

// edit is a command, with what it prints.
func (p *studioProject) edit(op studio.Operation, dry bool) (*studio.Edit, error) {
	var out, notes bytes.Buffer
	one := &app{stdout: &out, stderr: &notes}
	edit := &studio.Edit{}
	_, err := one.guard(func() (*cobra.Command, error) {
		switch op.Kind {
		case "case":
			return nil, one.caseFrom(&caseFlags{from: runSource{dir: p.runs}, run: op.Run, workflow: op.File, name: op.Name, dry: dry})
		case "pin":
			f := &pinFlags{file: op.File, name: op.Name, strategy: op.Strategy, missing: op.Missing, dry: dry}
			if f.strategy == "" {
				f.strategy = pinStrategies[0]
			}
			if f.missing == "" {
				f.missing = pinMissing[0]
			}
			if !slices.Contains(pinStrategies, f.strategy) || !slices.Contains(pinMissing, f.missing) {
				return nil, errors.New("unknown strategy or on_missing of a pin")
			}
			return nil, one.pin(f, op.Node, op.Tool)
		case "undo":
			return nil, p.undo(&out, op.Name, dry)
		case studio.EditNode:
			return nil, one.editNode(op, dry)
		case "fix":
			return nil, one.fixes(op.File, dry)
		case pinSet, pinRename, pinRemove, policyEdit:
			return nil, one.editAgent(op, dry)
		case toolOn, toolOff, toolVersion:
			return nil, one.switchTool(op.File, op.Node, op.Tool, op.Kind, dry)
		case "materialize":
			f := &materializeFlags{from: runSource{dir: p.runs}, file: op.File, id: op.Name, pin: op.Pin, dry: dry}
			f.after = func(c *compiled, node string) {
				if c.program != nil {
					edit.Info, edit.Node = described(c.program), node
				}
			}
			if op.Pin != "" {
				return nil, one.materialize(f, []string{op.Run})
			}
			return nil, one.materialize(f, []string{op.Run, op.Call})
		}
		return nil, fmt.Errorf("unknown edit %q: expected one of case, fix, pin, pin.set, pin.rename, pin.remove, policy, tool.on, tool.off, tool.version, materialize, node and undo", op.Kind)
	})
	if errors.Is(err, errReported) {
		err = errors.New(strings.TrimSpace(notes.String()))
	}
	if err != nil {
		return nil, err
	}
	edit.Diff, edit.Notes = out.String(), strings.TrimSpace(notes.String())
	return edit, nil
}

// Cases implements studio.Project.
func (p *studioProject) Cases() ([]studio.CaseFile, error) {
	names, err := casesIn(".", true)
	if err != nil {
		return nil, err
	}
	list := []studio.CaseFile{}
	for _, name := range names {
		sink := &diag.Sink{}
		one := studio.CaseFile{File: name, Cases: []string{}}
		if f := parser.ParseCases(newDisk().project(name), name, sink); f != nil {
			one.Workflow = f.Workflow.Name
			for _, c := range f.Cases {
				one.Cases = append(one.Cases, c.Name.Name)
			}
		}
		for _, d := range sink.List() {
			if d.Severity == diag.Error {
				one.Problem = d.Message
			}
		}
		list = append(list, one)
	}
	return list, nil
}

// Node implements studio.Project.
func (p *studioProject) Node(file, path string) (*studio.NodeText, error) {
	var out *studio.NodeText
	err := p.editing(file, path, func(_ *app, e *editable) error {
		out = e.text()
		return nil
	})
	return out, err
}

// Overlay implements studio.Project.
func (p *studioProject) Overlay(op studio.Operation) (map[string]string, error) {
	var out map[string]string
	err := p.editing(op.File, op.Node, func(one *app, e *editable) (err error) {
		out, err = e.edited(one, op)
		return err
	})
	return out, err
}

func (p *studioProject) editing(file, node string, do func(*app, *editable) error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var notes bytes.Buffer
	one := &app{stdout: io.Discard, stderr: &notes}
	_, err := one.guard(func() (*cobra.Command, error) {
		e, err := one.editableNode(file, node)
		if err != nil {
			return nil, err
		}
		return nil, do(one, e)
	})
	if errors.Is(err, errReported) {
		return errors.New(strings.TrimSpace(notes.String()))
	}
	return err
}

// fixes applies the fixes that the diagnostics of a workflow offer, as one round of `check --fix` does.
func (a *app) fixes(name string, dry bool) error {
	edited, applied := parser.ApplyFixes(a.compileAny(newDisk(), name).list)
	if applied == 0 {
		return errors.New("no diagnostic of the file offers a fix")
	}
	for _, f := range edited {
		if _, err := io.WriteString(a.stdout, unified(f.File.Name, f.File.Text, f.Text)); err != nil {
			return err
		}
		if dry {
			continue
		}
		if err := atomicfile.Write(filepath.FromSlash(f.File.Name), []byte(f.Text)); err != nil {
			return err
		}
	}
	return nil
}
